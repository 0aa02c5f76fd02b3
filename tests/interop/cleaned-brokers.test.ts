// The same batches sent to a broker of Apache Kafka and to one of ours, with the same topics; then both clean up, as often as each
// other: the same records are left at the same offsets, in the same segments.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  buildRecordBatch,
  CreateTopicsRequest,
  CreateTopicsResponse,
  compressionTypes,
  errorCodes,
  IncrementalAlterConfigsRequest,
  IncrementalAlterConfigsResponse,
} from '@odradek/protocol';
import { SeededRandom } from '@odradek/runtime';
import {
  apacheKafka39,
  InProcessBroker,
  type KafkaBroker,
  needed,
  RawClient,
  skipWithout,
  startKafkaBroker,
  startZooKeeper,
  until,
  type ZooKeeperEnsemble,
} from '@odradek/testing';
import { LogReader } from './log-reader.ts';

const kafka = await apacheKafka39();

const properties = {
  'broker.id': 0,
  'log.cleaner.backoff.ms': 50,
  'log.retention.check.interval.ms': 200,
  'log.initial.task.delay.ms': 200,
  'log.flush.offset.checkpoint.interval.ms': 200,
};
const smallestSegment = '1048576';
const hourMs = 3_600_000;
const startMs = Date.now();

/** No cleaner finds anything worth its while at 1, and everything at 0. */
const notYet = { 'min.cleanable.dirty.ratio': '1' };

const topics: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  compacted: { 'cleanup.policy': 'compact', ...notYet },
  'without-tombstones': { 'cleanup.policy': 'compact', 'delete.retention.ms': '0', ...notYet },
  both: { 'cleanup.policy': 'compact,delete', 'retention.ms': '-1', ...notYet },
  'by-size': { 'cleanup.policy': 'delete' },
  'by-time': { 'cleanup.policy': 'delete', 'retention.ms': '-1' },
};

interface Side {
  readonly client: RawClient;
  readonly reader: LogReader;
  readonly directory: string;
}

describe('a broker of Apache Kafka and one of ours clean up', { skip: skipWithout(kafka), timeout: 180_000 }, () => {
  const root = mkdtempSync(join(tmpdir(), 'odradek-cleaned-'));
  let zookeeper: ZooKeeperEnsemble;
  let theirs: KafkaBroker;
  let ours: InProcessBroker;
  let sides: readonly Side[];

  before(async () => {
    zookeeper = await startZooKeeper(needed(kafka));
    const directory = join(root, 'kafka');
    const zookeeperConnect = { 'zookeeper.connect': zookeeper.connect };
    theirs = await startKafkaBroker(needed(kafka), {
      dataDirectory: directory,
      properties: { ...properties, ...zookeeperConnect },
    });
    ours = await InProcessBroker.start({ dataDirectory: join(root, 'odradek'), properties });
    sides = await Promise.all([sideOf(theirs.port, directory), sideOf(ours.port, ours.dataDirectory)]);
    for (const side of sides) await createTopics(side.client);
  });
  after(async () => {
    for (const { client, reader } of sides ?? []) await Promise.all([client.close(), reader.close()]);
    await ours?.close();
    await theirs?.close();
    await zookeeper?.close();
    rmSync(root, { recursive: true });
  });

  async function onBoth(action: (side: Side) => Promise<void>): Promise<void> {
    await Promise.all(sides.map(action));
  }

  async function compare(topic: string): Promise<{ left: number; earliestOffset: number; endOffset: number }> {
    const [expected, actual] = await Promise.all(sides.map(({ reader }) => reader.read(topic)));
    for (const [index, record] of expected!.records.entries()) assert.deepEqual(actual!.records[index], record, `record ${index}`);
    assert.equal(actual!.records.length, expected!.records.length);
    assert.deepEqual([actual!.earliestOffset, actual!.endOffset], [expected!.earliestOffset, expected!.endOffset]);
    const [theirSegments, ourSegments] = sides.map(({ directory }) => segmentsOf(directory, topic));
    assert.deepEqual(ourSegments, theirSegments);
    return { left: expected!.records.length, earliestOffset: expected!.earliestOffset, endOffset: expected!.endOffset };
  }

  test('compacting once', async () => {
    await onBoth(async (side) => {
      await side.reader.produce('compacted', batches(1, 150));
      await clean(side, 'compacted');
    });
    const { left, endOffset } = await compare('compacted');
    assert.ok(left < endOffset / 2, `${left} of ${endOffset} are left`);
  });

  test('compacting again, when tombstones may go', async () => {
    const sent = [batches(2, 130), batches(3, 130)];
    await onBoth(async (side) => {
      for (const pass of sent) {
        await side.reader.produce('without-tombstones', pass);
        await clean(side, 'without-tombstones');
        await alter(side.client, 'without-tombstones', notYet);
      }
    });
    const { left, endOffset } = await compare('without-tombstones');
    assert.ok(left < endOffset / 2, `${left} of ${endOffset} are left`);
  });

  test('compacting what retention has left', async () => {
    await onBoth(async (side) => {
      await side.reader.produce('both', [...batches(4, 120, startMs - 3 * hourMs), ...batches(5, 120)]);
      await retain(side, 'both', { 'retention.ms': String(hourMs) });
      await clean(side, 'both');
    });
    const { left, earliestOffset, endOffset } = await compare('both');
    assert.ok(left < (endOffset - earliestOffset) / 2, `${left} of ${endOffset - earliestOffset} are left`);
  });

  for (const [topic, sent, limit] of [
    ['by-size', batches(6, 250), { 'retention.bytes': '1500000' }],
    ['by-time', [...batches(7, 120, startMs - 3 * hourMs), ...batches(8, 120)], { 'retention.ms': String(hourMs) }],
  ] as const) {
    test(`deleting ${topic}`, async () => {
      await onBoth(async (side) => {
        await side.reader.produce(topic, sent);
        await retain(side, topic, limit);
      });
      const { earliestOffset, endOffset } = await compare(topic);
      assert.ok(earliestOffset > 0 && earliestOffset < endOffset);
    });
  }
});

async function sideOf(port: number, directory: string): Promise<Side> {
  return { client: await RawClient.connect({ port }), reader: await LogReader.connect(port), directory };
}

async function createTopics(client: RawClient): Promise<void> {
  const wanted = Object.entries(topics).map(([name, configs]) => ({
    name,
    numPartitions: 1,
    replicationFactor: 1,
    configs: Object.entries({ 'segment.bytes': smallestSegment, 'file.delete.delay.ms': '0', ...configs }).map(
      ([config, value]) => ({
        name: config,
        value,
      }),
    ),
  }));
  const created = await until('the broker knows of itself', async () => {
    const request = { topics: wanted, timeoutMs: 20_000 };
    const answer = await client.send(CreateTopicsRequest, CreateTopicsResponse, 5, request);
    return answer.topics.some(({ errorCode }) => errorCode === errorCodes.INVALID_REPLICATION_FACTOR) ? undefined : answer.topics;
  });
  for (const { name, errorCode, errorMessage } of created) assert.equal(errorCode, 0, `${name}: ${errorMessage}`);
}

/** Lets a limit count only once everything is there. All that is too much goes at once. */
async function retain({ client, reader }: Side, topic: string, limit: Readonly<Record<string, string>>): Promise<void> {
  await alter(client, topic, limit);
  await until(`old segments of ${topic} are gone`, async () => (await reader.offsetFor(topic, -2)) > 0);
}

/** One pass of the cleaner over all that it may touch. */
async function clean({ client, directory }: Side, topic: string): Promise<void> {
  const activeBaseOffset = segmentsOf(directory, topic).at(-1)!;
  // We clean nothing that is not on the device, and what is in several passes may end up in fewer segments.
  await until('everything but the active segment is on the device', () => {
    const line = new RegExp(`^${topic} 0 (\\d+)$`, 'm').exec(
      readFileSync(join(directory, 'recovery-point-offset-checkpoint'), 'utf8'),
    );
    return Number(line?.[1] ?? -1) >= activeBaseOffset;
  });
  await alter(client, topic, { 'min.cleanable.dirty.ratio': '0' });
  await until(`${topic} is clean up to ${activeBaseOffset}`, () => {
    const checkpoint = readFileSync(join(directory, 'cleaner-offset-checkpoint'), 'utf8');
    return checkpoint.split('\n').includes(`${topic} 0 ${activeBaseOffset}`);
  });
  // The segments that were replaced are gone as well.
  await until('nothing waits to be removed', () => {
    return !readdirSync(join(directory, `${topic}-0`)).some((name) => /\.(deleted|cleaned|swap)$/.test(name));
  });
}

async function alter(client: RawClient, topic: string, configs: Readonly<Record<string, string>>): Promise<void> {
  const changes = Object.entries(configs).map(([name, value]) => ({ name, configOperation: 0, value }));
  const resources = [{ resourceType: 2, resourceName: topic, configs: changes }];
  const request = { resources, validateOnly: false };
  const { responses } = await client.send(IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse, 1, request);
  assert.equal(responses[0]?.errorCode, 0, responses[0]?.errorMessage ?? '');
}

function segmentsOf(directory: string, topic: string): number[] {
  return readdirSync(join(directory, `${topic}-0`)).flatMap((name) =>
    /^\d{20}\.log$/.test(name) ? [Number.parseInt(name, 10)] : [],
  );
}

/** Some 24 kB each, of all codecs, with keys that come again and tombstones; the same for the same seed. */
function batches(seed: number, count: number, fromMs = startMs - 60_000): Buffer[] {
  const random = new SeededRandom(seed);
  return Array.from({ length: count }, (_, batch) => {
    const compression = compressionTypes[batch % compressionTypes.length];
    const records = Array.from({ length: 4 }, (__, index) => ({
      timestamp: fromMs + batch * 10 + index,
      key: Buffer.from(`key ${random.nextInt(40)}`),
      value: random.nextInt(8) === 0 ? null : Buffer.from(random.bytes(6000)),
      headers: [{ key: 'batch', value: Buffer.from(`${seed} ${batch}`) }],
    }));
    return buildRecordBatch({ compression }, records);
  });
}
