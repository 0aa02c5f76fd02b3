// DescribeLogDirs (35): TODO
//
// Version 1 has the same layout. Version 2 is the first flexible one. Version 3 adds errorCode to the response. Version 4 adds
// totalBytes and usableBytes to the response. Version 5 adds isCordoned to the response.

import { array, bool, int16, int32, int64, type Message, message, string, struct } from '../schema/define.ts';

export const DescribeLogDirsRequest = message({
  name: 'DescribeLogDirsRequest',
  type: 'request',
  apiKey: 35,
  versions: '0-5',
  flexible: '2+',
  fields: {
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
        logDir: string(),
        topics: array(
          struct({
            name: string(),
            partitions: array(
              struct({
                partitionIndex: int32(),
                partitionSize: int64(),
                offsetLag: int64(),
                isFutureKey: bool(),
              }),
            ),
          }),
        ),
        totalBytes: int64({ versions: '4+', default: -1, ignorable: true }),
        usableBytes: int64({ versions: '4+', default: -1, ignorable: true }),
        isCordoned: bool({ versions: '5+', ignorable: true }),
      }),
    ),
  },
});
export type DescribeLogDirsResponse = Message<typeof DescribeLogDirsResponse>;
