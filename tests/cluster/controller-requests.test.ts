// What brokers ask of the controller, and administrators of it alone, over the wire in every version.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { brokerIdNode, partitionStateNode } from '@odradek/coordination';
import {
  AllocateProducerIdsRequest,
  AllocateProducerIdsResponse,
  AlterPartitionReassignmentsRequest,
  AlterPartitionReassignmentsResponse,
  AlterPartitionRequest,
  AlterPartitionResponse,
  ApiVersionsRequest,
  ApiVersionsResponse,
  ControlledShutdownRequest,
  ControlledShutdownResponse,
  CreatePartitionsRequest,
  CreatePartitionsResponse,
  CreateTopicsRequest,
  CreateTopicsResponse,
  DeleteTopicsRequest,
  DeleteTopicsResponse,
  ElectLeadersRequest,
  ElectLeadersResponse,
  errorByCode,
  errorCodes,
  ListPartitionReassignmentsRequest,
  ListPartitionReassignmentsResponse,
  MetadataRequest,
  MetadataResponse,
  zeroUuid,
} from '@odradek/protocol';
import { InProcessBroker, type InProcessCluster, type RawClient, startCluster } from '@odradek/testing';

const topic = 't';
const [controllerId, otherId] = [0, 1];
let cluster: InProcessCluster;
let controller: RawClient;
let other: RawClient;
let topicId: string;

before(async () => {
  cluster = await startCluster({ brokers: 2 });
  controller = await cluster.client(controllerId);
  other = await cluster.client(otherId);
  const request = { topics: [{ name: topic, numPartitions: 1, replicationFactor: 2 }], timeoutMs: 10_000 };
  const { topics } = await controller.send(CreateTopicsRequest, CreateTopicsResponse, 7, request);
  assert.equal(topics[0]?.errorCode, errorCodes.NONE);
  topicId = topics[0]?.topicId ?? '';
});
after(() => cluster.close());

async function epochOf(brokerId: number): Promise<number> {
  return (await cluster.coordination.exists(brokerIdNode.path(brokerId)))?.czxid ?? -1;
}

async function state() {
  const { data, stat } = await cluster.coordination.get(partitionStateNode.path(topic, 0));
  return { ...partitionStateNode.decode(topic, data), partitionEpoch: stat.version };
}

for (let version = 0; version <= 3; version++) {
  test(`AlterPartition ${version} changes the in-sync replicas of a leader`, async () => {
    const before = await state();
    const { leader } = before;
    const answer = async (newIsr: readonly number[], epochs: { readonly leaderEpoch?: number } = {}) => {
      const { leaderEpoch, partitionEpoch } = await state();
      const replicas = version < 3 ? { newIsr } : { newIsrWithEpochs: newIsr.map((brokerId) => ({ brokerId })) };
      const partitions = [{ partitionIndex: 0, leaderEpoch, partitionEpoch, ...epochs, ...replicas }];
      const { errorCode, topics } = await controller.send(AlterPartitionRequest, AlterPartitionResponse, version, {
        brokerId: leader,
        brokerEpoch: await epochOf(leader),
        topics: [version < 2 ? { topicName: topic, partitions } : { topicId, partitions }],
      });
      assert.deepEqual([topics[0]?.topicName, topics[0]?.topicId], version < 2 ? [topic, zeroUuid] : ['', topicId]);
      const [altered] = topics[0]?.partitions ?? [];
      return [errorCode, altered?.errorCode, altered?.isr];
    };
    const { NONE, NOT_CONTROLLER, OPERATION_NOT_ATTEMPTED, INELIGIBLE_REPLICA } = errorCodes;
    assert.deepEqual(await answer([leader, 9]), [NONE, version < 2 ? OPERATION_NOT_ATTEMPTED : INELIGIBLE_REPLICA, []]);
    assert.deepEqual(await answer([leader], { leaderEpoch: before.leaderEpoch + 1 }), [NONE, NOT_CONTROLLER, []]);
    assert.deepEqual(await answer([leader]), [NONE, NONE, [leader]]);
    assert.deepEqual((await state()).isr, [leader]);
    assert.deepEqual(await answer(before.isr), [NONE, NONE, before.isr]);
  });
}

test('AlterPartition knows topics by their ids', async () => {
  const { leader, leaderEpoch, partitionEpoch } = await state();
  const partitions = [{ partitionIndex: 0, leaderEpoch, partitionEpoch, newIsrWithEpochs: [] }];
  const { topics } = await controller.send(AlterPartitionRequest, AlterPartitionResponse, 3, {
    brokerId: leader,
    brokerEpoch: await epochOf(leader),
    topics: [{ topicId: 'AAAAAAAAAAAAAAAAAAAAAQ', partitions }],
  });
  assert.equal(topics[0]?.partitions[0]?.errorCode, errorCodes.UNKNOWN_TOPIC_ID);
});

test('whoever is not the broker that it was is refused', async () => {
  const stale = { brokerId: otherId, brokerEpoch: 0 };
  const { STALE_BROKER_EPOCH, BROKER_ID_NOT_REGISTERED, BROKER_NOT_AVAILABLE } = errorCodes;
  const alter = await controller.send(AlterPartitionRequest, AlterPartitionResponse, 3, { ...stale, topics: [] });
  assert.equal(alter.errorCode, STALE_BROKER_EPOCH);
  const ids = await controller.send(AllocateProducerIdsRequest, AllocateProducerIdsResponse, 0, stale);
  assert.deepEqual([ids.errorCode, ids.producerIdLen], [STALE_BROKER_EPOCH, 0]);
  const unknown = await controller.send(AllocateProducerIdsRequest, AllocateProducerIdsResponse, 0, {
    brokerId: 7,
    brokerEpoch: 0,
  });
  assert.equal(unknown.errorCode, BROKER_ID_NOT_REGISTERED);
  const stopping = await controller.send(ControlledShutdownRequest, ControlledShutdownResponse, 3, stale);
  assert.equal(stopping.errorCode, STALE_BROKER_EPOCH);
  const gone = await controller.send(ControlledShutdownRequest, ControlledShutdownResponse, 3, { brokerId: 7, brokerEpoch: 9 });
  assert.equal(gone.errorCode, BROKER_NOT_AVAILABLE);
});

test('AllocateProducerIds gives each block once', async () => {
  const request = { brokerId: otherId, brokerEpoch: await epochOf(otherId) };
  const blocks = [
    await controller.send(AllocateProducerIdsRequest, AllocateProducerIdsResponse, 0, request),
    await controller.send(AllocateProducerIdsRequest, AllocateProducerIdsResponse, 0, request),
  ];
  assert.deepEqual(
    blocks.map(({ errorCode, producerIdLen }) => [errorCode, producerIdLen]),
    [
      [errorCodes.NONE, 1000],
      [errorCodes.NONE, 1000],
    ],
  );
  assert.equal((blocks[1]?.producerIdStart ?? 0) - (blocks[0]?.producerIdStart ?? 0), 1000);
});

for (const version of [0, 1]) {
  test(`AlterPartitionReassignments ${version} moves a partition and lists the move no more when it is done`, async () => {
    const ask = async (replicas: number[] | null, more: object = {}) => {
      const topics = [{ name: topic, partitions: [{ partitionIndex: 0, replicas }] }];
      const exchange = [AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse] as const;
      const answer = await controller.send(...exchange, version, { timeoutMs: 10_000, topics, ...more });
      return [answer.errorCode, answer.responses[0]?.partitions[0]?.errorCode];
    };
    assert.deepEqual(await ask(null), [errorCodes.NONE, errorCodes.NO_REASSIGNMENT_IN_PROGRESS]);
    assert.deepEqual(await ask([5]), [errorCodes.NONE, errorCodes.INVALID_REPLICA_ASSIGNMENT]);
    if (version === 1) {
      const forbidden = await ask([0], { allowReplicationFactorChange: false });
      assert.deepEqual(forbidden, [errorCodes.NONE, errorCodes.INVALID_REPLICATION_FACTOR]);
    }
    assert.deepEqual(await ask([1, 0]), [errorCodes.NONE, errorCodes.NONE]);
    const listed = await controller.send(ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse, 0, {
      timeoutMs: 10_000,
      topics: null,
    });
    assert.deepEqual([listed.errorCode, listed.topics], [errorCodes.NONE, []]);
  });
}

test('who is not the controller says so', async () => {
  const { NOT_CONTROLLER } = errorCodes;
  const timeoutMs = 1000;
  const epoch = { brokerId: otherId, brokerEpoch: await epochOf(otherId) };
  const created = await other.send(CreateTopicsRequest, CreateTopicsResponse, 7, { topics: [{ name: 'new' }], timeoutMs });
  const deleted = await other.send(DeleteTopicsRequest, DeleteTopicsResponse, 6, { topics: [{ name: topic }], timeoutMs });
  const grown = await other.send(CreatePartitionsRequest, CreatePartitionsResponse, 3, {
    topics: [{ name: topic, count: 3 }],
    timeoutMs,
  });
  assert.deepEqual(
    [created.topics[0]?.errorCode, deleted.responses[0]?.errorCode, grown.results[0]?.errorCode],
    [NOT_CONTROLLER, NOT_CONTROLLER, NOT_CONTROLLER],
  );
  const exchanges = [
    other.send(AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse, 1, { topics: [], timeoutMs }),
    other.send(ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse, 0, { topics: null, timeoutMs }),
    other.send(AlterPartitionRequest, AlterPartitionResponse, 3, { ...epoch, topics: [] }),
    other.send(AllocateProducerIdsRequest, AllocateProducerIdsResponse, 0, epoch),
  ];
  for (const { errorCode } of await Promise.all(exchanges)) assert.equal(errorCode, NOT_CONTROLLER);
  const elected = await other.send(ElectLeadersRequest, ElectLeadersResponse, 2, { topicPartitions: null, timeoutMs });
  assert.equal(elected.errorCode, errorCodes.NONE);
  assert.deepEqual(elected.replicaElectionResults, [
    { topic, partitionResult: [{ partitionId: 0, errorCode: NOT_CONTROLLER, errorMessage: errorByCode(NOT_CONTROLLER).message }] },
  ]);
  const stopping = await other.send(ControlledShutdownRequest, ControlledShutdownResponse, 3, epoch);
  assert.equal(stopping.errorCode, errorCodes.STALE_CONTROLLER_EPOCH);
});

for (let version = 0; version <= 3; version++) {
  test(`ControlledShutdown ${version} takes a broker's leaderships away`, async () => {
    const brokerEpoch = version >= 2 ? await epochOf(otherId) : -1;
    const request = { brokerId: otherId, brokerEpoch };
    const answer = await controller.send(ControlledShutdownRequest, ControlledShutdownResponse, version, request);
    assert.deepEqual([answer.errorCode, answer.remainingPartitions], [errorCodes.NONE, []]);
    assert.equal((await state()).leader, controllerId);
  });
}

test('a client is offered what brokers say to each other only where brokers come in', async () => {
  await using alone = await InProcessBroker.start();
  const offered = async (client: RawClient): Promise<number[]> => {
    const request = { clientSoftwareName: 'test', clientSoftwareVersion: '1' };
    const { apiKeys } = await client.send(ApiVersionsRequest, ApiVersionsResponse, 3, request);
    return apiKeys.map(({ apiKey }) => apiKey).filter((key) => [4, 5, 6, 7, 56, 67].includes(key));
  };
  assert.deepEqual(await offered(await alone.client()), []);
  assert.deepEqual(await offered(other), [4, 5, 6, 7, 56, 67]);
  const refused = await (await alone.client()).send(AlterPartitionRequest, AlterPartitionResponse, 3, { brokerId: 0, topics: [] });
  assert.equal(refused.errorCode, errorCodes.CLUSTER_AUTHORIZATION_FAILED);
});

test('each listener tells its own addresses of all brokers, and only brokers may say what brokers say', async () => {
  await using wide = await startCluster({
    brokers: 2,
    properties: {
      listeners: 'INSIDE://127.0.0.1:0,OUTSIDE://127.0.0.1:0',
      'listener.security.protocol.map': 'INSIDE:PLAINTEXT,OUTSIDE:PLAINTEXT',
      'inter.broker.listener.name': 'INSIDE',
    },
  });
  for (const listener of ['INSIDE', 'OUTSIDE']) {
    const client = await wide.client(1, { port: wide.broker(1).address(listener).port });
    const { brokers } = await client.send(MetadataRequest, MetadataResponse, 9, { topics: [] });
    assert.deepEqual(
      brokers.map(({ nodeId, port }) => [nodeId, port]),
      [0, 1].map((id) => [id, wide.broker(id).address(listener).port]),
    );
    const { errorCode } = await client.send(AlterPartitionRequest, AlterPartitionResponse, 3, { brokerId: 1, topics: [] });
    assert.equal(errorCode, listener === 'INSIDE' ? errorCodes.NOT_CONTROLLER : errorCodes.CLUSTER_AUTHORIZATION_FAILED);
  }
});
