import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BufferPool, type ByteStream, type Clock, createLogger, type Timer } from '@odradek/runtime';
import { CloseConnectionError } from '../requests/close-connection-error.ts';
import { anonymousPrincipal } from '../requests/request-context.ts';
import { type AnswerBytes, BrokerConnection, type FrameHandler } from './broker-connection.ts';
import { RequestMemory } from './request-memory.ts';

class FakeStream implements ByteStream {
  readonly remoteAddress = '10.0.0.1';
  readonly remotePort = 1;
  readonly localAddress = '10.0.0.2';
  readonly localPort = 9092;
  readonly bufferedBytes = 0;
  readonly writes: string[] = [];
  isPaused = false;
  isDestroyed = false;
  hasEnded = false;
  acceptsMore = true;
  write(chunks: readonly Uint8Array[]): boolean {
    this.writes.push(Buffer.concat(chunks).toString());
    return this.acceptsMore;
  }
  pause(): void {
    this.isPaused = true;
  }
  resume(): void {
    this.isPaused = false;
  }
  end(): void {
    this.hasEnded = true;
  }
  destroy(): void {
    this.isDestroyed = true;
  }
}

const clock: Clock = { wallTimeMs: () => 0, monotonicMs: () => 0 };
const timer: Timer = { schedule: () => ({ cancel: () => undefined }), afterThisTurn: (action) => action(), close: () => undefined };

/** Time that moves when told to, and what is due in it. */
class ManualTime {
  nowMs = 0;
  readonly #tasks = new Set<{ readonly dueMs: number; readonly action: () => void }>();
  readonly clock: Clock = { wallTimeMs: () => 0, monotonicMs: () => this.nowMs };
  readonly timer: Timer = {
    ...timer,
    schedule: (delayMs, action) => {
      const task = { dueMs: this.nowMs + delayMs, action };
      this.#tasks.add(task);
      return { cancel: () => void this.#tasks.delete(task) };
    },
  };

  get taskCount(): number {
    return this.#tasks.size;
  }

  move(ms: number): void {
    this.nowMs += ms;
    for (const task of this.#tasks) {
      if (task.dueMs > this.nowMs) continue;
      this.#tasks.delete(task);
      task.action();
    }
  }
}

/**
 * Requests are single words; those in capitals may overlap. A word waits for `release` when it begins with `wait`, in any case. A word
 * with a number at its end mutes the connection for so long.
 */
function setUp(
  options: {
    maxRequestBytes?: number;
    memory?: RequestMemory;
    time?: ManualTime;
    stream?: FakeStream;
    requests?: FrameHandler;
  } = {},
) {
  const stream = options.stream ?? new FakeStream();
  const begun: string[] = [];
  const waiting = new Map<string, (answer: AnswerBytes) => void>();
  const lines: string[] = [];
  let closed = 0;
  const requests: FrameHandler = {
    mayOverlap: (frame) => /^[A-Z]/.test(frame.toString()),
    handle(frame, _, lease) {
      const word = frame.toString();
      begun.push(word);
      lease.muteMs = options.time === undefined ? 0 : Number(/\d*$/.exec(word)?.[0] ?? 0);
      if (word === 'bad') throw new CloseConnectionError('bad request');
      if (word === 'silent') return null;
      if (!/^wait/i.test(word)) return [Buffer.from(`${word};`)];
      return new Promise((resolve) => waiting.set(word, resolve));
    },
  };
  const memory = options.memory ?? new RequestMemory(-1);
  const connection = new BrokerConnection(
    stream,
    {
      connectionId: 'c',
      clientAddress: stream.remoteAddress,
      listenerName: 'PLAINTEXT',
      securityProtocol: 'PLAINTEXT',
      principal: anonymousPrincipal,
      isPrivileged: false,
    },
    {
      clock: options.time?.clock ?? clock,
      timer: options.time?.timer ?? timer,
      logger: createLogger({ write: (text) => void lines.push(text) }),
      memory,
      framePool: new BufferPool({ largestBytes: 2 ** 21, maxIdleBytes: 2 ** 25 }),
      requests: options.requests ?? requests,
      maxRequestBytes: options.maxRequestBytes ?? 1000,
      maxIdleMs: -1,
      onClose: () => {
        closed += 1;
      },
    },
  );
  return {
    stream,
    connection,
    begun,
    lines,
    memory,
    closedTimes: () => closed,
    async release(word: string): Promise<void> {
      waiting.get(word)?.([Buffer.from(`${word};`)]);
      await turn();
    },
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function frames(...words: string[]): Buffer {
  return Buffer.concat(
    words.flatMap((word) => {
      const size = Buffer.alloc(4);
      size.writeInt32BE(word.length);
      return [size, Buffer.from(word)];
    }),
  );
}

test('requests of one chunk are answered in one write', () => {
  const { connection, stream } = setUp();
  connection.onData(frames('one', 'two', 'three'));
  assert.deepEqual(stream.writes, ['one;two;three;']);
});

test('a frame may come in pieces of any size', () => {
  const { connection, stream } = setUp();
  for (const byte of frames('hello', 'world')) connection.onData(Buffer.from([byte]));
  assert.deepEqual(stream.writes, ['hello;', 'world;']);
});

test('the next request waits for the answer of the one before', async () => {
  const { connection, stream, begun, release } = setUp();
  connection.onData(frames('wait1', 'two'));
  assert.deepEqual(begun, ['wait1']);
  await release('wait1');
  assert.deepEqual(begun, ['wait1', 'two']);
  assert.deepEqual(stream.writes, ['wait1;two;']);
});

test('requests that may overlap are begun at once and answered in their order', async () => {
  const { connection, stream, begun, release } = setUp();
  connection.onData(frames('WAIT1', 'WAIT2', 'THREE', 'four'));
  assert.deepEqual(begun, ['WAIT1', 'WAIT2', 'THREE']);
  await release('WAIT2');
  assert.deepEqual(stream.writes, []);
  await release('WAIT1');
  assert.deepEqual(stream.writes, ['WAIT1;WAIT2;THREE;four;']);
});

test('the stream is paused while a chunk waits behind a request, and read on afterwards', async () => {
  const { connection, stream, begun, release } = setUp();
  connection.onData(frames('wait1'));
  assert.equal(stream.isPaused, false);
  connection.onData(frames('two'));
  assert.equal(stream.isPaused, true);
  connection.onData(frames('three'));
  await release('wait1');
  assert.deepEqual(begun, ['wait1', 'two', 'three']);
  assert.equal(stream.isPaused, false);
});

test('a peer that does not take its answers is not read', () => {
  const { connection, stream, begun } = setUp();
  stream.acceptsMore = false;
  connection.onData(frames('one'));
  assert.equal(stream.isPaused, true);
  connection.onData(frames('two'));
  assert.deepEqual(begun, ['one']);
  stream.acceptsMore = true;
  connection.onDrain();
  assert.deepEqual(begun, ['one', 'two']);
  assert.equal(stream.isPaused, false);
});

for (const { name, bytes } of [
  { name: 'of negative size', bytes: Buffer.from([0xff, 0xff, 0xff, 0xff]) },
  { name: 'larger than allowed', bytes: Buffer.from([0, 0, 4, 0]) },
]) {
  test(`a frame ${name} closes the connection with a line that says why`, () => {
    const { connection, stream, lines, closedTimes } = setUp({ maxRequestBytes: 1023 });
    connection.onData(bytes);
    assert.equal(stream.isDestroyed, true);
    assert.equal(closedTimes(), 1);
    assert.match(lines.join('\n'), /Closed a connection/);
  });
}

test('a request that cannot be answered closes the connection, after the answers before it', () => {
  const { connection, stream, lines } = setUp();
  connection.onData(frames('one'));
  connection.onData(frames('bad', 'two'));
  assert.equal(stream.isDestroyed, true);
  assert.deepEqual(stream.writes, ['one;']);
  assert.match(lines.join('\n'), /bad request/);
});

test('a request without an answer holds up nothing', () => {
  const { connection, stream } = setUp();
  connection.onData(frames('silent', 'two'));
  assert.deepEqual(stream.writes, ['two;']);
});

test('a peer that has sent its end still gets its answers', async () => {
  const { connection, stream, release } = setUp();
  connection.onData(frames('wait1'));
  connection.onEnd();
  assert.equal(stream.hasEnded, false);
  await release('wait1');
  assert.deepEqual(stream.writes, ['wait1;']);
  assert.equal(stream.hasEnded, true);
});

test('answers that come after the connection has closed are dropped', async () => {
  const { connection, stream, release, memory } = setUp();
  connection.onData(frames('wait1'));
  connection.onClose(undefined);
  await release('wait1');
  assert.deepEqual(stream.writes, []);
  assert.equal(memory.usedBytes, 0);
});

test('with the memory for requests full, connections wait unless they are within a frame', async () => {
  const memory = new RequestMemory(10);
  const first = setUp({ memory });
  const second = setUp({ memory });
  first.connection.onData(frames('wait-for-a-long-time'));
  second.connection.onData(frames('small'));
  assert.deepEqual(second.stream.writes, ['small;']);
  assert.equal(second.stream.isPaused, true);
  await first.release('wait-for-a-long-time');
  assert.equal(memory.usedBytes, 0);
  assert.equal(second.stream.isPaused, false);
});

test('whoever is to wait gets the answer at once, and is then neither read nor served for so long', () => {
  const time = new ManualTime();
  const { connection, stream, begun } = setUp({ time });
  connection.onData(frames('slow100', 'next'));
  assert.deepEqual(stream.writes, ['slow100;']);
  assert.equal(stream.isPaused, true);
  time.move(99);
  assert.deepEqual(begun, ['slow100']);
  time.move(1);
  assert.deepEqual(stream.writes, ['slow100;', 'next;']);
  assert.equal(stream.isPaused, false);
});

test('who gets no answer waits as well', () => {
  const time = new ManualTime();
  const stream = new FakeStream();
  const requests: FrameHandler = {
    mayOverlap: () => false,
    handle: (_, __, lease) => {
      lease.muteMs = 50;
      return null;
    },
  };
  const { connection } = setUp({ time, stream, requests });
  connection.onData(frames('one'));
  assert.equal(stream.isPaused, true);
  time.move(50);
  assert.equal(stream.isPaused, false);
});

test('requests that were begun are answered while the connection waits, the longest wait counts', async () => {
  const time = new ManualTime();
  const { connection, stream, begun, release } = setUp({ time });
  connection.onData(frames('WAIT100', 'WAIT30', 'LAST'));
  await release('WAIT100');
  connection.onData(frames('MORE'));
  await release('WAIT30');
  assert.deepEqual(stream.writes, ['WAIT100;', 'WAIT30;LAST;']);
  assert.equal(begun.includes('MORE'), false);
  time.move(99);
  assert.equal(begun.includes('MORE'), false);
  time.move(1);
  assert.equal(begun.includes('MORE'), true);
});

test('a connection that is closed while it waits leaves nothing behind', () => {
  const time = new ManualTime();
  const { connection, begun } = setUp({ time });
  connection.onData(frames('slow100', 'next'));
  connection.close();
  assert.equal(time.taskCount, 0);
  time.move(100);
  assert.deepEqual(begun, ['slow100']);
});

test('a peer that has sent its end while it waits gets its answers before the stream ends', () => {
  const time = new ManualTime();
  const { connection, stream } = setUp({ time });
  connection.onData(frames('slow100', 'next'));
  connection.onEnd();
  assert.equal(stream.hasEnded, false);
  time.move(100);
  assert.deepEqual(stream.writes, ['slow100;', 'next;']);
  assert.equal(stream.hasEnded, true);
});
