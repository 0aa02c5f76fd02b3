// TODO

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
    transactionStatus: int8(),
    transactionPartitions: array(
      struct({
        topic: string(),
        partitionIds: array(int32()),
      }),
      { nullable: '0+' },
    ),
    transactionLastUpdateTimestampMs: int64(),
    transactionStartTimestampMs: int64(),
    clientTransactionVersion: int16({ versions: '1+', tag: 2 }),
  },
});
export type TransactionLogValue = Message<typeof TransactionLogValue>;
