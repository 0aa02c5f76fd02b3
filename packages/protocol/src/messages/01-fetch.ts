// Fetch (1): TODO
//
// Version 1 adds throttleTimeMs to the response. Version 2 has the same layout. Version 3 adds maxBytes to the request. Version
// 4 adds isolationLevel to the request and adds lastStableOffset and abortedTransactions to the response. Version 5 adds
// logStartOffset to the request and adds logStartOffset to the response. Version 6 has the same layout. Version 7 adds
// sessionId, sessionEpoch and forgottenTopicsData to the request and adds errorCode and sessionId to the response. Version 8
// has the same layout. Version 9 adds currentLeaderEpoch to the request. Version 10 has the same layout. Version 11 adds rackId
// to the request and adds preferredReadReplica to the response. Version 12 is the first flexible one, adds clusterId and
// lastFetchedEpoch to the request, and adds divergingEpoch, currentLeader and snapshotId to the response. Version 13 adds
// topicId to the request, adds topicId to the response, drops topic from the request, and drops topic from the response.
// Version 14 has the same layout. Version 15 adds replicaState to the request and drops replicaId from the request. Version 16
// adds nodeEndpoints to the response. Version 17 adds replicaDirectoryId to the request. Version 18 adds highWatermark to the
// request.

import { array, int8, int16, int32, int64, type Message, message, records, string, struct, uuid } from '../schema/define.ts';

export const FetchRequest = message({
  name: 'FetchRequest',
  type: 'request',
  apiKey: 1,
  versions: '0-18',
  flexible: '12+',
  fields: {
    clusterId: string({ versions: '12+', nullable: '0+', default: null, tag: 0, ignorable: true }),
    replicaId: int32({ versions: '0-14', default: -1 }),
    replicaState: struct(
      {
        replicaId: int32({ default: -1 }),
        replicaEpoch: int64({ default: -1 }),
      },
      { versions: '15+', tag: 1 },
    ),
    maxWaitMs: int32(),
    minBytes: int32(),
    maxBytes: int32({ versions: '3+', default: 2147483647, ignorable: true }),
    isolationLevel: int8({ versions: '4+', ignorable: true }),
    sessionId: int32({ versions: '7+', ignorable: true }),
    sessionEpoch: int32({ versions: '7+', default: -1, ignorable: true }),
    topics: array(
      struct({
        topic: string({ versions: '0-12', ignorable: true }),
        topicId: uuid({ versions: '13+', ignorable: true }),
        partitions: array(
          struct({
            partition: int32(),
            currentLeaderEpoch: int32({ versions: '9+', default: -1, ignorable: true }),
            fetchOffset: int64(),
            lastFetchedEpoch: int32({ versions: '12+', default: -1 }),
            logStartOffset: int64({ versions: '5+', default: -1, ignorable: true }),
            partitionMaxBytes: int32(),
            replicaDirectoryId: uuid({ versions: '17+', tag: 0, ignorable: true }),
            highWatermark: int64({ versions: '18+', default: 9223372036854775807n, tag: 1, ignorable: true }),
          }),
        ),
      }),
    ),
    forgottenTopicsData: array(
      struct({
        topic: string({ versions: '7-12', ignorable: true }),
        topicId: uuid({ versions: '13+', ignorable: true }),
        partitions: array(int32()),
      }),
      { versions: '7+' },
    ),
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
    throttleTimeMs: int32({ versions: '1+', ignorable: true }),
    errorCode: int16({ versions: '7+', ignorable: true }),
    sessionId: int32({ versions: '7+' }),
    responses: array(
      struct({
        topic: string({ versions: '0-12', ignorable: true }),
        topicId: uuid({ versions: '13+', ignorable: true }),
        partitions: array(
          struct({
            partitionIndex: int32(),
            errorCode: int16(),
            highWatermark: int64(),
            lastStableOffset: int64({ versions: '4+', default: -1, ignorable: true }),
            logStartOffset: int64({ versions: '5+', default: -1, ignorable: true }),
            divergingEpoch: struct(
              {
                epoch: int32({ default: -1 }),
                endOffset: int64({ default: -1 }),
              },
              { versions: '12+', tag: 0 },
            ),
            currentLeader: struct(
              {
                leaderId: int32({ default: -1 }),
                leaderEpoch: int32({ default: -1 }),
              },
              { versions: '12+', tag: 1 },
            ),
            snapshotId: struct(
              {
                endOffset: int64({ default: -1 }),
                epoch: int32({ default: -1 }),
              },
              { versions: '12+', tag: 2 },
            ),
            abortedTransactions: array(
              struct({
                producerId: int64(),
                firstOffset: int64(),
              }),
              { versions: '4+', nullable: '0+', ignorable: true },
            ),
            preferredReadReplica: int32({ versions: '11+', default: -1 }),
            records: records({ nullable: '0+' }),
          }),
        ),
      }),
    ),
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
