// DeleteAcls (31): takes the entries that filters find out of the access lists, and tells which they were. An entry that several filters
// find is told with the first.

import { DeleteAclsRequest, DeleteAclsResponse, errorCodes, type MessageInit, type ProtocolError } from '@odradek/protocol';
import { defineHandler, type Handler } from '../requests/handler.ts';
import {
  type AclBinding,
  isKnownFilter,
  matchesEntry,
  matchesPattern,
  operationNumbers,
  patternTypeNumbers,
  permissionNumbers,
  resourceTypeNumbers,
} from '../security/acl.ts';
import type { Authorizer } from '../security/authorizer.ts';
import { changeByPattern, securityDisabled } from './acl-requests.ts';

type FilterResult = NonNullable<MessageInit<typeof DeleteAclsResponse>['filterResults']>[number];
type Matching = NonNullable<FilterResult['matchingAcls']>[number];

export function deleteAclsHandler({
  authorizer,
}: {
  readonly authorizer: Authorizer | undefined;
}): Handler<typeof DeleteAclsRequest, typeof DeleteAclsResponse> {
  return defineHandler(DeleteAclsRequest, DeleteAclsResponse, {
    async handle({ filters }) {
      if (authorizer === undefined) throw securityDisabled();
      const found: { readonly filter: number; readonly binding: AclBinding }[] = [];
      for (const binding of authorizer.acls.bindings()) {
        const filter = filters.findIndex(
          (one) => isKnownFilter(one) && matchesPattern(one, binding.pattern) && matchesEntry(one, binding.entry),
        );
        if (filter >= 0) found.push({ filter, binding });
      }
      const errors = await changeByPattern(
        found.map(({ binding }) => binding),
        (pattern, entries) => authorizer.acls.remove(pattern, entries),
      );
      return {
        filterResults: filters.map((filter, index) =>
          isKnownFilter(filter)
            ? {
                errorCode: errorCodes.NONE,
                errorMessage: null,
                matchingAcls: found
                  .filter((one) => one.filter === index)
                  .map(({ binding }) => matching(binding, errors.get(binding))),
              }
            : failedFilter(errorCodes.INVALID_REQUEST, 'The AclBindingFilter must not contain UNKNOWN elements.'),
        ),
      };
    },
    errorResponse: ({ filters }, error) => ({ filterResults: filters.map(() => failedFilter(error.code, error.message)) }),
  });
}

function matching({ pattern, entry }: AclBinding, error: ProtocolError | undefined): Matching {
  return {
    errorCode: error?.code ?? errorCodes.NONE,
    errorMessage: error?.message ?? null,
    resourceType: resourceTypeNumbers[pattern.resourceType],
    resourceName: pattern.name,
    patternType: patternTypeNumbers[pattern.patternType],
    principal: entry.principal,
    host: entry.host,
    operation: operationNumbers[entry.operation] ?? 0,
    permissionType: permissionNumbers[entry.permissionType],
  };
}

function failedFilter(errorCode: number, errorMessage: string): FilterResult {
  return { errorCode, errorMessage, matchingAcls: [] };
}
