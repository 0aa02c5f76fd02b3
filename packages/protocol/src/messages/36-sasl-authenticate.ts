// SaslAuthenticate (36): One token of a SASL exchange.
//
//   1  tells how long the session lasts; adds sessionLifetimeMs to the response
//   2  is flexible

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
    /** After so long the client must authenticate again; 0: never. */
    sessionLifetimeMs: int64({ versions: '1+', ignorable: true }),
  },
});
export type SaslAuthenticateResponse = Message<typeof SaslAuthenticateResponse>;
