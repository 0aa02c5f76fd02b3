// What the controller tells brokers: LeaderAndIsr, UpdateMetadata and StopReplica. A change of state adds to the batch, and
// when the event is done the batch goes out as at most one request of each kind per broker, in that order. Each broker has a
// queue of its own, so that a slow one holds up nobody; a request is repeated until it is answered or the broker is gone.

import type { BrokerRegistration } from '@odradek/coordination';
import {
  LeaderAndIsrRequest,
  LeaderAndIsrResponse,
  type Message,
  type MessageDefinition,
  StopReplicaRequest,
  StopReplicaResponse,
  UpdateMetadataRequest,
  UpdateMetadataResponse,
} from '@odradek/protocol';
import type { Logger, Timer } from '@odradek/runtime';
import { securityProtocols } from '../metadata/metadata-cache.ts';
import type { BrokerChannel } from './broker-channel.ts';
import type { ControllerContext, LiveBroker, PartitionContext } from './controller-context.ts';

/** Leader, and leader epoch in StopReplica, of a partition that is being deleted. */
const duringDelete = -2;
const retryDelayMs = 100;

export type LeaderAndIsrListener = (brokerId: number, request: LeaderAndIsrRequest, response: LeaderAndIsrResponse) => void;
export type StopReplicaListener = (brokerId: number, request: StopReplicaRequest, response: StopReplicaResponse) => void;

/** What was decided when the replica was to stop: its partition may be led under another epoch when that is sent. */
interface ReplicaStop {
  readonly shouldDelete: boolean;
  readonly leaderEpoch: number;
}

export interface BrokerRequestsParts {
  readonly controllerId: number;
  readonly interBrokerListenerName: string;
  readonly context: ControllerContext;
  readonly channel: BrokerChannel;
  readonly timer: Timer;
  readonly logger: Logger;
  readonly onLeaderAndIsr: LeaderAndIsrListener;
  readonly onStopReplica: StopReplicaListener;
}

export class BrokerRequests {
  readonly #parts: BrokerRequestsParts;
  readonly #queues = new Map<number, BrokerQueue>();
  /** Whether the replica is new to its broker. */
  #leaderAndIsr = new Map<number, Map<PartitionContext, boolean>>();
  #stopReplica = new Map<number, Map<PartitionContext, ReplicaStop>>();
  #metadataPartitions = new Set<PartitionContext>();
  #metadataBrokers = new Set<number>();
  #isClosed = false;

  constructor(parts: BrokerRequestsParts) {
    this.#parts = parts;
  }

  /** The brokers get the partition's leadership, and every live broker learns of it. */
  addLeaderAndIsr(brokerIds: readonly number[], partition: PartitionContext, isNew: boolean): void {
    for (const brokerId of brokerIds) {
      const partitions = entryOf(this.#leaderAndIsr, brokerId);
      partitions.set(partition, isNew || partitions.get(partition) === true);
    }
    this.addMetadata(this.#parts.context.liveBrokerIds(), [partition]);
  }

  addStopReplica(brokerId: number, partition: PartitionContext, shouldDelete: boolean): void {
    const partitions = entryOf(this.#stopReplica, brokerId);
    partitions.set(partition, {
      shouldDelete: shouldDelete || partitions.get(partition)?.shouldDelete === true,
      leaderEpoch: partition.leadership?.leaderEpoch ?? -1,
    });
  }

  /** Without partitions the brokers still learn which brokers are alive. */
  addMetadata(brokerIds: Iterable<number>, partitions: Iterable<PartitionContext>): void {
    for (const brokerId of brokerIds) this.#metadataBrokers.add(brokerId);
    for (const partition of partitions) this.#metadataPartitions.add(partition);
  }

  /** Queues what has gathered, for brokers that are alive. Of a term that is over nobody is told any more. */
  send(): void {
    const { context } = this.#parts;
    if (this.#isClosed) this.discard();
    const gathered = {
      leaderAndIsr: this.#leaderAndIsr,
      stopReplica: this.#stopReplica,
      metadataPartitions: this.#metadataPartitions,
      metadataBrokers: this.#metadataBrokers,
    };
    this.discard();
    for (const [brokerId, partitions] of gathered.leaderAndIsr) {
      const broker = context.brokers.get(brokerId);
      if (broker !== undefined) this.#sendLeaderAndIsr(broker, partitions);
    }
    if (gathered.metadataBrokers.size > 0) {
      const topicStates = this.#metadataOf(gathered.metadataPartitions);
      const liveBrokers = [...context.brokers.values()].map(metadataOfBroker);
      for (const brokerId of gathered.metadataBrokers) {
        const broker = context.brokers.get(brokerId);
        if (broker === undefined) continue;
        void this.#queue(broker).send(UpdateMetadataRequest, UpdateMetadataResponse, {
          ...this.#header(broker),
          type: 0,
          ungroupedPartitionStates: [],
          topicStates,
          liveBrokers,
        });
      }
    }
    for (const [brokerId, partitions] of gathered.stopReplica) {
      const broker = context.brokers.get(brokerId);
      if (broker !== undefined) this.#sendStopReplica(broker, partitions);
    }
  }

  /** Forgets what an event gathered that could not be finished. */
  discard(): void {
    this.#leaderAndIsr = new Map();
    this.#stopReplica = new Map();
    this.#metadataPartitions = new Set();
    this.#metadataBrokers = new Set();
  }

  /** Drops what waits for the broker: it is gone, or another one came under its id. */
  forgetBroker(brokerId: number): void {
    this.#queues.get(brokerId)?.close();
    this.#queues.delete(brokerId);
    this.#parts.channel.forget(brokerId);
  }

  /** Settles when the broker has answered everything that was queued so far, or is gone. */
  async answered(brokerId: number): Promise<void> {
    await this.#queues.get(brokerId)?.idle();
  }

  close(): void {
    this.#isClosed = true;
    for (const queue of this.#queues.values()) queue.close();
    this.#queues.clear();
  }

  #queue(broker: LiveBroker): BrokerQueue {
    const { id } = broker.registration;
    let queue = this.#queues.get(id);
    if (queue === undefined) {
      queue = new BrokerQueue(() => this.#parts.context.brokers.get(id)?.registration ?? broker.registration, this.#parts);
      this.#queues.set(id, queue);
    }
    return queue;
  }

  #header(broker: LiveBroker): { controllerId: number; isKRaftController: boolean; controllerEpoch: number; brokerEpoch: number } {
    const { controllerId, context } = this.#parts;
    return { controllerId, isKRaftController: false, controllerEpoch: context.controllerEpoch, brokerEpoch: broker.epoch };
  }

  #sendLeaderAndIsr(broker: LiveBroker, partitions: ReadonlyMap<PartitionContext, boolean>): void {
    const { context, interBrokerListenerName, onLeaderAndIsr } = this.#parts;
    const leaders = new Set<number>();
    const topicStates = [...byTopic(partitions.keys())].map(([topic, ofTopic]) => ({
      topicName: topic.name,
      topicId: topic.id,
      partitionStates: ofTopic.flatMap((partition) => {
        const { leadership } = partition;
        if (leadership === undefined) return [];
        leaders.add(leadership.leader);
        return [
          {
            topicName: '',
            partitionIndex: partition.index,
            controllerEpoch: leadership.controllerEpoch,
            leader: leadership.leader,
            leaderEpoch: leadership.leaderEpoch,
            isr: leadership.isr,
            partitionEpoch: leadership.partitionEpoch,
            replicas: partition.assignedReplicas,
            addingReplicas: partition.addingReplicas,
            removingReplicas: partition.removingReplicas,
            isNew: partitions.get(partition) === true,
            leaderRecoveryState: leadership.isLeaderRecovering ? 1 : 0,
          },
        ];
      }),
    }));
    const request: LeaderAndIsrRequest = {
      ...this.#header(broker),
      type: 0,
      ungroupedPartitionStates: [],
      topicStates,
      liveLeaders: [...context.brokers.values()]
        .filter(({ registration }) => leaders.has(registration.id))
        .map(({ registration }) => {
          const endpoint = registration.endpoints.find(({ listener }) => listener === interBrokerListenerName);
          return { brokerId: registration.id, hostName: endpoint?.host ?? '', port: endpoint?.port ?? -1 };
        }),
    };
    void this.#queue(broker).send(LeaderAndIsrRequest, LeaderAndIsrResponse, request, (response) =>
      onLeaderAndIsr(broker.registration.id, request, response),
    );
  }

  #metadataOf(partitions: ReadonlySet<PartitionContext>): UpdateMetadataRequest['topicStates'] {
    const { context } = this.#parts;
    return [...byTopic(partitions)].map(([topic, ofTopic]) => ({
      topicName: topic.name,
      topicId: topic.id,
      partitionStates: ofTopic.flatMap((partition) => {
        const { leadership } = partition;
        if (leadership === undefined) return [];
        const isGoing = context.isMarkedForDeletion(topic.name);
        return [
          {
            topicName: '',
            partitionIndex: partition.index,
            controllerEpoch: leadership.controllerEpoch,
            leader: isGoing ? duringDelete : leadership.leader,
            leaderEpoch: isGoing ? 0 : leadership.leaderEpoch,
            isr: leadership.isr,
            zkVersion: leadership.partitionEpoch,
            replicas: partition.assignedReplicas,
            offlineReplicas: context.offlineReplicas(partition),
          },
        ];
      }),
    }));
  }

  #sendStopReplica(broker: LiveBroker, partitions: ReadonlyMap<PartitionContext, ReplicaStop>): void {
    const { context, onStopReplica } = this.#parts;
    const request: StopReplicaRequest = {
      ...this.#header(broker),
      deletePartitions: false,
      ungroupedPartitions: [],
      topics: [],
      topicStates: [...byTopic(partitions.keys())].map(([topic, ofTopic]) => ({
        topicName: topic.name,
        partitionStates: ofTopic.map((partition) => ({
          partitionIndex: partition.index,
          // A follower that has fallen behind in epochs must not stop the deletion.
          leaderEpoch: context.isMarkedForDeletion(topic.name) ? duringDelete : (partitions.get(partition)?.leaderEpoch ?? -1),
          deletePartition: partitions.get(partition)?.shouldDelete === true,
        })),
      })),
    };
    void this.#queue(broker).send(StopReplicaRequest, StopReplicaResponse, request, (response) =>
      onStopReplica(broker.registration.id, request, response),
    );
  }
}

function metadataOfBroker({ registration }: LiveBroker): UpdateMetadataRequest['liveBrokers'][number] {
  return {
    id: registration.id,
    v0Host: '',
    v0Port: 0,
    endpoints: registration.endpoints.map(({ listener, securityProtocol, host, port }) => ({
      port,
      host,
      listener,
      securityProtocol: Math.max(0, securityProtocols.indexOf(securityProtocol)),
    })),
    rack: registration.rack,
  };
}

function entryOf<V>(map: Map<number, Map<PartitionContext, V>>, brokerId: number): Map<PartitionContext, V> {
  const entry = map.get(brokerId) ?? new Map<PartitionContext, V>();
  map.set(brokerId, entry);
  return entry;
}

function byTopic(partitions: Iterable<PartitionContext>): Map<PartitionContext['topic'], PartitionContext[]> {
  return Map.groupBy(partitions, ({ topic }) => topic);
}

/** One request at a time to one broker. */
class BrokerQueue {
  /** As it is registered now: it may have moved. */
  readonly #broker: () => BrokerRegistration;
  readonly #parts: Pick<BrokerRequestsParts, 'channel' | 'timer' | 'logger'>;
  #last: Promise<void> = Promise.resolve();
  #isClosed = false;
  #wakeUp: (() => void) | undefined;

  constructor(broker: () => BrokerRegistration, parts: Pick<BrokerRequestsParts, 'channel' | 'timer' | 'logger'>) {
    this.#broker = broker;
    this.#parts = parts;
  }

  send<Q extends MessageDefinition, A extends MessageDefinition>(
    request: Q,
    response: A,
    body: Message<Q>,
    onResponse?: (answer: Message<A>) => void,
  ): Promise<void> {
    this.#last = this.#last.then(async () => {
      const answer = await this.#sendUntilAnswered(request, response, body);
      if (answer !== undefined && !this.#isClosed) onResponse?.(answer);
    });
    return this.#last;
  }

  idle(): Promise<void> {
    return this.#last;
  }

  close(): void {
    this.#isClosed = true;
    this.#wakeUp?.();
  }

  async #sendUntilAnswered<Q extends MessageDefinition, A extends MessageDefinition>(
    request: Q,
    response: A,
    body: Message<Q>,
  ): Promise<Message<A> | undefined> {
    const { channel, timer, logger } = this.#parts;
    while (!this.#isClosed) {
      try {
        return await channel.send(this.#broker(), { request, response }, body);
      } catch (error) {
        if (this.#isClosed) break;
        logger.warn('A broker did not answer the controller; trying again', {
          broker: this.#broker().id,
          request: request.name,
          error,
        });
        await new Promise<void>((resolve) => {
          const task = timer.schedule(retryDelayMs, resolve);
          this.#wakeUp = () => {
            task.cancel();
            resolve();
          };
        });
        this.#wakeUp = undefined;
      }
    }
    return undefined;
  }
}
