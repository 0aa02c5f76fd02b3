// Three brokers on a real ZooKeeper, which goes away altogether: what they lead and follow goes on, changes of the cluster wait, and when
// it is back, so is everything else.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  buildRecordBatch,
  CreateTopicsRequest,
  CreateTopicsResponse,
  errorCodes,
  MetadataRequest,
  MetadataResponse,
  ProduceRequest,
  ProduceResponse,
} from '@odradek/protocol';
import {
  InProcessBroker,
  needed,
  type RawClient,
  skipWithout,
  startZooKeeper,
  until,
  type ZooKeeperEnsemble,
  zooKeeperJars,
} from '@odradek/testing';

const jars = await zooKeeperJars();
const skip = skipWithout(jars);
const topic = 'steady';
const ids = [0, 1, 2];
let zookeeper: ZooKeeperEnsemble;
let brokers: InProcessBroker[] = [];
let client: RawClient;

before(async () => {
  if (skip !== false) return;
  zookeeper = await startZooKeeper(needed(jars), { tickTimeMs: 500 });
  brokers = await Promise.all(
    ids.map((id) =>
      InProcessBroker.start({
        properties: {
          'broker.id': id,
          'zookeeper.connect': `${zookeeper.connect}/in/a/chroot`,
          'zookeeper.session.timeout.ms': 4000,
          'controlled.shutdown.max.retries': 1,
        },
      }),
    ),
  );
  client = await (brokers[0] as InProcessBroker).client();
});
after(async () => {
  for (const broker of brokers) await broker.close();
  await zookeeper?.close();
});

async function createTopic(name: string): Promise<number | undefined> {
  const { controllerId } = await client.send(MetadataRequest, MetadataResponse, 12, { topics: [] });
  const controller = await brokers[controllerId]?.client();
  const request = { topics: [{ name, numPartitions: 3, replicationFactor: 3 }], timeoutMs: 2000 };
  return (await controller?.send(CreateTopicsRequest, CreateTopicsResponse, 7, request))?.topics[0]?.errorCode;
}

async function partitions() {
  return (await client.send(MetadataRequest, MetadataResponse, 12, { topics: [{ name: topic }] })).topics[0]?.partitions ?? [];
}

/** A record for each partition, acknowledged by all replicas. */
async function produceEverywhere(): Promise<void> {
  for (const { leaderId, partitionIndex } of await partitions()) {
    const leader = await brokers[leaderId]?.client();
    const records = buildRecordBatch({}, [{ timestamp: 1_000, key: null, value: Buffer.from('x') }]);
    const answer = await leader?.send(ProduceRequest, ProduceResponse, 9, {
      acks: -1,
      timeoutMs: 5_000,
      topicData: [{ name: topic, partitionData: [{ index: partitionIndex, records }] }],
    });
    assert.equal(answer?.responses[0]?.partitionResponses[0]?.errorCode, errorCodes.NONE);
  }
}

const isWhole = async (): Promise<boolean> => {
  const all = await partitions();
  return all.length === 3 && all.every(({ leaderId, isrNodes }) => leaderId >= 0 && isrNodes.length === 3);
};

test('brokers go on without ZooKeeper, and change again when it is back', { skip, timeout: 120_000 }, async () => {
  const { brokers: known } = await until('all brokers are known', async () => {
    const answer = await client.send(MetadataRequest, MetadataResponse, 12, { topics: [] });
    return answer.brokers.length === ids.length && answer.controllerId >= 0 ? answer : undefined;
  });
  assert.deepEqual(
    known.map(({ nodeId }) => nodeId),
    ids,
  );
  assert.equal(await createTopic(topic), errorCodes.NONE);
  await until('the topic is whole', isWhole);

  for (const server of zookeeper.servers) await server.kill();
  await until('the brokers notice', () => brokers.every(({ log }) => log.includes('cannot be reached')));
  for (let round = 0; round < 5; round++) await produceEverywhere();
  // Who waits hears in the end that it may be done or not; and who may be the controller no more is none.
  const answers = new Set<number | undefined>();
  await until('there is no controller', async () => {
    const answer = await createTopic('later');
    answers.add(answer);
    return answer === errorCodes.NOT_CONTROLLER;
  });
  answers.delete(errorCodes.REQUEST_TIMED_OUT);
  assert.deepEqual([...answers], [errorCodes.NOT_CONTROLLER]);
  await produceEverywhere();

  await Promise.all(zookeeper.servers.map((server) => server.start()));
  await until('a topic can be created', async () => (await createTopic('later')) === errorCodes.NONE, { timeoutMs: 30_000 });
  await until('the topic is whole', isWhole, { timeoutMs: 30_000 });
  await produceEverywhere();
});

test('a broker that finds no ZooKeeper says so in one line', { timeout: 30_000 }, async () => {
  const properties = { 'zookeeper.connect': '127.0.0.1:1', 'zookeeper.connection.timeout.ms': 300 };
  await assert.rejects(
    InProcessBroker.start({ properties }),
    (error: unknown) =>
      error instanceof Error && /^No ZooKeeper server of zookeeper\.connect, 127\.0\.0\.1:1, .* 300 ms/.test(error.message),
  );
});
