// Quotas in a cluster of two brokers: set on either, they hold on both, and also on one that did not hear of them.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  AlterClientQuotasRequest,
  AlterClientQuotasResponse,
  buildRecordBatch,
  CreateTopicsRequest,
  CreateTopicsResponse,
  DescribeClientQuotasRequest,
  DescribeClientQuotasResponse,
  errorCodes,
  MetadataRequest,
  MetadataResponse,
  ProduceRequest,
  ProduceResponse,
} from '@odradek/protocol';
import {
  apacheKafka39,
  type InProcessCluster,
  needed,
  RawClient,
  skipWithout,
  startCluster,
  startKafkaBroker,
  startOdradekProcess,
  startZooKeeper,
  until,
} from '@odradek/testing';

const kafka = await apacheKafka39();

let cluster: InProcessCluster;

before(async () => {
  cluster = await startCluster({ brokers: 2 });
});
after(() => cluster.close());

/** A value of null takes the quota away. */
async function setQuota(client: RawClient, clientId: string, key: string, value: number | null): Promise<void> {
  const entity = [{ entityType: 'client-id', entityName: clientId }];
  const { entries } = await client.send(AlterClientQuotasRequest, AlterClientQuotasResponse, 1, {
    entries: [{ entity, ops: [{ key, value: value ?? 0, remove: value === null }] }],
  });
  assert.equal(entries[0]?.errorCode, 0);
}

async function toldTo(client: RawClient): Promise<string[]> {
  const asked = { components: [], strict: false };
  const { entries } = await client.send(DescribeClientQuotasRequest, DescribeClientQuotasResponse, 1, asked);
  return (entries ?? []).flatMap(({ entity, values }) =>
    values.map(({ key, value }) => `${entity[0]?.entityName} ${key}=${value}`),
  );
}

/** How long the client is told to wait for 20 kB, which are measured although nobody knows their topic. */
async function waitAfter20Kilobytes(client: RawClient): Promise<number> {
  const records = buildRecordBatch({}, [{ timestamp: 1, key: null, value: Buffer.alloc(20_000) }]);
  const { throttleTimeMs } = await client.send(ProduceRequest, ProduceResponse, 9, {
    acks: 1,
    timeoutMs: 1000,
    topicData: [{ name: 'not-there', partitionData: [{ index: 0, records }] }],
  });
  return throttleTimeMs;
}

const waitFor = async (brokerId: number, clientId: string): Promise<number> =>
  waitAfter20Kilobytes(await cluster.client(brokerId, { clientId }));

test('a quota that one broker has written is told and kept by the other', async () => {
  await setQuota(await cluster.client(0), 'slow', 'producer_byte_rate', 1000);
  for (const id of [0, 1]) {
    assert.deepEqual(await toldTo(await cluster.client(id)), ['slow producer_byte_rate=1000']);
    assert.ok((await waitFor(id, 'slow')) > 0);
    assert.equal(await waitFor(id, 'fast'), 0);
  }
  await setQuota(await cluster.client(1), 'slow', 'producer_byte_rate', null);
  for (const id of [0, 1]) {
    assert.deepEqual(await toldTo(await cluster.client(id)), []);
    assert.equal(await waitFor(id, 'slow'), 0);
  }
});

test('a broker that lost its session keeps what was set meanwhile', async () => {
  const registered = async (): Promise<number> =>
    (await (await cluster.client(0)).send(MetadataRequest, MetadataResponse, 12, { topics: [] })).brokers.length;
  await cluster.expireSession(1);
  await setQuota(await cluster.client(0), 'meanwhile', 'producer_byte_rate', 1000);
  await until('the broker is back', async () => (await registered()) === 2);
  await until('the quota is kept', async () => (await waitFor(1, 'meanwhile')) > 0);
  await setQuota(await cluster.client(0), 'afterwards', 'producer_byte_rate', 1000);
  await until('changes are heard of again', async () => (await waitFor(1, 'afterwards')) > 0);
});

test('the quota of all clients does not hold up brokers that follow each other', async () => {
  const client = await cluster.client(0);
  const created = await client.send(CreateTopicsRequest, CreateTopicsResponse, 7, {
    topics: [{ name: 'followed', numPartitions: 1, replicationFactor: 2 }],
    timeoutMs: 10_000,
  });
  assert.equal(created.topics[0]?.errorCode, errorCodes.NONE);
  const ops = ['consumer_byte_rate', 'request_percentage'].map((key) => ({ key, value: 1, remove: false }));
  await client.send(AlterClientQuotasRequest, AlterClientQuotasResponse, 1, {
    entries: [{ entity: [{ entityType: 'client-id', entityName: null }], ops }],
  });
  const { topics } = await (await cluster.client(0)).send(MetadataRequest, MetadataResponse, 12, {
    topics: [{ name: 'followed' }],
  });
  const leader = topics[0]?.partitions[0]?.leaderId ?? -1;
  const records = buildRecordBatch({}, [{ timestamp: 1, key: null, value: Buffer.alloc(100_000) }]);
  for (let round = 0; round < 3; round++) {
    const { responses } = await (await cluster.client(leader)).send(ProduceRequest, ProduceResponse, 9, {
      acks: -1,
      timeoutMs: 10_000,
      topicData: [{ name: 'followed', partitionData: [{ index: 0, records }] }],
    });
    assert.equal(responses[0]?.partitionResponses[0]?.errorCode, errorCodes.NONE);
  }
});

test('Apache Kafka 3.9 keeps what this broker has set, and the other way round', { skip: skipWithout(kafka) }, async () => {
  await using zookeeper = await closing(await startZooKeeper(needed(kafka)));
  const properties = (id: number) => ({ 'broker.id': id, 'zookeeper.connect': zookeeper.it.connect });
  await using theirs = await closing(await startKafkaBroker(needed(kafka), { properties: properties(0) }));
  await using ours = await closing(await startOdradekProcess({ properties: properties(1) }));
  for (const [setter, keeper, clientId] of [
    [ours.it, theirs.it, 'set by ours/1*'],
    [theirs.it, ours.it, 'set by theirs/1*'],
  ] as const) {
    await using admin = await RawClient.connect({ port: setter.port });
    await setQuota(admin, clientId, 'producer_byte_rate', 1000);
    await until('the other one keeps it', async () => {
      await using client = await RawClient.connect({ port: keeper.port, clientId });
      return (await waitAfter20Kilobytes(client)) > 0;
    });
    await using reader = await RawClient.connect({ port: keeper.port });
    assert.deepEqual(await toldTo(reader), [`${clientId} producer_byte_rate=1000`]);
    await setQuota(reader, clientId, 'producer_byte_rate', null);
    await until('it is gone', async () => {
      await using client = await RawClient.connect({ port: setter.port, clientId });
      return (await waitAfter20Kilobytes(client)) === 0;
    });
  }
});

async function closing<T extends { close(): Promise<void> }>(it: T): Promise<AsyncDisposable & { readonly it: T }> {
  return { it, [Symbol.asyncDispose]: () => it.close() };
}
