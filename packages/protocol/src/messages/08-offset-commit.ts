// OffsetCommit (8): TODO
//
// Version 1 adds generationIdOrMemberEpoch, memberId and commitTimestamp to the request. Version 2 adds retentionTimeMs to the
// request and drops commitTimestamp from the request. Version 3 adds throttleTimeMs to the response. Version 4 has the same
// layout. Version 5 drops retentionTimeMs from the request. Version 6 adds committedLeaderEpoch to the request. Version 7 adds
// groupInstanceId to the request. Version 8 is the first flexible one. Version 9 has the same layout. Version 10 adds topicId
// to the request, adds topicId to the response, drops name from the request, and drops name from the response.

import { array, int16, int32, int64, type Message, message, string, struct, uuid } from '../schema/define.ts';

export const OffsetCommitRequest = message({
  name: 'OffsetCommitRequest',
  type: 'request',
  apiKey: 8,
  versions: '0-10',
  flexible: '8+',
  fields: {
    groupId: string(),
    generationIdOrMemberEpoch: int32({ versions: '1+', default: -1, ignorable: true }),
    memberId: string({ versions: '1+', ignorable: true }),
    groupInstanceId: string({ versions: '7+', nullable: '0+', default: null }),
    retentionTimeMs: int64({ versions: '2-4', default: -1, ignorable: true }),
    topics: array(
      struct({
        name: string({ versions: '0-9', ignorable: true }),
        topicId: uuid({ versions: '10+', ignorable: true }),
        partitions: array(
          struct({
            partitionIndex: int32(),
            committedOffset: int64(),
            committedLeaderEpoch: int32({ versions: '6+', default: -1, ignorable: true }),
            commitTimestamp: int64({ versions: '1', default: -1 }),
            committedMetadata: string({ nullable: '0+' }),
          }),
        ),
      }),
    ),
  },
});
export type OffsetCommitRequest = Message<typeof OffsetCommitRequest>;

export const OffsetCommitResponse = message({
  name: 'OffsetCommitResponse',
  type: 'response',
  apiKey: 8,
  versions: '0-10',
  flexible: '8+',
  fields: {
    throttleTimeMs: int32({ versions: '3+', ignorable: true }),
    topics: array(
      struct({
        name: string({ versions: '0-9', ignorable: true }),
        topicId: uuid({ versions: '10+', ignorable: true }),
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
export type OffsetCommitResponse = Message<typeof OffsetCommitResponse>;
