// OffsetFetch (9): TODO
//
// Version 1 has the same layout. Version 2 adds errorCode to the response and lets topics be null in the request. Version 3
// adds throttleTimeMs to the response. Version 4 has the same layout. Version 5 adds committedLeaderEpoch to the response.
// Version 6 is the first flexible one. Version 7 adds requireStable to the request. Version 8 adds groups to the request, adds
// groups to the response, drops groupId and topics from the request, and drops topics and errorCode from the response. Version
// 9 adds memberId and memberEpoch to the request. Version 10 adds topicId to the request, adds topicId to the response, drops
// name from the request, and drops name from the response.

import { array, bool, int16, int32, int64, type Message, message, string, struct, uuid } from '../schema/define.ts';

export const OffsetFetchRequest = message({
  name: 'OffsetFetchRequest',
  type: 'request',
  apiKey: 9,
  versions: '0-10',
  flexible: '6+',
  fields: {
    groupId: string({ versions: '0-7' }),
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
        memberEpoch: int32({ versions: '9+', default: -1, ignorable: true }),
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
            committedOffset: int64(),
            committedLeaderEpoch: int32({ versions: '5-7', default: -1, ignorable: true }),
            metadata: string({ nullable: '0+' }),
            errorCode: int16(),
          }),
        ),
      }),
      { versions: '0-7' },
    ),
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
