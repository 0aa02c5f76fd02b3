import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  crc32c,
  errorCodes,
  InitProducerIdRequest,
  InitProducerIdResponse,
  MetadataRequest,
  MetadataResponse,
  ProduceRequest,
  ProduceResponse,
} from '@odradek/protocol';
import { InProcessBroker, type RawClient } from '@odradek/testing';
import { batchOf, batchWith, createTopic, fetchOne, produceOne } from './broker-requests.fixture.ts';

let broker: InProcessBroker;
let client: RawClient;
let topicId: string;

before(async () => {
  broker = await InProcessBroker.start();
  client = await broker.client();
  topicId = await createTopic(client, 'orders', { partitions: 2 });
});
after(() => broker.close());

/** Whether the topic is named by its id. */
const byId = (version: number): { topicId?: string } => (version >= 13 ? { topicId } : {});

const damaged = (batch: Buffer): Buffer => {
  const copy = Buffer.from(batch);
  copy[copy.length - 1] = (copy.at(-1) ?? 0) ^ 1;
  return copy;
};

/** A batch with a right checksum that says it is compressed, though it is not. */
const undecompressable = (batch: Buffer): Buffer => {
  const copy = Buffer.from(batch);
  copy.writeInt16BE(1, 21);
  copy.writeUInt32BE(crc32c(copy, 21, copy.length), 17);
  return copy;
};

const inTransaction = batchWith({ producerId: 7, producerEpoch: 0, baseSequence: 0, isTransactional: true }, 'a');

for (let version = 3; version <= 13; version++) {
  test(`version ${version} appends and tells where`, async () => {
    const first = await produceOne(client, 'orders', batchOf('a', 'b'), { version, ...byId(version) });
    const second = await produceOne(client, 'orders', batchOf('c'), { version, acks: 1, ...byId(version) });
    assert.equal(first.errorCode, errorCodes.NONE);
    assert.equal(second.baseOffset, first.baseOffset + 2);
    assert.equal(first.logAppendTimeMs, -1);
    assert.equal(first.logStartOffset, version >= 5 ? 0 : -1);
    assert.deepEqual((await fetchOne(client, 'orders', first.baseOffset)).values, ['a', 'b', 'c']);
  });
}

for (const { name, records, expected, logStartOffset = -1, options = {} } of [
  { name: 'a topic that does not exist', records: batchOf('a'), expected: 'UNKNOWN_TOPIC_OR_PARTITION', topic: 'nowhere' },
  {
    name: 'a partition that does not exist',
    records: batchOf('a'),
    expected: 'UNKNOWN_TOPIC_OR_PARTITION',
    options: { partition: 2 },
  },
  { name: 'a negative partition', records: batchOf('a'), expected: 'UNKNOWN_TOPIC_OR_PARTITION', options: { partition: -1 } },
  {
    name: 'an id of no topic',
    records: batchOf('a'),
    expected: 'UNKNOWN_TOPIC_ID',
    options: { version: 13, topicId: 'AAAAAAAAAAAAAAAAAAAAAQ' },
  },
  { name: 'acks of 2', records: batchOf('a'), expected: 'INVALID_REQUIRED_ACKS', options: { acks: 2 } },
  { name: 'acks of -2', records: batchOf('a'), expected: 'INVALID_REQUIRED_ACKS', options: { acks: -2 } },
  { name: 'a wrong checksum', records: damaged(batchOf('a')), expected: 'CORRUPT_MESSAGE' },
  {
    name: 'records that do not decompress',
    records: undecompressable(batchOf('a')),
    expected: 'UNKNOWN_SERVER_ERROR',
    logStartOffset: 0,
  },
  { name: 'null instead of records', records: null, expected: 'INVALID_RECORD' },
  { name: 'a batch that is cut off', records: batchOf('abc').subarray(0, -1), expected: 'INVALID_RECORD' },
  { name: 'bytes that are no batch', records: Buffer.alloc(100), expected: 'CORRUPT_MESSAGE' },
  {
    name: 'a transaction that nobody has begun',
    records: inTransaction,
    expected: 'INVALID_TXN_STATE',
    options: { transactionalId: 'somebody' },
  },
  { name: 'a transaction without an id', records: inTransaction, expected: 'TRANSACTIONAL_ID_AUTHORIZATION_FAILED' },
] as {
  name: string;
  records: Buffer | null;
  expected: keyof typeof errorCodes;
  topic?: string;
  /** Told where the log itself refuses the records for their content; -1 where they never come so far. */
  logStartOffset?: number;
  options?: Parameters<typeof produceOne>[3];
}[]) {
  test(`refused: ${name}`, async () => {
    const topic = name.startsWith('a topic') ? 'nowhere' : 'orders';
    const before = await fetchOne(client, 'orders', 0);
    const answer = await produceOne(client, topic, records, options);
    assert.equal(answer.errorCode, errorCodes[expected]);
    assert.deepEqual([answer.baseOffset, answer.logStartOffset], [-1, logStartOffset]);
    assert.equal((await fetchOne(client, 'orders', 0)).highWatermark, before.highWatermark);
  });
}

test('one partition that is refused does not concern the others', async () => {
  const { responses } = await client.send(ProduceRequest, ProduceResponse, 9, {
    acks: -1,
    timeoutMs: 1000,
    topicData: [
      {
        name: 'orders',
        partitionData: [
          { index: 0, records: damaged(batchOf('x')) },
          { index: 1, records: batchOf('y') },
          { index: 9, records: batchOf('z') },
        ],
      },
      { name: 'nowhere', partitionData: [{ index: 0, records: batchOf('x') }] },
    ],
  });
  assert.deepEqual(
    responses.map(({ name, partitionResponses }) => [name, partitionResponses.map(({ errorCode }) => errorCode)]),
    [
      ['orders', [errorCodes.CORRUPT_MESSAGE, errorCodes.NONE, errorCodes.UNKNOWN_TOPIC_OR_PARTITION]],
      ['nowhere', [errorCodes.UNKNOWN_TOPIC_OR_PARTITION]],
    ],
  );
});

test('of a partition that is named more than once the last batch counts, in the place of the first', async () => {
  const name = 'named-twice';
  await createTopic(client, name, { partitions: 2 });
  const answered = async (topicData: { name: string; partitionData: { index: number; records: Buffer }[] }[]) =>
    (await client.send(ProduceRequest, ProduceResponse, 9, { acks: 1, timeoutMs: 1000, topicData })).responses.map((topic) =>
      topic.partitionResponses.map(({ index, errorCode, baseOffset }) => [index, errorCode, baseOffset]),
    );
  const one = { index: 0, records: batchOf('first') };
  const other = { index: 1, records: batchOf('other') };
  const last = { index: 0, records: batchOf('last', 'of all') };
  assert.deepEqual(await answered([{ name, partitionData: [one, other, last] }]), [
    [
      [0, errorCodes.NONE, 0],
      [1, errorCodes.NONE, 0],
    ],
  ]);
  const apart = [one, last].map((partition) => ({ name, partitionData: [partition] }));
  assert.deepEqual(await answered(apart), [[[0, errorCodes.NONE, 2]]]);
  const broken = { index: 0, records: damaged(batchOf('broken')) };
  assert.deepEqual(await answered([{ name, partitionData: [one, broken] }]), [[[0, errorCodes.CORRUPT_MESSAGE, -1]]]);
  assert.deepEqual((await fetchOne(client, name, 0)).values, ['last', 'of all', 'last', 'of all']);
});

test('clients may not write to internal topics', async () => {
  await createTopic(client, '__consumer_offsets');
  assert.equal((await produceOne(client, '__consumer_offsets', batchOf('a'))).errorCode, errorCodes.INVALID_TOPIC_EXCEPTION);
  const admin = await broker.client({ clientId: '__admin_client' });
  assert.notEqual((await produceOne(admin, '__consumer_offsets', batchOf('a'))).errorCode, errorCodes.INVALID_TOPIC_EXCEPTION);
});

test('acks=0 gets no answer, and what follows on the connection does', async () => {
  const own = await broker.client();
  const end = (await fetchOne(own, 'orders', 0)).highWatermark;
  const records = batchOf('quiet');
  own.sendOneWay(ProduceRequest, 9, {
    acks: 0,
    timeoutMs: 1000,
    topicData: [{ name: 'orders', partitionData: [{ index: 0, records }] }],
  });
  const { clusterId } = await own.send(MetadataRequest, MetadataResponse, 9, { topics: [] });
  assert.equal(clusterId, broker.broker.clusterId);
  assert.deepEqual((await fetchOne(own, 'orders', end)).values, ['quiet']);
});

test('a failure with acks=0 closes the connection, for want of another way to tell', async () => {
  const own = await broker.client();
  const partitionData = [{ index: 77, records: batchOf('a') }];
  own.sendOneWay(ProduceRequest, 9, { acks: 0, timeoutMs: 1000, topicData: [{ name: 'orders', partitionData }] });
  await own.closed;
  assert.match(broker.log, /acks=0 .*UNKNOWN_TOPIC_OR_PARTITION on orders-77/);
});

test('a request with acks=0 that fails as a whole is not answered either', async () => {
  const own = await broker.client();
  const partitionData = [{ index: 0, records: inTransaction }];
  own.sendOneWay(ProduceRequest, 9, { acks: 0, timeoutMs: 1000, topicData: [{ name: 'orders', partitionData }] });
  await own.closed;
  assert.match(broker.log, /acks=0 .*TRANSACTIONAL_ID_AUTHORIZATION_FAILED/);
});

test('min.insync.replicas never asks for more replicas than the topic has', async () => {
  await createTopic(client, 'careful', { configs: { 'min.insync.replicas': '2' } });
  assert.equal((await produceOne(client, 'careful', batchOf('a'))).errorCode, errorCodes.NONE);
});

test('with LogAppendTime the answer tells the time of the append', async () => {
  await createTopic(client, 'stamped', { configs: { 'message.timestamp.type': 'LogAppendTime' } });
  const { logAppendTimeMs } = await produceOne(client, 'stamped', batchOf('a'));
  assert.ok(logAppendTimeMs > 1_600_000_000_000, `${logAppendTimeMs}`);
});

test('many requests at once on one connection are answered in their order', async () => {
  const own = await broker.client();
  await createTopic(own, 'piped');
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, index) => produceOne(own, 'piped', batchOf(`${index}`), { acks: index % 2 === 0 ? 1 : -1 })),
  );
  assert.deepEqual(
    answers.map(({ baseOffset }) => baseOffset),
    Array.from({ length: 200 }, (_, index) => index),
  );
  assert.deepEqual(
    (await fetchOne(own, 'piped', 0)).values,
    Array.from({ length: 200 }, (_, index) => `${index}`),
  );
});

test('large batches come back as they went, though their buffers serve again', async () => {
  await createTopic(client, 'large');
  const values = Array.from({ length: 40 }, (_, index) => String.fromCharCode(97 + (index % 26)).repeat(20_000 + index * 997));
  await Promise.all(values.map((value) => produceOne(client, 'large', batchOf(value))));
  for (const [offset, value] of values.entries()) {
    const { values: found } = await fetchOne(client, 'large', offset);
    assert.ok(found[0] === value, `offset ${offset}`);
  }
});

test('producer ids: fresh without a transactional id, and no coordinator yet for one', async () => {
  const init = (
    request: Parameters<typeof client.send<typeof InitProducerIdRequest, typeof InitProducerIdResponse>>[3],
    version = 4,
  ) => client.send(InitProducerIdRequest, InitProducerIdResponse, version, request);
  const first = await init({ transactionalId: null, transactionTimeoutMs: 1000 });
  const second = await init({ transactionalId: null, transactionTimeoutMs: 1000 }, 0);
  assert.equal(first.errorCode, errorCodes.NONE);
  assert.equal(first.producerEpoch, 0);
  assert.notEqual(first.producerId, second.producerId);
  assert.equal((await init({ transactionalId: 't', transactionTimeoutMs: 1000 })).errorCode, errorCodes.COORDINATOR_NOT_AVAILABLE);
  const half = await init({ transactionalId: null, transactionTimeoutMs: 1000, producerId: 5, producerEpoch: -1 });
  assert.equal(half.errorCode, errorCodes.INVALID_REQUEST);
  assert.equal(half.producerId, -1);
});
