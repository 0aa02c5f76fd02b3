// CreateDelegationToken (38): Creates a delegation token.
//
//   1  is as 0: the client waits itself when it is throttled
//   2  is flexible
//   3  can create one for somebody else; adds ownerPrincipalType and ownerPrincipalName to the request,
//      tokenRequesterPrincipalType and tokenRequesterPrincipalName to the response

import { array, bytes, int16, int32, int64, type Message, message, string, struct } from '../schema/define.ts';

export const CreateDelegationTokenRequest = message({
  name: 'CreateDelegationTokenRequest',
  type: 'request',
  apiKey: 38,
  versions: '0-3',
  flexible: '2+',
  fields: {
    ownerPrincipalType: string({ versions: '3+', nullable: '0+' }),
    ownerPrincipalName: string({ versions: '3+', nullable: '0+' }),
    renewers: array(
      struct({
        principalType: string(),
        principalName: string(),
      }),
    ),
    maxLifetimeMs: int64(),
  },
});
export type CreateDelegationTokenRequest = Message<typeof CreateDelegationTokenRequest>;

export const CreateDelegationTokenResponse = message({
  name: 'CreateDelegationTokenResponse',
  type: 'response',
  apiKey: 38,
  versions: '0-3',
  flexible: '2+',
  fields: {
    errorCode: int16(),
    principalType: string(),
    principalName: string(),
    tokenRequesterPrincipalType: string({ versions: '3+' }),
    tokenRequesterPrincipalName: string({ versions: '3+' }),
    issueTimestampMs: int64(),
    expiryTimestampMs: int64(),
    maxTimestampMs: int64(),
    tokenId: string(),
    hmac: bytes(),
    throttleTimeMs: int32(),
  },
});
export type CreateDelegationTokenResponse = Message<typeof CreateDelegationTokenResponse>;
