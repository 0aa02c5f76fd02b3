// Reading the coordination tree whole, when a controller takes office: brokers, topics, partitions, wishes for deletion.

import {
  type BrokerRegistration,
  brokerIdNode,
  brokerIdsNode,
  type Coordination,
  deleteTopicsNode,
  InvalidNodeError,
  isCoordinationError,
  topicNode,
  topicsNode,
  type Watcher,
} from '@odradek/coordination';
import type { Logger } from '@odradek/runtime';
import type { ControllerContext, LiveBroker, PartitionContext, TopicContext } from './controller-context.ts';
import type { ControllerTree } from './controller-tree.ts';

/** Called when the node in question changes; set anew with each reading. */
export interface LoadingWatches {
  readonly brokers: Watcher;
  /** A broker has set its registration again. */
  readonly broker: Watcher;
  readonly topics: Watcher;
  /** A topic's assignment was set. */
  readonly topic: Watcher;
  readonly deletions: Watcher;
}

export async function readBrokers(coordination: Coordination, watches: LoadingWatches): Promise<LiveBroker[]> {
  const { names } = await coordination.children(brokerIdsNode.path, watches.brokers);
  const brokers = await Promise.all(names.map((name) => readBroker(coordination, Number(name), watches)));
  return brokers.filter((broker) => broker !== undefined).sort((a, b) => a.registration.id - b.registration.id);
}

async function readBroker(coordination: Coordination, id: number, watches: LoadingWatches): Promise<LiveBroker | undefined> {
  try {
    const { data, stat } = await coordination.get(brokerIdNode.path(id), watches.broker);
    const registration: BrokerRegistration = brokerIdNode.decode(id, data);
    return { registration, epoch: stat.czxid };
  } catch (error) {
    // Gone since the names were read.
    if (isCoordinationError(error, 'NoNode')) return undefined;
    throw error;
  }
}

export async function readTopicNames(coordination: Coordination, watches: LoadingWatches): Promise<string[]> {
  const { names } = await coordination.children(topicsNode.path, watches.topics);
  return names;
}

export async function readDeletions(coordination: Coordination, watches: LoadingWatches): Promise<string[]> {
  const { names } = await coordination.children(deleteTopicsNode.path, watches.deletions);
  return names;
}

export interface TopicLoading {
  readonly coordination: Coordination;
  readonly context: ControllerContext;
  readonly tree: ControllerTree;
  /** The id that brokers know the topic by already, or a new one. */
  readonly topicIdFor: (topic: string, partitions: Iterable<number>) => string;
  readonly logger: Logger;
}

/**
 * Adds the topics, with what partitions they have, to the context. Answers those that are there. Each has an id: one that was made by a
 * tool or a controller from before there were ids, or has lost it to such a one, is given one.
 */
export async function loadTopics(parts: TopicLoading, names: readonly string[], watches: LoadingWatches): Promise<TopicContext[]> {
  const loaded = await Promise.all(names.map((name) => loadTopic(parts, name, watches)));
  return loaded.filter((topic) => topic !== undefined);
}

async function loadTopic(
  { coordination, context, tree, topicIdFor, logger }: TopicLoading,
  name: string,
  watches: LoadingWatches,
): Promise<TopicContext | undefined> {
  try {
    const { data } = await coordination.get(topicNode.path(name), watches.topic);
    const assignment = topicNode.decode(name, data);
    const topicId = assignment.topicId ?? (await tree.giveTopicId(name, topicIdFor(name, assignment.replicas.keys())));
    const topic = context.addTopic(name, topicId);
    for (const [index, replicas] of assignment.replicas) {
      const partition = context.addPartition(topic, index, replicas);
      partition.addingReplicas = assignment.addingReplicas.get(index) ?? [];
      partition.removingReplicas = assignment.removingReplicas.get(index) ?? [];
    }
    return topic;
  } catch (error) {
    if (isCoordinationError(error, 'NoNode')) return undefined;
    if (!(error instanceof InvalidNodeError)) throw error;
    logger.error('A topic cannot be read and is left alone', { topic: name, error });
    return undefined;
  }
}

/**
 * Fills in leaders and in-sync replicas. Answers the brokers that have failed without any controller's having noticed: they are in
 * sync in a state that was written before they registered, but may have lost records since (a power cut), and may not go on
 * leading in the same epoch. Where a broker holds the only replica there is nobody to ask and nothing to do.
 */
export async function loadLeaderships(
  tree: ControllerTree,
  partitions: readonly PartitionContext[],
  brokers: readonly LiveBroker[] = [],
): Promise<Set<number>> {
  const epochs = new Map(brokers.map(({ registration, epoch }) => [registration.id, epoch]));
  const restarted = new Set<number>();
  const states = await tree.readStates(partitions);
  partitions.forEach((partition, index) => {
    const state = states[index];
    partition.leadership = state?.leadership;
    if (state === undefined || partition.assignedReplicas.length === 1) return;
    for (const brokerId of state.leadership.isr) if ((epochs.get(brokerId) ?? 0) > state.zxid) restarted.add(brokerId);
  });
  return restarted;
}
