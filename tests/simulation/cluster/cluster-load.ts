// The load on the simulated cluster: idempotent producers that write numbered records with acks=all, and committers that move the
// offsets of their groups forward. Each knows what it was told, for the checkers.

import assert from 'node:assert/strict';
import {
  buildRecordBatch,
  CreateTopicsRequest,
  CreateTopicsResponse,
  errorByCode,
  errorCodes,
  InitProducerIdRequest,
  InitProducerIdResponse,
  type Message,
  OffsetCommitRequest,
  OffsetCommitResponse,
  OffsetFetchRequest,
  OffsetFetchResponse,
  ProduceRequest,
  ProduceResponse,
} from '@odradek/protocol';
import { SeededRandom, type World } from '@odradek/runtime';
import { ClusterClient } from './cluster-client.ts';
import type { SimulatedCluster } from './simulated-cluster.ts';

export const loadTopic = 'survivors';
export const loadPartitions = 3;
const producers = 4;
const committers = 2;
/** Between one request and the next: the load is there to be interrupted, not to be large. */
const pauseMs = { min: 5, max: 60 };

/**
 * How often an answer may be that of a broker that was deposed, does not know it yet, and has not heard of what was acknowledged since: that is
 * lost when it goes on for a minute.
 */
const mostStaleAnswers = 1_200;

/** What a producer was told. */
export interface Written {
  readonly partition: number;
  readonly key: string;
  /** Records that were acknowledged: 0 up to this, without this. */
  count: number;
}

/** What a committer was told. */
export interface Committed {
  readonly group: string;
  offset: number;
}

export class ClusterLoad {
  readonly written: readonly Written[];
  readonly committed: readonly Committed[];
  readonly #cluster: SimulatedCluster;
  readonly #ended: Promise<unknown>;
  #mayStop = false;

  private constructor(cluster: SimulatedCluster, seed: number) {
    this.#cluster = cluster;
    const random = new SeededRandom(seed);
    const mayStop = (): boolean => this.#mayStop;
    this.written = Array.from({ length: producers }, (_, id) => ({
      partition: id % loadPartitions,
      key: `producer-${id}`,
      count: 0,
    }));
    this.committed = Array.from({ length: committers }, (_, id) => ({ group: `group-${id}`, offset: 0 }));
    const work = (name: string, run: (work: Work) => Promise<void>): Promise<void> => atWork(cluster, name, random, mayStop, run);
    this.#ended = Promise.all([
      ...this.written.map((written) => work(written.key, (of) => produce(of, written))),
      ...this.committed.map((committed) => work(committed.group, (of) => commit(of, committed))),
    ]);
    // One that fails while something else is awaited is looked at when all have ended.
    this.#ended.catch(() => undefined);
  }

  static async start(cluster: SimulatedCluster, seed: number): Promise<ClusterLoad> {
    const client = new ClusterClient(cluster.world.machine('admin'), cluster.addresses);
    const request = {
      topics: [{ name: loadTopic, numPartitions: loadPartitions, replicationFactor: cluster.nodes.length }],
      timeoutMs: 10_000,
    };
    const creation = client.ask('controller', [CreateTopicsRequest, CreateTopicsResponse, 5], request, ({ topics }) =>
      topics[0]?.errorCode === errorCodes.TOPIC_ALREADY_EXISTS ? errorCodes.NONE : (topics[0]?.errorCode ?? 0),
    );
    ensureNone((await cluster.world.run(creation)).topics[0]?.errorCode ?? 0, errorCodes.TOPIC_ALREADY_EXISTS);
    client.close();
    return new ClusterLoad(cluster, seed);
  }

  /** Ends when each has been told about its last request. Rejects when one of them was told something that must not be. */
  async stop(): Promise<void> {
    this.#mayStop = true;
    await this.#cluster.world.run(this.#ended, 600_000);
  }
}

/** What whoever puts a load on the cluster has: a machine of its own, a client, chance, and somebody who says when to stop. */
export interface Work {
  readonly world: World;
  readonly client: ClusterClient;
  readonly random: SeededRandom;
  readonly mayStop: () => boolean;
}

/** Lets somebody work on a machine of that name. */
export function atWork(
  cluster: SimulatedCluster,
  name: string,
  random: SeededRandom,
  mayStop: () => boolean,
  run: (work: Work) => Promise<void>,
): Promise<void> {
  const world = cluster.world.machine(name);
  const workRandom = new SeededRandom(random.nextInt(2 ** 32));
  const client = new ClusterClient(world, cluster.addresses, random.nextInt(cluster.nodes.length));
  return run({ world, client, random: workRandom, mayStop }).finally(() => client.close());
}

/** What makes a producer idempotent. */
export interface ProducerIdentity {
  readonly producerId: number;
  readonly producerEpoch: number;
}

export async function initProducer(client: ClusterClient): Promise<ProducerIdentity> {
  const initialization = { transactionalId: null, transactionTimeoutMs: 60_000 };
  const versions = [InitProducerIdRequest, InitProducerIdResponse, 4] as const;
  const { errorCode, producerId, producerEpoch } = await client.ask(
    'anyone',
    versions,
    initialization,
    ({ errorCode: code }) => code,
  );
  ensureNone(errorCode);
  return { producerId, producerEpoch };
}

/** The next records of a producer, numbered on from those that were acknowledged. */
export function nextBatch(world: World, identity: ProducerIdentity | undefined, { key, count }: Written, size: number): Buffer {
  const records = Array.from({ length: size }, (_, index) => ({
    timestamp: world.clock.wallTimeMs(),
    key: Buffer.from(key),
    value: Buffer.from(String(count + index)),
  }));
  return buildRecordBatch(identity === undefined ? {} : { ...identity, baseSequence: count }, records);
}

async function produce({ world, client, random, mayStop }: Work, written: Written): Promise<void> {
  const identity = await initProducer(client);
  const target = { leaderOf: { topic: loadTopic, partition: written.partition } };
  while (!mayStop()) {
    const size = 1 + random.nextInt(5);
    const batch = nextBatch(world, identity, written, size);
    const partitionData = [{ index: written.partition, records: batch }];
    const request = { acks: -1, timeoutMs: 3_000, topicData: [{ name: loadTopic, partitionData }] };
    let staleAnswers = 0;
    const errorOf = (answer: Message<typeof ProduceResponse>): number => {
      const error = answer.responses[0]?.partitionResponses[0]?.errorCode ?? 0;
      if (error !== errorCodes.OUT_OF_ORDER_SEQUENCE_NUMBER) return error;
      staleAnswers += 1;
      return staleAnswers < mostStaleAnswers ? errorCodes.NOT_LEADER_OR_FOLLOWER : error;
    };
    ensureNone(errorOf(await client.ask(target, [ProduceRequest, ProduceResponse, 9], request, errorOf)));
    written.count += size;
    await pause(world, random);
  }
}

/** Commits ever larger offsets, and reads back what it committed now and then. */
async function commit({ world, client, random, mayStop }: Work, committed: Committed): Promise<void> {
  const target = { coordinatorOf: committed.group };
  while (!mayStop()) {
    const offset = committed.offset + 1 + random.nextInt(10);
    const topics = [{ name: loadTopic, partitions: [{ partitionIndex: 0, committedOffset: offset, committedMetadata: '' }] }];
    const request = { groupId: committed.group, generationIdOrMemberEpoch: -1, memberId: '', topics };
    const versions = [OffsetCommitRequest, OffsetCommitResponse, 7] as const;
    const answer = await client.ask(target, versions, request, ({ topics: [topic] }) => topic?.partitions[0]?.errorCode ?? 0);
    ensureNone(answer.topics[0]?.partitions[0]?.errorCode ?? 0);
    committed.offset = offset;
    if (random.nextInt(4) === 0) {
      assert.equal(await fetchCommitted(client, committed.group, { atLeast: offset }), offset);
    }
    await pause(world, random);
  }
}

/** The offset that a group has committed; -1: none. `atLeast`: a coordinator that tells less may have been deposed, and another is asked. */
export async function fetchCommitted(
  client: ClusterClient,
  group: string,
  { partition = 0, atLeast = -1 }: { readonly partition?: number; readonly atLeast?: number } = {},
): Promise<number> {
  const request = { groupId: group, topics: [{ name: loadTopic, partitionIndexes: [partition] }] };
  const versions = [OffsetFetchRequest, OffsetFetchResponse, 5] as const;
  let staleAnswers = 0;
  const errorOf = ({ errorCode, topics: [topic] }: Message<typeof OffsetFetchResponse>): number => {
    const error = errorCode === 0 ? (topic?.partitions[0]?.errorCode ?? 0) : errorCode;
    if (error !== 0 || (topic?.partitions[0]?.committedOffset ?? -1) >= atLeast) return error;
    staleAnswers += 1;
    return staleAnswers < mostStaleAnswers ? errorCodes.NOT_COORDINATOR : error;
  };
  const answer = await client.ask({ coordinatorOf: group }, versions, request, errorOf);
  return answer.topics[0]?.partitions[0]?.committedOffset ?? -1;
}

export function ensureNone(errorCode: number, ...allowed: readonly number[]): void {
  assert.ok(errorCode === errorCodes.NONE || allowed.includes(errorCode), `refused with ${errorByCode(errorCode).name}`);
}

export function pause(world: World, random: SeededRandom): Promise<void> {
  return new Promise((resolve) => world.timer.schedule(pauseMs.min + random.nextInt(pauseMs.max - pauseMs.min), resolve));
}
