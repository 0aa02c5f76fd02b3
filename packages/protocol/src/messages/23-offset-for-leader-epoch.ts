// OffsetForLeaderEpoch (23): Where a leader epoch ends: how followers and consumers find the offset at which their log diverged
// from the leader's.
//
//   1  tells the epoch that the end belongs to; adds leaderEpoch to the response
//   2  fences by the epoch that the asker knows; adds currentLeaderEpoch to the request, throttleTimeMs to the response
//   3  tells followers from consumers; adds replicaId to the request
//   4  is flexible

import { array, int16, int32, int64, type Message, message, string, struct } from '../schema/define.ts';

export const OffsetForLeaderEpochRequest = message({
  name: 'OffsetForLeaderEpochRequest',
  type: 'request',
  apiKey: 23,
  versions: '0-4',
  flexible: '4+',
  fields: {
    /** The broker id of a follower; -1 for consumers, -2 for tools. */
    replicaId: int32({ versions: '3+', default: -2, ignorable: true }),
    topics: array(
      struct({
        topic: string(),
        partitions: array(
          struct({
            partition: int32(),
            /** What the asker believes; -1: it does not know. */
            currentLeaderEpoch: int32({ versions: '2+', default: -1, ignorable: true }),
            /** The epoch whose end is asked for. */
            leaderEpoch: int32(),
          }),
        ),
      }),
    ),
  },
});
export type OffsetForLeaderEpochRequest = Message<typeof OffsetForLeaderEpochRequest>;

export const OffsetForLeaderEpochResponse = message({
  name: 'OffsetForLeaderEpochResponse',
  type: 'response',
  apiKey: 23,
  versions: '0-4',
  flexible: '4+',
  fields: {
    throttleTimeMs: int32({ versions: '2+', ignorable: true }),
    topics: array(
      struct({
        topic: string(),
        partitions: array(
          struct({
            errorCode: int16(),
            partition: int32(),
            /** The largest epoch not above the one asked for; -1: there is none. */
            leaderEpoch: int32({ versions: '1+', default: -1, ignorable: true }),
            /** Where it ends; -1: unknown. */
            endOffset: int64({ default: -1 }),
          }),
        ),
      }),
    ),
  },
});
export type OffsetForLeaderEpochResponse = Message<typeof OffsetForLeaderEpochResponse>;
