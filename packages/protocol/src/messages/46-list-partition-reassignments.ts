// ListPartitionReassignments (46): Lists the moves of partitions that are under way.

import { array, int16, int32, type Message, message, string, struct } from '../schema/define.ts';

export const ListPartitionReassignmentsRequest = message({
  name: 'ListPartitionReassignmentsRequest',
  type: 'request',
  apiKey: 46,
  versions: '0',
  flexible: '0+',
  fields: {
    timeoutMs: int32({ default: 60000 }),
    topics: array(
      struct({
        name: string(),
        partitionIndexes: array(int32()),
      }),
      { nullable: '0+', default: null },
    ),
  },
});
export type ListPartitionReassignmentsRequest = Message<typeof ListPartitionReassignmentsRequest>;

export const ListPartitionReassignmentsResponse = message({
  name: 'ListPartitionReassignmentsResponse',
  type: 'response',
  apiKey: 46,
  versions: '0',
  flexible: '0+',
  fields: {
    throttleTimeMs: int32(),
    errorCode: int16(),
    errorMessage: string({ nullable: '0+' }),
    topics: array(
      struct({
        name: string(),
        partitions: array(
          struct({
            partitionIndex: int32(),
            replicas: array(int32()),
            addingReplicas: array(int32()),
            removingReplicas: array(int32()),
          }),
        ),
      }),
    ),
  },
});
export type ListPartitionReassignmentsResponse = Message<typeof ListPartitionReassignmentsResponse>;
