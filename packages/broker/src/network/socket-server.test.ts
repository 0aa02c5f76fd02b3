import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ByteStream, type Clock, createLogger, type Network, type StreamReceiver, type Timer } from '@odradek/runtime';
import { SocketServer, type SocketServerLimits } from './socket-server.ts';

const limits: SocketServerLimits = {
  maxRequestBytes: 1000,
  maxQueuedRequestBytes: -1,
  maxIdleMs: -1,
  backlog: 2,
  maxConnections: 1000,
  maxConnectionsPerIp: 1000,
  maxConnectionsPerIpOverrides: new Map(),
  maxCreationRate: 1000,
  creationBurstSeconds: 10,
  ofListener: () => ({}),
};

class FakeStream implements ByteStream {
  readonly remoteAddress: string;
  readonly remotePort = 1;
  readonly localAddress = '10.0.0.1';
  readonly localPort = 9092;
  readonly bufferedBytes = 0;
  isPaused = false;
  isDestroyed = false;
  answers = 0;

  constructor(remoteAddress: string) {
    this.remoteAddress = remoteAddress;
  }

  write(): boolean {
    this.answers += 1;
    return true;
  }
  pause(): void {
    this.isPaused = true;
  }
  resume(): void {
    this.isPaused = false;
  }
  end(): void {
    this.isDestroyed = true;
  }
  destroy(): void {
    this.isDestroyed = true;
  }
}

/** Addresses that begin with 6 are turned away after a second. */
async function setUp(changed: Partial<SocketServerLimits> = {}) {
  const time = { nowMs: 0 };
  const tasks = new Set<{ readonly dueMs: number; readonly action: () => void }>();
  const clock: Clock = { wallTimeMs: () => 0, monotonicMs: () => time.nowMs };
  const timer: Timer = {
    schedule: (delayMs, action) => {
      const task = { dueMs: time.nowMs + delayMs, action };
      tasks.add(task);
      return { cancel: () => void tasks.delete(task) };
    },
    afterThisTurn: (action) => action(),
    close: () => undefined,
  };
  let accept: ((stream: ByteStream) => StreamReceiver) | undefined;
  const network: Network = {
    listen: async (_, accepting) => {
      accept = accepting;
      return { host: '10.0.0.1', port: 9092, close: async () => undefined };
    },
    connect: () => Promise.reject(new Error('nobody connects')),
  };
  const server = new SocketServer({
    network,
    clock,
    timer,
    logger: createLogger({ level: 'fatal' }),
    requests: { mayOverlap: () => false, handle: () => [Buffer.from('answer')] },
    limits: () => ({ ...limits, ...changed }),
    interBrokerListenerName: 'PLAINTEXT',
    turnAwayMs: (address) => (address.startsWith('6') ? 1000 : 0),
  });
  await server.listen({ name: 'PLAINTEXT', securityProtocol: 'PLAINTEXT', host: '10.0.0.1', port: 9092 });
  server.serve();
  return {
    server,
    taskCount: () => tasks.size,
    connect(address: string): FakeStream {
      const stream = new FakeStream(address);
      accept?.(stream).onData(Buffer.from([0, 0, 0, 1, 1]));
      return stream;
    },
    move(ms: number): void {
      time.nowMs += ms;
      for (const task of tasks) {
        if (task.dueMs > time.nowMs) continue;
        tasks.delete(task);
        task.action();
      }
    },
  };
}

test('who opens too many connections is kept waiting unheard and then sent away, and nobody else notices', async () => {
  const { server, connect, move } = await setUp({ maxConnections: 1 });
  const away = connect('6.0.0.1');
  const welcome = connect('7.0.0.1');
  assert.deepEqual([away.isPaused, away.answers, away.isDestroyed], [true, 0, false]);
  assert.deepEqual([welcome.isPaused, welcome.answers], [false, 1]);
  move(999);
  assert.equal(away.isDestroyed, false);
  move(1);
  assert.deepEqual([away.isDestroyed, away.answers, welcome.isDestroyed], [true, 0, false]);
  assert.equal(server.connectionCount, 1);
});

test('so many are kept waiting as the backlog has room for; more are sent away at once', async () => {
  const { connect, move } = await setUp();
  const streams = ['6.0.0.1', '6.0.0.1', '6.0.0.1'].map(connect);
  move(0);
  assert.deepEqual(
    streams.map(({ isDestroyed }) => isDestroyed),
    [false, false, true],
  );
  assert.equal(connect('7.0.0.1').answers, 1);
});

test('those that wait are closed with the server, and leave nothing behind', async () => {
  const { server, connect, taskCount } = await setUp();
  const away = connect('6.0.0.1');
  server.closeConnections();
  assert.equal(away.isDestroyed, true);
  assert.equal(taskCount(), 0);
  assert.equal(server.connectionCount, 0);
});
