// A group changes its type while its members stay: a classic group becomes a consumer group when the first member of the new
// protocol joins it, and a classic group again when the last one has left. `group.consumer.migration.policy` says what is allowed.

import {
  ConsumerProtocolAssignment,
  ConsumerProtocolSubscription,
  decodeMessage,
  encodeToBuffer,
  errorCodes,
  MalformedMessageError,
  ProtocolError,
  zeroUuid,
} from '@odradek/protocol';
import type { Clock, Logger } from '@odradek/runtime';
import { type CoordinatorRecord, described } from '../coordinator/coordinator-shard.ts';
import type { CoordinatorTimer } from '../coordinator/coordinator-timer.ts';
import type { MetadataSnapshot } from '../metadata/metadata-cache.ts';
import { ClassicGroup, consumerProtocolType } from './classic-group.ts';
import { ClassicMember } from './classic-member.ts';
import type { ClassicRebalance } from './classic-rebalance.ts';
import { ConsumerGroup } from './consumer-group.ts';
import {
  type ClassicSide,
  type ConsumerMember,
  newConsumerMember,
  type OwnedPartitions,
  type TopicPartitions,
  topicNames,
} from './consumer-member.ts';
import {
  consumerGroupTombstones,
  currentAssignmentRecord,
  groupEpochRecord,
  memberRecord,
  targetEpochRecord,
  targetRecord,
} from './consumer-records.ts';
import type { ConsumerTimers } from './consumer-timers.ts';
import { groupMetadataRecord, groupMetadataTombstone } from './group-records.ts';
import type { GroupSettings } from './group-settings.ts';

export type Group = ClassicGroup | ConsumerGroup;

export interface GroupConversionParts {
  readonly clock: Clock;
  readonly timer: CoordinatorTimer;
  readonly logger: Logger;
  readonly settings: GroupSettings;
  readonly metadata: () => MetadataSnapshot;
  readonly group: (groupId: string) => Group | undefined;
  readonly rebalance: ClassicRebalance;
}

export class GroupConversion {
  readonly #parts: GroupConversionParts;
  /** Groups whose records are about to be applied. */
  readonly #downgraded = new Map<string, ClassicGroup>();

  constructor(parts: GroupConversionParts) {
    this.#parts = parts;
  }

  /**
   * The group that a member of the consumer protocol joins. If it is not one yet, the records make it one; what is returned is
   * only what it will be. Throws GROUP_ID_NOT_FOUND when the group is of a type that cannot change.
   */
  groupToJoin(groupId: string, records: CoordinatorRecord[], timers: ConsumerTimers): ConsumerGroup {
    const group = this.#parts.group(groupId);
    if (group === undefined) return new ConsumerGroup(groupId);
    if (group.type === 'consumer') return group;
    if (group.isEmpty) {
      records.push(groupMetadataTombstone(groupId));
      return new ConsumerGroup(groupId);
    }
    return this.#upgrade(group, records, timers);
  }

  #upgrade(group: ClassicGroup, records: CoordinatorRecord[], timers: ConsumerTimers): ConsumerGroup {
    const { groupId } = group;
    const { settings, rebalance, logger } = this.#parts;
    const policy = settings.migrationPolicy;
    const isAllowed = policy === 'upgrade' || policy === 'bidirectional';
    if (!isAllowed || !group.isConsumerGroup || group.members.size > settings.consumerMaxSize) {
      throw new ProtocolError(errorCodes.GROUP_ID_NOT_FOUND, `Group ${groupId} is not a consumer group.`);
    }
    const upgraded = this.#consumerGroupOf(group);
    logger.info('A classic group becomes a consumer group', { group: groupId, members: group.members.size });
    const members = [...upgraded.members.values()];
    records.push(
      groupMetadataTombstone(groupId),
      ...members.map((member) => memberRecord(groupId, member)),
      groupEpochRecord(groupId, upgraded.groupEpoch, 0),
      ...members.map(({ memberId }) => targetRecord(groupId, memberId, upgraded.targetAssignment.get(memberId) ?? new Map())),
      targetEpochRecord(groupId, upgraded.assignmentEpoch, 0),
      ...members.map((member) => currentAssignmentRecord(groupId, member)),
    );
    // Who waits in a rebalance of the classic group has to join again.
    rebalance.interrupt(group, errorCodes.REBALANCE_IN_PROGRESS);
    for (const { memberId, classic } of members)
      if (classic !== null) timers.expectHeartbeat(groupId, memberId, classic.sessionTimeoutMs);
    return upgraded;
  }

  /** The last assignment is everybody's target, and everybody has come to it. */
  #consumerGroupOf(group: ClassicGroup): ConsumerGroup {
    const metadata = this.#parts.metadata();
    const upgraded = new ConsumerGroup(group.groupId);
    // Before its first generation a classic group is in 0, which to members of the consumer protocol means to join.
    const epoch = Math.max(group.generationId, 1);
    upgraded.groupEpoch = epoch;
    upgraded.assignmentEpoch = epoch;
    try {
      const protocolName = group.commonProtocol();
      for (const member of group.members.values()) {
        const subscription = readSubscription(member.metadata(protocolName));
        const target = readAssignment(member.assignment, metadata);
        upgraded.targetAssignment.set(member.memberId, target);
        upgraded.update({
          ...newConsumerMember(member.memberId),
          memberEpoch: epoch,
          previousMemberEpoch: epoch,
          instanceId: member.groupInstanceId,
          rackId: subscription.rackId,
          rebalanceTimeoutMs: member.rebalanceTimeoutMs,
          clientId: member.clientId,
          clientHost: member.clientHost,
          subscribedTopicNames: topicNames(subscription.topics),
          assignedPartitions: owned(target, epoch),
          classic: { sessionTimeoutMs: member.sessionTimeoutMs, protocols: member.protocols },
        });
      }
    } catch (error) {
      if (!(error instanceof MalformedMessageError || error instanceof RangeError)) throw error;
      const message = `Cannot upgrade the classic group ${group.groupId} to consumer group because the embedded consumer protocol is malformed.`;
      throw new ProtocolError(errorCodes.GROUP_ID_NOT_FOUND, message, { cause: error });
    }
    return upgraded;
  }

  /** The records that make it a classic group when these members have gone; null: it stays a consumer group. */
  downgradeWithout(group: ConsumerGroup, leaving: readonly ConsumerMember[]): CoordinatorRecord[] | null {
    const gone = new Set(leaving.map(({ memberId }) => memberId));
    const staying = [...group.members.values()].filter(({ memberId }) => !gone.has(memberId));
    if (staying.length === 0 || !this.#mayDowngrade(staying)) return null;
    const classic = this.#classicGroupOf(group, staying, (memberId) => memberId);
    // They have to share what the others leave behind.
    this.#rebalanceSoon(group.groupId, true);
    return [...consumerGroupTombstones(group), classicRecord(classic)];
  }

  /**
   * The records that make it a classic group when a static member of the classic protocol takes the place of the last one of the
   * consumer protocol; null: it stays as it is. It has the same part, so there is nothing to share.
   */
  downgradeByReplacement(group: ConsumerGroup, replaced: ConsumerMember, joining: ConsumerMember): CoordinatorRecord[] | null {
    const staying = [...group.members.values()].filter(({ memberId }) => memberId !== replaced.memberId);
    if (!this.#mayDowngrade([...staying, joining])) return null;
    const classic = this.#classicGroupOf(group, [...staying, joining], (memberId) =>
      memberId === joining.memberId ? replaced.memberId : memberId,
    );
    this.#rebalanceSoon(group.groupId, false);
    return [
      ...consumerGroupTombstones(group, [...staying.map(({ memberId }) => memberId), joining.memberId]),
      classicRecord(classic),
    ];
  }

  /** The group that has become a classic one. It knows all protocols of its members, of which the record has only the chosen one. */
  takeDowngraded(groupId: string): ClassicGroup | undefined {
    const group = this.#downgraded.get(groupId);
    this.#downgraded.delete(groupId);
    return group;
  }

  #mayDowngrade(members: readonly ConsumerMember[]): boolean {
    const { migrationPolicy, maxSize } = this.#parts.settings;
    const isAllowed = migrationPolicy === 'downgrade' || migrationPolicy === 'bidirectional';
    return isAllowed && members.length <= maxSize && members.every(({ classic }) => classic !== null);
  }

  /** `targetOf` says under whose id the target of a member is known. */
  #classicGroupOf(group: ConsumerGroup, members: readonly ConsumerMember[], targetOf: (memberId: string) => string): ClassicGroup {
    const metadata = this.#parts.metadata();
    const downgraded = new ClassicGroup(group.groupId);
    downgraded.generationId = group.groupEpoch;
    for (const { memberId, instanceId, clientId, clientHost, rebalanceTimeoutMs, classic } of members) {
      if (classic === null) continue;
      const member = new ClassicMember({
        memberId,
        groupInstanceId: instanceId,
        clientId,
        clientHost,
        rebalanceTimeoutMs,
        sessionTimeoutMs: classic.sessionTimeoutMs,
        protocolType: consumerProtocolType,
        protocols: classic.protocols,
      });
      const version = subscriptionVersion(classic);
      member.assignment = writeAssignment(group.targetAssignment.get(targetOf(memberId)) ?? new Map(), metadata, version);
      downgraded.add(member);
    }
    downgraded.protocolName = downgraded.selectProtocol();
    downgraded.subscribedTopics = downgraded.computeSubscribedTopics();
    downgraded.restoreState('Stable', this.#parts.clock.wallTimeMs());
    this.#downgraded.set(group.groupId, downgraded);
    this.#parts.logger.info('A consumer group becomes a classic group', { group: group.groupId, members: members.length });
    return downgraded;
  }

  /** Once the records have been applied. If they could not be written, the group is another one and nothing happens. */
  #rebalanceSoon(groupId: string, mustRebalance: boolean): void {
    this.#parts.timer.schedule(`downgrade ${groupId}`, 0, () => {
      this.#downgraded.delete(groupId);
      const group = this.#parts.group(groupId);
      if (group?.type !== 'classic') return described([], undefined);
      for (const member of group.members.values()) this.#parts.rebalance.beat(group, member);
      return described(mustRebalance && group.state === 'Stable' ? this.#parts.rebalance.prepare(group) : [], undefined);
    });
  }
}

function classicRecord(group: ClassicGroup): CoordinatorRecord {
  return groupMetadataRecord(group, new Map([...group.members.values()].map(({ memberId, assignment }) => [memberId, assignment])));
}

function owned(target: TopicPartitions, epoch: number): OwnedPartitions {
  return new Map(
    [...target].map(([topicId, partitions]) => [topicId, new Map([...partitions].map((partition) => [partition, epoch]))]),
  );
}

/** A subscription as it stands behind its version in JoinGroup. Throws when the bytes are something else. */
export function readSubscription(metadata: Buffer): ConsumerProtocolSubscription {
  const version = Math.min(metadata.readInt16BE(0), ConsumerProtocolSubscription.versions.max);
  return decodeMessage(ConsumerProtocolSubscription, version, metadata.subarray(2));
}

/**
 * In which version the member understands its assignment. Of several protocols Kafka goes by the first, which need not be the one
 * that the group has chosen: its metadata may be anything.
 */
export function subscriptionVersion({ protocols }: ClassicSide): number {
  const metadata = protocols[0]?.metadata;
  return metadata === undefined || metadata.length < 2 ? 0 : metadata.readInt16BE(0);
}

function readAssignment(assignment: Uint8Array, metadata: MetadataSnapshot): TopicPartitions {
  const bytes = Buffer.from(assignment);
  if (bytes.length === 0) return new Map();
  const version = Math.min(bytes.readInt16BE(0), ConsumerProtocolAssignment.versions.max);
  const { assignedPartitions } = decodeMessage(ConsumerProtocolAssignment, version, bytes.subarray(2));
  return byTopicId(assignedPartitions, metadata);
}

/** By the ids of the topics; those that are gone are left out. */
export function byTopicId(
  topics: readonly { readonly topic: string; readonly partitions: readonly number[] }[],
  metadata: MetadataSnapshot,
): TopicPartitions {
  const partitionsById = new Map<string, Set<number>>();
  for (const { topic, partitions } of topics) {
    const id = metadata.topic(topic)?.id ?? zeroUuid;
    if (id !== zeroUuid && partitions.length > 0) partitionsById.set(id, new Set(partitions));
  }
  return partitionsById;
}

/** An assignment as SyncGroup carries it, behind its version. */
export function writeAssignment(
  partitions: ReadonlyMap<string, ReadonlySet<number> | ReadonlyMap<number, number>>,
  metadata: MetadataSnapshot,
  version: number,
): Buffer {
  const known = Math.min(Math.max(version, 0), ConsumerProtocolAssignment.versions.max);
  const assignedPartitions = [...partitions].flatMap(([topicId, of]) => {
    const topic = metadata.topicName(topicId);
    return topic === undefined ? [] : [{ topic, partitions: [...of.keys()].sort((a, b) => a - b) }];
  });
  const prefix = Buffer.alloc(2);
  prefix.writeInt16BE(known);
  return Buffer.concat([prefix, encodeToBuffer(ConsumerProtocolAssignment, known, { assignedPartitions })]);
}
