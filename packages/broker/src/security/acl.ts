// The words of access lists: kinds of resource, operations, permissions and kinds of pattern, by Kafka's numbers; what an entry and a
// filter are, and which entries a filter finds.

import type { AclEntry, AclPattern, AclPatternType, AclResourceType } from '@odradek/coordination';
import { aclOperations } from '../requests/authorized-operations.ts';

/** What can be asked for of a resource. `All` stands for each of them in an entry. */
export type AclOperation = keyof typeof aclOperations;

export const anyNumber = 1;

export const resourceTypeNumbers: Readonly<Record<AclResourceType, number>> = {
  Topic: 2,
  Group: 3,
  Cluster: 4,
  TransactionalId: 5,
  DelegationToken: 6,
  User: 7,
};

export const patternTypeNumbers = { ANY: 1, MATCH: 2, LITERAL: 3, PREFIXED: 4 } as const;

export const permissionNumbers = { Deny: 2, Allow: 3 } as const;

/** By the names that entries in the tree have. */
export const operationNumbers: Readonly<Record<string, number>> = {
  All: 2,
  ...Object.fromEntries(Object.entries(aclOperations).map(([name, number]) => [operationName(name), number])),
  CreateTokens: 13,
  DescribeTokens: 14,
  TwoPhaseCommit: 15,
};

/** `ALTER_CONFIGS` → `AlterConfigs`. */
function operationName(constant: string): string {
  return constant.replace(/([A-Z])([A-Z]*)_?/g, (_, first: string, rest: string) => first + rest.toLowerCase());
}

/** What an operation is called in an entry. */
export const operationNames = Object.fromEntries(
  Object.keys(aclOperations).map((constant) => [constant, operationName(constant)]),
) as Readonly<Record<AclOperation, string>>;

function keyOf<K extends string>(numbers: Readonly<Record<K, number>>, number: number): K | undefined {
  return (Object.keys(numbers) as K[]).find((name) => numbers[name] === number);
}

export const resourceTypeOf = (number: number): AclResourceType | undefined => keyOf(resourceTypeNumbers, number);
export const operationOf = (number: number): string | undefined => keyOf(operationNumbers, number);
export const permissionOf = (number: number): 'Allow' | 'Deny' | undefined => keyOf(permissionNumbers, number);

/** One entry for one pattern: what a request creates, finds or deletes. */
export interface AclBinding {
  readonly pattern: AclPattern;
  readonly entry: AclEntry;
}

/** The name of the only resource of the type Cluster. */
export const clusterName = 'kafka-cluster';

/** In the place of a literal name: every resource of the type. */
export const wildcard = '*';

/** As in a request: by numbers, where 1 is any, and null is any. */
export interface AclFilter {
  readonly resourceTypeFilter: number;
  readonly resourceNameFilter: string | null;
  readonly patternTypeFilter: number;
  readonly principalFilter: string | null;
  readonly hostFilter: string | null;
  readonly operation: number;
  readonly permissionType: number;
}

/** Whether all numbers of the filter mean something. */
export function isKnownFilter({ resourceTypeFilter, patternTypeFilter, operation, permissionType }: AclFilter): boolean {
  return (
    (resourceTypeFilter === anyNumber || resourceTypeOf(resourceTypeFilter) !== undefined) &&
    keyOf(patternTypeNumbers, patternTypeFilter) !== undefined &&
    (operation === anyNumber || operationOf(operation) !== undefined) &&
    (permissionType === anyNumber || permissionOf(permissionType) !== undefined)
  );
}

export function matchesPattern(filter: AclFilter, { resourceType, patternType, name }: AclPattern): boolean {
  const { resourceTypeFilter, resourceNameFilter: wanted, patternTypeFilter } = filter;
  if (resourceTypeFilter !== anyNumber && resourceTypeFilter !== resourceTypeNumbers[resourceType]) return false;
  const isMatch = patternTypeFilter === patternTypeNumbers.MATCH;
  const isAny = patternTypeFilter === patternTypeNumbers.ANY;
  if (!isMatch && !isAny && patternTypeFilter !== patternTypeNumbers[patternType]) return false;
  if (wanted === null) return true;
  if (!isMatch) return wanted === name;
  // All patterns that hold for a resource of this name.
  return patternType === 'LITERAL' ? name === wanted || name === wildcard : wanted.startsWith(name);
}

export function matchesEntry(filter: AclFilter, { principal, host, operation, permissionType }: AclEntry): boolean {
  return (
    (filter.principalFilter === null || filter.principalFilter === principal) &&
    (filter.hostFilter === null || filter.hostFilter === host) &&
    (filter.operation === anyNumber || filter.operation === operationNumbers[operation]) &&
    (filter.permissionType === anyNumber || filter.permissionType === permissionNumbers[permissionType])
  );
}

export function isSameEntry(a: AclEntry, b: AclEntry): boolean {
  return a.principal === b.principal && a.host === b.host && a.operation === b.operation && a.permissionType === b.permissionType;
}

export type { AclEntry, AclPattern, AclPatternType, AclResourceType };
