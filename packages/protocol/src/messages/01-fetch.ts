// Fetch (1): Long poll for record batches: by consumers, and by followers, which replicate in this way. A fetch session lets
// both sides speak only of what has changed.
//
// For versions below 4 the broker converts batches of format 2 down to what the client can read.
//
//   1   adds throttleTimeMs to the response
//   2   the records may have timestamps (format 1)
//   3   adds maxBytes to the request
//   4   the records may be batches of format 2; can be limited to what transactions have committed; adds isolationLevel to the
//       request, lastStableOffset and abortedTransactions to the response
//   5   adds logStartOffset to request and response
//   6   may answer KAFKA_STORAGE_ERROR
//   7   brings fetch sessions; adds sessionId, sessionEpoch and forgottenTopicsData to the request, errorCode and sessionId to
//       the response
//   8   is as 7: the client waits itself when it is throttled
//   9   fences by leader epoch; adds currentLeaderEpoch to the request
//   10  the records may be compressed with zstd
//   11  may point to a replica nearby; adds rackId to the request, preferredReadReplica to the response
//   12  tells a follower or consumer where its log diverged; is flexible; adds clusterId and lastFetchedEpoch to the request,
//       divergingEpoch, currentLeader and snapshotId to the response
//   13  names topics by id; adds topicId to request and response; drops topic from request and response
//   14  may answer OFFSET_MOVED_TO_TIERED_STORAGE
//   15  moves what a follower says of itself into a tagged field; adds replicaState to the request; drops replicaId from the
//       request
//   16  adds nodeEndpoints to the response
//   17  adds replicaDirectoryId to the request
//   18  lets a leader see the follower's high watermark; adds highWatermark to the request

import { array, int8, int16, int32, int64, type Message, message, records, string, struct, uuid } from '../schema/define.ts';

export const FetchRequest = message({
  name: 'FetchRequest',
  type: 'request',
  apiKey: 1,
  versions: '0-18',
  flexible: '12+',
  fields: {
    /** Lets a leader refuse a replica of another cluster. */
    clusterId: string({ versions: '12+', nullable: '0+', default: null, tag: 0, ignorable: true }),
    /** The broker id of a follower; -1 for consumers. From version 15 on in replicaState. */
    replicaId: int32({ versions: '0-14', default: -1 }),
    /** Who asks, from version 15 on. */
    replicaState: struct(
      {
        /** The broker id of a follower; -1 for consumers. */
        replicaId: int32({ default: -1 }),
        /** The follower's broker epoch; -1 when unknown. */
        replicaEpoch: int64({ default: -1 }),
      },
      { versions: '15+', tag: 1 },
    ),
    /** How long the broker may wait for minBytes. */
    maxWaitMs: int32(),
    /** The answer waits until it has as much, or until maxWaitMs is over. */
    minBytes: int32(),
    /** The answer stops growing here, except that its first batch is always whole. */
    maxBytes: int32({ versions: '3+', default: 2147483647, ignorable: true }),
    /** 0: read everything up to the high watermark. 1: only what transactions have committed, up to the last stable offset. */
    isolationLevel: int8({ versions: '4+', ignorable: true }),
    /** 0: no session, or a new one. */
    sessionId: int32({ versions: '7+', ignorable: true }),
    /** -1: no session, or close it. 0: a new one. Else one more than the last time. */
    sessionEpoch: int32({ versions: '7+', default: -1, ignorable: true }),
    /** What to fetch. Within a session only what is new or has changed. */
    topics: array(
      struct({
        /** Up to version 12. */
        topic: string({ versions: '0-12', ignorable: true }),
        /** From version 13 on. */
        topicId: uuid({ versions: '13+', ignorable: true }),
        partitions: array(
          struct({
            partition: int32(),
            /** What the asker believes; -1: it does not know. */
            currentLeaderEpoch: int32({ versions: '9+', default: -1, ignorable: true }),
            /** The first offset wanted. */
            fetchOffset: int64(),
            /** The epoch of the last record that the asker has, by which the leader notices that their logs have diverged; -1: do not check. */
            lastFetchedEpoch: int32({ versions: '12+', default: -1 }),
            /** The follower's; -1 from consumers. */
            logStartOffset: int64({ versions: '5+', default: -1, ignorable: true }),
            /** At most so much of this partition, except for a first batch that is larger. */
            partitionMaxBytes: int32(),
            /** The log directory that holds the follower's replica. */
            replicaDirectoryId: uuid({ versions: '17+', tag: 0, ignorable: true }),
            /** The follower's; the largest int64 when it does not say. */
            highWatermark: int64({ versions: '18+', default: 9223372036854775807n, tag: 1, ignorable: true }),
          }),
        ),
      }),
    ),
    /** What to take out of the session. */
    forgottenTopicsData: array(
      struct({
        topic: string({ versions: '7-12', ignorable: true }),
        topicId: uuid({ versions: '13+', ignorable: true }),
        partitions: array(int32()),
      }),
      { versions: '7+' },
    ),
    /** Where the consumer is, so that it can be sent to a replica nearby. */
    rackId: string({ versions: '11+', ignorable: true }),
  },
});
export type FetchRequest = Message<typeof FetchRequest>;

export const FetchResponse = message({
  name: 'FetchResponse',
  type: 'response',
  apiKey: 1,
  versions: '0-18',
  flexible: '12+',
  fields: {
    /** How long the client should pause because a quota was exceeded. */
    throttleTimeMs: int32({ versions: '1+', ignorable: true }),
    /** An error of the request as a whole: of its session. */
    errorCode: int16({ versions: '7+', ignorable: true }),
    /** 0: there is no session. */
    sessionId: int32({ versions: '7+' }),
    /** Within a session only partitions that have something to say. */
    responses: array(
      struct({
        topic: string({ versions: '0-12', ignorable: true }),
        topicId: uuid({ versions: '13+', ignorable: true }),
        partitions: array(
          struct({
            partitionIndex: int32(),
            errorCode: int16(),
            /** The end of what all in-sync replicas have. */
            highWatermark: int64(),
            /** The end of what no open transaction can change; -1 when unknown. */
            lastStableOffset: int64({ versions: '4+', default: -1, ignorable: true }),
            /** -1 when unknown. */
            logStartOffset: int64({ versions: '5+', default: -1, ignorable: true }),
            /** Where the leader's log ends for the largest epoch not above lastFetchedEpoch: the asker has to truncate to it. */
            divergingEpoch: struct(
              {
                epoch: int32({ default: -1 }),
                endOffset: int64({ default: -1 }),
              },
              { versions: '12+', tag: 0 },
            ),
            /** With NOT_LEADER_OR_FOLLOWER and FENCED_LEADER_EPOCH: who leads now. */
            currentLeader: struct(
              {
                leaderId: int32({ default: -1 }),
                leaderEpoch: int32({ default: -1 }),
              },
              { versions: '12+', tag: 1 },
            ),
            /** For KRaft logs: the asker has to fetch this snapshot first. */
            snapshotId: struct(
              {
                endOffset: int64({ default: -1 }),
                epoch: int32({ default: -1 }),
              },
              { versions: '12+', tag: 2 },
            ),
            /** Those that overlap the records, when only committed ones were asked for; else null. */
            abortedTransactions: array(
              struct({
                producerId: int64(),
                /** Of the transaction, in this partition. */
                firstOffset: int64(),
              }),
              { versions: '4+', nullable: '0+', ignorable: true },
            ),
            /** Where the consumer should fetch from; -1: here. */
            preferredReadReplica: int32({ versions: '11+', default: -1 }),
            /** Whole batches, of which the first may begin before fetchOffset; the last may be cut off. */
            records: records({ nullable: '0+' }),
          }),
        ),
      }),
    ),
    /** Where the leaders named above are found. */
    nodeEndpoints: array(
      struct({
        nodeId: int32(),
        host: string(),
        port: int32(),
        rack: string({ nullable: '0+', default: null }),
      }),
      { versions: '16+', tag: 0 },
    ),
  },
});
export type FetchResponse = Message<typeof FetchResponse>;
