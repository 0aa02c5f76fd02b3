// DeleteRecords (21): Moves the start of partitions forward: everything before an offset is gone.
//
//   1  is as 0: the client waits itself when it is throttled
//   2  is flexible

import { array, int16, int32, int64, type Message, message, string, struct } from '../schema/define.ts';

export const DeleteRecordsRequest = message({
  name: 'DeleteRecordsRequest',
  type: 'request',
  apiKey: 21,
  versions: '0-2',
  flexible: '2+',
  fields: {
    topics: array(
      struct({
        name: string(),
        partitions: array(
          struct({
            partitionIndex: int32(),
            /** Everything before it goes; -1: everything up to the high watermark. */
            offset: int64(),
          }),
        ),
      }),
    ),
    /** How long to wait for the followers. */
    timeoutMs: int32(),
  },
});
export type DeleteRecordsRequest = Message<typeof DeleteRecordsRequest>;

export const DeleteRecordsResponse = message({
  name: 'DeleteRecordsResponse',
  type: 'response',
  apiKey: 21,
  versions: '0-2',
  flexible: '2+',
  fields: {
    throttleTimeMs: int32(),
    topics: array(
      struct({
        name: string(),
        partitions: array(
          struct({
            partitionIndex: int32(),
            /** The smallest log start offset of the replicas. */
            lowWatermark: int64(),
            errorCode: int16(),
          }),
        ),
      }),
    ),
  },
});
export type DeleteRecordsResponse = Message<typeof DeleteRecordsResponse>;
