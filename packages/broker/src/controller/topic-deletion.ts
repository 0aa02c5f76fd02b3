// Deleting topics: clients are told that the topic is gone, its replicas stop and delete their logs, and when all have done
// so the topic leaves the tree. A topic with a replica that cannot be reached waits until its broker is back.

import type { Logger } from '@odradek/runtime';
import type { BrokerRequests } from './broker-requests.ts';
import {
  type ControllerContext,
  type PartitionContext,
  type Replica,
  replicasOf,
  type TopicContext,
} from './controller-context.ts';
import type { ControllerTree } from './controller-tree.ts';
import type { PartitionStates } from './partition-states.ts';
import { isBeingReassigned } from './reassignment-plan.ts';
import type { ReplicaStates } from './replica-states.ts';

export interface TopicDeletionParts {
  readonly context: ControllerContext;
  readonly tree: ControllerTree;
  readonly requests: BrokerRequests;
  readonly partitionStates: PartitionStates;
  readonly replicaStates: ReplicaStates;
  readonly logger: Logger;
}

export class TopicDeletion {
  readonly #parts: TopicDeletionParts;

  constructor(parts: TopicDeletionParts) {
    this.#parts = parts;
  }

  /**
   * Marks the topics; `resume` begins. With `areOfflineReplicasKnown` those with replicas that are offline wait from the start. Moves of their
   * partitions are over, as in Kafka: one to a broker that is gone might never be. Answers the partitions that were being moved.
   */
  mark(topics: Iterable<string>, options: { readonly areOfflineReplicasKnown?: boolean } = {}): PartitionContext[] {
    const { context } = this.#parts;
    const moved: PartitionContext[] = [];
    for (const name of topics) {
      const topic = context.topics.get(name);
      if (topic === undefined) continue;
      context.topicsToDelete.add(name);
      const hasOffline = replicasIn(topic).some(({ partition, brokerId }) => !context.isReplicaOnline(partition, brokerId));
      if (options.areOfflineReplicasKnown === true && hasOffline) context.topicsIneligibleForDeletion.add(name);
      for (const partition of topic.partitions.values()) {
        if (!isBeingReassigned(partition)) continue;
        endMove(partition);
        moved.push(partition);
      }
    }
    return moved;
  }

  /** What made the topics wait may be over. */
  makeEligible(topics: Iterable<string>): void {
    for (const name of topics) this.#parts.context.topicsIneligibleForDeletion.delete(name);
  }

  /** These replicas have deleted their logs. */
  async succeed(replicas: readonly Replica[]): Promise<void> {
    const deleted = replicas.filter(({ partition }) => this.#parts.context.isMarkedForDeletion(partition.topic.name));
    await this.#parts.replicaStates.change(deleted, 'DeletionSuccessful');
  }

  /** These replicas cannot delete their logs now. */
  async fail(replicas: readonly Replica[]): Promise<void> {
    const { context, replicaStates, logger } = this.#parts;
    const failed = replicas.filter(({ partition }) => context.isMarkedForDeletion(partition.topic.name));
    if (failed.length === 0) return;
    await replicaStates.change(
      failed.filter(({ partition, brokerId }) => canBecomeIneligible(partition.replicaStates.get(brokerId))),
      'DeletionIneligible',
    );
    for (const { partition } of failed) context.topicsIneligibleForDeletion.add(partition.topic.name);
    logger.info('The deletion of topics waits for replicas', {
      topics: [...new Set(failed.map(({ partition }) => partition.topic.name))],
    });
  }

  /** Takes every marked topic as far as it can go. */
  async resume(): Promise<void> {
    const { context } = this.#parts;
    const topics = [...context.topicsToDelete].flatMap((name) => context.topics.get(name) ?? []);
    const finished = topics.filter((topic) =>
      replicasIn(topic).every(({ partition, brokerId }) => partition.replicaStates.get(brokerId) === 'DeletionSuccessful'),
    );
    await Promise.all(finished.map((topic) => this.#finish(topic)));
    const waiting = topics.filter((topic) => context.topics.has(topic.name));
    const startable = waiting.filter((topic) => !context.topicsIneligibleForDeletion.has(topic.name) && !hasStarted(topic));
    if (startable.length > 0) await this.#begin(startable);
  }

  async #begin(topics: readonly TopicContext[]): Promise<void> {
    const { context, requests, partitionStates, replicaStates } = this.#parts;
    const unseen = topics
      .filter(({ name }) => !context.topicsInDeletion.has(name))
      .flatMap((topic) => [...topic.partitions.values()]);
    await partitionStates.change(unseen, 'Offline');
    await partitionStates.change(unseen, 'NonExistent');
    for (const { name } of topics) context.topicsInDeletion.add(name);
    requests.addMetadata(
      context.liveBrokerIds(),
      topics.flatMap((topic) => [...topic.partitions.values()]),
    );
    const toStart = topics
      .flatMap(replicasIn)
      .filter(({ partition, brokerId }) => partition.replicaStates.get(brokerId) !== 'DeletionSuccessful');
    const [live, dead] = partitionBy(toStart, ({ partition, brokerId }) => context.isReplicaOnline(partition, brokerId));
    await this.fail(dead);
    // Those that were told to delete before and failed begin again.
    await replicaStates.change(
      live.filter(({ partition, brokerId }) => partition.replicaStates.get(brokerId) !== 'Offline'),
      'Offline',
    );
    await replicaStates.change(live, 'DeletionStarted');
  }

  async #finish(topic: TopicContext): Promise<void> {
    const { context, tree, logger } = this.#parts;
    await tree.deleteTopic(topic);
    context.removeTopic(topic.name);
    context.topicsToDelete.delete(topic.name);
    context.topicsInDeletion.delete(topic.name);
    context.topicsIneligibleForDeletion.delete(topic.name);
    logger.info('Topic deleted', { topic: topic.name, topicId: topic.id });
  }
}

/** All replicas go, those that come too; a move that went on would order them back. */
function endMove(partition: PartitionContext): void {
  partition.addingReplicas = [];
  partition.removingReplicas = [];
}

function replicasIn(topic: TopicContext): Replica[] {
  return [...topic.partitions.values()].flatMap(replicasOf);
}

/** Some replica has been told to delete and has not answered. */
function hasStarted(topic: TopicContext): boolean {
  return replicasIn(topic).some(({ partition, brokerId }) => partition.replicaStates.get(brokerId) === 'DeletionStarted');
}

function canBecomeIneligible(state: string | undefined): boolean {
  return state === 'Offline' || state === 'DeletionStarted';
}

function partitionBy<T>(items: readonly T[], isFirst: (item: T) => boolean): [T[], T[]] {
  const first: T[] = [];
  const second: T[] = [];
  for (const item of items) (isFirst(item) ? first : second).push(item);
  return [first, second];
}
