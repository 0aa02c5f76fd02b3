// What the active controller knows: live brokers, topics, partitions, replicas and the state of each. It is loaded from the
// coordination tree when a controller takes office and belongs to that term alone.

import type { BrokerRegistration } from '@odradek/coordination';

export type PartitionStateName = 'NonExistent' | 'New' | 'Online' | 'Offline';

export type ReplicaStateName =
  | 'NonExistent'
  | 'New'
  | 'Online'
  | 'Offline'
  | 'DeletionStarted'
  | 'DeletionSuccessful'
  | 'DeletionIneligible';

/** What the partition's state node says. */
export interface Leadership {
  /** -1: none. */
  readonly leader: number;
  readonly leaderEpoch: number;
  readonly isr: readonly number[];
  readonly isLeaderRecovering: boolean;
  /** Epoch of the controller that wrote it. */
  readonly controllerEpoch: number;
  /** Version of the node. */
  readonly partitionEpoch: number;
}

export interface PartitionContext {
  readonly topic: TopicContext;
  readonly index: number;
  assignedReplicas: readonly number[];
  /** Both empty unless a reassignment is under way. */
  addingReplicas: readonly number[];
  removingReplicas: readonly number[];
  state: PartitionStateName;
  /** undefined: no state node yet. */
  leadership: Leadership | undefined;
  /** A replica that is absent is NonExistent. */
  readonly replicaStates: Map<number, ReplicaStateName>;
}

export interface TopicContext {
  readonly name: string;
  readonly id: string;
  readonly partitions: Map<number, PartitionContext>;
}

export interface Replica {
  readonly partition: PartitionContext;
  readonly brokerId: number;
}

export interface LiveBroker {
  readonly registration: BrokerRegistration;
  /** Transaction that created the broker's node. */
  readonly epoch: number;
}

export class ControllerContext {
  readonly controllerEpoch: number;
  /** Version of /controller_epoch since this term began; every write checks it. */
  readonly epochNodeVersion: number;
  readonly brokers = new Map<number, LiveBroker>();
  readonly shuttingDownBrokers = new Set<number>();
  readonly topics = new Map<string, TopicContext>();
  readonly topicNamesById = new Map<string, string>();
  /** Topics marked for deletion and not gone yet. */
  readonly topicsToDelete = new Set<string>();
  /** Of these, those whose partitions have been told to stop. */
  readonly topicsInDeletion = new Set<string>();
  /** Of these, those that wait for a broker. */
  readonly topicsIneligibleForDeletion = new Set<string>();
  /** Replicas whose log directory failed, by broker. */
  readonly #offlineDirectoryReplicas = new Map<number, Set<PartitionContext>>();

  constructor(controllerEpoch: number, epochNodeVersion: number) {
    this.controllerEpoch = controllerEpoch;
    this.epochNodeVersion = epochNodeVersion;
  }

  addTopic(name: string, id: string): TopicContext {
    const topic: TopicContext = { name, id, partitions: new Map() };
    this.topics.set(name, topic);
    this.topicNamesById.set(id, name);
    return topic;
  }

  addPartition(topic: TopicContext, index: number, assignedReplicas: readonly number[]): PartitionContext {
    const partition: PartitionContext = {
      topic,
      index,
      assignedReplicas,
      addingReplicas: [],
      removingReplicas: [],
      state: 'NonExistent',
      leadership: undefined,
      replicaStates: new Map(),
    };
    topic.partitions.set(index, partition);
    return partition;
  }

  removeTopic(name: string): void {
    const topic = this.topics.get(name);
    if (topic === undefined) return;
    this.topics.delete(name);
    if (this.topicNamesById.get(topic.id) === name) this.topicNamesById.delete(topic.id);
    for (const partitions of this.#offlineDirectoryReplicas.values()) {
      for (const partition of topic.partitions.values()) partitions.delete(partition);
    }
  }

  partition(topic: string, index: number): PartitionContext | undefined {
    return this.topics.get(topic)?.partitions.get(index);
  }

  *partitions(): Iterable<PartitionContext> {
    for (const topic of this.topics.values()) yield* topic.partitions.values();
  }

  *replicas(): Iterable<Replica> {
    for (const partition of this.partitions()) yield* replicasOf(partition);
  }

  *replicasOn(brokerId: number): Iterable<Replica> {
    for (const partition of this.partitions()) {
      if (partition.assignedReplicas.includes(brokerId)) yield { partition, brokerId };
    }
  }

  /** Ids, brokers that are shutting down included. */
  liveBrokerIds(): number[] {
    return [...this.brokers.keys()];
  }

  isReplicaOnline(
    partition: PartitionContext,
    brokerId: number,
    options: { readonly includeShuttingDown?: boolean } = {},
  ): boolean {
    if (!this.brokers.has(brokerId)) return false;
    if (options.includeShuttingDown !== true && this.shuttingDownBrokers.has(brokerId)) return false;
    return this.#offlineDirectoryReplicas.get(brokerId)?.has(partition) !== true;
  }

  /** Assigned replicas that cannot serve, or are about to stop; clients are told of them. */
  offlineReplicas(partition: PartitionContext): number[] {
    return partition.assignedReplicas.filter((brokerId) => !this.isReplicaOnline(partition, brokerId));
  }

  markDirectoryOffline({ partition, brokerId }: Replica): void {
    const partitions = this.#offlineDirectoryReplicas.get(brokerId);
    if (partitions === undefined) this.#offlineDirectoryReplicas.set(brokerId, new Set([partition]));
    else partitions.add(partition);
  }

  markDirectoryOnline({ partition, brokerId }: Replica): void {
    this.#offlineDirectoryReplicas.get(brokerId)?.delete(partition);
  }

  /** A broker that starts again has its directories again. */
  forgetOfflineDirectories(brokerId: number): void {
    this.#offlineDirectoryReplicas.delete(brokerId);
  }

  isMarkedForDeletion(topic: string): boolean {
    return this.topicsToDelete.has(topic);
  }

  /** The partition had a leader whose replica cannot serve any more. */
  hasOfflineLeader(partition: PartitionContext): boolean {
    const { topic, leadership } = partition;
    if (leadership === undefined || this.isMarkedForDeletion(topic.name)) return false;
    return !this.isReplicaOnline(partition, leadership.leader, { includeShuttingDown: true });
  }
}

export function replicasOf(partition: PartitionContext): Replica[] {
  return partition.assignedReplicas.map((brokerId) => ({ partition, brokerId }));
}

export function describePartition({ topic, index }: PartitionContext): string {
  return `${topic.name}-${index}`;
}
