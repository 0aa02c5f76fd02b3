// InitProducerId (22): Gives an idempotent or transactional producer its id and epoch, and aborts what the last holder of the
// transactional id left open.
//
//   1  is as 0: the client waits itself when it is throttled
//   2  is flexible
//   3  can ask for a new epoch of an id that the producer has; adds producerId and producerEpoch to the request
//   4  may answer PRODUCER_FENCED
//   5  the client understands TRANSACTION_ABORTABLE
//   6  brings two-phase commit; not released yet; adds enable2Pc and keepPreparedTxn to the request, ongoingTxnProducerId and
//      ongoingTxnProducerEpoch to the response

import { bool, int16, int32, int64, type Message, message, string } from '../schema/define.ts';

export const InitProducerIdRequest = message({
  name: 'InitProducerIdRequest',
  type: 'request',
  apiKey: 22,
  versions: '0-6',
  flexible: '2+',
  fields: {
    /** Null: the producer is idempotent only. */
    transactionalId: string({ nullable: '0+' }),
    /** After so long the coordinator aborts a transaction by itself. */
    transactionTimeoutMs: int32(),
    /** -1, or the id whose epoch is to be raised. */
    producerId: int64({ versions: '3+', default: -1 }),
    /** -1, or the epoch of that id. */
    producerEpoch: int16({ versions: '3+', default: -1 }),
    /** Whether the transaction takes part in a two-phase commit of the client. */
    enable2Pc: bool({ versions: '6+' }),
    /** Whether to leave a prepared transaction open. */
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
    /** -1 with an error. */
    producerId: int64({ default: -1 }),
    producerEpoch: int16(),
    /** Of the transaction that was kept open; -1: none. */
    ongoingTxnProducerId: int64({ versions: '6+', default: -1 }),
    ongoingTxnProducerEpoch: int16({ versions: '6+', default: -1 }),
  },
});
export type InitProducerIdResponse = Message<typeof InitProducerIdResponse>;
