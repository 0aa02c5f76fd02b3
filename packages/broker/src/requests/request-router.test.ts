import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
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
import { type Clock, createLogger, MetricsTable } from '@odradek/runtime';
import type { AnswerBytes, ConnectionIdentity } from '../network/broker-connection.ts';
import type { AnswerThrottle, RequestCost } from './answer-throttle.ts';
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

const still: Clock = { wallTimeMs: () => 0, monotonicMs: () => 0 };

type Act = (
  context: RequestContext,
) => MessageInit<typeof HeartbeatResponse> | null | Promise<MessageInit<typeof HeartbeatResponse> | null>;

function setUp(act: Act = () => ({ errorCode: errorCodes.NONE }), throttle?: AnswerThrottle, clock: Clock = still) {
  const lines: string[] = [];
  const logger = createLogger({ write: (text) => void lines.push(text) });
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
    clock,
    logger,
    metrics: new MetricsTable(),
    ...(throttle && { throttle }),
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
    body(await router.handle(heartbeat(1), connection, { mayRecycle: false, onSent: undefined, muteMs: 0 }), HeartbeatResponse, 1),
    {
      throttleTimeMs: 7,
      errorCode: 1,
    },
  );
  const flexible = await router.handle(heartbeat(4), connection, { mayRecycle: false, onSent: undefined, muteMs: 0 });
  assert.deepEqual(body(flexible, HeartbeatResponse, 4, 5), { throttleTimeMs: 7, errorCode: 4 });
});

test('an answer that is there at once comes at once, and a late one as a promise', () => {
  assert.ok(
    !(setUp().router.handle(heartbeat(), connection, { mayRecycle: false, onSent: undefined, muteMs: 0 }) instanceof Promise),
  );
  assert.ok(
    setUp(async () => ({})).router.handle(heartbeat(), connection, { mayRecycle: false, onSent: undefined, muteMs: 0 }) instanceof
      Promise,
  );
});

test('no answer is no bytes', () => {
  assert.equal(setUp(() => null).router.handle(heartbeat(), connection, { mayRecycle: false, onSent: undefined, muteMs: 0 }), null);
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
    const answer = await router.handle(heartbeat(), connection, { mayRecycle: false, onSent: undefined, muteMs: 0 });
    assert.equal(body(answer, HeartbeatResponse, 0).errorCode, errorCodes.UNKNOWN_MEMBER_ID);
    assert.deepEqual(lines, []);
  });
}

test('any other error is logged and answered as UNKNOWN_SERVER_ERROR', async () => {
  const { router, lines } = setUp(async () => {
    throw new TypeError('oops');
  });
  const answer = await router.handle(heartbeat(), connection, { mayRecycle: false, onSent: undefined, muteMs: 0 });
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
      () => router.handle(bytes, connection, { mayRecycle: false, onSent: undefined, muteMs: 0 }),
      (error: unknown) => error instanceof CloseConnectionError && expected.test(error.message),
    );
  });
}

test('a version of ApiVersions that is not served is answered in the layout of version 0', () => {
  const { router } = setUp();
  const bytes = frame(ApiVersionsRequest, 3, { clientSoftwareName: 'a', clientSoftwareVersion: '1' }, 2, 127);
  const answer = body(
    router.handle(bytes, connection, { mayRecycle: false, onSent: undefined, muteMs: 0 }) as AnswerBytes,
    ApiVersionsResponse,
    0,
  );
  assert.equal(answer.errorCode, errorCodes.UNSUPPORTED_VERSION);
  assert.deepEqual(answer.apiKeys, [{ apiKey: 18, minVersion: 0, maxVersion: 5 }]);
});

describe('clients with quotas', () => {
  const lease = () => ({ mayRecycle: false, onSent: undefined, muteMs: 0 });

  /** Each look at the clock is a millisecond later. */
  function measuring(throttleMs: number) {
    const costs: RequestCost[] = [];
    const added: number[] = [];
    let nowMs = 0;
    const clock: Clock = { wallTimeMs: () => 0, monotonicMs: () => nowMs++ };
    const throttle = {
      isActive: true,
      throttleMs: (_: unknown, __: unknown, cost: RequestCost) => {
        costs.push(cost);
        return throttleMs;
      },
      addTime: (_: unknown, __: unknown, busyMs: number) => void added.push(busyMs),
    };
    return { throttle, clock, costs, added };
  }

  for (const { name, act } of [
    { name: 'at once', act: () => ({ errorCode: 0 }) },
    { name: 'later', act: async () => ({ errorCode: 0 }) },
  ] satisfies { name: string; act: Act }[]) {
    test(`that are answered ${name} are told how long to wait, and so is their connection`, async () => {
      const { throttle, clock, costs, added } = measuring(30);
      const { router } = setUp(act, throttle, clock);
      const held = lease();
      const answer = await router.handle(heartbeat(4), connection, held);
      assert.equal(body(answer, HeartbeatResponse, 4, 5).throttleTimeMs, 30);
      assert.equal(held.muteMs, 30);
      assert.deepEqual(costs, [{ requestBytes: heartbeat(4).length, busyMs: 1, isAnswered: true }]);
      assert.deepEqual(added, [1]);
    });
  }

  test('wait for the longer of what the handler and what the quotas say', async () => {
    for (const [own, quota, told] of [
      [50, 30, 50],
      [20, 30, 30],
      [0, 0, 0],
    ] as const) {
      const { throttle } = measuring(quota);
      const { router } = setUp(() => ({ throttleTimeMs: own }), throttle);
      const held = lease();
      assert.equal(body(await router.handle(heartbeat(1), connection, held), HeartbeatResponse, 1).throttleTimeMs, told);
      assert.equal(held.muteMs, told);
    }
  });

  test('are told in errors, and made to wait where they cannot be told', async () => {
    const { throttle, costs } = measuring(30);
    const failing = setUp(() => {
      throw new ProtocolError(errorCodes.UNKNOWN_MEMBER_ID);
    }, throttle);
    const refused = body(await failing.router.handle(heartbeat(1), connection, lease()), HeartbeatResponse, 1);
    assert.deepEqual(refused, { errorCode: errorCodes.UNKNOWN_MEMBER_ID, throttleTimeMs: 30 });
    for (const act of [() => null, () => ({ errorCode: 0 })]) {
      const held = lease();
      await setUp(act, throttle).router.handle(heartbeat(0), connection, held);
      assert.equal(held.muteMs, 30);
    }
    assert.deepEqual(
      costs.map(({ isAnswered }) => isAnswered),
      [true, false, true],
    );
  });

  test('are not looked for where there are none', async () => {
    const { throttle, costs } = measuring(30);
    const { router } = setUp(() => ({ throttleTimeMs: 7 }), { ...throttle, isActive: false });
    const held = lease();
    await router.handle(heartbeat(1), connection, held);
    assert.deepEqual([held.muteMs, costs.length], [0, 0]);
  });
});
