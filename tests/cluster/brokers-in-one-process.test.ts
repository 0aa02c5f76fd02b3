// Three brokers in one process over one coordination store: who leads, who follows, who is told, and what happens when one goes.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { CreateTopicsRequest, CreateTopicsResponse, errorCodes, MetadataRequest, MetadataResponse } from '@odradek/protocol';
import { type InProcessCluster, type RawClient, startCluster, until } from '@odradek/testing';

let cluster: InProcessCluster;

before(async () => {
  cluster = await startCluster({ brokers: 3, properties: (id) => ({ 'broker.rack': `rack-${id}` }) });
});
after(() => cluster.close());

async function metadataOf(id: number, topic?: string): Promise<MetadataResponse> {
  const client = await cluster.client(id);
  return client.send(MetadataRequest, MetadataResponse, 12, {
    topics: topic === undefined ? [] : [{ name: topic }],
    allowAutoTopicCreation: false,
  });
}

async function controllerClient(): Promise<RawClient> {
  const { controllerId } = await metadataOf(cluster.brokerIds[0] ?? 0);
  return cluster.client(controllerId);
}

test('every broker knows every other, and the same controller', async () => {
  for (const id of [0, 1, 2]) {
    await until('all brokers are known', async () => (await metadataOf(id)).brokers.length === 3);
    const { brokers, controllerId } = await metadataOf(id);
    assert.deepEqual(
      brokers.map(({ nodeId, port, rack }) => [nodeId, port, rack]),
      [0, 1, 2].map((each) => [each, cluster.broker(each).address().port, `rack-${each}`]),
    );
    assert.equal(controllerId, 0);
  }
});

test('a topic is created by the controller alone, and known everywhere', async () => {
  const request = { topics: [{ name: 't', numPartitions: 6, replicationFactor: 3 }], timeoutMs: 10_000 };
  const other = await (await cluster.client(1)).send(CreateTopicsRequest, CreateTopicsResponse, 7, request);
  assert.equal(other.topics[0]?.errorCode, errorCodes.NOT_CONTROLLER);
  const { topics } = await (await controllerClient()).send(CreateTopicsRequest, CreateTopicsResponse, 7, request);
  assert.equal(topics[0]?.errorCode, errorCodes.NONE);
  for (const id of [0, 1, 2]) {
    await until('the topic is known', async () => (await metadataOf(id, 't')).topics[0]?.partitions.length === 6);
    const { partitions = [] } = (await metadataOf(id, 't')).topics[0] ?? {};
    assert.deepEqual(
      partitions.map(({ isrNodes, replicaNodes }) => [isrNodes.length, replicaNodes.length]),
      partitions.map(() => [3, 3]),
    );
    assert.deepEqual(new Set(partitions.map(({ leaderId }) => leaderId)), new Set([0, 1, 2]));
  }
});
