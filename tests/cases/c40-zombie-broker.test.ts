// C40: a broker that leads and controls hangs for longer than its session. Others take both over; when it wakes up it still believes in its
// offices, and nobody believes it.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  buildRecordBatch,
  errorCodes,
  FetchRequest,
  FetchResponse,
  LeaderAndIsrRequest,
  LeaderAndIsrResponse,
  MetadataRequest,
  MetadataResponse,
  ProduceRequest,
  ProduceResponse,
  UpdateMetadataRequest,
  UpdateMetadataResponse,
} from '@odradek/protocol';
import {
  needed,
  type OdradekProcess,
  RawClient,
  skipWithout,
  startOdradekProcess,
  startZooKeeper,
  until,
  type ZooKeeperEnsemble,
  zooKeeperJars,
} from '@odradek/testing';
import kafkajs, { type Consumer } from 'kafkajs';
import { ClusterView } from '../cluster/cluster-view.ts';

const jars = await zooKeeperJars();
const skip = skipWithout(jars);
const topic = 'c40';
const ids = [0, 1, 2];
const patience = { timeoutMs: 60_000 };

describe('C40 zombie broker after a lost ZooKeeper session', { skip }, () => {
  let zookeeper: ZooKeeperEnsemble;
  const brokers: OdradekProcess[] = [];
  const consumers: Consumer[] = [];
  let paused: number | undefined;
  const view = new ClusterView(() => ids.filter((id) => id !== paused).map((id) => broker(id).port));

  before(async () => {
    zookeeper = await startZooKeeper(needed(jars));
    for (const id of ids) {
      const properties = {
        'broker.id': id,
        'zookeeper.connect': zookeeper.connect,
        'zookeeper.session.timeout.ms': 3000,
        'offsets.topic.replication.factor': 3,
        'offsets.topic.num.partitions': 1,
        'min.insync.replicas': 2,
        'auto.leader.rebalance.enable': false,
        'group.initial.rebalance.delay.ms': 0,
      };
      brokers.push(await startOdradekProcess({ properties }));
    }
    await until('all brokers are known', async () => (await view.metadata()).brokers.length === ids.length);
  });
  after(async () => {
    await Promise.all(consumers.map((consumer) => consumer.disconnect()));
    await Promise.all(brokers.map((each) => each.close()));
    await zookeeper?.close();
  });

  function broker(id: number): OdradekProcess {
    const found = brokers[id];
    assert.ok(found !== undefined);
    return found;
  }

  function connect(id: number): Promise<RawClient> {
    return RawClient.connect({ port: broker(id).port, timeoutMs: 60_000 });
  }

  async function produce(client: RawClient, value: string): Promise<number | undefined> {
    const records = buildRecordBatch({}, [{ timestamp: Date.now(), key: null, value: Buffer.from(value) }]);
    const { responses } = await client.send(ProduceRequest, ProduceResponse, 8, {
      acks: -1,
      timeoutMs: 10_000,
      topicData: [{ name: topic, partitionData: [{ index: 0, records }] }],
    });
    return responses[0]?.partitionResponses[0]?.errorCode;
  }

  async function leadership(): Promise<{ readonly leader: number; readonly leaderEpoch: number }> {
    await using client = await connect(ids.find((id) => id !== paused) ?? 0);
    const { topics } = await client.send(MetadataRequest, MetadataResponse, 8, { topics: [{ name: topic }] });
    const [partition] = topics[0]?.partitions ?? [];
    return { leader: partition?.leaderId ?? -1, leaderEpoch: partition?.leaderEpoch ?? -1 };
  }

  /** What a member of the group reads from now on, as `OFFSET VALUE`. A group that rebalances may read a record again. */
  async function read(groupId: string): Promise<Set<string>> {
    const client = new kafkajs.Kafka({
      brokers: brokers.map(({ bootstrap }) => bootstrap),
      logLevel: kafkajs.logLevel.NOTHING,
      retry: { retries: 1000, initialRetryTime: 50, maxRetryTime: 500 },
      requestTimeout: 5000,
    });
    const consumer = client.consumer({ groupId, sessionTimeout: 10_000 });
    consumers.push(consumer);
    const values = new Set<string>();
    await consumer.connect();
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
    await consumer.run({ eachMessage: async ({ message }) => void values.add(`${message.offset} ${message.value}`) });
    return values;
  }

  test('the others go on without it, and take it in again as one who follows', { timeout: 240_000 }, async () => {
    const zombie = await view.someController();
    const [second = 0, third = 0] = ids.filter((id) => id !== zombie);
    await view.createTopic(topic, [[zombie, second, third]]);
    await view.untilEach(topic, 'all are in sync', ({ leader, isr }) => leader === zombie && isr.length === 3);
    const before = await leadership();
    await using toZombie = await connect(zombie);
    assert.equal(await produce(toZombie, 'before'), errorCodes.NONE);
    const values = await read('readers');
    await until('the reader reads', () => values.size === 1, patience);

    paused = zombie;
    broker(zombie).pause();
    // It lies there until the zombie wakes up, and takes itself for the leader still.
    const late = produce(toZombie, 'late');
    await view.untilGone(zombie);
    await view.untilEach(topic, 'another leads', ({ leader }) => leader === second);
    await until('another controls', async () => ![zombie, -1].includes(await view.controller()), patience);
    const meanwhile = await leadership();
    assert.ok(meanwhile.leaderEpoch > before.leaderEpoch);
    await using toSecond = await connect(second);
    assert.equal(await produce(toSecond, 'meanwhile'), errorCodes.NONE);

    broker(zombie).resume();
    paused = undefined;
    assert.notEqual(await late, errorCodes.NONE, 'what nobody else has is not acknowledged');
    await view.untilEach(topic, 'it is in sync again', ({ leader, isr }) => leader === second && isr.length === 3);
    const controllers = await until(
      'all brokers know the same controller',
      async () => {
        const told = await Promise.all(ids.map((id) => new ClusterView(() => [broker(id).port]).controller()));
        return new Set(told).size === 1 && told[0] !== -1 && told;
      },
      patience,
    );
    assert.notEqual(controllers[0], zombie);

    assert.equal(await fetchInEpoch(toSecond, before.leaderEpoch), errorCodes.FENCED_LEADER_EPOCH);
    for (const id of ids) await assertDeafToOldControllers(id, zombie);

    assert.equal(await produce(toSecond, 'after'), errorCodes.NONE);
    await until('the reader reads on', () => values.size >= 3, patience);
    assert.deepEqual([...values], ['0 before', '1 meanwhile', '2 after']);
    await view.electPreferred(topic);
    const again = await read('others');
    await until('what the zombie has can be read from it', () => again.size >= 3, patience);
    assert.deepEqual([...again], [...values], 'it has cut off what was never acknowledged');
  });

  async function fetchInEpoch(client: RawClient, currentLeaderEpoch: number): Promise<number | undefined> {
    const partitions = [{ partition: 0, currentLeaderEpoch, fetchOffset: 0, partitionMaxBytes: 1_000_000 }];
    const request = { maxWaitMs: 0, minBytes: 0, topics: [{ topic, partitions }] };
    const { responses } = await client.send(FetchRequest, FetchResponse, 11, request);
    return responses[0]?.partitions[0]?.errorCode;
  }

  async function assertDeafToOldControllers(id: number, controllerId: number): Promise<void> {
    await using client = await connect(id);
    const old = { controllerId, controllerEpoch: 1 };
    const ordered = await client.send(LeaderAndIsrRequest, LeaderAndIsrResponse, 4, { ...old, topicStates: [], liveLeaders: [] });
    assert.equal(ordered.errorCode, errorCodes.STALE_CONTROLLER_EPOCH);
    const told = await client.send(UpdateMetadataRequest, UpdateMetadataResponse, 6, { ...old, topicStates: [], liveBrokers: [] });
    assert.equal(told.errorCode, errorCodes.STALE_CONTROLLER_EPOCH);
  }
});
