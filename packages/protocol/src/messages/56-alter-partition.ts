// AlterPartition (56): A leader asks the controller to change the in-sync replicas of its partitions.
//
//   1  tells of recovery from unclean elections; adds leaderRecoveryState to request and response
//   2  names topics by id; adds topicId to request and response; drops topicName from request and response
//   3  tells the epochs of the brokers in the new set; adds newIsrWithEpochs to the request; drops newIsr from the request

import { array, int8, int16, int32, int64, type Message, message, string, struct, uuid } from '../schema/define.ts';

export const AlterPartitionRequest = message({
  name: 'AlterPartitionRequest',
  type: 'request',
  apiKey: 56,
  versions: '0-3',
  flexible: '0+',
  fields: {
    brokerId: int32(),
    brokerEpoch: int64({ default: -1 }),
    topics: array(
      struct({
        topicName: string({ versions: '0-1', ignorable: true }),
        topicId: uuid({ versions: '2+', ignorable: true }),
        partitions: array(
          struct({
            partitionIndex: int32(),
            leaderEpoch: int32(),
            /** Up to version 2. */
            newIsr: array(int32(), { versions: '0-2' }),
            /** From version 3 on. */
            newIsrWithEpochs: array(
              struct({
                brokerId: int32(),
                brokerEpoch: int64({ default: -1 }),
              }),
              { versions: '3+' },
            ),
            /** 0 recovered, 1 recovering from an unclean election. */
            leaderRecoveryState: int8({ versions: '1+' }),
            /** The version of the state that the change is based on. */
            partitionEpoch: int32(),
          }),
        ),
      }),
    ),
  },
});
export type AlterPartitionRequest = Message<typeof AlterPartitionRequest>;

export const AlterPartitionResponse = message({
  name: 'AlterPartitionResponse',
  type: 'response',
  apiKey: 56,
  versions: '0-3',
  flexible: '0+',
  fields: {
    throttleTimeMs: int32(),
    errorCode: int16(),
    topics: array(
      struct({
        topicName: string({ versions: '0-1', ignorable: true }),
        topicId: uuid({ versions: '2+', ignorable: true }),
        partitions: array(
          struct({
            partitionIndex: int32(),
            errorCode: int16(),
            leaderId: int32(),
            leaderEpoch: int32(),
            isr: array(int32()),
            leaderRecoveryState: int8({ versions: '1+', ignorable: true }),
            partitionEpoch: int32(),
          }),
        ),
      }),
    ),
  },
});
export type AlterPartitionResponse = Message<typeof AlterPartitionResponse>;
