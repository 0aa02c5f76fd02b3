// Apache Kafka looks at what Odradek wrote: kafka-dump-log verifies every file, and Kafka's own log opens the folders.

import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { iterateBatches } from '@odradek/protocol';
import type { PartitionLog } from '@odradek/storage';
import { javaProgram, needed, skipWithout } from '@odradek/testing';
import { javaSource, kafkaTools, runJava } from './java.ts';
import { fillLogs, topicId, withLogs, writtenTopics } from './written-logs.ts';

const tools = await kafkaTools();
const loader = await javaProgram(javaSource('modern/LogLoader.java'), tools);

const complaint = /^.*(mismatch|out of order|missing|corrupt|non-consecutive|exception|isvalid: false).*$/gim;

/** What our own log says, in the words of LogLoader.java. */
interface OurLog {
  readonly lines: readonly string[];
  readonly recoveryPoint: number;
  readonly logStartOffset: number;
}

describe('Apache Kafka on logs of Odradek', { skip: skipWithout(tools, loader) }, () => {
  let directory: string;
  /** As a killed process leaves it. */
  let killed: string;
  const logs = new Map<string, OurLog>();

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'odradek-dump-'));
    killed = mkdtempSync(join(tmpdir(), 'odradek-dump-killed-'));
    await withLogs(directory, async (logOf) => {
      await fillLogs(logOf);
      for (const topic of writtenTopics) logs.set(topic, await ourLog(logOf(topic)));
      cpSync(directory, killed, { recursive: true });
    });
  });
  after(() => {
    rmSync(directory, { recursive: true });
    rmSync(killed, { recursive: true });
  });

  function filesOf(topic: string, root: string = directory): string[] {
    const folder = join(root, `${topic}-0`);
    return readdirSync(folder)
      .filter((name) => /^\d{20}\.(log|index|timeindex|txnindex|snapshot)$/.test(name))
      .map((name) => join(folder, name));
  }

  async function dump(files: readonly string[], options: readonly string[]): Promise<string> {
    const args = ['--files', files.join(','), ...options];
    const { stdout, stderr } = await runJava(needed(tools), 'org.apache.kafka.tools.DumpLogSegments', args, { timeoutMs: 90_000 });
    // The tool says of every segment but the first that its first offset does not follow -1, on Kafka's own folders too.
    const said = `${stdout}${stderr}`.replaceAll(/^Non-consecutive offsets in .*\n {2}-1 is followed by \d+$/gm, '');
    assert.deepEqual(said.match(complaint)?.slice(0, 10) ?? [], []);
    return stdout.toString();
  }

  for (const topic of writtenTopics) {
    test(`kafka-dump-log has nothing to say against ${topic}`, async () => {
      const files = filesOf(topic);
      const output = await dump(files, ['--deep-iteration', '--print-data-log']);
      const batches = output.match(/^baseOffset: .* isvalid: true$/gm) ?? [];
      const records = output.match(/^\| offset: /gm) ?? [];
      assert.ok(batches.length > 10 && records.length >= batches.length, `${batches.length} batches, ${records.length} records`);
      assert.equal(output.match(/^Dumping /gm)?.length, files.length);
    });
  }

  test('the indexes pass its sanity check', async () => {
    const indexes = writtenTopics.flatMap((topic) => filesOf(topic)).filter((file) => /index$/.test(file));
    const output = await dump(indexes, ['--index-sanity-check']);
    // It says nothing of an empty one.
    const checked = indexes.filter((file) => !file.endsWith('.txnindex') && statSync(file).size > 0);
    const passed = [...output.matchAll(/^(.*) passed sanity check\.$/gm)].map(([, file]) => file);
    assert.deepEqual(passed.sort(), checked.sort());
  });

  for (const topic of writtenTopics) {
    test(`Kafka opens ${topic} after a clean stop, finds what we know, and leaves it as it is`, async () => {
      const before = contentsOf(directory, topic);
      assert.deepEqual(await load(directory, topic, true), logs.get(topic)!.lines);
      const after = contentsOf(directory, topic);
      assert.deepEqual([...after.keys()], [...before.keys()]);
      assert.deepEqual(
        [...after.keys()].filter((file) => after.get(file) !== before.get(file)),
        [],
      );
    });

    test(`Kafka recovers ${topic} as a killed process left it`, async () => {
      assert.deepEqual(await load(killed, topic, false), logs.get(topic)!.lines);
    });
  }

  test('what Kafka has closed opens again', async () => {
    await withLogs(directory, async (logOf) => {
      for (const topic of writtenTopics) assert.deepEqual((await ourLog(logOf(topic))).lines, logs.get(topic)!.lines);
    });
  });

  async function load(root: string, topic: string, isClean: boolean): Promise<string[]> {
    const { recoveryPoint, logStartOffset } = logs.get(topic)!;
    const args = [join(root, `${topic}-0`), String(isClean), String(recoveryPoint), String(logStartOffset)];
    const { stdout } = await runJava(needed(loader), 'LogLoader', args, { timeoutMs: 90_000 });
    return stdout.toString().trimEnd().split('\n');
  }

  function contentsOf(root: string, topic: string): Map<string, string> {
    // Kafka fills the indexes of the active segment with zeros, up to segment.index.bytes, once it has looked at them.
    return new Map(filesOf(topic, root).map((file) => [file, readFileSync(file, 'hex').replace(/(00)*$/, '')]));
  }
});

async function ourLog(log: PartitionLog): Promise<OurLog> {
  log.updateHighWatermark(log.logEndOffset);
  const lines = [
    `logStartOffset ${log.logStartOffset}`,
    `logEndOffset ${log.logEndOffset}`,
    `lastStableOffset ${log.lastStableOffset}`,
    `latestEpoch ${log.latestEpoch}`,
    `topicId ${topicId}`,
  ];
  log.segments.active.seal();
  for (const { baseOffset, sizeBytes, offsetIndex, timeIndex, maxTimestamp } of log.segments.all()) {
    lines.push(`segment ${baseOffset} ${sizeBytes} ${offsetIndex.entryCount} ${timeIndex.entryCount} ${maxTimestamp.timestamp}`);
  }
  for (const producer of log.activeProducers().sort((a, b) => a.producerId - b.producerId)) {
    const { producerId, producerEpoch, lastSequence, coordinatorEpoch, currentTxnStartOffset } = producer;
    lines.push(`producer ${producerId} ${producerEpoch} ${lastSequence} ${coordinatorEpoch} ${currentTxnStartOffset}`);
  }
  lines.push(...(await readCommitted(log)));
  return { lines, recoveryPoint: log.recoveryPoint, logStartOffset: log.logStartOffset };
}

async function readCommitted(log: PartitionLog): Promise<string[]> {
  // Each once: how far beyond what was read Kafka looks depends on its index entries.
  const aborted = new Set<string>();
  let records = 0;
  for (let offset = log.logStartOffset; offset < log.lastStableOffset; ) {
    const read = await log.read(offset, { maxBytes: 1, isolation: 'lastStable', minOneBatch: true });
    for (const { producerId, firstOffset } of read.abortedTransactions ?? []) aborted.add(`aborted ${producerId} ${firstOffset}`);
    for (const batch of iterateBatches(Buffer.concat(read.records))) {
      for (const record of batch.records()) records += record.offset >= log.logStartOffset ? 1 : 0;
      offset = batch.nextOffset;
    }
  }
  return [...[...aborted].sort(), `records ${records}`];
}
