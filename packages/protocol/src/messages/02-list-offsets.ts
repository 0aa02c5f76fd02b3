// ListOffsets (2): Finds offsets by time: the first one whose record is as late as a timestamp, the end, the start, the one
// with the latest timestamp.
//
//   1   asks for one offset a partition instead of a list, and learns its timestamp; adds timestamp and offset to the response;
//       drops maxNumOffsets from the request, oldStyleOffsets from the response
//   2   adds isolationLevel to the request, throttleTimeMs to the response
//   3   is as 2: the client waits itself when it is throttled
//   4   fences by leader epoch; adds currentLeaderEpoch to the request, leaderEpoch to the response
//   5   may answer OFFSET_NOT_AVAILABLE
//   6   is flexible
//   7   can ask for the record with the largest timestamp (-3)
//   8   can ask for the first offset that is still local (-4)
//   9   can ask for the last offset that is in tiered storage (-5)
//   10  says how long the broker may ask remote storage; adds timeoutMs to the request
//   11  can ask for the first offset that is not yet in tiered storage (-6)

import { array, int8, int16, int32, int64, type Message, message, string, struct } from '../schema/define.ts';

export const ListOffsetsRequest = message({
  name: 'ListOffsetsRequest',
  type: 'request',
  apiKey: 2,
  versions: '0-11',
  flexible: '6+',
  fields: {
    /** The broker id of a follower; -1 for consumers, -2 for tools. */
    replicaId: int32(),
    /** 0: the end is the high watermark. 1: it is the last stable offset. */
    isolationLevel: int8({ versions: '2+' }),
    topics: array(
      struct({
        name: string(),
        partitions: array(
          struct({
            partitionIndex: int32(),
            /** What the asker believes; -1: it does not know. */
            currentLeaderEpoch: int32({ versions: '4+', default: -1, ignorable: true }),
            /** Milliseconds, or one of: -1 the end, -2 the start, -3 the record with the largest timestamp, -4 the first that is local, -5 the last that is in tiered storage, -6 the first that is not yet there. */
            timestamp: int64(),
            /** Version 0: how many offsets to tell. */
            maxNumOffsets: int32({ versions: '0', default: 1 }),
          }),
        ),
      }),
    ),
    /** How long the broker may look in remote storage. */
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
            /** Version 0: base offsets of segments, latest first. */
            oldStyleOffsets: array(int64(), { versions: '0' }),
            /** Of the record found; -1 when none was, or when none was asked for. */
            timestamp: int64({ versions: '1+', default: -1 }),
            /** -1: no such record. */
            offset: int64({ versions: '1+', default: -1 }),
            /** Of the record found; -1 when unknown. */
            leaderEpoch: int32({ versions: '4+', default: -1 }),
          }),
        ),
      }),
    ),
  },
});
export type ListOffsetsResponse = Message<typeof ListOffsetsResponse>;
