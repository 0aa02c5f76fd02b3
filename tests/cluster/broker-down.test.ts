// What may be asked of a cluster while one of its brokers is down, and what comes of it when the broker is back: as Apache Kafka 3.9 on
// ZooKeeper does, to which the same was done.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { topicNode } from '@odradek/coordination';
import {
  AlterPartitionReassignmentsRequest,
  AlterPartitionReassignmentsResponse,
  CreatePartitionsRequest,
  CreatePartitionsResponse,
  CreateTopicsRequest,
  CreateTopicsResponse,
  DeleteTopicsRequest,
  DeleteTopicsResponse,
  errorByCode,
  MetadataRequest,
  MetadataResponse,
} from '@odradek/protocol';
import { type InProcessCluster, type RawClient, startCluster, until } from '@odradek/testing';

const [controllerId, down] = [0, 2];
let cluster: InProcessCluster;
let controller: RawClient;

before(async () => {
  cluster = await startCluster({ brokers: 3 });
  controller = await cluster.client(controllerId);
  assert.equal(await create('on-all', [0, 1, down]), 'NONE');
  await cluster.killBroker(down);
  await until('the broker is gone', async () => {
    const { brokers } = await controller.send(MetadataRequest, MetadataResponse, 12, { topics: [] });
    return brokers.length === 2;
  });
});
after(() => cluster.close());

function nameOf(errorCode: number | undefined): string {
  return errorByCode(errorCode ?? -1).name;
}

async function create(name: string, brokerIds: readonly number[]): Promise<string> {
  const topic = { name, numPartitions: -1, replicationFactor: -1, assignments: [{ partitionIndex: 0, brokerIds }] };
  const request = { timeoutMs: 10_000, topics: [topic] };
  return nameOf((await controller.send(CreateTopicsRequest, CreateTopicsResponse, 7, request)).topics[0]?.errorCode);
}

async function grow(name: string, count: number, brokerIds: readonly number[] | null = null): Promise<string> {
  const assignments = brokerIds === null ? null : [{ brokerIds }];
  const request = { timeoutMs: 10_000, topics: [{ name, count, assignments }] };
  return nameOf((await controller.send(CreatePartitionsRequest, CreatePartitionsResponse, 3, request)).results[0]?.errorCode);
}

async function move(name: string, replicas: readonly number[]): Promise<string> {
  const request = { timeoutMs: 10_000, topics: [{ name, partitions: [{ partitionIndex: 0, replicas }] }] };
  const answer = await controller.send(AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse, 0, request);
  return nameOf(answer.responses[0]?.partitions[0]?.errorCode);
}

test('a topic may be assigned to it beside others, but not to it alone, nor to one that nobody knows', async () => {
  assert.equal(await create('assigned', [1, down]), 'NONE');
  assert.equal(await create('alone', [down]), 'INVALID_REPLICA_ASSIGNMENT');
  assert.equal(await create('unknown', [1, 9]), 'INVALID_REPLICA_ASSIGNMENT');
});

test('no partition is added on it', async () => {
  assert.equal(await grow('on-all', 2), 'INVALID_REPLICATION_FACTOR');
  assert.equal(await grow('on-all', 2, [0, 1, down]), 'INVALID_REPLICA_ASSIGNMENT');
});

test('a move is refused for its target before anybody asks whether there is such a partition', async () => {
  assert.equal(await move('on-all', [0, 1, 9]), 'INVALID_REPLICA_ASSIGNMENT');
  assert.equal(await move('nowhere', []), 'INVALID_REPLICA_ASSIGNMENT');
  assert.equal(await move('nowhere', [1, 1]), 'INVALID_REPLICA_ASSIGNMENT');
  assert.equal(await move('nowhere', [9]), 'INVALID_REPLICA_ASSIGNMENT');
  assert.equal(await move('nowhere', [0]), 'UNKNOWN_TOPIC_OR_PARTITION');
});

test('a topic that waits for it to be deleted is queued for deletion, and no other can have its name', async () => {
  assert.equal(await create('waiting', [1, down]), 'NONE');
  const { responses } = await controller.send(DeleteTopicsRequest, DeleteTopicsResponse, 5, {
    timeoutMs: 10_000,
    topicNames: ['waiting'],
  });
  assert.equal(nameOf(responses[0]?.errorCode), 'NONE');
  assert.equal(await grow('waiting', 3), 'INVALID_TOPIC_EXCEPTION');
  assert.equal(await grow('a/b', 3), 'UNKNOWN_TOPIC_OR_PARTITION');
  assert.equal(await create('waiting', [1]), 'TOPIC_ALREADY_EXISTS');
});

test('when it is back it follows what was assigned to it, and what waited for it is gone', async () => {
  await cluster.startBroker(down);
  await until('both replicas are in sync', async () => {
    const request = { topics: [{ name: 'assigned' }] };
    const { topics } = await controller.send(MetadataRequest, MetadataResponse, 12, request);
    return topics[0]?.partitions[0]?.isrNodes.length === 2;
  });
  await until('the topic is gone', async () => (await cluster.coordination.exists(topicNode.path('waiting'))) === undefined);
});
