// The groups whose records live in one partition of `__consumer_offsets`, with their offsets. This file finds the group and
// passes on; the rules are in classic-membership.ts, classic-offsets.ts and their neighbours.

import {
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
import { describeClassicGroup } from './classic-description.ts';
import { ClassicGroup } from './classic-group.ts';
import type { JoinAnswer, SyncAnswer } from './classic-member.ts';
import { ClassicMembership, type JoinContext, joinErrorAnswer } from './classic-membership.ts';
import { classicCommitProblem, classicOffsetExpiry } from './classic-offsets.ts';
import { ClassicRebalance } from './classic-rebalance.ts';
import { GroupOffsets } from './group-offsets.ts';
import {
  classicGroupOf,
  decodeGroupRecord,
  emptyGroupRecord,
  encodeGroupRecord,
  type GroupRecord,
  groupMetadataTombstone,
} from './group-records.ts';
import type { GroupSettings } from './group-settings.ts';
import { commitOffsets, type OffsetCommit, type OffsetCommitAnswer } from './offset-commits.ts';
import { isExpired } from './offset-expiry.ts';
import { type FetchedOffsets, fetchOffsets, type OffsetQuery } from './offset-fetches.ts';

type LeaveAnswer = MessageInit<typeof LeaveGroupResponse>;
type DescribedGroup = NonNullable<MessageInit<typeof DescribeGroupsResponse>['groups']>[number];
type ListedGroup = NonNullable<MessageInit<typeof ListGroupsResponse>['groups']>[number];
type GroupMetadata = Extract<GroupRecord, { kind: 'groupMetadata' }>['value'];

export interface GroupShardParts {
  readonly clock: Clock;
  readonly timer: CoordinatorTimer;
  readonly logger: Logger;
  readonly settings: GroupSettings;
  readonly uuid: () => string;
}

export class GroupShard implements CoordinatorShard {
  readonly offsets = new GroupOffsets();
  readonly #parts: GroupShardParts;
  readonly #groups = new Map<string, ClassicGroup>();
  readonly #rebalance: ClassicRebalance;
  readonly #membership: ClassicMembership;

  constructor(parts: GroupShardParts) {
    this.#parts = parts;
    this.#rebalance = new ClassicRebalance({
      clock: parts.clock,
      timer: parts.timer,
      logger: parts.logger,
      initialRebalanceDelayMs: () => parts.settings.initialRebalanceDelayMs,
      group: (groupId) => this.#groups.get(groupId),
    });
    this.#membership = new ClassicMembership({
      rebalance: this.#rebalance,
      nowMs: () => parts.clock.wallTimeMs(),
      maxSize: () => parts.settings.maxSize,
      uuid: parts.uuid,
    });
  }

  get groups(): ReadonlyMap<string, ClassicGroup> {
    return this.#groups;
  }

  // Members

  join(request: JoinGroupRequest, context: JoinContext): Outcome<JoinAnswer> {
    const group = this.#groups.get(request.groupId);
    if (group !== undefined) return this.#membership.join(group, request, context);
    // Who has an id has it from a group that is gone.
    if (request.memberId !== '') return answer(joinErrorAnswer(request.memberId, errorCodes.UNKNOWN_MEMBER_ID));
    return this.#joinNewGroup(request, context);
  }

  /** The group is written at once, so that another coordinator would know it too. */
  #joinNewGroup(request: JoinGroupRequest, context: JoinContext): Outcome<JoinAnswer> {
    const nowMs = this.#parts.clock.wallTimeMs();
    const group = new ClassicGroup(request.groupId);
    group.restoreState('Empty', nowMs);
    this.#groups.set(request.groupId, group);
    const { response: joined } = this.#membership.join(group, request, context);
    const { promise: response, resolve } = Promise.withResolvers<JoinAnswer>();
    return {
      records: [emptyGroupRecord(request.groupId, nowMs)],
      response,
      whenWritten: (error) => {
        if (error === null) return resolve(joined);
        if (this.#groups.get(request.groupId) === group) {
          this.#rebalance.abandon(group, error.code);
          this.#groups.delete(request.groupId);
        }
        resolve(joinErrorAnswer('', error.code));
      },
    };
  }

  sync(request: SyncGroupRequest): Outcome<SyncAnswer> {
    const group = this.#groups.get(request.groupId);
    if (group === undefined) return answer<SyncAnswer>({ errorCode: errorCodes.UNKNOWN_MEMBER_ID });
    return this.#membership.sync(group, request);
  }

  heartbeat(request: HeartbeatRequest): Outcome<number> {
    const group = this.#groups.get(request.groupId);
    return answer<number>(group === undefined ? errorCodes.UNKNOWN_MEMBER_ID : this.#membership.heartbeat(group, request));
  }

  leave(groupId: string, members: LeaveGroupRequest['members']): Outcome<LeaveAnswer> {
    const group = this.#groups.get(groupId);
    if (group !== undefined) return this.#membership.leave(group, members);
    const unknown = members.map(({ memberId, groupInstanceId }) => ({
      memberId,
      groupInstanceId,
      errorCode: errorCodes.UNKNOWN_MEMBER_ID,
    }));
    return answer<LeaveAnswer>({ errorCode: 0, members: unknown });
  }

  // Offsets

  /** Throws when the whole commit is refused. */
  commit(commit: OffsetCommit): Outcome<OffsetCommitAnswer> {
    const group = this.#groups.get(commit.groupId);
    if (group !== undefined) {
      const problem = classicCommitProblem(group, commit);
      if (problem !== null) throw new ProtocolError(problem);
      const member = group.member(commit.memberId);
      // A commit shows as well as a heartbeat that the member is alive.
      if (member !== undefined) this.#rebalance.beat(group, member);
    } else if (commit.generationId >= 0) {
      // Only who commits without a generation, because it assigns partitions itself, needs no group.
      throw commit.apiVersion >= 9 ? unknownGroup(commit.groupId) : new ProtocolError(errorCodes.ILLEGAL_GENERATION);
    }
    return commitOffsets(commit, this.#parts.clock.wallTimeMs(), this.#parts.settings.offsetMetadataMaxBytes);
  }

  fetch(query: OffsetQuery): FetchedOffsets {
    return fetchOffsets(this.offsets, query);
  }

  /** Answers an error for each partition. Throws when the group must keep its offsets, or is not there. */
  deleteOffsets(
    groupId: string,
    topics: ReadonlyMap<string, readonly number[]>,
  ): Outcome<ReadonlyMap<string, ReadonlyMap<number, number>>> {
    const group = this.#existing(groupId);
    if (!group.isEmpty && !group.isConsumerGroup) throw new ProtocolError(errorCodes.NON_EMPTY_GROUP);
    const records: CoordinatorRecord[] = [];
    const results = new Map<string, ReadonlyMap<number, number>>();
    for (const [topic, partitions] of topics) {
      const isSubscribed = group.isSubscribedTo(topic);
      results.set(
        topic,
        new Map(partitions.map((partition) => [partition, isSubscribed ? errorCodes.GROUP_SUBSCRIBED_TO_TOPIC : errorCodes.NONE])),
      );
      if (isSubscribed) continue;
      for (const partition of partitions) {
        if (this.offsets.get(groupId, topic, partition) === undefined && !this.offsets.hasPending(groupId, topic, partition))
          continue;
        records.push(offsetTombstone(groupId, topic, partition));
      }
    }
    return { records, response: results };
  }

  /** The topics are gone, and so is what was committed for them. */
  topicsDeleted(topics: ReadonlySet<string>): Outcome<void> {
    const records: CoordinatorRecord[] = [];
    for (const groupId of this.offsets.allGroupIds()) {
      for (const { topic, partition } of this.offsets.partitionsOf(groupId)) {
        if (topics.has(topic)) records.push(offsetTombstone(groupId, topic, partition));
      }
    }
    return { records, response: undefined, isDivisible: true };
  }

  /** Forgets what has expired, and groups of which nothing is left. */
  expire(): Outcome<void> {
    const records: CoordinatorRecord[] = [];
    for (const group of this.#groups.values()) {
      const isUsed = this.#expireOffsets(group, records);
      if (!isUsed && group.isEmpty && group.pendingMembers.size === 0) records.push(groupMetadataTombstone(group.groupId));
    }
    return { records, response: undefined, isDivisible: true };
  }

  /** True: something of the group remains. */
  #expireOffsets(group: ClassicGroup, records: CoordinatorRecord[]): boolean {
    const { groupId } = group;
    const nowMs = this.#parts.clock.wallTimeMs();
    const expiry = classicOffsetExpiry(group);
    let isUsed = this.offsets.hasPendingOfGroup(groupId);
    for (const [topic, partitions] of this.offsets.topics(groupId)) {
      for (const [partition, offset] of partitions) {
        const isGone =
          isExpired(expiry, topic, offset, nowMs, this.#parts.settings.offsetsRetentionMs) &&
          !this.offsets.hasPending(groupId, topic, partition);
        if (isGone) records.push(offsetTombstone(groupId, topic, partition));
        else isUsed = true;
      }
    }
    return isUsed;
  }

  // Administration

  describe(groupId: string): DescribedGroup {
    const group = this.#groups.get(groupId);
    if (group !== undefined) return describeClassicGroup(group);
    // What Kafka says of a group that it does not know; up to version 5 the handler leaves the error out.
    const { code, message } = unknownGroup(groupId);
    return { errorCode: code, errorMessage: message, groupId, groupState: 'Dead' };
  }

  list(): ListedGroup[] {
    return [...this.#groups.values()].map((group) => ({
      groupId: group.groupId,
      protocolType: group.protocolType ?? '',
      groupState: group.state,
      groupType: group.type,
    }));
  }

  /** Throws when the group must stay. */
  delete(groupId: string): Outcome<void> {
    const group = this.#existing(groupId);
    if (!group.isEmpty) throw new ProtocolError(errorCodes.NON_EMPTY_GROUP);
    const records: CoordinatorRecord[] = [];
    for (const { topic, partition } of this.offsets.partitionsOf(groupId)) records.push(offsetTombstone(groupId, topic, partition));
    records.push(groupMetadataTombstone(groupId));
    return { records, response: undefined };
  }

  // Replay

  replay(record: CoordinatorRecord, offset: number, producerId: number): void {
    const decoded = decodeGroupRecord(record);
    if (decoded !== null) this.#apply(decoded, offset, producerId);
  }

  endTransaction(producerId: number, isCommitted: boolean): void {
    this.offsets.endTransaction(producerId, isCommitted);
  }

  onLoaded(): void {
    for (const group of this.#groups.values()) {
      // Members get a whole session to find their new coordinator.
      for (const member of group.members.values()) this.#rebalance.beat(group, member);
      // The limit may have been lowered meanwhile: those who rejoin first stay.
      if (group.members.size > this.#parts.settings.maxSize) this.#rebalance.prepare(group);
    }
  }

  onUnloaded(): void {
    for (const group of this.#groups.values()) this.#rebalance.abandon(group, errorCodes.NOT_COORDINATOR);
    this.#groups.clear();
  }

  #apply(record: GroupRecord, offset: number, producerId: number): void {
    switch (record.kind) {
      case 'legacyOffsetCommit':
      case 'offsetCommit':
        // Offsets alone make a group too: one whose consumers assign partitions themselves.
        if (record.value !== null && !this.#groups.has(record.key.group)) {
          this.#groups.set(record.key.group, new ClassicGroup(record.key.group));
        }
        this.offsets.replay(record.key, record.value, offset, producerId);
        break;
      case 'groupMetadata':
        this.#replayGroup(record.key.group, record.value);
        break;
      default:
        break;
    }
  }

  #replayGroup(groupId: string, value: GroupMetadata): void {
    const current = this.#groups.get(groupId);
    if (current !== undefined) this.#rebalance.abandon(current, errorCodes.UNKNOWN_MEMBER_ID);
    if (value === null) this.#groups.delete(groupId);
    else this.#groups.set(groupId, classicGroupOf(groupId, value));
  }

  #existing(groupId: string): ClassicGroup {
    const group = this.#groups.get(groupId);
    if (group === undefined) throw unknownGroup(groupId);
    return group;
  }
}

function unknownGroup(groupId: string): ProtocolError {
  return new ProtocolError(errorCodes.GROUP_ID_NOT_FOUND, `Group ${groupId} not found.`);
}

function offsetTombstone(group: string, topic: string, partition: number): CoordinatorRecord {
  return encodeGroupRecord('offsetCommit', { group, topic, partition }, null);
}
