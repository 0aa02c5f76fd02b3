// InitProducerId (22): TODO
//
// Version 1 has the same layout. Version 2 is the first flexible one. Version 3 adds producerId and producerEpoch to the
// request. Versions 4 and 5 have the same layout. Version 6 adds enable2Pc and keepPreparedTxn to the request and adds
// ongoingTxnProducerId and ongoingTxnProducerEpoch to the response.

import { bool, int16, int32, int64, type Message, message, string } from '../schema/define.ts';

export const InitProducerIdRequest = message({
  name: 'InitProducerIdRequest',
  type: 'request',
  apiKey: 22,
  versions: '0-6',
  flexible: '2+',
  fields: {
    transactionalId: string({ nullable: '0+' }),
    transactionTimeoutMs: int32(),
    producerId: int64({ versions: '3+', default: -1 }),
    producerEpoch: int16({ versions: '3+', default: -1 }),
    enable2Pc: bool({ versions: '6+' }),
    keepPreparedTxn: bool({ versions: '6+' }),
  },
});
export type InitProducerIdRequest = Message<typeof InitProducerIdRequest>;

export const InitProducerIdResponse = message({
  name: 'InitProducerIdResponse',
  type: 'response',
  apiKey: 22,
  versions: '0-6',
  flexible: '2+',
  fields: {
    throttleTimeMs: int32({ ignorable: true }),
    errorCode: int16(),
    producerId: int64({ default: -1 }),
    producerEpoch: int16(),
    ongoingTxnProducerId: int64({ versions: '6+', default: -1 }),
    ongoingTxnProducerEpoch: int16({ versions: '6+', default: -1 }),
  },
});
export type InitProducerIdResponse = Message<typeof InitProducerIdResponse>;
