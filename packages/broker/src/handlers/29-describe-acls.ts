// DescribeAcls (29): the access lists' entries that a filter finds, by resource pattern. Before version 1 there were literal patterns only.

import { DescribeAclsRequest, DescribeAclsResponse, errorCodes, ProtocolError } from '@odradek/protocol';
import { defineHandler, type Handler } from '../requests/handler.ts';
import {
  isKnownFilter,
  matchesEntry,
  matchesPattern,
  operationNumbers,
  patternTypeNumbers,
  permissionNumbers,
  resourceTypeNumbers,
} from '../security/acl.ts';
import type { Authorizer } from '../security/authorizer.ts';
import { securityDisabled } from './acl-requests.ts';

export function describeAclsHandler({
  authorizer,
}: {
  readonly authorizer: Authorizer | undefined;
}): Handler<typeof DescribeAclsRequest, typeof DescribeAclsResponse> {
  return defineHandler(DescribeAclsRequest, DescribeAclsResponse, {
    handle(filter) {
      if (authorizer === undefined) throw securityDisabled();
      if (!isKnownFilter(filter)) {
        throw new ProtocolError(errorCodes.INVALID_REQUEST, 'The AclBindingFilter must not contain UNKNOWN elements.');
      }
      const resources = [];
      for (const { pattern, entries } of authorizer.acls.book.all()) {
        if (!matchesPattern(filter, pattern)) continue;
        const acls = entries
          .filter((entry) => matchesEntry(filter, entry))
          .map(({ principal, host, operation, permissionType }) => ({
            principal,
            host,
            operation: operationNumbers[operation] ?? 0,
            permissionType: permissionNumbers[permissionType],
          }));
        if (acls.length === 0) continue;
        resources.push({
          resourceType: resourceTypeNumbers[pattern.resourceType],
          resourceName: pattern.name,
          patternType: patternTypeNumbers[pattern.patternType],
          acls,
        });
      }
      return { errorCode: errorCodes.NONE, errorMessage: null, resources };
    },
  });
}
