// LeaderAndIsr (4): TODO
//
// Version 1 adds isNew to the request. Version 2 adds brokerEpoch and topicStates to the request and drops
// ungroupedPartitionStates and topicName from the request. Version 3 adds addingReplicas and removingReplicas to the request.
// Version 4 is the first flexible one. Version 5 adds type and topicId to the request, adds topics to the response, and drops
// partitionErrors and topicName from the response. Version 6 adds leaderRecoveryState to the request. Version 7 adds
// isKRaftController to the request.

import { array, bool, int8, int16, int32, int64, type Message, message, string, struct, uuid } from '../schema/define.ts';

const leaderAndIsrPartitionState = struct({
  topicName: string({ versions: '0-1', ignorable: true }),
  partitionIndex: int32(),
  controllerEpoch: int32(),
  leader: int32(),
  leaderEpoch: int32(),
  isr: array(int32()),
  partitionEpoch: int32(),
  replicas: array(int32()),
  addingReplicas: array(int32(), { versions: '3+', ignorable: true }),
  removingReplicas: array(int32(), { versions: '3+', ignorable: true }),
  isNew: bool({ versions: '1+', ignorable: true }),
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
    isKRaftController: bool({ versions: '7+' }),
    controllerEpoch: int32(),
    brokerEpoch: int64({ versions: '2+', default: -1, ignorable: true }),
    type: int8({ versions: '5+' }),
    ungroupedPartitionStates: array(leaderAndIsrPartitionState, { versions: '0-1' }),
    topicStates: array(
      struct({
        topicName: string(),
        topicId: uuid({ versions: '5+', ignorable: true }),
        partitionStates: array(leaderAndIsrPartitionState),
      }),
      { versions: '2+' },
    ),
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
    partitionErrors: array(leaderAndIsrPartitionError, { versions: '0-4' }),
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
