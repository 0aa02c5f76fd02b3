import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  buildRecordBatch,
  errorCodes,
  FetchRequest,
  FetchResponse,
  HeartbeatRequest,
  HeartbeatResponse,
  MetadataRequest,
  MetadataResponse,
  ProduceRequest,
} from '@odradek/protocol';
import { BufferPool, createSystemWorld } from '@odradek/runtime';
import { InProcessBroker, SimulatedWorld } from '@odradek/testing';
import { Connection, type ConnectionOptions } from './connection.ts';
import { ConnectionError, type ConnectionFault } from './connection-error.ts';
import { type Received, ScriptedBroker, type ScriptedBrokerOptions } from './scripted-broker.fixture.ts';

const heartbeat = { request: HeartbeatRequest, response: HeartbeatResponse };
const fetch = { request: FetchRequest, response: FetchResponse };
const metadata = { request: MetadataRequest, response: MetadataResponse };

interface Setup {
  readonly world: SimulatedWorld;
  readonly broker: ScriptedBroker;
  readonly framePool: BufferPool;
  open(options?: Partial<ConnectionOptions> & { readonly nodeId?: number }): Promise<Connection>;
}

async function setUp(options: ScriptedBrokerOptions = {}): Promise<Setup> {
  const world = new SimulatedWorld({ seed: 7, network: { splitProbability: 0.5, maxDelayMs: 5 } });
  const broker = await ScriptedBroker.start(world.machine('broker'), options);
  const framePool = new BufferPool({ largestBytes: 1 << 20, maxIdleBytes: 1 << 22 });
  const { network, timer } = world.machine('client');
  return {
    world,
    broker,
    framePool,
    open: ({ nodeId, ...rest } = {}) => {
      const address = { host: 'broker', port: 9092, ...(nodeId === undefined ? {} : { nodeId }) };
      return world.run(Connection.open(address, { network, timer, framePool }, { clientId: 'me', ...rest }));
    },
  };
}

function withFault(fault: ConnectionFault): (error: unknown) => boolean {
  return (error) => error instanceof ConnectionError && error.fault === fault;
}

describe('a connection', () => {
  test('has several requests under way, and each gets its own answer', async () => {
    const waiting: Received[] = [];
    const { world, broker, open } = await setUp({ onRequest: (request) => waiting.push(request) });
    const connection = await open();
    const answers = ['a', 'b', 'c'].map((groupId) => connection.send(heartbeat, { groupId, memberId: 'm' }));
    assert.equal(connection.inFlightCount, 3);
    await world.runUntil(() => waiting.length === 3);
    assert.deepEqual(
      waiting.map((request) => request.decode(HeartbeatRequest).groupId),
      ['a', 'b', 'c'],
    );
    for (const [index, request] of waiting.entries()) request.answer(HeartbeatResponse, { errorCode: 20 + index });
    const messages = await world.run(Promise.all(answers));
    assert.deepEqual(
      messages.map(({ errorCode }) => errorCode),
      [20, 21, 22],
    );
    assert.equal(connection.inFlightCount, 0);
    assert.equal(broker.connections, 1);
  });

  test('gives records as they were sent, in a frame that can be used again', async () => {
    const records = buildRecordBatch({}, [{ value: Buffer.alloc(50_000, 'x') }]);
    const { world, framePool, open } = await setUp({
      onRequest: (request) =>
        request.answer(FetchResponse, { responses: [{ topic: 't', partitions: [{ partitionIndex: 3, records: [records] }] }] }),
    });
    const connection = await open();
    const ask = () => world.run(connection.ask(fetch, { topics: [] }, { maxVersion: 12 }));
    const first = await ask();
    assert.equal(first.version, 12);
    const received = first.message.responses[0]?.partitions[0]?.records;
    assert.ok(received instanceof Buffer && received.equals(records));
    assert.equal(framePool.idleBytes, 0);
    first.release();
    assert.ok(framePool.idleBytes >= 50_000);
    const second = await ask();
    assert.equal(framePool.idleBytes, 0, 'the second answer lies in the frame of the first');
    assert.ok(second.message.responses[0]?.partitions[0]?.records instanceof Buffer);
  });

  test('sends what gets no answer without waiting for one', async () => {
    const { world, broker, open } = await setUp({
      onRequest: (request) => {
        if (request.apiKey === 12) request.answer(HeartbeatResponse, { errorCode: 0 });
      },
    });
    const connection = await open();
    connection.sendOneWay(ProduceRequest, { acks: 0, timeoutMs: 1, topicData: [] });
    assert.equal(connection.inFlightCount, 0);
    await world.run(connection.send(heartbeat, {}));
    assert.deepEqual(
      broker.received.map(({ apiKey }) => apiKey),
      [18, 0, 12],
    );
  });

  test('is not to be had before its handshake is done', async () => {
    const { world, broker, open } = await setUp({ onRequest: (request) => request.answer(HeartbeatResponse, { errorCode: 0 }) });
    const connection = await open({
      handshake: async (opened) => {
        await opened.send(heartbeat, { groupId: 'handshake' });
      },
    });
    await world.run(connection.send(heartbeat, { groupId: 'first' }));
    const groups = broker.received.filter(({ apiKey }) => apiKey === 12).map((request) => request.decode(HeartbeatRequest).groupId);
    assert.deepEqual(groups, ['handshake', 'first']);
    const failing = open({ handshake: () => Promise.reject(new Error('not you')) });
    await assert.rejects(failing, /not you/);
  });
});

describe('the versions of a connection', () => {
  const cases: readonly {
    readonly name: string;
    readonly broker: ScriptedBrokerOptions;
    readonly nodeId?: number;
    readonly isHalf?: boolean;
    readonly asked: number[];
  }[] = [
    { name: 'asked in 4 when nobody is expected', broker: {}, asked: [4] },
    { name: 'asked in 4 when only half is known of who is expected', broker: {}, nodeId: 1, isHalf: true, asked: [4] },
    { name: 'asked in 5 of a broker that is expected', broker: {}, nodeId: 1, asked: [5] },
    { name: 'asked again in 4 of Kafka 3.9', broker: { apiVersions: { min: 0, max: 4 } }, nodeId: 1, asked: [5, 4] },
    { name: 'asked again in 3 of Kafka 2.4 to 3.8', broker: { apiVersions: { min: 0, max: 3 } }, asked: [4, 3] },
    {
      name: 'asked again in 0 of a broker that does not say what it knows',
      broker: { apiVersions: { min: 0, max: 1 }, listsVersionsInRefusal: false },
      asked: [4, 0],
    },
  ];
  for (const { name, broker: options, nodeId, isHalf = false, asked } of cases) {
    test(`are ${name}`, async () => {
      const { broker, open } = await setUp(options);
      const connection = await open(nodeId === undefined ? {} : { nodeId, ...(isHalf ? {} : { clusterId: 'cluster' }) });
      assert.deepEqual(broker.askedVersions, asked);
      assert.equal(connection.version(heartbeat), HeartbeatRequest.versions.max);
    });
  }

  test('are the highest that both sides speak, unless the caller wants another', async () => {
    const { broker, open } = await setUp({
      served: new Map([
        [HeartbeatRequest.apiKey ?? -1, { min: 1, max: 3 }],
        [MetadataRequest.apiKey ?? -1, { min: 900, max: 901 }],
      ]),
    });
    const connection = await open();
    assert.equal(connection.version(heartbeat), 3);
    assert.equal(connection.version(heartbeat, { maxVersion: 2 }), 2);
    assert.equal(connection.version(heartbeat, { version: 1 }), 1);
    assert.deepEqual(connection.versions(heartbeat), { min: 1, max: 3 });
    for (const options of [{ version: 4 }, { maxVersion: 0 }]) {
      await assert.rejects(connection.send(heartbeat, {}, options), withFault('unsupportedVersion'));
    }
    await assert.rejects(connection.send(metadata, {}), withFault('unsupportedVersion'));
    assert.equal(broker.received.length, 1, 'nothing was sent');
    assert.ok(!connection.isClosed);
  });

  test('are asked for in vain of somebody else', async () => {
    const { open } = await setUp({ apiVersionsError: errorCodes.REBOOTSTRAP_REQUIRED });
    await assert.rejects(open({ nodeId: 4, clusterId: 'cluster' }), withFault('wrongBroker'));
  });

  test('are asked for in vain of a broker that hangs up', async () => {
    const { open } = await setUp({ onConnect: (stream) => stream.destroy() });
    await assert.rejects(open(), withFault('closed'));
  });
});

describe('a connection ends', () => {
  test('when an answer does not come in time, and those behind it are told', async () => {
    const { world, open } = await setUp();
    const connection = await open();
    const answers = Promise.allSettled([
      connection.send(heartbeat, {}, { timeoutMs: 1_000 }),
      connection.send(heartbeat, {}, { timeoutMs: 5_000 }),
    ]);
    const [first, second] = await world.run(answers);
    assert.ok(first?.status === 'rejected' && withFault('timedOut')(first.reason));
    assert.ok(second?.status === 'rejected' && withFault('closed')(second.reason));
    assert.equal((await connection.closed).fault, 'timedOut');
    await assert.rejects(connection.send(heartbeat, {}), withFault('closed'));
  });

  test('with its broker, whose open requests are rejected', async () => {
    const { world, open } = await setUp({ onRequest: ({ stream }) => stream.end() });
    const connection = await open();
    await assert.rejects(world.run(connection.send(heartbeat, {})), withFault('closed'));
    assert.ok(connection.isClosed);
  });

  const malformed: readonly { readonly name: string; readonly onRequest: (request: Received) => void }[] = [
    {
      name: 'an answer to another request',
      onRequest: (request) => request.answer(HeartbeatResponse, {}, request.correlationId + 1),
    },
    { name: 'an answer that nobody asked for', onRequest: (request) => [0, 1].map(() => request.answer(HeartbeatResponse, {})) },
    { name: 'a negative size', onRequest: ({ stream }) => stream.write([Buffer.from([0xff, 0xff, 0xff, 0xff])]) },
    { name: 'a size beyond the limit', onRequest: ({ stream }) => stream.write([Buffer.from([0x7f, 0, 0, 0])]) },
    {
      name: 'an answer that is cut off',
      onRequest: ({ stream, correlationId }) => stream.write([Buffer.from([0, 0, 0, 4, 0, 0, 0, correlationId])]),
    },
  ];
  for (const { name, onRequest } of malformed) {
    test(`at ${name}`, async () => {
      const { world, open } = await setUp({ onRequest });
      const connection = await open({ maxResponseBytes: 1 << 20 });
      connection.send(heartbeat, {}).catch(() => 'told below');
      assert.equal((await world.run(connection.closed)).fault, 'malformed');
    });
  }

  test('never for a request too many, which is refused', async () => {
    const { open } = await setUp();
    const connection = await open({ maxInFlight: 2 });
    for (let i = 0; i < 2; i++) connection.send(heartbeat, {}).catch(() => 'closed at the end');
    assert.ok(!connection.hasRoom);
    await assert.rejects(connection.send(heartbeat, {}), withFault('busy'));
    assert.ok(!connection.isClosed);
    connection.close();
  });
});

test('a connection speaks to a real broker over a real socket, and to no other than is expected', async () => {
  const broker = await InProcessBroker.start();
  const { network, timer } = createSystemWorld();
  const { clusterId } = broker.broker;
  const open = (nodeId: number) => {
    const address = { host: '127.0.0.1', port: broker.port, nodeId };
    return Connection.open(address, { network, timer }, { clientId: 'me', clusterId });
  };
  const connection = await open(0);
  try {
    const { brokers } = await connection.send(metadata, { topics: [] });
    assert.deepEqual(
      brokers.map(({ nodeId, port }) => [nodeId, port]),
      [[0, broker.port]],
    );
    await assert.rejects(open(1), withFault('wrongBroker'));
  } finally {
    connection.close();
    timer.close();
    await broker.close();
  }
});
