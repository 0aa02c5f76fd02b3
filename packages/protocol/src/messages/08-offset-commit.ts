// OffsetCommit (8): Stores how far a group has consumed.
//
//   1   is stored in Kafka instead of ZooKeeper, and checks the member; adds generationIdOrMemberEpoch, memberId and
//       commitTimestamp to the request
//   2   moves the time from the partitions to one retention time for all; adds retentionTimeMs to the request; drops
//       commitTimestamp from the request
//   3   adds throttleTimeMs to the response
//   4   is as 3: the client waits itself when it is throttled
//   5   leaves the retention to the broker; drops retentionTimeMs from the request
//   6   tells leader epochs; adds committedLeaderEpoch to the request
//   7   brings static members; adds groupInstanceId to the request
//   8   is flexible
//   9   serves members of the consumer protocol too
//   10  names topics by id; adds topicId to request and response; drops name from request and response

import { array, int16, int32, int64, type Message, message, string, struct, uuid } from '../schema/define.ts';

export const OffsetCommitRequest = message({
  name: 'OffsetCommitRequest',
  type: 'request',
  apiKey: 8,
  versions: '0-10',
  flexible: '8+',
  fields: {
    groupId: string(),
    /** The generation of a classic group, or the epoch of a member of the consumer protocol; -1: no member, offsets are only stored. */
    generationIdOrMemberEpoch: int32({ versions: '1+', default: -1, ignorable: true }),
    /** Empty: no member. */
    memberId: string({ versions: '1+', ignorable: true }),
    /** Of a static member. */
    groupInstanceId: string({ versions: '7+', nullable: '0+', default: null }),
    /** How long to keep the offsets; -1: as the broker has it. */
    retentionTimeMs: int64({ versions: '2-4', default: -1, ignorable: true }),
    topics: array(
      struct({
        name: string({ versions: '0-9', ignorable: true }),
        topicId: uuid({ versions: '10+', ignorable: true }),
        partitions: array(
          struct({
            partitionIndex: int32(),
            /** The next offset to consume. */
            committedOffset: int64(),
            /** Of the last record consumed; -1 when unknown. */
            committedLeaderEpoch: int32({ versions: '6+', default: -1, ignorable: true }),
            /** Version 1: when; -1: now. */
            commitTimestamp: int64({ versions: '1', default: -1 }),
            /** Whatever the client wants to keep with the offset. */
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
