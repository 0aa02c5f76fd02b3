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
  hasSameSubscription,
  type TopicPartitions,
} from './consumer-member.ts';
import {
  currentAssignmentRecord,
  groupEpochRecord,
  memberRecord,
  partitionMetadataTombstone,
  regexRecord,
  regexTombstone,
  targetEpochRecord,
  targetRecord,
} from './consumer-records.ts';
import { metadataHash, resolveRegex, subscribedTopicIds } from './consumer-subscriptions.ts';
import { reconcile } from './reconciliation.ts';
import { assignTarget, hasSameTarget } from './target-assignment.ts';

export interface ProgressParts {
  readonly nowMs: number;
  readonly metadata: MetadataSnapshot;
  /** `consumer.assignment.interval.ms` of the group: so much time is between two target assignments. */
  readonly assignmentIntervalMs: number;
  /** `group.consumer.regex.refresh.interval.ms`. */
  readonly regexRefreshIntervalMs: number;
  /** The assignor of that name, or the default. */
  readonly assignor: (name: string | null) => Assignor;
}

/** Topics come and go; expressions are not looked up more often than this, as in Kafka. */
const leastRegexRefreshMs = 10_000;
const nothing: TopicPartitions = new Map();

/** Adds the records and returns the member as it is when they are applied. `before` is the member as it is known. */
export function progress(
  parts: ProgressParts,
  group: ConsumerGroup,
  before: ConsumerMember,
  updated: ConsumerMember,
  reported: TopicPartitions | null,
  records: CoordinatorRecord[],
): ConsumerMember {
  const { groupId } = group;
  const { metadata } = parts;
  if (!hasSameMetadata(before, updated)) records.push(memberRecord(groupId, updated));
  const hasSubscriptionChanged = !hasSameSubscription(before, updated);
  const members = membersAfter(group.members, updated);
  const { regexes, hasChanged: haveRegexesChanged } = refreshRegexes(parts, group, members, records);
  const hasAssignorChanged =
    before.serverAssignor !== updated.serverAssignor && group.preferredAssignor() !== group.preferredAssignor(updated);
  const groupEpoch = nextEpoch(
    parts,
    group,
    members,
    regexes,
    hasSubscriptionChanged || haveRegexesChanged || hasAssignorChanged,
    records,
  );

  let targetEpoch = group.assignmentEpoch;
  let target = group.targetOf(updated) ?? nothing;
  if (groupEpoch > targetEpoch && mayAssign(parts, group)) {
    const targets = assignTarget(group, members, regexes, parts.assignor(group.preferredAssignor(updated)), metadata);
    for (const [memberId, each] of targets) {
      if (!hasSameTarget(each, group.targetAssignment.get(memberId))) records.push(targetRecord(groupId, memberId, each));
    }
    records.push(targetEpochRecord(groupId, groupEpoch, parts.nowMs));
    targetEpoch = groupEpoch;
    target = targets.get(updated.memberId) ?? nothing;
  }
  const reconciled = reconcile(updated, {
    targetEpoch,
    target,
    subscribedTopicIds: subscribedTopicIds(updated, regexes, metadata),
    hasSubscriptionChanged,
    isOwned: (topicId, partition) => group.isOwned(topicId, partition),
    reported,
  });
  if (hasSameProgress(reconciled, updated)) return updated;
  records.push(currentAssignmentRecord(groupId, reconciled));
  return reconciled;
}

/** The first one comes at once; those that follow wait, so that many members that join make few assignments. */
function mayAssign({ nowMs, assignmentIntervalMs }: ProgressParts, { assignmentTimestampMs }: ConsumerGroup): boolean {
  return assignmentTimestampMs === 0 || assignmentIntervalMs === 0 || nowMs >= assignmentTimestampMs + assignmentIntervalMs;
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

/** Looks up expressions that are new, and all of them from time to time; forgets those to which nobody subscribes any more. */
export function refreshRegexes(
  { nowMs, metadata, regexRefreshIntervalMs }: Pick<ProgressParts, 'nowMs' | 'metadata' | 'regexRefreshIntervalMs'>,
  group: ConsumerGroup,
  members: ReadonlyMap<string, ConsumerMember>,
  records: CoordinatorRecord[],
): { readonly regexes: ReadonlyMap<string, ResolvedRegex>; readonly hasChanged: boolean } {
  const { resolvedRegexes, groupId } = group;
  const wanted = new Set<string>();
  for (const { subscribedTopicRegex } of members.values()) if (subscribedTopicRegex !== '') wanted.add(subscribedTopicRegex);
  if (wanted.size === 0 && resolvedRegexes.size === 0) return { regexes: resolvedRegexes, hasChanged: false };
  const sinceMs = nowMs - group.regexRefreshMs;
  const isDue =
    sinceMs >= regexRefreshIntervalMs || (sinceMs >= leastRegexRefreshMs && group.regexMetadata !== metadata && wanted.size > 0);
  const regexes = new Map<string, ResolvedRegex>();
  let hasChanged = false;
  for (const regex of wanted) {
    const known = resolvedRegexes.get(regex);
    if (known !== undefined && !isDue) {
      regexes.set(regex, known);
      continue;
    }
    const topics = resolveRegex(regex, metadata);
    const isSame =
      known !== undefined && topics.size === known.topics.size && [...topics].every((topic) => known.topics.has(topic));
    const resolved = isSame ? known : { topics, version: 0, timestampMs: nowMs };
    regexes.set(regex, resolved);
    if (isSame) continue;
    records.push(regexRecord(groupId, regex, resolved));
    hasChanged = true;
  }
  if (isDue) {
    group.regexRefreshMs = nowMs;
    group.regexMetadata = metadata;
  }
  for (const regex of resolvedRegexes.keys()) if (!wanted.has(regex)) records.push(regexTombstone(groupId, regex));
  return { regexes, hasChanged };
}
