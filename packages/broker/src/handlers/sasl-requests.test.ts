// What a client hears that authenticates itself where nobody asks for it.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  ApiVersionsRequest,
  ApiVersionsResponse,
  errorCodes,
  SaslAuthenticateRequest,
  SaslAuthenticateResponse,
  SaslHandshakeRequest,
  SaslHandshakeResponse,
} from '@odradek/protocol';
import { InProcessBroker, type RawClient } from '@odradek/testing';

let broker: InProcessBroker;
let client: RawClient;
before(async () => {
  broker = await InProcessBroker.start();
  client = await broker.client();
});
after(() => broker.close());

test('SaslHandshake on a listener without authentication is answered, and the connection stays', async () => {
  for (const version of [0, 1]) {
    const answer = await client.send(SaslHandshakeRequest, SaslHandshakeResponse, version, { mechanism: 'PLAIN' });
    assert.deepEqual(answer, { errorCode: errorCodes.ILLEGAL_SASL_STATE, mechanisms: [] });
  }
});

test('so is SaslAuthenticate', async () => {
  for (const version of [0, 1, 2]) {
    const request = { authBytes: Buffer.from('\0user\0password') };
    const answer = await client.send(SaslAuthenticateRequest, SaslAuthenticateResponse, version, request);
    assert.equal(answer.errorCode, errorCodes.ILLEGAL_SASL_STATE);
    assert.notEqual(answer.errorMessage, null);
  }
  assert.equal((await client.send(ApiVersionsRequest, ApiVersionsResponse, 0, {})).errorCode, errorCodes.NONE);
});
