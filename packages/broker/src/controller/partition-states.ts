// The states of partitions: which may follow which, and what is done on the way.
//
//   NonExistent ──► New ──► Online ◄──► Offline ──► NonExistent
//                    └──────────────────► ▲
//
// NonExistent: never created, or deleted. New: has an assignment and no leader yet. Online: has had a leader elected, who may
// since have died. Offline: its leader is gone. Online is reached by an election, also from Online itself.

import { isCoordinationError } from '@odradek/coordination';
import type { Logger } from '@odradek/runtime';
import type { BrokerRequests } from './broker-requests.ts';
import {
  type ControllerContext,
  describePartition,
  type Leadership,
  type PartitionContext,
  type PartitionStateName,
} from './controller-context.ts';
import type { ControllerTree, LeadershipOutcome, LeadershipWrite } from './controller-tree.ts';
import {
  type Candidates,
  type Elected,
  electAfterFailure,
  electForReassignment,
  electForShutdown,
  electPreferred,
} from './leader-election.ts';

/** The states from which each may be reached. */
export const previousPartitionStates: Readonly<Record<PartitionStateName, readonly PartitionStateName[]>> = {
  NonExistent: ['Offline'],
  New: ['NonExistent'],
  Online: ['New', 'Online', 'Offline'],
  Offline: ['New', 'Online', 'Offline'],
};

export type ElectionKind =
  /** `allowUnclean` overrides the topic's config: an operator asked for it. */
  | { readonly type: 'afterFailure'; readonly allowUnclean?: boolean }
  | { readonly type: 'reassignment' }
  | { readonly type: 'preferred' }
  | { readonly type: 'shutdown' };

/** A partition that did not get where it should, and why. */
export interface FailedTransition {
  readonly partition: PartitionContext;
  readonly reason: string;
}

export interface PartitionStatesParts {
  readonly context: ControllerContext;
  readonly tree: ControllerTree;
  readonly requests: BrokerRequests;
  readonly isUncleanElectionEnabled: (topic: string) => boolean;
  readonly logger: Logger;
}

/** How often an election starts over because a leader changed the ISR meanwhile. */
const electionAttempts = 10;
/** How many partitions a line of the log names. */
const mostNamed = 5;

export class PartitionStates {
  readonly #parts: PartitionStatesParts;

  constructor(parts: PartitionStatesParts) {
    this.#parts = parts;
  }

  /** The states that follow from what was loaded. */
  initialize(): void {
    const { context } = this.#parts;
    for (const partition of context.partitions()) {
      if (partition.leadership === undefined) partition.state = 'New';
      else partition.state = context.isReplicaOnline(partition, partition.leadership.leader) ? 'Online' : 'Offline';
    }
  }

  /** Tries to find leaders for all that have none. */
  async electWherePossible(topicName?: string): Promise<FailedTransition[]> {
    const { context } = this.#parts;
    const leaderless = [...context.partitions()].filter(
      ({ state, topic }) =>
        (state === 'Offline' || state === 'New') &&
        (topicName === undefined || topic.name === topicName) &&
        !context.isMarkedForDeletion(topic.name),
    );
    return this.change(leaderless, 'Online', { type: 'afterFailure' });
  }

  /** Takes the partitions to the state, and gathers requests to the brokers. Answers those that failed, which are logged. */
  async change(
    partitions: readonly PartitionContext[],
    target: PartitionStateName,
    election: ElectionKind = { type: 'afterFailure' },
  ): Promise<FailedTransition[]> {
    const legal: PartitionContext[] = [];
    const failed: FailedTransition[] = [];
    for (const partition of partitions) {
      if (previousPartitionStates[target].includes(partition.state)) legal.push(partition);
      else failed.push({ partition, reason: `it is ${partition.state}` });
    }
    if (target === 'Online') {
      const created = legal.filter(({ state }) => state === 'New');
      const existing = legal.filter(({ state }) => state !== 'New');
      failed.push(...(await this.#initialize(created)), ...(await this.#elect(existing, election)));
    } else {
      for (const partition of legal) partition.state = target;
    }
    this.#report(failed, target);
    return failed;
  }

  /** A line for each reason: all partitions of a broker that is gone may have the same. */
  #report(failed: readonly FailedTransition[], target: PartitionStateName): void {
    for (const alike of Map.groupBy(failed, ({ partition, reason }) => `${partition.state} ${reason}`).values()) {
      const [{ partition, reason }] = alike as [FailedTransition];
      const named = alike.slice(0, mostNamed).map((each) => describePartition(each.partition));
      const others = alike.length - named.length;
      this.#parts.logger.warn('Partitions did not change their state', {
        partitions: `${named.join(', ')}${others > 0 ? ` and ${others} more` : ''}`,
        state: partition.state,
        target,
        reason,
      });
    }
  }

  /** The first leader of a new partition is its first live replica; all live replicas are in sync, there being nothing to copy. */
  async #initialize(partitions: readonly PartitionContext[]): Promise<FailedTransition[]> {
    const { context, tree, requests } = this.#parts;
    const failed: FailedTransition[] = [];
    const writes: LeadershipWrite[] = [];
    for (const partition of partitions) {
      const live = partition.assignedReplicas.filter((brokerId) => context.isReplicaOnline(partition, brokerId));
      const [leader] = live;
      if (leader === undefined)
        failed.push({ partition, reason: `none of its replicas ${partition.assignedReplicas.join(', ')} is alive` });
      else {
        const { controllerEpoch } = context;
        writes.push({
          partition,
          leadership: { leader, leaderEpoch: 0, isr: live, isLeaderRecovering: false, controllerEpoch, partitionEpoch: 0 },
        });
      }
    }
    for (const outcome of await tree.createLeaderships(writes)) {
      const { partition } = outcome;
      if ('error' in outcome) failed.push({ partition, reason: String(outcome.error) });
      else {
        partition.leadership = outcome.leadership;
        partition.state = 'Online';
        requests.addLeaderAndIsr(outcome.leadership.isr, partition, true);
      }
    }
    return failed;
  }

  async #elect(partitions: readonly PartitionContext[], election: ElectionKind): Promise<FailedTransition[]> {
    const failed: FailedTransition[] = [];
    let remaining = partitions;
    for (let attempt = 0; remaining.length > 0; attempt++) {
      if (attempt === electionAttempts) {
        failed.push(...remaining.map((partition) => ({ partition, reason: 'its state keeps changing' })));
        break;
      }
      const { again, failures } = await this.#electOnce(remaining, election);
      failed.push(...failures);
      remaining = again;
    }
    return failed;
  }

  async #electOnce(
    partitions: readonly PartitionContext[],
    election: ElectionKind,
  ): Promise<{ readonly again: PartitionContext[]; readonly failures: FailedTransition[] }> {
    const { context, tree } = this.#parts;
    const failures: FailedTransition[] = [];
    const writes: LeadershipWrite[] = [];
    // From the tree, not from memory: brokers of old versions change the ISR there themselves.
    const current = await tree.readLeaderships(partitions);
    partitions.forEach((partition, index) => {
      const leadership = current[index];
      if (leadership === undefined) failures.push({ partition, reason: 'it has no state in the tree' });
      else if (leadership.controllerEpoch > context.controllerEpoch) {
        failures.push({ partition, reason: `the controller of epoch ${leadership.controllerEpoch} has written its state` });
      } else {
        const elected = this.#candidate(partition, leadership, election);
        if (elected === undefined)
          failures.push({ partition, reason: `no replica can lead: in sync are ${leadership.isr.join(', ')}` });
        else {
          writes.push({
            partition,
            leadership: {
              leader: elected.leader,
              leaderEpoch: leadership.leaderEpoch + 1,
              isr: elected.isr,
              isLeaderRecovering: leadership.isLeaderRecovering || elected.isUnclean,
              controllerEpoch: context.controllerEpoch,
              partitionEpoch: leadership.partitionEpoch,
            },
          });
        }
      }
    });
    const again: PartitionContext[] = [];
    for (const outcome of await tree.updateLeaderships(writes)) this.#take(outcome, again, failures);
    return { again, failures };
  }

  /** Writes the same leader and in-sync replicas under the next leader epoch, so that whoever is told takes notice. */
  async raiseLeaderEpoch(partition: PartitionContext): Promise<void> {
    const { context, tree, logger } = this.#parts;
    for (let attempt = 0; attempt < electionAttempts; attempt++) {
      const [current] = await tree.readLeaderships([partition]);
      if (current === undefined) break;
      const leadership = { ...current, leaderEpoch: current.leaderEpoch + 1, controllerEpoch: context.controllerEpoch };
      const [outcome] = await tree.updateLeaderships([{ partition, leadership }]);
      if (outcome !== undefined && 'leadership' in outcome) {
        partition.leadership = outcome.leadership;
        return;
      }
      if (!isCoordinationError(outcome?.error, 'BadVersion')) throw outcome?.error;
    }
    logger.warn('The leader epoch of a partition could not be raised', { partition: describePartition(partition) });
  }

  #candidate(partition: PartitionContext, leadership: Leadership, election: ElectionKind): Elected | undefined {
    const { context, isUncleanElectionEnabled } = this.#parts;
    const { assignedReplicas } = partition;
    const candidates: Candidates = {
      assignedReplicas,
      isr: leadership.isr,
      isOnline: (brokerId) => context.isReplicaOnline(partition, brokerId, { includeShuttingDown: election.type === 'shutdown' }),
    };
    switch (election.type) {
      case 'afterFailure':
        return electAfterFailure(candidates, election.allowUnclean === true || isUncleanElectionEnabled(partition.topic.name));
      case 'reassignment':
        return electForReassignment(
          candidates,
          assignedReplicas.filter((brokerId) => !partition.removingReplicas.includes(brokerId)),
        );
      case 'preferred':
        return electPreferred(candidates);
      case 'shutdown':
        return electForShutdown(candidates, (brokerId) => context.shuttingDownBrokers.has(brokerId));
    }
  }

  #take(outcome: LeadershipOutcome, again: PartitionContext[], failures: FailedTransition[]): void {
    const { context, requests } = this.#parts;
    const { partition } = outcome;
    if ('error' in outcome) {
      if (isCoordinationError(outcome.error, 'BadVersion')) again.push(partition);
      else failures.push({ partition, reason: String(outcome.error) });
      return;
    }
    partition.leadership = outcome.leadership;
    partition.state = 'Online';
    const live = partition.assignedReplicas.filter((brokerId) =>
      context.isReplicaOnline(partition, brokerId, { includeShuttingDown: true }),
    );
    requests.addLeaderAndIsr(live, partition, false);
  }
}
