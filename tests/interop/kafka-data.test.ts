// The data directory changes hands: Apache Kafka 3.9 starts on a copy of ours, with a copy of our coordination tree in ZooKeeper, and
// its consumers read it all; then Odradek starts on Kafka's, without that tree, and reads it all again.

import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Coordination, EmbeddedStore, ZooKeeperStore } from '@odradek/coordination';
import { buildRecordBatch, CreateTopicsRequest, CreateTopicsResponse, compressionTypes } from '@odradek/protocol';
import { createSystemWorld, NodeFileSystem, SeededRandom } from '@odradek/runtime';
import { verifyLogDirectories } from '@odradek/storage';
import {
  apacheKafka39,
  InProcessBroker,
  type KafkaBroker,
  needed,
  skipWithout,
  startKafkaBroker,
  startZooKeeper,
  until,
  type ZooKeeperEnsemble,
} from '@odradek/testing';
import { modernClient, runJava } from './java.ts';
import { LogReader, type ReadPartition, shownValue } from './log-reader.ts';
import { readRecordLines, writeRecordLines } from './record-lines.ts';
import { assertSameRecords, sampleRecords } from './round-trip.ts';
import { fillLogs, withLogs, writtenTopics } from './written-logs.ts';

const kafka = await apacheKafka39();
const client = await modernClient();

const properties = { 'broker.id': 1, 'offsets.topic.num.partitions': 3, 'log.cleaner.backoff.ms': 20 };
const group = 'readers';
/** Plain requests read them all; a start of Java takes a while. */
const readByJava = ['codecs', 'transactions', 'compacted'];

describe('a data directory changes hands', { skip: skipWithout(kafka, client), timeout: 240_000 }, () => {
  const root = mkdtempSync(join(tmpdir(), 'odradek-hands-'));
  const [ours, kafkas] = [join(root, 'odradek'), join(root, 'kafka')];
  /** What our broker served of each topic. */
  const served = new Map<string, ReadPartition>();
  let zookeeper: ZooKeeperEnsemble;
  let broker: KafkaBroker;

  before(async () => {
    zookeeper = await startZooKeeper(needed(kafka));
    await writeOurs();
    cpSync(ours, kafkas, { recursive: true });
    await copyTree(kafkas, zookeeper.connect);
    broker = await startKafkaBroker(needed(kafka), {
      dataDirectory: kafkas,
      properties: {
        'broker.id': 1,
        'zookeeper.connect': zookeeper.connect,
        'offsets.topic.replication.factor': 1,
        'log.cleaner.enable': false,
      },
    });
  });
  after(async () => {
    await broker?.close();
    await zookeeper?.close();
    rmSync(root, { recursive: true });
  });

  /** Segments, epochs, transactions, all codecs; a topic that has been compacted; offsets of a group. */
  async function writeOurs(): Promise<void> {
    await withLogs(ours, fillLogs);
    // They were all given one id. Without any each gets one of its own when it is taken over.
    for (const topic of writtenTopics) rmSync(join(ours, `${topic}-0`, 'partition.metadata'));
    await using odradek = await InProcessBroker.start({ dataDirectory: ours, properties });
    const admin = await odradek.client();
    const configs = [
      { name: 'cleanup.policy', value: 'compact' },
      { name: 'segment.bytes', value: '1048576' },
      { name: 'min.cleanable.dirty.ratio', value: '0' },
      { name: 'file.delete.delay.ms', value: '0' },
    ];
    const topics = [{ name: 'compacted', numPartitions: 1, replicationFactor: 1, configs }];
    const created = await admin.send(CreateTopicsRequest, CreateTopicsResponse, 5, { topics, timeoutMs: 10_000 });
    assert.equal(created.topics[0]?.errorCode, 0, created.topics[0]?.errorMessage ?? '');
    const reader = await LogReader.connect(odradek.port);
    await reader.produce('compacted', compactedBatches());
    const cleaned = join(ours, 'cleaner-offset-checkpoint');
    // All but the active segment, so that no later cleaning changes what was read.
    const activeBase = (): number =>
      Math.max(
        ...readdirSync(join(ours, 'compacted-0')).flatMap((name) => (name.endsWith('.log') ? [Number(name.slice(0, -4))] : [])),
      );
    await until('the topic is compacted', () => {
      const offset = existsSync(cleaned) ? /^compacted 0 (\d+)$/m.exec(readFileSync(cleaned, 'utf8'))?.[1] : undefined;
      return Number(offset) > 0 && Number(offset) === activeBase();
    });
    await reader.commit(group, 'codecs', 123);
    for (const topic of [...writtenTopics, 'compacted']) served.set(topic, await reader.read(topic));
    await reader.close();
  }

  test('ours has nothing against it', () => {
    const { findings, logs } = verifyLogDirectories({ fileSystem: new NodeFileSystem(), directories: [ours] });
    assert.deepEqual(findings, []);
    assert.equal(logs, writtenTopics.length + 1 + 3);
    const { records, endOffset } = served.get('compacted')!;
    assert.ok(records.length > 0 && records.length < endOffset / 2, `${records.length} of ${endOffset} records are left`);
    const transactions = served.get('transactions')!;
    assert.ok(transactions.committed.length > 0 && transactions.committed.length < transactions.records.length);
    assert.ok(served.get('deleted-records')!.earliestOffset > 100);
  });

  for (const topic of [...writtenTopics, 'compacted']) {
    test(`Kafka serves ${topic} as we did`, async () => {
      const reader = await LogReader.connect(broker.port);
      const [actual, expected] = [await reader.read(topic), served.get(topic)!];
      await reader.close();
      assertSamePartition(actual, expected);
      if (!readByJava.includes(topic)) return;
      const { stdout } = await runJava(needed(client), 'ModernClient', [
        'consume',
        broker.bootstrap,
        topic,
        String(expected.records.length),
      ]);
      const values = readRecordLines(stdout).map(({ key, value }) => [key?.toString('latin1') ?? null, shownValue(value)]);
      assert.deepEqual(
        values,
        expected.records.map(({ key, value }) => [key, value]),
      );
    });
  }

  test('Kafka knows where our group was', async () => {
    const reader = await LogReader.connect(broker.port);
    assert.equal(await reader.committed(group, 'codecs'), 123);
    await reader.close();
  });

  test("we serve Kafka's directory as Kafka did, and its group goes on", async () => {
    const sent = sampleRecords();
    await runJava(needed(client), 'ModernClient', ['produce', broker.bootstrap, 'from-kafka', 'zstd'], {
      stdin: writeRecordLines(sent),
    });
    const fromKafka = await LogReader.connect(broker.port);
    await fromKafka.commit(group, 'from-kafka', 456);
    const expected = new Map<string, ReadPartition>();
    for (const topic of [...writtenTopics, 'compacted', 'from-kafka']) expected.set(topic, await fromKafka.read(topic));
    await fromKafka.close();
    await broker.stop();
    rmSync(join(kafkas, 'coordination.journal'));
    assert.deepEqual(verifyLogDirectories({ fileSystem: new NodeFileSystem(), directories: [kafkas] }).findings, []);

    await using odradek = await InProcessBroker.start({ dataDirectory: kafkas, properties });
    const reader = await LogReader.connect(odradek.port);
    for (const [topic, partition] of expected) assertSamePartition(await reader.read(topic), partition);
    assert.equal(await reader.committed(group, 'codecs'), 123);
    assert.equal(await reader.committed(group, 'from-kafka'), 456);
    await reader.close();
    const bootstrap = `127.0.0.1:${odradek.port}`;
    const { stdout } = await runJava(needed(client), 'ModernClient', ['consume', bootstrap, 'from-kafka', String(sent.length)]);
    assertSameRecords(readRecordLines(stdout), sent);
    assert.deepEqual(
      readdirSync(kafkas).filter((name) => name.endsWith('-stray')),
      [],
    );
  });
});

/** Few keys, which come again and again, in all codecs; now and then they are deleted. More than two segments of the least size. */
function compactedBatches(): Buffer[] {
  const random = new SeededRandom(20241);
  return Array.from({ length: 120 }, (_, batch) => {
    const compression = compressionTypes[batch % compressionTypes.length];
    const records = Array.from({ length: 4 }, (__, index) => ({
      timestamp: Date.now() - 100_000 + batch * 10 + index,
      key: Buffer.from(`key ${(batch * 3 + index * 7) % 17}`),
      value: batch % 10 === 9 ? null : Buffer.from(random.bytes(6000)),
      headers: [{ key: 'batch', value: Buffer.from(String(batch)) }],
    }));
    return buildRecordBatch({ compression }, records);
  });
}

/** As whoever moves from a single broker to a cluster must do it: all that is not bound to a session. */
async function copyTree(directory: string, connect: string): Promise<void> {
  const world = createSystemWorld({ log: { write: () => undefined } });
  const store = await EmbeddedStore.open({ ...world, directory });
  const from = await store.openSession();
  const to = await (await ZooKeeperStore.connect({ ...world, connect })).openSession();
  try {
    for (const path of ['/', ...(await pathsBelow(from, '/'))]) {
      const { data, stat } = await from.get(path);
      if (path === '/' || stat.ephemeralOwner !== 0n) continue;
      await to.create(path, data);
    }
  } finally {
    await from.close();
    await to.close();
    await store.close();
    world.timer.close();
  }
}

/** Parents before their children. */
async function pathsBelow(tree: Coordination, path: string): Promise<string[]> {
  const { names } = await tree.children(path);
  const paths: string[] = [];
  for (const name of names) {
    const child = path === '/' ? `/${name}` : `${path}/${name}`;
    paths.push(child, ...(await pathsBelow(tree, child)));
  }
  return paths;
}

/** Shows the first record that differs. */
function assertSamePartition(actual: ReadPartition, expected: ReadPartition): void {
  for (const [index, record] of expected.records.entries()) assert.deepEqual(actual.records[index], record, `record ${index}`);
  assert.equal(actual.records.length, expected.records.length);
  assert.deepEqual(actual.committed, expected.committed);
  assert.deepEqual([actual.earliestOffset, actual.endOffset], [expected.earliestOffset, expected.endOffset]);
}
