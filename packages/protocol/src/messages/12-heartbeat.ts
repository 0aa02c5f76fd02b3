// Heartbeat (12): A member of a classic group says that it lives, and hears whether a rebalance has begun.
//
//   1  adds throttleTimeMs to the response
//   2  is as 1: the client waits itself when it is throttled
//   3  brings static members; adds groupInstanceId to the request
//   4  is flexible

import { int16, int32, type Message, message, string } from '../schema/define.ts';

export const HeartbeatRequest = message({
  name: 'HeartbeatRequest',
  type: 'request',
  apiKey: 12,
  versions: '0-4',
  flexible: '4+',
  fields: {
    groupId: string(),
    generationId: int32(),
    memberId: string(),
    groupInstanceId: string({ versions: '3+', nullable: '0+', default: null }),
  },
});
export type HeartbeatRequest = Message<typeof HeartbeatRequest>;

export const HeartbeatResponse = message({
  name: 'HeartbeatResponse',
  type: 'response',
  apiKey: 12,
  versions: '0-4',
  flexible: '4+',
  fields: {
    throttleTimeMs: int32({ versions: '1+', ignorable: true }),
    errorCode: int16(),
  },
});
export type HeartbeatResponse = Message<typeof HeartbeatResponse>;
