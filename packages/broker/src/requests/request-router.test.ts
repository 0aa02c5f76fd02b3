import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ApiVersionsRequest,
  ApiVersionsResponse,
  decodeMessage,
  encodeMessage,
  errorCodes,
  HeartbeatRequest,
  HeartbeatResponse,
  type MessageDefinition,
  type MessageInit,
  ProtocolError,
  RequestHeader,
} from '@odradek/protocol';
import { type Logger, MetricsTable } from '@odradek/runtime';
import type { AnswerBytes, ConnectionIdentity } from '../network/broker-connection.ts';
import { CloseConnectionError } from './close-connection-error.ts';
import { defineHandler } from './handler.ts';
import { anonymousPrincipal, type RequestContext } from './request-context.ts';
import { RequestRouter } from './request-router.ts';

const connection: ConnectionIdentity = {
  connectionId: 'c',
  clientAddress: '10.0.0.1',
  listenerName: 'PLAINTEXT',
  securityProtocol: 'PLAINTEXT',
  principal: anonymousPrincipal,
  isPrivileged: false,
};

type Act = (
  context: RequestContext,
) => MessageInit<typeof HeartbeatResponse> | null | Promise<MessageInit<typeof HeartbeatResponse> | null>;

function setUp(act: Act = () => ({ errorCode: errorCodes.NONE })) {
  const lines: string[] = [];
  const add = (message: string): void => void lines.push(message);
  const logger: Logger = {
    trace: add,
    debug: add,
    info: add,
    warn: add,
    error: add,
    fatal: add,
    isEnabled: () => true,
    child: () => logger,
  };
  const heartbeat = defineHandler(HeartbeatRequest, HeartbeatResponse, { handle: (_request, context) => act(context) });
  const apiVersions = defineHandler(ApiVersionsRequest, ApiVersionsResponse, {
    handle: () => ({ errorCode: errorCodes.NONE }),
    unsupportedVersion: () => ({
      errorCode: errorCodes.UNSUPPORTED_VERSION,
      apiKeys: [{ apiKey: 18, minVersion: 0, maxVersion: 5 }],
    }),
  });
  const router = new RequestRouter({
    handlers: [heartbeat, apiVersions],
    clock: { wallTimeMs: () => 0, monotonicMs: () => 0 },
    logger,
    metrics: new MetricsTable(),
  });
  return { router, lines };
}

function frame<Q extends MessageDefinition>(
  request: Q,
  version: number,
  body: MessageInit<Q>,
  headerVersion = 1,
  asVersion = version,
): Buffer {
  const header = { requestApiKey: request.apiKey ?? -1, requestApiVersion: asVersion, correlationId: 42, clientId: 'me' };
  return Buffer.concat([...encodeMessage(RequestHeader, headerVersion, header), ...encodeMessage(request, version, body)]);
}

function body<A extends MessageDefinition>(answer: AnswerBytes, response: A, version: number, headerBytes = 4) {
  const bytes = Buffer.concat(answer ?? []);
  assert.equal(bytes.readInt32BE(0), bytes.length - 4, 'the size is that of what follows');
  assert.equal(bytes.readInt32BE(4), 42, 'the correlation id is that of the request');
  return decodeMessage(response, version, bytes.subarray(4 + headerBytes));
}

const heartbeat = (version = 0): Buffer => frame(HeartbeatRequest, version, { groupId: 'g' }, version >= 4 ? 2 : 1);

test('an answer goes back under the correlation id, in the version of the request', async () => {
  const { router } = setUp((context) => ({ errorCode: context.apiVersion, throttleTimeMs: 7 }));
  assert.deepEqual(
    body(await router.handle(heartbeat(1), connection, { mayRecycle: false, onSent: undefined }), HeartbeatResponse, 1),
    {
      throttleTimeMs: 7,
      errorCode: 1,
    },
  );
  const flexible = await router.handle(heartbeat(4), connection, { mayRecycle: false, onSent: undefined });
  assert.deepEqual(body(flexible, HeartbeatResponse, 4, 5), { throttleTimeMs: 7, errorCode: 4 });
});

test('an answer that is there at once comes at once, and a late one as a promise', () => {
  assert.ok(!(setUp().router.handle(heartbeat(), connection, { mayRecycle: false, onSent: undefined }) instanceof Promise));
  assert.ok(
    setUp(async () => ({})).router.handle(heartbeat(), connection, { mayRecycle: false, onSent: undefined }) instanceof Promise,
  );
});

test('no answer is no bytes', () => {
  assert.equal(setUp(() => null).router.handle(heartbeat(), connection, { mayRecycle: false, onSent: undefined }), null);
});

for (const { name, act } of [
  {
    name: 'thrown',
    act: () => {
      throw new ProtocolError(errorCodes.UNKNOWN_MEMBER_ID);
    },
  },
  { name: 'rejected', act: async () => Promise.reject(new ProtocolError(errorCodes.UNKNOWN_MEMBER_ID)) },
] satisfies { name: string; act: Act }[]) {
  test(`a protocol error that is ${name} becomes the answer`, async () => {
    const { router, lines } = setUp(act);
    const answer = await router.handle(heartbeat(), connection, { mayRecycle: false, onSent: undefined });
    assert.equal(body(answer, HeartbeatResponse, 0).errorCode, errorCodes.UNKNOWN_MEMBER_ID);
    assert.deepEqual(lines, []);
  });
}

test('any other error is logged and answered as UNKNOWN_SERVER_ERROR', async () => {
  const { router, lines } = setUp(async () => {
    throw new TypeError('oops');
  });
  const answer = await router.handle(heartbeat(), connection, { mayRecycle: false, onSent: undefined });
  assert.equal(body(answer, HeartbeatResponse, 0).errorCode, errorCodes.UNKNOWN_SERVER_ERROR);
  assert.match(lines.join(), /Heartbeat/);
});

for (const { name, bytes, expected } of [
  { name: 'too short for a header', bytes: Buffer.alloc(7), expected: /7 bytes/ },
  { name: 'of an API that is not served', bytes: Buffer.from([0, 99, 0, 0, 0, 0, 0, 1, 0xff, 0xff]), expected: /99/ },
  { name: 'of a negative API key', bytes: Buffer.from([0xff, 0xff, 0, 0, 0, 0, 0, 1, 0xff, 0xff]), expected: /-1/ },
  { name: 'of a version that is not served', bytes: frame(HeartbeatRequest, 0, {}, 1, 30), expected: /version 30 of client "me"/ },
  { name: 'that ends in the middle', bytes: heartbeat().subarray(0, 14), expected: /version 0 of client "me"|cannot be read/ },
]) {
  test(`a request ${name} closes the connection`, () => {
    const { router } = setUp();
    assert.throws(
      () => router.handle(bytes, connection, { mayRecycle: false, onSent: undefined }),
      (error: unknown) => error instanceof CloseConnectionError && expected.test(error.message),
    );
  });
}

test('a version of ApiVersions that is not served is answered in the layout of version 0', () => {
  const { router } = setUp();
  const bytes = frame(ApiVersionsRequest, 3, { clientSoftwareName: 'a', clientSoftwareVersion: '1' }, 2, 127);
  const answer = body(
    router.handle(bytes, connection, { mayRecycle: false, onSent: undefined }) as AnswerBytes,
    ApiVersionsResponse,
    0,
  );
  assert.equal(answer.errorCode, errorCodes.UNSUPPORTED_VERSION);
  assert.deepEqual(answer.apiKeys, [{ apiKey: 18, minVersion: 0, maxVersion: 5 }]);
});
