// The records of consumer groups: how a group and its members are written, and what reading them back does. Writing and reading
// stand side by side because the one must undo the other.

import type { CoordinatorRecord } from '../coordinator/coordinator-shard.ts';
import type { ConsumerGroup, ResolvedRegex } from './consumer-group.ts';
import {
  type ConsumerMember,
  type ConsumerMemberState,
  newConsumerMember,
  type OwnedPartitions,
  type TopicPartitions,
  topicNames,
} from './consumer-member.ts';
import { encodeGroupRecord, type GroupRecord } from './group-records.ts';

const stateNumbers: Readonly<Record<ConsumerMemberState, number>> = {
  stable: 0,
  unrevokedPartitions: 1,
  unreleasedPartitions: 2,
  unknown: 127,
};
const states = new Map(Object.entries(stateNumbers).map(([name, number]) => [number, name as ConsumerMemberState]));

/** Of a member whose assignment is gone; the record that removes it follows. */
const leftEpoch = -1;

export function memberRecord(groupId: string, member: ConsumerMember): CoordinatorRecord {
  const { memberId, classic } = member;
  return encodeGroupRecord(
    'consumerGroupMemberMetadata',
    { groupId, memberId },
    {
      instanceId: member.instanceId,
      rackId: member.rackId,
      clientId: member.clientId,
      clientHost: member.clientHost,
      subscribedTopicNames: member.subscribedTopicNames,
      subscribedTopicRegex: member.subscribedTopicRegex,
      rebalanceTimeoutMs: member.rebalanceTimeoutMs,
      serverAssignor: member.serverAssignor,
      classicMemberMetadata:
        classic === null ? null : { sessionTimeoutMs: classic.sessionTimeoutMs, supportedProtocols: classic.protocols },
    },
  );
}

export function groupEpochRecord(groupId: string, epoch: number, metadataHash: number): CoordinatorRecord {
  return encodeGroupRecord('consumerGroupMetadata', { groupId }, { epoch, metadataHash });
}

export function targetEpochRecord(groupId: string, assignmentEpoch: number, assignmentTimestamp: number): CoordinatorRecord {
  return encodeGroupRecord('consumerGroupTargetAssignmentMetadata', { groupId }, { assignmentEpoch, assignmentTimestamp });
}

export function targetRecord(groupId: string, memberId: string, target: TopicPartitions): CoordinatorRecord {
  const topicPartitions = [...target].map(([topicId, partitions]) => ({ topicId, partitions: sorted(partitions) }));
  return encodeGroupRecord('consumerGroupTargetAssignmentMember', { groupId, memberId }, { topicPartitions });
}

export function currentAssignmentRecord(groupId: string, member: ConsumerMember): CoordinatorRecord {
  return encodeGroupRecord(
    'consumerGroupCurrentMemberAssignment',
    { groupId, memberId: member.memberId },
    {
      memberEpoch: member.memberEpoch,
      previousMemberEpoch: member.previousMemberEpoch,
      state: stateNumbers[member.state],
      assignedPartitions: ownedList(member.assignedPartitions),
      partitionsPendingRevocation: ownedList(member.partitionsPendingRevocation),
    },
  );
}

export function regexRecord(groupId: string, regularExpression: string, resolved: ResolvedRegex): CoordinatorRecord {
  return encodeGroupRecord(
    'consumerGroupRegularExpression',
    { groupId, regularExpression },
    { topics: [...resolved.topics].sort(), version: resolved.version, timestamp: resolved.timestampMs },
  );
}

export function regexTombstone(groupId: string, regularExpression: string): CoordinatorRecord {
  return encodeGroupRecord('consumerGroupRegularExpression', { groupId, regularExpression }, null);
}

export function partitionMetadataTombstone(groupId: string): CoordinatorRecord {
  return encodeGroupRecord('consumerGroupPartitionMetadata', { groupId }, null);
}

/** The member leaves nothing behind. The order matters to whoever reads it: what refers to the member goes first. */
export function memberTombstones(groupId: string, memberId: string): CoordinatorRecord[] {
  return [
    encodeGroupRecord('consumerGroupCurrentMemberAssignment', { groupId, memberId }, null),
    encodeGroupRecord('consumerGroupTargetAssignmentMember', { groupId, memberId }, null),
    encodeGroupRecord('consumerGroupMemberMetadata', { groupId, memberId }, null),
  ];
}

/** The group is gone with all its members. `members` are those that it has when the records are read. */
export function consumerGroupTombstones(
  group: ConsumerGroup,
  members: Iterable<string> = group.members.keys(),
): CoordinatorRecord[] {
  const { groupId } = group;
  const ids = [...members];
  return [
    ...ids.map((memberId) => encodeGroupRecord('consumerGroupCurrentMemberAssignment', { groupId, memberId }, null)),
    ...ids.map((memberId) => encodeGroupRecord('consumerGroupTargetAssignmentMember', { groupId, memberId }, null)),
    encodeGroupRecord('consumerGroupTargetAssignmentMetadata', { groupId }, null),
    ...ids.map((memberId) => encodeGroupRecord('consumerGroupMemberMetadata', { groupId, memberId }, null)),
    ...[...group.resolvedRegexes.keys()].map((regex) => regexTombstone(groupId, regex)),
    ...(group.hasPartitionMetadataRecord ? [partitionMetadataTombstone(groupId)] : []),
    encodeGroupRecord('consumerGroupMetadata', { groupId }, null),
  ];
}

/** A record of a consumer group. */
export type ConsumerRecord = Extract<GroupRecord, { readonly kind: `consumerGroup${string}` }>;

export function isConsumerRecord(record: GroupRecord): record is ConsumerRecord {
  return record.kind.startsWith('consumerGroup');
}

/** Whether the record says that the group itself is gone. */
export function endsGroup(record: ConsumerRecord): boolean {
  return record.kind === 'consumerGroupMetadata' && record.value === null;
}

/**
 * Applies a record to its group. Compaction removes earlier records of a key, and what is removed need not have been seen: each
 * kind of record stands for itself.
 */
export function replayConsumerRecord(group: ConsumerGroup, record: ConsumerRecord): void {
  switch (record.kind) {
    case 'consumerGroupMetadata':
      if (record.value === null) return;
      group.groupEpoch = record.value.epoch;
      group.metadataHash = record.value.metadataHash;
      return;
    case 'consumerGroupPartitionMetadata':
      group.hasPartitionMetadataRecord = record.value !== null;
      return;
    case 'consumerGroupMemberMetadata':
      replayMember(group, record);
      return;
    case 'consumerGroupTargetAssignmentMetadata':
      group.assignmentEpoch = record.value?.assignmentEpoch ?? 0;
      group.assignmentTimestampMs = record.value?.assignmentTimestamp ?? 0;
      return;
    case 'consumerGroupTargetAssignmentMember':
      if (record.value === null) group.targetAssignment.delete(record.key.memberId);
      else {
        const topics = record.value.topicPartitions.map(({ topicId, partitions }) => [topicId, new Set(partitions)] as const);
        group.targetAssignment.set(record.key.memberId, new Map(topics));
      }
      return;
    case 'consumerGroupCurrentMemberAssignment':
      replayCurrentAssignment(group, record);
      return;
    case 'consumerGroupRegularExpression': {
      const { regularExpression } = record.key;
      if (record.value === null) group.resolvedRegexes.delete(regularExpression);
      else {
        const { topics, version, timestamp } = record.value;
        group.resolvedRegexes.set(regularExpression, { topics: new Set(topics), version, timestampMs: timestamp });
      }
      return;
    }
  }
}

function replayMember(
  group: ConsumerGroup,
  { key: { memberId }, value }: Extract<ConsumerRecord, { readonly kind: 'consumerGroupMemberMetadata' }>,
): void {
  if (value === null) {
    group.remove(memberId);
    return;
  }
  const { classicMemberMetadata } = value;
  group.update({
    ...(group.member(memberId) ?? newConsumerMember(memberId)),
    instanceId: value.instanceId,
    rackId: value.rackId,
    clientId: value.clientId,
    clientHost: value.clientHost,
    subscribedTopicNames: topicNames(value.subscribedTopicNames),
    subscribedTopicRegex: value.subscribedTopicRegex ?? '',
    rebalanceTimeoutMs: value.rebalanceTimeoutMs,
    serverAssignor: value.serverAssignor,
    classic:
      classicMemberMetadata === null
        ? null
        : {
            sessionTimeoutMs: classicMemberMetadata.sessionTimeoutMs,
            // What was read is a slice of a piece of the log, which must not be kept for it.
            protocols: classicMemberMetadata.supportedProtocols.map(({ name, metadata }) => ({
              name,
              metadata: Buffer.from(metadata),
            })),
          },
  });
}

function replayCurrentAssignment(
  group: ConsumerGroup,
  { key: { memberId }, value }: Extract<ConsumerRecord, { readonly kind: 'consumerGroupCurrentMemberAssignment' }>,
): void {
  const member = group.member(memberId);
  if (value === null) {
    // The record that removes the member itself comes next.
    if (member === undefined) return;
    const nothing: OwnedPartitions = new Map();
    group.update({
      ...member,
      memberEpoch: leftEpoch,
      previousMemberEpoch: leftEpoch,
      assignedPartitions: nothing,
      partitionsPendingRevocation: nothing,
    });
    return;
  }
  group.update({
    ...(member ?? newConsumerMember(memberId)),
    memberEpoch: value.memberEpoch,
    previousMemberEpoch: value.previousMemberEpoch,
    state: states.get(value.state) ?? 'unknown',
    assignedPartitions: ownedMap(value.assignedPartitions, value.memberEpoch),
    partitionsPendingRevocation: ownedMap(value.partitionsPendingRevocation, value.memberEpoch),
  });
}

interface RecordedPartitions {
  readonly topicId: string;
  readonly partitions: readonly number[];
  readonly assignmentEpochs: readonly number[] | null;
}

function ownedList(owned: OwnedPartitions): RecordedPartitions[] {
  return [...owned].map(([topicId, partitions]) => {
    const ordered = sorted(partitions.keys());
    return { topicId, partitions: ordered, assignmentEpochs: ordered.map((partition) => partitions.get(partition) ?? 0) };
  });
}

/** Before 4.4 Kafka did not write in which epoch a partition was assigned; that of the member is the latest it can be. */
function ownedMap(recorded: readonly RecordedPartitions[], memberEpoch: number): OwnedPartitions {
  return new Map(
    recorded.map(({ topicId, partitions, assignmentEpochs }) => [
      topicId,
      new Map(partitions.map((partition, index) => [partition, assignmentEpochs?.[index] ?? memberEpoch])),
    ]),
  );
}

function sorted(partitions: Iterable<number>): number[] {
  return [...partitions].sort((a, b) => a - b);
}
