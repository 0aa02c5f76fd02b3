// The groups whose records live in one partition of `__consumer_offsets`, with their offsets. This file finds the group and
// passes on; the rules are in the files of the two kinds of group and of offsets.

import {
  type ConsumerGroupDescribeResponse,
  type ConsumerGroupHeartbeatRequest,
  type DescribeGroupsResponse,
  errorCodes,
  type HeartbeatRequest,
  type JoinGroupRequest,
  type LeaveGroupRequest,
  type LeaveGroupResponse,
  type ListGroupsResponse,
  type MessageInit,
  ProtocolError,
  type SyncGroupRequest,
} from '@odradek/protocol';
import type { Clock, Logger } from '@odradek/runtime';
import { answer, type CoordinatorRecord, type CoordinatorShard, type Outcome } from '../coordinator/coordinator-shard.ts';
import type { CoordinatorTimer } from '../coordinator/coordinator-timer.ts';
import type { MetadataSnapshot } from '../metadata/metadata-cache.ts';
import type { Assignor } from './assignors/assignor.ts';
import { describeClassicGroup } from './classic-description.ts';
import { ClassicGroup } from './classic-group.ts';
import { ClassicInConsumer } from './classic-in-consumer.ts';
import type { JoinAnswer, SyncAnswer } from './classic-member.ts';
import { ClassicMembership, type JoinContext, joinErrorAnswer } from './classic-membership.ts';
import { ClassicRebalance } from './classic-rebalance.ts';
import { describeConsumerGroup } from './consumer-description.ts';
import { ConsumerGroup } from './consumer-group.ts';
import { type ConsumerHeartbeatAnswer, ConsumerMembership, type MemberContext } from './consumer-membership.ts';
import {
  type ConsumerRecord,
  consumerGroupTombstones,
  endsGroup,
  isConsumerRecord,
  replayConsumerRecord,
} from './consumer-records.ts';
import { ConsumerRegexes } from './consumer-regexes.ts';
import { type Group, GroupConversion } from './group-conversion.ts';
import { GroupOffsetOperations, unknownGroup } from './group-offset-operations.ts';
import { GroupOffsets } from './group-offsets.ts';
import { classicGroupOf, decodeGroupRecord, emptyGroupRecord, type GroupRecord, groupMetadataTombstone } from './group-records.ts';
import type { GroupSettings } from './group-settings.ts';

type LeaveAnswer = MessageInit<typeof LeaveGroupResponse>;
type DescribedGroup = NonNullable<MessageInit<typeof DescribeGroupsResponse>['groups']>[number];
type DescribedConsumerGroup = NonNullable<MessageInit<typeof ConsumerGroupDescribeResponse>['groups']>[number];
type ListedGroup = NonNullable<MessageInit<typeof ListGroupsResponse>['groups']>[number];
type GroupMetadata = Extract<GroupRecord, { kind: 'groupMetadata' }>['value'];

export interface GroupShardParts {
  readonly clock: Clock;
  readonly timer: CoordinatorTimer;
  readonly logger: Logger;
  readonly settings: GroupSettings;
  readonly metadata: () => MetadataSnapshot;
  /** Grows whenever there are new topics. */
  readonly topicsVersion: () => number;
  readonly assignors: ReadonlyMap<string, Assignor>;
  /** A fresh uuid in its usual form, and in Kafka's. */
  readonly uuid: () => string;
  readonly shortUuid: () => string;
}

export class GroupShard implements CoordinatorShard {
  readonly offsets = new GroupOffsets();
  readonly offsetOperations: GroupOffsetOperations;
  readonly #parts: GroupShardParts;
  readonly #groups = new Map<string, Group>();
  readonly #rebalance: ClassicRebalance;
  readonly #classic: ClassicMembership;
  readonly #consumer: ConsumerMembership;
  readonly #classicInConsumer: ClassicInConsumer;
  readonly #conversion: GroupConversion;

  constructor(parts: GroupShardParts) {
    this.#parts = parts;
    const { clock, timer, logger, settings, metadata } = parts;
    const group = (groupId: string): Group | undefined => this.#groups.get(groupId);
    const nowMs = (): number => clock.wallTimeMs();
    this.#rebalance = new ClassicRebalance({
      clock,
      timer,
      logger,
      initialRebalanceDelayMs: () => settings.initialRebalanceDelayMs,
      group: (groupId) => classicOf(group(groupId)),
    });
    this.#classic = new ClassicMembership({ rebalance: this.#rebalance, nowMs, maxSize: () => settings.maxSize, uuid: parts.uuid });
    const consumerGroup = (groupId: string): ConsumerGroup | undefined => consumerOf(group(groupId));
    const conversion = new GroupConversion({ clock, timer, logger, settings, metadata, group, rebalance: this.#rebalance });
    this.#conversion = conversion;
    this.#consumer = new ConsumerMembership({
      clock,
      timer,
      logger,
      settings,
      metadata,
      assignors: parts.assignors,
      conversion,
      regexes: new ConsumerRegexes({ ...parts, group: consumerGroup }),
      uuid: parts.shortUuid,
      group: consumerGroup,
    });
    this.#classicInConsumer = new ClassicInConsumer({
      membership: this.#consumer,
      conversion,
      settings,
      metadata,
      uuid: parts.shortUuid,
    });
    this.offsetOperations = new GroupOffsetOperations({
      offsets: this.offsets,
      groups: this.#groups,
      rebalance: this.#rebalance,
      settings,
      metadata,
      nowMs,
    });
  }

  get groups(): ReadonlyMap<string, Group> {
    return this.#groups;
  }

  // Members of the classic protocol

  join(request: JoinGroupRequest, context: JoinContext): Outcome<JoinAnswer> {
    const group = this.#groups.get(request.groupId);
    if (group?.type === 'classic') return this.#classic.join(group, request, context);
    if (group !== undefined && !group.isEmpty) return this.#classicInConsumer.join(group, request, context);
    // Who has an id has it from a group that is gone.
    if (request.memberId !== '') return answer(joinErrorAnswer(request.memberId, errorCodes.UNKNOWN_MEMBER_ID));
    return this.#joinNewGroup(request, context, group);
  }

  /** The group is written at once, so that another coordinator would know it too. It may take the place of an empty consumer group. */
  #joinNewGroup(request: JoinGroupRequest, context: JoinContext, replaced: ConsumerGroup | undefined): Outcome<JoinAnswer> {
    const nowMs = this.#parts.clock.wallTimeMs();
    const group = new ClassicGroup(request.groupId);
    group.restoreState('Empty', nowMs);
    this.#groups.set(request.groupId, group);
    const { response: joined } = this.#classic.join(group, request, context);
    const { promise: response, resolve } = Promise.withResolvers<JoinAnswer>();
    return {
      records: [...(replaced === undefined ? [] : consumerGroupTombstones(replaced)), emptyGroupRecord(request.groupId, nowMs)],
      response,
      whenWritten: (error) => {
        if (error === null) return resolve(joined);
        if (this.#groups.get(request.groupId) === group) {
          this.#rebalance.abandon(group, error.code);
          if (replaced === undefined) this.#groups.delete(request.groupId);
          else this.#groups.set(request.groupId, replaced);
        }
        resolve(joinErrorAnswer('', error.code));
      },
    };
  }

  sync(request: SyncGroupRequest): Outcome<SyncAnswer> {
    const group = this.#groups.get(request.groupId);
    if (group === undefined || group.isEmpty) return answer<SyncAnswer>({ errorCode: errorCodes.UNKNOWN_MEMBER_ID });
    return group.type === 'classic' ? this.#classic.sync(group, request) : this.#classicInConsumer.sync(group, request);
  }

  heartbeat(request: HeartbeatRequest): Outcome<number> {
    const group = this.#groups.get(request.groupId);
    if (group === undefined) return answer<number>(errorCodes.UNKNOWN_MEMBER_ID);
    const errorCode =
      group.type === 'classic' ? this.#classic.heartbeat(group, request) : this.#classicInConsumer.heartbeat(group, request);
    return answer<number>(errorCode);
  }

  leave(groupId: string, members: LeaveGroupRequest['members']): Outcome<LeaveAnswer> {
    const group = this.#groups.get(groupId);
    if (group?.type === 'classic') return this.#classic.leave(group, members);
    if (group !== undefined) return this.#classicInConsumer.leave(group, members);
    const unknown = members.map(({ memberId, groupInstanceId }) => ({
      memberId,
      groupInstanceId,
      errorCode: errorCodes.UNKNOWN_MEMBER_ID,
    }));
    return answer<LeaveAnswer>({ errorCode: 0, members: unknown });
  }

  // Members of the consumer protocol

  consumerHeartbeat(request: ConsumerGroupHeartbeatRequest, context: MemberContext): Outcome<ConsumerHeartbeatAnswer> {
    return this.#consumer.heartbeat(request, context);
  }

  // Administration

  describe(groupId: string): DescribedGroup {
    const group = classicOf(this.#groups.get(groupId));
    if (group !== undefined) return describeClassicGroup(group);
    // What Kafka says of a group that it does not know; up to version 5 the handler leaves the error out.
    const { code, message } = unknownGroup(groupId);
    const isOther = this.#groups.has(groupId);
    return {
      errorCode: code,
      errorMessage: isOther ? `Group ${groupId} is not a classic group.` : message,
      groupId,
      groupState: 'Dead',
    };
  }

  describeConsumer(groupId: string): DescribedConsumerGroup {
    const group = consumerOf(this.#groups.get(groupId));
    if (group !== undefined) return describeConsumerGroup(group, this.#parts.assignors.keys(), this.#parts.metadata());
    const isOther = this.#groups.has(groupId);
    const errorMessage = isOther ? `Group ${groupId} is not a consumer group.` : unknownGroup(groupId).message;
    return { errorCode: errorCodes.GROUP_ID_NOT_FOUND, errorMessage, groupId };
  }

  list(): ListedGroup[] {
    return [...this.#groups.values()].map((group) => ({
      groupId: group.groupId,
      protocolType: group.type === 'classic' ? (group.protocolType ?? '') : 'consumer',
      groupState: group.state,
      groupType: group.type,
    }));
  }

  /** Throws when the group must stay. */
  delete(groupId: string): Outcome<void> {
    const group = this.#groups.get(groupId);
    if (group === undefined) throw unknownGroup(groupId);
    if (!group.isEmpty) throw new ProtocolError(errorCodes.NON_EMPTY_GROUP);
    const records = this.offsetOperations.tombstonesOf(groupId);
    if (group.type === 'consumer') records.push(...consumerGroupTombstones(group));
    else records.push(groupMetadataTombstone(groupId));
    return { records, response: undefined };
  }

  // Replay

  replay(record: CoordinatorRecord, offset: number, producerId: number): void {
    const decoded = decodeGroupRecord(record);
    if (decoded === null) return;
    if (isConsumerRecord(decoded)) this.#replayConsumer(decoded);
    else this.#apply(decoded, offset, producerId);
  }

  endTransaction(producerId: number, isCommitted: boolean): void {
    this.offsets.endTransaction(producerId, isCommitted);
  }

  onLoaded(): void {
    for (const group of this.#groups.values()) {
      if (group.type === 'consumer') {
        this.#consumer.onLoaded(group);
        continue;
      }
      // Members get a whole session to find their new coordinator.
      for (const member of group.members.values()) this.#rebalance.beat(group, member);
      // The limit may have been lowered meanwhile: those who rejoin first stay.
      if (group.members.size > this.#parts.settings.maxSize) this.#rebalance.prepare(group);
    }
  }

  onUnloaded(): void {
    for (const group of this.#groups.values()) {
      if (group.type === 'classic') this.#rebalance.abandon(group, errorCodes.NOT_COORDINATOR);
    }
    this.#groups.clear();
  }

  #apply(record: Exclude<GroupRecord, ConsumerRecord>, offset: number, producerId: number): void {
    switch (record.kind) {
      case 'legacyOffsetCommit':
      case 'offsetCommit':
        // Offsets alone make a group too: one whose consumers assign partitions themselves.
        if (record.value !== null && !this.#groups.has(record.key.group)) {
          this.#groups.set(record.key.group, new ClassicGroup(record.key.group));
        }
        this.offsets.replay(record.key, record.value, offset, producerId);
        return;
      case 'groupMetadata':
        this.#replayClassic(record.key.group, record.value);
        return;
    }
  }

  #replayClassic(groupId: string, value: GroupMetadata): void {
    const current = this.#groups.get(groupId);
    if (current?.type === 'classic') this.#rebalance.abandon(current, errorCodes.UNKNOWN_MEMBER_ID);
    // A tombstone may come after the group has become one of another type.
    if (value !== null) this.#groups.set(groupId, this.#conversion.takeDowngraded(groupId) ?? classicGroupOf(groupId, value));
    else if (current?.type === 'classic') this.#groups.delete(groupId);
  }

  #replayConsumer(record: ConsumerRecord): void {
    const { groupId } = record.key;
    const current = this.#groups.get(groupId);
    if (current?.type === 'consumer') {
      if (endsGroup(record)) this.#groups.delete(groupId);
      else replayConsumerRecord(current, record);
      if (record.kind === 'consumerGroupMemberMetadata' && record.value === null) {
        this.#consumer.onRemoved(groupId, record.key.memberId);
      }
      return;
    }
    // Offsets are replayed before the group that committed them when its own first records have been compacted away.
    const isNew = current === undefined || (current.isEmpty && current.protocolType === null);
    if (record.value === null || !isNew) return;
    const group = new ConsumerGroup(groupId);
    this.#groups.set(groupId, group);
    replayConsumerRecord(group, record);
  }
}

function classicOf(group: Group | undefined): ClassicGroup | undefined {
  return group?.type === 'classic' ? group : undefined;
}

function consumerOf(group: Group | undefined): ConsumerGroup | undefined {
  return group?.type === 'consumer' ? group : undefined;
}
