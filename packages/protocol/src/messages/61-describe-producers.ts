// DescribeProducers (61): Producers that have recently written to partitions.

import { array, int16, int32, int64, type Message, message, string, struct } from '../schema/define.ts';

export const DescribeProducersRequest = message({
  name: 'DescribeProducersRequest',
  type: 'request',
  apiKey: 61,
  versions: '0',
  flexible: '0+',
  fields: {
    topics: array(
      struct({
        name: string(),
        partitionIndexes: array(int32()),
      }),
    ),
  },
});
export type DescribeProducersRequest = Message<typeof DescribeProducersRequest>;

export const DescribeProducersResponse = message({
  name: 'DescribeProducersResponse',
  type: 'response',
  apiKey: 61,
  versions: '0',
  flexible: '0+',
  fields: {
    throttleTimeMs: int32(),
    topics: array(
      struct({
        name: string(),
        partitions: array(
          struct({
            partitionIndex: int32(),
            errorCode: int16(),
            errorMessage: string({ nullable: '0+', default: null }),
            activeProducers: array(
              struct({
                producerId: int64(),
                producerEpoch: int32(),
                lastSequence: int32({ default: -1 }),
                lastTimestamp: int64({ default: -1 }),
                /** -1: unknown. */
                coordinatorEpoch: int32(),
                /** -1: no transaction is open. */
                currentTxnStartOffset: int64({ default: -1 }),
              }),
            ),
          }),
        ),
      }),
    ),
  },
});
export type DescribeProducersResponse = Message<typeof DescribeProducersResponse>;
