// OffsetForLeaderEpoch (23): TODO
//
// Version 1 adds leaderEpoch to the response. Version 2 adds currentLeaderEpoch to the request and adds throttleTimeMs to the
// response. Version 3 adds replicaId to the request. Version 4 is the first flexible one.

import { array, int16, int32, int64, type Message, message, string, struct } from '../schema/define.ts';

export const OffsetForLeaderEpochRequest = message({
  name: 'OffsetForLeaderEpochRequest',
  type: 'request',
  apiKey: 23,
  versions: '0-4',
  flexible: '4+',
  fields: {
    replicaId: int32({ versions: '3+', default: -2, ignorable: true }),
    topics: array(
      struct({
        topic: string(),
        partitions: array(
          struct({
            partition: int32(),
            currentLeaderEpoch: int32({ versions: '2+', default: -1, ignorable: true }),
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
            leaderEpoch: int32({ versions: '1+', default: -1, ignorable: true }),
            endOffset: int64({ default: -1 }),
          }),
        ),
      }),
    ),
  },
});
export type OffsetForLeaderEpochResponse = Message<typeof OffsetForLeaderEpochResponse>;
