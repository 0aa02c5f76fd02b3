// UpdateMetadata (6): The controller tells every broker what the cluster looks like, for their answers to Metadata (ZooKeeper
// mode).
//
//   1  tells all listeners of a broker instead of one address; adds endpoints to the request; drops v0Host and v0Port from the
//      request
//   2  adds rack to the request
//   3  names listeners; adds listener to the request
//   4  tells of replicas that are offline; adds offlineReplicas to the request
//   5  groups partitions by topic and names the broker's epoch; adds brokerEpoch and topicStates to the request; drops
//      ungroupedPartitionStates and topicName from the request
//   6  is flexible
//   7  tells topic ids; adds topicId to the request
//   8  tells whether the controller runs on KRaft, and whether it lists everything; adds isKRaftController and type to the
//      request

import { array, bool, int8, int16, int32, int64, type Message, message, string, struct, uuid } from '../schema/define.ts';

const updateMetadataPartitionState = struct({
  /** Where partitions are not grouped by topic. */
  topicName: string({ versions: '0-4', ignorable: true }),
  partitionIndex: int32(),
  /** Of the controller that decided this state, which may be an earlier one. */
  controllerEpoch: int32(),
  /** -1: none; -2: the topic is being deleted. */
  leader: int32(),
  leaderEpoch: int32(),
  /** The in-sync replicas. */
  isr: array(int32()),
  /** The version of the node that holds this state. */
  zkVersion: int32(),
  /** All assigned replicas, the preferred leader first. */
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
    /** 0 unknown, 1 some partitions, 2 all of the cluster. */
    type: int8({ versions: '8+', tag: 0 }),
    controllerEpoch: int32(),
    /** Of the receiver; -1: do not check. */
    brokerEpoch: int64({ versions: '5+', default: -1, ignorable: true }),
    /** Up to version 4. */
    ungroupedPartitionStates: array(updateMetadataPartitionState, { versions: '0-4' }),
    /** From version 5 on. */
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
        /** Version 0. */
        v0Host: string({ versions: '0', ignorable: true }),
        /** Version 0. */
        v0Port: int32({ versions: '0', ignorable: true }),
        endpoints: array(
          struct({
            port: int32(),
            host: string(),
            listener: string({ versions: '3+', ignorable: true }),
            /** 0 PLAINTEXT, 1 SSL, 2 SASL_PLAINTEXT, 3 SASL_SSL. */
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
