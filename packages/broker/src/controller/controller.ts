// The controller: elects leaders, tells brokers, carries out what admin requests wrote into the tree. Every broker runs one;
// the one that holds /controller is active. One queue of events; everything happens in it, one after the other.

import { type Coordination, controllerEpochNode, controllerNode, featureNode, isCoordinationError } from '@odradek/coordination';
import { errorCodes, ProtocolError } from '@odradek/protocol';
import type { Clock, Logger, Timer } from '@odradek/runtime';
import { ActiveController, type IsrOutcome, type LeaderBalance } from './active-controller.ts';
import type { BrokerChannel } from './broker-channel.ts';
import type { ControllerContext, PartitionContext } from './controller-context.ts';
import { ControllerMovedError } from './controller-tree.ts';
import { coordinationFailure } from './coordination-failure.ts';
import { EventQueue } from './event-queue.ts';
import type { IsrAlteration } from './isr-alterations.ts';
import { allocateProducerIds } from './producer-ids.ts';
import { isBeingReassigned, targetProblem, targetReplicas } from './reassignment-plan.ts';

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
  /** Makes known the configs of topics that this broker has not seen. */
  readonly loadTopicConfigs: (topics: Iterable<string>) => Promise<void>;
  readonly leaderBalance: () => LeaderBalance;
}

export interface PartitionElection {
  readonly topic: string;
  readonly partition: number;
  /** undefined: a leader was elected. */
  readonly error: ProtocolError | undefined;
}

/** What a leader wants of one partition of a topic, which it knows by name or by id. */
export interface PartitionAlteration extends IsrAlteration {
  readonly topic: { readonly name: string } | { readonly id: string };
  readonly partition: number;
  /** Of the brokers in the ISR; -1 where the leader does not know it. */
  readonly brokerEpochs: ReadonlyMap<number, number>;
}

export type AlteredPartition = IsrOutcome;

/** A move that is wanted; without a target the one that is under way is to stop. */
export interface WantedMove {
  readonly topic: string;
  readonly partition: number;
  readonly target: readonly number[] | undefined;
}

export interface MoveOutcome {
  readonly topic: string;
  readonly partition: number;
  /** undefined: it has begun, or is being stopped. */
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

/** For how long a broker that stops is kept waiting until the others have taken over. */
const handOverLimitMs = 1000;

export class Controller {
  readonly #parts: ControllerParts;
  readonly #queue: EventQueue;
  #active: ActiveController | undefined;
  #isClosed = false;
  #startOverDelayMs = firstStartOverDelayMs;
  /** Set while a start is due. */
  #startOverNow: (() => void) | undefined;

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
      if (state === 'closed') this.#queue.post('session over', async () => this.#resign());
      // What failed meanwhile need not wait any longer.
      if (state === 'connected') this.#startOverNow?.();
    });
    await this.#stand(() => this.#elect());
    await this.#active?.answered(this.#parts.brokerId);
  }

  /** The session is over, and so is this broker's term. Settles when nothing is done in its name any more. */
  async sessionLost(): Promise<void> {
    if (this.#isClosed) return;
    await this.#queue.run('session lost', async () => this.#resign());
  }

  /** This broker is registered in a new session, and stands for election again. */
  async sessionRenewed(): Promise<void> {
    if (!this.#isClosed) await this.#stand(() => this.#standAgain());
  }

  /** A store that is away for a moment holds up the election, and nothing else. */
  async #stand(elect: () => Promise<void>): Promise<void> {
    try {
      await this.#queue.run('election', elect);
    } catch (error) {
      if (!isCoordinationError(error, 'ConnectionLoss', 'SessionExpired')) throw error;
      this.#eventFailed('election', error);
    }
  }

  /** Does nothing more. The office is free when the session ends. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#resign();
    await this.#queue.close();
  }

  /** ControlledShutdown: answers the partitions that the broker still leads. Throws NOT_CONTROLLER, BROKER_NOT_AVAILABLE, STALE_BROKER_EPOCH. */
  async shutDownBroker(brokerId: number, brokerEpoch: number): Promise<{ readonly topic: string; readonly partition: number }[]> {
    const remaining = await this.#whileActive('controlled shutdown', async (active) => {
      const broker = active.context.brokers.get(brokerId);
      if (broker === undefined) throw new ProtocolError(errorCodes.BROKER_NOT_AVAILABLE);
      // Brokers of old versions do not tell their epoch.
      if (brokerEpoch !== -1 && brokerEpoch < broker.epoch) throw new ProtocolError(errorCodes.STALE_BROKER_EPOCH);
      return active.shutDown(brokerId);
    });
    // So that the others lead before the broker stops, and it has stopped following.
    await this.#active?.everyoneAnswered(handOverLimitMs);
    return remaining.map(({ topic, index }) => ({ topic: topic.name, partition: index }));
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

  /** AlterPartition: what became of each, in order. Throws NOT_CONTROLLER, STALE_BROKER_EPOCH. */
  async alterPartitions(
    { brokerId, brokerEpoch }: { readonly brokerId: number; readonly brokerEpoch: number },
    alterations: readonly PartitionAlteration[],
    { ineligibleCode }: { readonly ineligibleCode: number },
  ): Promise<AlteredPartition[]> {
    return this.#whileActive('in-sync replicas', async (active) => {
      const { context } = active;
      if (context.brokers.get(brokerId)?.epoch !== brokerEpoch) throw new ProtocolError(errorCodes.STALE_BROKER_EPOCH);
      const found = alterations.map((alteration) => ({ alteration, ...findPartition(context, alteration) }));
      const known = found.flatMap(({ alteration, partition }) =>
        partition === undefined
          ? []
          : [{ ...alteration, context: partition, isEligible: (replica: number) => isEligible(context, replica, alteration) }],
      );
      const outcomes = (await active.alterPartitions(known, ineligibleCode))[Symbol.iterator]();
      return found.map(
        ({ errorCode }): AlteredPartition =>
          errorCode === undefined ? (outcomes.next().value ?? { errorCode: errorCodes.UNKNOWN_SERVER_ERROR }) : { errorCode },
      );
    });
  }

  /** AlterPartitionReassignments: what became of each, in order. */
  async alterReassignments(
    moves: readonly WantedMove[],
    { mayChangeReplicationFactor }: { readonly mayChangeReplicationFactor: boolean },
  ): Promise<MoveOutcome[]> {
    return this.#whileActive('moves', async (active) => {
      const outcomes: MoveOutcome[] = [];
      for (const { topic, partition, target } of moves) {
        const found = active.context.isMarkedForDeletion(topic) ? undefined : active.context.partition(topic, partition);
        const error = moveProblem(active.context, found, target, mayChangeReplicationFactor);
        if (error === undefined && found !== undefined) await active.move(found, target);
        outcomes.push({ topic, partition, error });
      }
      return outcomes;
    });
  }

  /** unclean.leader.election.enable has become true, of one topic or of all: partitions may get leaders that could not before. */
  electUncleanly(topic?: string): void {
    this.#queue.postOnce(`unclean election ${topic ?? ''}`, async () => this.#active?.electUncleanly(topic));
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
      if (!this.#active.isLoaded) {
        throw new ProtocolError(errorCodes.KAFKA_STORAGE_ERROR, 'The coordination tree cannot be read at the moment.');
      }
      try {
        result = { value: await action(this.#active) };
      } catch (error) {
        if (error instanceof ControllerMovedError) {
          await this.#standAgain();
          throw new ProtocolError(errorCodes.NOT_CONTROLLER);
        }
        if (isCoordinationError(error, 'ConnectionLoss')) this.#startOverSoon();
        throw coordinationFailure(error);
      } finally {
        this.#active?.discardRequests();
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
    if (this.#startOverNow !== undefined) return;
    const active = this.#active;
    const delayMs = this.#startOverDelayMs;
    this.#startOverDelayMs = Math.min(2 * delayMs, longestStartOverDelayMs);
    const task = this.#parts.timer.schedule(delayMs, () => this.#startOverNow?.());
    this.#startOverNow = () => {
      task.cancel();
      this.#startOverNow = undefined;
      this.#queue.postOnce('start over', async () => {
        if (this.#isClosed || this.#active !== active) return;
        if (active === undefined) return this.#elect();
        active.end();
        const { controllerEpoch, epochNodeVersion } = active.context;
        this.#active = new ActiveController({ ...this.#parts, queue: this.#queue, epoch: controllerEpoch, epochNodeVersion });
        await this.#active.start();
        this.#startOverDelayMs = firstStartOverDelayMs;
      });
    };
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
      if (isCoordinationError(error, 'ConnectionLoss') || this.#active?.isLoaded === false) this.#startOverSoon();
    }
  }
}

function findPartition(
  context: ControllerContext,
  { topic, partition }: PartitionAlteration,
):
  | { readonly partition: PartitionContext; readonly errorCode: undefined }
  | { readonly partition: undefined; readonly errorCode: number } {
  const name = 'name' in topic ? topic.name : context.topicNamesById.get(topic.id);
  if (name === undefined) return { partition: undefined, errorCode: errorCodes.UNKNOWN_TOPIC_ID };
  const found = context.partition(name, partition);
  if (found === undefined) return { partition: undefined, errorCode: errorCodes.UNKNOWN_TOPIC_OR_PARTITION };
  return { partition: found, errorCode: undefined };
}

/** Whether the replica may be in sync: its broker is alive, does not stop, and has not restarted since the leader heard of it. */
function isEligible(context: ControllerContext, replica: number, { brokerEpochs }: PartitionAlteration): boolean {
  const broker = context.brokers.get(replica);
  if (broker === undefined || context.shuttingDownBrokers.has(replica)) return false;
  const knownEpoch = brokerEpochs.get(replica) ?? -1;
  return knownEpoch === -1 || knownEpoch === broker.epoch;
}

function moveProblem(
  context: ControllerContext,
  partition: PartitionContext | undefined,
  target: readonly number[] | undefined,
  mayChangeReplicationFactor: boolean,
): ProtocolError | undefined {
  if (target === undefined) {
    return partition !== undefined && isBeingReassigned(partition)
      ? undefined
      : new ProtocolError(errorCodes.NO_REASSIGNMENT_IN_PROGRESS, 'The partition is not being moved.');
  }
  if (partition === undefined) return new ProtocolError(errorCodes.UNKNOWN_TOPIC_OR_PARTITION, 'There is no such partition.');
  const isLive = (brokerId: number): boolean => context.brokers.has(brokerId) && !context.shuttingDownBrokers.has(brokerId);
  const problem = targetProblem(partition, target, isLive);
  if (problem !== undefined) return new ProtocolError(errorCodes.INVALID_REPLICA_ASSIGNMENT, problem);
  const factor = targetReplicas(partition).length;
  if (!mayChangeReplicationFactor && target.length !== factor) {
    return new ProtocolError(
      errorCodes.INVALID_REPLICATION_FACTOR,
      `The replication factor is ${factor} and must stay so, but the list of replicas has ${target.length}.`,
    );
  }
  return undefined;
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
