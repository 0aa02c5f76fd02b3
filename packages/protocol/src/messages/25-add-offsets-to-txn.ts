// AddOffsetsToTxn (25): TODO
//
// Versions 1 and 2 have the same layout. Version 3 is the first flexible one. Version 4 has the same layout.

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
