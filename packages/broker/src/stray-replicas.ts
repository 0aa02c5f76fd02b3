// Replicas of which nobody has told this broker that they are not its own any more. A controller waits for no broker that is gone, so one
// that lives on without its session, starts and waits for its old session to end, or cannot be reached when the controller changes,
// keeps what was moved away meanwhile, or deleted. Metadata tells that a partition is elsewhere, or not there any more; if the order to
// stop does not come either, and the tree says the same, the log is put aside as the next start would.

import type { Coordination } from '@odradek/coordination';
import { zeroUuid } from '@odradek/protocol';
import type { Logger, Timer, TimerTask } from '@odradek/runtime';
import type { PartitionLog } from '@odradek/storage';
import { announceLogDirectoryFailure } from './broker-registration.ts';
import { findStrays } from './found-logs.ts';
import type { MetadataCache, MetadataSnapshot } from './metadata/metadata-cache.ts';
import type { ReplicaManager } from './replication/replica-manager.ts';

export interface StrayReplicasParts {
  readonly brokerId: number;
  readonly coordination: Coordination;
  readonly metadataCache: MetadataCache;
  readonly replicaManager: ReplicaManager;
  readonly timer: Timer;
  readonly logger: Logger;
}

/** How long an order to stop may take after the metadata. */
const patienceMs = 10_000;

export class StrayReplicas {
  readonly #parts: StrayReplicasParts;
  readonly #stopListening: () => void;
  #check: TimerTask | undefined;
  #isClosed = false;

  constructor(parts: StrayReplicasParts) {
    this.#parts = parts;
    this.#stopListening = parts.metadataCache.onUpdate((current, _, touched) => {
      if (this.#check === undefined) this.#checkLater(this.#suspects(current, touched));
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#stopListening();
    this.#check?.cancel();
  }

  #checkLater(suspects: readonly PartitionLog[]): void {
    if (this.#isClosed || suspects.length === 0) return;
    this.#check = this.#parts.timer.schedule(patienceMs, () => {
      this.#putAside(new Set(suspects)).then(
        (others) => {
          this.#check = undefined;
          this.#checkLater(others);
        },
        (error: unknown) => {
          this.#parts.logger.debug('It could not be found out which replicas are elsewhere by now', { error });
          this.#checkLater(suspects);
        },
      );
    });
  }

  /** Answers those that have become suspect meanwhile: orders for them may be on their way. */
  async #putAside(suspected: ReadonlySet<PartitionLog>): Promise<PartitionLog[]> {
    const { brokerId, coordination, metadataCache, replicaManager, logger } = this.#parts;
    const { current } = metadataCache;
    const names = [...current.topics()].map(({ name }) => name);
    // A topic may be gone by now.
    for (const { topicPartition } of suspected) names.push(topicPartition.topic);
    const suspects = this.#suspects(current, new Set(names));
    const orders = new Map(suspects.filter((log) => suspected.has(log)).map((log) => [log, this.#orderFor(log)]));
    let mustOrder = false;
    for (const log of await findStrays([...orders.keys()], coordination, brokerId)) {
      const { topicPartition } = log;
      if (this.#isClosed || this.#orderFor(log) !== orders.get(log)) continue;
      logger.warn('A replica is put aside, because its partition is on other brokers', { path: log.path, topicId: log.topicId });
      replicaManager.putAside(log);
      // A topic that was made anew under the name has been refused here as long as the log of the old one was in its place.
      mustOrder ||=
        metadataCache.current.partition(topicPartition.topic, topicPartition.partition)?.replicas.includes(brokerId) === true;
    }
    if (mustOrder) await announceLogDirectoryFailure(coordination, brokerId);
    return suspects.filter((log) => !suspected.has(log));
  }

  /** The epoch of the last order about the partition: one that is ordered back meanwhile is under a new one. */
  #orderFor({ topicPartition: { topic, partition } }: PartitionLog): number | undefined {
    return this.#parts.replicaManager.find(topic, partition)?.leaderEpoch;
  }

  /** What lies here and is elsewhere by the metadata, or nowhere, or of a topic that was there before under the name. */
  #suspects(current: MetadataSnapshot, topics: Iterable<string>): PartitionLog[] {
    const { brokerId, replicaManager } = this.#parts;
    const suspects: PartitionLog[] = [];
    for (const name of topics) {
      const topic = current.topic(name);
      const places = new Map((topic?.partitions ?? []).map(({ index, replicas }) => [index, replicas]));
      for (const index of new Set([...places.keys(), ...replicaManager.partitionsOf(name)])) {
        const log = replicaManager.foundLog(name, index);
        if (log === undefined) continue;
        const isOther = log.topicId !== topic?.id && log.topicId !== zeroUuid && topic?.id !== zeroUuid;
        if (isOther || places.get(index)?.includes(brokerId) !== true) suspects.push(log);
      }
    }
    return suspects;
  }
}
