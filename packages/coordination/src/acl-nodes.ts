// Access lists in the tree: one node per resource pattern, and a sequential node that tells every broker of each change.
// Literal patterns live in /kafka-acl, others in /kafka-acl-extended.

import { asArray, asObject, asString, InvalidNodeError, parseObject, toNode } from './node-json.ts';

/** Folder names of the kinds of resource, in the order in which Kafka creates them. */
export const aclResourceTypes = ['TransactionalId', 'DelegationToken', 'User', 'Group', 'Cluster', 'Topic'] as const;
export type AclResourceType = (typeof aclResourceTypes)[number];

export type AclPatternType = 'LITERAL' | 'PREFIXED';

export interface AclPattern {
  readonly resourceType: AclResourceType;
  readonly name: string;
  readonly patternType: AclPatternType;
}

export interface AclEntry {
  /** `User:alice`. */
  readonly principal: string;
  readonly permissionType: 'Allow' | 'Deny';
  readonly host: string;
  /** `Read`, `AlterConfigs`, … */
  readonly operation: string;
}

/** Folders that an authorizer creates, parents first. */
export const aclPaths: readonly string[] = [
  '/kafka-acl',
  ...aclResourceTypes.map((type) => `/kafka-acl/${type}`),
  '/kafka-acl-extended',
  '/kafka-acl-extended/prefixed',
  ...aclResourceTypes.map((type) => `/kafka-acl-extended/prefixed/${type}`),
  '/kafka-acl-changes',
  '/kafka-acl-extended-changes',
];

export const aclNode = {
  path: ({ patternType, resourceType, name }: AclPattern) =>
    patternType === 'LITERAL' ? `/kafka-acl/${resourceType}/${name}` : `/kafka-acl-extended/prefixed/${resourceType}/${name}`,
  encode: (entries: readonly AclEntry[]): Buffer =>
    toNode({
      acls: entries.map(({ principal, permissionType, host, operation }) => ({ principal, permissionType, host, operation })),
      version: 1,
    }),
  decode(data: Uint8Array | null): AclEntry[] {
    const what = 'access list';
    return asArray(parseObject(data, what)['acls'], what).map((entry) => {
      const json = asObject(entry, what);
      const permissionType = asString(json['permissionType'], what);
      if (permissionType !== 'Allow' && permissionType !== 'Deny')
        throw new InvalidNodeError(`${what} has permission ${permissionType}`);
      return {
        principal: asString(json['principal'], what),
        permissionType,
        host: asString(json['host'], what),
        operation: asString(json['operation'], what),
      };
    });
  },
} as const;

/** Literal patterns are announced as `TOPIC:name`, others as JSON. */
export const aclChangeNode = {
  folder: (patternType: AclPatternType) => (patternType === 'LITERAL' ? '/kafka-acl-changes' : '/kafka-acl-extended-changes'),
  prefix: 'acl_changes_',
  encode(pattern: AclPattern): Buffer {
    const resourceType = constantName(pattern.resourceType);
    return pattern.patternType === 'LITERAL'
      ? Buffer.from(`${resourceType}:${pattern.name}`, 'utf8')
      : toNode({ version: 1, resourceType, name: pattern.name, patternType: pattern.patternType });
  },
  decode(patternType: AclPatternType, data: Uint8Array | null): AclPattern {
    const what = 'access list change';
    if (patternType === 'LITERAL') {
      const parts = /^([A-Z_]+):(.*)$/s.exec(Buffer.from(data ?? []).toString('utf8'));
      return { resourceType: resourceTypeOf(asString(parts?.[1], what)), name: asString(parts?.[2], what), patternType };
    }
    const json = parseObject(data, what);
    return {
      resourceType: resourceTypeOf(asString(json['resourceType'], what)),
      name: asString(json['name'], what),
      patternType: 'PREFIXED',
    };
  },
} as const;

/** `TransactionalId` → `TRANSACTIONAL_ID`. */
function constantName(type: AclResourceType): string {
  return type.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
}

function resourceTypeOf(constant: string): AclResourceType {
  const type = aclResourceTypes.find((candidate) => constantName(candidate) === constant);
  if (type === undefined) throw new InvalidNodeError(`access list change names the unknown resource type ${constant}`);
  return type;
}
