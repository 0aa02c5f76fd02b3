// AlterShareGroupOffsets (91): Sets how far a share group has consumed.

import { array, int16, int32, int64, type Message, message, string, struct, uuid } from '../schema/define.ts';

export const AlterShareGroupOffsetsRequest = message({
  name: 'AlterShareGroupOffsetsRequest',
  type: 'request',
  apiKey: 91,
  versions: '0',
  flexible: '0+',
  fields: {
    groupId: string(),
    topics: array(
      struct({
        topicName: string(),
        partitions: array(
          struct({
            partitionIndex: int32(),
            startOffset: int64(),
          }),
        ),
      }),
    ),
  },
});
export type AlterShareGroupOffsetsRequest = Message<typeof AlterShareGroupOffsetsRequest>;

export const AlterShareGroupOffsetsResponse = message({
  name: 'AlterShareGroupOffsetsResponse',
  type: 'response',
  apiKey: 91,
  versions: '0',
  flexible: '0+',
  fields: {
    throttleTimeMs: int32(),
    errorCode: int16(),
    errorMessage: string({ nullable: '0+', default: null }),
    responses: array(
      struct({
        topicName: string(),
        topicId: uuid(),
        partitions: array(
          struct({
            partitionIndex: int32(),
            errorCode: int16(),
            errorMessage: string({ nullable: '0+', default: null }),
          }),
        ),
      }),
    ),
  },
});
export type AlterShareGroupOffsetsResponse = Message<typeof AlterShareGroupOffsetsResponse>;
