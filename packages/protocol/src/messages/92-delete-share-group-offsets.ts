// DeleteShareGroupOffsets (92): Deletes how far a share group has consumed.

import { array, int16, int32, type Message, message, string, struct, uuid } from '../schema/define.ts';

export const DeleteShareGroupOffsetsRequest = message({
  name: 'DeleteShareGroupOffsetsRequest',
  type: 'request',
  apiKey: 92,
  versions: '0',
  flexible: '0+',
  fields: {
    groupId: string(),
    topics: array(
      struct({
        topicName: string(),
      }),
    ),
  },
});
export type DeleteShareGroupOffsetsRequest = Message<typeof DeleteShareGroupOffsetsRequest>;

export const DeleteShareGroupOffsetsResponse = message({
  name: 'DeleteShareGroupOffsetsResponse',
  type: 'response',
  apiKey: 92,
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
        errorCode: int16(),
        errorMessage: string({ nullable: '0+', default: null }),
      }),
    ),
  },
});
export type DeleteShareGroupOffsetsResponse = Message<typeof DeleteShareGroupOffsetsResponse>;
