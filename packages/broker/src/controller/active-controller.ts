// One term of office: what the active controller does about each event, from its election to its end. Every method runs in the
// controller's event queue, and when it is done the requests that it gave rise to are on their way.

import { type Coordination, reassignPartitionsNode, topicNode } from '@odradek/coordination';
import { errorCodes, type LeaderAndIsrRequest, type LeaderAndIsrResponse, type StopReplicaResponse } from '@odradek/protocol';
import type { Logger, Timer, TimerTask } from '@odradek/runtime';
import { BrokerChanges } from './broker-changes.ts';
import type { BrokerChannel } from './broker-channel.ts';
import { BrokerRequests } from './broker-requests.ts';
import { ControllerContext, type PartitionContext, type Replica, replicasOf } from './controller-context.ts';
import {
  type LoadingWatches,
  loadLeaderships,
  loadTopics,
  readBrokers,
  readDeletions,
  readTopicNames,
} from './controller-loading.ts';
import { ControllerTree } from './controller-tree.ts';
import type { EventQueue } from './event-queue.ts';
import { InSyncChanges, type IsrOutcome, type PlacedAlteration } from './in-sync-changes.ts';
import { imbalancedPartitions } from './leader-balance.ts';
import { electPreferred } from './leader-election.ts';
import { type ElectionKind, type FailedTransition, PartitionStates } from './partition-states.ts';
import { isBeingReassigned } from './reassignment-plan.ts';
import { Reassignments } from './reassignments.ts';
import { ReplicaStates } from './replica-states.ts';
import { TopicDeletion } from './topic-deletion.ts';
import { creationWatcher, TreeNotifications } from './tree-notifications.ts';

/** auto.leader.rebalance.enable and the settings that go with it. */
export interface LeaderBalance {
  readonly isEnabled: boolean;
  readonly checkIntervalMs: number;
  readonly maxImbalancePercent: number;
}

/** How soon after its election a controller looks for the first time whether leaders are where they should be; Kafka's. */
const firstBalanceCheckMs = 5000;

export interface ActiveControllerParts {
  readonly brokerId: number;
  readonly interBrokerListenerName: string;
  readonly coordination: Coordination;
  readonly channel: BrokerChannel;
  readonly timer: Timer;
  readonly logger: Logger;
  readonly isUncleanElectionEnabled: (topic: string) => boolean;
  readonly isTopicDeletionEnabled: () => boolean;
  /** Makes known the configs of topics that this broker has not seen. */
  readonly loadTopicConfigs: (topics: Iterable<string>) => Promise<void>;
  /** For a topic whose node has none: the id that it is known by already, or a new one. */
  readonly topicIdFor: (topic: string, partitions: Iterable<number>) => string;
  readonly leaderBalance: () => LeaderBalance;
  readonly queue: EventQueue;
  readonly epoch: number;
  readonly epochNodeVersion: number;
}

export class ActiveController {
  readonly context: ControllerContext;
  readonly #parts: ActiveControllerParts;
  readonly #tree: ControllerTree;
  readonly #requests: BrokerRequests;
  readonly #partitionStates: PartitionStates;
  readonly #replicaStates: ReplicaStates;
  readonly #deletion: TopicDeletion;
  readonly #brokers: BrokerChanges;
  readonly #reassignments: Reassignments;
  readonly #notifications: TreeNotifications;
  readonly #inSyncChanges: InSyncChanges;
  readonly #watches: LoadingWatches;
  #balanceTask: TimerTask | undefined;
  #isLoaded = false;
  #isOver = false;

  constructor(parts: ActiveControllerParts) {
    this.#parts = parts;
    const { brokerId, channel, timer, logger, isUncleanElectionEnabled } = parts;
    this.context = new ControllerContext(parts.epoch, parts.epochNodeVersion);
    const { context } = this;
    this.#tree = new ControllerTree(parts.coordination, parts.epochNodeVersion);
    this.#requests = new BrokerRequests({
      controllerId: brokerId,
      interBrokerListenerName: parts.interBrokerListenerName,
      context,
      channel,
      timer,
      logger,
      onLeaderAndIsr: (broker, request, response) =>
        this.#post('LeaderAndIsr answered', () => this.#leaderAndIsrAnswered(broker, request, response)),
      onStopReplica: (broker, _, response) => this.#post('StopReplica answered', () => this.#stopReplicaAnswered(broker, response)),
    });
    this.#watches = {
      brokers: () => this.#postOnce('brokers changed', () => this.#brokers.take()),
      broker: () => this.#postOnce('brokers changed', () => this.#brokers.take()),
      topics: () => this.#postOnce('topics changed', () => this.#topicsChanged()),
      topic: ({ path, type }) => {
        if (type === 'dataChanged')
          this.#postOnce(`topic changed: ${path}`, () => this.#topicChanged(path.slice(path.lastIndexOf('/') + 1)));
      },
      deletions: () => this.#postOnce('deletions changed', () => this.#deletionsChanged()),
    };
    const { coordination } = parts;
    const postOnce = (name: string, action: () => Promise<void>): void => this.#postOnce(name, action);
    const shared = { context, tree: this.#tree, requests: this.#requests, logger };
    this.#partitionStates = new PartitionStates({ ...shared, isUncleanElectionEnabled });
    this.#replicaStates = new ReplicaStates(shared);
    const states = { ...shared, partitionStates: this.#partitionStates, replicaStates: this.#replicaStates };
    this.#deletion = new TopicDeletion(states);
    const watcher = creationWatcher(reassignPartitionsNode.path, { coordination, postOnce }, () =>
      this.#reassignments.takeRequestNode(),
    );
    this.#reassignments = new Reassignments({ ...states, watcher });
    const all = { ...states, coordination, deletion: this.#deletion, reassignments: this.#reassignments };
    this.#brokers = new BrokerChanges({ ...all, watches: this.#watches });
    this.#notifications = new TreeNotifications({ ...all, postOnce });
    this.#inSyncChanges = new InSyncChanges({
      ...shared,
      // When the leader has its answer.
      onChange: (partitions) => this.#post('replicas have caught up', () => this.#reassignments.completeWherePossible(partitions)),
    });
  }

  /** Whether the whole tree is known. Before that nothing can be decided. */
  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  /** Loads the tree and brings every partition and broker to where it should be. */
  async start(): Promise<void> {
    const { context } = this;
    const { coordination } = this.#parts;
    await this.#notifications.watch();
    // All watches are set before the first reading is acted upon, so nothing is missed in between.
    const [brokers, topicNames, deletions] = await Promise.all([
      readBrokers(coordination, this.#watches),
      readTopicNames(coordination, this.#watches),
      readDeletions(coordination, this.#watches),
    ]);
    await loadTopics({ ...this.#parts, context, tree: this.#tree }, topicNames, this.#watches);
    const restarted = await loadLeaderships(this.#tree, [...context.partitions()], brokers);
    // Those that have restarted unnoticed count as gone, until everything else is in order.
    for (const broker of brokers) {
      if (!restarted.has(broker.registration.id)) context.brokers.set(broker.registration.id, broker);
    }
    await this.#parts.loadTopicConfigs(topicNames);
    this.#requests.addMetadata(context.liveBrokerIds(), []);
    this.#requests.send();

    this.#partitionStates.initialize();
    const { online, offline } = this.#replicaStates.initialize();
    this.#deletion.mark(deletions, { areOfflineReplicasKnown: true });
    await this.#replicaStates.change(
      online.filter(({ partition }) => !context.isMarkedForDeletion(partition.topic.name)),
      'Online',
    );
    await this.#replicaStates.change(
      offline.filter(({ partition }) => !context.isMarkedForDeletion(partition.topic.name)),
      'Offline',
    );
    this.#requests.addMetadata(context.liveBrokerIds(), context.partitions());
    this.#requests.send();
    await this.#partitionStates.electWherePossible();
    await this.#reassignments.resume();
    await this.#removeUnknownDeletions(deletions);
    await this.#deletion.resume();
    await this.#notifications.watchRequests();
    this.#requests.send();
    if (restarted.size > 0) await this.#brokers.take();
    this.#isLoaded = true;
    if (this.#parts.leaderBalance().isEnabled && !this.#isOver) this.#scheduleBalanceCheck(firstBalanceCheckMs);
  }

  /** No more is done or sent. */
  end(): void {
    this.#isOver = true;
    this.#balanceTask?.cancel();
    this.#requests.close();
  }

  /** Settles when the broker has answered all that it was sent so far. */
  answered(brokerId: number): Promise<void> {
    return this.#requests.answered(brokerId);
  }

  /** What an event has gathered and could not send does not go out with the next one. */
  discardRequests(): void {
    this.#requests.discard();
  }

  /** ElectLeaders, and the node that old tools write. Answers the partitions for which it failed. */
  async elect(partitions: readonly PartitionContext[], election: ElectionKind): Promise<FailedTransition[]> {
    const failed = await this.#partitionStates.change(partitions, 'Online', election);
    this.#requests.send();
    return failed;
  }

  /** Settles when all brokers have answered what they were sent so far, or after this long. */
  async everyoneAnswered(limitMs: number): Promise<void> {
    const limit = Promise.withResolvers<void>();
    const task = this.#parts.timer.schedule(limitMs, limit.resolve);
    const answered = Promise.all(this.context.liveBrokerIds().map((id) => this.answered(id)));
    await Promise.race([answered, limit.promise]);
    task.cancel();
  }

  /** ControlledShutdown. Answers the partitions that the broker still leads. */
  shutDown(brokerId: number): Promise<PartitionContext[]> {
    return this.#brokers.shutDown(brokerId);
  }

  /** unclean.leader.election.enable has become true, of one topic or of all. */
  async electUncleanly(topic?: string): Promise<void> {
    await this.#partitionStates.electWherePossible(topic);
    this.#requests.send();
  }

  /** AlterPartition, in the order of the alterations. */
  alterPartitions(alterations: readonly PlacedAlteration[], ineligibleCode: number): Promise<IsrOutcome[]> {
    return this.#inSyncChanges.alter(alterations, ineligibleCode);
  }

  // ---- Moves and balance ----

  /** Moves the partition, or, without a target, stops its move. */
  async move(partition: PartitionContext, target: readonly number[] | undefined): Promise<void> {
    await this.#reassignments.forgetRequestsFor([partition]);
    await this.#reassignments.move(partition, target);
  }

  #scheduleBalanceCheck(delayMs: number): void {
    const { timer, leaderBalance } = this.#parts;
    this.#balanceTask = timer.schedule(delayMs, () => {
      this.#postOnce('balance of leaders', () => this.#balanceLeaders());
      this.#scheduleBalanceCheck(leaderBalance().checkIntervalMs);
    });
  }

  /** Leadership goes back to the preferred replicas of brokers that lead too little of what they should. */
  async #balanceLeaders(): Promise<void> {
    const { context } = this;
    const { maxImbalancePercent } = this.#parts.leaderBalance();
    if ([...context.partitions()].some(isBeingReassigned)) return;
    const balanced = [...context.partitions()].flatMap((partition) => {
      const { assignedReplicas, leadership, topic } = partition;
      const isCounted = leadership !== undefined && !context.isMarkedForDeletion(topic.name);
      return isCounted ? [{ assignedReplicas, leader: leadership.leader, partition, leadership }] : [];
    });
    const movable = imbalancedPartitions(balanced, maxImbalancePercent).filter(({ partition, assignedReplicas, leadership }) => {
      const isOnline = (brokerId: number) => context.isReplicaOnline(partition, brokerId);
      return electPreferred({ assignedReplicas, isr: leadership.isr, isOnline }) !== undefined;
    });
    if (movable.length === 0) return;
    this.#parts.logger.info('Leadership goes back to preferred replicas', { partitions: movable.length });
    await this.elect(
      movable.map(({ partition }) => partition),
      { type: 'preferred' },
    );
  }

  // ---- Topics ----

  async #topicsChanged(): Promise<void> {
    const { context } = this;
    const names = await readTopicNames(this.#parts.coordination, this.#watches);
    const present = new Set(names);
    for (const name of [...context.topics.keys()]) {
      // Nodes that somebody removed by hand; a topic that is deleted properly has left the context already.
      if (!present.has(name)) context.removeTopic(name);
    }
    const created = names.filter((name) => !context.topics.has(name));
    await this.#parts.loadTopicConfigs(created);
    const topics = await loadTopics({ ...this.#parts, context, tree: this.#tree }, created, this.#watches);
    if (topics.length > 0) await this.#partitionsAppeared(topics.flatMap((topic) => [...topic.partitions.values()]));
  }

  async #partitionsAppeared(partitions: readonly PartitionContext[]): Promise<void> {
    await this.#partitionStates.change(partitions, 'New');
    const replicas = partitions.flatMap(replicasOf);
    await this.#replicaStates.change(replicas, 'New');
    await this.#partitionStates.change(partitions, 'Online');
    await this.#replicaStates.change(
      replicas.filter(({ partition, brokerId }) => this.context.isReplicaOnline(partition, brokerId)),
      'Online',
    );
    await this.#replicaStates.change(
      replicas.filter(({ partition, brokerId }) => !this.context.isReplicaOnline(partition, brokerId)),
      'Offline',
    );
    this.#requests.send();
  }

  /** The topic has more partitions, or somebody wrote that it has. */
  async #topicChanged(name: string): Promise<void> {
    const { coordination, logger } = this.#parts;
    const topic = this.context.topics.get(name);
    const stat = await coordination.exists(topicNode.path(name));
    if (topic === undefined || stat === undefined) return;
    const { data } = await coordination.get(topicNode.path(name), this.#watches.topic);
    const assignment = topicNode.decode(name, data);
    // Whoever wrote that knows nothing of ids. Under another one the brokers would take the topic for another.
    if (assignment.topicId === undefined) await this.#tree.giveTopicId(name, topic.id);
    const added = [...assignment.replicas].filter(([index]) => !topic.partitions.has(index));
    if (added.length === 0) return;
    if (this.context.isMarkedForDeletion(name)) {
      logger.warn('A topic that is being deleted was given partitions; they are left out', { topic: name });
      return;
    }
    await this.#partitionsAppeared(added.map(([index, replicas]) => this.context.addPartition(topic, index, replicas)));
  }

  async #deletionsChanged(): Promise<void> {
    const { isTopicDeletionEnabled } = this.#parts;
    const names = await readDeletions(this.#parts.coordination, this.#watches);
    const wanted = names.filter((name) => !this.context.topicsToDelete.has(name));
    if (isTopicDeletionEnabled()) await this.#reassignments.forgetRequestsFor(this.#deletion.mark(wanted));
    await this.#removeUnknownDeletions(wanted);
    await this.#deletion.resume();
    this.#requests.send();
  }

  /** Wishes to delete what is not there, or what may not be deleted. */
  async #removeUnknownDeletions(names: readonly string[]): Promise<void> {
    await this.#tree.remove(
      names.filter((name) => !this.context.topicsToDelete.has(name)).map((name) => `/admin/delete_topics/${name}`),
    );
  }

  // ---- Answers of brokers ----

  async #leaderAndIsrAnswered(brokerId: number, request: LeaderAndIsrRequest, response: LeaderAndIsrResponse): Promise<void> {
    const { context } = this;
    if (response.errorCode !== errorCodes.NONE) {
      this.#parts.logger.warn('A broker refused LeaderAndIsr', { broker: brokerId, errorCode: response.errorCode });
      return;
    }
    const topicsById = new Map(request.topicStates.map(({ topicId, topicName }) => [topicId, topicName]));
    const wentOffline: Replica[] = [];
    const back: Replica[] = [];
    for (const { topicId, partitionErrors } of response.topics) {
      for (const { partitionIndex, errorCode } of partitionErrors) {
        const partition = context.partition(topicsById.get(topicId) ?? '', partitionIndex);
        if (partition === undefined) continue;
        const replica = { partition, brokerId };
        if (errorCode === errorCodes.KAFKA_STORAGE_ERROR) {
          if (context.isReplicaOnline(partition, brokerId, { includeShuttingDown: true })) wentOffline.push(replica);
          context.markDirectoryOffline(replica);
        } else if (errorCode === errorCodes.NONE) {
          if (!context.isReplicaOnline(partition, brokerId, { includeShuttingDown: true })) back.push(replica);
          context.markDirectoryOnline(replica);
        }
      }
    }
    if (wentOffline.length > 0) await this.#brokers.replicasWentOffline(wentOffline);
    if (back.length === 0) return;
    // A disk that was full has room again: partitions may have leaders that had none, and deletions may go on that waited for it.
    await this.#partitionStates.electWherePossible();
    this.#deletion.makeEligible(back.map(({ partition }) => partition.topic.name));
    await this.#deletion.resume();
    this.#requests.send();
  }

  async #stopReplicaAnswered(brokerId: number, response: StopReplicaResponse): Promise<void> {
    const { context } = this;
    const deleted: Replica[] = [];
    const failed: Replica[] = [];
    for (const { topicName, partitionIndex, errorCode } of response.partitionErrors) {
      const partition = context.partition(topicName, partitionIndex);
      if (partition === undefined || partition.replicaStates.get(brokerId) !== 'DeletionStarted') continue;
      (response.errorCode === errorCodes.NONE && errorCode === errorCodes.NONE ? deleted : failed).push({ partition, brokerId });
    }
    if (deleted.length + failed.length === 0) return;
    await this.#deletion.fail(failed);
    await this.#deletion.succeed(deleted);
    await this.#deletion.resume();
    this.#requests.send();
  }

  #post(name: string, action: () => Promise<void>): void {
    if (!this.#isOver) this.#parts.queue.post(name, () => this.#unlessOver(action));
  }

  #postOnce(name: string, action: () => Promise<void>): void {
    if (!this.#isOver) this.#parts.queue.postOnce(name, () => this.#unlessOver(action), this);
  }

  async #unlessOver(action: () => Promise<void>): Promise<void> {
    // What comes up before everything is known is known when it is.
    if (this.#isOver || !this.#isLoaded) return;
    try {
      await action();
    } finally {
      this.discardRequests();
    }
  }
}
