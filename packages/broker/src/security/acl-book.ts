// All access lists in memory, by type and name, and the rules by which they permit or forbid.
//
// For a resource the lists of its own name, of `*` and of every prefix of its name count together. One that denies outweighs all that
// allow. Who may change something may also look at it; nothing else follows from another permission.

import { type AclEntry, type AclOperation, type AclPattern, type AclResourceType, operationNames, wildcard } from './acl.ts';

/** Who asks, as entries name it. */
export interface Asker {
  /** `User:alice` */
  readonly principal: string;
  readonly host: string;
}

const anyPrincipal = 'User:*';
const anyHost = '*';

/** What else allows an operation, beside itself and `All`. Denying goes by the operation itself. */
const impliedBy: Partial<Record<AclOperation, readonly AclOperation[]>> = {
  DESCRIBE: ['READ', 'WRITE', 'DELETE', 'ALTER'],
  DESCRIBE_CONFIGS: ['ALTER_CONFIGS'],
};

export class AclBook {
  /** By `TYPE PATTERN`, then by name. Lists are never empty. */
  readonly #lists = new Map<string, Map<string, readonly AclEntry[]>>();

  list({ resourceType, patternType, name }: AclPattern): readonly AclEntry[] {
    return this.#lists.get(`${resourceType} ${patternType}`)?.get(name) ?? [];
  }

  /** An empty list is none. */
  set({ resourceType, patternType, name }: AclPattern, entries: readonly AclEntry[]): void {
    const key = `${resourceType} ${patternType}`;
    const lists = this.#lists.get(key) ?? new Map<string, readonly AclEntry[]>();
    if (entries.length === 0) lists.delete(name);
    else lists.set(name, entries);
    this.#lists.set(key, lists);
  }

  *all(): Generator<{ readonly pattern: AclPattern; readonly entries: readonly AclEntry[] }> {
    for (const [key, lists] of this.#lists) {
      const [resourceType, patternType] = key.split(' ') as [AclResourceType, AclPattern['patternType']];
      for (const [name, entries] of lists) yield { pattern: { resourceType, patternType, name }, entries };
    }
  }

  /** undefined: there is no list for the resource, and so no answer. */
  permits(asker: Asker, operation: AclOperation, resourceType: AclResourceType, name: string): boolean | undefined {
    const lists = this.#listsFor(resourceType, name);
    if (lists.length === 0) return undefined;
    if (lists.some((entries) => hasEntry(entries, asker, 'Deny', [operation]))) return false;
    const allowing = [operation, ...(impliedBy[operation] ?? [])];
    return lists.some((entries) => hasEntry(entries, asker, 'Allow', allowing));
  }

  /** Whether there may be a resource of the type for which the asker has the permission. */
  permitsAny(asker: Asker, operation: AclOperation, resourceType: AclResourceType, isAllowedWithoutList: boolean): boolean {
    const literals = this.#lists.get(`${resourceType} LITERAL`) ?? new Map<string, readonly AclEntry[]>();
    const prefixes = this.#lists.get(`${resourceType} PREFIXED`) ?? new Map<string, readonly AclEntry[]>();
    const has = (entries: readonly AclEntry[], permission: AclEntry['permissionType']) =>
      hasEntry(entries, asker, permission, [operation]);
    if (has(literals.get(wildcard) ?? [], 'Deny')) return false;
    if (isAllowedWithoutList) return true;
    const isDeniedByPrefix = (name: string) => [...prefixes].some(([prefix, list]) => name.startsWith(prefix) && has(list, 'Deny'));
    if (has(literals.get(wildcard) ?? [], 'Allow')) return true;
    for (const [name, entries] of literals) {
      if (has(entries, 'Allow') && !has(entries, 'Deny') && !isDeniedByPrefix(name)) return true;
    }
    for (const [prefix, entries] of prefixes) if (has(entries, 'Allow') && !isDeniedByPrefix(prefix)) return true;
    return false;
  }

  #listsFor(resourceType: AclResourceType, name: string): (readonly AclEntry[])[] {
    const found: (readonly AclEntry[])[] = [];
    const literals = this.#lists.get(`${resourceType} LITERAL`);
    const own = literals?.get(name);
    if (own !== undefined) found.push(own);
    const forAll = name === wildcard ? undefined : literals?.get(wildcard);
    if (forAll !== undefined) found.push(forAll);
    const prefixes = this.#lists.get(`${resourceType} PREFIXED`);
    if (prefixes === undefined || prefixes.size === 0) return found;
    for (let length = 1; length <= name.length; length++) {
      const entries = prefixes.get(name.slice(0, length));
      if (entries !== undefined) found.push(entries);
    }
    return found;
  }
}

function hasEntry(
  entries: readonly AclEntry[],
  { principal, host }: Asker,
  permission: AclEntry['permissionType'],
  operations: readonly AclOperation[],
): boolean {
  return entries.some(
    (entry) =>
      entry.permissionType === permission &&
      (entry.principal === principal || entry.principal === anyPrincipal) &&
      (entry.host === host || entry.host === anyHost) &&
      (entry.operation === 'All' || operations.some((operation) => operationNames[operation] === entry.operation)),
  );
}
