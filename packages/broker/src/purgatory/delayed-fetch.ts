// A fetch waits until its partitions have enough new bytes for it, one of them changes its leader, a follower gets more to follow, or the
// time is up.

import type { WantedPartition } from '../replication/fetch-sessions.ts';
import type { Isolation, Partition } from '../replication/partition.ts';
import type { ReplicaManager } from '../replication/replica-manager.ts';
import type { RestingPartitions } from '../replication/resting-partitions.ts';
import type { DelayedOperation } from './delayed-operation.ts';

export interface FetchWait {
  readonly wanted: readonly WantedPartition[];
  /** What else a follower wants, in which nothing has happened yet. */
  readonly resting?: RestingPartitions | undefined;
  readonly isolation: Isolation;
  /** Of the follower that fetches; -1: it is a consumer. */
  readonly replicaId: number;
  /** Partitions whose new bytes do not count for the time being. */
  readonly isHeldBack?: (partition: Partition) => boolean;
  readonly minBytes: number;
  /** What was there at the first look. */
  readonly sizeBytes: number;
  readonly maxWaitMs: number;
}

/**
 * Settles when it is worth reading again, with those of the wanted in which something has happened meanwhile; undefined: the time is up, or
 * some have gone, and all should be looked at.
 */
export function enoughToFetch(replicaManager: ReplicaManager, wait: FetchWait): Promise<ReadonlySet<WantedPartition> | undefined> {
  const partitions: Partition[] = [];
  for (const { topic, partition: index } of wait.wanted) {
    const partition = topic === undefined ? undefined : replicaManager.find(topic, index);
    // It has gone since the first look: reading again gives the client its error.
    if (partition === undefined) return Promise.resolve(undefined);
    partitions.push(partition);
  }
  return new Promise((resolve) => {
    const { delayedFetches } = replicaManager;
    const operation = new DelayedFetch(replicaManager, partitions, wait, resolve);
    const keys = wait.replicaId < 0 ? partitions : [...partitions, wait.replicaId];
    const waiting = delayedFetches.watch(operation, keys, replicaManager.fetchWaitMs(wait.replicaId, wait.maxWaitMs));
    if (waiting === undefined || wait.resting === undefined) return;
    wait.resting.onAwake = (partition, wanted) => {
      if (waiting.isDone) return;
      operation.add(partition, wanted);
      delayedFetches.watchAlso(waiting, partition);
    };
  });
}

class DelayedFetch implements DelayedOperation<Partition | number> {
  readonly #partitions: Partition[];
  readonly #wanted: WantedPartition[];
  readonly #replicaManager: ReplicaManager;
  readonly #wait: FetchWait;
  readonly #done: (changed: ReadonlySet<WantedPartition> | undefined) => void;
  readonly #changed = new Set<WantedPartition>();
  /** Of each partition: the reign in which the fetch began. */
  readonly #leaderEpochs: number[];
  #writtenAtStart: number;

  constructor(
    replicaManager: ReplicaManager,
    partitions: Partition[],
    wait: FetchWait,
    done: (changed: ReadonlySet<WantedPartition> | undefined) => void,
  ) {
    this.#replicaManager = replicaManager;
    this.#partitions = partitions;
    this.#wanted = [...wait.wanted];
    this.#wait = wait;
    this.#done = done;
    this.#leaderEpochs = partitions.map(({ leaderEpoch }) => leaderEpoch);
    this.#writtenAtStart = this.#writtenBytes();
  }

  /** Something is about to happen to a partition that has rested so far. */
  add(partition: Partition, wanted: WantedPartition): void {
    this.#partitions.push(partition);
    this.#wanted.push(wanted);
    // It was in this epoch, or it would not have rested.
    this.#leaderEpochs.push(wanted.currentLeaderEpoch);
    this.#writtenAtStart += partition.writtenBytes;
  }

  tryComplete(changed?: Partition | number): boolean {
    // A first look without news would find what the fetch has just found.
    if (changed === undefined) return false;
    if (typeof changed === 'number') {
      this.#done(this.#changed);
      return true;
    }
    const index = this.#partitions.indexOf(changed);
    const wanted = this.#wanted[index];
    if (wanted !== undefined) this.#changed.add(wanted);
    if (!this.#hasMoved(index, changed) && !this.#hasEnough(index, changed)) return false;
    this.#done(this.#changed);
    return true;
  }

  expire(): void {
    this.#done(undefined);
  }

  /** The partition is no longer what it was when the fetch began: the client must be told. */
  #hasMoved(index: number, partition: Partition): boolean {
    return (
      !partition.hasLog ||
      partition.leaderEpoch !== this.#leaderEpochs[index] ||
      this.#replicaManager.find(partition.topic, partition.index) !== partition
    );
  }

  #hasEnough(index: number, partition: Partition): boolean {
    const { isolation, isHeldBack, minBytes, sizeBytes } = this.#wait;
    const fetchOffset = this.#wanted[index]?.fetchOffset ?? 0;
    if (partition.readableEnd(isolation) <= fetchOffset || isHeldBack?.(partition) === true) return false;
    return minBytes <= 1 || sizeBytes + this.#writtenBytes() - this.#writtenAtStart >= minBytes;
  }

  #writtenBytes(): number {
    let sum = 0;
    for (const partition of this.#partitions) sum += partition.writtenBytes;
    return sum;
  }
}
