// Opens log directories of real Kafka brokers: the folder `log` of the golden facts.
//
// NAME.tar.gz is a directory, NAME.json.gz what kafka-dump-log and the broker's own files say of it. A clean one must open without a
// scan, read as its dump says, and be left behind as it was. For one that was killed there are facts of what Kafka made of it when it
// was started again (…-killed → …-clean): we must recover the same, up to where Kafka went on writing.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type Clock, createSystemWorld, parseProperties, type World } from '@odradek/runtime';
import { defaultLogConfig, LogManager, type PartitionLog, topicPartitionKey } from '@odradek/storage';
import { type Archive, readArchive, stoppedAtMs, unpack } from './log-archive.ts';
import { byProducer, checkBatches, checkIndexes, checkProducers, type DumpedFile, snapshotEntries } from './log-contents.ts';
import type { Facts } from './records.ts';
import type { GoldenReport } from './report.ts';

export interface LogFacts {
  readonly textFiles: Readonly<Record<string, string>>;
  readonly dump: readonly DumpedFile[];
}

/** Logs of Kafka's own controller are none of a broker's partitions. */
const controllerFolder = '__cluster_metadata-0/';

export async function checkLogs(directory: string, report: GoldenReport): Promise<void> {
  const folder = join(directory, 'log');
  for (const file of existsSync(folder) ? readdirSync(folder).sort() : []) {
    const name = /^(.*)\.tar\.gz$/.exec(file)?.[1];
    if (name === undefined) continue;
    const clean = name.replace(/-killed$/, '-clean');
    if (!existsSync(join(folder, `${clean}.json.gz`))) {
      report.skip();
      continue;
    }
    const facts: LogFacts = JSON.parse(gunzipSync(readFileSync(join(folder, `${clean}.json.gz`))).toString('utf8'));
    const archive = readArchive(join(folder, file));
    const recovered = clean === name ? undefined : readArchive(join(folder, `${clean}.tar.gz`));
    await inDirectory(archive, async (path) => {
      if (recovered === undefined) await checkClean(`log/${name}`, path, archive, facts, report);
      else await checkKilled(`log/${name}`, path, archive, recovered, facts, report);
    });
  }
}

async function inDirectory(archive: Archive, use: (path: string) => Promise<void>): Promise<void> {
  const path = mkdtempSync(join(tmpdir(), 'odradek-golden-'));
  try {
    unpack(archive, path);
    await use(path);
  } finally {
    rmSync(path, { recursive: true });
  }
}

async function checkClean(name: string, path: string, archive: Archive, facts: LogFacts, report: GoldenReport): Promise<void> {
  const nowMs = stoppedAtMs(archive);
  await withLogs(path, nowMs, facts, async (manager) => {
    report.check(`${name} meta.properties`, () => checkOwner(manager, facts));
    report.check(`${name} opens without a scan`, () => assert.deepEqual(scansOf(manager), { isClean: true, scannedSegments: 0 }));
    report.check(`${name} logs`, () => assert.deepEqual(keysOf(manager.logs()), keysIn(facts)));
    for (const log of manager.logs()) {
      const key = topicPartitionKey(log.topicPartition);
      const entriesOf = entriesIn(facts, key);
      await report.checkLater(`${name} ${key} batches`, () => checkBatches(log, entriesOf));
      report.check(`${name} ${key} indexes`, () => checkIndexes(log, entriesOf));
      report.check(`${name} ${key} offsets`, () => checkOffsets(log, facts));
      report.check(`${name} ${key} producers`, () => checkProducers(log, lastSnapshot(facts, key), nowMs));
    }
  });
  for (const file of facts.dump.filter(({ file }) => file.endsWith('.snapshot') && !file.startsWith(controllerFolder))) {
    const { bytes } = archive.get(file.file)!;
    report.check(`${name} ${file.file}`, () => assert.deepEqual(snapshotEntries(bytes, file.file), file.entries));
  }
  report.check(`${name} is left as it was`, () => assertSameFiles(path, archive, () => true));
}

async function checkKilled(
  name: string,
  path: string,
  archive: Archive,
  recovered: Archive,
  facts: LogFacts,
  report: GoldenReport,
): Promise<void> {
  const unchanged = new Set<string>();
  await withLogs(path, stoppedAtMs(archive), facts, async (manager) => {
    report.check(`${name} is not taken for clean`, () => assert.equal(manager.startReport.isClean, false));
    report.check(`${name} logs`, () => assert.deepEqual(keysOf(manager.logs()), keysIn(facts)));
    for (const log of manager.logs()) {
      const key = topicPartitionKey(log.topicPartition);
      report.check(`${name} ${key} records`, () => assertPrefix(log, archive, recovered));
      // Where Kafka wrote more before it stopped in order, its files say more than we can know.
      const isWhole = log.logEndOffset === checkpointed(facts, 'recovery-point-offset-checkpoint').get(key);
      if (!isWhole) {
        report.skip();
        continue;
      }
      unchanged.add(key);
      await report.checkLater(`${name} ${key} batches`, () => checkBatches(log, entriesIn(facts, key)));
      report.check(`${name} ${key} indexes`, () => assertRecoveredIndexes(log, facts));
      report.check(`${name} ${key} log start`, () => assert.equal(log.logStartOffset, startOf(log, facts)));
    }
  });
  report.check(`${name} is left as Kafka left it`, () =>
    assertSameFiles(path, recovered, (file) => unchanged.has(file.slice(0, file.indexOf('/')))),
  );
}

/** Opens the directory as a broker of that time would, and stops in order. */
async function withLogs(path: string, nowMs: number, facts: LogFacts, use: (manager: LogManager) => Promise<void>): Promise<void> {
  const world = createSystemWorld({ log: { write: () => undefined } });
  const clock: Clock = { wallTimeMs: () => nowMs, monotonicMs: () => world.clock.monotonicMs() };
  const manager = LogManager.open({
    world: { ...world, clock } satisfies World,
    directories: [path],
    topicLogConfig: (topic) => ({ ...defaultLogConfig, indexIntervalBytes: indexIntervalOf(topic, facts) }),
  });
  try {
    await manager.load();
    await use(manager);
  } finally {
    await manager.close();
    world.timer.close();
  }
}

function scansOf({ startReport: { isClean, scannedSegments } }: LogManager): unknown {
  return { isClean, scannedSegments };
}

function keysOf(logs: Iterable<PartitionLog>): string[] {
  return [...logs].map(({ topicPartition }) => topicPartitionKey(topicPartition)).sort();
}

function keysIn(facts: LogFacts): string[] {
  return [...checkpointed(facts, 'recovery-point-offset-checkpoint').keys()].sort();
}

function entriesIn({ dump }: LogFacts, key: string): (file: string) => readonly Facts[] {
  // A file without entries is not in the dump.
  return (file) => dump.find((dumped) => dumped.file === `${key}/${file}`)?.entries ?? [];
}

function lastSnapshot(facts: LogFacts, key: string): readonly Facts[] {
  return facts.dump.filter(({ file }) => file.startsWith(`${key}/`) && file.endsWith('.snapshot')).at(-1)?.entries ?? [];
}

function checkOwner(manager: LogManager, { textFiles }: LogFacts): void {
  const properties = parseProperties(textFiles['meta.properties']!);
  const brokerId = Number(properties.get('broker.id') ?? properties.get('node.id'));
  const clusterId = properties.get('cluster.id')!;
  manager.claim(brokerId, clusterId);
  assert.throws(() => manager.claim(brokerId + 1, clusterId), /belongs to broker/);
  assert.throws(() => manager.claim(brokerId, 'another'), /belongs to the cluster/);
}

function checkOffsets(log: PartitionLog, facts: LogFacts): void {
  const key = topicPartitionKey(log.topicPartition);
  const endOffset = checkpointed(facts, 'recovery-point-offset-checkpoint').get(key);
  assert.equal(log.logEndOffset, endOffset, 'log end offset');
  assert.equal(log.highWatermark, checkpointed(facts, 'replication-offset-checkpoint').get(key), 'high watermark');
  assert.equal(log.logStartOffset, startOf(log, facts), 'log start offset');
  assert.equal(log.topicId, /topic_id: (\S+)/.exec(facts.textFiles[`${key}/partition.metadata`] ?? '')?.[1], 'topic id');
  const epochs = epochsIn(facts.textFiles[`${key}/leader-epoch-checkpoint`], log.logEndOffset);
  assert.equal(log.latestEpoch, epochs.at(-1)?.[0], 'latest leader epoch');
  for (const [index, [epoch]] of epochs.entries()) {
    const end = { leaderEpoch: epoch, endOffset: epochs[index + 1]?.[1] ?? log.logEndOffset };
    assert.deepEqual(log.endOffsetForEpoch(epoch), end, `end of leader epoch ${epoch}`);
  }
}

function startOf(log: PartitionLog, facts: LogFacts): number {
  const checkpoint = checkpointed(facts, 'log-start-offset-checkpoint').get(topicPartitionKey(log.topicPartition)) ?? 0;
  return Math.max(checkpoint, log.segments.first.baseOffset);
}

/** Epoch and start offset. An epoch that begins where the log ends has no record yet, and is forgotten when the log is opened. */
function epochsIn(text: string | undefined, logEndOffset: number): (readonly [number, number])[] {
  const lines = (text ?? '').split('\n').slice(2, -1);
  return lines.map((line) => line.split(' ').map(Number) as [number, number]).filter(([, start]) => start < logEndOffset);
}

function checkpointed({ textFiles }: LogFacts, file: string): Map<string, number> {
  const lines = (textFiles[file] ?? '').split('\n').slice(2, -1);
  return new Map(
    lines.map((line) => line.split(' ')).map(([topic, partition, offset]) => [`${topic}-${partition}`, Number(offset)]),
  );
}

/** What is left of each segment after the recovery is what Kafka left of it, to the byte. */
function assertPrefix(log: PartitionLog, archive: Archive, recovered: Archive): void {
  const key = topicPartitionKey(log.topicPartition);
  for (const { baseOffset, writtenBytes } of log.segments.all()) {
    const file = `${key}/${String(baseOffset).padStart(20, '0')}.log`;
    const before = archive.get(file)?.bytes ?? Buffer.alloc(0);
    const after = recovered.get(file)?.bytes ?? Buffer.alloc(0);
    assert.ok(
      before.subarray(0, writtenBytes).equals(after.subarray(0, writtenBytes)),
      `${file} differs from what Kafka recovered`,
    );
    assert.ok(writtenBytes >= Math.min(before.length, after.length), `${file} was cut off at ${writtenBytes}, which Kafka did not`);
  }
}

function assertRecoveredIndexes(log: PartitionLog, facts: LogFacts): void {
  log.segments.active.seal();
  checkIndexes(log, entriesIn(facts, topicPartitionKey(log.topicPartition)));
}

/** The files of the logs are byte for byte those of the archive; snapshots say the same, in whatever order. */
function assertSameFiles(path: string, archive: Archive, isMeant: (file: string) => boolean): void {
  const isOfLogs = (file: string): boolean => /^.+-\d+\/\d{20}\./.test(file) && !file.startsWith(controllerFolder) && isMeant(file);
  const expected = [...archive.keys()].filter((file) => isOfLogs(file) && archive.get(file)!.bytes.length > 0).sort();
  const actual = readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1))
    .filter((file) => isOfLogs(file) && readFileSync(join(path, file)).length > 0)
    .sort();
  assert.deepEqual(actual, expected, 'files that are not empty');
  for (const file of expected) {
    const [before, after] = [archive.get(file)!.bytes, readFileSync(join(path, file))];
    if (file.endsWith('.snapshot')) {
      assert.deepEqual(byProducer(snapshotEntries(after, file)), byProducer(snapshotEntries(before, file)), file);
    } else assert.ok(after.equals(before), `${file} has other bytes`);
  }
}

/**
 * The `index.interval.bytes` of a topic, which no file says: one that gives just these entries. An entry comes with the first batch
 * before which more bytes than that have passed since the last.
 */
function indexIntervalOf(topic: string, facts: LogFacts): number {
  let [atLeast, below] = [0, Number.MAX_SAFE_INTEGER];
  for (const { file, entries } of facts.dump) {
    if (!file.startsWith(`${topic}-`) || !/\d{20}\.log$/.test(file)) continue;
    const index = facts.dump.find((dumped) => dumped.file === file.replace(/log$/, 'index'))?.entries ?? [];
    const indexed = new Set(index.map(({ position }) => position));
    let last = 0;
    for (const { position } of entries) {
      if (indexed.has(position)) {
        below = Math.min(below, position - last);
        last = position;
      } else atLeast = Math.max(atLeast, position - last);
    }
  }
  const { indexIntervalBytes: usual } = defaultLogConfig;
  return usual >= atLeast && usual < below ? usual : atLeast;
}
