// CreateAcls (30): adds entries to access lists, each with its own outcome. Those for one pattern are written together. What is there
// already is no error.

import { CreateAclsRequest, CreateAclsResponse, errorCodes, type ProtocolError } from '@odradek/protocol';
import { defineHandler, type Handler } from '../requests/handler.ts';
import {
  type AclBinding,
  type AclPatternType,
  clusterName,
  operationOf,
  patternTypeNumbers,
  permissionOf,
  resourceTypeOf,
} from '../security/acl.ts';
import type { Authorizer } from '../security/authorizer.ts';
import { changeByPattern, securityDisabled } from './acl-requests.ts';

type Creation = CreateAclsRequest['creations'][number];

export function createAclsHandler({
  authorizer,
}: {
  readonly authorizer: Authorizer | undefined;
}): Handler<typeof CreateAclsRequest, typeof CreateAclsResponse> {
  return defineHandler(CreateAclsRequest, CreateAclsResponse, {
    async handle({ creations }) {
      if (authorizer === undefined) throw securityDisabled();
      const bindings = creations.map(bindingOf);
      const errors = await changeByPattern(
        bindings.filter((binding) => typeof binding !== 'string'),
        (pattern, entries) => authorizer.acls.add(pattern, entries),
      );
      const results = bindings.map((binding) => {
        if (typeof binding === 'string') return { errorCode: errorCodes.INVALID_REQUEST, errorMessage: binding };
        const error = errors.get(binding);
        return { errorCode: error?.code ?? errorCodes.NONE, errorMessage: error?.message ?? null };
      });
      return { results };
    },
    errorResponse: ({ creations }, error: ProtocolError) => ({
      results: creations.map(() => ({ errorCode: error.code, errorMessage: error.message })),
    }),
  });
}

const patternTypes: Readonly<Record<number, AclPatternType>> = {
  [patternTypeNumbers.LITERAL]: 'LITERAL',
  [patternTypeNumbers.PREFIXED]: 'PREFIXED',
};

/** A text: what is wrong with it. */
function bindingOf(creation: Creation): AclBinding | string {
  const { resourceName: name, principal, host } = creation;
  const resourceType = resourceTypeOf(creation.resourceType);
  const patternType = patternTypes[creation.resourcePatternType];
  const operation = operationOf(creation.operation);
  const permissionType = permissionOf(creation.permissionType);
  if (resourceType === undefined) return `Invalid resource type ${creation.resourceType}`;
  if (patternType === undefined) return `Invalid pattern type ${creation.resourcePatternType}`;
  if (operation === undefined) return `Invalid operation ${creation.operation}`;
  if (permissionType === undefined) return `Invalid permission type ${creation.permissionType}`;
  if (name === '') return 'Invalid empty resource name';
  // The tree could not hold it.
  if (name.includes('/') || name.includes('\0') || name === '.' || name === '..') return `Invalid resource name ${name}`;
  if (resourceType === 'Cluster' && name !== clusterName) return `The only valid name for the CLUSTER resource is ${clusterName}`;
  if (!/^[^:]+:/.test(principal)) {
    return `Could not parse principal from \`${principal}\` (no colon is present separating the principal type from the principal name)`;
  }
  // Nobody comes from there.
  if (host === '') return 'Invalid empty host';
  return { pattern: { resourceType, patternType, name }, entry: { principal, permissionType, host, operation } };
}
