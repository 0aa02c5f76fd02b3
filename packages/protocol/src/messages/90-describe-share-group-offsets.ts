// DescribeShareGroupOffsets (90): How far share groups have consumed.
//
//   1  tells the lag; adds lag to the response

import { array, int16, int32, int64, type Message, message, string, struct, uuid } from '../schema/define.ts';

export const DescribeShareGroupOffsetsRequest = message({
  name: 'DescribeShareGroupOffsetsRequest',
  type: 'request',
  apiKey: 90,
  versions: '0-1',
  flexible: '0+',
  fields: {
    groups: array(
      struct({
        groupId: string(),
        topics: array(
          struct({
            topicName: string(),
            partitions: array(int32()),
          }),
          { nullable: '0+' },
        ),
      }),
    ),
  },
});
export type DescribeShareGroupOffsetsRequest = Message<typeof DescribeShareGroupOffsetsRequest>;

export const DescribeShareGroupOffsetsResponse = message({
  name: 'DescribeShareGroupOffsetsResponse',
  type: 'response',
  apiKey: 90,
  versions: '0-1',
  flexible: '0+',
  fields: {
    throttleTimeMs: int32(),
    groups: array(
      struct({
        groupId: string(),
        topics: array(
          struct({
            topicName: string(),
            topicId: uuid(),
            partitions: array(
              struct({
                partitionIndex: int32(),
                startOffset: int64(),
                leaderEpoch: int32(),
                lag: int64({ versions: '1+', default: -1, ignorable: true }),
                errorCode: int16(),
                errorMessage: string({ nullable: '0+', default: null }),
              }),
            ),
          }),
        ),
        errorCode: int16(),
        errorMessage: string({ nullable: '0+', default: null }),
      }),
    ),
  },
});
export type DescribeShareGroupOffsetsResponse = Message<typeof DescribeShareGroupOffsetsResponse>;
