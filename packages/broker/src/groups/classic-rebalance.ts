// How a classic group goes from one generation to the next, and what its timers do. A rebalance has two phases: all members
// join (again), which gives the new generation its members and protocol; then all sync, and the leader's sync brings the assignment.
//
// Three kinds of timer drive it: `heartbeat` of each member, `join` for the members that must come back, `sync` for those that
// must ask for their assignment.

import { errorCodes, ProtocolError } from '@odradek/protocol';
import type { Clock, Logger } from '@odradek/runtime';
import { answer, type CoordinatorRecord, described, type Outcome } from '../coordinator/coordinator-shard.ts';
import type { CoordinatorTimer } from '../coordinator/coordinator-timer.ts';
import type { ClassicGroup } from './classic-group.ts';
import type { ClassicMember, JoinAnswer, SyncAnswer } from './classic-member.ts';
import { groupMetadataRecord } from './group-records.ts';

/** How long a member that has never been in a generation may wait for one: its client may have gone without a word. */
const newMemberJoinTimeoutMs = 5 * 60 * 1000;

const noRecords: readonly CoordinatorRecord[] = [];

export interface ClassicRebalanceParts {
  readonly clock: Clock;
  readonly timer: CoordinatorTimer;
  readonly logger: Logger;
  /** `group.initial.rebalance.delay.ms` now. */
  readonly initialRebalanceDelayMs: () => number;
  /** The classic group of that id; undefined when it is gone or of another type by now. */
  readonly group: (groupId: string) => ClassicGroup | undefined;
}

export class ClassicRebalance {
  readonly #parts: ClassicRebalanceParts;

  constructor(parts: ClassicRebalanceParts) {
    this.#parts = parts;
  }

  /** Begins a rebalance when the state allows, else sees whether the one under way can complete. Returns the records to write. */
  prepareOrComplete(group: ClassicGroup): readonly CoordinatorRecord[] {
    return group.canRebalance ? this.prepare(group) : this.maybeCompleteJoin(group);
  }

  prepare(group: ClassicGroup): readonly CoordinatorRecord[] {
    // Who waits for an assignment of the old generation has to join again.
    if (group.state === 'CompletingRebalance') this.failSync(group, errorCodes.REBALANCE_IN_PROGRESS);
    this.#parts.timer.cancel(syncKey(group.groupId));
    const isInitial = group.state === 'Empty';
    group.transitionTo('PreparingRebalance', this.#parts.clock.wallTimeMs());
    this.#parts.logger.debug('A group rebalances', { group: group.groupId, generation: group.generationId });
    if (isInitial) {
      const delayMs = this.#parts.initialRebalanceDelayMs();
      this.#waitForMoreMembers(group, delayMs, Math.max(group.rebalanceTimeoutMs - delayMs, 0));
      return noRecords;
    }
    if (group.hasAllMembersJoined) return this.#completeJoin(group);
    this.#scheduleJoin(group);
    return noRecords;
  }

  /** Completes the join phase when everybody is there. The first rebalance of a group completes by its timer only. */
  maybeCompleteJoin(group: ClassicGroup): readonly CoordinatorRecord[] {
    const isReady = group.state === 'PreparingRebalance' && group.previousState !== 'Empty' && group.hasAllMembersJoined;
    return isReady ? this.#completeJoin(group) : noRecords;
  }

  /** The first rebalance: as long as new members keep coming, and the longest rebalance time-out allows, wait for yet more. */
  #waitForMoreMembers(group: ClassicGroup, delayMs: number, remainingMs: number): void {
    const { timer } = this.#parts;
    timer.schedule(joinKey(group.groupId), delayMs, () =>
      this.#withGroup(group.groupId, (current) => {
        if (!current.hasNewMember || remainingMs === 0) return this.#completeJoin(current);
        current.hasNewMember = false;
        const nextDelayMs = Math.min(this.#parts.initialRebalanceDelayMs(), remainingMs);
        this.#waitForMoreMembers(current, nextDelayMs, Math.max(remainingMs - nextDelayMs, 0));
        return noRecords;
      }),
    );
  }

  #scheduleJoin(group: ClassicGroup): void {
    this.#parts.timer.schedule(joinKey(group.groupId), group.rebalanceTimeoutMs, () =>
      this.#withGroup(group.groupId, (current) => this.#completeJoin(current)),
    );
  }

  #completeJoin(group: ClassicGroup): readonly CoordinatorRecord[] {
    if (group.state !== 'PreparingRebalance') return noRecords;
    this.#parts.timer.cancel(joinKey(group.groupId));
    // A static member that is away keeps its place until its session ends; any other has missed the rebalance.
    for (const member of [...group.members.values()]) {
      if (member.awaitingJoin === null && !member.isStatic) this.#forget(group, member.memberId);
    }
    if (!group.electJoinedLeader() && group.members.size > 0) {
      // Only absent static members are left. Their sessions decide.
      this.#scheduleJoin(group);
      return noRecords;
    }
    group.nextGeneration(this.#parts.clock.wallTimeMs());
    group.hasNewMember = false;
    const { groupId, generationId, protocolName } = group;
    const { logger } = this.#parts;
    if (group.members.size === 0) {
      logger.info('A group is empty now', { group: groupId, generation: generationId });
      return [groupMetadataRecord(group, new Map())];
    }
    logger.info('A group has a new generation', {
      group: groupId,
      generation: generationId,
      members: group.members.size,
      protocol: protocolName,
    });
    for (const member of group.members.values()) {
      group.answerJoin(member, joinAnswer(group, member.memberId, group.isLeader(member.memberId)));
      member.isNew = false;
      this.beat(group, member);
      group.pendingSyncMembers.add(member.memberId);
    }
    this.#scheduleSync(group);
    return noRecords;
  }

  #scheduleSync(group: ClassicGroup): void {
    const generationId = group.generationId;
    this.#parts.timer.schedule(syncKey(group.groupId), group.rebalanceTimeoutMs, () =>
      this.#withGroup(group.groupId, (current) => {
        const isOver = current.state !== 'CompletingRebalance' && current.state !== 'Stable';
        if (current.generationId !== generationId || isOver || current.pendingSyncMembers.size === 0) return noRecords;
        for (const memberId of [...current.pendingSyncMembers]) this.#forget(current, memberId);
        return this.prepare(current);
      }),
    );
  }

  /** A member has asked for its assignment. */
  receivedSync(group: ClassicGroup, memberId: string): void {
    group.pendingSyncMembers.delete(memberId);
    if (group.pendingSyncMembers.size === 0) this.#parts.timer.cancel(syncKey(group.groupId));
  }

  /** The assignment is committed: everybody who waits for it gets it. */
  propagateAssignment(group: ClassicGroup, assignments: ReadonlyMap<string, Uint8Array>): void {
    for (const member of group.members.values()) {
      member.assignment = assignments.get(member.memberId) ?? Buffer.alloc(0);
      if (member.awaitingSync === null) continue;
      this.answerSync(member, {
        errorCode: 0,
        protocolType: group.protocolType,
        protocolName: group.protocolName,
        assignment: member.assignment,
      });
      this.beat(group, member);
    }
  }

  failSync(group: ClassicGroup, errorCode: number): void {
    for (const member of group.members.values()) {
      member.assignment = Buffer.alloc(0);
      if (member.awaitingSync === null) continue;
      this.answerSync(member, { errorCode });
      this.beat(group, member);
    }
  }

  /** The member has shown that it is alive: its session begins anew. */
  beat(group: ClassicGroup, member: ClassicMember): void {
    this.#scheduleExpiry(group, member.memberId, member.sessionTimeoutMs);
  }

  expectNewMember(group: ClassicGroup, member: ClassicMember): void {
    this.#scheduleExpiry(group, member.memberId, newMemberJoinTimeoutMs);
  }

  /** An id was given out; its client has one session time-out to come back with it. */
  expectPendingMember(group: ClassicGroup, memberId: string, sessionTimeoutMs: number): void {
    this.#scheduleExpiry(group, memberId, sessionTimeoutMs);
  }

  cancelHeartbeat(group: ClassicGroup, memberId: string): void {
    this.#parts.timer.cancel(heartbeatKey(group.groupId, memberId));
  }

  #scheduleExpiry(group: ClassicGroup, memberId: string, delayMs: number): void {
    this.#parts.timer.schedule(heartbeatKey(group.groupId, memberId), delayMs, () =>
      this.#withGroup(group.groupId, (current) => this.#expire(current, memberId)),
    );
  }

  #expire(group: ClassicGroup, memberId: string): readonly CoordinatorRecord[] {
    if (group.pendingMembers.has(memberId)) return this.removePending(group, memberId);
    const member = group.member(memberId);
    // Who waits for us is answered, and beats, when the phase is over. A new one has waited too long.
    if (member === undefined || (member.isWaiting && !member.isNew)) return noRecords;
    return this.remove(group, [memberId]);
  }

  removePending(group: ClassicGroup, memberId: string): readonly CoordinatorRecord[] {
    this.cancelHeartbeat(group, memberId);
    group.remove(memberId);
    return this.maybeCompleteJoin(group);
  }

  /** Takes members out of the group, which the others learn by a rebalance. */
  remove(group: ClassicGroup, memberIds: Iterable<string>): readonly CoordinatorRecord[] {
    for (const memberId of memberIds) this.#forget(group, memberId);
    return group.isEmpty ? noRecords : this.prepareOrComplete(group);
  }

  #forget(group: ClassicGroup, memberId: string): void {
    this.cancelHeartbeat(group, memberId);
    const member = group.member(memberId);
    if (member !== undefined) {
      // Its client may still wait, though we have given it up.
      group.answerJoin(member, { errorCode: errorCodes.UNKNOWN_MEMBER_ID, memberId: '', protocolName: null });
      this.answerSync(member, { errorCode: errorCodes.UNKNOWN_MEMBER_ID });
    }
    group.remove(memberId);
  }

  answerSync(member: ClassicMember, synced: SyncAnswer): void {
    const awaiting = member.awaitingSync;
    member.awaitingSync = null;
    awaiting?.(synced);
  }

  /** Stops everything: the group is deleted, or its coordinator is somewhere else. */
  abandon(group: ClassicGroup, errorCode: number): void {
    const { timer } = this.#parts;
    timer.cancel(joinKey(group.groupId));
    timer.cancel(syncKey(group.groupId));
    for (const memberId of [...group.pendingMembers, ...group.members.keys()]) this.cancelHeartbeat(group, memberId);
    this.interrupt(group, errorCode);
  }

  /** Answers whoever waits. */
  interrupt(group: ClassicGroup, errorCode: number): void {
    for (const member of group.members.values()) {
      group.answerJoin(member, { errorCode, memberId: member.memberId, protocolName: null });
      this.answerSync(member, { errorCode });
    }
  }

  #withGroup(groupId: string, action: (group: ClassicGroup) => readonly CoordinatorRecord[]): Outcome<void> {
    const group = this.#parts.group(groupId);
    if (group === undefined) return answer(undefined);
    return described(action(group), undefined);
  }
}

/** What a member is told of its generation. The leader gets everyone's metadata, to make the assignment from. */
export function joinAnswer(group: ClassicGroup, memberId: string, withMembers: boolean): JoinAnswer {
  const { protocolName } = group;
  if (protocolName === null) throw new ProtocolError(errorCodes.UNKNOWN_SERVER_ERROR, `Group ${group.groupId} has no protocol`);
  return {
    errorCode: 0,
    memberId,
    generationId: group.generationId,
    protocolType: group.protocolType,
    protocolName,
    leader: group.leaderId ?? '',
    members: withMembers
      ? [...group.members.values()].map((member) => ({
          memberId: member.memberId,
          groupInstanceId: member.groupInstanceId,
          metadata: member.metadata(protocolName),
        }))
      : [],
  };
}

function joinKey(groupId: string): string {
  return `join ${groupId}`;
}

function syncKey(groupId: string): string {
  return `sync ${groupId}`;
}

function heartbeatKey(groupId: string, memberId: string): string {
  // A space cannot be told from one in a name, but a length can.
  return `heartbeat ${groupId.length} ${groupId} ${memberId}`;
}
