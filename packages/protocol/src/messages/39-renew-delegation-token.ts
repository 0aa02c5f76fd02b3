// RenewDelegationToken (39): Prolongs a delegation token.
//
//   1  is as 0: the client waits itself when it is throttled
//   2  is flexible

import { bytes, int16, int32, int64, type Message, message } from '../schema/define.ts';

export const RenewDelegationTokenRequest = message({
  name: 'RenewDelegationTokenRequest',
  type: 'request',
  apiKey: 39,
  versions: '0-2',
  flexible: '2+',
  fields: {
    hmac: bytes(),
    renewPeriodMs: int64(),
  },
});
export type RenewDelegationTokenRequest = Message<typeof RenewDelegationTokenRequest>;

export const RenewDelegationTokenResponse = message({
  name: 'RenewDelegationTokenResponse',
  type: 'response',
  apiKey: 39,
  versions: '0-2',
  flexible: '2+',
  fields: {
    errorCode: int16(),
    expiryTimestampMs: int64(),
    throttleTimeMs: int32(),
  },
});
export type RenewDelegationTokenResponse = Message<typeof RenewDelegationTokenResponse>;
