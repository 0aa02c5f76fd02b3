// What a principal may do with a resource, as the bit field that several responses carry: bit n is the operation with number n.

/** Kafka's numbers of the operations. */
export const aclOperations = {
  READ: 3,
  WRITE: 4,
  CREATE: 5,
  DELETE: 6,
  ALTER: 7,
  DESCRIBE: 8,
  CLUSTER_ACTION: 9,
  DESCRIBE_CONFIGS: 10,
  ALTER_CONFIGS: 11,
  IDEMPOTENT_WRITE: 12,
} as const;

type Operation = keyof typeof aclOperations;

const operations: Readonly<Record<'topic' | 'group' | 'cluster', readonly Operation[]>> = {
  topic: ['READ', 'WRITE', 'CREATE', 'DELETE', 'ALTER', 'DESCRIBE', 'DESCRIBE_CONFIGS', 'ALTER_CONFIGS'],
  group: ['READ', 'DELETE', 'DESCRIBE', 'DESCRIBE_CONFIGS', 'ALTER_CONFIGS'],
  cluster: ['CREATE', 'ALTER', 'DESCRIBE', 'CLUSTER_ACTION', 'DESCRIBE_CONFIGS', 'ALTER_CONFIGS', 'IDEMPOTENT_WRITE'],
};

/** The value for "was not asked for", which is also the schema's default. */
export const operationsNotAsked = -2147483648;

/** Everything that can be done with a resource of that kind: without an authorizer everybody may do it. */
export function allOperations(kind: keyof typeof operations): number {
  return operationsOf(kind, () => true);
}

/** Those of them that may be done. */
export function operationsOf(kind: keyof typeof operations, isAllowed: (operation: Operation) => boolean): number {
  return operations[kind].reduce((bits, operation) => (isAllowed(operation) ? bits | (1 << aclOperations[operation]) : bits), 0);
}
