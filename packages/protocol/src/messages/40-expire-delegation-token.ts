// ExpireDelegationToken (40): Shortens the life of a delegation token, or ends it.
//
//   1  is as 0: the client waits itself when it is throttled
//   2  is flexible

import { bytes, int16, int32, int64, type Message, message } from '../schema/define.ts';

export const ExpireDelegationTokenRequest = message({
  name: 'ExpireDelegationTokenRequest',
  type: 'request',
  apiKey: 40,
  versions: '0-2',
  flexible: '2+',
  fields: {
    hmac: bytes(),
    expiryTimePeriodMs: int64(),
  },
});
export type ExpireDelegationTokenRequest = Message<typeof ExpireDelegationTokenRequest>;

export const ExpireDelegationTokenResponse = message({
  name: 'ExpireDelegationTokenResponse',
  type: 'response',
  apiKey: 40,
  versions: '0-2',
  flexible: '2+',
  fields: {
    errorCode: int16(),
    expiryTimestampMs: int64(),
    throttleTimeMs: int32(),
  },
});
export type ExpireDelegationTokenResponse = Message<typeof ExpireDelegationTokenResponse>;
