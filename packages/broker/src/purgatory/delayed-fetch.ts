// A fetch waits until its partitions have enough new bytes for it, one of them changes its leader, or the time is up.

import type { WantedPartition } from '../replication/fetch-sessions.ts';
import type { Isolation, Partition } from '../replication/partition.ts';
import type { ReplicaManager } from '../replication/replica-manager.ts';
import type { DelayedOperation } from './delayed-operation.ts';

export interface FetchWait {
  readonly wanted: readonly WantedPartition[];
  readonly isolation: Isolation;
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
    const operation = new DelayedFetch(replicaManager, partitions, wait, resolve);
    replicaManager.delayedFetches.watch(operation, partitions, wait.maxWaitMs);
  });
}

class DelayedFetch implements DelayedOperation<Partition> {
  readonly #partitions: readonly Partition[];
  readonly #replicaManager: ReplicaManager;
  readonly #wait: FetchWait;
  readonly #done: (changed: ReadonlySet<WantedPartition> | undefined) => void;
  readonly #changed = new Set<WantedPartition>();
  /** Of each partition: the reign in which the fetch began. */
  readonly #leaderEpochs: readonly number[];
  readonly #writtenAtStart: number;

  constructor(
    replicaManager: ReplicaManager,
    partitions: readonly Partition[],
    wait: FetchWait,
    done: (changed: ReadonlySet<WantedPartition> | undefined) => void,
  ) {
    this.#replicaManager = replicaManager;
    this.#partitions = partitions;
    this.#wait = wait;
    this.#done = done;
    this.#leaderEpochs = partitions.map(({ leaderEpoch }) => leaderEpoch);
    this.#writtenAtStart = this.#writtenBytes();
  }

  tryComplete(changed?: Partition): boolean {
    // A first look without news would find what the fetch has just found.
    if (changed === undefined) return false;
    const index = this.#partitions.indexOf(changed);
    const wanted = this.#wait.wanted[index];
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
    const { wanted, isolation, isHeldBack, minBytes, sizeBytes } = this.#wait;
    const fetchOffset = wanted[index]?.fetchOffset ?? 0;
    if (partition.readableEnd(isolation) <= fetchOffset || isHeldBack?.(partition) === true) return false;
    return minBytes <= 1 || sizeBytes + this.#writtenBytes() - this.#writtenAtStart >= minBytes;
  }

  #writtenBytes(): number {
    let sum = 0;
    for (const partition of this.#partitions) sum += partition.writtenBytes;
    return sum;
  }
}
