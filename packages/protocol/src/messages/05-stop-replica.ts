// StopReplica (5): TODO
//
// Version 1 adds brokerEpoch and topics to the request and drops ungroupedPartitions from the request. Version 2 is the first
// flexible one. Version 3 adds topicStates to the request and drops deletePartitions and topics from the request. Version 4
// adds isKRaftController to the request.

import { array, bool, int16, int32, int64, type Message, message, string, struct } from '../schema/define.ts';

export const StopReplicaRequest = message({
  name: 'StopReplicaRequest',
  type: 'request',
  apiKey: 5,
  versions: '0-4',
  flexible: '2+',
  fields: {
    controllerId: int32(),
    isKRaftController: bool({ versions: '4+' }),
    controllerEpoch: int32(),
    brokerEpoch: int64({ versions: '1+', default: -1, ignorable: true }),
    deletePartitions: bool({ versions: '0-2' }),
    ungroupedPartitions: array(
      struct({
        topicName: string(),
        partitionIndex: int32(),
      }),
      { versions: '0' },
    ),
    topics: array(
      struct({
        name: string(),
        partitionIndexes: array(int32()),
      }),
      { versions: '1-2' },
    ),
    topicStates: array(
      struct({
        topicName: string(),
        partitionStates: array(
          struct({
            partitionIndex: int32(),
            leaderEpoch: int32({ default: -1 }),
            deletePartition: bool(),
          }),
        ),
      }),
      { versions: '3+' },
    ),
  },
});
export type StopReplicaRequest = Message<typeof StopReplicaRequest>;

export const StopReplicaResponse = message({
  name: 'StopReplicaResponse',
  type: 'response',
  apiKey: 5,
  versions: '0-4',
  flexible: '2+',
  fields: {
    errorCode: int16(),
    partitionErrors: array(
      struct({
        topicName: string(),
        partitionIndex: int32(),
        errorCode: int16(),
      }),
    ),
  },
});
export type StopReplicaResponse = Message<typeof StopReplicaResponse>;
