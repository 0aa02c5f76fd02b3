// An operator at work on a cluster under load: moves partitions, stops moves, elects leaders, deletes a topic and makes it again, gives
// it partitions. What is asked for is drawn by chance and may be refused; but only for a reason that there is.

import assert from 'node:assert/strict';
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
  type ErrorName,
  errorByCode,
  ListPartitionReassignmentsRequest,
  ListPartitionReassignmentsResponse,
} from '@odradek/protocol';
import { SeededRandom } from '@odradek/runtime';
import { type ChangingTopics, phoenixTopic, recklessPartitions, recklessTopic } from './changing-topics.ts';
import { ClusterClient } from './cluster-client.ts';
import { loadPartitions, loadTopic } from './cluster-load.ts';
import type { SimulatedCluster } from './simulated-cluster.ts';

export const offsetsTopic = '__consumer_offsets';
const offsetsPartitions = 2;
const replicationFactor = 3;
const mostPhoenixPartitions = 4;

/** Says what was asked for and what came of it. A client has one request under way at a time, so each has its own. */
type Act = (operator: Operator, client: ClusterClient) => Promise<string>;

const acts: readonly Act[] = [move, move, move, move, stopMove, electPreferred, electUncleanly, recreate, recreate, grow];

export class Operator {
  readonly cluster: SimulatedCluster;
  readonly topics: ChangingTopics;
  readonly random: SeededRandom;
  /** What has been done, with the time. */
  readonly story: string[] = [];
  readonly #underWay = new Set<Promise<void>>();
  #isOver = false;
  /** One deletion or creation at a time. */
  isRecreating = false;

  constructor(cluster: SimulatedCluster, topics: ChangingTopics, seed: number) {
    this.cluster = cluster;
    this.topics = topics;
    this.random = new SeededRandom(seed);
  }

  /** Makes the topics, before anything happens. */
  async begin(): Promise<void> {
    await this.#do(async (_, client) => {
      await createTopic(this, client, phoenixTopic, 2, {});
      await this.topics.begin(client, () => true);
      await createTopic(this, client, recklessTopic, recklessPartitions, {
        'unclean.leader.election.enable': 'true',
        'min.insync.replicas': '1',
      });
      return 'topics are made';
    });
  }

  /** Begins something; it goes on while other things happen. */
  act(): void {
    const act = acts[this.random.nextInt(acts.length)] as Act;
    const doing = this.#do(act);
    this.#underWay.add(doing);
    doing.then(
      () => this.#underWay.delete(doing),
      () => 'thrown again when the operator stops',
    );
  }

  /** Begins nothing more, and waits for what is under way: moves too. */
  async stop(limitMs: number): Promise<void> {
    this.#isOver = true;
    const { world } = this.cluster;
    await world.run(Promise.all(this.#underWay), limitMs);
    await world.run(this.#do(untilNothingMoves), limitMs);
  }

  async #do(act: Act): Promise<void> {
    const client = new ClusterClient(this.cluster.world.machine('operator'), this.cluster.addresses);
    this.tell(await act(this, client));
    client.close();
  }

  /** Requests go on for as long as this holds. */
  readonly mayGoOn = (): boolean => !this.#isOver;

  tell(what: string): void {
    this.story.push(`${Math.round(this.cluster.world.clock.monotonicMs())} ms: ${what}`);
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.cluster.world.machine('operator').timer.schedule(ms, resolve));
  }
}

async function untilNothingMoves(operator: Operator, client: ClusterClient): Promise<string> {
  const versions = [ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse, 0] as const;
  for (;;) {
    const { errorCode, topics } = await client.ask('controller', versions, { topics: null }, (answer) => answer.errorCode);
    ensureReason('to list moves', errorCode);
    if (topics.length === 0) return 'nothing moves any more';
    await operator.pause(100);
  }
}

/** Refusals for which the operator's request is to blame, and not the cluster. */
function ensureReason(what: string, errorCode: number, ...reasons: readonly ErrorName[]): string {
  const { name, isRetriable } = errorByCode(errorCode);
  assert.ok(name === 'NONE' || isRetriable || reasons.includes(name), `${what} was refused with ${name}`);
  return name === 'NONE' ? what : `${what}: ${name}`;
}

async function createTopic(
  operator: Operator,
  client: ClusterClient,
  name: string,
  numPartitions: number,
  configs: Readonly<Record<string, string>>,
): Promise<void> {
  const topic = {
    name,
    numPartitions,
    replicationFactor,
    configs: Object.entries(configs).map(([key, value]) => ({ name: key, value })),
  };
  const versions = [CreateTopicsRequest, CreateTopicsResponse, 5] as const;
  const request = { topics: [topic], timeoutMs: 1_500 };
  const errorOf = (answer: { readonly topics: readonly { readonly errorCode: number }[] }) => answer.topics[0]?.errorCode ?? 0;
  for (;;) {
    const code = errorOf(await client.ask('controller', versions, request, errorOf));
    // Fewer brokers than replicas are alive: later.
    if (errorByCode(code).name !== 'INVALID_REPLICATION_FACTOR') {
      ensureReason(`to create ${name}`, code, 'TOPIC_ALREADY_EXISTS');
      return;
    }
    await operator.pause(500);
  }
}

function anyPartition({ random, topics }: Operator): { readonly topic: string; readonly partition: number } {
  const counts: readonly [string, number][] = [
    [loadTopic, loadPartitions],
    [offsetsTopic, offsetsPartitions],
    [recklessTopic, recklessPartitions],
    [phoenixTopic, topics.current?.partitions ?? 1],
  ];
  const [topic, count] = counts[random.nextInt(counts.length)] as [string, number];
  return { topic, partition: random.nextInt(count) };
}

/** Mostly to as many replicas as it should have, at times to one more or less. */
function move(operator: Operator, client: ClusterClient): Promise<string> {
  const { random, cluster } = operator;
  const { topic, partition } = anyPartition(operator);
  const ids = cluster.nodes.map(({ id }) => id);
  const replicas: number[] = [];
  const factor = replicationFactor + ([0, 0, 0, 1, -1][random.nextInt(5)] as number);
  while (replicas.length < Math.min(factor, cluster.nodes.length)) {
    replicas.push(...ids.splice(random.nextInt(ids.length), 1));
  }
  return reassign(operator, client, topic, partition, replicas, `to move ${topic}-${partition} to ${replicas.join(',')}`);
}

function stopMove(operator: Operator, client: ClusterClient): Promise<string> {
  const { topic, partition } = anyPartition(operator);
  return reassign(operator, client, topic, partition, null, `to stop the move of ${topic}-${partition}`);
}

async function reassign(
  { mayGoOn }: Operator,
  client: ClusterClient,
  topic: string,
  partition: number,
  replicas: number[] | null,
  what: string,
): Promise<string> {
  const request = { timeoutMs: 5_000, topics: [{ name: topic, partitions: [{ partitionIndex: partition, replicas }] }] };
  const versions = [AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse, 0] as const;
  const answer = await client.askWhile(mayGoOn, 'controller', versions, request, ({ errorCode }) => errorCode);
  if (answer === undefined) return `${what}: given up`;
  const code = answer.errorCode || (answer.responses[0]?.partitions[0]?.errorCode ?? 0);
  return ensureReason(what, code, 'INVALID_REPLICA_ASSIGNMENT', 'NO_REASSIGNMENT_IN_PROGRESS');
}

function electPreferred(operator: Operator, client: ClusterClient): Promise<string> {
  return elect(operator, client, 0, null, 'to elect all preferred leaders');
}

function electUncleanly(operator: Operator, client: ClusterClient): Promise<string> {
  const partitions = Array.from({ length: recklessPartitions }, (_, index) => index);
  return elect(operator, client, 1, [{ topic: recklessTopic, partitions }], 'to elect leaders that are not in sync');
}

async function elect(
  { mayGoOn }: Operator,
  client: ClusterClient,
  electionType: number,
  topicPartitions: { topic: string; partitions: number[] }[] | null,
  what: string,
): Promise<string> {
  const versions = [ElectLeadersRequest, ElectLeadersResponse, 2] as const;
  const request = { electionType, topicPartitions, timeoutMs: 5_000 };
  const answer = await client.askWhile(mayGoOn, 'controller', versions, request, ({ errorCode }) => errorCode);
  if (answer === undefined) return `${what}: given up`;
  const failed = answer.replicaElectionResults.flatMap(({ partitionResult }) => partitionResult.map(({ errorCode }) => errorCode));
  for (const code of failed) ensureReason(what, code, 'UNKNOWN_TOPIC_OR_PARTITION', 'INVALID_TOPIC_EXCEPTION');
  return ensureReason(what, answer.errorCode);
}

async function recreate(operator: Operator, client: ClusterClient): Promise<string> {
  const { topics, random } = operator;
  if (operator.isRecreating) return 'nothing';
  operator.isRecreating = true;
  const topicId = topics.current?.topicId;
  topics.end();
  do {
    if (topicId !== undefined) await deleteTopic(operator, client, topicId);
    await createTopic(operator, client, phoenixTopic, 1 + random.nextInt(2), {});
    // A controller that has just come may have known nothing of the topic when it was to be deleted.
    const { clock } = operator.cluster.world;
    const endMs = clock.monotonicMs() + 10_000;
    await topics.begin(client, () => clock.monotonicMs() < endMs);
  } while (topics.current === undefined);
  operator.isRecreating = false;
  return `${phoenixTopic} is there again as ${topics.current.topicId}`;
}

/** By its id, so that a request that comes late does not hit the next one of the name. */
async function deleteTopic(operator: Operator, client: ClusterClient, topicId: string): Promise<void> {
  const versions = [DeleteTopicsRequest, DeleteTopicsResponse, 6] as const;
  const request = { topics: [{ topicId }], timeoutMs: 1_500 };
  const answer = await client.ask('controller', versions, request, ({ responses: [response] }) =>
    // Retriable as a rule; here it says that an earlier request was obeyed.
    errorByCode(response?.errorCode ?? 0).name === 'UNKNOWN_TOPIC_ID' ? 0 : (response?.errorCode ?? 0),
  );
  ensureReason(`to delete ${phoenixTopic}`, answer.responses[0]?.errorCode ?? 0);
  operator.tell(`${phoenixTopic} is deleted`);
}

async function grow(operator: Operator, client: ClusterClient): Promise<string> {
  const { topics, mayGoOn } = operator;
  const { current } = topics;
  if (current === undefined || current.partitions >= mostPhoenixPartitions) return 'nothing';
  const count = current.partitions + 1;
  const what = `to give ${phoenixTopic} ${count} partitions`;
  const request = { topics: [{ name: phoenixTopic, count, assignments: null }], timeoutMs: 1_500, validateOnly: false };
  const versions = [CreatePartitionsRequest, CreatePartitionsResponse, 3] as const;
  const answer = await client.askWhile(mayGoOn, 'controller', versions, request, ({ results }) => results[0]?.errorCode ?? 0);
  if (answer === undefined) return `${what}: given up`;
  const code = answer.results[0]?.errorCode ?? 0;
  // The last: it is being deleted.
  const reasons = [
    'INVALID_PARTITIONS',
    'REASSIGNMENT_IN_PROGRESS',
    'INVALID_REPLICATION_FACTOR',
    'INVALID_TOPIC_EXCEPTION',
  ] as const;
  const told = ensureReason(what, code, ...reasons);
  if (code === 0 && !current.isOver) current.partitions = Math.max(current.partitions, count);
  return told;
}
