// Which operations a client may do, as answers tell it: a bit for each operation, by Kafka's number of the operation.
// Without an authorizer everyone may do everything that the kind of resource knows.

const operations = {
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

type OperationName = keyof typeof operations;

function bits(...names: readonly OperationName[]): number {
  return names.reduce((sum, name) => sum | (1 << operations[name]), 0);
}

export const allTopicOperations = bits(
  'READ',
  'WRITE',
  'CREATE',
  'DELETE',
  'ALTER',
  'DESCRIBE',
  'DESCRIBE_CONFIGS',
  'ALTER_CONFIGS',
);

export const allClusterOperations = bits(
  'CREATE',
  'ALTER',
  'DESCRIBE',
  'CLUSTER_ACTION',
  'DESCRIBE_CONFIGS',
  'ALTER_CONFIGS',
  'IDEMPOTENT_WRITE',
);
