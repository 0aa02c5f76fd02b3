// EndTxn (26): Commits or aborts a transaction.
//
//   1  is as 0: the client waits itself when it is throttled
//   2  may answer PRODUCER_FENCED
//   3  is flexible
//   4  the client understands TRANSACTION_ABORTABLE
//   5  gives the producer a new epoch with every transaction; goes with transaction.version 2; adds producerId and
//      producerEpoch to the response

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
    /** True: commit. False: abort. */
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
    /** From version 5 on: for the next transaction; -1 with an error. */
    producerId: int64({ versions: '5+', default: -1, ignorable: true }),
    /** From version 5 on: for the next transaction. */
    producerEpoch: int16({ versions: '5+', default: -1, ignorable: true }),
  },
});
export type EndTxnResponse = Message<typeof EndTxnResponse>;
