// The life of shards and of what they write, with a shard that does nothing but remember: no rule of any group is in the way.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { errorByCode, errorCodes, ProtocolError } from '@odradek/protocol';
import { promisesSettled, SimulatedWorld } from '@odradek/testing';
import { CoordinatorRuntime } from './coordinator-runtime.ts';
import { answer, type CoordinatorRecord, type CoordinatorShard, described, type Outcome } from './coordinator-shard.ts';
import type { CoordinatorTimer } from './coordinator-timer.ts';
import { PartitionsInMemory } from './partitions-in-memory.fixture.ts';

const writeTimeoutMs = 5_000;

/** Remembers the texts of its records, with their offsets. */
class RememberingShard implements CoordinatorShard {
  readonly texts: string[] = [];
  readonly timer: CoordinatorTimer;
  readonly events: string[];

  constructor(timer: CoordinatorTimer, events: string[]) {
    this.timer = timer;
    this.events = events;
  }

  replay({ key }: CoordinatorRecord, offset: number): void {
    this.texts.push(`${offset}:${key}`);
  }

  onLoaded(): void {
    this.events.push(`loaded ${this.texts.join(' ') || 'nothing'}`);
  }

  onUnloaded(): void {
    this.events.push('unloaded');
  }
}

function record(text: string): CoordinatorRecord {
  return { key: Buffer.from(text), value: Buffer.from('value') };
}

function remember<T>(text: string, response: T): (shard: RememberingShard) => Outcome<T> {
  return () => ({ records: text.split(' ').map(record), response });
}

const texts = ({ texts: all }: RememberingShard): string => all.join(' ');

describe('the coordinator runtime', () => {
  let world: SimulatedWorld;
  let log: PartitionsInMemory;
  let runtime: CoordinatorRuntime<RememberingShard>;
  let events: string[];

  beforeEach(() => {
    world = new SimulatedWorld({ seed: 1 });
    log = new PartitionsInMemory();
    events = [];
    runtime = new CoordinatorRuntime({
      partitions: log,
      clock: world.clock,
      timer: world.timer,
      logger: world.logger,
      createShard: (_partition, timer) => new RememberingShard(timer, events),
      writeTimeoutMs: () => writeTimeoutMs,
    });
  });
  afterEach(() => runtime.close());

  /** What became of a request: its answer, the name of its error, or that it waits. */
  function outcomeOf<T>(request: Promise<T>): { now: () => Promise<string> } {
    let outcome = 'waits';
    request.then(
      (value) => (outcome = String(value)),
      (error: unknown) => (outcome = error instanceof ProtocolError ? errorByCode(error.code).name : String(error)),
    );
    return {
      now: async () => {
        await promisesSettled();
        return outcome;
      },
    };
  }

  const write = (text: string): Promise<string> => outcomeOf(runtime.write(0, remember(text, `wrote ${text}`))).now();
  const read = (): Promise<string> => outcomeOf(runtime.read(0, texts)).now();

  test('coordinates nothing that it was not told to lead', async () => {
    assert.deepEqual([await write('a'), await read()], ['NOT_COORDINATOR', 'NOT_COORDINATOR']);
    assert.equal(log.endOffset, 0);
  });

  test('answers COORDINATOR_LOAD_IN_PROGRESS until all has been read, and then from what was read', async () => {
    await runtime.load(0, 0);
    assert.equal(await write('a b'), 'wrote a b');
    runtime.unload(0);
    log.isReplayHeld = true;
    const loading = runtime.load(0, 1);
    assert.deepEqual([await write('c'), await read()], ['COORDINATOR_LOAD_IN_PROGRESS', 'COORDINATOR_LOAD_IN_PROGRESS']);
    assert.deepEqual([runtime.isLoading, runtime.activePartitions()], [true, []]);
    log.releaseReplay();
    await loading;
    assert.deepEqual([await read(), runtime.isLoading, runtime.activePartitions()], ['0:a 1:b', false, [0]]);
    assert.deepEqual(events, ['loaded nothing', 'unloaded', 'loaded 0:a 1:b']);
  });

  // As Kafka translates what the log says, so that clients look for a coordinator, try again, or give up.
  for (const [refusal, answered] of [
    ['UNKNOWN_TOPIC_OR_PARTITION', 'COORDINATOR_NOT_AVAILABLE'],
    ['NOT_ENOUGH_REPLICAS', 'COORDINATOR_NOT_AVAILABLE'],
    ['REQUEST_TIMED_OUT', 'COORDINATOR_NOT_AVAILABLE'],
    ['NOT_LEADER_OR_FOLLOWER', 'NOT_COORDINATOR'],
    ['KAFKA_STORAGE_ERROR', 'NOT_COORDINATOR'],
    ['MESSAGE_TOO_LARGE', 'UNKNOWN_SERVER_ERROR'],
    ['RECORD_LIST_TOO_LARGE', 'UNKNOWN_SERVER_ERROR'],
    ['INVALID_FETCH_SIZE', 'UNKNOWN_SERVER_ERROR'],
    ['INVALID_REQUIRED_ACKS', 'INVALID_REQUIRED_ACKS'],
  ] as const) {
    test(`a log that refuses with ${refusal} changes nothing, and the answer is ${answered}`, async () => {
      await runtime.load(0, 0);
      await write('a');
      log.refusal = new ProtocolError(errorCodes[refusal]);
      assert.equal(await write('b'), answered);
      assert.equal(await read(), '0:a');
      log.refusal = null;
      assert.deepEqual([await write('c'), await read()], ['wrote c', '0:a 1:c']);
    });
  }

  test('an error that no client should see becomes UNKNOWN_SERVER_ERROR', async () => {
    await runtime.load(0, 0);
    log.append = () => {
      throw new TypeError('a bug');
    };
    assert.deepEqual([await write('a'), await read()], ['UNKNOWN_SERVER_ERROR', '']);
  });

  test('an operation that refuses writes nothing', async () => {
    await runtime.load(0, 0);
    const refused = runtime.write(0, () => {
      throw new ProtocolError(errorCodes.UNKNOWN_MEMBER_ID);
    });
    assert.deepEqual([await outcomeOf(refused).now(), log.endOffset], ['UNKNOWN_MEMBER_ID', 0]);
  });

  test('no answer leaves before what it may rest on is committed, neither of a write nor of a read', async () => {
    await runtime.load(0, 0);
    log.isHeld = true;
    const wrote = outcomeOf(runtime.write(0, remember('a', 'wrote a')));
    const looked = outcomeOf(runtime.read(0, texts));
    const nothing = outcomeOf(runtime.write(0, () => answer('looked')));
    assert.deepEqual([await wrote.now(), await looked.now(), await nothing.now()], ['waits', 'waits', 'waits']);
    log.release();
    assert.deepEqual([await wrote.now(), await looked.now(), await nothing.now()], ['wrote a', '0:a', 'looked']);
  });

  test('later operations see what is not committed yet', async () => {
    await runtime.load(0, 0);
    log.isHeld = true;
    outcomeOf(runtime.write(0, remember('a', '')));
    const second = outcomeOf(runtime.write(0, (shard) => ({ records: [record('b')], response: texts(shard) })));
    log.release();
    assert.equal(await second.now(), '0:a');
  });

  test('who waits too long is told so, while what it wrote stays and may be committed yet', async () => {
    await runtime.load(0, 0);
    log.isHeld = true;
    const wrote = outcomeOf(runtime.write(0, remember('a', 'wrote a')));
    await world.advance(writeTimeoutMs - 1);
    assert.equal(await wrote.now(), 'waits');
    await world.advance(1);
    assert.equal(await wrote.now(), 'COORDINATOR_NOT_AVAILABLE');
    log.release();
    assert.equal(await read(), '0:a');
  });

  test('when the leadership goes before the commit, so does what rested on it', async () => {
    await runtime.load(0, 3);
    await write('a');
    log.isHeld = true;
    const wrote = outcomeOf(runtime.write(0, remember('b', 'wrote b')));
    const looked = outcomeOf(runtime.read(0, texts));
    runtime.unload(0, 3);
    log.release(new ProtocolError(errorCodes.NOT_LEADER_OR_FOLLOWER));
    assert.deepEqual(
      [await wrote.now(), await looked.now(), await read()],
      ['NOT_COORDINATOR', 'NOT_COORDINATOR', 'NOT_COORDINATOR'],
    );
    // Another leader never had b, and wrote something else in its place.
    log.truncateTo(1);
    log.append(0, 4, [record('c')]);
    await runtime.load(0, 5);
    assert.equal(await read(), '0:a 1:c');
    assert.deepEqual(events, ['loaded nothing', 'unloaded', 'loaded 0:a 1:c']);
  });

  test('an answer that would come after the shard has gone is not given, though the log says that all is well', async () => {
    await runtime.load(0, 3);
    log.isHeld = true;
    const wrote = outcomeOf(runtime.write(0, remember('b', 'wrote b')));
    const looked = outcomeOf(runtime.read(0, texts));
    runtime.unload(0, 3);
    await runtime.load(0, 5);
    log.release();
    assert.deepEqual([await wrote.now(), await looked.now()], ['NOT_COORDINATOR', 'NOT_COORDINATOR']);
  });

  test('a write whose fate nobody knows makes the shard load again, from what the log has', async () => {
    await runtime.load(0, 0);
    await write('a');
    log.isHeld = true;
    const wrote = outcomeOf(runtime.write(0, remember('b', 'wrote b')));
    log.truncateTo(1);
    log.isReplayHeld = true;
    log.release(new ProtocolError(errorCodes.KAFKA_STORAGE_ERROR));
    assert.deepEqual([await wrote.now(), await write('c')], ['NOT_COORDINATOR', 'COORDINATOR_LOAD_IN_PROGRESS']);
    log.releaseReplay();
    await promisesSettled();
    assert.deepEqual([await read(), await write('d'), await read()], ['0:a', 'wrote d', '0:a 1:d']);
  });

  test('a partition whose log cannot be read has no coordinator here, until it is led anew', async () => {
    const { replay } = log;
    log.replay = () => Promise.reject(new ProtocolError(errorCodes.KAFKA_STORAGE_ERROR));
    await runtime.load(0, 0);
    assert.equal(await read(), 'NOT_COORDINATOR');
    log.replay = replay;
    await runtime.load(0, 1);
    assert.equal(await read(), '');
  });

  test('a later epoch of the same leader changes nothing, for those who wait neither', async () => {
    await runtime.load(0, 5);
    await write('a');
    log.isHeld = true;
    const wrote = outcomeOf(runtime.write(0, remember('b', 'wrote b')));
    await runtime.load(0, 6);
    await runtime.load(0, 4);
    log.release();
    assert.deepEqual([events, await wrote.now(), await read()], [['loaded nothing'], 'wrote b', '0:a 1:b']);
    const epochs: number[] = [];
    const append = log.append.bind(log);
    log.append = (partition, leaderEpoch, records) => {
      epochs.push(leaderEpoch);
      return append(partition, leaderEpoch, records);
    };
    await write('c');
    assert.deepEqual(epochs, [6]);
    runtime.unload(0, 5);
    assert.equal(await read(), '0:a 1:b 2:c');
    runtime.unload(0, 6);
    assert.deepEqual([events, await read()], [['loaded nothing', 'unloaded'], 'NOT_COORDINATOR']);
  });

  test('a later epoch in the middle of a load lets it go on', async () => {
    await runtime.load(0, 0);
    await write('a');
    runtime.unload(0);
    log.isReplayHeld = true;
    const loading = runtime.load(0, 1);
    await runtime.load(0, 2);
    assert.equal(await read(), 'COORDINATOR_LOAD_IN_PROGRESS');
    log.releaseReplay();
    await loading;
    assert.deepEqual([events, await read()], [['loaded nothing', 'unloaded', 'loaded 0:a'], '0:a']);
  });

  test('a load that is overtaken by another after a resignation leaves nothing behind', async () => {
    await runtime.load(0, 0);
    await write('a');
    runtime.unload(0);
    log.isReplayHeld = true;
    const first = runtime.load(0, 1);
    runtime.unload(0, 1);
    const second = runtime.load(0, 3);
    log.releaseReplay();
    await Promise.all([first, second]);
    assert.deepEqual(events, ['loaded nothing', 'unloaded', 'unloaded', 'loaded 0:a']);
    assert.equal(await read(), '0:a');
  });

  test('a resignation in the middle of a load ends it', async () => {
    log.isReplayHeld = true;
    const loading = runtime.load(0, 1);
    runtime.unload(0, 1);
    log.releaseReplay();
    await loading;
    assert.deepEqual([events, await read()], [['unloaded'], 'NOT_COORDINATOR']);
  });

  test('records that only describe are not replayed, and hear what became of them', async () => {
    await runtime.load(0, 0);
    const heard: string[] = [];
    const operation = (): Outcome<string> => ({
      ...described([record('a')], 'answer'),
      whenWritten: (error) => void heard.push(error === null ? 'written' : errorByCode(error.code).name),
    });
    assert.equal(await outcomeOf(runtime.write(0, operation)).now(), 'answer');
    assert.deepEqual([await read(), log.endOffset, heard], ['', 1, ['written']]);
    log.refusal = new ProtocolError(errorCodes.NOT_ENOUGH_REPLICAS);
    assert.equal(await outcomeOf(runtime.write(0, operation)).now(), 'answer');
    assert.deepEqual(heard, ['written', 'COORDINATOR_NOT_AVAILABLE']);
  });

  test('what may be divided goes into as many batches as it needs, all else into one', async () => {
    await runtime.load(0, 0);
    const records = Array.from({ length: 30 }, (_, index) => record(`record-${index}`));
    await runtime.write(0, () => ({ records, response: undefined, isDivisible: true }));
    assert.ok(log.batchCount > 1, `${log.batchCount} batches`);
    const before = log.batchCount;
    await runtime.write(0, () => ({ records, response: undefined }));
    assert.deepEqual([log.batchCount, log.endOffset], [before + 1, 60]);
  });

  describe('timers', () => {
    /** Writes the text after a second. */
    const schedule = (text: string): Promise<void> =>
      runtime.write(0, ({ timer }) => {
        timer.schedule('key', 1000, () => ({ records: [record(text)], response: undefined }));
        return answer(undefined);
      });

    test('are operations that write', async () => {
      await runtime.load(0, 0);
      await schedule('a');
      await world.advance(999);
      assert.equal(await read(), '');
      await world.advance(1);
      assert.equal(await read(), '0:a');
    });

    test('try again when the log refused', async () => {
      await runtime.load(0, 0);
      await schedule('a');
      log.refusal = new ProtocolError(errorCodes.NOT_ENOUGH_REPLICAS);
      await world.advance(1000);
      assert.equal(await read(), '');
      log.refusal = null;
      await world.advance(499);
      assert.equal(await read(), '');
      await world.advance(1);
      assert.equal(await read(), '0:a');
      await world.advance(10_000);
      assert.equal(await read(), '0:a');
    });

    test('that fail harm nobody else', async () => {
      await runtime.load(0, 0);
      await runtime.write(0, ({ timer }) => {
        timer.schedule('faulty', 1000, () => {
          throw new Error('a fault');
        });
        return answer(undefined);
      });
      await schedule('a');
      await world.advance(10_000);
      assert.equal(await read(), '0:a');
    });

    test('of one key take each other’s place, and can be called off', async () => {
      await runtime.load(0, 0);
      await schedule('a');
      await world.advance(500);
      await schedule('b');
      await world.advance(600);
      assert.equal(await read(), '');
      await world.advance(400);
      assert.equal(await read(), '0:b');
      await schedule('c');
      await runtime.write(0, ({ timer }) => {
        timer.cancel('key');
        return answer(undefined);
      });
      await world.advance(2000);
      assert.equal(await read(), '0:b');
    });

    test('end with their shard', async () => {
      await runtime.load(0, 0);
      await schedule('a');
      runtime.unload(0);
      await runtime.load(0, 1);
      await world.advance(5000);
      assert.deepEqual([await read(), log.endOffset], ['', 0]);
    });
  });
});
