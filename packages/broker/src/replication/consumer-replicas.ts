// Where consumers should read: a leader sends those that tell their rack to the replica that the selector chooses for them (KIP-392).

import type { MetadataCache } from '../metadata/metadata-cache.ts';
import type { Partition } from './partition.ts';
import type { ReplicaSelector, ReplicaView } from './replica-selector.ts';

export class ConsumerReplicas {
  readonly #brokerId: number;
  readonly #metadataCache: MetadataCache;
  readonly #select: ReplicaSelector;

  constructor(parts: { readonly brokerId: number; readonly metadataCache: MetadataCache; readonly select: ReplicaSelector }) {
    this.#brokerId = parts.brokerId;
    this.#metadataCache = parts.metadataCache;
    this.#select = parts.select;
  }

  /** The replica to ask in place of this one, reachable by the listener; undefined: this one. Only leaders send readers elsewhere. */
  betterFor(rackId: string, partition: Partition, fetchOffset: number, listener: string): number | undefined {
    if (!partition.isLeader) return undefined;
    const { current } = this.#metadataCache;
    const rackOf = (brokerId: number): string | null => current.broker(brokerId)?.rack ?? null;
    const leader: ReplicaView = {
      brokerId: this.#brokerId,
      rack: rackOf(this.#brokerId),
      logEndOffset: partition.log.logEndOffset,
      lastCaughtUpMs: Number.POSITIVE_INFINITY,
    };
    const replicas = [leader];
    const { inSyncReplicas } = partition;
    for (const { brokerId, logEndOffset, logStartOffset, lastCaughtUpMs } of partition.followers) {
      // Who is not in sync may lag behind what is committed; who has not got the offset would answer OFFSET_OUT_OF_RANGE.
      if (!inSyncReplicas.has(brokerId) || fetchOffset > logEndOffset || fetchOffset < logStartOffset) continue;
      if (current.endpoint(brokerId, listener) === undefined) continue;
      replicas.push({ brokerId, rack: rackOf(brokerId), logEndOffset, lastCaughtUpMs });
    }
    const chosen = this.#select(rackId, replicas)?.brokerId;
    return chosen === this.#brokerId ? undefined : chosen;
  }
}
