// What follows when a member of a consumer group joins, changes its mind, or only beats: the group epoch grows when subscriptions
// or topics have changed, a new target assignment is made when the epoch has grown, and the member is led towards it. Yields
// records; nothing changes here.

import type { CoordinatorRecord } from '../coordinator/coordinator-shard.ts';
import type { MetadataSnapshot } from '../metadata/metadata-cache.ts';
import type { Assignor } from './assignors/assignor.ts';
import { type ConsumerGroup, membersAfter, type ResolvedRegex } from './consumer-group.ts';
import {
  type ConsumerMember,
  hasSameMetadata,
  hasSameProgress,
  hasSameTopicNames,
  type TopicPartitions,
} from './consumer-member.ts';
import {
  currentAssignmentRecord,
  groupEpochRecord,
  memberRecord,
  partitionMetadataTombstone,
  regexTombstone,
  targetEpochRecord,
  targetRecord,
} from './consumer-records.ts';
import { checkRegex, metadataHash, subscribedTopicIds } from './consumer-subscriptions.ts';
import { reconcile } from './reconciliation.ts';
import { assignTarget, hasSameTarget } from './target-assignment.ts';

export interface ProgressParts {
  readonly nowMs: number;
  readonly metadata: MetadataSnapshot;
  /** `consumer.assignment.interval.ms` of the group: so much time is between two target assignments. */
  readonly assignmentIntervalMs: number;
  /** By name, the default first. */
  readonly assignors: ReadonlyMap<string, Assignor>;
}

/** As member and group are when the records are applied. */
export interface Progress {
  readonly member: ConsumerMember;
  readonly groupEpoch: number;
  /** When the target assignment was made. */
  readonly assignmentTimestampMs: number;
}

const nothing: TopicPartitions = new Map();

/** Adds the records. `before` is the member as it is known. */
export function progress(
  parts: ProgressParts,
  group: ConsumerGroup,
  before: ConsumerMember,
  updated: ConsumerMember,
  reported: TopicPartitions | null,
  records: CoordinatorRecord[],
): Progress {
  const { groupId } = group;
  const { metadata } = parts;
  if (!hasSameMetadata(before, updated)) records.push(memberRecord(groupId, updated));
  const haveNamesChanged = !hasSameTopicNames(before, updated);
  const regexChange = changeRegex(group, before, updated, records);
  const members = membersAfter(group.members, updated);
  const regexes = group.resolvedRegexes;
  const preferredAssignor = (of?: ReadonlyMap<string, ConsumerMember>): string =>
    group.preferredAssignor(parts.assignors.keys(), of);
  const hasAssignorChanged = before.serverAssignor !== updated.serverAssignor && preferredAssignor() !== preferredAssignor(members);
  const groupEpoch = nextEpoch(
    parts,
    group,
    members,
    regexes,
    haveNamesChanged || regexChange === 'resolved' || hasAssignorChanged,
    records,
  );

  let targetEpoch = group.assignmentEpoch;
  let target = group.targetOf(updated) ?? nothing;
  let { assignmentTimestampMs } = group;
  if (groupEpoch > targetEpoch && mayAssign(parts, group)) {
    const assignor = parts.assignors.get(preferredAssignor(members));
    if (assignor === undefined) throw new Error('There is no assignor');
    const targets = assignTarget(group, members, regexes, assignor, metadata);
    for (const [memberId, each] of targets) {
      if (!hasSameTarget(each, group.targetAssignment.get(memberId))) records.push(targetRecord(groupId, memberId, each));
    }
    records.push(targetEpochRecord(groupId, groupEpoch, parts.nowMs));
    targetEpoch = groupEpoch;
    assignmentTimestampMs = parts.nowMs;
    target = targets.get(updated.memberId) ?? nothing;
  }
  const reconciled = reconcile(updated, {
    targetEpoch,
    target,
    subscribedTopicIds: subscribedTopicIds(updated, regexes, metadata),
    hasSubscriptionChanged: haveNamesChanged || regexChange !== 'none',
    isOwned: (topicId, partition) => group.isOwned(topicId, partition),
    reported,
  });
  if (hasSameProgress(reconciled, updated)) return { member: updated, groupEpoch, assignmentTimestampMs };
  records.push(currentAssignmentRecord(groupId, reconciled));
  return { member: reconciled, groupEpoch, assignmentTimestampMs };
}

/**
 * The first one comes at once; those that follow wait, so that many members that join make few assignments. One that is to be made
 * yet by this clock was made by that of another coordinator, or before this one was set back.
 */
export function mayAssign(
  { nowMs, assignmentIntervalMs }: Pick<ProgressParts, 'nowMs' | 'assignmentIntervalMs'>,
  { assignmentTimestampMs }: Pick<ConsumerGroup, 'assignmentTimestampMs'>,
): boolean {
  const ageMs = nowMs - assignmentTimestampMs;
  return assignmentTimestampMs === 0 || ageMs < 0 || ageMs >= assignmentIntervalMs;
}

/** The group epoch, one more than it was if anything has changed that assignments depend on. */
export function nextEpoch(
  { metadata }: Pick<ProgressParts, 'metadata'>,
  group: ConsumerGroup,
  members: ReadonlyMap<string, ConsumerMember>,
  regexes: ReadonlyMap<string, ResolvedRegex>,
  mustGrow: boolean,
  records: CoordinatorRecord[],
): number {
  if (!mustGrow && group.checkedMetadata === metadata) return group.groupEpoch;
  const hash = metadataHash(members.values(), regexes, metadata);
  if (!mustGrow && hash === group.metadataHash) {
    group.checkedMetadata = metadata;
    return group.groupEpoch;
  }
  const groupEpoch = group.groupEpoch + 1;
  records.push(groupEpochRecord(group.groupId, groupEpoch, hash));
  if (group.hasPartitionMetadataRecord) records.push(partitionMetadataTombstone(group.groupId));
  return groupEpoch;
}

/**
 * What follows when the member subscribes to another expression than before. One that nobody had matches nothing until it has been
 * looked up, after the answer. Throws INVALID_REGULAR_EXPRESSION.
 */
function changeRegex(
  group: ConsumerGroup,
  before: ConsumerMember,
  updated: ConsumerMember,
  records: CoordinatorRecord[],
): 'none' | 'unresolved' | 'resolved' {
  const { subscribedTopicRegex: old } = before;
  const { subscribedTopicRegex: regex } = updated;
  if (regex === old) return 'none';
  if (old !== '' && group.regexSubscriberCount(old) === 1) records.push(regexTombstone(group.groupId, old));
  if (regex === '') return 'resolved';
  if (group.regexSubscriberCount(regex) === 0) checkRegex(regex);
  return group.resolvedRegexes.has(regex) ? 'resolved' : 'unresolved';
}

/** Forgets the expressions to which none of these members, those that stay, subscribes. */
export function forgetRegexes(
  { groupId, resolvedRegexes }: ConsumerGroup,
  members: ReadonlyMap<string, ConsumerMember>,
  records: CoordinatorRecord[],
): void {
  if (resolvedRegexes.size === 0) return;
  const wanted = new Set(Array.from(members.values(), ({ subscribedTopicRegex }) => subscribedTopicRegex));
  for (const regex of resolvedRegexes.keys()) if (!wanted.has(regex)) records.push(regexTombstone(groupId, regex));
}
