// SaslHandshake (17): Chooses the SASL mechanism.
//
//   1  the tokens that follow are wrapped in SaslAuthenticate requests

import { array, int16, type Message, message, string } from '../schema/define.ts';

export const SaslHandshakeRequest = message({
  name: 'SaslHandshakeRequest',
  type: 'request',
  apiKey: 17,
  versions: '0-1',
  flexible: 'none',
  fields: {
    mechanism: string(),
  },
});
export type SaslHandshakeRequest = Message<typeof SaslHandshakeRequest>;

export const SaslHandshakeResponse = message({
  name: 'SaslHandshakeResponse',
  type: 'response',
  apiKey: 17,
  versions: '0-1',
  flexible: 'none',
  fields: {
    errorCode: int16(),
    /** What the broker offers. */
    mechanisms: array(string()),
  },
});
export type SaslHandshakeResponse = Message<typeof SaslHandshakeResponse>;
