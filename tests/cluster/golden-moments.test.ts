// The tree that three of our brokers leave, moment by moment, is the one that three brokers of Apache Kafka 3.9 left when the same was done to
// them, and what the controller told the other brokers last of each partition, in LeaderAndIsr, StopReplica and UpdateMetadata, is the
// same. Ids, ports, times, versions and the order of in-sync replicas are not compared, nor what is not this test's matter: access
// lists, quotas and credentials, transactions.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import {
  AlterPartitionReassignmentsRequest,
  AlterPartitionReassignmentsResponse,
  CreatePartitionsRequest,
  CreatePartitionsResponse,
  CreateTopicsRequest,
  CreateTopicsResponse,
  DeleteTopicsRequest,
  DeleteTopicsResponse,
  ElectLeadersRequest,
  ElectLeadersResponse,
  errorCodes,
  IncrementalAlterConfigsRequest,
  IncrementalAlterConfigsResponse,
  InitProducerIdRequest,
  InitProducerIdResponse,
  type MessageInit,
  MetadataRequest,
  MetadataResponse,
} from '@odradek/protocol';
import { goldenDirectory, type InProcessCluster, type RawClient, startCluster, until } from '@odradek/testing';

const directory = goldenDirectory();
const skip = directory === undefined && 'no golden facts';
const timeoutMs = 30_000;

interface Znode {
  readonly path: string;
  readonly data: string | null;
  readonly ephemeral: boolean;
}

/** Ours alone, or not what this test does. */
const left = [
  /^\/$/,
  /^\/zookeeper/,
  /^\/kafka-acl/,
  /^\/delegation_token/,
  /^\/config\/(users|clients|ips|groups|client-metrics|other_changes|changes)(\/|$)/,
  /__transaction_state/,
];

function goldenTree(moment: string): Map<string, string> {
  const text = readFileSync(join(directory ?? '', 'zookeeper', `${moment}.json`), 'utf8');
  const { znodes } = JSON.parse(text) as { znodes: Znode[] };
  return new Map(znodes.filter(({ path }) => isCompared(path)).map((node) => [node.path, masked(node)]));
}

function isCompared(path: string): boolean {
  return !left.some((pattern) => pattern.test(path));
}

function masked({ path, data, ephemeral }: Znode): string {
  const text = (data ?? 'null')
    .replace(/"timestamp":"\d+"/, '"timestamp":"…"')
    .replace(/:\d{4,5}"/, ':PORT"')
    .replace(/"port":\d+/, '"port":PORT')
    .replace(/"topic_id":"[\w-]{22}"/, '"topic_id":"…"')
    .replace(/"id":"[\w-]{22}"/, '"id":"…"')
    .replace(/"isr":\[([\d,]*)\]/, (_, isr: string) => `"isr":[${isr.split(',').sort().join(',')}]`);
  const config = path.startsWith('/config/') && data !== null ? sortedConfig(text) : text;
  return `${config}${ephemeral ? ' ephemeral' : ''}`;
}

function sortedConfig(text: string): string {
  const { config, ...rest } = JSON.parse(text) as { config: Record<string, string> };
  return JSON.stringify({ ...rest, config: Object.fromEntries(Object.entries(config).sort(([a], [b]) => (a < b ? -1 : 1))) });
}

let cluster: InProcessCluster;
/** The tree that the moment should come to. */
let golden: Map<string, string>;

async function ourTree(path = '/', found = new Map<string, string>()): Promise<Map<string, string>> {
  const { coordination } = cluster;
  const { data, stat } = await coordination.get(path);
  const { names } = await coordination.children(path);
  if (isCompared(path)) {
    found.set(path, masked({ path, data: data?.toString() ?? null, ephemeral: stat.ephemeralOwner !== 0n }));
  }
  for (const name of names) await ourTree(path === '/' ? `/${name}` : `${path}/${name}`, found);
  return found;
}

let stopHolding: () => void = () => undefined;
const heldFetches: { forward(): void }[] = [];

// ---- What the controller told the brokers ----

const orders = [
  [4, 'LEADER_AND_ISR'],
  [5, 'STOP_REPLICA'],
  [6, 'UPDATE_METADATA'],
] as const;

interface ToldPartition {
  readonly leader?: number;
  readonly leaderEpoch: number;
  readonly isr?: readonly number[];
  readonly replicas?: readonly number[];
  readonly addingReplicas?: readonly number[];
  readonly removingReplicas?: readonly number[];
  readonly deletePartition?: boolean;
  readonly offlineReplicas?: readonly number[];
}

interface ToldTopics {
  readonly topicStates: readonly {
    readonly topicName: string;
    readonly partitionStates: readonly (ToldPartition & { readonly partitionIndex: number })[];
  }[];
}

/** The last that a broker was told of a partition: to lead it, to follow in it, to stop; and what clients should know of it. */
function told(broker: number, api: string, { topicStates }: ToldTopics): [key: string, what: string][] {
  const about = api === 'UPDATE_METADATA' ? 'known to' : 'on';
  return topicStates.flatMap(({ topicName, partitionStates }) =>
    topicName === '__transaction_state'
      ? []
      : partitionStates.map(({ partitionIndex, ...partition }): [string, string] => [
          `${topicName}-${partitionIndex} ${about} ${broker}`,
          describe(api, partition),
        ]),
  );
}

function describe(api: string, { leader, leaderEpoch, isr = [], replicas, ...rest }: ToldPartition): string {
  const led = `leader ${leader} epoch ${leaderEpoch} isr ${[...isr].sort()} of ${replicas}`;
  switch (api) {
    case 'STOP_REPLICA':
      return `stops${rest.deletePartition === true ? ' and deletes' : ''}`;
    case 'LEADER_AND_ISR':
      return `${led}, +${rest.addingReplicas} -${rest.removingReplicas}`;
    default:
      // Of a partition that goes nothing else matters.
      return leader === -2 ? 'goes' : `${led}, offline ${rest.offlineReplicas}`;
  }
}

interface GoldenRequest {
  readonly before: string;
  readonly toBroker: number;
  readonly clientId: string;
  readonly api: string;
  readonly request: ToldTopics;
}

/** What Kafka's controller told other brokers than its own before the moment. */
function goldenTold(moment: string): Map<string, string> {
  const lines = gunzipSync(readFileSync(join(directory ?? '', 'zookeeper/requests.jsonl.gz')))
    .toString('utf8')
    .trim()
    .split('\n');
  const requests = lines.map((line) => JSON.parse(line) as GoldenRequest);
  return new Map(
    requests
      .filter(({ before, api, toBroker, clientId }) => {
        return orders.some(([, name]) => name === api) && before === moment.slice(3) && String(toBroker) !== clientId;
      })
      .flatMap(({ toBroker, api, request }) => told(toBroker, api, request)),
  );
}

const ourTold = new Map<string, string>();

function listen(): void {
  for (const [apiKey, api] of orders) {
    cluster.intercept(apiKey, ({ to, request, forward }) => {
      // The definition of the API is what says that the request has these.
      for (const [key, what] of told(to ?? -1, api, request as unknown as ToldTopics)) ourTold.set(key, what);
      forward();
    });
  }
}

/** The tree comes to be Kafka's; if it does not, the difference is shown. */
async function becomes(moment: string): Promise<void> {
  golden = goldenTree(moment);
  const lines = (tree: ReadonlyMap<string, string>): string[] => [...tree].map(([path, data]) => `${path} ${data}`).sort();
  try {
    await until(moment, async () => lines(await ourTree()).join('\n') === lines(golden).join('\n'), { timeoutMs: 8_000 });
  } catch {
    assert.deepEqual(lines(await ourTree()), lines(golden));
  }
}

/** Partitions of a topic as the golden tree has them. */
function goldenAssignment(topic: string): { partitionIndex: number; brokerIds: number[] }[] {
  const { partitions } = JSON.parse(golden.get(`/brokers/topics/${topic}`) ?? '{"partitions":{}}') as {
    partitions: Record<string, number[]>;
  };
  return Object.entries(partitions).map(([index, brokerIds]) => ({ partitionIndex: Number(index), brokerIds }));
}

async function controller(): Promise<RawClient> {
  let controllerId = -1;
  await until('there is a controller', async () => {
    const client = await cluster.client(cluster.brokerIds[0] ?? 0);
    ({ controllerId } = await client.send(MetadataRequest, MetadataResponse, 12, { topics: [] }));
    return cluster.brokerIds.includes(controllerId);
  });
  return cluster.client(controllerId);
}

async function createTopic(name: string, configs: Record<string, string> = {}): Promise<void> {
  const topic = { name, numPartitions: -1, replicationFactor: -1, assignments: goldenAssignment(name) };
  const { topics } = await (await controller()).send(CreateTopicsRequest, CreateTopicsResponse, 7, {
    topics: [{ ...topic, configs: Object.entries(configs).map(([key, value]) => ({ name: key, value })) }],
    timeoutMs,
  });
  assert.deepEqual(
    topics.map(({ errorCode, errorMessage }) => [errorCode, errorMessage]),
    [[errorCodes.NONE, null]],
  );
}

async function alterConfigs(broker: number, type: number, name: string, configs: Record<string, string | null>): Promise<void> {
  const changes = Object.entries(configs).map(([key, value]) => ({ name: key, configOperation: value === null ? 1 : 0, value }));
  const { responses } = await (await cluster.client(broker)).send(
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
    1,
    { resources: [{ resourceType: type, resourceName: name, configs: changes }] },
  );
  assert.deepEqual(
    responses.map(({ errorCode, errorMessage }) => [errorCode, errorMessage]),
    [[errorCodes.NONE, null]],
  );
}

function goldenConfigs(path: string): Record<string, string> {
  return (JSON.parse(golden.get(path) ?? '{"config":{}}') as { config: Record<string, string> }).config;
}

async function takeProducerIds(broker: number): Promise<void> {
  const client = await cluster.client(broker);
  await until('there are producer ids', async () => {
    const request: MessageInit<typeof InitProducerIdRequest> = { transactionalId: null, transactionTimeoutMs: 1000 };
    return (await client.send(InitProducerIdRequest, InitProducerIdResponse, 4, request)).errorCode === errorCodes.NONE;
  });
}

async function electPreferred(): Promise<void> {
  const elected = await (await controller()).send(ElectLeadersRequest, ElectLeadersResponse, 2, {
    electionType: 0,
    topicPartitions: null,
    timeoutMs,
  });
  assert.equal(elected.errorCode, errorCodes.NONE);
}

async function moveTopic(): Promise<void> {
  const partitions = [
    { partitionIndex: 0, replicas: [1, 2] },
    { partitionIndex: 1, replicas: [0, 1] },
  ];
  const request = { timeoutMs, topics: [{ name: 't-move', partitions }] };
  const exchange = [AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse] as const;
  const { errorCode, responses } = await (await controller()).send(...exchange, 0, request);
  assert.deepEqual([errorCode, responses[0]?.partitions.map((partition) => partition.errorCode)], [errorCodes.NONE, [0, 0]]);
}

const throttle = 'replication.throttled.rate';
const throttles = (rate: string | null) => ({ [`leader.${throttle}`]: rate, [`follower.${throttle}`]: rate });

before(async () => {
  if (skip !== false) return;
  cluster = await startCluster({
    brokers: 1,
    properties: (id) => ({
      'broker.rack': `rack-${id}`,
      'offsets.topic.replication.factor': 3,
      'auto.leader.rebalance.enable': false,
      'controlled.shutdown.max.retries': 1,
    }),
  });
  listen();
});
after(() => cluster?.close());

const moments: readonly (readonly [moment: string, act: () => Promise<unknown>])[] = [
  ['02-after-first-broker', async () => undefined],
  [
    '03-after-start',
    async () => {
      await cluster.startBroker(1);
      await cluster.startBroker(2);
    },
  ],
  [
    '04-after-topic-create',
    async () => {
      await createTopic('t-rf3', goldenConfigs('/config/topics/t-rf3'));
      await createTopic('t-manual', goldenConfigs('/config/topics/t-manual'));
    },
  ],
  [
    '05-after-add-partitions',
    async () => {
      const topics = [{ name: 't-rf3', count: 7, assignments: null }];
      const grown = await (await controller()).send(CreatePartitionsRequest, CreatePartitionsResponse, 3, { topics, timeoutMs });
      assert.equal(grown.results[0]?.errorCode, errorCodes.NONE);
    },
  ],
  [
    '06-after-configs',
    async () => {
      await alterConfigs(0, 2, 't-rf3', goldenConfigs('/config/topics/t-rf3'));
      await alterConfigs(1, 4, '1', goldenConfigs('/config/brokers/1'));
      await alterConfigs(2, 4, '', goldenConfigs('/config/brokers/<default>'));
    },
  ],
  [
    '08-during-reassignment',
    async () => {
      golden.set('/brokers/topics/t-move', '{"partitions":{"0":[0],"1":[0]}}');
      await createTopic('t-move');
      await takeProducerIds(0);
      await takeProducerIds(1);
      await alterConfigs(0, 2, 't-move', goldenConfigs('/config/topics/t-move'));
      for (const id of [0, 1, 2]) await alterConfigs(id, 4, String(id), throttles('10000'));
      // What is fetched of it does not arrive: else the move would be over at once.
      stopHolding = cluster.intercept(1, (fetch) => void heldFetches.push(fetch));
      await moveTopic();
    },
  ],
  [
    '09-after-reassignment',
    async () => {
      // The same moves are asked for once more, as Kafka's tool does when it is to change the throttle.
      await moveTopic();
      stopHolding();
      for (const fetch of heldFetches.splice(0)) fetch.forward();
      for (const id of [0, 1, 2]) await alterConfigs(id, 4, String(id), throttles(null));
      await alterConfigs(2, 2, 't-move', {
        'leader.replication.throttled.replicas': null,
        'follower.replication.throttled.replicas': null,
      });
    },
  ],
  [
    '10-after-offsets-and-transactions',
    async () => {
      await createTopic('__consumer_offsets', goldenConfigs('/config/topics/__consumer_offsets'));
      await takeProducerIds(2);
    },
  ],
  ['11-after-broker-death', () => cluster.killBroker(1)],
  ['12-after-broker-restart', () => cluster.startBroker(1)],
  ['13-after-controller-change', () => cluster.killBroker(0)],
  [
    '14-delete-topic-pending',
    async () => {
      const request: MessageInit<typeof DeleteTopicsRequest> = { topics: [{ name: 't-rf3' }], timeoutMs: 100 };
      await (await controller()).send(DeleteTopicsRequest, DeleteTopicsResponse, 6, request);
      // Kafka's controller did so by itself, five seconds after its election.
      await electPreferred();
    },
  ],
  ['15-after-delete-topic', () => cluster.startBroker(0)],
  ['16-after-preferred-election', electPreferred],
  ['17-after-controlled-shutdown', () => cluster.stopBroker(1)],
  [
    '18-after-all-stopped',
    async () => {
      await cluster.stopBroker(2);
      await cluster.stopBroker(0);
    },
  ],
];

for (const [moment, act] of moments) {
  test(moment, { skip, timeout: 30_000 }, async () => {
    golden = goldenTree(moment);
    ourTold.clear();
    await act();
    await becomes(moment);
    const expected = goldenTold(moment);
    try {
      await until('the brokers are told', () => sorted(ourTold).join() === sorted(expected).join(), { timeoutMs: 3_000 });
    } catch {
      assert.deepEqual(sorted(ourTold), sorted(expected));
    }
  });
}

function sorted(map: ReadonlyMap<string, string>): string[] {
  return [...map].map(([key, what]) => `${key}: ${what}`).sort();
}
