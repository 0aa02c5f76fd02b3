// Makes the target assignment of a consumer group: who is to have which partitions in the end. Pure but for the assignor that it
// calls.

import type { MetadataSnapshot } from '../metadata/metadata-cache.ts';
import type { Assignor, AssignorMember } from './assignors/assignor.ts';
import type { ConsumerGroup, ResolvedRegex } from './consumer-group.ts';
import type { ConsumerMember, TopicPartitions } from './consumer-member.ts';
import { subscribedTopicIds } from './consumer-subscriptions.ts';

const nothing: TopicPartitions = new Map();

/** Every member's part. `members` are the members as they will be. */
export function assignTarget(
  group: ConsumerGroup,
  members: ReadonlyMap<string, ConsumerMember>,
  regexes: ReadonlyMap<string, ResolvedRegex>,
  assignor: Assignor,
  metadata: MetadataSnapshot,
): ReadonlyMap<string, TopicPartitions> {
  const subscriptions = new Map<string, AssignorMember>();
  for (const [memberId, member] of members) {
    subscriptions.set(memberId, {
      instanceId: member.instanceId,
      subscribedTopicIds: subscribedTopicIds(member, regexes, metadata),
      assigned: group.targetAssignment.get(memberId) ?? group.targetOf(member) ?? nothing,
    });
  }
  const assigned = assignor.assign({
    members: subscriptions,
    isHomogeneous: isHomogeneous(subscriptions.values()),
    partitionCount: (topicId) => metadata.topicById(topicId)?.partitions.length ?? 0,
  });
  return new Map([...members.keys()].map((memberId) => [memberId, assigned.get(memberId) ?? nothing]));
}

export function hasSameTarget(a: TopicPartitions | undefined, b: TopicPartitions | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  if (a.size !== b.size) return false;
  for (const [topicId, partitions] of a) {
    const others = b.get(topicId);
    if (others === undefined || others.size !== partitions.size) return false;
    for (const partition of partitions) if (!others.has(partition)) return false;
  }
  return true;
}

function isHomogeneous(members: Iterable<AssignorMember>): boolean {
  let first: ReadonlySet<string> | undefined;
  for (const { subscribedTopicIds: topicIds } of members) {
    first ??= topicIds;
    if (topicIds.size !== first.size) return false;
    for (const topicId of topicIds) if (!first.has(topicId)) return false;
  }
  return true;
}
