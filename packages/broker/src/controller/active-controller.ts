// One term of office: what the active controller does about each event, from its election to its end. Every method runs in the
// controller's event queue, and when it is done the requests that it gave rise to are on their way.

import {
  type Coordination,
  isrChangeNode,
  logDirEventNode,
  preferredReplicaElectionNode,
  topicNode,
  type Watcher,
} from '@odradek/coordination';
import { errorCodes, type LeaderAndIsrRequest, type LeaderAndIsrResponse, type StopReplicaResponse } from '@odradek/protocol';
import type { Logger, Timer } from '@odradek/runtime';
import type { BrokerChannel } from './broker-channel.ts';
import { BrokerRequests } from './broker-requests.ts';
import { ControllerContext, type LiveBroker, type PartitionContext, type Replica, replicasOf } from './controller-context.ts';
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
import { type ElectionKind, type FailedTransition, PartitionStates } from './partition-states.ts';
import { ReplicaStates } from './replica-states.ts';
import { TopicDeletion } from './topic-deletion.ts';

export interface ActiveControllerParts {
  readonly brokerId: number;
  readonly coordination: Coordination;
  readonly channel: BrokerChannel;
  readonly timer: Timer;
  readonly logger: Logger;
  readonly isUncleanElectionEnabled: (topic: string) => boolean;
  readonly isTopicDeletionEnabled: () => boolean;
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
  readonly #watches: LoadingWatches;
  #isOver = false;

  constructor(parts: ActiveControllerParts) {
    this.#parts = parts;
    const { brokerId, channel, timer, logger, isUncleanElectionEnabled } = parts;
    this.context = new ControllerContext(parts.epoch, parts.epochNodeVersion);
    const { context } = this;
    this.#tree = new ControllerTree(parts.coordination, parts.epochNodeVersion);
    this.#requests = new BrokerRequests({
      controllerId: brokerId,
      context,
      channel,
      timer,
      logger,
      onLeaderAndIsr: (broker, request, response) =>
        this.#post('LeaderAndIsr answered', () => this.#leaderAndIsrAnswered(broker, request, response)),
      onStopReplica: (broker, _, response) => this.#post('StopReplica answered', () => this.#stopReplicaAnswered(broker, response)),
    });
    const shared = { context, tree: this.#tree, requests: this.#requests, logger };
    this.#partitionStates = new PartitionStates({ ...shared, isUncleanElectionEnabled });
    this.#replicaStates = new ReplicaStates(shared);
    this.#deletion = new TopicDeletion({ ...shared, partitionStates: this.#partitionStates, replicaStates: this.#replicaStates });
    this.#watches = {
      brokers: () => this.#postOnce('brokers changed', () => this.#brokersChanged()),
      broker: () => this.#postOnce('brokers changed', () => this.#brokersChanged()),
      topics: () => this.#postOnce('topics changed', () => this.#topicsChanged()),
      topic: ({ path, type }) => {
        if (type === 'dataChanged')
          this.#postOnce(`topic changed: ${path}`, () => this.#topicChanged(path.slice(path.lastIndexOf('/') + 1)));
      },
      deletions: () => this.#postOnce('deletions changed', () => this.#deletionsChanged()),
    };
  }

  /** Loads the tree and brings every partition and broker to where it should be. */
  async start(): Promise<void> {
    const { context } = this;
    const { coordination } = this.#parts;
    // All watches are set before the first reading is acted upon, so nothing is missed in between.
    const [brokers, topicNames, deletions] = await Promise.all([
      readBrokers(coordination, this.#watches),
      readTopicNames(coordination, this.#watches),
      readDeletions(coordination, this.#watches),
    ]);
    for (const broker of brokers) context.brokers.set(broker.registration.id, broker);
    await loadTopics({ ...this.#parts, context }, topicNames, this.#watches);
    await loadLeaderships(this.#tree, [...context.partitions()]);
    await this.#watchNotifications();
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
    await this.#removeUnknownDeletions(deletions);
    await this.#deletion.resume();
    this.#requests.send();
  }

  /** No more is done or sent. */
  end(): void {
    this.#isOver = true;
    this.#requests.close();
  }

  /** Settles when the broker has answered all that it was sent so far. */
  answered(brokerId: number): Promise<void> {
    return this.#requests.answered(brokerId);
  }

  /** ElectLeaders, and the node that old tools write. Answers the partitions for which it failed. */
  async elect(partitions: readonly PartitionContext[], election: ElectionKind): Promise<FailedTransition[]> {
    const failed = await this.#partitionStates.change(partitions, 'Online', election);
    this.#requests.send();
    return failed;
  }

  /**
   * ControlledShutdown: leadership moves off the broker and its followers stop. Answers the partitions that it still leads, because
   * nobody else is in sync.
   */
  async shutDown(brokerId: number): Promise<PartitionContext[]> {
    const { context } = this;
    context.shuttingDownBrokers.add(brokerId);
    const replicas = [...context.replicasOn(brokerId)].filter(({ partition }) => {
      return (
        partition.leadership !== undefined &&
        partition.assignedReplicas.length > 1 &&
        !context.isMarkedForDeletion(partition.topic.name)
      );
    });
    const [led, followed] = [replicas.filter(leads), replicas.filter((replica) => !leads(replica))];
    await this.#partitionStates.change(
      led.map(({ partition }) => partition),
      'Online',
      { type: 'shutdown' },
    );
    await this.#replicaStates.change(followed, 'Offline');
    this.#requests.send();
    return replicas.filter(leads).map(({ partition }) => partition);
  }

  // ---- Brokers ----

  async #brokersChanged(): Promise<void> {
    const { context } = this;
    const current = await readBrokers(this.#parts.coordination, this.#watches);
    const currentById = new Map(current.map((broker) => [broker.registration.id, broker]));
    const known = [...context.brokers.values()];
    // A broker that was away between two readings comes back with another epoch: it has failed and started.
    const restarted = current.filter(({ registration, epoch }) => {
      const before = context.brokers.get(registration.id);
      return before !== undefined && before.epoch !== epoch;
    });
    const dead = known.filter(({ registration }) => !currentById.has(registration.id));
    const started = current.filter(({ registration }) => !context.brokers.has(registration.id));
    for (const broker of [...dead, ...restarted]) await this.#brokerFailed(broker);
    if ([...started, ...restarted].length > 0) await this.#brokersStarted([...started, ...restarted]);
    await this.#registrationsChanged(current);
  }

  async #brokerFailed({ registration }: LiveBroker): Promise<void> {
    const { context } = this;
    this.#parts.logger.info('A broker is gone', { broker: registration.id });
    context.brokers.delete(registration.id);
    context.shuttingDownBrokers.delete(registration.id);
    context.forgetOfflineDirectories(registration.id);
    this.#requests.forgetBroker(registration.id);
    await this.#replicasWentOffline([...context.replicasOn(registration.id)]);
  }

  async #replicasWentOffline(replicas: readonly Replica[]): Promise<void> {
    const { context } = this;
    const [ofDeletion, others] = [
      replicas.filter(({ partition }) => context.isMarkedForDeletion(partition.topic.name)),
      replicas.filter(({ partition }) => !context.isMarkedForDeletion(partition.topic.name)),
    ];
    const leaderless = [...context.partitions()].filter((partition) => context.hasOfflineLeader(partition));
    await this.#partitionStates.change(leaderless, 'Offline');
    await this.#partitionStates.electWherePossible();
    await this.#replicaStates.change(others, 'Offline');
    await this.#deletion.fail(ofDeletion);
    this.#requests.addMetadata(context.liveBrokerIds(), []);
    this.#requests.send();
  }

  async #brokersStarted(brokers: readonly LiveBroker[]): Promise<void> {
    const { context } = this;
    const known = context.liveBrokerIds();
    for (const broker of brokers) {
      this.#parts.logger.info('A broker is there', { broker: broker.registration.id, epoch: broker.epoch });
      context.brokers.set(broker.registration.id, broker);
    }
    // Those that were there learn of the new ones; the new ones learn of everything.
    this.#requests.addMetadata(known, []);
    this.#requests.send();
    const ids = brokers.map(({ registration }) => registration.id);
    this.#requests.addMetadata(ids, context.partitions());
    const replicas = ids.flatMap((brokerId) => [...context.replicasOn(brokerId)]);
    const [ofDeletion, others] = [
      replicas.filter(({ partition }) => context.isMarkedForDeletion(partition.topic.name)),
      replicas.filter(({ partition }) => !context.isMarkedForDeletion(partition.topic.name)),
    ];
    await this.#replicaStates.change(others, 'Online');
    await this.#partitionStates.electWherePossible();
    this.#deletion.makeEligible(ofDeletion.map(({ partition }) => partition.topic.name));
    await this.#deletion.resume();
    this.#requests.send();
  }

  /** A broker that lives on may have set other endpoints. */
  async #registrationsChanged(current: readonly LiveBroker[]): Promise<void> {
    const { context } = this;
    const changed = current.filter((broker) => {
      const known = context.brokers.get(broker.registration.id);
      return known !== undefined && JSON.stringify(known.registration.endpoints) !== JSON.stringify(broker.registration.endpoints);
    });
    if (changed.length === 0) return;
    for (const broker of changed) context.brokers.set(broker.registration.id, broker);
    this.#requests.addMetadata(context.liveBrokerIds(), context.partitions());
    this.#requests.send();
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
    const topics = await loadTopics({ ...this.#parts, context }, created, this.#watches);
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
    if (isTopicDeletionEnabled()) this.#deletion.mark(wanted);
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
    for (const { topicId, partitionErrors } of response.topics) {
      for (const { partitionIndex, errorCode } of partitionErrors) {
        const partition = context.partition(topicsById.get(topicId) ?? '', partitionIndex);
        if (partition === undefined) continue;
        const replica = { partition, brokerId };
        if (errorCode === errorCodes.KAFKA_STORAGE_ERROR) {
          if (context.isReplicaOnline(partition, brokerId, { includeShuttingDown: true })) wentOffline.push(replica);
          context.markDirectoryOffline(replica);
        } else if (errorCode === errorCodes.NONE) {
          context.markDirectoryOnline(replica);
        }
      }
    }
    if (wentOffline.length > 0) await this.#replicasWentOffline(wentOffline);
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

  // ---- Notifications in the tree ----

  async #watchNotifications(): Promise<void> {
    await Promise.all([
      this.#takeNotifications(isrChangeNode.folder, async (data) => {
        for (const { topic, partition } of isrChangeNode.decode(data)) {
          const changed = this.context.partition(topic, partition);
          if (changed === undefined) continue;
          await loadLeaderships(this.#tree, [changed]);
          this.#requests.addMetadata(this.context.liveBrokerIds(), [changed]);
        }
      }),
      this.#takeNotifications(logDirEventNode.folder, async (data) => {
        // Asking it to lead or follow everything again, the broker says which replicas it cannot.
        await this.#replicaStates.change([...this.context.replicasOn(logDirEventNode.decode(data))], 'Online');
      }),
      this.#takeElectionRequest(),
    ]);
  }

  /** Reads and removes what is in the folder, and does so again when something comes. */
  async #takeNotifications(folder: string, take: (data: Buffer | null) => Promise<void>): Promise<void> {
    const { coordination, logger } = this.#parts;
    const { names } = await coordination.children(folder, () =>
      this.#postOnce(folder, () => this.#takeNotifications(folder, take)),
    );
    const nodes = await Promise.all(names.sort().map((name) => coordination.get(`${folder}/${name}`)));
    for (const { data } of nodes) {
      try {
        await take(data);
      } catch (error) {
        logger.error('A notification cannot be read', { folder, error });
      }
    }
    await this.#tree.remove(names.map((name) => `${folder}/${name}`));
    this.#requests.send();
  }

  async #takeElectionRequest(): Promise<void> {
    const { path } = preferredReplicaElectionNode;
    const watcher: Watcher = ({ type }) => {
      if (type !== 'deleted') this.#postOnce(path, () => this.#takeElectionRequest());
      else this.#postOnce(path, async () => void (await this.#parts.coordination.exists(path, watcher)));
    };
    const stat = await this.#parts.coordination.exists(path, watcher);
    if (stat === undefined) return;
    const { data } = await this.#parts.coordination.get(path);
    const partitions = preferredReplicaElectionNode
      .decode(data)
      .flatMap(({ topic, partition }) => this.context.partition(topic, partition) ?? [])
      .filter(({ assignedReplicas, leadership }) => leadership?.leader !== assignedReplicas[0]);
    await this.elect(partitions, { type: 'preferred' });
    await this.#tree.remove([path]);
  }

  #post(name: string, action: () => Promise<void>): void {
    if (!this.#isOver) this.#parts.queue.post(name, () => this.#unlessOver(action));
  }

  #postOnce(name: string, action: () => Promise<void>): void {
    if (!this.#isOver) this.#parts.queue.postOnce(name, () => this.#unlessOver(action));
  }

  async #unlessOver(action: () => Promise<void>): Promise<void> {
    if (this.#isOver) return;
    try {
      await action();
    } finally {
      // Nothing half-gathered goes out with the next event.
      this.#requests.discard();
    }
  }
}

function leads({ partition, brokerId }: Replica): boolean {
  return partition.leadership?.leader === brokerId;
}
