// OffsetFetch (9): Reads how far groups have consumed.
//
//   1   reads from Kafka instead of ZooKeeper
//   2   can ask for all topics with null, and has an error for the group as a whole; adds errorCode to the response; allows
//       null as topics in the request
//   3   adds throttleTimeMs to the response
//   4   is as 3: the client waits itself when it is throttled
//   5   tells leader epochs; adds committedLeaderEpoch to the response
//   6   is flexible
//   7   can wait for open transactions; adds requireStable to the request
//   8   asks for several groups at once; adds groups to request and response; drops groupId and topics from the request, topics
//       and errorCode from the response
//   9   serves members of the consumer protocol too; adds memberId and memberEpoch to the request
//   10  names topics by id; adds topicId to request and response; drops name from request and response

import { array, bool, int16, int32, int64, type Message, message, string, struct, uuid } from '../schema/define.ts';

export const OffsetFetchRequest = message({
  name: 'OffsetFetchRequest',
  type: 'request',
  apiKey: 9,
  versions: '0-10',
  flexible: '6+',
  fields: {
    groupId: string({ versions: '0-7' }),
    /** Null: all. Up to version 7; then in groups. */
    topics: array(
      struct({
        name: string(),
        partitionIndexes: array(int32()),
      }),
      { versions: '0-7', nullable: '2+' },
    ),
    groups: array(
      struct({
        groupId: string(),
        memberId: string({ versions: '9+', nullable: '0+', default: null, ignorable: true }),
        /** -1: no member. */
        memberEpoch: int32({ versions: '9+', default: -1, ignorable: true }),
        /** Null: all. */
        topics: array(
          struct({
            name: string({ versions: '8-9', ignorable: true }),
            topicId: uuid({ versions: '10+', ignorable: true }),
            partitionIndexes: array(int32()),
          }),
          { nullable: '0+' },
        ),
      }),
      { versions: '8+' },
    ),
    /** Whether to answer UNSTABLE_OFFSET_COMMIT where an open transaction may change the offset. */
    requireStable: bool({ versions: '7+' }),
  },
});
export type OffsetFetchRequest = Message<typeof OffsetFetchRequest>;

export const OffsetFetchResponse = message({
  name: 'OffsetFetchResponse',
  type: 'response',
  apiKey: 9,
  versions: '0-10',
  flexible: '6+',
  fields: {
    throttleTimeMs: int32({ versions: '3+', ignorable: true }),
    topics: array(
      struct({
        name: string(),
        partitions: array(
          struct({
            partitionIndex: int32(),
            /** -1: none is stored. */
            committedOffset: int64(),
            committedLeaderEpoch: int32({ versions: '5-7', default: -1, ignorable: true }),
            metadata: string({ nullable: '0+' }),
            errorCode: int16(),
          }),
        ),
      }),
      { versions: '0-7' },
    ),
    /** Versions 2 to 7: an error of the group. */
    errorCode: int16({ versions: '2-7', ignorable: true }),
    groups: array(
      struct({
        groupId: string(),
        topics: array(
          struct({
            name: string({ versions: '8-9', ignorable: true }),
            topicId: uuid({ versions: '10+', ignorable: true }),
            partitions: array(
              struct({
                partitionIndex: int32(),
                /** -1: none is stored. */
                committedOffset: int64(),
                committedLeaderEpoch: int32({ default: -1, ignorable: true }),
                metadata: string({ nullable: '0+' }),
                errorCode: int16(),
              }),
            ),
          }),
        ),
        errorCode: int16(),
      }),
      { versions: '8+' },
    ),
  },
});
export type OffsetFetchResponse = Message<typeof OffsetFetchResponse>;
