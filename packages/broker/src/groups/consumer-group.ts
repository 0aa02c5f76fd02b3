// A consumer group (KIP-848): the broker assigns, and each member is led to its part of the assignment by its own heartbeats,
// without a moment in which all stand still.
//
// Three epochs follow each other. The group epoch grows when subscriptions or topics change; the assignment epoch is the group
// epoch for which the target assignment was made; each member's epoch is that of the target assignment to which it has come.
//
//   memberEpoch <= assignmentEpoch <= groupEpoch
//
// All of it changes only by replaying records.

import { type ConsumerMember, isReconciledTo, type OwnedPartitions, type TopicPartitions } from './consumer-member.ts';

/** Names as Kafka writes them in ConsumerGroupDescribe and ListGroups. */
export type ConsumerGroupState = 'Empty' | 'Assigning' | 'Reconciling' | 'Stable';

/** The topics that match a regular expression to which members subscribe. */
export interface ResolvedRegex {
  readonly topics: ReadonlySet<string>;
  readonly version: number;
  readonly timestampMs: number;
}

export class ConsumerGroup {
  readonly type = 'consumer';
  readonly groupId: string;
  groupEpoch = 1;
  /** Stands for all that assignments depend on in the topics that are subscribed; 0 without any. */
  metadataHash = 0;
  /** The first assignment gives nothing to nobody. */
  assignmentEpoch = 1;
  /** When the target assignment was made; 0: the next may be made at once. */
  assignmentTimestampMs = 0;
  /** A record of an older Kafka, which described the topics, is still in the log. */
  hasPartitionMetadataRecord = false;
  /** The cluster's metadata with which the hash was compared last; any other object means: compare again. */
  checkedMetadata: unknown;
  /** Up to which version of the topics the expressions have been looked up; a restart forgets it, and looks them up again. */
  regexTopicsVersion = -1;
  readonly targetAssignment = new Map<string, TopicPartitions>();
  readonly resolvedRegexes = new Map<string, ResolvedRegex>();
  readonly #members = new Map<string, ConsumerMember>();
  readonly #staticMembers = new Map<string, string>();
  /** How many members subscribe to each expression. */
  readonly #regexSubscribers = new Map<string, number>();
  /** Topic id → partition → epoch of the member that has it or has not given it up yet. */
  readonly #owners = new Map<string, Map<number, number>>();
  #classicMemberCount = 0;

  constructor(groupId: string) {
    this.groupId = groupId;
  }

  get members(): ReadonlyMap<string, ConsumerMember> {
    return this.#members;
  }

  get isEmpty(): boolean {
    return this.#members.size === 0;
  }

  get state(): ConsumerGroupState {
    if (this.isEmpty) return 'Empty';
    if (this.groupEpoch > this.assignmentEpoch) return 'Assigning';
    for (const member of this.#members.values()) if (!isReconciledTo(member, this.assignmentEpoch)) return 'Reconciling';
    return 'Stable';
  }

  member(memberId: string): ConsumerMember | undefined {
    return this.#members.get(memberId);
  }

  staticMember(instanceId: string): ConsumerMember | undefined {
    const memberId = this.#staticMembers.get(instanceId);
    return memberId === undefined ? undefined : this.#members.get(memberId);
  }

  get classicMemberCount(): number {
    return this.#classicMemberCount;
  }

  /** The expressions to which members subscribe, whether they have been looked up or not. */
  get subscribedRegexes(): Iterable<string> {
    return this.#regexSubscribers.keys();
  }

  get hasRegexes(): boolean {
    return this.#regexSubscribers.size > 0;
  }

  regexSubscriberCount(regex: string): number {
    return this.#regexSubscribers.get(regex) ?? 0;
  }

  get hasUnresolvedRegex(): boolean {
    for (const regex of this.#regexSubscribers.keys()) if (!this.resolvedRegexes.has(regex)) return true;
    return false;
  }

  /** When the expressions were looked up last: all of them at once. Long ago where none is known. */
  get regexRefreshMs(): number {
    const [resolved] = this.resolvedRegexes.values();
    return resolved?.timestampMs ?? Number.NEGATIVE_INFINITY;
  }

  update(member: ConsumerMember): void {
    const previous = this.#members.get(member.memberId);
    if (previous !== undefined) this.#release(previous);
    this.#members.set(member.memberId, member);
    if (member.classic !== null) this.#classicMemberCount += 1;
    this.#countRegex(member.subscribedTopicRegex, 1);
    if (member.instanceId !== null) this.#staticMembers.set(member.instanceId, member.memberId);
    this.#setOwner(member.assignedPartitions, member.memberEpoch);
    this.#setOwner(member.partitionsPendingRevocation, member.memberEpoch);
  }

  remove(memberId: string): void {
    const member = this.#members.get(memberId);
    if (member === undefined) return;
    this.#release(member);
    this.#members.delete(memberId);
    // A static member that was replaced is removed when its place has been taken.
    if (member.instanceId !== null && this.#staticMembers.get(member.instanceId) === memberId) {
      this.#staticMembers.delete(member.instanceId);
    }
  }

  /** Whether some member has the partition, or has yet to give it up. */
  isOwned(topicId: string, partition: number): boolean {
    return this.#owners.get(topicId)?.has(partition) ?? false;
  }

  /** What the member is to have in the end. A static member that comes back under another id takes over. */
  targetOf(member: ConsumerMember): TopicPartitions | undefined {
    const memberId = member.instanceId === null ? member.memberId : this.#staticMembers.get(member.instanceId);
    return this.targetAssignment.get(memberId ?? member.memberId);
  }

  /** All topics that somebody subscribes to, by name or by an expression. */
  isSubscribedTo(topic: string): boolean {
    for (const member of this.#members.values()) {
      if (member.subscribedTopicNames.includes(topic)) return true;
      if (this.resolvedRegexes.get(member.subscribedTopicRegex)?.topics.has(topic) === true) return true;
    }
    return false;
  }

  /**
   * The one that most members ask for of the assignors that there are. They come with the default first, which also serves where
   * none is asked for.
   */
  preferredAssignor(names: Iterable<string>, members: ReadonlyMap<string, ConsumerMember> = this.#members): string {
    const votes = new Map(Array.from(names, (name) => [name, 0]));
    for (const { serverAssignor } of members.values()) {
      const count = serverAssignor === null ? undefined : votes.get(serverAssignor);
      if (serverAssignor !== null && count !== undefined) votes.set(serverAssignor, count + 1);
    }
    const most = Math.max(...votes.values());
    for (const [name, count] of votes) if (count === most) return name;
    return '';
  }

  /** Whether a member of the classic protocol with these protocols could be in the group. */
  supportsClassicProtocols(protocolType: string, names: readonly string[]): boolean {
    if (protocolType !== 'consumer' || names.length === 0) return false;
    const classicMembers = [...this.#members.values()].flatMap(({ classic }) => (classic === null ? [] : [classic]));
    return names.some((name) => classicMembers.every(({ protocols }) => protocols.some((protocol) => protocol.name === name)));
  }

  #release(member: ConsumerMember): void {
    if (member.classic !== null) this.#classicMemberCount -= 1;
    this.#countRegex(member.subscribedTopicRegex, -1);
    this.#clearOwner(member.assignedPartitions, member.memberEpoch);
    this.#clearOwner(member.partitionsPendingRevocation, member.memberEpoch);
  }

  #countRegex(regex: string, change: 1 | -1): void {
    if (regex === '') return;
    const count = this.regexSubscriberCount(regex) + change;
    if (count === 0) this.#regexSubscribers.delete(regex);
    else this.#regexSubscribers.set(regex, count);
  }

  #setOwner(owned: OwnedPartitions, epoch: number): void {
    for (const [topicId, partitions] of owned) {
      let owners = this.#owners.get(topicId);
      if (owners === undefined) this.#owners.set(topicId, (owners = new Map()));
      for (const partition of partitions.keys()) owners.set(partition, epoch);
    }
  }

  /** Of two members that a compacted log gives the same partition for a moment, the later one keeps it. */
  #clearOwner(owned: OwnedPartitions, epoch: number): void {
    for (const [topicId, partitions] of owned) {
      const owners = this.#owners.get(topicId);
      if (owners === undefined) continue;
      for (const partition of partitions.keys()) if (owners.get(partition) === epoch) owners.delete(partition);
      if (owners.size === 0) this.#owners.delete(topicId);
    }
  }
}

/** The members as they will be: a static member takes the place of its former self. */
export function membersAfter(
  members: ReadonlyMap<string, ConsumerMember>,
  change: ConsumerMember | undefined,
): ReadonlyMap<string, ConsumerMember> {
  if (change === undefined) return members;
  const after = new Map(members);
  if (change.instanceId !== null) {
    for (const member of members.values()) if (member.instanceId === change.instanceId) after.delete(member.memberId);
  }
  return after.set(change.memberId, change);
}
