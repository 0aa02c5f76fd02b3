// ListTransactions (66): Lists the transactions that a broker coordinates.
//
//   1  can filter by duration; adds durationFilter to the request
//   2  can filter by a regular expression for the transactional id; adds transactionalIdPattern to the request

import { array, int16, int32, int64, type Message, message, string, struct } from '../schema/define.ts';

export const ListTransactionsRequest = message({
  name: 'ListTransactionsRequest',
  type: 'request',
  apiKey: 66,
  versions: '0-2',
  flexible: '0+',
  fields: {
    stateFilters: array(string()),
    producerIdFilters: array(int64()),
    durationFilter: int64({ versions: '1+', default: -1 }),
    transactionalIdPattern: string({ versions: '2+', nullable: '0+', default: null }),
  },
});
export type ListTransactionsRequest = Message<typeof ListTransactionsRequest>;

export const ListTransactionsResponse = message({
  name: 'ListTransactionsResponse',
  type: 'response',
  apiKey: 66,
  versions: '0-2',
  flexible: '0+',
  fields: {
    throttleTimeMs: int32(),
    errorCode: int16(),
    unknownStateFilters: array(string()),
    transactionStates: array(
      struct({
        transactionalId: string(),
        producerId: int64(),
        transactionState: string(),
      }),
    ),
  },
});
export type ListTransactionsResponse = Message<typeof ListTransactionsResponse>;
