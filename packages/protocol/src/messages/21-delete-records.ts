// DeleteRecords (21): TODO
//
// Version 1 has the same layout. Version 2 is the first flexible one.

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
            offset: int64(),
          }),
        ),
      }),
    ),
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
            lowWatermark: int64(),
            errorCode: int16(),
          }),
        ),
      }),
    ),
  },
});
export type DeleteRecordsResponse = Message<typeof DeleteRecordsResponse>;
