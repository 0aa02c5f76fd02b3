// DescribeLogDirs (35): Log directories of a broker, with the size of each replica in them.
//
//   1  is as 0: the client waits itself when it is throttled
//   2  is flexible
//   3  has an error for the request as a whole; adds errorCode to the response
//   4  tells the size of the volume; adds totalBytes and usableBytes to the response
//   5  tells directories that get no new replicas; adds isCordoned to the response

import { array, bool, int16, int32, int64, type Message, message, string, struct } from '../schema/define.ts';

export const DescribeLogDirsRequest = message({
  name: 'DescribeLogDirsRequest',
  type: 'request',
  apiKey: 35,
  versions: '0-5',
  flexible: '2+',
  fields: {
    /** Null: all. */
    topics: array(
      struct({
        topic: string(),
        partitions: array(int32()),
      }),
      { nullable: '0+' },
    ),
  },
});
export type DescribeLogDirsRequest = Message<typeof DescribeLogDirsRequest>;

export const DescribeLogDirsResponse = message({
  name: 'DescribeLogDirsResponse',
  type: 'response',
  apiKey: 35,
  versions: '0-5',
  flexible: '2+',
  fields: {
    throttleTimeMs: int32(),
    errorCode: int16({ versions: '3+', ignorable: true }),
    results: array(
      struct({
        errorCode: int16(),
        /** An absolute path. */
        logDir: string(),
        topics: array(
          struct({
            name: string(),
            partitions: array(
              struct({
                partitionIndex: int32(),
                partitionSize: int64(),
                /** How far a future replica is behind, or how far the replica is behind the high watermark. */
                offsetLag: int64(),
                /** Whether the replica is being moved here. */
                isFutureKey: bool(),
              }),
            ),
          }),
        ),
        /** Of the volume; -1: unknown. */
        totalBytes: int64({ versions: '4+', default: -1, ignorable: true }),
        /** Of the volume; -1: unknown. */
        usableBytes: int64({ versions: '4+', default: -1, ignorable: true }),
        isCordoned: bool({ versions: '5+', ignorable: true }),
      }),
    ),
  },
});
export type DescribeLogDirsResponse = Message<typeof DescribeLogDirsResponse>;
