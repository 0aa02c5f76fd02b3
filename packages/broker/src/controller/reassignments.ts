// Moving partitions between brokers. A move begins when its target is written to the topic's node and the new replicas are told to
// follow; it is over when they are all in sync: then the leader moves, if it has to, and the replicas that go are deleted. A move
// that is stopped goes back to where it came from in the same way. What is written down is enough for another controller to go on.
// Partitions of a topic that is to be deleted are not moved any more.

import { isCoordinationError, reassignPartitionsNode, type Watcher } from '@odradek/coordination';
import type { Logger } from '@odradek/runtime';
import type { BrokerRequests } from './broker-requests.ts';
import { type ControllerContext, describePartition, type PartitionContext } from './controller-context.ts';
import { ControllerMovedError, type ControllerTree } from './controller-tree.ts';
import type { PartitionStates } from './partition-states.ts';
import {
  isBeingReassigned,
  isSameAssignment,
  isSameList,
  originReplicas,
  type ReplicaAssignment,
  reassignTo,
  targetReplicas,
} from './reassignment-plan.ts';
import type { ReplicaStates } from './replica-states.ts';

export interface ReassignmentsParts {
  readonly context: ControllerContext;
  readonly tree: ControllerTree;
  readonly requests: BrokerRequests;
  readonly partitionStates: PartitionStates;
  readonly replicaStates: ReplicaStates;
  /** Called when the node in which old tools write moves appears. */
  readonly watcher: Watcher;
  readonly logger: Logger;
}

export class Reassignments {
  readonly #parts: ReassignmentsParts;

  constructor(parts: ReassignmentsParts) {
    this.#parts = parts;
  }

  /** Moves the partition to the target, whether it is being moved already or not; without a target the move is stopped. */
  async move(partition: PartitionContext, target: readonly number[] | undefined): Promise<void> {
    await this.#advance(partition, reassignTo(partition, target ?? originReplicas(partition)));
  }

  /** What was begun by an earlier controller, or waits for one of these brokers, goes on. */
  async resume(brokerIds?: ReadonlySet<number>): Promise<void> {
    for (const partition of this.#underWay()) {
      const isWanted = brokerIds === undefined || targetReplicas(partition).some((replica) => brokerIds.has(replica));
      if (isWanted) await this.#tryAdvance(partition, partition);
    }
  }

  /** In-sync replicas have changed: moves may be over. */
  async completeWherePossible(partitions: readonly PartitionContext[]): Promise<void> {
    for (const partition of partitions) {
      if (isBeingReassigned(partition) && isComplete(partition)) await this.#tryAdvance(partition, partition);
    }
  }

  /** Begins what old tools have written into /admin/reassign_partitions. The node stays until all of it is done. */
  async takeRequestNode(): Promise<void> {
    const { context, tree, logger, watcher } = this.#parts;
    const wanted = await tree.readReassignmentNode(watcher);
    const impossible = new Set<string>();
    for (const { topic, partition, replicas } of wanted ?? []) {
      const found = context.isMarkedForDeletion(topic) ? undefined : context.partition(topic, partition);
      const isBegun = found !== undefined && (await this.#tryAdvance(found, reassignTo(found, replicas)));
      if (!isBegun) impossible.add(`${topic}-${partition}`);
    }
    if (impossible.size === 0) return;
    logger.warn('Partitions that were to be moved cannot be', { partitions: [...impossible].join(', ') });
    await this.#leaveOut((name) => impossible.has(name));
  }

  /** What an old tool has written down for these holds no more: a move that was asked for by request takes its place, or they are to go. */
  async forgetRequestsFor(partitions: readonly PartitionContext[]): Promise<void> {
    if (partitions.length === 0) return;
    const names = new Set(partitions.map(describePartition));
    await this.#leaveOut((name) => names.has(name));
  }

  /** One failure must not hold up the other moves. */
  async #tryAdvance(partition: PartitionContext, assignment: ReplicaAssignment): Promise<boolean> {
    try {
      await this.#advance(partition, assignment);
      return true;
    } catch (error) {
      if (error instanceof ControllerMovedError || isCoordinationError(error, 'ConnectionLoss', 'SessionExpired')) throw error;
      this.#parts.logger.error('A partition could not be moved', { partition: describePartition(partition), error });
      return false;
    }
  }

  async #advance(partition: PartitionContext, assignment: ReplicaAssignment): Promise<void> {
    await this.#assign(partition, assignment);
    if (isComplete(partition)) await this.#complete(partition);
    else await this.#begin(partition);
  }

  /** Writes the assignment down, and stops the replicas that are in it no more. */
  async #assign(partition: PartitionContext, assignment: ReplicaAssignment): Promise<void> {
    if (isSameAssignment(partition, assignment)) return;
    const unneeded = partition.assignedReplicas.filter((replica) => !assignment.assignedReplicas.includes(replica));
    await this.#parts.tree.writeAssignment(partition, assignment);
    take(partition, assignment);
    await this.#removeReplicas(partition, unneeded);
  }

  /** Everyone learns of the replicas that come, under a new epoch; these begin to follow. */
  async #begin(partition: PartitionContext): Promise<void> {
    const { requests, partitionStates, replicaStates } = this.#parts;
    const { addingReplicas } = partition;
    await partitionStates.raiseLeaderEpoch(partition);
    requests.addLeaderAndIsr(originReplicas(partition), partition, false);
    requests.addLeaderAndIsr(addingReplicas, partition, true);
    const unknown = addingReplicas.filter((brokerId) => !partition.replicaStates.has(brokerId));
    await replicaStates.change(
      unknown.map((brokerId) => ({ partition, brokerId })),
      'New',
    );
    requests.send();
  }

  /** The target is in sync: the leader moves there if it is elsewhere, and the replicas that go are deleted. */
  async #complete(partition: PartitionContext): Promise<void> {
    const { context, tree, requests, replicaStates, logger } = this.#parts;
    const { addingReplicas, removingReplicas } = partition;
    const done: ReplicaAssignment = { assignedReplicas: targetReplicas(partition), addingReplicas: [], removingReplicas: [] };
    await replicaStates.change(
      addingReplicas.map((brokerId) => ({ partition, brokerId })),
      'Online',
    );
    take(partition, done);
    await this.#moveLeader(partition);
    await this.#removeReplicas(partition, removingReplicas);
    await tree.writeAssignment(partition, done);
    await this.#leaveOut((name, replicas) => name === describePartition(partition) && isSameList(replicas, done.assignedReplicas));
    requests.addMetadata(context.liveBrokerIds(), [partition]);
    requests.send();
    logger.info('A partition has moved', { partition: describePartition(partition), replicas: done.assignedReplicas.join(',') });
  }

  async #moveLeader(partition: PartitionContext): Promise<void> {
    const { context, requests, partitionStates } = this.#parts;
    const leader = partition.leadership?.leader ?? -1;
    const isLeaderRight = partition.assignedReplicas.includes(leader) && context.isReplicaOnline(partition, leader);
    if (isLeaderRight) {
      await partitionStates.raiseLeaderEpoch(partition);
      requests.addLeaderAndIsr(partition.assignedReplicas, partition, false);
    } else {
      await partitionStates.change([partition], 'Online', { type: 'reassignment' });
    }
    requests.send();
  }

  /** Takes the replicas out of the in-sync ones and has their logs deleted. Nobody waits for brokers that are gone. */
  async #removeReplicas(partition: PartitionContext, brokerIds: readonly number[]): Promise<void> {
    const { replicaStates, requests } = this.#parts;
    if (brokerIds.length === 0) return;
    const replicas = brokerIds.map((brokerId) => ({ partition, brokerId }));
    for (const state of ['Offline', 'DeletionStarted', 'DeletionSuccessful', 'NonExistent'] as const) {
      await replicaStates.change(replicas, state);
    }
    requests.send();
  }

  async #leaveOut(isLeftOut: (name: string, replicas: readonly number[]) => boolean): Promise<void> {
    const { tree } = this.#parts;
    const written = await tree.readReassignmentNode();
    if (written === undefined) return;
    const left = written.filter(({ topic, partition, replicas }) => !isLeftOut(`${topic}-${partition}`, replicas));
    if (left.length === written.length) return;
    if (left.length > 0)
      await tree.write([
        { type: 'set', path: reassignPartitionsNode.path, data: reassignPartitionsNode.encode(left), version: -1 },
      ]);
    else await tree.remove([reassignPartitionsNode.path]);
  }

  #underWay(): PartitionContext[] {
    return [...this.#parts.context.partitions()].filter(isBeingReassigned);
  }
}

function take(partition: PartitionContext, { assignedReplicas, addingReplicas, removingReplicas }: ReplicaAssignment): void {
  partition.assignedReplicas = assignedReplicas;
  partition.addingReplicas = addingReplicas;
  partition.removingReplicas = removingReplicas;
}

/** Also where nothing comes or goes: only the order changes, or a move is stopped. */
function isComplete(partition: PartitionContext): boolean {
  if (!isBeingReassigned(partition)) return true;
  const isr = partition.leadership?.isr ?? [];
  return targetReplicas(partition).every((replica) => isr.includes(replica));
}
