// A group of the classic protocol: its state, its members and the rules of which states may follow each other. What happens
// when a member joins, syncs, beats or leaves is in classic-membership.ts.
//
//            +------ all members have left ------+
//            v                                   |
//         Empty --- a member joins ---> PreparingRebalance --- all have joined ---> CompletingRebalance
//                                         ^          ^                                 |       |
//                                         |          +----- joined, left, expired -----+       | the leader has sent
//                                         |                                                    | the assignment
//                                         +----------- joined, left, expired ------ Stable <---+
//
// A group is forgotten when it is Empty and its last offset has expired, or when it is deleted. To clients that ask for a group
// which is not there it is Dead.

import { ConsumerProtocolSubscription, decodeMessage } from '@odradek/protocol';
import type { ClassicMember, JoinAnswer, MemberProtocol } from './classic-member.ts';

/** Names as Kafka writes them in DescribeGroups and ListGroups. */
export type ClassicGroupState = 'Empty' | 'PreparingRebalance' | 'CompletingRebalance' | 'Stable';

/** From which states a state may be entered. */
const previousStates: Readonly<Record<ClassicGroupState, readonly ClassicGroupState[]>> = {
  Empty: ['PreparingRebalance'],
  PreparingRebalance: ['Stable', 'CompletingRebalance', 'Empty'],
  CompletingRebalance: ['PreparingRebalance'],
  Stable: ['CompletingRebalance'],
};

export const consumerProtocolType = 'consumer';

export class ClassicGroup {
  readonly type = 'classic';
  readonly groupId: string;
  generationId = 0;
  /** What the members are (`consumer`, `connect`, …); null in a group that never had one. */
  protocolType: string | null = null;
  /** The protocol that the members of this generation have in common; null without members. */
  protocolName: string | null = null;
  leaderId: string | null = null;
  /** When the group entered its state, wall time in ms; -1 where not known. */
  stateTimestampMs = -1;
  /** The state before this one: a rebalance that comes from Empty waits for more members before it completes. */
  previousState: ClassicGroupState = 'Empty';
  /** A member joined while the first rebalance was waiting for more. */
  hasNewMember = false;
  /** Ids that were given out with MEMBER_ID_REQUIRED and have not come back. */
  readonly pendingMembers = new Set<string>();
  /** Members of this generation that have not sent their SyncGroup. */
  readonly pendingSyncMembers = new Set<string>();
  /** The topics that consumers subscribe to; null where that cannot be known (no consumers, or metadata that cannot be read). */
  subscribedTopics: ReadonlySet<string> | null = null;
  #state: ClassicGroupState = 'Empty';
  /** In the order in which they joined: the first is the leader. */
  readonly #members = new Map<string, ClassicMember>();
  readonly #staticMembers = new Map<string, string>();
  /** How many members support each protocol. */
  readonly #supporters = new Map<string, number>();
  #awaitingJoinCount = 0;

  constructor(groupId: string) {
    this.groupId = groupId;
  }

  get state(): ClassicGroupState {
    return this.#state;
  }

  get members(): ReadonlyMap<string, ClassicMember> {
    return this.#members;
  }

  get isConsumerGroup(): boolean {
    return this.protocolType === consumerProtocolType;
  }

  get isEmpty(): boolean {
    return this.#state === 'Empty';
  }

  transitionTo(state: ClassicGroupState, nowMs: number): void {
    if (!previousStates[state].includes(this.#state))
      throw new Error(`Group ${this.groupId} cannot go from ${this.#state} to ${state}`);
    this.previousState = this.#state;
    this.#state = state;
    this.stateTimestampMs = nowMs;
  }

  /** Sets what a record says, without asking where it came from. */
  restoreState(state: ClassicGroupState, stateTimestampMs: number): void {
    this.#state = state;
    this.stateTimestampMs = stateTimestampMs;
  }

  get canRebalance(): boolean {
    return previousStates.PreparingRebalance.includes(this.#state);
  }

  member(memberId: string): ClassicMember | undefined {
    return this.#members.get(memberId);
  }

  staticMemberId(groupInstanceId: string): string | undefined {
    return this.#staticMembers.get(groupInstanceId);
  }

  isLeader(memberId: string): boolean {
    return this.leaderId === memberId;
  }

  add(member: ClassicMember): void {
    if (this.#members.size === 0) this.protocolType = member.protocolType;
    if (member.groupInstanceId !== null) this.#staticMembers.set(member.groupInstanceId, member.memberId);
    this.leaderId ??= member.memberId;
    this.#members.set(member.memberId, member);
    this.#countProtocols(member.protocols, 1);
    this.pendingMembers.delete(member.memberId);
  }

  remove(memberId: string): void {
    const member = this.#members.get(memberId);
    if (member !== undefined) {
      this.#members.delete(memberId);
      this.#countProtocols(member.protocols, -1);
      if (member.awaitingJoin !== null) this.#awaitingJoinCount -= 1;
      if (member.groupInstanceId !== null) this.#staticMembers.delete(member.groupInstanceId);
    }
    if (this.isLeader(memberId)) this.leaderId = this.#members.keys().next().value ?? null;
    this.pendingMembers.delete(memberId);
    this.pendingSyncMembers.delete(memberId);
  }

  /** A static member came back under a new id: the new one takes over place, assignment and leadership. */
  replaceStaticMember(groupInstanceId: string, replacement: ClassicMember): void {
    const oldId = this.#staticMembers.get(groupInstanceId);
    const old = oldId === undefined ? undefined : this.#members.get(oldId);
    if (old === undefined) throw new Error(`Group ${this.groupId} has no static member ${groupInstanceId}`);
    const members = [...this.#members.values()].map((member) => (member === old ? replacement : member));
    this.#members.clear();
    for (const member of members) this.#members.set(member.memberId, member);
    this.#countProtocols(old.protocols, -1);
    this.#countProtocols(replacement.protocols, 1);
    this.#staticMembers.set(groupInstanceId, replacement.memberId);
    replacement.assignment = old.assignment;
    if (this.isLeader(old.memberId)) this.leaderId = replacement.memberId;
    this.pendingSyncMembers.delete(old.memberId);
  }

  updateProtocols(member: ClassicMember, protocols: readonly MemberProtocol[]): void {
    this.#countProtocols(member.protocols, -1);
    member.protocols = protocols;
    this.#countProtocols(protocols, 1);
  }

  /** The member waits from now on until the join phase is over. */
  awaitJoin(member: ClassicMember): Promise<JoinAnswer> {
    this.#awaitingJoinCount += 1;
    return new Promise((resolve) => {
      member.awaitingJoin = resolve;
    });
  }

  /** Does nothing when the member does not wait. */
  answerJoin(member: ClassicMember, answer: JoinAnswer): void {
    const { awaitingJoin } = member;
    if (awaitingJoin === null) return;
    member.awaitingJoin = null;
    this.#awaitingJoinCount -= 1;
    awaitingJoin(answer);
  }

  get hasAllMembersJoined(): boolean {
    return this.pendingMembers.size === 0 && this.#awaitingJoinCount === this.#members.size;
  }

  get awaitingJoinCount(): number {
    return this.#awaitingJoinCount;
  }

  /** The longest time that any member may take to rejoin. */
  get rebalanceTimeoutMs(): number {
    let longest = 0;
    for (const member of this.#members.values()) longest = Math.max(longest, member.rebalanceTimeoutMs);
    return longest;
  }

  /** Whether a member with these protocols could be in the group with those that are. */
  supportsProtocols(protocolType: string, protocols: readonly MemberProtocol[]): boolean {
    if (this.#members.size === 0) return protocolType !== '' && protocols.length > 0;
    return protocolType === this.protocolType && protocols.some(({ name }) => this.#isCommon(name));
  }

  /** The protocol that most members prefer among those that all of them support. */
  selectProtocol(): string {
    const candidates = new Set([...this.#supporters.keys()].filter((name) => this.#isCommon(name)));
    const votes = new Map<string, number>();
    for (const member of this.#members.values()) {
      const vote = member.vote(candidates);
      votes.set(vote, (votes.get(vote) ?? 0) + 1);
    }
    let best: string | null = null;
    for (const [name, count] of votes) if (best === null || count > (votes.get(best) ?? 0)) best = name;
    if (best === null) throw new Error(`Group ${this.groupId} has no members to choose a protocol`);
    return best;
  }

  /** That of this generation, unless somebody has joined who does not speak it: then what the next one will have. */
  commonProtocol(): string {
    return this.protocolName !== null && this.#isCommon(this.protocolName) ? this.protocolName : this.selectProtocol();
  }

  /** Makes sure that the leader is one who has joined this rebalance. False: nobody has. */
  electJoinedLeader(): boolean {
    const leader = this.leaderId === null ? undefined : this.#members.get(this.leaderId);
    if (leader !== undefined && leader.awaitingJoin !== null) return true;
    for (const member of this.#members.values()) {
      if (member.awaitingJoin !== null) {
        this.leaderId = member.memberId;
        return true;
      }
    }
    return false;
  }

  /** Where it cannot be known, a group of consumers may be subscribed to any topic. */
  isSubscribedTo(topic: string): boolean {
    return this.subscribedTopics?.has(topic) ?? this.isConsumerGroup;
  }

  nextGeneration(nowMs: number): void {
    this.generationId += 1;
    this.pendingSyncMembers.clear();
    if (this.#members.size > 0) {
      this.protocolName = this.selectProtocol();
      this.subscribedTopics = this.computeSubscribedTopics();
      this.transitionTo('CompletingRebalance', nowMs);
    } else {
      this.protocolName = null;
      this.subscribedTopics = this.computeSubscribedTopics();
      this.transitionTo('Empty', nowMs);
    }
  }

  /** The union of the members' subscriptions, read from the metadata of the chosen protocol. */
  computeSubscribedTopics(): ReadonlySet<string> | null {
    if (!this.isConsumerGroup) return null;
    if (this.#members.size === 0) return new Set();
    if (this.protocolName === null) return null;
    const topics = new Set<string>();
    for (const member of this.#members.values()) {
      const subscribed = subscriptionTopics(member.metadata(this.protocolName));
      // What one member means cannot be known, so no offset of the group may be taken for unsubscribed.
      if (subscribed === null) return null;
      for (const topic of subscribed) topics.add(topic);
    }
    return topics;
  }

  /** All members support it. */
  #isCommon(protocolName: string): boolean {
    return this.#supporters.get(protocolName) === this.#members.size;
  }

  #countProtocols(protocols: readonly MemberProtocol[], change: 1 | -1): void {
    for (const { name } of protocols) {
      const count = (this.#supporters.get(name) ?? 0) + change;
      if (count === 0) this.#supporters.delete(name);
      else this.#supporters.set(name, count);
    }
  }
}

/** The topics of a consumer's subscription, of any version; null when the bytes are something else. */
function subscriptionTopics(metadata: Buffer): readonly string[] | null {
  try {
    // Later versions add fields behind those of earlier ones, so an unknown one is read as the newest known.
    const version = Math.min(metadata.readInt16BE(0), ConsumerProtocolSubscription.versions.max);
    return decodeMessage(ConsumerProtocolSubscription, version, metadata.subarray(2)).topics;
  } catch {
    return null;
  }
}
