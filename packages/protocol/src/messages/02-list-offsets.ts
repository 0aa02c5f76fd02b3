// ListOffsets (2): TODO
//
// Version 1 adds timestamp and offset to the response, drops maxNumOffsets from the request, and drops oldStyleOffsets from the
// response. Version 2 adds isolationLevel to the request and adds throttleTimeMs to the response. Version 3 has the same
// layout. Version 4 adds currentLeaderEpoch to the request and adds leaderEpoch to the response. Version 5 has the same layout.
// Version 6 is the first flexible one. Versions 7 to 9 have the same layout. Version 10 adds timeoutMs to the request. Version
// 11 has the same layout.

import { array, int8, int16, int32, int64, type Message, message, string, struct } from '../schema/define.ts';

export const ListOffsetsRequest = message({
  name: 'ListOffsetsRequest',
  type: 'request',
  apiKey: 2,
  versions: '0-11',
  flexible: '6+',
  fields: {
    replicaId: int32(),
    isolationLevel: int8({ versions: '2+' }),
    topics: array(
      struct({
        name: string(),
        partitions: array(
          struct({
            partitionIndex: int32(),
            currentLeaderEpoch: int32({ versions: '4+', default: -1, ignorable: true }),
            timestamp: int64(),
            maxNumOffsets: int32({ versions: '0', default: 1 }),
          }),
        ),
      }),
    ),
    timeoutMs: int32({ versions: '10+', ignorable: true }),
  },
});
export type ListOffsetsRequest = Message<typeof ListOffsetsRequest>;

export const ListOffsetsResponse = message({
  name: 'ListOffsetsResponse',
  type: 'response',
  apiKey: 2,
  versions: '0-11',
  flexible: '6+',
  fields: {
    throttleTimeMs: int32({ versions: '2+', ignorable: true }),
    topics: array(
      struct({
        name: string(),
        partitions: array(
          struct({
            partitionIndex: int32(),
            errorCode: int16(),
            oldStyleOffsets: array(int64(), { versions: '0' }),
            timestamp: int64({ versions: '1+', default: -1 }),
            offset: int64({ versions: '1+', default: -1 }),
            leaderEpoch: int32({ versions: '4+', default: -1 }),
          }),
        ),
      }),
    ),
  },
});
export type ListOffsetsResponse = Message<typeof ListOffsetsResponse>;
