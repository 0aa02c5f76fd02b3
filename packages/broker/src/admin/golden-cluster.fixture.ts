// The brokers and topics with which the golden facts of the tree and of the controller's requests begin.

import { SeededRandom } from '@odradek/runtime';
import { type OneBroker, startOneBroker } from './one-broker.fixture.ts';
import type { TopicChanges } from './topic-changes.ts';

/** Kafka's placement of t-rf3 began at the first broker. */
class NoChance extends SeededRandom {
  override nextInt(): number {
    return 0;
  }
}

export function startGoldenCluster(): Promise<OneBroker> {
  const others = [1, 2].map((id) => ({ id, rack: `rack-${id}` }));
  return startOneBroker({ rack: 'rack-0', others, random: new NoChance(1) });
}

export async function createGoldenTopics(topicChanges: TopicChanges): Promise<void> {
  const inTime = { timeoutMs: 10_000, validateOnly: false };
  await topicChanges.createTopics(
    [{ name: 't-rf3', numPartitions: 5, replicationFactor: 3, assignments: [], configs: [] }],
    inTime,
  );
  // Its configs are not among those that the fixture knows, so it has none.
  const assignments = [
    [0, 1],
    [1, 2],
    [2, 0],
  ].map((brokerIds, partitionIndex) => ({ partitionIndex, brokerIds }));
  await topicChanges.createTopics(
    [{ name: 't-manual', numPartitions: -1, replicationFactor: -1, assignments, configs: [] }],
    inTime,
  );
}

export async function growGoldenTopic(topicChanges: TopicChanges): Promise<void> {
  await topicChanges.createPartitions([{ name: 't-rf3', count: 7, assignments: null }], { timeoutMs: 10_000, validateOnly: false });
}
