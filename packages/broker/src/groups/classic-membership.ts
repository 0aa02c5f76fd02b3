// What a classic group answers to JoinGroup, SyncGroup, Heartbeat and LeaveGroup. The checks come in Kafka's order, because
// clients act on the first error they get.

import {
  errorCodes,
  type HeartbeatRequest,
  type JoinGroupRequest,
  type LeaveGroupRequest,
  type LeaveGroupResponse,
  type MessageInit,
  ProtocolError,
  type SyncGroupRequest,
} from '@odradek/protocol';
import { answer, described, type Outcome } from '../coordinator/coordinator-shard.ts';
import type { ClassicGroup } from './classic-group.ts';
import { ClassicMember, type JoinAnswer, type MemberDetails, type MemberProtocol, type SyncAnswer } from './classic-member.ts';
import { type ClassicRebalance, joinAnswer } from './classic-rebalance.ts';
import { groupMetadataRecord } from './group-records.ts';

/** What JoinGroup says by its version rather than by a field. */
export interface JoinContext {
  readonly clientId: string;
  readonly clientHost: string;
  /** From version 4: a dynamic member must come back with the id that it was given, so that an abandoned join leaves nothing. */
  readonly requiresKnownMemberId: boolean;
  /** From version 9: the leader can be told that there is nothing to assign. */
  readonly supportsSkippingAssignment: boolean;
}

export interface ClassicMembershipParts {
  readonly rebalance: ClassicRebalance;
  readonly nowMs: () => number;
  /** `group.max.size` now. */
  readonly maxSize: () => number;
  /** A fresh uuid in its usual form. */
  readonly uuid: () => string;
}

type LeaveAnswer = MessageInit<typeof LeaveGroupResponse>;

export class ClassicMembership {
  readonly #parts: ClassicMembershipParts;
  readonly #rebalance: ClassicRebalance;

  constructor(parts: ClassicMembershipParts) {
    this.#parts = parts;
    this.#rebalance = parts.rebalance;
  }

  join(group: ClassicGroup, request: JoinGroupRequest, context: JoinContext): Outcome<JoinAnswer> {
    const { memberId } = request;
    if (!this.#hasRoom(group, memberId)) {
      this.#rebalance.cancelHeartbeat(group, memberId);
      group.remove(memberId);
      // The others may have waited for this one alone.
      return described(this.#rebalance.maybeCompleteJoin(group), joinErrorAnswer('', errorCodes.GROUP_MAX_SIZE_REACHED));
    }
    if (!group.supportsProtocols(request.protocolType, request.protocols)) {
      return joinError(memberId, errorCodes.INCONSISTENT_GROUP_PROTOCOL);
    }
    return memberId === '' ? this.#joinNew(group, request, context) : this.#joinExisting(group, request, context);
  }

  #hasRoom(group: ClassicGroup, memberId: string): boolean {
    const maxSize = this.#parts.maxSize();
    switch (group.state) {
      case 'Empty':
        return true;
      case 'PreparingRebalance':
        // Those who come back first stay, when the limit was lowered below the size of the group.
        return group.awaitingJoinCount < maxSize || (group.member(memberId)?.awaitingJoin ?? null) !== null;
      case 'CompletingRebalance':
      case 'Stable':
        return group.members.size < maxSize || group.member(memberId) !== undefined;
    }
  }

  #joinNew(group: ClassicGroup, request: JoinGroupRequest, context: JoinContext): Outcome<JoinAnswer> {
    const { groupInstanceId } = request;
    const memberId = `${groupInstanceId ?? context.clientId}-${this.#parts.uuid()}`;
    if (groupInstanceId !== null) {
      const replacedId = group.staticMemberId(groupInstanceId);
      return replacedId === undefined
        ? this.#add(group, memberId, request, context)
        : this.#replaceStatic(group, replacedId, memberId, request, context);
    }
    if (context.requiresKnownMemberId) {
      group.pendingMembers.add(memberId);
      this.#rebalance.expectPendingMember(group, memberId, request.sessionTimeoutMs);
      return joinError(memberId, errorCodes.MEMBER_ID_REQUIRED);
    }
    return this.#add(group, memberId, request, context);
  }

  #add(group: ClassicGroup, memberId: string, request: JoinGroupRequest, context: JoinContext): Outcome<JoinAnswer> {
    const member = new ClassicMember(detailsOf(memberId, request, context));
    member.isNew = true;
    if (group.state === 'PreparingRebalance' && group.previousState === 'Empty') group.hasNewMember = true;
    group.add(member);
    const response = group.awaitJoin(member);
    this.#rebalance.expectNewMember(group, member);
    return described(this.#rebalance.prepareOrComplete(group), response);
  }

  #joinExisting(group: ClassicGroup, request: JoinGroupRequest, context: JoinContext): Outcome<JoinAnswer> {
    const { memberId, groupInstanceId } = request;
    if (group.pendingMembers.has(memberId)) {
      if (groupInstanceId !== null) return joinError(memberId, errorCodes.UNKNOWN_SERVER_ERROR);
      return this.#add(group, memberId, request, context);
    }
    const problem = identityProblem(group, memberId, groupInstanceId);
    if (problem !== null) return joinError(memberId, problem);
    const member = knownMember(group, memberId);
    switch (group.state) {
      case 'PreparingRebalance':
        return this.#rejoin(group, member, request);
      case 'CompletingRebalance':
        // The answer to its join may have been lost: it gets the same again.
        if (!member.matches(request.protocols)) return this.#rejoin(group, member, request);
        return answer(joinAnswer(group, memberId, group.isLeader(memberId)));
      case 'Stable':
        // A leader that joins again wants a new assignment, for instance because a topic has grown.
        if (group.isLeader(memberId) || !member.matches(request.protocols)) return this.#rejoin(group, member, request);
        return answer(joinAnswer(group, memberId, false));
      case 'Empty':
        return joinError(memberId, errorCodes.UNKNOWN_MEMBER_ID);
    }
  }

  #rejoin(group: ClassicGroup, member: ClassicMember, request: JoinGroupRequest): Outcome<JoinAnswer> {
    const response = this.#update(group, member, request);
    return described(this.#rebalance.prepareOrComplete(group), response);
  }

  #update(group: ClassicGroup, member: ClassicMember, request: JoinGroupRequest): Promise<JoinAnswer> {
    group.updateProtocols(member, copyOf(request.protocols));
    member.rebalanceTimeoutMs = rebalanceTimeoutOf(request);
    member.sessionTimeoutMs = request.sessionTimeoutMs;
    // An earlier join of the same member, whose client has lost patience, is answered too: no request stays open for ever.
    const { memberId } = member;
    group.answerJoin(member, { errorCode: errorCodes.REBALANCE_IN_PROGRESS, memberId, protocolName: null });
    return group.awaitJoin(member);
  }

  /** A static member starts again without its old id: it takes its old place, if possible without a rebalance. */
  #replaceStatic(
    group: ClassicGroup,
    oldId: string,
    newId: string,
    request: JoinGroupRequest,
    context: JoinContext,
  ): Outcome<JoinAnswer> {
    const old = knownMember(group, oldId);
    const leaderBefore = group.leaderId;
    const replacement = new ClassicMember(detailsOf(newId, request, context));
    group.answerJoin(old, { errorCode: errorCodes.FENCED_INSTANCE_ID, memberId: oldId, protocolName: null });
    this.#rebalance.answerSync(old, { errorCode: errorCodes.FENCED_INSTANCE_ID });
    this.#rebalance.cancelHeartbeat(group, oldId);
    group.replaceStaticMember(old.groupInstanceId ?? '', replacement);
    this.#rebalance.beat(group, replacement);
    const isProtocolKept = group.state === 'Stable' && group.selectProtocol() === group.protocolName;
    if (!isProtocolKept) {
      const response = group.awaitJoin(replacement);
      return described(this.#rebalance.prepareOrComplete(group), response);
    }
    // Only the member's id has changed. A leader is told to skip the assignment, or, where its version cannot be told, is
    // made to believe that its former self leads.
    const isLeader = group.isLeader(newId);
    const skips = context.supportsSkippingAssignment;
    const joined: JoinAnswer = {
      ...joinAnswer(group, newId, skips && isLeader),
      leader: skips ? (group.leaderId ?? '') : (leaderBefore ?? ''),
      skipAssignment: skips && isLeader,
    };
    const { promise: response, resolve } = Promise.withResolvers<JoinAnswer>();
    return {
      records: [groupMetadataRecord(group, assignmentsOf(group))],
      response,
      whenWritten: (error) => {
        if (error === null) return resolve(joined);
        if (group.member(newId) === replacement) {
          this.#rebalance.cancelHeartbeat(group, newId);
          group.replaceStaticMember(old.groupInstanceId ?? '', old);
          this.#rebalance.beat(group, old);
        }
        resolve({ ...joined, memberId: '', leader: leaderBefore ?? '', members: [], skipAssignment: false, errorCode: error.code });
      },
    };
  }

  sync(group: ClassicGroup, request: SyncGroupRequest): Outcome<SyncAnswer> {
    const problem = this.#syncProblem(group, request);
    if (problem !== null) return answer<SyncAnswer>({ errorCode: problem });
    const member = knownMember(group, request.memberId);
    switch (group.state) {
      case 'Empty':
        return answer<SyncAnswer>({ errorCode: errorCodes.UNKNOWN_MEMBER_ID });
      case 'PreparingRebalance':
        return answer<SyncAnswer>({ errorCode: errorCodes.REBALANCE_IN_PROGRESS });
      case 'Stable':
        this.#rebalance.receivedSync(group, member.memberId);
        this.#rebalance.beat(group, member);
        return answer<SyncAnswer>({
          errorCode: 0,
          protocolType: group.protocolType,
          protocolName: group.protocolName,
          assignment: member.assignment,
        });
      case 'CompletingRebalance':
        return this.#syncNewGeneration(group, member, request);
    }
  }

  #syncProblem(group: ClassicGroup, request: SyncGroupRequest): number | null {
    const problem = identityProblem(group, request.memberId, request.groupInstanceId);
    if (problem !== null) return problem;
    if (request.generationId !== group.generationId) return errorCodes.ILLEGAL_GENERATION;
    const { protocolType, protocolName } = request;
    const isOther =
      (protocolType !== null && protocolType !== group.protocolType) ||
      (protocolName !== null && protocolName !== group.protocolName);
    return isOther ? errorCodes.INCONSISTENT_GROUP_PROTOCOL : null;
  }

  #syncNewGeneration(group: ClassicGroup, member: ClassicMember, request: SyncGroupRequest): Outcome<SyncAnswer> {
    this.#rebalance.answerSync(member, { errorCode: errorCodes.REBALANCE_IN_PROGRESS });
    const response = new Promise<SyncAnswer>((resolve) => {
      member.awaitingSync = resolve;
    });
    this.#rebalance.receivedSync(group, member.memberId);
    if (!group.isLeader(member.memberId)) return { records: [], response };
    const assignments = new Map<string, Uint8Array>(
      request.assignments.map(({ memberId, assignment }) => [memberId, Buffer.from(assignment)]),
    );
    const { generationId } = group;
    return {
      records: [groupMetadataRecord(group, assignments)],
      response,
      whenWritten: (error) => {
        // Meanwhile another member may have joined or left, and a later generation is on its way.
        if (group.state !== 'CompletingRebalance' || group.generationId !== generationId) return;
        if (error === null) {
          this.#rebalance.propagateAssignment(group, assignments);
          group.transitionTo('Stable', this.#parts.nowMs());
        } else {
          this.#rebalance.failSync(group, error.code);
          this.#rebalance.prepare(group);
        }
      },
    };
  }

  heartbeat(group: ClassicGroup, request: HeartbeatRequest): number {
    const problem = identityProblem(group, request.memberId, request.groupInstanceId);
    if (problem !== null) return problem;
    if (request.generationId !== group.generationId) return errorCodes.ILLEGAL_GENERATION;
    switch (group.state) {
      case 'Empty':
        return errorCodes.UNKNOWN_MEMBER_ID;
      case 'PreparingRebalance':
        this.#rebalance.beat(group, knownMember(group, request.memberId));
        return errorCodes.REBALANCE_IN_PROGRESS;
      case 'CompletingRebalance':
      case 'Stable':
        this.#rebalance.beat(group, knownMember(group, request.memberId));
        return errorCodes.NONE;
    }
  }

  /** All leave first and the others learn of it once, by one rebalance. */
  leave(group: ClassicGroup, members: LeaveGroupRequest['members']): Outcome<LeaveAnswer> {
    const leaving = new Set<string>();
    const answers = members.map(({ memberId, groupInstanceId }) => {
      // An administrator names a static member by its instance alone.
      const isByInstance = memberId === '' && groupInstanceId !== null;
      const leavingId = isByInstance ? (group.staticMemberId(groupInstanceId) ?? '') : memberId;
      const isPending = group.pendingMembers.has(leavingId);
      const staticId = groupInstanceId === null ? undefined : group.staticMemberId(groupInstanceId);
      const hasLeft = leaving.has(leavingId) || (staticId !== undefined && leaving.has(staticId));
      const problem = isPending ? null : identityProblem(group, leavingId, groupInstanceId);
      const errorCode = hasLeft ? errorCodes.UNKNOWN_MEMBER_ID : (problem ?? errorCodes.NONE);
      if (errorCode === errorCodes.NONE) leaving.add(leavingId);
      return { memberId, groupInstanceId, errorCode };
    });
    if (leaving.size === 0) return answer<LeaveAnswer>({ errorCode: 0, members: answers });
    // Who never was a member is missed by nobody, but the others may have waited for it.
    const wereMembers = [...leaving].some((memberId) => group.member(memberId) !== undefined);
    const records = wereMembers
      ? this.#rebalance.remove(group, leaving)
      : [...leaving].flatMap((memberId) => [...this.#rebalance.removePending(group, memberId)]);
    return described(records, { errorCode: 0, members: answers });
  }
}

/** UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, or null when the member is who it says. */
export function identityProblem(group: ClassicGroup, memberId: string, groupInstanceId: string | null): number | null {
  if (groupInstanceId !== null) {
    const staticId = group.staticMemberId(groupInstanceId);
    if (staticId === undefined) return errorCodes.UNKNOWN_MEMBER_ID;
    if (staticId !== memberId) return errorCodes.FENCED_INSTANCE_ID;
  }
  return group.member(memberId) === undefined ? errorCodes.UNKNOWN_MEMBER_ID : null;
}

export function joinErrorAnswer(memberId: string, errorCode: number): JoinAnswer {
  return { errorCode, memberId, generationId: -1, protocolType: null, protocolName: null, leader: '', members: [] };
}

function joinError(memberId: string, errorCode: number): Outcome<JoinAnswer> {
  return answer(joinErrorAnswer(memberId, errorCode));
}

function knownMember(group: ClassicGroup, memberId: string): ClassicMember {
  const member = group.member(memberId);
  if (member === undefined) throw new ProtocolError(errorCodes.UNKNOWN_MEMBER_ID);
  return member;
}

function detailsOf(memberId: string, request: JoinGroupRequest, context: JoinContext): MemberDetails {
  return {
    memberId,
    groupInstanceId: request.groupInstanceId,
    clientId: context.clientId,
    clientHost: context.clientHost,
    rebalanceTimeoutMs: rebalanceTimeoutOf(request),
    sessionTimeoutMs: request.sessionTimeoutMs,
    protocolType: request.protocolType,
    protocols: copyOf(request.protocols),
  };
}

/**
 * The metadata is kept for as long as the member, so it must not hold on to the frame that it came in. Of several protocols of one
 * name the first counts.
 */
export function copyOf(protocols: JoinGroupRequest['protocols']): readonly MemberProtocol[] {
  const copies = new Map<string, MemberProtocol>();
  for (const { name, metadata } of protocols) if (!copies.has(name)) copies.set(name, { name, metadata: Buffer.from(metadata) });
  return [...copies.values()];
}

function assignmentsOf(group: ClassicGroup): Map<string, Uint8Array> {
  return new Map([...group.members.values()].map(({ memberId, assignment }) => [memberId, assignment]));
}

/** JoinGroup 0 has no rebalance time-out; the session time-out serves. */
export function rebalanceTimeoutOf(request: JoinGroupRequest): number {
  return request.rebalanceTimeoutMs === -1 ? request.sessionTimeoutMs : request.rebalanceTimeoutMs;
}
