// ReadShareGroupStateSummary (87): Reads the start offsets of share partitions.
//
//   1  tells how many deliveries were completed; adds deliveryCompleteCount to the response

import { array, int16, int32, int64, type Message, message, string, struct, uuid } from '../schema/define.ts';

export const ReadShareGroupStateSummaryRequest = message({
  name: 'ReadShareGroupStateSummaryRequest',
  type: 'request',
  apiKey: 87,
  versions: '0-1',
  flexible: '0+',
  fields: {
    groupId: string(),
    topics: array(
      struct({
        topicId: uuid(),
        partitions: array(
          struct({
            partition: int32(),
            leaderEpoch: int32(),
          }),
        ),
      }),
    ),
  },
});
export type ReadShareGroupStateSummaryRequest = Message<typeof ReadShareGroupStateSummaryRequest>;

export const ReadShareGroupStateSummaryResponse = message({
  name: 'ReadShareGroupStateSummaryResponse',
  type: 'response',
  apiKey: 87,
  versions: '0-1',
  flexible: '0+',
  fields: {
    results: array(
      struct({
        topicId: uuid(),
        partitions: array(
          struct({
            partition: int32(),
            errorCode: int16(),
            errorMessage: string({ nullable: '0+', default: null }),
            stateEpoch: int32(),
            leaderEpoch: int32(),
            startOffset: int64(),
            deliveryCompleteCount: int32({ versions: '1+', default: -1, ignorable: true }),
          }),
        ),
      }),
    ),
  },
});
export type ReadShareGroupStateSummaryResponse = Message<typeof ReadShareGroupStateSummaryResponse>;
