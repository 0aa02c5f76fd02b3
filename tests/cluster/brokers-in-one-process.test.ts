// Three brokers in one process over one coordination store: who leads, who follows, who is told, and what happens when one goes.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  buildRecordBatch,
  CreateTopicsRequest,
  CreateTopicsResponse,
  ElectLeadersRequest,
  ElectLeadersResponse,
  errorCodes,
  IncrementalAlterConfigsRequest,
  IncrementalAlterConfigsResponse,
  MetadataRequest,
  MetadataResponse,
  ProduceRequest,
  ProduceResponse,
} from '@odradek/protocol';
import { type InProcessCluster, type RawClient, startCluster, until } from '@odradek/testing';

let cluster: InProcessCluster;

before(async () => {
  // So long that what would wait for it fails.
  const properties = { 'replica.fetch.wait.max.ms': 20_000 };
  cluster = await startCluster({ brokers: 3, properties: (id) => ({ ...properties, 'broker.rack': `rack-${id}` }) });
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

test('followers whose fetches wait hear at once of a new topic: what is produced to it is soon everywhere', async () => {
  const client = await controllerClient();
  const created = await client.send(CreateTopicsRequest, CreateTopicsResponse, 7, {
    topics: [{ name: 'new', numPartitions: 3, replicationFactor: 3 }],
    timeoutMs: 10_000,
  });
  assert.equal(created.topics[0]?.errorCode, errorCodes.NONE);
  for (const { leaderId, partitionIndex } of (await metadataOf(0, 'new')).topics[0]?.partitions ?? []) {
    const answer = await (await cluster.client(leaderId)).send(ProduceRequest, ProduceResponse, 9, {
      acks: -1,
      timeoutMs: 10_000,
      topicData: [
        {
          name: 'new',
          partitionData: [{ index: partitionIndex, records: buildRecordBatch({}, [{ timestamp: 0, value: Buffer.from('x') }]) }],
        },
      ],
    });
    assert.equal(answer.responses[0]?.partitionResponses[0]?.errorCode, errorCodes.NONE);
  }
});

async function leaderOf(topic: string): Promise<number | undefined> {
  return (await metadataOf(0, topic)).topics[0]?.partitions[0]?.leaderId;
}

test('a topic is created on demand by whichever broker is asked', async () => {
  const client = await cluster.client(2);
  await until('the topic has a leader', async () => {
    const { topics } = await client.send(MetadataRequest, MetadataResponse, 12, { topics: [{ name: 'wanted' }] });
    return topics[0]?.errorCode === errorCodes.NONE && (topics[0].partitions[0]?.leaderId ?? -1) >= 0;
  });
});

test('a partition whose last replica in sync is gone gets another leader once that is allowed', async () => {
  const assignments = [{ partitionIndex: 0, brokerIds: [1, 2] }];
  const created = await (await controllerClient()).send(CreateTopicsRequest, CreateTopicsResponse, 7, {
    topics: [{ name: 'risky', numPartitions: -1, replicationFactor: -1, assignments }],
    timeoutMs: 10_000,
  });
  assert.equal(created.topics[0]?.errorCode, errorCodes.NONE);
  await cluster.stopBroker(2);
  await cluster.killBroker(1);
  await until('there is no leader', async () => (await leaderOf('risky')) === -1);
  await cluster.startBroker(2);
  await until('the broker is back', async () => (await metadataOf(0)).brokers.length === 2);
  assert.equal(await leaderOf('risky'), -1, 'it was not in sync');
  const configs = [{ name: 'unclean.leader.election.enable', configOperation: 0, value: 'true' }];
  const altered = await (await cluster.client(2)).send(IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse, 1, {
    resources: [{ resourceType: 2, resourceName: 'risky', configs }],
  });
  assert.equal(altered.responses[0]?.errorCode, errorCodes.NONE);
  await until('the broker that was behind leads', async () => (await leaderOf('risky')) === 2);
  await cluster.startBroker(1);
  await until('the other follows', async () => {
    const [partition] = (await metadataOf(0, 'risky')).topics[0]?.partitions ?? [];
    return partition?.leaderId === 2 && partition.isrNodes.length === 2;
  });
});

test('a request between brokers can be answered by the test, and a broker that is not heard stays out of sync', async () => {
  const partitionsOf = async () => (await metadataOf(0, 't')).topics[0]?.partitions ?? [];
  const areAllInSync = async () => (await partitionsOf()).every(({ isrNodes }) => isrNodes.length === 3);
  await until('all are in sync', areAllInSync);
  await (await controllerClient()).send(ElectLeadersRequest, ElectLeadersResponse, 2, { topicPartitions: null });
  await until('broker 2 leads', async () => (await partitionsOf()).some(({ leaderId }) => leaderId === 2));
  const refused: number[] = [];
  // Every change of in-sync replicas that others ask of the controller is refused.
  const stop = cluster.intercept(56, ({ from, answer }) => {
    refused.push(from);
    answer({ errorCode: errorCodes.STALE_BROKER_EPOCH });
  });
  await cluster.killBroker(1);
  await cluster.startBroker(1);
  await until('others ask', () => refused.includes(2));
  const led = (await partitionsOf()).filter(({ leaderId }) => leaderId === 2);
  assert.ok(led.length > 0 && led.every(({ isrNodes }) => !isrNodes.includes(1)));
  stop();
  await until('all are in sync again', areAllInSync);
});
