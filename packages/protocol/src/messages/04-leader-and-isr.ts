// LeaderAndIsr (4): The controller tells a broker which partitions it leads or follows (ZooKeeper mode).
//
//   1  adds isNew to the request
//   2  names the broker's epoch, so that an old request cannot reach a restarted broker, and groups partitions by topic; adds
//      brokerEpoch and topicStates to the request; drops ungroupedPartitionStates and topicName from the request
//   3  tells of reassignments; adds addingReplicas and removingReplicas to the request
//   4  is flexible
//   5  says whether it lists all partitions of the broker, and tells topic ids; adds type and topicId to the request, topics to
//      the response; drops partitionErrors and topicName from the response
//   6  tells of unclean elections that a leader has to recover from; adds leaderRecoveryState to the request
//   7  tells whether the controller runs on KRaft, during a migration; adds isKRaftController to the request

import { array, bool, int8, int16, int32, int64, type Message, message, string, struct, uuid } from '../schema/define.ts';

const leaderAndIsrPartitionState = struct({
  /** Where partitions are not grouped by topic. */
  topicName: string({ versions: '0-1', ignorable: true }),
  partitionIndex: int32(),
  /** Of the controller that decided this state, which may be an earlier one. */
  controllerEpoch: int32(),
  /** -1: none. */
  leader: int32(),
  leaderEpoch: int32(),
  /** The in-sync replicas. */
  isr: array(int32()),
  /** The version of the node that holds this state. */
  partitionEpoch: int32(),
  /** All assigned replicas, the preferred leader first. */
  replicas: array(int32()),
  /** Those that a reassignment adds. */
  addingReplicas: array(int32(), { versions: '3+', ignorable: true }),
  /** Those that a reassignment will remove. */
  removingReplicas: array(int32(), { versions: '3+', ignorable: true }),
  /** Whether the replica may not exist yet. */
  isNew: bool({ versions: '1+', ignorable: true }),
  /** 0 recovered, 1 recovering from an unclean election. */
  leaderRecoveryState: int8({ versions: '6+' }),
});

export const LeaderAndIsrRequest = message({
  name: 'LeaderAndIsrRequest',
  type: 'request',
  apiKey: 4,
  versions: '0-7',
  flexible: '4+',
  fields: {
    controllerId: int32(),
    /** Whether the controller runs on KRaft. */
    isKRaftController: bool({ versions: '7+' }),
    controllerEpoch: int32(),
    /** Of the receiver; -1: do not check. */
    brokerEpoch: int64({ versions: '2+', default: -1, ignorable: true }),
    /** 0 unknown, 1 some partitions, 2 all partitions of the broker. */
    type: int8({ versions: '5+' }),
    /** Up to version 1. */
    ungroupedPartitionStates: array(leaderAndIsrPartitionState, { versions: '0-1' }),
    /** From version 2 on. */
    topicStates: array(
      struct({
        topicName: string(),
        topicId: uuid({ versions: '5+', ignorable: true }),
        partitionStates: array(leaderAndIsrPartitionState),
      }),
      { versions: '2+' },
    ),
    /** The leaders that the partitions name. */
    liveLeaders: array(
      struct({
        brokerId: int32(),
        hostName: string(),
        port: int32(),
      }),
    ),
  },
});
export type LeaderAndIsrRequest = Message<typeof LeaderAndIsrRequest>;

const leaderAndIsrPartitionError = struct({
  topicName: string({ versions: '0-4', ignorable: true }),
  partitionIndex: int32(),
  errorCode: int16(),
});

export const LeaderAndIsrResponse = message({
  name: 'LeaderAndIsrResponse',
  type: 'response',
  apiKey: 4,
  versions: '0-7',
  flexible: '4+',
  fields: {
    errorCode: int16(),
    /** Up to version 4. */
    partitionErrors: array(leaderAndIsrPartitionError, { versions: '0-4' }),
    /** From version 5 on. */
    topics: array(
      struct({
        topicId: uuid(),
        partitionErrors: array(leaderAndIsrPartitionError),
      }),
      { versions: '5+' },
    ),
  },
});
export type LeaderAndIsrResponse = Message<typeof LeaderAndIsrResponse>;
