// AlterPartitionReassignments (45): Moves partitions to other brokers, or stops such moves.
//
//   1  can forbid to change the replication factor; adds allowReplicationFactorChange to request and response

import { array, bool, int16, int32, type Message, message, string, struct } from '../schema/define.ts';

export const AlterPartitionReassignmentsRequest = message({
  name: 'AlterPartitionReassignmentsRequest',
  type: 'request',
  apiKey: 45,
  versions: '0-1',
  flexible: '0+',
  fields: {
    timeoutMs: int32({ default: 60000 }),
    allowReplicationFactorChange: bool({ versions: '1+', default: true }),
    topics: array(
      struct({
        name: string(),
        partitions: array(
          struct({
            partitionIndex: int32(),
            /** Null: stop the move that is under way. */
            replicas: array(int32(), { nullable: '0+', default: null }),
          }),
        ),
      }),
    ),
  },
});
export type AlterPartitionReassignmentsRequest = Message<typeof AlterPartitionReassignmentsRequest>;

export const AlterPartitionReassignmentsResponse = message({
  name: 'AlterPartitionReassignmentsResponse',
  type: 'response',
  apiKey: 45,
  versions: '0-1',
  flexible: '0+',
  fields: {
    throttleTimeMs: int32(),
    allowReplicationFactorChange: bool({ versions: '1+', default: true, ignorable: true }),
    errorCode: int16(),
    errorMessage: string({ nullable: '0+' }),
    responses: array(
      struct({
        name: string(),
        partitions: array(
          struct({
            partitionIndex: int32(),
            errorCode: int16(),
            errorMessage: string({ nullable: '0+' }),
          }),
        ),
      }),
    ),
  },
});
export type AlterPartitionReassignmentsResponse = Message<typeof AlterPartitionReassignmentsResponse>;
