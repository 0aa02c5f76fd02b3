// WriteTxnMarkers (27): A transaction coordinator has the end of a transaction written into the partitions that took part.
//
//   1  is flexible
//   2  tells which kind of transaction ends; adds transactionVersion to the request

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
        /** True: commit. False: abort. */
        transactionResult: bool(),
        topics: array(
          struct({
            name: string(),
            partitionIndexes: array(int32()),
          }),
        ),
        /** Of the partition of __transaction_state that holds the transaction. */
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
