// The `range` assignor: each topic is cut into ranges of partitions, one for each member, so that a member has the same
// partitions of all topics with equally many. Members stand in the order of their instance ids, then of their ids; a static
// member that restarts keeps its ranges.

import type { TopicPartitions } from '../consumer-member.ts';
import type { Assignor, AssignorInput, AssignorMember } from './assignor.ts';

interface Range {
  readonly partitionCount: number;
  readonly memberCount: number;
  membersDone: number;
  nextPartition: number;
}

export const rangeAssignor: Assignor = {
  name: 'range',
  assign({ members, partitionCount }: AssignorInput): ReadonlyMap<string, TopicPartitions> {
    const subscribers = new Map<string, number>();
    for (const { subscribedTopicIds } of members.values()) {
      for (const topicId of subscribedTopicIds) subscribers.set(topicId, (subscribers.get(topicId) ?? 0) + 1);
    }
    const ranges = new Map<string, Range>();
    for (const [topicId, memberCount] of subscribers) {
      ranges.set(topicId, { partitionCount: partitionCount(topicId), memberCount, membersDone: 0, nextPartition: 0 });
    }
    const assignment = new Map<string, TopicPartitions>();
    for (const [memberId, { subscribedTopicIds }] of [...members].sort(byInstanceThenId)) {
      const topics = new Map<string, ReadonlySet<number>>();
      for (const topicId of subscribedTopicIds) {
        const partitions = take(ranges.get(topicId));
        if (partitions.size > 0) topics.set(topicId, partitions);
      }
      assignment.set(memberId, topics);
    }
    return assignment;
  },
};

/** The next member's share: all get equally many, and the first ones one more while there are more. */
function take(range: Range | undefined): ReadonlySet<number> {
  const partitions = new Set<number>();
  if (range === undefined) return partitions;
  const { partitionCount, memberCount } = range;
  const isFirst = range.membersDone < partitionCount % memberCount;
  const share = Math.floor(partitionCount / memberCount) + (isFirst ? 1 : 0);
  for (let count = 0; count < share; count++) partitions.add(range.nextPartition++);
  range.membersDone += 1;
  return partitions;
}

type Entry = readonly [string, AssignorMember];

/** Static members come first. */
function byInstanceThenId([idA, { instanceId: instanceA }]: Entry, [idB, { instanceId: instanceB }]: Entry): number {
  if (instanceA !== null && instanceB !== null) return compare(instanceA, instanceB);
  if (instanceA !== null) return -1;
  if (instanceB !== null) return 1;
  return compare(idA, idB);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
