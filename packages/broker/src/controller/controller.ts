// The controller: elects leaders, tells brokers, carries out what admin requests wrote into the tree. Every broker runs one;
// the one that holds /controller is active. One queue of events; everything happens in it, one after the other.

import { type Coordination, controllerEpochNode, controllerNode, featureNode, isCoordinationError } from '@odradek/coordination';
import { errorCodes, ProtocolError } from '@odradek/protocol';
import type { Clock, Logger, Timer } from '@odradek/runtime';
import { ActiveController } from './active-controller.ts';
import type { BrokerChannel } from './broker-channel.ts';
import type { PartitionContext } from './controller-context.ts';
import { ControllerMovedError } from './controller-tree.ts';
import { coordinationFailure } from './coordination-failure.ts';
import { EventQueue } from './event-queue.ts';
import { allocateProducerIds } from './producer-ids.ts';

export interface ControllerParts {
  readonly brokerId: number;
  readonly coordination: Coordination;
  readonly channel: BrokerChannel;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly logger: Logger;
  /** unclean.leader.election.enable of a topic. */
  readonly isUncleanElectionEnabled: (topic: string) => boolean;
  /** delete.topic.enable */
  readonly isTopicDeletionEnabled: () => boolean;
}

export interface PartitionElection {
  readonly topic: string;
  readonly partition: number;
  /** undefined: a leader was elected. */
  readonly error: ProtocolError | undefined;
}

export interface PartitionReassignment {
  readonly topic: string;
  readonly partition: number;
  /** All replicas, those that come and those that go too. */
  readonly replicas: readonly number[];
  readonly addingReplicas: readonly number[];
  readonly removingReplicas: readonly number[];
}

/** After the tree could not be read or written: how long until everything is looked at anew. It doubles each time that fails too. */
const firstStartOverDelayMs = 250;
const longestStartOverDelayMs = 30_000;

export class Controller {
  readonly #parts: ControllerParts;
  readonly #queue: EventQueue;
  #active: ActiveController | undefined;
  #isClosed = false;
  #startOverDelayMs = firstStartOverDelayMs;

  constructor(parts: ControllerParts) {
    this.#parts = parts;
    this.#queue = new EventQueue((name, error) => this.#eventFailed(name, error));
  }

  /** Whether this broker is the active controller. */
  get isActive(): boolean {
    return this.#active !== undefined;
  }

  /** The epoch of this broker's term; -1 while it is not active. */
  get epoch(): number {
    return this.#active?.context.controllerEpoch ?? -1;
  }

  /** Stands for election, after the broker is registered. Settles when the outcome is known and, if won, this broker has been told the state of things. */
  async start(): Promise<void> {
    this.#parts.coordination.onState((state) => {
      if (state === 'expired' || state === 'closed') this.#queue.post('session over', async () => this.#resign());
    });
    await this.#queue.run('election', () => this.#elect());
    await this.#active?.answered(this.#parts.brokerId);
  }

  /** Does nothing more. The office is free when the session ends. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#resign();
    await this.#queue.close();
  }

  /** ControlledShutdown: answers the partitions that the broker still leads. Throws NOT_CONTROLLER, BROKER_ID_NOT_REGISTERED, STALE_BROKER_EPOCH. */
  async shutDownBroker(brokerId: number, brokerEpoch: number): Promise<{ readonly topic: string; readonly partition: number }[]> {
    return this.#whileActive('controlled shutdown', async (active) => {
      const broker = active.context.brokers.get(brokerId);
      if (broker === undefined) throw new ProtocolError(errorCodes.BROKER_ID_NOT_REGISTERED);
      // Brokers of old versions do not tell their epoch.
      if (brokerEpoch !== -1 && brokerEpoch !== broker.epoch) throw new ProtocolError(errorCodes.STALE_BROKER_EPOCH);
      const remaining = await active.shutDown(brokerId);
      return remaining.map(({ topic, index }) => ({ topic: topic.name, partition: index }));
    });
  }

  /** AllocateProducerIds: a block for the broker. */
  async allocateProducerIds(brokerId: number, brokerEpoch: number): Promise<{ readonly first: number; readonly count: number }> {
    return this.#whileActive('producer ids', (active) => {
      const broker = active.context.brokers.get(brokerId);
      if (broker === undefined) throw new ProtocolError(errorCodes.BROKER_ID_NOT_REGISTERED);
      if (brokerEpoch !== broker.epoch) throw new ProtocolError(errorCodes.STALE_BROKER_EPOCH);
      return allocateProducerIds(this.#parts.coordination, brokerId);
    });
  }

  /** ElectLeaders, for the partitions given or all. */
  async electLeaders(
    type: 'preferred' | 'unclean',
    partitions: readonly { readonly topic: string; readonly partition: number }[] | null,
  ): Promise<PartitionElection[]> {
    return this.#whileActive('elections', async (active) => {
      const wanted =
        partitions ?? [...active.context.partitions()].map(({ topic, index }) => ({ topic: topic.name, partition: index }));
      const refused = wanted.map(({ topic, partition }) =>
        refusal(active, type, active.context.partition(topic, partition), topic),
      );
      const electable = wanted.flatMap(({ topic, partition }, i) =>
        refused[i] === undefined ? (active.context.partition(topic, partition) ?? []) : [],
      );
      const failed = await active.elect(electable, type === 'preferred' ? { type } : { type: 'afterFailure', allowUnclean: true });
      const failedPartitions = new Map(failed.map(({ partition, reason }) => [partition, reason]));
      const unavailable =
        type === 'preferred' ? errorCodes.PREFERRED_LEADER_NOT_AVAILABLE : errorCodes.ELIGIBLE_LEADERS_NOT_AVAILABLE;
      return wanted.map(({ topic, partition }, i) => {
        const context = active.context.partition(topic, partition);
        const reason = context === undefined ? undefined : failedPartitions.get(context);
        const error =
          refused[i] ?? (reason === undefined ? undefined : new ProtocolError(unavailable, `Nobody was elected: ${reason}`));
        return { topic, partition, error };
      });
    });
  }

  /** ListPartitionReassignments: the partitions whose replicas are being moved. */
  async reassignments(): Promise<PartitionReassignment[]> {
    return this.#whileActive('reassignments', async ({ context }) =>
      [...context.partitions()]
        .filter(({ addingReplicas, removingReplicas }) => addingReplicas.length + removingReplicas.length > 0)
        .map(({ topic, index, assignedReplicas, addingReplicas, removingReplicas }) => ({
          topic: topic.name,
          partition: index,
          replicas: assignedReplicas,
          addingReplicas,
          removingReplicas,
        })),
    );
  }

  async #whileActive<T>(name: string, action: (active: ActiveController) => Promise<T>): Promise<T> {
    let result: { readonly value: T } | undefined;
    await this.#queue.run(name, async () => {
      if (this.#active === undefined) throw new ProtocolError(errorCodes.NOT_CONTROLLER);
      try {
        result = { value: await action(this.#active) };
      } catch (error) {
        if (error instanceof ControllerMovedError) {
          await this.#standAgain();
          throw new ProtocolError(errorCodes.NOT_CONTROLLER);
        }
        if (isCoordinationError(error, 'ConnectionLoss')) this.#startOverSoon();
        throw coordinationFailure(error);
      }
    });
    return (result as { readonly value: T }).value;
  }

  async #elect(): Promise<void> {
    const { brokerId, coordination, clock, logger } = this.#parts;
    if (this.#isClosed) return;
    const current = await coordination.exists(controllerNode.path, this.#controllerChanged);
    if (current?.ephemeralOwner === coordination.sessionId) {
      // An office that this broker took and could not enter.
      await coordination.delete(controllerNode.path);
    } else if (current !== undefined) {
      const { data } = await coordination.get(controllerNode.path);
      logger.info('Another broker is the controller', { controller: controllerNode.decode(data).brokerId });
      return;
    }
    const { epoch, version } = await this.#readEpoch();
    try {
      await coordination.multi([
        {
          type: 'create',
          path: controllerNode.path,
          data: controllerNode.encode({ brokerId, timestamp: clock.wallTimeMs() }),
          ephemeral: true,
        },
        { type: 'set', path: controllerEpochNode.path, data: controllerEpochNode.encode(epoch + 1), version },
      ]);
    } catch (error) {
      // Somebody was faster. The watch tells of the end of their term.
      if (isCoordinationError(error, 'NodeExists', 'BadVersion')) return;
      throw error;
    }
    await this.#takeOffice(epoch + 1, version + 1);
  }

  async #takeOffice(epoch: number, epochNodeVersion: number): Promise<void> {
    const { brokerId, coordination, logger } = this.#parts;
    logger.info('This broker is the controller', { broker: brokerId, controllerEpoch: epoch });
    try {
      await coordination.create(featureNode.path, featureNode.encode({ features: new Map(), isEnabled: true }));
    } catch (error) {
      if (!isCoordinationError(error, 'NodeExists')) throw error;
    }
    const active = new ActiveController({ ...this.#parts, queue: this.#queue, epoch, epochNodeVersion });
    this.#active = active;
    try {
      await active.start();
    } catch (error) {
      // A controller that does not know the whole must not act. Without the office someone else can try.
      this.#resign();
      if (!(error instanceof ControllerMovedError)) await coordination.delete(controllerNode.path);
      throw error;
    }
  }

  /** The epoch so far and the version of its node, which is created by the first controller. */
  async #readEpoch(): Promise<{ readonly epoch: number; readonly version: number }> {
    const { coordination } = this.#parts;
    try {
      await coordination.create(controllerEpochNode.path, controllerEpochNode.encode(0));
    } catch (error) {
      if (!isCoordinationError(error, 'NodeExists')) throw error;
    }
    const { data, stat } = await coordination.get(controllerEpochNode.path);
    return { epoch: controllerEpochNode.decode(data), version: stat.version };
  }

  readonly #controllerChanged = (): void =>
    this.#queue.postOnce('controller changed', async () => {
      const { coordination } = this.#parts;
      const stat = await coordination.exists(controllerNode.path, this.#controllerChanged);
      // The node that this broker's own election created.
      if (this.#active !== undefined && stat?.ephemeralOwner === coordination.sessionId) return;
      await this.#standAgain();
    });

  /** Somebody else holds the office, or nobody does. */
  async #standAgain(): Promise<void> {
    this.#resign();
    await this.#elect();
  }

  /** What was being done may be half done, and watches may be lost: the same term begins again from what the tree says. */
  #startOverSoon(): void {
    const active = this.#active;
    const delayMs = this.#startOverDelayMs;
    this.#startOverDelayMs = Math.min(2 * delayMs, longestStartOverDelayMs);
    this.#parts.timer.schedule(delayMs, () => {
      this.#queue.postOnce('start over', async () => {
        if (this.#isClosed || this.#active !== active) return;
        if (active === undefined) return this.#elect();
        active.end();
        const { controllerEpoch, epochNodeVersion } = active.context;
        this.#active = new ActiveController({ ...this.#parts, queue: this.#queue, epoch: controllerEpoch, epochNodeVersion });
        await this.#active.start();
        this.#startOverDelayMs = firstStartOverDelayMs;
      });
    });
  }

  #resign(): void {
    if (this.#active === undefined) return;
    this.#parts.logger.info('This broker is the controller no more', { broker: this.#parts.brokerId });
    this.#active.end();
    this.#active = undefined;
  }

  #eventFailed(name: string, error: unknown): void {
    if (this.#isClosed) return;
    if (error instanceof ControllerMovedError) this.#queue.postOnce('controller moved', () => this.#standAgain());
    else {
      this.#parts.logger.error('The controller could not deal with an event', { event: name, error });
      if (isCoordinationError(error, 'ConnectionLoss')) this.#startOverSoon();
    }
  }
}

function refusal(
  active: ActiveController,
  type: 'preferred' | 'unclean',
  partition: PartitionContext | undefined,
  topic: string,
): ProtocolError | undefined {
  if (partition === undefined) return new ProtocolError(errorCodes.UNKNOWN_TOPIC_OR_PARTITION, 'There is no such partition.');
  if (active.context.isMarkedForDeletion(topic))
    return new ProtocolError(errorCodes.INVALID_TOPIC_EXCEPTION, 'The topic is being deleted.');
  const leader = partition.leadership?.leader ?? -1;
  const isLed = type === 'preferred' ? leader === partition.assignedReplicas[0] : active.context.isReplicaOnline(partition, leader);
  return isLed ? new ProtocolError(errorCodes.ELECTION_NOT_NEEDED, 'The partition has that leader already.') : undefined;
}
