// SaslAuthenticate (36): TODO
//
// Version 1 adds sessionLifetimeMs to the response. Version 2 is the first flexible one.

import { bytes, int16, int64, type Message, message, string } from '../schema/define.ts';

export const SaslAuthenticateRequest = message({
  name: 'SaslAuthenticateRequest',
  type: 'request',
  apiKey: 36,
  versions: '0-2',
  flexible: '2+',
  fields: {
    authBytes: bytes(),
  },
});
export type SaslAuthenticateRequest = Message<typeof SaslAuthenticateRequest>;

export const SaslAuthenticateResponse = message({
  name: 'SaslAuthenticateResponse',
  type: 'response',
  apiKey: 36,
  versions: '0-2',
  flexible: '2+',
  fields: {
    errorCode: int16(),
    errorMessage: string({ nullable: '0+' }),
    authBytes: bytes(),
    sessionLifetimeMs: int64({ versions: '1+', ignorable: true }),
  },
});
export type SaslAuthenticateResponse = Message<typeof SaslAuthenticateResponse>;
