// EndTxn (26): TODO
//
// Versions 1 and 2 have the same layout. Version 3 is the first flexible one. Version 4 has the same layout. Version 5 adds
// producerId and producerEpoch to the response.

import { bool, int16, int32, int64, type Message, message, string } from '../schema/define.ts';

export const EndTxnRequest = message({
  name: 'EndTxnRequest',
  type: 'request',
  apiKey: 26,
  versions: '0-5',
  flexible: '3+',
  fields: {
    transactionalId: string(),
    producerId: int64(),
    producerEpoch: int16(),
    committed: bool(),
  },
});
export type EndTxnRequest = Message<typeof EndTxnRequest>;

export const EndTxnResponse = message({
  name: 'EndTxnResponse',
  type: 'response',
  apiKey: 26,
  versions: '0-5',
  flexible: '3+',
  fields: {
    throttleTimeMs: int32(),
    errorCode: int16(),
    producerId: int64({ versions: '5+', default: -1, ignorable: true }),
    producerEpoch: int16({ versions: '5+', default: -1, ignorable: true }),
  },
});
export type EndTxnResponse = Message<typeof EndTxnResponse>;
