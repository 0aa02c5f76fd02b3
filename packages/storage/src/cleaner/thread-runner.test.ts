// A real thread on a real disk: what the other tests of the cleaner do between turns of the event loop.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { buildRecordBatch, iterateBatches } from '@odradek/protocol';
import { createSystemWorld, type Timer, type TimerTask } from '@odradek/runtime';
import { until } from '@odradek/testing';
import { defaultLogConfig, type LogConfig } from '../log/log-config.ts';
import type { PartitionLog } from '../log/partition-log.ts';
import { LogManager } from '../manager/log-manager.ts';
import { type CleanerSettings, defaultCleanerSettings } from './cleaner-schedule.ts';
import type { CompactionJob } from './compaction.ts';
import { ThreadRunner } from './thread-runner.ts';

const topicPartition = { topic: 'compacted', partition: 0 };
const config: LogConfig = {
  ...defaultLogConfig,
  cleanupPolicy: ['compact'],
  segmentBytes: 20_000,
  minCleanableDirtyRatio: 0.01,
  fileDeleteDelayMs: 0,
};
const settings: CleanerSettings = { ...defaultCleanerSettings, backoffMs: 10 };

let root: string;
let lines: string[];
let manager: LogManager;
let close: () => Promise<void>;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'odradek-thread-'));
  lines = [];
});
afterEach(async () => {
  await close();
  rmSync(root, { recursive: true });
});

async function open(changes: Partial<CleanerSettings> = {}): Promise<PartitionLog> {
  const world = createSystemWorld({ log: { write: (text) => void lines.push(text) } });
  manager = LogManager.open({
    world,
    directories: [root],
    topicLogConfig: () => config,
    cleaner: { settings: { ...settings, ...changes }, runIn: 'thread' },
  });
  close = async () => {
    await manager.close();
    world.timer.close();
  };
  await manager.load();
  return manager.getOrCreate(topicPartition, { topicId: 'gDgJJoRPTB6EtlLf-p62NQ', config });
}

async function fill(log: PartitionLog, batchCount: number): Promise<void> {
  for (let batch = 0; batch < batchCount; batch++) {
    const records = Array.from({ length: 20 }, (_, index) => ({
      key: Buffer.from(`key ${index}`),
      value: Buffer.alloc(50, `${batch} `),
    }));
    await log.appendAsLeader(buildRecordBatch({}, records), { leaderEpoch: 0, origin: 'client' }).written;
  }
  log.updateHighWatermark(log.logEndOffset);
  log.roll();
}

function offsetsIn(folder: string): number[] {
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.log'))
    .sort();
  const batches = files.flatMap((name) => [...iterateBatches(readFileSync(join(folder, name)))]);
  return batches.flatMap((batch) => [...batch.records()].map(({ offset }) => offset));
}

test('compacts a log, and what is read stays what it was', async () => {
  const log = await open();
  await fill(log, 100);
  await until('the log is clean', () => log.cleanedOffset === 2000);
  const last = Array.from({ length: 20 }, (_, index) => 1980 + index);
  assert.deepEqual(offsetsIn(join(root, 'compacted-0')), last);
  const read = await log.read(0, { maxBytes: 100_000, isolation: 'highWatermark', minOneBatch: true });
  const values = read.records.flatMap((bytes) => [...iterateBatches(bytes)].flatMap((batch) => [...batch.records()]));
  assert.deepEqual(
    values.map(({ offset }) => offset),
    Array.from({ length: 20 }, (_, index) => 1980 + index),
  );
  await until(
    'the checkpoint says so',
    () => readFileSync(join(root, 'cleaner-offset-checkpoint'), 'utf8') === '0\n1\ncompacted 0 2000\n',
  );
  assert.deepEqual(
    readdirSync(join(root, 'compacted-0')).filter((name) => /\.(cleaned|swap)$/.test(name)),
    [],
  );
});

test('a limit on the rate makes it slow, and lifting that makes it quick at once', async () => {
  const log = await open({ ioMaxBytesPerSecond: 1 });
  await fill(log, 100);
  await until('it is at work', () => manager.isBeingCleaned(log));
  assert.equal(log.cleanedOffset, undefined);
  manager.updateCleaner(settings);
  await until('the log is clean', () => log.cleanedOffset === 2000);
});

test('a topic that is deleted while it is cleaned leaves nothing behind', async () => {
  const log = await open({ ioMaxBytesPerSecond: 1 });
  await fill(log, 100);
  await until('it is at work', () => manager.isBeingCleaned(log));
  manager.delete(topicPartition);
  await until('the cleaning has ended', () => !manager.isBeingCleaned(log));
  const again = manager.getOrCreate(topicPartition, { topicId: 'AAAAAAAAAAAAAAAAAAAAAQ', config });
  assert.equal(again.logEndOffset, 0);
  assert.equal(again.cleanedOffset, undefined);
  assert.equal(lines.filter((line) => /ERROR|WARN/.test(line)).join(''), '');
});

test('a damaged batch stops the cleaning of its log, and of no other', async () => {
  const log = await open({ isEnabled: false });
  await fill(log, 100);
  const other = manager.getOrCreate({ topic: 'other', partition: 0 }, { topicId: 'AAAAAAAAAAAAAAAAAAAAAg', config });
  await fill(other, 50);
  await close();
  const path = join(root, 'compacted-0', '00000000000000000000.log');
  const bytes = readFileSync(path);
  bytes[100]! ^= 1;
  writeFileSync(path, bytes);
  const reopened = await open();
  const otherAgain = manager.get({ topic: 'other', partition: 0 });
  for (const each of [reopened, otherAgain]) each?.updateHighWatermark(each.logEndOffset);
  await until('the other is clean', () => otherAgain?.cleanedOffset === 1000);
  assert.equal(reopened.cleanedOffset, undefined);
  assert.match(lines.join(''), /A log cannot be compacted, and will not be until the next start {2}path=.*compacted-0/);
  assert.deepEqual(readFileSync(path), bytes);
});

test('the thread stays for the next cleaning, until there has been none for a while', async () => {
  const timer = new HeldTimer();
  const runner = new ThreadRunner(timer);
  close = () => runner.close();
  const job: CompactionJob = {
    path: root,
    segments: [],
    firstDirtyOffset: 0,
    firstDirtyPosition: 0,
    endOffset: 0,
    highWatermark: 0,
    abortedTransactions: [],
    lastOfProducers: new Map(),
    nowMs: 0,
    limits: {
      ...{ segmentBytes: 1000, segmentIndexBytes: 1000, indexIntervalBytes: 1000, deleteRetentionMs: 0 },
      ...{ maxDecompressedBytes: 1000, mapBytes: 1000, mapLoadFactor: 0.9, bufferBytes: 1000 },
    },
  };
  const compactOnce = (): Promise<unknown> => runner.start(job, () => Promise.resolve()).finished;
  runner.rest();
  assert.equal(timer.tasks.length, 0, 'there is no thread yet');
  await compactOnce();
  const threads = threadCount();
  runner.rest();
  runner.rest();
  assert.equal(timer.tasks.length, 1);
  await compactOnce();
  assert.equal(timer.tasks.length, 0, 'it stays');
  assert.equal(threadCount(), threads, 'it is the same');
  runner.rest();
  timer.tasks[0]!();
  await until('it has ended', () => threadCount() < threads);
  await compactOnce();
});

class HeldTimer implements Timer {
  readonly tasks: (() => void)[] = [];

  schedule(_delayMs: number, action: () => void): TimerTask {
    this.tasks.push(action);
    return { cancel: () => void this.tasks.splice(this.tasks.indexOf(action), 1) };
  }

  afterThisTurn(action: () => void): void {
    setImmediate(action);
  }

  close(): void {
    this.tasks.length = 0;
  }
}

/** Of this process. */
function threadCount(): number {
  return (process.report.getReport() as unknown as { readonly workers: readonly unknown[] }).workers.length;
}
