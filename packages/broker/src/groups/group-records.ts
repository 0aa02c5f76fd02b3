// The records of `__consumer_offsets`: how each is named by its key, and which version of its value is written. The key begins
// with an int16 that says what kind of record it is, the value with an int16 that is its version.
//
//   key   | int16 record type | fields of …Key   |        value | int16 version | fields of …Value |   or null: a tombstone

import {
  ConsumerGroupCurrentMemberAssignmentKey,
  ConsumerGroupCurrentMemberAssignmentValue,
  ConsumerGroupMemberMetadataKey,
  ConsumerGroupMemberMetadataValue,
  ConsumerGroupMetadataKey,
  ConsumerGroupMetadataValue,
  ConsumerGroupPartitionMetadataKey,
  ConsumerGroupPartitionMetadataValue,
  ConsumerGroupRegularExpressionKey,
  ConsumerGroupRegularExpressionValue,
  ConsumerGroupTargetAssignmentMemberKey,
  ConsumerGroupTargetAssignmentMemberValue,
  ConsumerGroupTargetAssignmentMetadataKey,
  ConsumerGroupTargetAssignmentMetadataValue,
  decodeMessage,
  encodeToBuffer,
  GroupMetadataKey,
  GroupMetadataValue,
  type Message,
  type MessageDefinition,
  type MessageInit,
  OffsetCommitKey,
  OffsetCommitValue,
} from '@odradek/protocol';
import type { CoordinatorRecord } from '../coordinator/coordinator-shard.ts';
import { ClassicGroup } from './classic-group.ts';
import { ClassicMember } from './classic-member.ts';

interface RecordKind<K extends MessageDefinition, V extends MessageDefinition> {
  readonly key: K;
  readonly value: V;
  /** The version in which Kafka writes the value. */
  readonly writes: number;
}

function kind<K extends MessageDefinition, V extends MessageDefinition>(key: K, value: V, writes: number): RecordKind<K, V> {
  return { key, value, writes };
}

/** THE table of the kinds of record. Types 0 and 1 have the same layout. */
const kinds = {
  legacyOffsetCommit: kind({ ...OffsetCommitKey, recordType: 0 }, OffsetCommitValue, 4),
  offsetCommit: kind(OffsetCommitKey, OffsetCommitValue, 4),
  groupMetadata: kind(GroupMetadataKey, GroupMetadataValue, 3),
  consumerGroupMetadata: kind(ConsumerGroupMetadataKey, ConsumerGroupMetadataValue, 0),
  consumerGroupPartitionMetadata: kind(ConsumerGroupPartitionMetadataKey, ConsumerGroupPartitionMetadataValue, 0),
  consumerGroupMemberMetadata: kind(ConsumerGroupMemberMetadataKey, ConsumerGroupMemberMetadataValue, 0),
  consumerGroupTargetAssignmentMetadata: kind(
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
    0,
  ),
  consumerGroupTargetAssignmentMember: kind(ConsumerGroupTargetAssignmentMemberKey, ConsumerGroupTargetAssignmentMemberValue, 0),
  consumerGroupCurrentMemberAssignment: kind(ConsumerGroupCurrentMemberAssignmentKey, ConsumerGroupCurrentMemberAssignmentValue, 0),
  consumerGroupRegularExpression: kind(ConsumerGroupRegularExpressionKey, ConsumerGroupRegularExpressionValue, 0),
} as const;

type Kinds = typeof kinds;
export type GroupRecordKind = keyof Kinds;

/** A record as it is replayed: which kind, what it is about, and what it says; null: that it is gone. */
export type GroupRecord = {
  readonly [N in GroupRecordKind]: {
    readonly kind: N;
    readonly key: Message<Kinds[N]['key']>;
    readonly value: Message<Kinds[N]['value']> | null;
  };
}[GroupRecordKind];

const kindByRecordType = new Map<number, GroupRecordKind>(
  (Object.keys(kinds) as GroupRecordKind[]).map((name) => [kinds[name].key.recordType ?? -1, name]),
);

export function encodeGroupRecord<N extends GroupRecordKind>(
  name: N,
  key: MessageInit<Kinds[N]['key']>,
  value: MessageInit<Kinds[N]['value']> | null,
  valueVersion: number = kinds[name].writes,
): CoordinatorRecord {
  const { key: keyDefinition, value: valueDefinition } = kinds[name];
  return {
    key: prefixed(keyDefinition.recordType ?? -1, encodeToBuffer<MessageDefinition>(keyDefinition, 0, key)),
    value: value === null ? null : prefixed(valueVersion, encodeToBuffer<MessageDefinition>(valueDefinition, valueVersion, value)),
  };
}

/** Reads a record; null when a newer Kafka wrote a kind that is unknown here. Throws when its bytes make no sense. */
export function decodeGroupRecord(record: CoordinatorRecord): GroupRecord | null {
  const name = kindByRecordType.get(record.key.readInt16BE(0));
  if (name === undefined) return null;
  const { key, value } = kinds[name];
  // The two halves come from one row of the table, which the compiler cannot follow through a lookup by number.
  return {
    kind: name,
    key: decodeMessage<MessageDefinition>(key, 0, record.key.subarray(2)),
    value:
      record.value === null ? null : decodeMessage<MessageDefinition>(value, record.value.readInt16BE(0), record.value.subarray(2)),
  } as unknown as GroupRecord;
}

function prefixed(prefix: number, body: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(2 + body.length);
  bytes.writeInt16BE(prefix, 0);
  body.copy(bytes, 2);
  return bytes;
}

/** What a record says of a classic group, which is alive again once its members are heard of. */
export function classicGroupOf(groupId: string, value: GroupMetadataValue): ClassicGroup {
  const group = new ClassicGroup(groupId);
  group.generationId = value.generation;
  for (const member of value.members) {
    const restored = new ClassicMember({
      memberId: member.memberId,
      groupInstanceId: member.groupInstanceId,
      clientId: member.clientId,
      clientHost: member.clientHost,
      // Version 0 of the record has no rebalance time-out.
      rebalanceTimeoutMs: member.rebalanceTimeout === -1 ? member.sessionTimeout : member.rebalanceTimeout,
      sessionTimeoutMs: member.sessionTimeout,
      protocolType: value.protocolType,
      protocols: [{ name: value.protocol ?? '', metadata: Buffer.from(member.subscription) }],
    });
    restored.assignment = Buffer.from(member.assignment);
    group.add(restored);
  }
  group.protocolType = value.protocolType === '' ? null : value.protocolType;
  group.protocolName = value.protocol;
  group.leaderId = value.leader;
  group.restoreState(value.members.length === 0 ? 'Empty' : 'Stable', value.currentStateTimestamp);
  group.subscribedTopics = group.computeSubscribedTopics();
  return group;
}

/** A group that is new: nobody has joined it yet. */
export function emptyGroupRecord(group: string, stateTimestampMs: number): CoordinatorRecord {
  const value = { protocolType: '', generation: 0, protocol: null, leader: null, currentStateTimestamp: stateTimestampMs };
  return encodeGroupRecord('groupMetadata', { group }, value);
}

/** The state of a classic group with the given assignment. */
export function groupMetadataRecord(group: ClassicGroup, assignments: ReadonlyMap<string, Uint8Array>): CoordinatorRecord {
  const { protocolName } = group;
  return encodeGroupRecord(
    'groupMetadata',
    { group: group.groupId },
    {
      protocolType: group.protocolType ?? '',
      generation: group.generationId,
      protocol: protocolName,
      leader: group.leaderId,
      currentStateTimestamp: group.stateTimestampMs,
      members: [...group.members.values()].map((member) => ({
        memberId: member.memberId,
        groupInstanceId: member.groupInstanceId,
        clientId: member.clientId,
        clientHost: member.clientHost,
        rebalanceTimeout: member.rebalanceTimeoutMs,
        sessionTimeout: member.sessionTimeoutMs,
        subscription: protocolName === null ? Buffer.alloc(0) : member.metadata(protocolName),
        assignment: assignments.get(member.memberId) ?? Buffer.alloc(0),
      })),
    },
  );
}

export function groupMetadataTombstone(groupId: string): CoordinatorRecord {
  return encodeGroupRecord('groupMetadata', { group: groupId }, null);
}
