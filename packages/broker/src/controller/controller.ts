// The controller as its broker and its handlers know it: every broker has one, and the one that holds /controller is active. What is asked
// of it waits its turn among the events of its office; a broker that is not active answers NOT_CONTROLLER.

import { errorCodes, ProtocolError } from '@odradek/protocol';
import type { ActiveController } from './active-controller.ts';
import type { ControllerContext, PartitionContext } from './controller-context.ts';
import { ControllerOffice, type ControllerParts } from './controller-office.ts';
import type { IsrOutcome } from './in-sync-changes.ts';
import type { IsrAlteration } from './isr-alterations.ts';
import { allocateProducerIds } from './producer-ids.ts';
import { isBeingReassigned, type ReplicaAssignment, targetProblem, targetReplicas } from './reassignment-plan.ts';

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

/** For how long a broker that stops is kept waiting until the others have taken over. */
const handOverLimitMs = 1000;

export class Controller {
  readonly #parts: ControllerParts;
  readonly #office: ControllerOffice;

  constructor(parts: ControllerParts) {
    this.#parts = parts;
    this.#office = new ControllerOffice(parts);
  }

  /** Whether this broker is the active controller. */
  get isActive(): boolean {
    return this.#office.active !== undefined;
  }

  /** The epoch of this broker's term; -1 while it is not active. */
  get epoch(): number {
    return this.#office.active?.context.controllerEpoch ?? -1;
  }

  /** Stands for election, after the broker is registered. Settles when the outcome is known and, if won, this broker has been told the state of things. */
  start(): Promise<void> {
    return this.#office.start();
  }

  /** The session is over, and so is this broker's term. Settles when nothing is done in its name any more. */
  sessionLost(): Promise<void> {
    return this.#office.sessionLost();
  }

  /** This broker is registered in a new session, and stands for election again. */
  sessionRenewed(): Promise<void> {
    return this.#office.sessionRenewed();
  }

  /** Does nothing more. The office is free when the session ends. */
  close(): Promise<void> {
    return this.#office.close();
  }

  /** ControlledShutdown: answers the partitions that the broker still leads. Throws NOT_CONTROLLER, BROKER_NOT_AVAILABLE, STALE_BROKER_EPOCH. */
  async shutDownBroker(brokerId: number, brokerEpoch: number): Promise<{ readonly topic: string; readonly partition: number }[]> {
    const remaining = await this.#office.whileActive('controlled shutdown', async (active) => {
      const broker = active.context.brokers.get(brokerId);
      if (broker === undefined) throw new ProtocolError(errorCodes.BROKER_NOT_AVAILABLE);
      // Brokers of old versions do not tell their epoch.
      if (brokerEpoch !== -1 && brokerEpoch < broker.epoch) throw new ProtocolError(errorCodes.STALE_BROKER_EPOCH);
      return active.shutDown(brokerId);
    });
    // So that the others lead before the broker stops, and it has stopped following.
    await this.#office.active?.everyoneAnswered(handOverLimitMs);
    return remaining.map(({ topic, index }) => ({ topic: topic.name, partition: index }));
  }

  /** AllocateProducerIds: a block for the broker. */
  async allocateProducerIds(brokerId: number, brokerEpoch: number): Promise<{ readonly first: number; readonly count: number }> {
    return this.#office.whileActive('producer ids', (active) => {
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
    return this.#office.whileActive('elections', async (active) => {
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
    return this.#office.whileActive('in-sync replicas', async (active) => {
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
    return this.#office.whileActive('moves', async (active) => {
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
    this.#office.postOnce(`unclean election ${topic ?? ''}`, (active) => active.electUncleanly(topic));
  }

  /** ListPartitionReassignments: the partitions whose replicas are being moved. */
  async reassignments(): Promise<PartitionReassignment[]> {
    return this.#office.whileActive('reassignments', async ({ context }) =>
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

/** Of a partition that does not exist. */
const nowhere: ReplicaAssignment = { assignedReplicas: [], addingReplicas: [], removingReplicas: [] };

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
  const isLive = (brokerId: number): boolean => context.brokers.has(brokerId) && !context.shuttingDownBrokers.has(brokerId);
  // Kafka looks at the target first, whatever it is meant for.
  const problem = targetProblem(partition ?? nowhere, target, isLive);
  if (problem !== undefined) return new ProtocolError(errorCodes.INVALID_REPLICA_ASSIGNMENT, problem);
  if (partition === undefined) return new ProtocolError(errorCodes.UNKNOWN_TOPIC_OR_PARTITION, 'There is no such partition.');
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
