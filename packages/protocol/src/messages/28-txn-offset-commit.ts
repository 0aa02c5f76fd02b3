// TxnOffsetCommit (28): Stores offsets of a group within a transaction: they count once it commits.
//
//   1  is as 0: the client waits itself when it is throttled
//   2  tells leader epochs; adds committedLeaderEpoch to the request
//   3  checks the member; is flexible; adds generationIdOrMemberEpoch, memberId and groupInstanceId to the request
//   4  the client understands TRANSACTION_ABORTABLE
//   5  the broker adds the group to the transaction itself; goes with transaction.version 2
//   6  names topics by id; adds topicId to request and response; drops name from request and response

import { array, int16, int32, int64, type Message, message, string, struct, uuid } from '../schema/define.ts';

export const TxnOffsetCommitRequest = message({
  name: 'TxnOffsetCommitRequest',
  type: 'request',
  apiKey: 28,
  versions: '0-6',
  flexible: '3+',
  fields: {
    transactionalId: string(),
    groupId: string(),
    producerId: int64(),
    producerEpoch: int16(),
    generationIdOrMemberEpoch: int32({ versions: '3+', default: -1 }),
    memberId: string({ versions: '3+' }),
    groupInstanceId: string({ versions: '3+', nullable: '0+', default: null }),
    topics: array(
      struct({
        name: string({ versions: '0-5', ignorable: true }),
        topicId: uuid({ versions: '6+', ignorable: true }),
        partitions: array(
          struct({
            partitionIndex: int32(),
            committedOffset: int64(),
            committedLeaderEpoch: int32({ versions: '2+', default: -1, ignorable: true }),
            committedMetadata: string({ nullable: '0+' }),
          }),
        ),
      }),
    ),
  },
});
export type TxnOffsetCommitRequest = Message<typeof TxnOffsetCommitRequest>;

export const TxnOffsetCommitResponse = message({
  name: 'TxnOffsetCommitResponse',
  type: 'response',
  apiKey: 28,
  versions: '0-6',
  flexible: '3+',
  fields: {
    throttleTimeMs: int32(),
    topics: array(
      struct({
        name: string({ versions: '0-5', ignorable: true }),
        topicId: uuid({ versions: '6+', ignorable: true }),
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
export type TxnOffsetCommitResponse = Message<typeof TxnOffsetCommitResponse>;
