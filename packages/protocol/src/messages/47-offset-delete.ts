// OffsetDelete (47): Deletes committed offsets of a group.

import { array, int16, int32, type Message, message, string, struct } from '../schema/define.ts';

export const OffsetDeleteRequest = message({
  name: 'OffsetDeleteRequest',
  type: 'request',
  apiKey: 47,
  versions: '0',
  flexible: 'none',
  fields: {
    groupId: string(),
    topics: array(
      struct({
        name: string(),
        partitions: array(
          struct({
            partitionIndex: int32(),
          }),
        ),
      }),
    ),
  },
});
export type OffsetDeleteRequest = Message<typeof OffsetDeleteRequest>;

export const OffsetDeleteResponse = message({
  name: 'OffsetDeleteResponse',
  type: 'response',
  apiKey: 47,
  versions: '0',
  flexible: 'none',
  fields: {
    errorCode: int16(),
    throttleTimeMs: int32({ ignorable: true }),
    topics: array(
      struct({
        name: string(),
        partitions: array(
          struct({
            partitionIndex: int32(),
            errorCode: int16(),
          }),
        ),
      }),
    ),
  },
});
export type OffsetDeleteResponse = Message<typeof OffsetDeleteResponse>;
