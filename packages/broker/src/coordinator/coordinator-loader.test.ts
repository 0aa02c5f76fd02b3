import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { buildControlBatch, buildRecordBatch, type CompressionType, compressionTypes, zeroUuid } from '@odradek/protocol';
import { defaultLogConfig, LogManager, type PartitionLog } from '@odradek/storage';
import { SimulatedWorld } from '@odradek/testing';
import { type LoadingPace, replayLog } from './coordinator-loader.ts';

describe('loading a coordinator partition', () => {
  let world: SimulatedWorld;
  let manager: LogManager;
  let log: PartitionLog;
  let heard: string[];
  let isWanted: boolean;

  beforeEach(async () => {
    world = new SimulatedWorld({ seed: 1 });
    manager = LogManager.open({ world, directories: ['/data'], topicLogConfig: () => defaultLogConfig });
    await inTime(manager.load());
    log = manager.getOrCreate(
      { topic: '__consumer_offsets', partition: 0 },
      { topicId: 'gDgJJoRPTB6EtlLf-p62NQ', config: defaultLogConfig },
    );
    [heard, isWanted] = [[], true];
  });
  afterEach(() => inTime(manager.close()));

  /** Lets simulated time go on until the promise settles. */
  async function inTime<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    promise.finally(() => (isSettled = true)).catch(() => undefined);
    for (let turn = 0; turn < 10_000 && !isSettled; turn++) await world.advance(1);
    return promise;
  }

  const target = {
    isWanted: () => isWanted,
    record: ({ key, value }: { key: Buffer; value: Buffer | null }, offset: number, producerId: number) =>
      void heard.push(`${offset} ${key}=${value}${producerId === -1 ? '' : ` by ${producerId}`}`),
    endTransaction: (producerId: number, isCommitted: boolean) =>
      void heard.push(`${producerId} ${isCommitted ? 'committed' : 'aborted'}`),
  };

  const pace: LoadingPace = {
    readBytes: 300,
    mustGiveWay: () => false,
    giveWay: () => new Promise<void>((resolve) => world.timer.afterThisTurn(resolve)),
  };

  const timestamp = 1_700_000_000_000;
  async function append(
    keys: readonly string[],
    options: { readonly compression?: CompressionType; readonly producerId?: number } = {},
  ): Promise<void> {
    const records = keys.map((key) => ({ timestamp, key: Buffer.from(key), value: key.endsWith('-') ? null : Buffer.from('v') }));
    const { producerId } = options;
    const transaction = producerId === undefined ? {} : { producerId, producerEpoch: 0, baseSequence: 0, isTransactional: true };
    await inTime(
      log.appendAsLeader(buildRecordBatch({ ...options, ...transaction }, records), { leaderEpoch: 0, origin: 'coordinator' })
        .written,
    );
  }

  async function end(producerId: number, type: 'commit' | 'abort'): Promise<void> {
    const marker = buildControlBatch({ producerId, producerEpoch: 0, type, coordinatorEpoch: 0, timestamp });
    await inTime(log.appendAsLeader(marker, { leaderEpoch: 0, origin: 'coordinator' }).written);
  }

  const load = (changes: Partial<LoadingPace> = {}) => inTime(replayLog({ log }, target, { ...pace, ...changes }));

  test('hands over every record in order, with tombstones and transactions, whatever their compression', async () => {
    for (const compression of compressionTypes) await append([`${compression}-a`, `${compression}-`], { compression });
    await append(['t'], { producerId: 7 });
    await append(['u'], { producerId: 8 });
    await end(8, 'abort');
    await end(7, 'commit');
    const loaded = await load();
    const plain = compressionTypes.flatMap((name, index) => [`${2 * index} ${name}-a=v`, `${2 * index + 1} ${name}-=null`]);
    assert.deepEqual(heard, [...plain, '10 t=v by 7', '11 u=v by 8', '8 aborted', '7 committed']);
    assert.deepEqual([loaded.endOffset, loaded.recordCount], [14, 14]);
  });

  test('of an empty log is over at once', async () => {
    assert.deepEqual(await load(), { endOffset: 0, recordCount: 0 });
  });

  test('begins where the log begins now', async () => {
    for (const key of ['a', 'b', 'c']) await append([key]);
    log.updateHighWatermark(log.logEndOffset);
    log.deleteRecordsBefore(2);
    await load();
    assert.deepEqual(heard, ['2 c=v']);
  });

  test('ends where the log ended when it began, so that what follows is not handed over twice', async () => {
    await append(['a', 'b']);
    await append(['c']);
    let isLate = false;
    const appendOnce = async (): Promise<void> => {
      if (isLate) return;
      isLate = true;
      const late = buildRecordBatch({}, [{ timestamp, key: Buffer.from('late'), value: null }]);
      log.appendAsLeader(late, { leaderEpoch: 0, origin: 'coordinator' });
      await pace.giveWay();
    };
    const { endOffset } = await load({ readBytes: 1, giveWay: appendOnce });
    assert.deepEqual([endOffset, heard], [3, ['0 a=v', '1 b=v', '2 c=v']]);
  });

  test('gives way after any batch when others have waited long enough', async () => {
    for (let count = 0; count < 20; count++) await append([`key-${count}`]);
    let turns = 0;
    const giveWay = (): Promise<void> => {
      turns += 1;
      return pace.giveWay();
    };
    await load({ readBytes: 1_000_000, mustGiveWay: () => true, giveWay });
    assert.ok(turns >= 20, `${turns} turns`);
    assert.equal(heard.length, 20);
  });

  test('goes on in the log that has taken the place of the one it began with', async () => {
    const first = log;
    const keys = Array.from({ length: 20 }, (_, index) => `key-${index}`);
    for (const key of keys) await append([key]);
    const topicPartition = { topic: 'moved', partition: 0 };
    log = manager.getOrCreate(topicPartition, { topicId: zeroUuid, config: defaultLogConfig });
    for (const key of keys) await append([key]);
    const partition = { log: first };
    let turns = 0;
    const giveWay = async (): Promise<void> => {
      turns += 1;
      await pace.giveWay();
      if (turns !== 3) return;
      partition.log = log;
      first.closeFiles();
    };
    const loaded = await inTime(replayLog(partition, target, { ...pace, giveWay }));
    assert.equal(loaded.recordCount, keys.length);
    assert.equal(heard.length, keys.length);
  });

  test('stops when it is not wanted any more', async () => {
    for (let count = 0; count < 20; count++) await append([`key-${count}`]);
    const giveWay = async (): Promise<void> => {
      await pace.giveWay();
      isWanted = heard.length < 5;
    };
    await load({ readBytes: 1_000_000, mustGiveWay: () => true, giveWay });
    assert.equal(heard.length, 5);
  });

  test('fails when a batch has been damaged', async () => {
    await append(['a']);
    const damaged = buildRecordBatch({}, [{ timestamp, key: Buffer.from('b'), value: null }]);
    const { written } = log.appendAsLeader(damaged, { leaderEpoch: 0, origin: 'coordinator' });
    damaged.writeUInt8(damaged.readUInt8(damaged.length - 2) ^ 1, damaged.length - 2);
    await inTime(written);
    await assert.rejects(load());
    assert.deepEqual(heard, ['0 a=v']);
  });
});
