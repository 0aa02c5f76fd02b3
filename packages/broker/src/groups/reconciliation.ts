// Leads a member of a consumer group from what it has to what the target assignment gives it: first it gives up what is not its
// own any more, then it gets what others have given up. Pure rules.

import { errorCodes, ProtocolError } from '@odradek/protocol';
import { type ConsumerMember, isReconciledTo, type OwnedPartitions, type TopicPartitions } from './consumer-member.ts';

export interface ReconciliationInput {
  readonly targetEpoch: number;
  readonly target: TopicPartitions;
  /** The ids of the topics that the member subscribes to now, which the target may not know of yet. */
  readonly subscribedTopicIds: ReadonlySet<string>;
  readonly hasSubscriptionChanged: boolean;
  /** Whether another member has the partition, or has yet to give it up. */
  readonly isOwned: (topicId: string, partition: number) => boolean;
  /** What the member says that it has; null: as before. */
  readonly reported: TopicPartitions | null;
}

/** The member as it is from now on; the same object when nothing changes. */
export function reconcile(member: ConsumerMember, input: ReconciliationInput): ConsumerMember {
  if (!input.hasSubscriptionChanged && isReconciledTo(member, input.targetEpoch)) return member;
  switch (member.state) {
    case 'stable':
      if (member.memberEpoch !== input.targetEpoch) return next(member, input);
      return input.hasSubscriptionChanged ? withoutUnsubscribed(member, input) : member;
    case 'unrevokedPartitions':
      // The member has given them up when it does not report them any more.
      if (!reportsAny(input, member.partitionsPendingRevocation)) return next(member, input);
      return input.hasSubscriptionChanged ? withoutUnsubscribed(member, input) : member;
    case 'unreleasedPartitions':
      return next(member, input);
    case 'unknown':
      // A later Kafka wrote a state of its own. From nothing the member can begin anew.
      if (input.reported === null || input.reported.size > 0) {
        throw new ProtocolError(
          errorCodes.FENCED_MEMBER_EPOCH,
          'The member is in an unknown state and must give up all its partitions and join again.',
        );
      }
      return next({ ...member, memberEpoch: input.targetEpoch }, input);
  }
}

function next(member: ConsumerMember, input: ReconciliationInput): ConsumerMember {
  const kept = new Map<string, Map<number, number>>();
  const revoked = new Map<string, Map<number, number>>();
  const added = new Map<string, Map<number, number>>();
  let isWaiting = false;
  const target = (topicId: string): ReadonlySet<number> | undefined =>
    input.subscribedTopicIds.has(topicId) ? input.target.get(topicId) : undefined;
  for (const [topicId, partitions] of member.assignedPartitions) {
    for (const [partition, epoch] of partitions) {
      put(target(topicId)?.has(partition) === true ? kept : revoked, topicId, partition, epoch);
    }
  }
  for (const topicId of input.target.keys()) {
    for (const partition of target(topicId) ?? []) {
      if (member.assignedPartitions.get(topicId)?.has(partition) === true) continue;
      // What the member has just given up itself nobody else has yet.
      const isItsOwn = member.partitionsPendingRevocation.get(topicId)?.has(partition) === true;
      if (!isItsOwn && input.isOwned(topicId, partition)) isWaiting = true;
      else put(added, topicId, partition, input.targetEpoch);
    }
  }
  if (revoked.size > 0 && reportsAny(input, revoked)) {
    // It stays in its epoch until it has let go.
    return {
      ...member,
      state: 'unrevokedPartitions',
      previousMemberEpoch: member.memberEpoch,
      assignedPartitions: kept,
      partitionsPendingRevocation: revoked,
    };
  }
  for (const [topicId, partitions] of added) for (const [partition, epoch] of partitions) put(kept, topicId, partition, epoch);
  return {
    ...member,
    state: isWaiting ? 'unreleasedPartitions' : 'stable',
    memberEpoch: input.targetEpoch,
    previousMemberEpoch: member.memberEpoch,
    assignedPartitions: kept,
    partitionsPendingRevocation: new Map(),
  };
}

/** A new target has to wait, but what is not subscribed any more is given up at once. */
function withoutUnsubscribed(member: ConsumerMember, input: ReconciliationInput): ConsumerMember {
  const kept = new Map(member.assignedPartitions);
  const revoked = new Map(member.partitionsPendingRevocation);
  for (const [topicId, partitions] of member.assignedPartitions) {
    if (input.subscribedTopicIds.has(topicId)) continue;
    kept.delete(topicId);
    revoked.set(topicId, new Map([...(revoked.get(topicId) ?? []), ...partitions]));
  }
  if (kept.size === member.assignedPartitions.size) return member;
  const changed = { ...member, previousMemberEpoch: member.memberEpoch, assignedPartitions: kept };
  if (!reportsAny(input, revoked)) return changed;
  return { ...changed, state: 'unrevokedPartitions', partitionsPendingRevocation: revoked };
}

/** Whether the member still has any of the partitions; when it does not say, it may. */
function reportsAny({ reported }: ReconciliationInput, partitions: OwnedPartitions): boolean {
  if (reported === null) return true;
  for (const [topicId, reportedPartitions] of reported) {
    const asked = partitions.get(topicId);
    if (asked === undefined) continue;
    for (const partition of reportedPartitions) if (asked.has(partition)) return true;
  }
  return false;
}

function put(owned: Map<string, Map<number, number>>, topicId: string, partition: number, epoch: number): void {
  const partitions = owned.get(topicId);
  if (partitions === undefined) owned.set(topicId, new Map([[partition, epoch]]));
  else partitions.set(partition, epoch);
}
