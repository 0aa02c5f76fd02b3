// The same log, compacted by Apache Kafka and by Odradek with the same settings, at the same times: what is left is the same, to the
// byte where it is not compressed.

import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  type Batch,
  buildControlBatch,
  buildRecordBatch,
  compressionTypes,
  iterateBatches,
  type RecordInit,
} from '@odradek/protocol';
import { createSystemWorld, SeededRandom, type World } from '@odradek/runtime';
import {
  type CleanerSettings,
  defaultCleanerSettings,
  defaultLogConfig,
  type LogConfig,
  LogManager,
  type PartitionLog,
} from '@odradek/storage';
import { javaProgram, needed, skipWithout, until } from '@odradek/testing';
import { javaSource, kafkaTools, runJava } from './java.ts';

const cleaner = await javaProgram(javaSource('modern/KafkaCleaner.java'), await kafkaTools());

const topicPartition = { topic: 'compacted', partition: 0 };
const topicId = 'gDgJJoRPTB6EtlLf-p62NQ';
const segmentBytes = 4000;
const deleteRetentionMs = 60_000;
/** Lately, or Kafka would have forgotten the producers. */
const writtenMs = Date.now() - 3_600_000;
const firstPassMs = writtenMs + 600_000;
/** The same log at each of these times. */
const passesMs = [firstPassMs, firstPassMs + deleteRetentionMs - 1, firstPassMs + deleteRetentionMs];

interface Run {
  readonly name: string;
  readonly mapBytes: number;
  readonly passCount: number;
}

const runs: readonly Run[] = [
  { name: 'one pass', mapBytes: 100_000, passCount: 1 },
  { name: 'two passes, nothing being old enough at the second', mapBytes: 100_000, passCount: 2 },
  { name: 'three passes, everything being old enough at the third', mapBytes: 100_000, passCount: 3 },
  { name: 'passes of many rounds that end in the middle of segments', mapBytes: 24 * 23, passCount: 3 },
];

const writing: LogConfig = { ...defaultLogConfig, segmentBytes, indexIntervalBytes: 400 };
const compacting: LogConfig = {
  ...writing,
  cleanupPolicy: ['compact'],
  deleteRetentionMs,
  fileDeleteDelayMs: 0,
  minCleanableDirtyRatio: 0,
};

describe('compaction beside Apache Kafka', { skip: skipWithout(cleaner), timeout: 60_000 }, () => {
  let directory: string;
  let written: string;

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'odradek-cleaner-'));
    written = join(directory, 'written');
    await withLog(written, { config: writing, nowMs: () => writtenMs }, fill);
  });
  after(() => rmSync(directory, { recursive: true }));

  for (const { name, mapBytes, passCount } of runs) {
    test(name, async () => {
      const passes = passesMs.slice(0, passCount);
      const byKafka = join(directory, `kafka-${passCount}-${mapBytes}`);
      const byUs = join(directory, `odradek-${passCount}-${mapBytes}`);
      for (const copy of [byKafka, byUs]) cpSync(written, copy, { recursive: true });
      const offsets = await cleanWithKafka(byKafka, mapBytes, passes);
      assert.equal(await cleanWithOdradek(byUs, mapBytes, passes), offsets);
      const expected = contentsOf(byKafka);
      const actual = contentsOf(byUs);
      assert.deepEqual(actual.batches, expected.batches);
      assert.deepEqual(actual.files, expected.files);
      assert.ok(expected.batches.length > 20, 'there is something to compare');
    });
  }
});

// The workload

/** Keys that come again, tombstones, records without keys, all codecs, transactions that end well or not, and producers that stop. */
async function fill(log: PartitionLog): Promise<void> {
  const random = new SeededRandom(20241);
  const states = new Map([11, 12, 13, 14, 15].map((id) => [id, { sequence: 0, isOpen: false }]));
  for (let step = 0; step < 400; step++) {
    const producerId = [-1, 11, 12, 13, 14, 15][random.nextInt(6)]!;
    const state = states.get(producerId);
    // Two of them stop early, and their last batches must be remembered.
    if (producerId >= 14 && step > 80 * (producerId - 13)) continue;
    if (state?.isOpen === true && random.nextInt(4) === 0) {
      const type = random.nextInt(2) === 0 ? 'abort' : 'commit';
      const bytes = buildControlBatch({ type, producerId, producerEpoch: 3, coordinatorEpoch: 1, timestamp: writtenMs + step });
      await log.appendAsLeader(bytes, { leaderEpoch: 0, origin: 'coordinator' }).written;
      state.isOpen = false;
      continue;
    }
    const isTransactional = producerId >= 11 && producerId <= 13;
    const records = Array.from({ length: 1 + random.nextInt(5) }, () => recordOf(random, step));
    const bytes = buildRecordBatch(
      {
        compression: compressionTypes[random.nextInt(compressionTypes.length)],
        isTransactional,
        producerId,
        producerEpoch: producerId < 0 ? -1 : 3,
        baseSequence: state?.sequence ?? -1,
      },
      records,
    );
    await log.appendAsLeader(bytes, { leaderEpoch: step < 200 ? 0 : 2, origin: 'client' }).written;
    if (state === undefined) continue;
    state.sequence += records.length;
    state.isOpen = isTransactional;
  }
  log.updateHighWatermark(log.logEndOffset);
}

function recordOf(random: SeededRandom, step: number): RecordInit {
  const key = random.nextInt(20) === 0 ? null : Buffer.from(`key ${random.nextInt(60)}`);
  const value = key !== null && random.nextInt(5) === 0 ? null : Buffer.alloc(random.nextInt(100), `value ${step} `);
  const headers = random.nextInt(6) === 0 ? [{ key: 'step', value: Buffer.from(String(step)) }] : [];
  return { key, value, headers, timestamp: writtenMs + step * 10 - random.nextInt(50) };
}

// Both cleaners

async function cleanWithKafka(root: string, mapBytes: number, passes: readonly number[]): Promise<string> {
  const args = [join(root, 'compacted-0'), segmentBytes, deleteRetentionMs, mapBytes, ...passes].map(String);
  const { stdout } = await runJava(needed(cleaner), 'KafkaCleaner', args);
  return stdout.toString();
}

async function cleanWithOdradek(root: string, mapBytes: number, passes: readonly number[]): Promise<string> {
  let nowMs = passes[0]!;
  const settings: CleanerSettings = { ...defaultCleanerSettings, dedupeBufferBytes: mapBytes, backoffMs: 5 };
  let answer = '';
  await withLog(root, { config: compacting, nowMs: () => nowMs, settings }, async (log) => {
    log.updateHighWatermark(log.logEndOffset);
    for (const passMs of passes) {
      nowMs = passMs;
      log.cleanedOffset = 0;
      // The segment with the last stable offset is not cleaned.
      const { baseOffset } = log.segments.at(log.segments.floorIndex(log.lastStableOffset))!;
      await until('the log is clean', () => log.cleanedOffset === baseOffset, { timeoutMs: 20_000 });
    }
    answer = `logStartOffset ${log.logStartOffset}\nlogEndOffset ${log.logEndOffset}\n`;
  });
  return answer;
}

interface LogOptions {
  readonly config: LogConfig;
  readonly nowMs: () => number;
  readonly settings?: CleanerSettings;
}

async function withLog(
  root: string,
  { config, nowMs, settings }: LogOptions,
  use: (log: PartitionLog) => Promise<void>,
): Promise<void> {
  const system = createSystemWorld({ log: { write: () => undefined } });
  const world: World = { ...system, clock: { ...system.clock, wallTimeMs: nowMs } };
  const cleaner = settings === undefined ? {} : { cleaner: { settings, runIn: 'thread' as const } };
  const manager = LogManager.open({ world, directories: [root], topicLogConfig: () => config, ...cleaner });
  try {
    manager.claim(1, 'S2Fma2FHb2xkZW5GYWN0cw');
    await manager.load();
    await use(manager.getOrCreate(topicPartition, { topicId, config }));
  } finally {
    await manager.close();
    system.timer.close();
  }
}

// What they left

function contentsOf(root: string): { readonly batches: readonly unknown[]; readonly files: Readonly<Record<string, string>> } {
  const folder = join(root, 'compacted-0');
  const batches: unknown[] = [];
  const files: Record<string, string> = {};
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name);
    if (name.endsWith('.txnindex')) files[name] = readFileSync(path).toString('hex');
    if (!name.endsWith('.log')) continue;
    for (const batch of iterateBatches(readFileSync(path))) batches.push({ segment: name, ...factsOf(batch) });
  }
  return { batches, files };
}

/** A compressed batch depends on the codec's release, so its contents are compared instead of its bytes. */
function factsOf(batch: Batch): object {
  batch.ensureValid();
  if (batch.compression === 'none') return { baseOffset: batch.baseOffset, bytes: batch.bytes().toString('hex') };
  const {
    baseOffset,
    lastOffset,
    attributes,
    baseTimestamp,
    maxTimestamp,
    producerId,
    producerEpoch,
    baseSequence,
    partitionLeaderEpoch,
  } = batch;
  const records = [...batch.records()].map(({ offset, timestamp, key, value, headers }) => ({
    offset,
    timestamp,
    key: key?.toString(),
    value: value?.toString(),
    headers: headers.map((header) => `${header.key}=${header.value}`),
  }));
  return {
    baseOffset,
    lastOffset,
    attributes,
    baseTimestamp,
    maxTimestamp,
    producerId,
    producerEpoch,
    baseSequence,
    partitionLeaderEpoch,
    records,
  };
}
