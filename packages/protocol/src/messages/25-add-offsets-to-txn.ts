// AddOffsetsToTxn (25): Adds the offsets of a group to an open transaction.
//
//   1  is as 0: the client waits itself when it is throttled
//   2  may answer PRODUCER_FENCED
//   3  is flexible
//   4  the client understands TRANSACTION_ABORTABLE

import { int16, int32, int64, type Message, message, string } from '../schema/define.ts';

export const AddOffsetsToTxnRequest = message({
  name: 'AddOffsetsToTxnRequest',
  type: 'request',
  apiKey: 25,
  versions: '0-4',
  flexible: '3+',
  fields: {
    transactionalId: string(),
    producerId: int64(),
    producerEpoch: int16(),
    groupId: string(),
  },
});
export type AddOffsetsToTxnRequest = Message<typeof AddOffsetsToTxnRequest>;

export const AddOffsetsToTxnResponse = message({
  name: 'AddOffsetsToTxnResponse',
  type: 'response',
  apiKey: 25,
  versions: '0-4',
  flexible: '3+',
  fields: {
    throttleTimeMs: int32(),
    errorCode: int16(),
  },
});
export type AddOffsetsToTxnResponse = Message<typeof AddOffsetsToTxnResponse>;
