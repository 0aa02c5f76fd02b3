// Topics whose nodes have no id: made or given partitions by tools from before topics had ids, which write into ZooKeeper themselves, or
// left by brokers of that time.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { configNode, isCoordinationError, topicNode } from '@odradek/coordination';
import {
  buildRecordBatch,
  errorCodes,
  FetchRequest,
  FetchResponse,
  MetadataRequest,
  MetadataResponse,
  ProduceRequest,
  ProduceResponse,
  zeroUuid,
} from '@odradek/protocol';
import { type InProcessCluster, startCluster, until } from '@odradek/testing';

let cluster: InProcessCluster;

before(async () => {
  cluster = await startCluster({ brokers: 2 });
});
after(() => cluster.close());

async function createAsOldToolsDo(topic: string, replicas: readonly (readonly number[])[]): Promise<void> {
  const assignment = {
    topicId: undefined,
    replicas: new Map(replicas.entries()),
    addingReplicas: new Map(),
    removingReplicas: new Map(),
  };
  await cluster.coordination.create(configNode.path('topics', topic), configNode.encode(new Map()));
  await cluster.coordination.create(topicNode.path(topic), topicNode.encode(assignment));
}

/** Writes the node as a tool does that knows no ids. */
async function rewriteWithoutId(topic: string, added: readonly (readonly [number, readonly number[]])[]): Promise<void> {
  for (;;) {
    const { data, stat } = await cluster.coordination.get(topicNode.path(topic));
    const before = topicNode.decode(topic, data);
    const after = { ...before, topicId: undefined, replicas: new Map([...before.replicas, ...added]) };
    try {
      await cluster.coordination.set(topicNode.path(topic), topicNode.encode(after), stat.version);
      return;
    } catch (error) {
      if (!isCoordinationError(error, 'BadVersion')) throw error;
    }
  }
}

async function idInTree(topic: string): Promise<string | undefined> {
  return topicNode.decode(topic, (await cluster.coordination.get(topicNode.path(topic))).data).topicId;
}

/** As the broker tells it, once all of that many partitions have leaders. */
function idTold(brokerId: number, topic: string, partitions: number): Promise<string> {
  return until(`broker ${brokerId} knows leaders of ${topic}`, async () => {
    await using client = await cluster.client(brokerId);
    const { topics } = await client.send(MetadataRequest, MetadataResponse, 12, { topics: [{ name: topic }] });
    const told = topics[0];
    const isLed = told?.partitions.length === partitions && told.partitions.every(({ leaderId }) => leaderId >= 0);
    return isLed ? told.topicId : undefined;
  });
}

async function produce(brokerId: number, topic: string): Promise<void> {
  await using client = await cluster.client(brokerId);
  const records = buildRecordBatch({}, [{ timestamp: 1, value: Buffer.from('v') }]);
  const { responses } = await client.send(ProduceRequest, ProduceResponse, 9, {
    acks: -1,
    timeoutMs: 10_000,
    topicData: [{ name: topic, partitionData: [{ index: 0, records }] }],
  });
  assert.equal(responses[0]?.partitionResponses[0]?.errorCode, errorCodes.NONE);
}

async function fetchById(brokerId: number, topicId: string): Promise<unknown> {
  await using client = await cluster.client(brokerId);
  const partitions = [{ partition: 0, fetchOffset: 0, partitionMaxBytes: 1000 }];
  const request = { maxWaitMs: 10, minBytes: 1, maxBytes: 1000, topics: [{ topicId, partitions }] };
  const { responses } = await client.send(FetchRequest, FetchResponse, 13, request);
  const partition = responses[0]?.partitions[0];
  return [partition?.errorCode, partition?.highWatermark];
}

test('topics that an old tool has made get ids, each one of its own, by which they are read and replicated', async () => {
  await createAsOldToolsDo('one', [[0, 1]]);
  await createAsOldToolsDo('two', [[1, 0]]);
  const ids = new Set<string>();
  for (const [leader, topic] of ['one', 'two'].entries()) {
    const topicId = await idTold(leader, topic, 1);
    assert.equal(await idInTree(topic), topicId);
    ids.add(topicId);
    await produce(leader, topic);
    assert.deepEqual(await fetchById(leader, topicId), [errorCodes.NONE, 1]);
  }
  assert.equal(ids.size, 2);
  assert.ok(!ids.has(zeroUuid));
});

test('a topic that an old tool has given partitions keeps its id', async () => {
  await createAsOldToolsDo('grown', [[0, 1]]);
  const topicId = await idTold(0, 'grown', 1);
  await rewriteWithoutId('grown', [[1, [1, 0]]]);
  for (const broker of [0, 1]) assert.equal(await idTold(broker, 'grown', 2), topicId);
  await until('the id is in the tree again', async () => (await idInTree('grown')) === topicId);
});

test('a topic that has lost its id while no controller looked gets that of its logs', async () => {
  await createAsOldToolsDo('lost', [[0, 1]]);
  const topicId = await idTold(0, 'lost', 1);
  await produce(0, 'lost');
  for (const broker of [1, 0]) await cluster.stopBroker(broker);
  await rewriteWithoutId('lost', []);
  for (const broker of [0, 1]) await cluster.startBroker(broker);
  for (const broker of [0, 1]) assert.equal(await idTold(broker, 'lost', 1), topicId);
  assert.equal(await idInTree('lost'), topicId);
  await until('broker 0 leads with what it had', async () => {
    const [errorCode, highWatermark] = (await fetchById(0, topicId)) as [number, number];
    return errorCode === errorCodes.NONE && highWatermark === 1;
  });
});
