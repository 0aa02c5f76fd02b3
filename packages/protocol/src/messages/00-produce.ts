// Produce (0): A producer appends record batches to partitions. With acks=0 there is no answer at all.
//
// One batch a partition, in the format that the version stands for: 0 and 1 format 0, 2 format 1, from 3 on format 2.
//
//   1   adds throttleTimeMs to the response
//   2   its records have timestamps (format 1); adds logAppendTimeMs to the response
//   3   its records are batches of format 2, and transactions become possible; adds transactionalId to the request
//   4   may answer KAFKA_STORAGE_ERROR
//   5   adds logStartOffset to the response
//   6   is as 5: the client waits itself when it is throttled
//   7   may carry zstd
//   8   names the records that were refused; adds recordErrors and errorMessage to the response
//   9   is flexible
//   10  helps the client to the new leader; adds currentLeader and nodeEndpoints to the response
//   11  the client understands TRANSACTION_ABORTABLE
//   12  a transaction's partitions are added by the broker itself; goes with transaction.version 2
//   13  names topics by id; adds topicId to request and response; drops name from request and response

import { array, int16, int32, int64, type Message, message, records, string, struct, uuid } from '../schema/define.ts';

export const ProduceRequest = message({
  name: 'ProduceRequest',
  type: 'request',
  apiKey: 0,
  versions: '0-13',
  flexible: '9+',
  fields: {
    /** Null: the producer has no transactions. */
    transactionalId: string({ versions: '3+', nullable: '0+', default: null }),
    /** How many replicas must have the records before the answer: 0 none (and no answer), 1 the leader, -1 all in sync. */
    acks: int16(),
    /** How long to wait for those replicas. */
    timeoutMs: int32(),
    /** One entry a topic. */
    topicData: array(
      struct({
        /** Up to version 12. */
        name: string({ versions: '0-12', ignorable: true }),
        /** From version 13 on. */
        topicId: uuid({ versions: '13+', ignorable: true }),
        /** One entry a partition. */
        partitionData: array(
          struct({
            /** The partition. */
            index: int32(),
            /** One batch of format 2, or from older clients messages of format 0 or 1. */
            records: records({ nullable: '0+' }),
          }),
        ),
      }),
    ),
  },
});
export type ProduceRequest = Message<typeof ProduceRequest>;

export const ProduceResponse = message({
  name: 'ProduceResponse',
  type: 'response',
  apiKey: 0,
  versions: '0-13',
  flexible: '9+',
  fields: {
    /** One entry a topic. */
    responses: array(
      struct({
        name: string({ versions: '0-12', ignorable: true }),
        topicId: uuid({ versions: '13+', ignorable: true }),
        partitionResponses: array(
          struct({
            /** The partition. */
            index: int32(),
            /** 0 when the records were appended. */
            errorCode: int16(),
            /** The offset of the first record. */
            baseOffset: int64(),
            /** The time that the broker put on the records; -1 where the topic keeps the producer's. */
            logAppendTimeMs: int64({ versions: '2+', default: -1, ignorable: true }),
            /** Helps a producer to tell lost records from deleted ones; -1 when unknown. */
            logStartOffset: int64({ versions: '5+', default: -1, ignorable: true }),
            /** The records that caused the whole batch to be refused. */
            recordErrors: array(
              struct({
                /** Counted within the request's batch. */
                batchIndex: int32(),
                /** Null: see errorMessage. */
                batchIndexErrorMessage: string({ nullable: '0+', default: null }),
              }),
              { versions: '8+', ignorable: true },
            ),
            /** What the refused records have in common. */
            errorMessage: string({ versions: '8+', nullable: '0+', default: null, ignorable: true }),
            /** With NOT_LEADER_OR_FOLLOWER and FENCED_LEADER_EPOCH: who leads now. */
            currentLeader: struct(
              {
                /** -1: unknown. */
                leaderId: int32({ default: -1 }),
                leaderEpoch: int32({ default: -1 }),
              },
              { versions: '10+', tag: 0 },
            ),
          }),
        ),
      }),
    ),
    /** How long the client should pause because a quota was exceeded. */
    throttleTimeMs: int32({ versions: '1+', ignorable: true }),
    /** Where the leaders named above are found. */
    nodeEndpoints: array(
      struct({
        nodeId: int32(),
        host: string(),
        port: int32(),
        rack: string({ nullable: '0+', default: null }),
      }),
      { versions: '10+', tag: 0 },
    ),
  },
});
export type ProduceResponse = Message<typeof ProduceResponse>;
