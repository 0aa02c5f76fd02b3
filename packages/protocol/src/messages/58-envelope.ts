// Envelope (58): Carries a request of a client from a broker to the controller, with the client's principal.
//
// What is inside is a whole request, and in the answer a whole response, each with its header and without its size.

import { bytes, int16, type Message, message } from '../schema/define.ts';

export const EnvelopeRequest = message({
  name: 'EnvelopeRequest',
  type: 'request',
  apiKey: 58,
  versions: '0',
  flexible: '0+',
  fields: {
    /** The request, with its header. */
    requestData: bytes(),
    /** A DefaultPrincipalData after its version. */
    requestPrincipal: bytes({ nullable: '0+' }),
    /** 4 or 16 bytes. */
    clientHostAddress: bytes(),
  },
});
export type EnvelopeRequest = Message<typeof EnvelopeRequest>;

export const EnvelopeResponse = message({
  name: 'EnvelopeResponse',
  type: 'response',
  apiKey: 58,
  versions: '0',
  flexible: '0+',
  fields: {
    responseData: bytes({ nullable: '0+', default: null }),
    errorCode: int16(),
  },
});
export type EnvelopeResponse = Message<typeof EnvelopeResponse>;
