// Envelope (58): TODO

import { bytes, int16, type Message, message } from '../schema/define.ts';

export const EnvelopeRequest = message({
  name: 'EnvelopeRequest',
  type: 'request',
  apiKey: 58,
  versions: '0',
  flexible: '0+',
  fields: {
    requestData: bytes(),
    requestPrincipal: bytes({ nullable: '0+' }),
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
