// A broker that loses its session in the coordination store goes on serving, registers again under a new epoch, and is where it was before
// long; a controller that does so hands the office on.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { brokerIdNode, controllerEpochNode, controllerNode, isCoordinationError, partitionStateNode } from '@odradek/coordination';
import {
  buildRecordBatch,
  CreateTopicsRequest,
  CreateTopicsResponse,
  DescribeConfigsRequest,
  DescribeConfigsResponse,
  errorCodes,
  IncrementalAlterConfigsRequest,
  IncrementalAlterConfigsResponse,
  ProduceRequest,
  ProduceResponse,
} from '@odradek/protocol';
import { type InProcessCluster, startCluster, until } from '@odradek/testing';

const topic = 'kept';
let cluster: InProcessCluster;

before(async () => {
  cluster = await startCluster({ brokers: 3 });
  const assignments = [0, 1, 2].map((index) => ({ partitionIndex: index, brokerIds: [0, 1, 2].map((id) => (id + index) % 3) }));
  const { topics } = await (await cluster.client(await controllerId())).send(CreateTopicsRequest, CreateTopicsResponse, 7, {
    topics: [{ name: topic, numPartitions: -1, replicationFactor: -1, assignments }],
    timeoutMs: 10_000,
  });
  assert.equal(topics[0]?.errorCode, errorCodes.NONE);
});
after(() => cluster.close());

async function controllerId(): Promise<number> {
  return controllerNode.decode((await cluster.coordination.get(controllerNode.path)).data).brokerId;
}

async function controllerEpoch(): Promise<number> {
  return controllerEpochNode.decode((await cluster.coordination.get(controllerEpochNode.path)).data);
}

/** undefined: the broker is not registered. */
async function brokerEpoch(id: number): Promise<number | undefined> {
  return (await cluster.coordination.exists(brokerIdNode.path(id)))?.czxid;
}

async function leadershipOf(partition: number): Promise<ReturnType<typeof partitionStateNode.decode>> {
  const { data } = await cluster.coordination.get(partitionStateNode.path(topic, partition));
  return partitionStateNode.decode(topic, data);
}

function untilAllInSync(): Promise<unknown> {
  return until('all replicas are in sync', async () => {
    const leaderships = await Promise.all([0, 1, 2].map(leadershipOf));
    return leaderships.every(({ isr, leader }) => isr.length === 3 && leader >= 0);
  });
}

/** Acknowledged by all replicas in sync; asks until the leader is known to be one. */
async function produce(partition: number, value: string): Promise<void> {
  await until('a record is acknowledged', async () => {
    const { leader } = await leadershipOf(partition);
    if (!cluster.brokerIds.includes(leader)) return false;
    const client = await cluster.client(leader);
    const records = buildRecordBatch({}, [{ timestamp: 1_000, key: null, value: Buffer.from(value) }]);
    const { responses } = await client.send(ProduceRequest, ProduceResponse, 9, {
      acks: -1,
      timeoutMs: 5_000,
      topicData: [{ name: topic, partitionData: [{ index: partition, records }] }],
    });
    return responses[0]?.partitionResponses[0]?.errorCode === errorCodes.NONE;
  });
}

async function loseSession(id: number): Promise<void> {
  const before = (await brokerEpoch(id)) ?? Number.NaN;
  await cluster.expireSession(id);
  await until('the broker is registered again', async () => ((await brokerEpoch(id)) ?? -1) > before);
}

test('a follower registers again under a new epoch and comes back in sync', async () => {
  await untilAllInSync();
  const [controller, epoch] = [await controllerId(), await controllerEpoch()];
  await loseSession((controller + 1) % 3);
  await produce(controller, 'meanwhile');
  await untilAllInSync();
  assert.deepEqual([await controllerId(), await controllerEpoch()], [controller, epoch], 'the controller stays');
});

test('a controller hands the office on and goes on as a broker', async () => {
  const [controller, epoch] = [await controllerId(), await controllerEpoch()];
  await loseSession(controller);
  await until('there is another term', async () => {
    try {
      return (await controllerEpoch()) > epoch && (await controllerId()) >= 0;
    } catch (error) {
      if (isCoordinationError(error, 'NoNode')) return false;
      throw error;
    }
  });
  assert.equal(await controllerEpoch(), epoch + 1);
  for (const partition of [0, 1, 2]) await produce(partition, 'afterwards');
  await untilAllInSync();
});

test('what is configured through another broker arrives in the new session', async () => {
  for (const id of [0, 1, 2]) await loseSession(id);
  const [altering, asked] = [1, 2];
  const altered = await (await cluster.client(altering)).send(IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse, 1, {
    resources: [
      { resourceType: 2, resourceName: topic, configs: [{ name: 'retention.ms', configOperation: 0, value: '86400001' }] },
    ],
  });
  assert.equal(altered.responses[0]?.errorCode, errorCodes.NONE);
  const client = await cluster.client(asked);
  await until('the other broker has it', async () => {
    const { results } = await client.send(DescribeConfigsRequest, DescribeConfigsResponse, 4, {
      resources: [{ resourceType: 2, resourceName: topic, configurationKeys: ['retention.ms'] }],
    });
    return results[0]?.configs[0]?.value === '86400001';
  });
  await untilAllInSync();
});
