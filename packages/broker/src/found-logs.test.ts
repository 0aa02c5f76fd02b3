// A broker that starts on the log directory of another: of Apache Kafka, whose topics it takes over, of a broker of ours that has lost
// its journal, and on logs that its tree knows nothing of.

import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import {
  buildRecordBatch,
  CreateTopicsRequest,
  CreateTopicsResponse,
  DescribeConfigsRequest,
  DescribeConfigsResponse,
  FetchRequest,
  FetchResponse,
  iterateBatches,
  type LogRecord,
  MetadataRequest,
  MetadataResponse,
  OffsetFetchRequest,
  OffsetFetchResponse,
  ProduceRequest,
  ProduceResponse,
  RecordBatch,
} from '@odradek/protocol';
import { goldenDirectory, InProcessBroker, type RawClient, readArchive, unpack, until } from '@odradek/testing';

const golden = goldenDirectory();
const made: string[] = [];
after(() => {
  for (const directory of made) rmSync(directory, { recursive: true });
});

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'odradek-found-'));
  made.push(directory);
  return directory;
}

interface DumpedRecord {
  readonly offset: number;
  readonly key?: string;
  readonly payload?: string;
}

interface Facts {
  readonly textFiles: Readonly<Record<string, string>>;
  readonly dump: readonly {
    readonly file: string;
    readonly entries: readonly { readonly isControl?: boolean; readonly records: readonly DumpedRecord[] }[];
  }[];
}

function factsOf(name: string): Facts {
  return JSON.parse(gunzipSync(readFileSync(join(golden!, `log/${name}.json.gz`))).toString());
}

/** As the dump has them, without control records. */
function dumpedRecords({ dump }: Facts, topic: string): string[] {
  const files = dump.filter(({ file }) => file.startsWith(`${topic}-0/`) && file.endsWith('.log'));
  return files.flatMap(({ entries }) =>
    entries.flatMap(({ isControl, records }) =>
      isControl === true ? [] : records.map(({ offset, key, payload }) => JSON.stringify([offset, key ?? null, payload ?? null])),
    ),
  );
}

interface ReadLog {
  readonly records: string[];
  /** Of aborted transactions left out, as read_committed consumers do. */
  readonly committed: number;
}

async function readAll(client: RawClient, topic: string, isolationLevel = 0): Promise<ReadLog> {
  const records: string[] = [];
  let committed = 0;
  const aborted = new Map<number, number[]>();
  for (let offset = 0; ; ) {
    const partitions = [{ partition: 0, fetchOffset: offset, partitionMaxBytes: 2000 }];
    const request = { maxWaitMs: 0, minBytes: 0, isolationLevel, sessionEpoch: -1, topics: [{ topic, partitions }] };
    const answer = (await client.send(FetchRequest, FetchResponse, 11, request)).responses[0]!.partitions[0]!;
    assert.equal(answer.errorCode, 0);
    const batches = [...iterateBatches(answer.records ?? Buffer.alloc(0))].filter((batch) => batch.nextOffset > offset);
    if (batches.length === 0) return { records, committed };
    for (const { producerId, firstOffset } of answer.abortedTransactions ?? []) {
      const starts = aborted.get(producerId) ?? [];
      if (!starts.includes(firstOffset))
        aborted.set(
          producerId,
          [...starts, firstOffset].sort((a, b) => a - b),
        );
    }
    for (const batch of batches) {
      offset = batch.nextOffset;
      const first = aborted.get(batch.producerId)?.[0];
      const isAborted = first !== undefined && first <= batch.lastOffset;
      if (batch.isControl) {
        if (isAborted) aborted.get(batch.producerId)?.shift();
        continue;
      }
      const read = [...batch.records()];
      records.push(...read.map(shown));
      if (!(isAborted && batch instanceof RecordBatch && batch.isTransactional)) committed += read.length;
    }
  }
}

function shown({ offset, key, value }: LogRecord): string {
  return JSON.stringify([offset, key?.toString() ?? null, value?.toString() ?? null]);
}

async function topicsOf(client: RawClient): Promise<Map<string, { topicId: string; leaderEpochs: number[] }>> {
  const { topics } = await client.send(MetadataRequest, MetadataResponse, 12, { topics: null });
  return new Map(
    topics.map(({ name, topicId, partitions }) => [
      name ?? '',
      { topicId, leaderEpochs: partitions.map(({ leaderEpoch }) => leaderEpoch) },
    ]),
  );
}

async function configOf(client: RawClient, topic: string, name: string): Promise<string | null | undefined> {
  const resources = [{ resourceType: 2, resourceName: topic, configurationKeys: [name] }];
  const { results } = await client.send(DescribeConfigsRequest, DescribeConfigsResponse, 4, { resources });
  return results[0]?.configs[0]?.value;
}

function committedOffset(client: RawClient, groupId: string, topic: string): Promise<number> {
  return until(`the offsets of ${groupId} are loaded`, async () => {
    const request = { groupId, topics: [{ name: topic, partitionIndexes: [0] }] };
    const { errorCode, topics } = await client.send(OffsetFetchRequest, OffsetFetchResponse, 7, request);
    // Zero would look like not yet.
    return errorCode === 0 ? (topics[0]?.partitions[0]?.committedOffset ?? -1) : undefined;
  });
}

async function produce(client: RawClient, name: string, value: string): Promise<{ errorCode: number; baseOffset: number }> {
  const records = buildRecordBatch({}, [{ timestamp: Date.now(), key: Buffer.from('key'), value: Buffer.from(value) }]);
  const topicData = [{ name, partitionData: [{ index: 0, records }] }];
  const { responses } = await client.send(ProduceRequest, ProduceResponse, 9, { acks: -1, timeoutMs: 10_000, topicData });
  return responses[0]!.partitionResponses[0]!;
}

async function createTopic(client: RawClient, name: string): Promise<void> {
  const topics = [{ name, numPartitions: 1, replicationFactor: 1 }];
  const { topics: created } = await client.send(CreateTopicsRequest, CreateTopicsResponse, 7, { topics, timeoutMs: 10_000 });
  assert.equal(created[0]?.errorCode, 0);
}

/** The data of a broker that has lost its journal: the topic orders with one record. */
async function ordersWithoutJournal(): Promise<string> {
  const directory = newDirectory();
  await using broker = await InProcessBroker.start({ dataDirectory: directory });
  const client = await broker.client();
  await createTopic(client, 'orders');
  await produce(client, 'orders', 'one');
  await broker.close();
  rmSync(join(directory, 'coordination.journal'));
  return directory;
}

describe("a broker on Apache Kafka's log directory", { skip: golden === undefined && 'the golden facts are absent' }, () => {
  for (const { name, topics, committed } of [
    {
      name: 'kafka-3.9-zk-clean',
      topics: ['segs', 'compacted', 'txns', 'codecs', 'appendtime', 'odd'],
      committed: ['g-classic', 'g-txn'],
    },
    {
      name: 'kafka-3.9-zk-killed',
      topics: ['segs', 'compacted', 'codecs', 'appendtime', 'odd'],
      committed: ['g-classic', 'g-txn'],
    },
    { name: 'kafka-3.9-zk-oldformat', topics: ['fmt0', 'fmt1', 'fmt1append', 'fmt2'], committed: [] },
    {
      name: 'kafka-4.4-kraft-clean',
      topics: ['segs', 'compacted', 'txns', 'codecs', 'appendtime', 'odd'],
      committed: ['g-classic', 'g-txn'],
    },
    {
      name: 'kafka-4.4-kraft-killed',
      topics: ['segs', 'compacted', 'codecs', 'appendtime', 'odd'],
      committed: ['g-classic', 'g-txn'],
    },
  ]) {
    test(`takes over the topics of ${name}, and reads and goes on with them`, async () => {
      const directory = newDirectory();
      const archived = readArchive(join(golden!, `log/${name}.tar.gz`));
      unpack(archived, directory);
      const facts = factsOf(name.replace('-killed', '-clean'));
      const properties = { 'broker.id': 1 };
      await using broker = await InProcessBroker.start({ dataDirectory: directory, properties });
      const client = await broker.client();
      const known = await topicsOf(client);
      for (const topic of topics) {
        const metadata = facts.textFiles[`${topic}-0/partition.metadata`] ?? '';
        assert.equal(known.get(topic)?.topicId, /topic_id: (\S+)/.exec(metadata)?.[1], `id of ${topic}`);
        assert.deepEqual((await readAll(client, topic)).records, dumpedRecords(facts, topic), topic);
      }
      assert.equal(await configOf(client, topics[0]!, 'retention.ms'), '-1');
      if (known.has('compacted')) assert.equal(await configOf(client, 'compacted', 'cleanup.policy'), 'compact');
      if (known.has('__consumer_offsets')) assert.equal(await configOf(client, '__consumer_offsets', 'cleanup.policy'), 'compact');
      for (const group of committed) {
        const topic = group === 'g-txn' ? 'txns' : 'segs';
        assert.equal(await committedOffset(client, group, topic), lastCommit(name, group, topic), group);
      }
      if (topics.includes('txns')) {
        const { records, committed: count } = await readAll(client, 'txns', 1);
        assert.ok(count > 0 && count < records.length, `${count} of ${records.length} records are committed`);
      }

      const before = known.get(topics[0]!)!;
      const epochs = archived.get(`${topics[0]}-0/leader-epoch-checkpoint`)?.bytes.toString() ?? '';
      const lastEpoch = Number(/(\d+) \d+\n$/.exec(epochs)?.[1] ?? -1);
      assert.ok(before.leaderEpochs[0]! > lastEpoch, `leader epoch ${before.leaderEpochs[0]} after ${lastEpoch}`);
      const { errorCode, baseOffset } = await produce(client, topics[0]!, 'after Kafka');
      assert.equal(errorCode, 0);
      await broker.close();

      // The tree is not new any more, and knows them now.
      await using again = await InProcessBroker.start({ dataDirectory: directory, properties });
      const secondClient = await again.client();
      const after = (await topicsOf(secondClient)).get(topics[0]!)!;
      assert.equal(after.topicId, before.topicId);
      assert.ok(after.leaderEpochs[0]! >= before.leaderEpochs[0]!);
      const last = (await readAll(secondClient, topics[0]!)).records.at(-1);
      assert.equal(last, JSON.stringify([baseOffset, 'key', 'after Kafka']));
      assert.deepEqual(
        readdirSync(directory).filter((folder) => folder.endsWith('-stray')),
        [],
      );
    });
  }

  /** What the records of the group's last commit say. */
  function lastCommit(name: string, group: string, topic: string): number {
    // The brokers that were killed had been started again afterwards, and the group consumed ten more.
    const facts = factsOf(name.replace('-killed', '-clean'));
    const archive = readArchive(join(golden!, `log/${name}.tar.gz`));
    let offset = -1;
    for (const { file, entries } of facts.dump) {
      if (!file.startsWith('__consumer_offsets-') || !file.endsWith('.log')) continue;
      const size = archive.get(file)?.bytes.length ?? 0;
      for (const entry of entries as readonly { position: number; records: readonly DumpedRecord[] }[]) {
        if (entry.position >= size) continue;
        for (const { key, payload } of entry.records) {
          const data = key?.startsWith('{"type":"1"') === true ? JSON.parse(key).data : undefined;
          if (data?.group === group && data.topic === topic && payload !== undefined) offset = JSON.parse(payload).data.offset;
        }
      }
    }
    assert.ok(offset > 0);
    return offset;
  }
});

test('a broker that has lost its journal takes its own logs over, epochs and all', async () => {
  const directory = newDirectory();
  const first = await InProcessBroker.start({ dataDirectory: directory });
  await createTopic(await first.client(), 'orders');
  await produce(await first.client(), 'orders', 'one');
  const before = (await topicsOf(await first.client())).get('orders')!;
  await first.close();
  rmSync(join(directory, 'coordination.journal'));

  await using second = await InProcessBroker.start({ dataDirectory: directory });
  const client = await second.client();
  const after = (await topicsOf(client)).get('orders')!;
  assert.equal(after.topicId, before.topicId);
  assert.ok(after.leaderEpochs[0]! > before.leaderEpochs[0]!);
  assert.deepEqual((await readAll(client, 'orders')).records, ['[0,"key","one"]']);
  assert.match(second.log, /Topics were found on disk.*orders/);
});

test('a log that is taken over, and cannot be opened before somebody has mended it, is led in a later epoch than its last', async () => {
  const directory = await ordersWithoutJournal();
  writeFileSync(join(directory, 'orders-0', 'leader-epoch-checkpoint'), '0\n1\n40 0\n');
  // A transaction index of a format that does not exist.
  const damaged = join(directory, 'orders-0', '00000000000000000000.txnindex');
  writeFileSync(damaged, Buffer.concat([Buffer.from([0, 9]), Buffer.alloc(32)]));
  {
    await using broker = await InProcessBroker.start({ dataDirectory: directory });
    assert.equal((await produce(await broker.client(), 'orders', 'two')).errorCode, 56);
  }
  rmSync(damaged);
  await using broker = await InProcessBroker.start({ dataDirectory: directory });
  const client = await broker.client();
  assert.ok((await topicsOf(client)).get('orders')!.leaderEpochs[0]! > 40);
  assert.equal((await produce(client, 'orders', 'two')).baseOffset, 1);
});

test('a copy of a log with a date in the place of its partition is left alone, and its topic is taken over', async () => {
  const directory = await ordersWithoutJournal();
  cpSync(join(directory, 'orders-0'), join(directory, 'orders-20240101'), { recursive: true });

  await using broker = await InProcessBroker.start({ dataDirectory: directory });
  const client = await broker.client();
  assert.equal((await topicsOf(client)).get('orders')!.leaderEpochs.length, 1);
  assert.deepEqual((await readAll(client, 'orders')).records, ['[0,"key","one"]']);
  assert.match(broker.log, /no topic can have.*20240101/);
});

test('a log that the tree knows nothing of, or that is of another topic, is put aside and kept', async () => {
  const [directory, other] = [newDirectory(), newDirectory()];
  for (const [path, topics] of [
    [other, ['orders', 'payments']],
    [directory, ['orders']],
  ] as const) {
    await using broker = await InProcessBroker.start({ dataDirectory: path });
    const client = await broker.client();
    for (const topic of topics) {
      await createTopic(client, topic);
      await produce(client, topic, `of ${path}`);
    }
  }
  rmSync(join(directory, 'orders-0'), { recursive: true });
  for (const folder of ['orders-0', 'payments-0']) cpSync(join(other, folder), join(directory, folder), { recursive: true });

  await using broker = await InProcessBroker.start({ dataDirectory: directory });
  const client = await broker.client();
  assert.deepEqual([...(await topicsOf(client)).keys()], ['orders']);
  assert.deepEqual((await readAll(client, 'orders')).records, []);
  const strays = readdirSync(directory).filter((folder) => folder.endsWith('-stray'));
  assert.deepEqual(strays.map((folder) => folder.replace(/\.[0-9a-f]{32}/, '')).sort(), ['orders-0-stray', 'payments-0-stray']);
  for (const folder of strays) assert.ok(readdirSync(join(directory, folder)).some((file) => file.endsWith('.log')));
  assert.match(broker.log, /put aside/);
});
