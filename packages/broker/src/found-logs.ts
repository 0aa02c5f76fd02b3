// The logs that a start finds on disk, and the coordination tree: which of them are whose.
//
//   the broker's own tree, in which no controller has ever been   every log is adopted: its topic is written into the tree under the
//                                                                 id that the log has
//   any other tree                                                a log of a topic that the tree does not know, or knows under
//                                                                 another id, or that is assigned to other brokers, is put aside
//                                                                 as a stray
//
// See docs/decisions/0011-logs-that-are-found.md.

import {
  type Coordination,
  configNode,
  controllerEpochNode,
  InvalidNodeError,
  isCoordinationError,
  type Operation,
  partitionNode,
  partitionStateNode,
  partitionsNode,
  type TopicAssignment,
  topicNode,
} from '@odradek/coordination';
import { zeroUuid } from '@odradek/protocol';
import type { Logger, Random } from '@odradek/runtime';
import { type FoundPartition, type LogManager, type PartitionLog, type TopicPartition, topicPartitionKey } from '@odradek/storage';
import { noLeader } from './metadata/metadata-cache.ts';
import { randomUuid } from './metadata/random-uuid.ts';

/** Whether nothing can have been created or deleted in the tree so far. */
export async function isUntouched(coordination: Coordination): Promise<boolean> {
  return (await coordination.exists(controllerEpochNode.path)) === undefined;
}

export interface AdoptionParts {
  readonly coordination: Coordination;
  readonly brokerId: number;
  readonly random: Random;
  readonly logger: Logger;
  /** What an internal topic is created with; undefined for others. */
  readonly internalConfigs: (topic: string) => ReadonlyMap<string, string> | undefined;
}

/**
 * No topic has more partitions, and all up to the highest that is found are made: a copy of a log that somebody has called by its date
 * must not make twenty million of them.
 */
const mostPartitions = 100_000;

/** Writes the topics, before their configs are read and their logs opened. One that is there from an earlier attempt stays. */
export async function adoptTopics(found: readonly FoundPartition[], parts: AdoptionParts): Promise<void> {
  const { coordination, logger } = parts;
  for (const { topic, partition } of found.filter((each) => each.partition >= mostPartitions)) {
    logger.error('A log is of a partition that no topic can have; it is left alone', { topic, partition });
  }
  const topics = Map.groupBy(
    found.filter(({ partition }) => partition < mostPartitions),
    ({ topic }) => topic,
  );
  const adopted: string[] = [];
  for (const [topic, partitions] of topics) {
    const ids = new Set(partitions.map(({ topicId }) => topicId).filter((topicId) => topicId !== zeroUuid));
    if (ids.size > 1) {
      logger.error('The logs of a topic name several ids; it is left alone', { topic, topicIds: [...ids].join(' ') });
      continue;
    }
    const [topicId = randomUuid(parts.random)] = ids;
    if (await create(coordination, topicOperations(topic, topicId, partitions, parts))) adopted.push(topic);
  }
  if (adopted.length === 0) return;
  logger.warn('Topics were found on disk and are taken over. Nothing of them expires before they get a retention.ms of their own', {
    topics: adopted.join(' '),
  });
}

function topicOperations(
  topic: string,
  topicId: string,
  partitions: readonly FoundPartition[],
  { brokerId, internalConfigs }: AdoptionParts,
): Operation[] {
  const count = 1 + Math.max(...partitions.map(({ partition }) => partition));
  const replicas = new Map(Array.from({ length: count }, (_, partition) => [partition, [brokerId]]));
  const assignment = { topicId, replicas, addingReplicas: new Map(), removingReplicas: new Map() };
  const isCompacted = partitions.some((partition) => partition.isCompacted);
  const configs = internalConfigs(topic) ?? (isCompacted ? compacted : kept);
  return [
    { type: 'create', path: topicNode.path(topic), data: topicNode.encode(assignment) },
    { type: 'create', path: configNode.path('topics', topic), data: configNode.encode(configs) },
    { type: 'create', path: partitionsNode.path(topic), data: null },
  ];
}

/** What the topic's configs were is not known. The defaults might delete all of it within minutes. */
const kept: ReadonlyMap<string, string> = new Map([
  ['retention.bytes', '-1'],
  ['retention.ms', '-1'],
]);
const compacted: ReadonlyMap<string, string> = new Map([['cleanup.policy', 'compact']]);

/**
 * Writes under which leader epoch each partition was written last, once the logs are open: the first election goes on from there, also in
 * one whose log cannot be opened for now. A partition of an adopted topic that has no log is made anew.
 */
export async function adoptLeaderships(
  logs: Iterable<PartitionLog>,
  found: readonly FoundPartition[],
  { coordination, brokerId }: Pick<AdoptionParts, 'coordination' | 'brokerId'>,
): Promise<void> {
  const epochs = new Map<string, { readonly topicPartition: TopicPartition; readonly leaderEpoch: number }>();
  const take = (topicPartition: TopicPartition, leaderEpoch: number): void => {
    const key = topicPartitionKey(topicPartition);
    epochs.set(key, { topicPartition, leaderEpoch: Math.max(leaderEpoch, epochs.get(key)?.leaderEpoch ?? 0) });
  };
  for (const partition of found) take(partition, partition.lastLeaderEpoch);
  for (const { topicPartition, latestEpoch = 0 } of logs) take(topicPartition, latestEpoch);
  for (const { topicPartition, leaderEpoch } of epochs.values()) {
    const { topic, partition } = topicPartition;
    if (partition >= mostPartitions || (await coordination.exists(partitionsNode.path(topic))) === undefined) continue;
    const state = { leader: noLeader, leaderEpoch, isr: [brokerId], isLeaderRecovering: false, controllerEpoch: 0 };
    await create(coordination, [
      { type: 'create', path: partitionNode.path(topic, partition), data: null },
      { type: 'create', path: partitionStateNode.path(topic, partition), data: partitionStateNode.encode(state) },
    ]);
  }
}

/** All of them together. False: they are there already. */
async function create(coordination: Coordination, operations: readonly Operation[]): Promise<boolean> {
  try {
    await coordination.multi(operations);
    return true;
  } catch (error) {
    if (!isCoordinationError(error, 'NodeExists')) throw error;
    return false;
  }
}

/** Puts the logs aside that no topic of the tree has here. Whoever wants one back stops the broker and renames its folder. */
export async function putStraysAside(
  logManager: LogManager,
  coordination: Coordination,
  brokerId: number,
  logger: Logger,
): Promise<void> {
  for (const log of await findStrays([...logManager.logs()], coordination, brokerId)) {
    logger.warn('A log is put aside, because no topic has it here', { path: log.path, topicId: log.topicId });
    logManager.putAside(log);
  }
}

/** Those of the logs whose topics are not there, or others by now, or have their partition elsewhere. */
export async function findStrays(
  logs: readonly PartitionLog[],
  coordination: Coordination,
  brokerId: number,
): Promise<PartitionLog[]> {
  const names = [...new Set(logs.map(({ topicPartition }) => topicPartition.topic))];
  const topics = new Map(await Promise.all(names.map(async (name) => [name, await readTopic(coordination, name)] as const)));
  return logs.filter((log) => {
    const { topic, partition } = log.topicPartition;
    const assignment = topics.get(topic);
    if (assignment === undefined) return true;
    if (assignment === 'unreadable') return false;
    const { topicId = zeroUuid, replicas } = assignment;
    const isOther = topicId !== log.topicId && topicId !== zeroUuid && log.topicId !== zeroUuid;
    return isOther || replicas.get(partition)?.includes(brokerId) !== true;
  });
}

/** undefined: there is no such topic. What cannot be read is there, whatever it is. */
async function readTopic(coordination: Coordination, topic: string): Promise<TopicAssignment | 'unreadable' | undefined> {
  try {
    const { data } = await coordination.get(topicNode.path(topic));
    return topicNode.decode(topic, data);
  } catch (error) {
    if (isCoordinationError(error, 'NoNode')) return undefined;
    if (error instanceof InvalidNodeError) return 'unreadable';
    throw error;
  }
}
