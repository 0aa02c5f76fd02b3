// Records of __transaction_state: the latest record of a transactional id is the state of its transaction. An int16 goes before
// the key (recordType) and before the value (its version).
// Version 1 of the value is flexible and adds the producer ids before and after this one, which transaction.version 2 needs.

import { array, int8, int16, int32, int64, type Message, message, string, struct } from '../schema/define.ts';

export const TransactionLogKey = message({
  name: 'TransactionLogKey',
  type: 'data',
  recordType: 0,
  versions: '0',
  flexible: 'none',
  fields: {
    transactionalId: string(),
  },
});
export type TransactionLogKey = Message<typeof TransactionLogKey>;

export const TransactionLogValue = message({
  name: 'TransactionLogValue',
  type: 'data',
  versions: '0-1',
  flexible: '1+',
  fields: {
    producerId: int64(),
    previousProducerId: int64({ versions: '1+', default: -1, tag: 0 }),
    nextProducerId: int64({ versions: '1+', default: -1, tag: 1 }),
    producerEpoch: int16(),
    nextProducerEpoch: int16({ versions: '1+', default: -1, tag: 3 }),
    transactionTimeoutMs: int32(),
    /** 0 empty, 1 ongoing, 2 prepare commit, 3 prepare abort, 4 complete commit, 5 complete abort, 6 dead, 7 prepare epoch fence. */
    transactionStatus: int8(),
    /** Null: none. */
    transactionPartitions: array(
      struct({
        topic: string(),
        partitionIds: array(int32()),
      }),
      { nullable: '0+' },
    ),
    transactionLastUpdateTimestampMs: int64(),
    /** -1: no transaction is open. */
    transactionStartTimestampMs: int64(),
    clientTransactionVersion: int16({ versions: '1+', tag: 2 }),
  },
});
export type TransactionLogValue = Message<typeof TransactionLogValue>;
