// DescribeDelegationToken (41): Lists delegation tokens.
//
//   1  is as 0: the client waits itself when it is throttled
//   2  is flexible
//   3  tells who asked for the token; adds tokenRequesterPrincipalType and tokenRequesterPrincipalName to the response

import { array, bytes, int16, int32, int64, type Message, message, string, struct } from '../schema/define.ts';

export const DescribeDelegationTokenRequest = message({
  name: 'DescribeDelegationTokenRequest',
  type: 'request',
  apiKey: 41,
  versions: '0-3',
  flexible: '2+',
  fields: {
    owners: array(
      struct({
        principalType: string(),
        principalName: string(),
      }),
      { nullable: '0+' },
    ),
  },
});
export type DescribeDelegationTokenRequest = Message<typeof DescribeDelegationTokenRequest>;

export const DescribeDelegationTokenResponse = message({
  name: 'DescribeDelegationTokenResponse',
  type: 'response',
  apiKey: 41,
  versions: '0-3',
  flexible: '2+',
  fields: {
    errorCode: int16(),
    tokens: array(
      struct({
        principalType: string(),
        principalName: string(),
        tokenRequesterPrincipalType: string({ versions: '3+' }),
        tokenRequesterPrincipalName: string({ versions: '3+' }),
        issueTimestamp: int64(),
        expiryTimestamp: int64(),
        maxTimestamp: int64(),
        tokenId: string(),
        hmac: bytes(),
        renewers: array(
          struct({
            principalType: string(),
            principalName: string(),
          }),
        ),
      }),
    ),
    throttleTimeMs: int32(),
  },
});
export type DescribeDelegationTokenResponse = Message<typeof DescribeDelegationTokenResponse>;
