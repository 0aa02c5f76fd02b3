// UpdateMetadata (6): TODO
//
// Version 1 adds endpoints to the request and drops v0Host and v0Port from the request. Version 2 adds rack to the request.
// Version 3 adds listener to the request. Version 4 adds offlineReplicas to the request. Version 5 adds brokerEpoch and
// topicStates to the request and drops ungroupedPartitionStates and topicName from the request. Version 6 is the first flexible
// one. Version 7 adds topicId to the request. Version 8 adds isKRaftController and type to the request.

import { array, bool, int8, int16, int32, int64, type Message, message, string, struct, uuid } from '../schema/define.ts';

const updateMetadataPartitionState = struct({
  topicName: string({ versions: '0-4', ignorable: true }),
  partitionIndex: int32(),
  controllerEpoch: int32(),
  leader: int32(),
  leaderEpoch: int32(),
  isr: array(int32()),
  zkVersion: int32(),
  replicas: array(int32()),
  offlineReplicas: array(int32(), { versions: '4+', ignorable: true }),
});

export const UpdateMetadataRequest = message({
  name: 'UpdateMetadataRequest',
  type: 'request',
  apiKey: 6,
  versions: '0-8',
  flexible: '6+',
  fields: {
    controllerId: int32(),
    isKRaftController: bool({ versions: '8+' }),
    type: int8({ versions: '8+', tag: 0 }),
    controllerEpoch: int32(),
    brokerEpoch: int64({ versions: '5+', default: -1, ignorable: true }),
    ungroupedPartitionStates: array(updateMetadataPartitionState, { versions: '0-4' }),
    topicStates: array(
      struct({
        topicName: string(),
        topicId: uuid({ versions: '7+', ignorable: true }),
        partitionStates: array(updateMetadataPartitionState),
      }),
      { versions: '5+' },
    ),
    liveBrokers: array(
      struct({
        id: int32(),
        v0Host: string({ versions: '0', ignorable: true }),
        v0Port: int32({ versions: '0', ignorable: true }),
        endpoints: array(
          struct({
            port: int32(),
            host: string(),
            listener: string({ versions: '3+', ignorable: true }),
            securityProtocol: int16(),
          }),
          { versions: '1+', ignorable: true },
        ),
        rack: string({ versions: '2+', nullable: '0+', ignorable: true }),
      }),
    ),
  },
});
export type UpdateMetadataRequest = Message<typeof UpdateMetadataRequest>;

export const UpdateMetadataResponse = message({
  name: 'UpdateMetadataResponse',
  type: 'response',
  apiKey: 6,
  versions: '0-8',
  flexible: '6+',
  fields: {
    errorCode: int16(),
  },
});
export type UpdateMetadataResponse = Message<typeof UpdateMetadataResponse>;
