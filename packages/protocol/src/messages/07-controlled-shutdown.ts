// ControlledShutdown (7): TODO
//
// Version 1 has the same layout. Version 2 adds brokerEpoch to the request. Version 3 is the first flexible one.

import { array, int16, int32, int64, type Message, message, string, struct } from '../schema/define.ts';

export const ControlledShutdownRequest = message({
  name: 'ControlledShutdownRequest',
  type: 'request',
  apiKey: 7,
  versions: '0-3',
  flexible: '3+',
  fields: {
    brokerId: int32(),
    brokerEpoch: int64({ versions: '2+', default: -1, ignorable: true }),
  },
});
export type ControlledShutdownRequest = Message<typeof ControlledShutdownRequest>;

export const ControlledShutdownResponse = message({
  name: 'ControlledShutdownResponse',
  type: 'response',
  apiKey: 7,
  versions: '0-3',
  flexible: '3+',
  fields: {
    errorCode: int16(),
    remainingPartitions: array(
      struct({
        topicName: string(),
        partitionIndex: int32(),
      }),
    ),
  },
});
export type ControlledShutdownResponse = Message<typeof ControlledShutdownResponse>;
