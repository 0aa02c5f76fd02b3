// Retention as time goes by, on a simulated clock.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildRecordBatch } from '@odradek/protocol';
import { type SimulatedMachine, SimulatedWorld } from '@odradek/testing';
import { defaultLogConfig, type LogConfig } from '../log/log-config.ts';
import type { PartitionLog } from '../log/partition-log.ts';
import { LogManager } from './log-manager.ts';

const topicId = 'gDgJJoRPTB6EtlLf-p62NQ';
const minuteMs = 60_000;
const intervals = { retentionCheckMs: minuteMs, firstRetentionCheckMs: 1000 };

/** One log, to which records of 1,000 bytes are written. */
class Retained {
  readonly world = new SimulatedWorld({ seed: 1 });
  readonly machine: SimulatedMachine = this.world.machine('broker');
  manager!: LogManager;
  log!: PartitionLog;

  async open(config: Partial<LogConfig>): Promise<this> {
    const whole: LogConfig = { ...defaultLogConfig, fileDeleteDelayMs: 5000, ...config };
    this.manager = LogManager.open({ world: this.machine, directories: ['/data'], topicLogConfig: () => whole, intervals });
    await this.world.run(this.manager.load());
    this.log = this.manager.getOrCreate({ topic: 'orders', partition: 0 }, { topicId, config: whole });
    return this;
  }

  get nowMs(): number {
    return this.machine.clock.wallTimeMs();
  }

  /** A segment of one record with this time. */
  async segment(timestamp: number): Promise<void> {
    const bytes = buildRecordBatch({}, [{ timestamp, key: null, value: Buffer.alloc(1000) }]);
    await this.world.run(this.log.appendAsLeader(bytes, { leaderEpoch: 0, origin: 'client' }).written);
    this.log.updateHighWatermark(this.log.logEndOffset);
    this.log.roll();
  }

  get left(): number[] {
    return this.log.segments.all().map(({ baseOffset }) => baseOffset);
  }

  files(ending: string): string[] {
    return this.machine.fileSystem.listSync('/data/orders-0').filter((name) => name.endsWith(ending));
  }

  logged(text: string): string[] {
    return this.world.logText.filter((line) => line.includes(text));
  }
}

test('a segment goes when its youngest record is too old, first soon after the start and then at every check', async () => {
  const retained = await new Retained().open({ retentionMs: 10 * minuteMs });
  const { nowMs } = retained;
  for (const ageMinutes of [11, 8.5, 0]) await retained.segment(nowMs - ageMinutes * minuteMs);
  await retained.world.advance(1000);
  assert.deepEqual(retained.left, [1, 2, 3]);
  assert.equal(retained.log.logStartOffset, 1);
  await retained.world.advance(minuteMs);
  assert.deepEqual(retained.left, [1, 2, 3]);
  await retained.world.advance(minuteMs);
  assert.deepEqual(retained.left, [2, 3]);
  assert.match(retained.logged('Deleted old segments')[0] ?? '', /segments=1 tooOld=1 tooMany=0 .*logStartOffset=1/);
});

test('its files wait for file.delete.delay.ms', async () => {
  const retained = await new Retained().open({ retentionMs: 1 });
  await retained.segment(retained.nowMs - 2);
  await retained.world.advance(1000);
  assert.equal(retained.files('00000000000000000000.log.deleted').length, 1);
  await retained.world.advance(4900);
  assert.equal(retained.files('00000000000000000000.log.deleted').length, 1);
  await retained.world.advance(200);
  assert.deepEqual(retained.files('.deleted'), []);
});

test('a shorter retention counts from the next check on, a longer one too', async () => {
  const retained = await new Retained().open({ retentionMs: -1 });
  for (const ageMinutes of [30, 20, 10]) await retained.segment(retained.nowMs - ageMinutes * minuteMs);
  await retained.world.advance(2 * minuteMs);
  assert.deepEqual(retained.left, [0, 1, 2, 3]);
  retained.log.updateConfig({ ...retained.log.config, retentionMs: 25 * minuteMs });
  await retained.world.advance(minuteMs);
  assert.deepEqual(retained.left, [1, 2, 3]);
  retained.log.updateConfig({ ...retained.log.config, retentionMs: 60 * minuteMs });
  await retained.world.advance(10 * minuteMs);
  assert.deepEqual(retained.left, [1, 2, 3]);
});

test('size and age count together: what is left of the one is judged by the other', async () => {
  const retained = await new Retained().open({ retentionMs: 10 * minuteMs, retentionBytes: 3500 });
  // The first would stay for its age and keep the old one behind it, but there is too much.
  for (const ageMinutes of [0, 20, 0, 0, 0]) await retained.segment(retained.nowMs - ageMinutes * minuteMs);
  await retained.world.advance(1000);
  assert.deepEqual(retained.left, [2, 3, 4, 5]);
  assert.match(retained.logged('Deleted old segments')[0] ?? '', /segments=2 tooOld=1 tooMany=1/);
});

test('a record from the future keeps its segment and all behind it, and one warning says so', async () => {
  const retained = await new Retained().open({ retentionMs: 1000, messageTimestampAfterMaxMs: Number.MAX_SAFE_INTEGER });
  const futureMs = retained.nowMs + 30 * minuteMs;
  await retained.segment(retained.nowMs - minuteMs);
  await retained.segment(futureMs);
  await retained.segment(retained.nowMs - minuteMs);
  await retained.world.advance(10 * minuteMs);
  assert.deepEqual(retained.left, [1, 2, 3]);
  const warnings = retained.logged('a record from the future');
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? '', new RegExp(`WARN.*segment=1 lastRecordTime=${new Date(futureMs).toISOString()}`));
  await retained.world.advance(22 * minuteMs);
  assert.deepEqual(retained.left, [3]);
});

test('records that claim to be from 1970 go at once, and the log says when they are from', async () => {
  const retained = await new Retained().open({ retentionMs: 7 * 24 * 3600 * 1000 });
  await retained.segment(Math.floor(retained.nowMs / 1000));
  await retained.world.advance(1000);
  assert.deepEqual(retained.left, [1]);
  assert.match(retained.logged('Deleted old segments')[0] ?? '', /lastRecordTime=1970-01-2\d/);
});

test('with LogAppendTime it is the time of the broker that counts', async () => {
  const retained = await new Retained().open({ retentionMs: 5 * minuteMs, messageTimestampType: 'LogAppendTime' });
  await retained.segment(0);
  await retained.world.advance(5 * minuteMs);
  assert.deepEqual(retained.left, [0, 1]);
  await retained.world.advance(minuteMs + 1000);
  assert.deepEqual(retained.left, [1]);
});

test('records without a time are as old as their file', async () => {
  const retained = await new Retained().open({ retentionMs: 5 * minuteMs });
  await retained.segment(-1);
  await retained.world.advance(5 * minuteMs);
  assert.deepEqual(retained.left, [0, 1]);
  await retained.world.advance(minuteMs + 1000);
  assert.deepEqual(retained.left, [1]);
});

test('a compacted log keeps everything, unless it is to be deleted as well', async () => {
  for (const [cleanupPolicy, left] of [
    [['compact'], [0, 1]],
    [['compact', 'delete'], [1]],
  ] as const) {
    const retained = await new Retained().open({ retentionMs: 1, cleanupPolicy });
    const bytes = buildRecordBatch({}, [{ timestamp: retained.nowMs, key: Buffer.from('k'), value: null }]);
    await retained.world.run(retained.log.appendAsLeader(bytes, { leaderEpoch: 0, origin: 'client' }).written);
    retained.log.updateHighWatermark(1);
    retained.log.roll();
    await retained.world.advance(2000);
    assert.deepEqual(retained.left, left);
  }
});

test('where the log begins is found again', async () => {
  const retained = await new Retained().open({ retentionMs: -1 });
  for (let count = 0; count < 3; count++) await retained.segment(retained.nowMs);
  retained.log.deleteRecordsBefore(1);
  await retained.world.run(retained.manager.close());
  await retained.open({ retentionMs: -1 });
  assert.equal(retained.log.logStartOffset, 1);
});
