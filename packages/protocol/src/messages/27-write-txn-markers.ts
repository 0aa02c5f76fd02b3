// WriteTxnMarkers (27): TODO
//
// Version 1 is the first flexible one. Version 2 adds transactionVersion to the request.

import { array, bool, int8, int16, int32, int64, type Message, message, string, struct } from '../schema/define.ts';

export const WriteTxnMarkersRequest = message({
  name: 'WriteTxnMarkersRequest',
  type: 'request',
  apiKey: 27,
  versions: '0-2',
  flexible: '1+',
  fields: {
    markers: array(
      struct({
        producerId: int64(),
        producerEpoch: int16(),
        transactionResult: bool(),
        topics: array(
          struct({
            name: string(),
            partitionIndexes: array(int32()),
          }),
        ),
        coordinatorEpoch: int32(),
        transactionVersion: int8({ versions: '2+', ignorable: true }),
      }),
    ),
  },
});
export type WriteTxnMarkersRequest = Message<typeof WriteTxnMarkersRequest>;

export const WriteTxnMarkersResponse = message({
  name: 'WriteTxnMarkersResponse',
  type: 'response',
  apiKey: 27,
  versions: '0-2',
  flexible: '1+',
  fields: {
    markers: array(
      struct({
        producerId: int64(),
        topics: array(
          struct({
            name: string(),
            partitions: array(
              struct({
                partitionIndex: int32(),
                errorCode: int16(),
              }),
            ),
          }),
        ),
      }),
    ),
  },
});
export type WriteTxnMarkersResponse = Message<typeof WriteTxnMarkersResponse>;
