import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildControlBatch, iterateBatches, type RecordBatchOptions } from '@odradek/protocol';
import { SimulatedWorld } from '@odradek/testing';
import { defaultLogConfig, type LogConfig } from '../log/log-config.ts';
import { batch, topicId } from '../log/open-log.fixture.ts';
import type { PartitionLog } from '../log/partition-log.ts';
import { LogManager } from '../manager/log-manager.ts';
import { defaultCleanerSettings } from './cleaner-schedule.ts';

const config: LogConfig = { ...defaultLogConfig, cleanupPolicy: ['compact'], minCleanableDirtyRatio: 0 };

/** What grows to more than a topic may allow. */
const large = 'x'.repeat(2000);

class CleanedLog {
  readonly world = new SimulatedWorld({ seed: 1 });
  manager!: LogManager;
  log!: PartitionLog;

  async open(topicConfig: LogConfig = config): Promise<this> {
    this.manager = LogManager.open({
      world: this.world.machine('broker'),
      directories: ['/data'],
      topicLogConfig: () => topicConfig,
      cleaner: { settings: { ...defaultCleanerSettings, backoffMs: 100 }, runIn: 'turns' },
    });
    await this.world.run(this.manager.load());
    this.log = this.manager.getOrCreate({ topic: 'orders', partition: 0 }, { topicId, config: topicConfig });
    return this;
  }

  append(value: string, options: RecordBatchOptions = {}): void {
    this.log.appendAsLeader(batch([value], options), { leaderEpoch: 0, origin: 'client' });
    this.log.writeStaged();
  }

  async values(fromOffset = 0): Promise<string[]> {
    const read = this.log.read(fromOffset, { maxBytes: 100_000, isolation: 'logEnd', minOneBatch: true });
    const { records } = await this.world.run(Promise.resolve(read));
    const batches = [...iterateBatches(Buffer.concat(records))].filter(({ isControl }) => !isControl);
    return batches.flatMap((each) => Array.from(each.records(), ({ value }) => String(value)));
  }
}

test('what came in the place of what was cut off is not cleaned with what was there (cleaner history 3000474)', async () => {
  const cleaned = await new CleanedLog().open();
  const { log, world } = cleaned;
  cleaned.append('first');
  cleaned.append('second');
  log.roll();
  cleaned.append('third');
  await world.run(log.flush());
  log.updateHighWatermark(2);
  await world.runUntil(() => cleaned.manager.isBeingCleaned(log));
  // The cleaner waits for a checkpoint. The last segment goes, and the one before it grows by records that may be aborted.
  log.truncateTo(2);
  const producer = { producerId: 7, producerEpoch: 0 };
  cleaned.append('never', { ...producer, baseSequence: 0, isTransactional: true });
  log.roll();
  await world.advance(1000);
  const marker = buildControlBatch({ ...producer, type: 'abort', coordinatorEpoch: 0, timestamp: Date.UTC(2025, 0, 1) });
  log.appendAsLeader(marker, { leaderEpoch: 0, origin: 'coordinator' });
  log.writeStaged();
  log.roll();
  await world.run(log.flush());
  log.updateHighWatermark(log.logEndOffset);
  await world.runUntil(() => (log.cleanedOffset ?? 0) >= 3);
  assert.deepEqual(await cleaned.values(), ['second']);
});

test('batches that the topic would not take any more are cleaned like the others', async () => {
  const cleaned = await new CleanedLog().open();
  const { log, world } = cleaned;
  for (const number of [1, 2]) cleaned.append(`${number}${large}`, { compression: 'gzip' });
  log.updateConfig({ ...config, maxDecompressedMessageBytes: 1000, maxMessageBytes: 10 });
  log.roll();
  await world.run(log.flush());
  log.updateHighWatermark(log.logEndOffset);
  await world.runUntil(() => (log.cleanedOffset ?? 0) >= 2);
  assert.deepEqual(await cleaned.values(), [`2${large}`]);
});

test('a log can be deleted at every moment of its cleaning, and its directory stays online (operated cluster 3614260702)', async () => {
  let mostMs = 0;
  for (let afterMs = 0; afterMs === mostMs; afterMs++) {
    const cleaned = await new CleanedLog().open();
    const { log, manager, world } = cleaned;
    cleaned.append('first');
    cleaned.append('second');
    log.roll();
    await world.run(log.flush());
    log.updateHighWatermark(log.logEndOffset);
    world.setDiskDelay('broker', { min: 1, max: 1 });
    await world.runUntil(() => manager.isBeingCleaned(log));
    await world.advance(afterMs);
    if (manager.isBeingCleaned(log)) mostMs = afterMs + 1;
    manager.delete(log.topicPartition);
    await world.advance(1000);
    assert.equal(log.directory.isOnline, true, `deleted after ${afterMs} ms`);
    await world.run(manager.close());
  }
  assert.ok(mostMs > 5, `a cleaning takes only ${mostMs} ms`);
});

test('what a cleaning that did not come to its end has left is no loss, though the topic is not compacted any more', async () => {
  const compacted = { ...config, segmentBytes: 100, retentionMs: -1 };
  const cleaned = await new CleanedLog().open(compacted);
  const { world, log, manager } = cleaned;
  for (const value of ['first', 'second', 'third', 'fourth', 'last']) cleaned.append(value);
  await world.run(log.flush());
  log.updateHighWatermark(log.logEndOffset);
  manager.updateCleaner({ ...defaultCleanerSettings, backoffMs: 100, ioMaxBytesPerSecond: 100 });
  const begun = log.segments.first;
  await world.runUntil(() => log.segments.first !== begun);
  assert.ok(manager.isBeingCleaned(log));
  await world.run(manager.close());
  assert.ok((log.cleanedOffset ?? 0) < log.segments.active.baseOffset);

  await cleaned.open({ ...compacted, cleanupPolicy: ['delete'] });
  await world.run(cleaned.manager.checkpoint());
  world.crash('broker', 'everything');
  await cleaned.open({ ...compacted, cleanupPolicy: ['delete'] });
  assert.equal(cleaned.log.logEndOffset, 5);
  assert.deepEqual([(await cleaned.values()).includes('first'), await cleaned.values(4)], [false, ['last']]);
});
