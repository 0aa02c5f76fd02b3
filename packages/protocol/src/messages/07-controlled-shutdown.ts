// ControlledShutdown (7): A broker that is about to stop asks the controller to move its leaderships elsewhere (ZooKeeper
// mode).
//
//   1  is as 0, with an ordinary request header
//   2  names the broker's epoch; adds brokerEpoch to the request
//   3  is flexible

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
    /** Those that the broker still leads. */
    remainingPartitions: array(
      struct({
        topicName: string(),
        partitionIndex: int32(),
      }),
    ),
  },
});
export type ControlledShutdownResponse = Message<typeof ControlledShutdownResponse>;
