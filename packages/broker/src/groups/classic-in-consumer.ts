// What members of the classic protocol get to hear in a consumer group. To them it looks like a classic group that rebalances:
// their generation is their member epoch, JoinGroup and SyncGroup carry subscription and assignment, and REBALANCE_IN_PROGRESS
// makes them come and fetch what has changed. The broker assigns; nobody is made the leader.

import {
  type ConsumerProtocolSubscription,
  errorCodes,
  type HeartbeatRequest,
  type JoinGroupRequest,
  type LeaveGroupRequest,
  type LeaveGroupResponse,
  type MessageInit,
  ProtocolError,
  type SyncGroupRequest,
} from '@odradek/protocol';
import { answer, type CoordinatorRecord, type Outcome } from '../coordinator/coordinator-shard.ts';
import type { MetadataSnapshot } from '../metadata/metadata-cache.ts';
import { consumerProtocolType } from './classic-group.ts';
import type { JoinAnswer, SyncAnswer } from './classic-member.ts';
import { copyOf, type JoinContext, joinErrorAnswer, rebalanceTimeoutOf } from './classic-membership.ts';
import type { ConsumerGroup } from './consumer-group.ts';
import { type ConsumerMember, newConsumerMember, topicNames } from './consumer-member.ts';
import { type ConsumerMembership, ensureInstance, unknownMember } from './consumer-membership.ts';
import { mayAssign, progress } from './consumer-progress.ts';
import { byTopicId, type GroupConversion, readSubscription, subscriptionVersion, writeAssignment } from './group-conversion.ts';
import type { GroupSettings } from './group-settings.ts';

export interface ClassicInConsumerParts {
  readonly membership: ConsumerMembership;
  readonly conversion: GroupConversion;
  readonly settings: GroupSettings;
  readonly metadata: () => MetadataSnapshot;
  /** A fresh uuid in Kafka's form of 22 characters. */
  readonly uuid: () => string;
}

type LeaveAnswer = MessageInit<typeof LeaveGroupResponse>;
type ClassicProtocolMember = ConsumerMember & { readonly classic: NonNullable<ConsumerMember['classic']> };

export class ClassicInConsumer {
  readonly #parts: ClassicInConsumerParts;

  constructor(parts: ClassicInConsumerParts) {
    this.#parts = parts;
  }

  /** Throws when the join is refused. */
  join(group: ConsumerGroup, request: JoinGroupRequest, context: JoinContext): Outcome<JoinAnswer> {
    const { membership, conversion, settings } = this.#parts;
    const { groupId, groupInstanceId, protocolType } = request;
    const memberId = request.memberId === '' ? this.#parts.uuid() : request.memberId;
    membership.ensureRoom(group, memberId, groupInstanceId);
    const protocols = copyOf(request.protocols);
    const isSupported = group.supportsClassicProtocols(
      protocolType,
      protocols.map(({ name }) => name),
    );
    if (!isSupported || settings.migrationPolicy === 'disabled') {
      throw new ProtocolError(errorCodes.INCONSISTENT_GROUP_PROTOCOL, `Member ${memberId}'s protocols are not supported.`);
    }
    if (request.memberId === '' && context.requiresKnownMemberId)
      return answer(joinErrorAnswer(memberId, errorCodes.MEMBER_ID_REQUIRED));
    const records: CoordinatorRecord[] = [];
    const replaced = groupInstanceId === null ? undefined : group.staticMember(groupInstanceId);
    const before = this.#memberOf(group, memberId, request, replaced, records);
    const subscription = subscriptionOf(protocols[0]?.metadata);
    const updated: ConsumerMember = {
      ...before,
      instanceId: groupInstanceId ?? before.instanceId,
      rackId: subscription.rackId ?? before.rackId,
      rebalanceTimeoutMs: rebalanceTimeoutOf(request),
      subscribedTopicNames: topicNames(subscription.topics),
      // The protocol knows names only; a static member may have had an expression when it spoke the other one.
      subscribedTopicRegex: '',
      clientId: context.clientId,
      clientHost: context.clientHost,
      classic: { sessionTimeoutMs: request.sessionTimeoutMs, protocols },
    };
    const reported = byTopicId(subscription.ownedPartitions, this.#parts.metadata());
    const { member: after } = progress(membership.progressParts(groupId), group, before, updated, reported, records);
    const downgraded =
      replaced === undefined || replaced.memberId === memberId ? null : conversion.downgradeByReplacement(group, replaced, after);
    if (downgraded !== null) records.push(...downgraded);
    membership.timers.joined(groupId, memberId);
    if (downgraded === null) {
      membership.timers.expectHeartbeat(groupId, memberId, request.sessionTimeoutMs);
      membership.timers.expectSync(groupId, memberId, after.rebalanceTimeoutMs);
    }
    const response: JoinAnswer = {
      errorCode: errorCodes.NONE,
      memberId,
      generationId: after.memberEpoch,
      protocolType: consumerProtocolType,
      protocolName: protocols[0]?.name ?? '',
    };
    return { records, response };
  }

  #memberOf(
    group: ConsumerGroup,
    memberId: string,
    request: JoinGroupRequest,
    replaced: ConsumerMember | undefined,
    records: CoordinatorRecord[],
  ): ConsumerMember {
    const { groupInstanceId } = request;
    if (groupInstanceId === null) return group.member(memberId) ?? newConsumerMember(memberId);
    if (request.memberId !== '') return ensureInstance(replaced, memberId, groupInstanceId);
    return replaced === undefined
      ? newConsumerMember(memberId)
      : this.#parts.membership.replaceStatic(group, replaced, memberId, records);
  }

  /** Throws when the member has to do something else first. */
  sync(group: ConsumerGroup, request: SyncGroupRequest): Outcome<SyncAnswer> {
    const { groupId, memberId, protocolType, protocolName } = request;
    const member = this.#classicMember(group, memberId, request.groupInstanceId);
    checkGeneration(member, request.generationId);
    const { name } = member.classic.protocols[0] ?? { name: '' };
    const isOther =
      (protocolType !== null && protocolType !== consumerProtocolType) || (protocolName !== null && protocolName !== name);
    if (isOther) throw new ProtocolError(errorCodes.INCONSISTENT_GROUP_PROTOCOL);
    const { timers } = this.#parts.membership;
    // A member that must give up partitions first has joined already, and gets what it keeps.
    if (group.assignmentEpoch > member.memberEpoch && member.state !== 'unrevokedPartitions') {
      timers.expectJoin(groupId, memberId, member.rebalanceTimeoutMs);
      throw new ProtocolError(errorCodes.REBALANCE_IN_PROGRESS);
    }
    timers.synced(groupId, memberId);
    timers.expectHeartbeat(groupId, memberId, member.classic.sessionTimeoutMs);
    return answer<SyncAnswer>({
      errorCode: errorCodes.NONE,
      protocolType,
      protocolName,
      assignment: writeAssignment(member.assignedPartitions, this.#parts.metadata(), subscriptionVersion(member.classic)),
    });
  }

  /** Throws when the member is not known. */
  heartbeat(group: ConsumerGroup, request: HeartbeatRequest): number {
    const { groupId, memberId } = request;
    const member = this.#classicMember(group, memberId, request.groupInstanceId);
    checkGeneration(member, request.generationId);
    const { timers } = this.#parts.membership;
    timers.expectHeartbeat(groupId, memberId, member.classic.sessionTimeoutMs);
    // For an assignment that is not due yet it would come in vain, again and again. One that is due it makes by coming: there may be
    // nobody else to make it, where the group may not become a classic one again.
    const isAssignmentDue =
      group.groupEpoch > group.assignmentEpoch && mayAssign(this.#parts.membership.progressParts(groupId), group);
    const mustRejoin =
      isAssignmentDue ||
      member.memberEpoch < group.assignmentEpoch ||
      member.state === 'unrevokedPartitions' ||
      (member.state === 'unreleasedPartitions' && !isWaiting(group, member));
    if (!mustRejoin) return errorCodes.NONE;
    timers.expectJoin(groupId, memberId, member.rebalanceTimeoutMs);
    return errorCodes.REBALANCE_IN_PROGRESS;
  }

  /** Members of the other protocol can be taken out too: this is how an administrator does it. */
  leave(group: ConsumerGroup, members: LeaveGroupRequest['members']): Outcome<LeaveAnswer> {
    const leaving = new Map<string, ConsumerMember>();
    const answers = members.map(({ memberId, groupInstanceId }) => {
      try {
        // An administrator names a static member by its instance alone.
        const id = memberId === '' && groupInstanceId !== null ? (group.staticMember(groupInstanceId)?.memberId ?? '') : memberId;
        const member = memberOf(group, id, groupInstanceId);
        leaving.set(member.memberId, member);
        return { memberId, groupInstanceId, errorCode: errorCodes.NONE };
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error;
        return { memberId, groupInstanceId, errorCode: error.code };
      }
    });
    return this.#parts.membership.fence<LeaveAnswer>(group, [...leaving.values()], { errorCode: 0, members: answers });
  }

  #classicMember(group: ConsumerGroup, memberId: string, instanceId: string | null): ClassicProtocolMember {
    const member = memberOf(group, memberId, instanceId);
    if (!isClassic(member)) throw unknownMember(group.groupId, memberId);
    return member;
  }
}

/** Throws when there is no such member, or another one has its place. */
function memberOf(group: ConsumerGroup, memberId: string, instanceId: string | null): ConsumerMember {
  const member =
    instanceId === null ? group.member(memberId) : ensureInstance(group.staticMember(instanceId), memberId, instanceId);
  if (member === undefined) throw unknownMember(group.groupId, memberId);
  return member;
}

function isClassic(member: ConsumerMember): member is ClassicProtocolMember {
  return member.classic !== null;
}

function checkGeneration({ memberEpoch }: ConsumerMember, generationId: number): void {
  if (memberEpoch !== generationId) throw new ProtocolError(errorCodes.ILLEGAL_GENERATION);
}

/** Whether partitions of the member's target are still with others. */
function isWaiting(group: ConsumerGroup, member: ConsumerMember): boolean {
  for (const [topicId, partitions] of group.targetOf(member) ?? []) {
    for (const partition of partitions) {
      if (member.assignedPartitions.get(topicId)?.has(partition) !== true && group.isOwned(topicId, partition)) return true;
    }
  }
  return false;
}

/** Throws INCONSISTENT_GROUP_PROTOCOL when the metadata is not that of a consumer. */
function subscriptionOf(metadata: Buffer | undefined): ConsumerProtocolSubscription {
  try {
    return readSubscription(metadata ?? Buffer.alloc(0));
  } catch (error) {
    throw new ProtocolError(errorCodes.INCONSISTENT_GROUP_PROTOCOL, undefined, { cause: error });
  }
}
