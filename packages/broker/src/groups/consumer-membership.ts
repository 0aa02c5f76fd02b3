// What a consumer group answers to ConsumerGroupHeartbeat: members join, beat, leave and are fenced. The checks come in Kafka's
// order, because clients act on the first error they get.

import {
  type ConsumerGroupHeartbeatRequest,
  type ConsumerGroupHeartbeatResponse,
  errorCodes,
  type MessageInit,
  ProtocolError,
} from '@odradek/protocol';
import type { Clock, Logger } from '@odradek/runtime';
import type { CoordinatorRecord, Outcome } from '../coordinator/coordinator-shard.ts';
import { answer } from '../coordinator/coordinator-shard.ts';
import type { CoordinatorTimer } from '../coordinator/coordinator-timer.ts';
import type { MetadataSnapshot } from '../metadata/metadata-cache.ts';
import type { Assignor } from './assignors/assignor.ts';
import type { ConsumerGroup } from './consumer-group.ts';
import {
  awayEpoch,
  type ConsumerMember,
  hasSamePartitions,
  newConsumerMember,
  type TopicPartitions,
  topicNames,
} from './consumer-member.ts';
import { forgetRegexes, nextEpoch, type ProgressParts, progress } from './consumer-progress.ts';
import { currentAssignmentRecord, memberRecord, memberTombstones, targetEpochRecord, targetRecord } from './consumer-records.ts';
import type { ConsumerRegexes } from './consumer-regexes.ts';
import { ConsumerTimers } from './consumer-timers.ts';
import type { GroupConversion } from './group-conversion.ts';
import type { GroupSettings } from './group-settings.ts';
import { nextHeartbeatMs } from './next-heartbeat.ts';

export type ConsumerHeartbeatAnswer = MessageInit<typeof ConsumerGroupHeartbeatResponse>;

export interface MemberContext {
  readonly apiVersion: number;
  readonly clientId: string;
  readonly clientHost: string;
  /** Whether an expression of the member may find the topic; absent where there is no authorizer. */
  readonly maySeeTopic?: ((topic: string) => boolean) | undefined;
}

export interface ConsumerMembershipParts {
  readonly clock: Clock;
  readonly timer: CoordinatorTimer;
  readonly logger: Logger;
  readonly settings: GroupSettings;
  readonly metadata: () => MetadataSnapshot;
  readonly assignors: ReadonlyMap<string, Assignor>;
  readonly conversion: GroupConversion;
  readonly regexes: ConsumerRegexes;
  /** A fresh uuid in Kafka's form of 22 characters. */
  readonly uuid: () => string;
  /** The consumer group of that name; undefined: none, or one of another type. */
  readonly group: (groupId: string) => ConsumerGroup | undefined;
}

const leaveEpoch = -1;

export class ConsumerMembership {
  readonly timers: ConsumerTimers;
  readonly #parts: ConsumerMembershipParts;

  constructor(parts: ConsumerMembershipParts) {
    this.#parts = parts;
    this.timers = new ConsumerTimers(parts.timer, (groupId, memberId, epoch, reason) =>
      this.#expire(groupId, memberId, epoch, reason),
    );
  }

  /** Throws when the request is refused. */
  heartbeat(request: ConsumerGroupHeartbeatRequest, context: MemberContext): Outcome<ConsumerHeartbeatAnswer> {
    this.#check(request, context.apiVersion);
    const { memberEpoch } = request;
    return memberEpoch === leaveEpoch || memberEpoch === awayEpoch ? this.#leave(request) : this.#beat(request, context);
  }

  #check(request: ConsumerGroupHeartbeatRequest, apiVersion: number): void {
    const { groupId, memberId, memberEpoch, instanceId, rackId, serverAssignor } = request;
    // From version 1 on the client makes its own id; before, it gets one when it joins.
    if (isBlank(memberId) && (apiVersion >= 1 || memberEpoch > 0 || memberEpoch === leaveEpoch))
      invalid("MemberId can't be empty.");
    if (isBlank(groupId)) invalid("GroupId can't be empty.");
    if (isBlank(instanceId)) invalid("InstanceId can't be empty.");
    if (isBlank(rackId)) invalid("RackId can't be empty.");
    if (memberEpoch === 0) {
      if (request.rebalanceTimeoutMs === -1) invalid('RebalanceTimeoutMs must be provided in first request.');
      if (request.topicPartitions?.length !== 0) invalid('TopicPartitions must be empty when (re-)joining.');
      if (request.subscribedTopicNames === null && request.subscribedTopicRegex === null) {
        invalid('Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.');
      }
    } else if (memberEpoch === awayEpoch) {
      if (instanceId === null) invalid("InstanceId can't be null.");
    } else if (memberEpoch < awayEpoch) invalid('MemberEpoch is invalid.');
    const { assignors } = this.#parts;
    if (serverAssignor !== null && !assignors.has(serverAssignor)) {
      const message = `ServerAssignor ${serverAssignor} is not supported. Supported assignors: ${[...assignors.keys()].join(', ')}.`;
      throw new ProtocolError(errorCodes.UNSUPPORTED_ASSIGNOR, message);
    }
  }

  #beat(request: ConsumerGroupHeartbeatRequest, context: MemberContext): Outcome<ConsumerHeartbeatAnswer> {
    const { groupId, instanceId, memberEpoch } = request;
    const records: CoordinatorRecord[] = [];
    const isJoining = memberEpoch === 0;
    const group = isJoining ? this.#parts.conversion.groupToJoin(groupId, records, this.timers) : this.#existing(groupId);
    this.ensureRoom(group, request.memberId, instanceId);
    const memberId = request.memberId === '' ? this.#parts.uuid() : request.memberId;
    const reported = reportedPartitions(request);
    const before = this.#memberOf(group, memberId, request, reported, records);
    const updated: ConsumerMember = {
      ...before,
      instanceId: instanceId ?? before.instanceId,
      rackId: request.rackId ?? before.rackId,
      rebalanceTimeoutMs: request.rebalanceTimeoutMs === -1 ? before.rebalanceTimeoutMs : request.rebalanceTimeoutMs,
      serverAssignor: request.serverAssignor ?? before.serverAssignor,
      subscribedTopicNames:
        request.subscribedTopicNames === null ? before.subscribedTopicNames : topicNames(request.subscribedTopicNames),
      subscribedTopicRegex: request.subscribedTopicRegex ?? before.subscribedTopicRegex,
      clientId: context.clientId,
      clientHost: context.clientHost,
      classic: null,
    };
    const parts = this.progressParts(groupId);
    const progressed = progress(parts, group, before, updated, reported, records);
    const { member: after } = progressed;
    this.#parts.regexes.refreshIfDue(group, before, updated, context.maySeeTopic);
    if (after.state === 'unrevokedPartitions' && after !== updated) {
      this.timers.expectRevocation(groupId, memberId, after.memberEpoch, after.rebalanceTimeoutMs);
    } else if (after.state !== 'unrevokedPartitions') this.timers.revoked(groupId, memberId);
    this.timers.expectHeartbeat(groupId, memberId, this.#parts.settings.consumerSessionTimeoutMs(groupId));
    const isFull =
      isJoining ||
      (request.rebalanceTimeoutMs !== -1 &&
        (request.subscribedTopicNames !== null || request.subscribedTopicRegex !== null) &&
        request.topicPartitions !== null);
    const isToldAssignment = isFull || !hasSamePartitions(before.assignedPartitions, after.assignedPartitions);
    return {
      records,
      response: {
        memberId,
        memberEpoch: after.memberEpoch,
        heartbeatIntervalMs: nextHeartbeatMs(after, {
          groupEpoch: progressed.groupEpoch,
          assignmentAgeMs: parts.nowMs - progressed.assignmentTimestampMs,
          memberCount: group.members.size,
          heartbeatIntervalMs: this.#parts.settings.consumerHeartbeatIntervalMs(groupId),
          assignmentIntervalMs: parts.assignmentIntervalMs,
        }),
        assignment: isToldAssignment ? { topicPartitions: assignmentOf(after) } : null,
      },
    };
  }

  progressParts(groupId: string): ProgressParts {
    const { clock, settings, assignors } = this.#parts;
    return {
      nowMs: clock.wallTimeMs(),
      metadata: this.#parts.metadata(),
      assignmentIntervalMs: settings.consumerAssignmentIntervalMs(groupId),
      assignors,
    };
  }

  /** Throws GROUP_MAX_SIZE_REACHED for a member that would be new. */
  ensureRoom(group: ConsumerGroup, memberId: string, instanceId: string | null): void {
    if (instanceId !== null && group.staticMember(instanceId) !== undefined) return;
    const { consumerMaxSize } = this.#parts.settings;
    if (group.members.size < consumerMaxSize || group.member(memberId) !== undefined) return;
    throw new ProtocolError(
      errorCodes.GROUP_MAX_SIZE_REACHED,
      `The consumer group has reached its maximum capacity of ${consumerMaxSize} members.`,
    );
  }

  /** The member as the group knows it, or a new one. Throws when it is not who it says, or not where it thinks. */
  #memberOf(
    group: ConsumerGroup,
    memberId: string,
    { memberEpoch, instanceId }: ConsumerGroupHeartbeatRequest,
    reported: TopicPartitions | null,
    records: CoordinatorRecord[],
  ): ConsumerMember {
    const isJoining = memberEpoch === 0;
    if (instanceId !== null) return this.#staticMemberOf(group, memberId, memberEpoch, instanceId, reported, records);
    const member = group.member(memberId);
    if (member === undefined) {
      if (isJoining) return newConsumerMember(memberId);
      throw unknownMember(group.groupId, memberId);
    }
    if (!isJoining) checkEpoch(member, memberEpoch, reported);
    return member;
  }

  #staticMemberOf(
    group: ConsumerGroup,
    memberId: string,
    memberEpoch: number,
    instanceId: string,
    reported: TopicPartitions | null,
    records: CoordinatorRecord[],
  ): ConsumerMember {
    const existing = group.staticMember(instanceId);
    if (memberEpoch !== 0) {
      const member = ensureInstance(existing, memberId, instanceId);
      checkEpoch(member, memberEpoch, reported);
      return member;
    }
    if (existing === undefined) return newConsumerMember(memberId);
    if (existing.memberId === memberId) return existing;
    // A place is free when its member has left it for a while; one of the classic protocol cannot say so.
    if (existing.memberEpoch !== awayEpoch && existing.classic === null) {
      throw new ProtocolError(
        errorCodes.UNRELEASED_INSTANCE_ID,
        `Static member ${memberId} with instance id ${instanceId} cannot join the group because the instance id is owned by ${existing.memberId} member.`,
      );
    }
    return this.replaceStatic(group, existing, memberId, records);
  }

  /** The static member comes back under another id, and takes what it had. */
  replaceStatic(group: ConsumerGroup, existing: ConsumerMember, memberId: string, records: CoordinatorRecord[]): ConsumerMember {
    const { groupId } = group;
    const replacement: ConsumerMember = { ...existing, memberId, memberEpoch: 0, previousMemberEpoch: 0 };
    records.push(
      ...memberTombstones(groupId, existing.memberId),
      memberRecord(groupId, replacement),
      targetRecord(groupId, memberId, group.targetAssignment.get(existing.memberId) ?? new Map()),
      currentAssignmentRecord(groupId, replacement),
    );
    return replacement;
  }

  #leave(request: ConsumerGroupHeartbeatRequest): Outcome<ConsumerHeartbeatAnswer> {
    const { groupId, memberId, memberEpoch, instanceId } = request;
    const group = this.#existing(groupId);
    const member =
      instanceId === null ? group.member(memberId) : ensureInstance(group.staticMember(instanceId), memberId, instanceId);
    if (member === undefined) throw unknownMember(groupId, memberId);
    if (memberEpoch === leaveEpoch) return this.fence(group, [member], { memberId, memberEpoch });
    // It will be back within its session time-out, and until then keeps its partitions.
    const away: ConsumerMember = { ...member, memberEpoch: awayEpoch, partitionsPendingRevocation: new Map() };
    return { records: [currentAssignmentRecord(groupId, away)], response: { memberId, memberEpoch } };
  }

  /** Takes members out of the group. When only members of the classic protocol are left, it becomes a classic group again. */
  fence<T>(group: ConsumerGroup, leaving: readonly ConsumerMember[], response: T): Outcome<T> {
    const { groupId } = group;
    if (leaving.length === 0) return answer(response);
    const downgraded = this.#parts.conversion.downgradeWithout(group, leaving);
    if (downgraded !== null) return { records: downgraded, response };
    const records = leaving.flatMap(({ memberId }) => memberTombstones(groupId, memberId));
    const members = new Map(group.members);
    for (const { memberId } of leaving) members.delete(memberId);
    const parts = this.progressParts(groupId);
    forgetRegexes(group, members, records);
    const groupEpoch = nextEpoch(parts, group, members, group.resolvedRegexes, true, records);
    // There is nothing to assign to nobody; the next member that joins need not wait.
    if (members.size === 0) records.push(targetEpochRecord(groupId, groupEpoch, 0));
    return { records, response };
  }

  #expire(groupId: string, memberId: string, memberEpoch: number | null, reason: string): Outcome<void> {
    const group = this.#parts.group(groupId);
    const member = group?.member(memberId);
    if (group === undefined || member === undefined) return answer(undefined);
    if (memberEpoch !== null && member.memberEpoch !== memberEpoch) return answer(undefined);
    this.#parts.logger.info(`A member of a consumer group is fenced: ${reason}`, { group: groupId, member: memberId });
    return this.fence(group, [member], undefined);
  }

  /** The member is out of the group; as long as that is not written, its time goes on. */
  onRemoved(groupId: string, memberId: string): void {
    this.timers.forget(groupId, memberId);
  }

  /** Members get a whole session to find their new coordinator. */
  onLoaded(group: ConsumerGroup): void {
    const { groupId } = group;
    const sessionTimeoutMs = this.#parts.settings.consumerSessionTimeoutMs(groupId);
    for (const { memberId, memberEpoch, state, rebalanceTimeoutMs, classic } of group.members.values()) {
      this.timers.expectHeartbeat(groupId, memberId, classic?.sessionTimeoutMs ?? sessionTimeoutMs);
      if (state === 'unrevokedPartitions' && classic === null) {
        this.timers.expectRevocation(groupId, memberId, memberEpoch, rebalanceTimeoutMs);
      }
    }
  }

  #existing(groupId: string): ConsumerGroup {
    const group = this.#parts.group(groupId);
    if (group !== undefined) return group;
    throw new ProtocolError(errorCodes.GROUP_ID_NOT_FOUND, `Group ${groupId} not found.`);
  }
}

/** Throws UNKNOWN_MEMBER_ID or FENCED_INSTANCE_ID. */
export function ensureInstance(existing: ConsumerMember | undefined, memberId: string, instanceId: string): ConsumerMember {
  if (existing === undefined) throw new ProtocolError(errorCodes.UNKNOWN_MEMBER_ID, `Instance id ${instanceId} is unknown.`);
  if (existing.memberId === memberId) return existing;
  throw new ProtocolError(
    errorCodes.FENCED_INSTANCE_ID,
    `Static member ${memberId} with instance id ${instanceId} was fenced by member ${existing.memberId}.`,
  );
}

export function unknownMember(groupId: string, memberId: string): ProtocolError {
  return new ProtocolError(errorCodes.UNKNOWN_MEMBER_ID, `Member ${memberId} is not a member of group ${groupId}.`);
}

/** Throws FENCED_MEMBER_EPOCH when the member is somewhere else than it thinks. */
function checkEpoch(member: ConsumerMember, memberEpoch: number, reported: TopicPartitions | null): void {
  if (memberEpoch === member.memberEpoch) return;
  // The answer with the new epoch may have been lost: then it has nothing that it was not given.
  const mayHaveMissed = memberEpoch === member.previousMemberEpoch && memberEpoch < member.memberEpoch;
  if (mayHaveMissed && reported !== null && isWithin(reported, member)) return;
  const order = memberEpoch > member.memberEpoch ? 'greater' : 'smaller';
  throw new ProtocolError(
    errorCodes.FENCED_MEMBER_EPOCH,
    `The consumer group member has a ${order} member epoch (${memberEpoch}) than the one known by the group coordinator (${member.memberEpoch}). The member must abandon all its partitions and rejoin.`,
  );
}

function isWithin(reported: TopicPartitions, { assignedPartitions }: ConsumerMember): boolean {
  for (const [topicId, partitions] of reported) {
    for (const partition of partitions) if (assignedPartitions.get(topicId)?.has(partition) !== true) return false;
  }
  return true;
}

function reportedPartitions({ topicPartitions }: ConsumerGroupHeartbeatRequest): TopicPartitions | null {
  if (topicPartitions === null) return null;
  return new Map(topicPartitions.map(({ topicId, partitions }) => [topicId, new Set(partitions)]));
}

function assignmentOf({ assignedPartitions }: ConsumerMember): { readonly topicId: string; readonly partitions: number[] }[] {
  return [...assignedPartitions].map(([topicId, partitions]) => ({
    topicId,
    partitions: [...partitions.keys()].sort((a, b) => a - b),
  }));
}

/** Nothing but white space is as good as nothing; null is no name at all. */
function isBlank(name: string | null): boolean {
  return name !== null && name.trim() === '';
}

function invalid(message: string): never {
  throw new ProtocolError(errorCodes.INVALID_REQUEST, message);
}
