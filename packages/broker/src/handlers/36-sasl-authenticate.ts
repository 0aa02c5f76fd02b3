// SaslAuthenticate (36): what a client says to prove who it is, after SaslHandshake, which is refused.

import { errorCodes, SaslAuthenticateRequest, SaslAuthenticateResponse } from '@odradek/protocol';
import { defineHandler, type Handler } from '../requests/handler.ts';

export function saslAuthenticateHandler(): Handler<typeof SaslAuthenticateRequest, typeof SaslAuthenticateResponse> {
  return defineHandler(SaslAuthenticateRequest, SaslAuthenticateResponse, {
    handle: () => ({
      errorCode: errorCodes.ILLEGAL_SASL_STATE,
      errorMessage: 'This listener does not authenticate its clients.',
      authBytes: Buffer.alloc(0),
    }),
    errorResponse: (_request, { code, message }) => ({ errorCode: code, errorMessage: message, authBytes: Buffer.alloc(0) }),
  });
}
