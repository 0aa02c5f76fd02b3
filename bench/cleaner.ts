// The cleaner: how much of a log it compacts in a second beside Apache Kafka's, and what producers feel of it. Prints a table for each.
//
//   npm run bench -- cleaner [throughput|latency] [--megabytes=256] [--rounds=5]
//
// Throughput: copies of the same log, compacted by Kafka's own class in a JVM that stays, and by ours in its thread, turn and turn
// about. The time is that of the whole cleaning, the bytes those of the records before they were compressed. Our thread runs at a low
// priority, so on a busy machine CPU is what can be compared. Needs Java 17 and Maven.
//
// Latency: a broker in a process of its own, produced to at a steady rate, with a compaction under way in every other window.

import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import {
  buildRecordBatch,
  type CompressionType,
  CreateTopicsRequest,
  CreateTopicsResponse,
  IncrementalAlterConfigsRequest,
  IncrementalAlterConfigsResponse,
  ProduceRequest,
  ProduceResponse,
} from '@odradek/protocol';
import { SeededRandom } from '@odradek/runtime';
import { defaultCleanerSettings } from '@odradek/storage';
import { findProgram, javaProgram, needed, RawClient, startOdradekProcess, until } from '@odradek/testing';
import { kafkaTools } from '../tests/interop/java.ts';
import { cpuSeconds } from './compare/process-usage.ts';
import { head, median, openLogs, row } from './storage/bench-log.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { megabytes: { type: 'string', default: '256' }, rounds: { type: 'string', default: '5' } },
});
const isWanted = (part: string): boolean => positionals.length === 0 || positionals.includes(part);
const logBytes = Number(values.megabytes) * 1e6;
const rounds = Number(values.rounds);
const segmentBytes = 32 * 1024 * 1024;
const recordsPerBatch = 80;
const random = new SeededRandom(1);

/** Records of 200 bytes, of so many keys that each comes about four times. */
function keyedBatch(compression: CompressionType, keyCount: number): Buffer {
  const records = Array.from({ length: recordsPerBatch }, () => ({
    timestamp: Date.now(),
    key: Buffer.from(`customer-${random.nextInt(keyCount)}`),
    value: Buffer.from(`{"balance":${random.nextInt(1_000_000)},"name":"${'Praha '.repeat(20)}${random.nextInt(1000)}"}`),
  }));
  return buildRecordBatch({ compression }, records);
}

async function fillLog(directory: string, compression: CompressionType): Promise<void> {
  const { log, close } = await openLogs(directory, { config: { segmentBytes } });
  const filled = log('compacted');
  const keyCount = Math.floor(logBytes / 200 / 4);
  // As many records, however small they become.
  for (let records = 0; records < logBytes / 200; records += recordsPerBatch) {
    const batch = keyedBatch(compression, keyCount);
    await filled.appendAsLeader(batch, { leaderEpoch: 0, origin: 'client' }).written;
  }
  filled.roll();
  filled.updateHighWatermark(filled.logEndOffset);
  await close();
}

// Throughput

class KafkaCleaner {
  readonly #child: ChildProcess;
  readonly #answers: AsyncIterator<string>;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#answers = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  }

  static async start(): Promise<KafkaCleaner> {
    const source = join(import.meta.dirname, 'storage/CleanerSpeed.java');
    const classPath = needed(await javaProgram(source, await kafkaTools()));
    const args = ['-Xmx1g', '-cp', classPath, 'CleanerSpeed', segmentBytes, defaultCleanerSettings.dedupeBufferBytes].map(String);
    return new KafkaCleaner(spawn(needed(findProgram('java')), args, { stdio: ['pipe', 'pipe', 'ignore'] }));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** ms */
  async clean(directory: string): Promise<number> {
    this.#child.stdin!.write(`${join(directory, 'compacted-0')}\n`);
    for (;;) {
      const { value, done } = await this.#answers.next();
      if (done === true) throw new Error("Kafka's cleaner has ended");
      if (/^\d+$/.test(value)) return Number(value);
    }
  }

  stop(): void {
    this.#child.stdin!.end();
  }
}

/** ms */
async function cleanWithOdradek(directory: string): Promise<number> {
  const settings = { ...defaultCleanerSettings, backoffMs: 2 };
  const config = { segmentBytes, cleanupPolicy: ['compact'] as const, fileDeleteDelayMs: 0, minCleanableDirtyRatio: 0 };
  const { log, close } = await openLogs(directory, { config, cleaner: { settings, runIn: 'thread' } });
  const compacted = log('compacted');
  const { baseOffset } = compacted.segments.active;
  const start = performance.now();
  compacted.updateHighWatermark(compacted.logEndOffset);
  await until('the log is clean', () => compacted.cleanedOffset === baseOffset, { everyMs: 2, timeoutMs: 300_000 });
  const ms = performance.now() - start;
  await close();
  return ms;
}

function recordBytes(directory: string): number {
  const folder = join(directory, 'compacted-0');
  const names = readdirSync(folder).filter((name) => name.endsWith('.log'));
  return names.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}

interface Contest {
  readonly name: string;
  /** What its process has used so far, in seconds. */
  cpuSeconds(): number;
  /** ms */
  clean(directory: string): Promise<number>;
  readonly megabytesPerSecond: number[];
  readonly cpuPerGigabyte: number[];
  leftMegabytes: number;
}

async function benchThroughput(directory: string): Promise<void> {
  const kafka = await KafkaCleaner.start();
  head('records', 'log before, MB', 'after, MB', 'MB/s', 'by Kafka', 'CPU s/GB', 'by Kafka');
  for (const compression of ['none', 'lz4', 'zstd'] as const) {
    const written = join(directory, compression);
    await fillLog(written, compression);
    const contests = [
      contest(
        'Kafka',
        () => cpuSeconds(kafka.pid),
        (copy) => kafka.clean(copy),
      ),
      contest('Odradek', ownCpuSeconds, cleanWithOdradek),
    ];
    // The first two warm up.
    for (let round = -2; round < rounds; round++) {
      for (const each of contests) await cleanCopy(each, written, join(directory, 'copy'), round >= 0);
    }
    const [theirs] = contests;
    for (const { name, leftMegabytes, megabytesPerSecond, cpuPerGigabyte } of contests) {
      const [rate, cpu] = [median(megabytesPerSecond), median(cpuPerGigabyte)];
      const before = (recordBytes(written) / 1e6).toFixed(0);
      const ratios = [rate / median(theirs!.megabytesPerSecond), cpu / median(theirs!.cpuPerGigabyte)].map((ratio) =>
        ratio.toFixed(2),
      );
      row(`${compression}, ${name}`, before, leftMegabytes.toFixed(1), rate.toFixed(0), ratios[0]!, cpu.toFixed(1), ratios[1]!);
    }
    rmSync(written, { recursive: true });
  }
  kafka.stop();
}

function contest(name: string, cpu: () => number, clean: (directory: string) => Promise<number>): Contest {
  return { name, cpuSeconds: cpu, clean, megabytesPerSecond: [], cpuPerGigabyte: [], leftMegabytes: 0 };
}

function ownCpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

async function cleanCopy(each: Contest, written: string, copy: string, counts: boolean): Promise<void> {
  cpSync(written, copy, { recursive: true });
  const cpu = each.cpuSeconds();
  const ms = await each.clean(copy);
  if (counts) {
    each.cpuPerGigabyte.push((each.cpuSeconds() - cpu) / (logBytes / 1e9));
    each.megabytesPerSecond.push(logBytes / 1e3 / ms);
  }
  each.leftMegabytes = recordBytes(copy) / 1e6;
  rmSync(copy, { recursive: true });
}

// Latency

const produceEveryMs = 2;

async function benchLatency(): Promise<void> {
  const windows = Math.max(3, rounds);
  const properties = { 'log.cleaner.backoff.ms': 50, 'log.retention.check.interval.ms': 3_600_000 };
  const broker = await startOdradekProcess({ properties });
  try {
    await using admin = await RawClient.connect({ port: broker.port });
    await using producer = await RawClient.connect({ port: broker.port });
    const topics = Array.from({ length: windows + 2 }, (_, index) => `compacted-${index}`);
    await createTopics(admin, ['produced', ...topics]);
    for (const topic of topics) await fillTopic(admin, topic);
    const rows: { readonly quiet: readonly number[]; readonly busy: readonly number[] }[] = [];
    for (const [index, topic] of topics.entries()) {
      const cleaned = (): boolean => broker.output.split('Compacted a log').length > index + 1;
      const start = performance.now();
      await compact(admin, topic);
      const busy = await produceUntil(producer, cleaned);
      const lengthMs = performance.now() - start;
      await delay(200);
      const quietEnd = performance.now() + lengthMs;
      const quiet = await produceUntil(producer, () => performance.now() > quietEnd);
      // The first two warm up: the thread of the cleaner starts, and V8 compiles.
      if (index > 1) rows.push({ quiet, busy });
    }
    head('window', 'produces', 'p50 quiet, ms', 'p50 cleaning, ms', 'p99 quiet, ms', 'p99 cleaning, ms', 'p99 ratio');
    for (const [index, pair] of rows.entries()) {
      row(index + 1, `${pair.quiet.length} / ${pair.busy.length}`, ...figuresOf(pair).map((figure) => figure.toFixed(2)));
    }
    const medians = [0, 1, 2, 3, 4].map((column) => median(rows.map((pair) => figuresOf(pair)[column] ?? Number.NaN)));
    row('median', '', ...medians.map((figure) => figure.toFixed(2)));
  } finally {
    await broker.close();
  }
}

/** In the order of the table. */
function figuresOf({ quiet, busy }: { readonly quiet: readonly number[]; readonly busy: readonly number[] }): number[] {
  const p = (latencies: readonly number[], part: number): number => {
    const sorted = [...latencies].sort((one, other) => one - other);
    return sorted[Math.floor(sorted.length * part)] ?? Number.NaN;
  };
  return [p(quiet, 0.5), p(busy, 0.5), p(quiet, 0.99), p(busy, 0.99), p(busy, 0.99) / p(quiet, 0.99)];
}

/** One record of 1 KiB at a time, at a steady rate; one that is late begins at once and counts from when it was due. */
async function produceUntil(client: RawClient, isOver: () => boolean): Promise<number[]> {
  const latencies: number[] = [];
  const batch = buildRecordBatch({}, [{ timestamp: Date.now(), value: Buffer.alloc(1024, 97) }]);
  for (let due = performance.now(); !isOver(); due += produceEveryMs) {
    const waitMs = due - performance.now();
    if (waitMs > 0) await delay(waitMs);
    const from = waitMs > 0 ? performance.now() : due;
    await produce(client, 'produced', Buffer.from(batch));
    latencies.push(performance.now() - from);
  }
  return latencies;
}

async function produce(client: RawClient, name: string, records: Buffer): Promise<void> {
  const answer = await client.send(ProduceRequest, ProduceResponse, 9, {
    acks: 1,
    timeoutMs: 30_000,
    topicData: [{ name, partitionData: [{ index: 0, records }] }],
  });
  const errorCode = answer.responses[0]?.partitionResponses[0]?.errorCode;
  if (errorCode !== 0) throw new Error(`Produce to ${name} failed with ${errorCode}`);
}

async function createTopics(client: RawClient, names: readonly string[]): Promise<void> {
  const configs = [
    { name: 'segment.bytes', value: String(segmentBytes) },
    { name: 'min.cleanable.dirty.ratio', value: '0.01' },
  ];
  const answer = await client.send(CreateTopicsRequest, CreateTopicsResponse, 5, {
    topics: names.map((name) => ({ name, numPartitions: 1, replicationFactor: 1, assignments: [], configs })),
    timeoutMs: 30_000,
  });
  const refused = answer.topics.find(({ errorCode }) => errorCode !== 0);
  if (refused !== undefined) throw new Error(`${refused.name} could not be created: ${refused.errorMessage}`);
}

async function fillTopic(client: RawClient, topic: string): Promise<void> {
  const keyCount = Math.floor(logBytes / 200 / 4);
  for (let bytes = 0; bytes < logBytes; ) {
    const batch = keyedBatch('none', keyCount);
    bytes += batch.length;
    await produce(client, topic, batch);
  }
}

async function compact(client: RawClient, topic: string): Promise<void> {
  const configs = [{ name: 'cleanup.policy', configOperation: 0, value: 'compact' }];
  await client.send(IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse, 1, {
    resources: [{ resourceType: 2, resourceName: topic, configs }],
    validateOnly: false,
  });
}

const directory = mkdtempSync(join(tmpdir(), 'odradek-cleaner-'));
try {
  if (isWanted('throughput')) await benchThroughput(directory);
  if (isWanted('latency')) await benchLatency();
} finally {
  rmSync(directory, { recursive: true });
}
