// StopReplica (5): The controller tells a broker to stop serving replicas, and perhaps to delete them (ZooKeeper mode).
//
//   1  groups partitions by topic and names the broker's epoch; adds brokerEpoch and topics to the request; drops
//      ungroupedPartitions from the request
//   2  is flexible
//   3  decides about deletion per partition, and fences by leader epoch; adds topicStates to the request; drops
//      deletePartitions and topics from the request
//   4  tells whether the controller runs on KRaft, during a migration; adds isKRaftController to the request

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
    /** Of the receiver; -1: do not check. */
    brokerEpoch: int64({ versions: '1+', default: -1, ignorable: true }),
    /** Up to version 2: for all of them. */
    deletePartitions: bool({ versions: '0-2' }),
    /** Version 0. */
    ungroupedPartitions: array(
      struct({
        topicName: string(),
        partitionIndex: int32(),
      }),
      { versions: '0' },
    ),
    /** Versions 1 and 2. */
    topics: array(
      struct({
        name: string(),
        partitionIndexes: array(int32()),
      }),
      { versions: '1-2' },
    ),
    /** From version 3 on. */
    topicStates: array(
      struct({
        topicName: string(),
        partitionStates: array(
          struct({
            partitionIndex: int32(),
            /** -1: do not check; -2: the topic is being deleted. */
            leaderEpoch: int32({ default: -1 }),
            /** Whether to delete the log, too. */
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
