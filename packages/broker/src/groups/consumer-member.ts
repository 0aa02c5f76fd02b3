// One member of a consumer group (the protocol that assigns on the broker). Its value never changes: a change is a new member in
// its place.
//
// The member epoch says which target assignment the member has come to. While it does not have all of it, or has too much, its
// state says what is missing:
//
//   stable                 it has what the assignment of its epoch gives it
//   unrevokedPartitions    it must first give up `partitionsPendingRevocation`
//   unreleasedPartitions   partitions of its assignment are still with other members

import type { MemberProtocol } from './classic-member.ts';

export type ConsumerMemberState = 'stable' | 'unrevokedPartitions' | 'unreleasedPartitions' | 'unknown';

/** Topic id → partitions. */
export type TopicPartitions = ReadonlyMap<string, ReadonlySet<number>>;
/** Topic id → partition → the epoch in which the member got it. */
export type OwnedPartitions = ReadonlyMap<string, ReadonlyMap<number, number>>;

export interface ConsumerMember {
  readonly memberId: string;
  /** -2: a static member that has gone and will come back. */
  readonly memberEpoch: number;
  /** The answer with the present epoch may have been lost; then the member comes with this one. */
  readonly previousMemberEpoch: number;
  readonly instanceId: string | null;
  readonly rackId: string | null;
  readonly rebalanceTimeoutMs: number;
  readonly clientId: string;
  readonly clientHost: string;
  /** Without repetition, in order. */
  readonly subscribedTopicNames: readonly string[];
  /** Empty: none. */
  readonly subscribedTopicRegex: string;
  readonly serverAssignor: string | null;
  readonly state: ConsumerMemberState;
  readonly assignedPartitions: OwnedPartitions;
  readonly partitionsPendingRevocation: OwnedPartitions;
  /** Of a member that speaks the classic protocol in this group. */
  readonly classic: ClassicSide | null;
}

export interface ClassicSide {
  readonly sessionTimeoutMs: number;
  readonly protocols: readonly MemberProtocol[];
}

/** Of a static member that has left for a while. */
export const awayEpoch = -2;

const noPartitions: OwnedPartitions = new Map();

export function newConsumerMember(memberId: string): ConsumerMember {
  return {
    memberId,
    memberEpoch: 0,
    previousMemberEpoch: -1,
    instanceId: null,
    rackId: null,
    rebalanceTimeoutMs: -1,
    clientId: '',
    clientHost: '',
    subscribedTopicNames: [],
    subscribedTopicRegex: '',
    serverAssignor: null,
    state: 'stable',
    assignedPartitions: noPartitions,
    partitionsPendingRevocation: noPartitions,
    classic: null,
  };
}

export function isReconciledTo(member: ConsumerMember, assignmentEpoch: number): boolean {
  return member.state === 'stable' && member.memberEpoch === assignmentEpoch;
}

/** Everything that the record of the member holds is the same; what it owns has a record of its own. */
export function hasSameMetadata(a: ConsumerMember, b: ConsumerMember): boolean {
  return (
    a.instanceId === b.instanceId &&
    a.rackId === b.rackId &&
    a.rebalanceTimeoutMs === b.rebalanceTimeoutMs &&
    a.clientId === b.clientId &&
    a.clientHost === b.clientHost &&
    a.serverAssignor === b.serverAssignor &&
    a.subscribedTopicRegex === b.subscribedTopicRegex &&
    hasSameTopicNames(a, b) &&
    hasSameClassicSide(a.classic, b.classic)
  );
}

export function hasSameTopicNames(a: ConsumerMember, b: ConsumerMember): boolean {
  return sameList(a.subscribedTopicNames, b.subscribedTopicNames);
}

export function hasSamePartitions(a: OwnedPartitions, b: OwnedPartitions): boolean {
  if (a.size !== b.size) return false;
  for (const [topicId, partitions] of a) {
    const others = b.get(topicId);
    if (others === undefined || others.size !== partitions.size) return false;
    for (const partition of partitions.keys()) if (!others.has(partition)) return false;
  }
  return true;
}

/** Epochs, state and partitions are the same. */
export function hasSameProgress(a: ConsumerMember, b: ConsumerMember): boolean {
  return (
    a.memberEpoch === b.memberEpoch &&
    a.previousMemberEpoch === b.previousMemberEpoch &&
    a.state === b.state &&
    hasSamePartitions(a.assignedPartitions, b.assignedPartitions) &&
    hasSamePartitions(a.partitionsPendingRevocation, b.partitionsPendingRevocation)
  );
}

/** The names of a subscription as members keep them. */
export function topicNames(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort();
}

function hasSameClassicSide(a: ClassicSide | null, b: ClassicSide | null): boolean {
  if (a === null || b === null) return a === b;
  return (
    a.sessionTimeoutMs === b.sessionTimeoutMs &&
    a.protocols.length === b.protocols.length &&
    a.protocols.every(({ name, metadata }, index) => {
      const other = b.protocols[index];
      return other !== undefined && other.name === name && other.metadata.equals(metadata);
    })
  );
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}
