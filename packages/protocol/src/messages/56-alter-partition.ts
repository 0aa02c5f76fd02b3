// AlterPartition (56): TODO
//
// Version 1 adds leaderRecoveryState to the request and adds leaderRecoveryState to the response. Version 2 adds topicId to the
// request, adds topicId to the response, drops topicName from the request, and drops topicName from the response. Version 3
// adds newIsrWithEpochs to the request and drops newIsr from the request.

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
            newIsr: array(int32(), { versions: '0-2' }),
            newIsrWithEpochs: array(
              struct({
                brokerId: int32(),
                brokerEpoch: int64({ default: -1 }),
              }),
              { versions: '3+' },
            ),
            leaderRecoveryState: int8({ versions: '1+' }),
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
