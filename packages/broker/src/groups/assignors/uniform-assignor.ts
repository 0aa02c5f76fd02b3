// The `uniform` assignor: members get equally many partitions, as far as their subscriptions allow, and keep those that they
// have. Balance comes before stickiness.

import type { TopicPartitions } from '../consumer-member.ts';
import type { Assignor, AssignorInput } from './assignor.ts';

type Assignment = Map<string, Map<string, Set<number>>>;

export const uniformAssignor: Assignor = {
  name: 'uniform',
  assign(input: AssignorInput): ReadonlyMap<string, TopicPartitions> {
    return input.isHomogeneous ? assignEqually(input) : assignBySubscription(input);
  },
};

interface Partition {
  readonly topicId: string;
  readonly partition: number;
}

/**
 * All subscribe to the same topics, so everybody's number is known from the start: what a member has beyond it is taken away,
 * and what nobody has fills up the others.
 */
function assignEqually({ members, partitionCount }: AssignorInput): Assignment {
  const topicIds = new Set([...members.values()][0]?.subscribedTopicIds);
  const assignment: Assignment = new Map();
  const owned = new Set<string>();
  let total = 0;
  for (const topicId of topicIds) total += partitionCount(topicId);
  const least = Math.floor(total / members.size);
  let withOneMore = total % members.size;
  const wanting: { readonly memberId: string; readonly quota: number }[] = [];
  // Who has most gets the odd ones, so that less moves.
  const ordered = [...members].sort(([, a], [, b]) => sizeOfAll(b.assigned) - sizeOfAll(a.assigned));
  for (const [memberId, { assigned }] of ordered) {
    let quota = least + (withOneMore > 0 ? 1 : 0);
    if (withOneMore > 0) withOneMore -= 1;
    const topics = new Map<string, Set<number>>();
    for (const [topicId, partitions] of assigned) {
      if (!topicIds.has(topicId)) continue;
      for (const partition of partitions) {
        if (quota === 0) break;
        if (partition >= partitionCount(topicId) || owned.has(keyOf(topicId, partition))) continue;
        quota -= 1;
        owned.add(keyOf(topicId, partition));
        add(topics, topicId, partition);
      }
    }
    assignment.set(memberId, topics);
    if (quota > 0) wanting.push({ memberId, quota });
  }
  const free = unowned(topicIds, partitionCount, owned);
  let nextFree = 0;
  for (const { memberId, quota } of wanting) {
    const topics = assignment.get(memberId);
    for (const { topicId, partition } of free.slice(nextFree, nextFree + quota)) {
      if (topics !== undefined) add(topics, topicId, partition);
    }
    nextFree += quota;
  }
  return assignment;
}

function sizeOfAll(assigned: TopicPartitions): number {
  let size = 0;
  for (const partitions of assigned.values()) size += partitions.size;
  return size;
}

/** More rounds than this do not make the balance better by much, where subscriptions overlap in odd ways. */
const maxRounds = 16;

/**
 * Subscriptions differ. Everybody keeps what it still subscribes to; what nobody has goes to the subscriber with the least;
 * then partitions move, topic by topic, from the subscriber with the most to the one with the least while they differ by more
 * than one.
 */
function assignBySubscription({ members, partitionCount }: AssignorInput): Assignment {
  const assignment: Assignment = new Map();
  const sizes = new Map<string, number>();
  const subscribers = new Map<string, string[]>();
  const owned = new Set<string>();
  for (const [memberId, { subscribedTopicIds, assigned }] of members) {
    for (const topicId of subscribedTopicIds) {
      const list = subscribers.get(topicId);
      if (list === undefined) subscribers.set(topicId, [memberId]);
      else list.push(memberId);
    }
    const topics = new Map<string, Set<number>>();
    let size = 0;
    for (const [topicId, partitions] of assigned) {
      if (!subscribedTopicIds.has(topicId)) continue;
      for (const partition of partitions) {
        if (partition >= partitionCount(topicId) || owned.has(keyOf(topicId, partition))) continue;
        owned.add(keyOf(topicId, partition));
        add(topics, topicId, partition);
        size += 1;
      }
    }
    assignment.set(memberId, topics);
    sizes.set(memberId, size);
  }
  const sizeOf = (memberId: string): number => sizes.get(memberId) ?? 0;
  const move = (from: string | undefined, to: string, { topicId, partition }: Partition): void => {
    const topics = assignment.get(to);
    if (topics !== undefined) add(topics, topicId, partition);
    sizes.set(to, sizeOf(to) + 1);
    if (from === undefined) return;
    assignment.get(from)?.get(topicId)?.delete(partition);
    if (assignment.get(from)?.get(topicId)?.size === 0) assignment.get(from)?.delete(topicId);
    sizes.set(from, sizeOf(from) - 1);
  };

  // Topics with many partitions for few subscribers leave the least choice, so they come first.
  const load = (topicId: string): number => partitionCount(topicId) / (subscribers.get(topicId)?.length ?? 1);
  const topicIds = [...subscribers.keys()].sort((a, b) => load(b) - load(a) || (a < b ? -1 : 1));
  for (const free of unowned(topicIds, partitionCount, owned)) {
    const to = leastOf(subscribers.get(free.topicId) ?? [], sizeOf);
    if (to !== undefined) move(undefined, to, free);
  }
  for (let round = 0, hasMoved = true; hasMoved && round < maxRounds; round++) {
    hasMoved = false;
    for (const topicId of topicIds) {
      const candidates = subscribers.get(topicId) ?? [];
      for (;;) {
        const to = leastOf(candidates, sizeOf);
        const owners = candidates.filter((memberId) => assignment.get(memberId)?.has(topicId) === true);
        const from = leastOf(owners, (memberId) => -sizeOf(memberId));
        if (to === undefined || from === undefined || sizeOf(from) - sizeOf(to) <= 1) break;
        const partition = assignment.get(from)?.get(topicId)?.values().next().value;
        if (partition === undefined) break;
        move(from, to, { topicId, partition });
        hasMoved = true;
      }
    }
  }
  return assignment;
}

function leastOf(memberIds: readonly string[], sizeOf: (memberId: string) => number): string | undefined {
  let least: string | undefined;
  for (const memberId of memberIds) if (least === undefined || sizeOf(memberId) < sizeOf(least)) least = memberId;
  return least;
}

function unowned(topicIds: Iterable<string>, partitionCount: (topicId: string) => number, owned: ReadonlySet<string>): Partition[] {
  const free: Partition[] = [];
  for (const topicId of topicIds) {
    const count = partitionCount(topicId);
    for (let partition = 0; partition < count; partition++) {
      if (!owned.has(keyOf(topicId, partition))) free.push({ topicId, partition });
    }
  }
  return free;
}

function keyOf(topicId: string, partition: number): string {
  return `${topicId} ${partition}`;
}

function add(topics: Map<string, Set<number>>, topicId: string, partition: number): void {
  const partitions = topics.get(topicId);
  if (partitions === undefined) topics.set(topicId, new Set([partition]));
  else partitions.add(partition);
}
