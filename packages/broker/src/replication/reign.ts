// One reign: what a broker keeps of its followers from the moment at which it becomes leader of a partition, in one leader epoch, until it
// is so no more. It knows who is in sync, and agrees on changes with the controller, one at a time.
//
//   agreed -> growing   a follower has all that it needs       -> agreed   the controller has written it, or will not
//   agreed -> shrinking followers lag for too long             -> agreed

import { errorCodes } from '@odradek/protocol';
import type { Clock, Logger } from '@odradek/runtime';
import { sharedSet } from '../metadata/replica-lists.ts';
import { FollowerState } from './follower-state.ts';
import {
  afterRefusal,
  hasEnoughInSync,
  highWatermarkOf,
  type InSyncState,
  laggards,
  largestSet,
  mayJoin,
  type Proposal,
  withoutReplicas,
  withReplica,
} from './in-sync-replicas.ts';
import type { PartitionState } from './partition.ts';

/** What a leader asks of the controller. */
export interface InSyncProposal {
  readonly topic: string;
  readonly topicId: string;
  readonly partition: number;
  readonly leaderEpoch: number;
  /** Of the state that is to be changed. */
  readonly partitionEpoch: number;
  /** The whole new set. Epoch -1: not known. */
  readonly isr: readonly { readonly brokerId: number; readonly brokerEpoch: number }[];
}

/** The controller's answer: without an error the state that holds now. */
export interface InSyncAnswer {
  readonly errorCode: number;
  readonly leaderEpoch: number;
  readonly isr: readonly number[];
  readonly partitionEpoch: number;
}

/** The way to the controller. Rejects only when it is given up for good. */
export type ProposeInSync = (proposal: InSyncProposal) => Promise<InSyncAnswer>;

/** What a reign needs of its surroundings. */
export interface ReignParts {
  readonly brokerId: number;
  readonly clock: Clock;
  readonly logger: Logger;
  /** replica.lag.time.max.ms */
  readonly maxReplicaLagMs: () => number;
  /** Of this broker, and whether others are there. */
  readonly brokerEpoch: () => number;
  readonly isBrokerAlive: (brokerId: number) => boolean;
  readonly propose: ProposeInSync;
}

export interface ReignOf {
  readonly topic: string;
  readonly index: number;
  readonly topicId: string;
  /** The in-sync replicas have changed: the high watermark may move, and more may change. */
  inSyncChanged(change: 'grown' | 'shrunk'): void;
}

export class Reign {
  readonly leaderEpoch: number;
  /** Where the log ended when it began; the high watermark is not known to be right before it gets there. */
  readonly startOffset: number;
  readonly #parts: ReignParts;
  readonly #partition: ReignOf;
  /** Few, whatever the partition. */
  #followers: readonly FollowerState[] = [];
  #inSync: InSyncState;
  #partitionEpoch: number;
  #assignedCount: number;
  #isOver = false;

  constructor(parts: ReignParts, partition: ReignOf, state: PartitionState, startOffset: number) {
    this.#parts = parts;
    this.#partition = partition;
    this.leaderEpoch = state.leaderEpoch;
    this.startOffset = startOffset;
    this.#inSync = { kind: 'agreed', isr: sharedSet(state.isr) };
    this.#partitionEpoch = state.partitionEpoch;
    this.#assignedCount = state.replicas.length;
    this.#assign(state.replicas);
  }

  /** As agreed on last. */
  get inSyncReplicas(): ReadonlySet<number> {
    return this.#inSync.isr;
  }

  get partitionEpoch(): number {
    return this.#partitionEpoch;
  }

  get followers(): Iterable<FollowerState> {
    return this.#followers;
  }

  follower(brokerId: number): FollowerState | undefined {
    for (const follower of this.#followers) if (follower.brokerId === brokerId) return follower;
    return undefined;
  }

  /** Something happens to the partition: each follower has to be looked at again. */
  stirFollowers(): void {
    for (const follower of this.#followers) follower.stir();
  }

  /** What the controller says within the reign. Something older than what is known is left alone: an answer to a proposal was quicker. */
  update(state: PartitionState): void {
    if (state.partitionEpoch <= this.#partitionEpoch) return;
    this.#inSync = { kind: 'agreed', isr: sharedSet(state.isr) };
    this.#partitionEpoch = state.partitionEpoch;
    this.#assignedCount = state.replicas.length;
    this.#assign(state.replicas);
  }

  /** Answers of the controller do not count any more. */
  end(): void {
    this.#isOver = true;
  }

  hasEnoughInSync(minInSyncReplicas: number): boolean {
    return hasEnoughInSync(this.#inSync.isr.size, minInSyncReplicas, this.#assignedCount);
  }

  /** As `hasEnoughInSync`, for what is written already: also a replica that is about to be counted has it. */
  hadEnoughInSync(minInSyncReplicas: number): boolean {
    return hasEnoughInSync(largestSet(this.#inSync).size, minInSyncReplicas, this.#assignedCount);
  }

  /** The offset up to which all have the log who could lead it next. */
  committedEnd(writtenEndOffset: number): number {
    if (this.#followers.length === 0) return writtenEndOffset;
    return highWatermarkOf(writtenEndOffset, largestSet(this.#inSync), this.#followers, this.#lagLimit(), (brokerId) =>
      this.#parts.isBrokerAlive(brokerId),
    );
  }

  /** Asks the controller to count the follower in, if it has what it needs. */
  maybeGrow(follower: FollowerState, highWatermark: number): void {
    const { brokerId } = follower;
    if (this.#inSync.kind !== 'agreed' || this.#inSync.isr.has(brokerId)) return;
    if (!mayJoin(follower, highWatermark, this.startOffset) || !this.#parts.isBrokerAlive(brokerId)) return;
    this.#propose(withReplica(this.#inSync.isr, brokerId));
  }

  /** Asks the controller not to count followers any more that lag for too long. */
  maybeShrink(leaderEndOffset: number): void {
    if (this.#inSync.kind !== 'agreed') return;
    const late = laggards(leaderEndOffset, this.#inSync.isr, this.#followers, this.#lagLimit());
    if (late.length > 0) this.#propose(withoutReplicas(this.#inSync.isr, late));
  }

  #propose(proposal: Proposal): void {
    const { topic, index, topicId } = this.#partition;
    this.#inSync = proposal;
    const { leaderEpoch, partitionEpoch } = this;
    this.#parts.logger.info(`Asking for in-sync replicas ${[...proposal.proposed].join(',')}`, {
      topic,
      partition: index,
      before: [...proposal.isr].join(','),
      leaderEpoch,
      partitionEpoch,
    });
    const isr = [...proposal.proposed].map((brokerId) => ({ brokerId, brokerEpoch: this.#brokerEpochOf(brokerId) }));
    this.#parts.propose({ topic, topicId, partition: index, leaderEpoch, partitionEpoch, isr }).then(
      (answer) => this.#settle(proposal, answer),
      (error: unknown) => this.#parts.logger.debug('A change of in-sync replicas was given up', { topic, partition: index, error }),
    );
  }

  #brokerEpochOf(brokerId: number): number {
    return brokerId === this.#parts.brokerId ? this.#parts.brokerEpoch() : (this.follower(brokerId)?.brokerEpoch ?? -1);
  }

  #settle(proposal: Proposal, answer: InSyncAnswer): void {
    // Meanwhile the controller has told this broker what holds.
    if (this.#isOver || this.#inSync !== proposal) return;
    if (answer.errorCode !== errorCodes.NONE) {
      this.#refused(proposal, answer.errorCode);
      return;
    }
    if (answer.leaderEpoch !== this.leaderEpoch || answer.partitionEpoch < this.#partitionEpoch) return;
    this.#inSync = { kind: 'agreed', isr: sharedSet(answer.isr) };
    this.#partitionEpoch = answer.partitionEpoch;
    this.#partition.inSyncChanged(proposal.kind === 'growing' ? 'grown' : 'shrunk');
  }

  #refused(proposal: Proposal, errorCode: number): void {
    const { topic, index } = this.#partition;
    const then = afterRefusal(errorCode);
    this.#parts.logger.info('The controller has refused a change of in-sync replicas', {
      topic,
      partition: index,
      errorCode,
      then,
    });
    switch (then) {
      case 'withdraw':
        this.#inSync = { kind: 'agreed', isr: proposal.isr };
        return;
      case 'wait':
        return;
      case 'repeat':
        this.#propose(proposal);
    }
  }

  /** Followers come and go with the assignment; what is known of those that stay is kept. */
  #assign(replicas: readonly number[]): void {
    const nowMs = this.#parts.clock.monotonicMs();
    const before = this.#followers;
    this.#followers = replicas
      .filter((brokerId) => brokerId !== this.#parts.brokerId)
      .map((brokerId) => this.follower(brokerId) ?? new FollowerState(brokerId, this.#inSync.isr.has(brokerId), nowMs));
    for (const follower of before) if (!replicas.includes(follower.brokerId)) follower.stir();
  }

  #lagLimit(): { readonly nowMs: number; readonly maxLagMs: number } {
    return { nowMs: this.#parts.clock.monotonicMs(), maxLagMs: this.#parts.maxReplicaLagMs() };
  }
}
