// Answers that refuse a partition tell in newer versions who leads it now, and where that broker is: the client need not ask again.

import type { MetadataCache } from '../metadata/metadata-cache.ts';
import type { ReplicaManager } from '../replication/replica-manager.ts';

export interface NodeEndpoint {
  readonly nodeId: number;
  readonly host: string;
  readonly port: number;
  readonly rack: string | null;
}

/** Gathers the leaders that one answer names. */
export class LeaderHints {
  readonly #parts: { readonly replicaManager: ReplicaManager; readonly metadataCache: MetadataCache };
  readonly #listener: string;
  readonly #nodes = new Map<number, NodeEndpoint>();

  constructor(parts: { readonly replicaManager: ReplicaManager; readonly metadataCache: MetadataCache }, listener: string) {
    this.#parts = parts;
    this.#listener = listener;
  }

  /** Every broker that `currentLeader` named. */
  get nodeEndpoints(): NodeEndpoint[] {
    return [...this.#nodes.values()];
  }

  /** What this broker knows first hand, else what the controller told all. */
  currentLeader(topic: string, index: number): { readonly leaderId: number; readonly leaderEpoch: number } {
    const { replicaManager, metadataCache } = this.#parts;
    const known = replicaManager.find(topic, index) ?? metadataCache.current.partition(topic, index);
    if (known === undefined) return { leaderId: -1, leaderEpoch: -1 };
    this.#addNode(known.leader);
    return { leaderId: known.leader, leaderEpoch: known.leaderEpoch };
  }

  #addNode(brokerId: number): void {
    if (this.#nodes.has(brokerId)) return;
    const { current } = this.#parts.metadataCache;
    const endpoint = current.endpoint(brokerId, this.#listener);
    if (endpoint === undefined) return;
    const rack = current.broker(brokerId)?.rack ?? null;
    this.#nodes.set(brokerId, { nodeId: brokerId, host: endpoint.host, port: endpoint.port, rack });
  }
}
