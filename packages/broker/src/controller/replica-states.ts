// The states of replicas: which may follow which, and what is done on the way.
//
//   NonExistent ──► New ──► Online ◄──► Offline ──► DeletionStarted ──► DeletionSuccessful ──► NonExistent
//                                        ▲  │             │
//                                        │  └──► DeletionIneligible ◄─┘
//                                        └───────────────┘
//
// Online: its broker is alive. Offline: its broker or log directory is gone, or it was told to stop. The rest belong to the
// deletion of its topic: told to delete, deleted, or not able to be told now.

import { isCoordinationError } from '@odradek/coordination';
import type { Logger } from '@odradek/runtime';
import type { BrokerRequests } from './broker-requests.ts';
import {
  type ControllerContext,
  describePartition,
  type Leadership,
  type PartitionContext,
  type Replica,
  type ReplicaStateName,
} from './controller-context.ts';
import type { ControllerTree, LeadershipWrite } from './controller-tree.ts';

/** The states from which each may be reached. */
export const previousReplicaStates: Readonly<Record<ReplicaStateName, readonly ReplicaStateName[]>> = {
  NonExistent: ['DeletionSuccessful'],
  New: ['NonExistent'],
  Online: ['New', 'Online', 'Offline', 'DeletionIneligible'],
  Offline: ['New', 'Online', 'Offline', 'DeletionIneligible'],
  DeletionStarted: ['Offline'],
  DeletionSuccessful: ['DeletionStarted'],
  DeletionIneligible: ['Offline', 'DeletionStarted'],
};

/** Leader of a partition whose leader was taken out. */
const noLeader = -1;
const removalAttempts = 10;

export interface ReplicaStatesParts {
  readonly context: ControllerContext;
  readonly tree: ControllerTree;
  readonly requests: BrokerRequests;
  readonly logger: Logger;
}

export class ReplicaStates {
  readonly #parts: ReplicaStatesParts;

  constructor(parts: ReplicaStatesParts) {
    this.#parts = parts;
  }

  /** The states that follow from what was loaded; answers who is online and who is not. */
  initialize(): { readonly online: Replica[]; readonly offline: Replica[] } {
    const { context } = this.#parts;
    const online: Replica[] = [];
    const offline: Replica[] = [];
    for (const replica of context.replicas()) {
      const { partition, brokerId } = replica;
      if (context.isReplicaOnline(partition, brokerId)) {
        partition.replicaStates.set(brokerId, 'Online');
        online.push(replica);
      } else {
        // If its topic is being deleted, that has to wait until the broker is back.
        partition.replicaStates.set(brokerId, 'DeletionIneligible');
        offline.push(replica);
      }
    }
    return { online, offline };
  }

  async change(replicas: readonly Replica[], target: ReplicaStateName): Promise<void> {
    const legal: Replica[] = [];
    for (const replica of replicas) {
      const state = replica.partition.replicaStates.get(replica.brokerId) ?? 'NonExistent';
      if (previousReplicaStates[target].includes(state)) legal.push(replica);
      else this.#warn(replica, target, `it is ${state}`);
    }
    switch (target) {
      case 'New':
        for (const replica of legal) this.#becomeNew(replica);
        break;
      case 'Online':
        for (const replica of legal) this.#becomeOnline(replica);
        break;
      case 'Offline':
        await this.#becomeOffline(legal);
        break;
      case 'DeletionStarted':
        for (const { partition, brokerId } of legal) {
          partition.replicaStates.set(brokerId, target);
          this.#parts.requests.addStopReplica(brokerId, partition, true);
        }
        break;
      case 'NonExistent':
        for (const { partition, brokerId } of legal) {
          const without = (replicas: readonly number[]) => replicas.filter((other) => other !== brokerId);
          partition.assignedReplicas = without(partition.assignedReplicas);
          partition.addingReplicas = without(partition.addingReplicas);
          partition.removingReplicas = without(partition.removingReplicas);
          partition.replicaStates.delete(brokerId);
        }
        break;
      default:
        for (const { partition, brokerId } of legal) partition.replicaStates.set(brokerId, target);
    }
  }

  #becomeNew(replica: Replica): void {
    const { partition, brokerId } = replica;
    if (partition.leadership?.leader === brokerId) {
      this.#warn(replica, 'New', 'it leads its partition');
      return;
    }
    if (partition.leadership !== undefined) this.#parts.requests.addLeaderAndIsr([brokerId], partition, true);
    partition.replicaStates.set(brokerId, 'New');
  }

  #becomeOnline({ partition, brokerId }: Replica): void {
    const wasNew = partition.replicaStates.get(brokerId) === 'New';
    if (wasNew) {
      if (!partition.assignedReplicas.includes(brokerId)) partition.assignedReplicas = [...partition.assignedReplicas, brokerId];
    } else if (partition.leadership !== undefined) {
      this.#parts.requests.addLeaderAndIsr([brokerId], partition, false);
    }
    partition.replicaStates.set(brokerId, 'Online');
  }

  /** The replicas are told to stop and leave the ISR, and those that remain are told so. */
  async #becomeOffline(replicas: readonly Replica[]): Promise<void> {
    const { context, requests } = this.#parts;
    for (const { partition, brokerId } of replicas) requests.addStopReplica(brokerId, partition, false);
    const byBroker = [...Map.groupBy(replicas, (replica) => replica.brokerId)].sort(([a], [b]) => a - b);
    for (const [brokerId, ofBroker] of byBroker) {
      const partitions = ofBroker.map(({ partition }) => partition);
      const changed = await this.#removeFromIsr(
        brokerId,
        partitions.filter(({ leadership }) => leadership !== undefined),
      );
      for (const partition of partitions) {
        partition.replicaStates.set(brokerId, 'Offline');
        if (changed.has(partition) && !context.isMarkedForDeletion(partition.topic.name)) {
          const others = partition.assignedReplicas.filter(
            (other) => other !== brokerId && context.isReplicaOnline(partition, other),
          );
          requests.addLeaderAndIsr(others, partition, false);
        } else {
          requests.addMetadata(context.liveBrokerIds(), [partition]);
        }
      }
    }
  }

  /** Answers the partitions whose leadership changed. */
  async #removeFromIsr(brokerId: number, partitions: readonly PartitionContext[]): Promise<Set<PartitionContext>> {
    const changed = new Set<PartitionContext>();
    let remaining = partitions;
    for (let attempt = 0; remaining.length > 0 && attempt < removalAttempts; attempt++) {
      const again: PartitionContext[] = [];
      for (const outcome of await this.#parts.tree.updateLeaderships(await this.#removals(brokerId, remaining))) {
        const { partition } = outcome;
        if ('leadership' in outcome) {
          partition.leadership = outcome.leadership;
          changed.add(partition);
        } else if (isCoordinationError(outcome.error, 'BadVersion')) {
          again.push(partition);
        } else {
          this.#warn({ partition, brokerId }, 'Offline', String(outcome.error));
        }
      }
      remaining = again;
    }
    return changed;
  }

  async #removals(brokerId: number, partitions: readonly PartitionContext[]): Promise<LeadershipWrite[]> {
    const current = await this.#parts.tree.readLeaderships(partitions);
    return partitions.flatMap((partition, index) => {
      const leadership = current[index];
      if (leadership === undefined) return [];
      return leadership.isr.includes(brokerId) ? [{ partition, leadership: this.#without(brokerId, leadership) }] : [];
    });
  }

  /** The last one in sync stays in the ISR: it is the one that has all records. */
  #without(brokerId: number, leadership: Leadership): Leadership {
    return {
      leader: leadership.leader === brokerId ? noLeader : leadership.leader,
      leaderEpoch: leadership.leaderEpoch + 1,
      isr: leadership.isr.length === 1 ? leadership.isr : leadership.isr.filter((replica) => replica !== brokerId),
      isLeaderRecovering: leadership.isLeaderRecovering,
      controllerEpoch: this.#parts.context.controllerEpoch,
      partitionEpoch: leadership.partitionEpoch,
    };
  }

  #warn({ partition, brokerId }: Replica, target: ReplicaStateName, reason: string): void {
    this.#parts.logger.warn('A replica did not change its state', {
      partition: describePartition(partition),
      replica: brokerId,
      target,
      reason,
    });
  }
}
