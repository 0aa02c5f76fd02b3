// DescribeTransactions (65): State of transactions.

import { array, int16, int32, int64, type Message, message, string, struct } from '../schema/define.ts';

export const DescribeTransactionsRequest = message({
  name: 'DescribeTransactionsRequest',
  type: 'request',
  apiKey: 65,
  versions: '0',
  flexible: '0+',
  fields: {
    transactionalIds: array(string()),
  },
});
export type DescribeTransactionsRequest = Message<typeof DescribeTransactionsRequest>;

export const DescribeTransactionsResponse = message({
  name: 'DescribeTransactionsResponse',
  type: 'response',
  apiKey: 65,
  versions: '0',
  flexible: '0+',
  fields: {
    throttleTimeMs: int32(),
    transactionStates: array(
      struct({
        errorCode: int16(),
        transactionalId: string(),
        transactionState: string(),
        transactionTimeoutMs: int32(),
        transactionStartTimeMs: int64(),
        producerId: int64(),
        producerEpoch: int16(),
        topics: array(
          struct({
            topic: string(),
            partitions: array(int32()),
          }),
        ),
      }),
    ),
  },
});
export type DescribeTransactionsResponse = Message<typeof DescribeTransactionsResponse>;
