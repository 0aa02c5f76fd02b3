// SaslHandshake (17): chooses how a client proves who it is. No listener asks for that yet, and a client that would is told that it is
// at the wrong one, rather than losing its connection without a word.

import { errorCodes, SaslHandshakeRequest, SaslHandshakeResponse } from '@odradek/protocol';
import { defineHandler, type Handler } from '../requests/handler.ts';

export function saslHandshakeHandler(): Handler<typeof SaslHandshakeRequest, typeof SaslHandshakeResponse> {
  return defineHandler(SaslHandshakeRequest, SaslHandshakeResponse, {
    handle: () => ({ errorCode: errorCodes.ILLEGAL_SASL_STATE, mechanisms: [] }),
    errorResponse: (_request, { code }) => ({ errorCode: code, mechanisms: [] }),
  });
}
