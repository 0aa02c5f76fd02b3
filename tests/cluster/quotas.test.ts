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
import { type InProcessCluster, startCluster, until } from '@odradek/testing';

let cluster: InProcessCluster;

before(async () => {
  cluster = await startCluster({ brokers: 2 });
});
after(() => cluster.close());

/** A value of null takes the quota away. */
async function setQuota(brokerId: number, clientId: string, key: string, value: number | null): Promise<void> {
  const entity = [{ entityType: 'client-id', entityName: clientId }];
  const { entries } = await (await cluster.client(brokerId)).send(AlterClientQuotasRequest, AlterClientQuotasResponse, 1, {
    entries: [{ entity, ops: [{ key, value: value ?? 0, remove: value === null }] }],
  });
  assert.equal(entries[0]?.errorCode, 0);
}

async function toldBy(brokerId: number): Promise<string[]> {
  const asked = { components: [], strict: false };
  const client = await cluster.client(brokerId);
  const { entries } = await client.send(DescribeClientQuotasRequest, DescribeClientQuotasResponse, 1, asked);
  return (entries ?? []).flatMap(({ entity, values }) =>
    values.map(({ key, value }) => `${entity[0]?.entityName} ${key}=${value}`),
  );
}

/** How long the client is told to wait for 20 kB, which are measured although nobody knows their topic. */
async function waitFor(brokerId: number, clientId: string): Promise<number> {
  const client = await cluster.client(brokerId, { clientId });
  const records = buildRecordBatch({}, [{ timestamp: 1, key: null, value: Buffer.alloc(20_000) }]);
  const { throttleTimeMs } = await client.send(ProduceRequest, ProduceResponse, 9, {
    acks: 1,
    timeoutMs: 1000,
    topicData: [{ name: 'not-there', partitionData: [{ index: 0, records }] }],
  });
  return throttleTimeMs;
}

test('a quota that one broker has written is told and kept by the other', async () => {
  await setQuota(0, 'slow', 'producer_byte_rate', 1000);
  for (const id of [0, 1]) {
    assert.deepEqual(await toldBy(id), ['slow producer_byte_rate=1000']);
    assert.ok((await waitFor(id, 'slow')) > 0);
    assert.equal(await waitFor(id, 'fast'), 0);
  }
  await setQuota(1, 'slow', 'producer_byte_rate', null);
  for (const id of [0, 1]) {
    assert.deepEqual(await toldBy(id), []);
    assert.equal(await waitFor(id, 'slow'), 0);
  }
});

test('a broker that lost its session keeps what was set meanwhile', async () => {
  const registered = async (): Promise<number> =>
    (await (await cluster.client(0)).send(MetadataRequest, MetadataResponse, 12, { topics: [] })).brokers.length;
  await cluster.expireSession(1);
  await setQuota(0, 'meanwhile', 'producer_byte_rate', 1000);
  await until('the broker is back', async () => (await registered()) === 2);
  await until('the quota is kept', async () => (await waitFor(1, 'meanwhile')) > 0);
  await setQuota(0, 'afterwards', 'producer_byte_rate', 1000);
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
