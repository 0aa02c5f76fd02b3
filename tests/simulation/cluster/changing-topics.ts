// Topics that change while producers write to them: one that is deleted, made again and given more partitions, and one that is led
// by replicas that are not in sync where nobody else is left.

import {
  errorByCode,
  errorCodes,
  MetadataRequest,
  MetadataResponse,
  ProduceRequest,
  ProduceResponse,
  zeroUuid,
} from '@odradek/protocol';
import { SeededRandom } from '@odradek/runtime';
import type { ClusterClient } from './cluster-client.ts';
import { atWork, initProducer, nextBatch, pause, type Work, type Written } from './cluster-load.ts';
import type { SimulatedCluster } from './simulated-cluster.ts';

/** Deleted and made again. */
export const phoenixTopic = 'phoenix';
/** unclean.leader.election.enable */
export const recklessTopic = 'reckless';
export const recklessPartitions = 2;

const producers = 2;

/** The topic from one creation to its deletion. */
export interface Incarnation {
  readonly topicId: string;
  partitions: number;
  isOver: boolean;
}

export class ChangingTopics {
  /** What producers were told of the topic that is deleted, in all its incarnations: nothing of it may be lost while it lives. */
  readonly written: Written[] = [];
  /** undefined: it is deleted, or about to be made. */
  current: Incarnation | undefined;
  /** Every id that the topic has had. */
  readonly topicIds = new Set<string>();
  readonly #ended: Promise<unknown>;
  #mayStop = false;

  constructor(cluster: SimulatedCluster, seed: number) {
    const random = new SeededRandom(seed);
    const mayStop = (): boolean => this.#mayStop;
    const names = Array.from({ length: producers }, (_, id) => `phoenix-producer-${id}`);
    this.#ended = Promise.all([
      ...names.map((name) => atWork(cluster, name, random, mayStop, (work) => this.#produce(work, name))),
      atWork(cluster, 'reckless-producer', random, mayStop, produceRecklessly),
    ]);
    // One that fails while something else is awaited is looked at when all have ended.
    this.#ended.catch(() => undefined);
  }

  /** The topic has been made: finds out its id. Settles when a broker knows the new one. */
  async begin(client: ClusterClient, isWanted: () => boolean): Promise<void> {
    const request = { topics: [{ name: phoenixTopic }], allowAutoTopicCreation: false };
    const versions = [MetadataRequest, MetadataResponse, 12] as const;
    const answer = await client.askWhile(isWanted, 'anyone', versions, request, ({ topics: [topic] }) => {
      const isNew = topic !== undefined && topic.topicId !== zeroUuid && !this.topicIds.has(topic.topicId);
      return topic?.errorCode === errorCodes.NONE && !isNew ? errorCodes.UNKNOWN_TOPIC_OR_PARTITION : (topic?.errorCode ?? 0);
    });
    const topic = answer?.topics[0];
    if (topic === undefined) return;
    this.topicIds.add(topic.topicId);
    this.current = { topicId: topic.topicId, partitions: topic.partitions.length, isOver: false };
  }

  end(): void {
    if (this.current !== undefined) this.current.isOver = true;
    this.current = undefined;
  }

  async stop(cluster: SimulatedCluster): Promise<void> {
    this.#mayStop = true;
    await cluster.world.run(this.#ended, 600_000);
  }

  async #produce(work: Work, name: string): Promise<void> {
    const { world, client, random, mayStop } = work;
    const identity = await initProducer(client);
    while (!mayStop()) {
      const incarnation = this.current;
      if (incarnation !== undefined) {
        const written = this.#writtenBy(name, incarnation, random.nextInt(incarnation.partitions));
        const size = 1 + random.nextInt(3);
        if (await send(work, incarnation, written.partition, nextBatch(world, identity, written, size))) written.count += size;
      }
      await pause(world, random);
    }
  }

  #writtenBy(name: string, { topicId }: Incarnation, partition: number): Written {
    const key = `${name} ${topicId} ${partition}`;
    let written = this.written.find((each) => each.key === key);
    if (written === undefined) {
      written = { key, partition, count: 0 };
      this.written.push(written);
    }
    return written;
  }
}

/** False: the topic was deleted before the batch was acknowledged. */
async function send({ client }: Work, incarnation: Incarnation, partition: number, records: Buffer): Promise<boolean> {
  const { topicId } = incarnation;
  const request = { acks: -1, timeoutMs: 3_000, topicData: [{ topicId, partitionData: [{ index: partition, records }] }] };
  const target = { leaderOf: { topic: phoenixTopic, partition } };
  const answer = await client.askWhile(
    () => !incarnation.isOver,
    target,
    [ProduceRequest, ProduceResponse, 13],
    request,
    ({ responses }) => {
      const code = responses[0]?.partitionResponses[0]?.errorCode ?? 0;
      // As for every producer: somebody who does not lead any more has not seen the batches before this one.
      return code === errorCodes.OUT_OF_ORDER_SEQUENCE_NUMBER ? errorCodes.NOT_LEADER_OR_FOLLOWER : code;
    },
  );
  if (answer === undefined) return false;
  const code = answer.responses[0]?.partitionResponses[0]?.errorCode ?? 0;
  if (code !== errorCodes.NONE && !incarnation.isOver) throw new Error(`refused with ${errorByCode(code).name}`);
  return code === errorCodes.NONE;
}

/** Numbered records with acks=1 and acks=all, whatever becomes of them. */
async function produceRecklessly({ world, client, random, mayStop }: Work): Promise<void> {
  for (let count = 0; !mayStop(); count++) {
    const partition = random.nextInt(recklessPartitions);
    const records = nextBatch(world, undefined, { key: 'reckless', partition, count }, 1);
    const topicData = [{ name: recklessTopic, partitionData: [{ index: partition, records }] }];
    const acks = random.nextInt(2) === 0 ? -1 : 1;
    const target = { leaderOf: { topic: recklessTopic, partition } };
    const answer = await client.tryOnce(target, [ProduceRequest, ProduceResponse, 9], { acks, timeoutMs: 1_000, topicData });
    if ((answer?.responses[0]?.partitionResponses[0]?.errorCode ?? 0) !== errorCodes.NONE) client.forget(target);
    await pause(world, random);
  }
}
