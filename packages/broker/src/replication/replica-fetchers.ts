// All that this broker follows, spread over fetchers: for each broker that leads something followed here num.replica.fetchers of them,
// a partition always with the same one. A fetcher without partitions ends.

import { BrokerPool, type Connection, ConnectionError, type NodeAddress } from '@odradek/client/connection';
import type { BufferPool, Network, Random } from '@odradek/runtime';
import type { Partition } from './partition.ts';
import { ReplicaFetcher, type ReplicaFetcherParts } from './replica-fetcher.ts';

export interface ReplicaFetchersParts extends Omit<ReplicaFetcherParts, 'connect'> {
  readonly network: Network;
  readonly random: Random;
  readonly framePool: BufferPool;
  /** Where a broker is reached by other brokers; undefined: not known now. */
  readonly addressOf: (brokerId: number) => NodeAddress | undefined;
  /** num.replica.fetchers */
  readonly fetchersPerBroker: () => number;
}

interface RunningFetcher {
  readonly fetcher: ReplicaFetcher;
  readonly pool: BrokerPool;
}

export class ReplicaFetchers {
  readonly #parts: ReplicaFetchersParts;
  /** By broker and number. */
  readonly #running = new Map<string, RunningFetcher>();
  /** Where each partition is followed. */
  readonly #places = new Map<Partition, ReplicaFetcher>();
  readonly #ending = new Set<Promise<void>>();
  #fetchersPerBroker: number;
  #isClosed = false;

  constructor(parts: ReplicaFetchersParts) {
    this.#parts = parts;
    this.#fetchersPerBroker = parts.fetchersPerBroker();
  }

  get partitionCount(): number {
    return this.#places.size;
  }

  /** Partitions that are given up until the controller has something new to say. */
  get failedCount(): number {
    let count = 0;
    for (const { fetcher } of this.#running.values()) count += fetcher.failedCount;
    return count;
  }

  get maxLag(): number {
    let most = 0;
    for (const { fetcher } of this.#running.values()) most = Math.max(most, fetcher.maxLag);
    return most;
  }

  /** These have a leader, or another one, or one in a new epoch. All are taken over before fetchers without work end. */
  follow(partitions: Iterable<Partition>): void {
    if (this.#isClosed) return;
    for (const partition of partitions) {
      if (partition.leader < 0 || partition.leader === this.#parts.brokerId) {
        this.#leave(partition);
        continue;
      }
      const fetcher = this.#fetcherFor(partition);
      const before = this.#places.get(partition);
      if (before !== fetcher) before?.unfollow(partition);
      this.#places.set(partition, fetcher);
      fetcher.follow(partition);
    }
    this.#endIdle();
  }

  /** This broker leads them now, or has them no more. */
  unfollow(partitions: Iterable<Partition>): void {
    for (const partition of partitions) this.#leave(partition);
    this.#endIdle();
  }

  logChanged(partition: Partition): void {
    this.#places.get(partition)?.logChanged(partition);
  }

  /** num.replica.fetchers has changed: everything is spread anew. */
  resize(): void {
    if (this.#fetchersPerBroker === this.#parts.fetchersPerBroker()) return;
    this.#fetchersPerBroker = this.#parts.fetchersPerBroker();
    this.follow([...this.#places.keys()]);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#places.clear();
    for (const key of [...this.#running.keys()]) this.#end(key);
    await Promise.all(this.#ending);
  }

  #leave(partition: Partition): void {
    this.#places.get(partition)?.unfollow(partition);
    this.#places.delete(partition);
  }

  #fetcherFor({ topic, index, leader }: Partition): ReplicaFetcher {
    const number = fetcherNumber(topic, index, this.#fetchersPerBroker);
    const key = `${leader}/${number}`;
    let running = this.#running.get(key);
    if (running === undefined) {
      running = this.#start(leader, number);
      this.#running.set(key, running);
    }
    return running.fetcher;
  }

  #start(leader: number, number: number): RunningFetcher {
    const { brokerId, settings } = this.#parts;
    const logger = this.#parts.logger.child(`fetcher ${leader}/${number}`);
    const pool = new BrokerPool(
      { ...this.#parts, logger },
      { clientId: `broker-${brokerId}-fetcher-${number}`, requestTimeoutMs: settings().timeoutMs, maxInFlight: 1 },
    );
    const fetcher = new ReplicaFetcher({ ...this.#parts, logger, connect: () => this.#connect(pool, leader) });
    return { fetcher, pool };
  }

  #connect(pool: BrokerPool, leader: number): Promise<Connection> {
    const address = this.#parts.addressOf(leader);
    // It may be down, or this broker has not been told yet. A connection that is open is good as long as it works.
    if (address !== undefined) pool.setNode(leader, address);
    else if (pool.openConnection(leader) === undefined) {
      return Promise.reject(new ConnectionError('unreachable', `The address of broker ${leader} is not known`));
    }
    return pool.connection(leader);
  }

  #endIdle(): void {
    for (const [key, { fetcher }] of this.#running) if (fetcher.partitionCount === 0) this.#end(key);
  }

  #end(key: string): void {
    const running = this.#running.get(key);
    if (running === undefined) return;
    this.#running.delete(key);
    running.pool.close();
    const ending = running.fetcher.close().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }
}

/** As Kafka spreads them: by the hash that Java has for the topic's name. */
export function fetcherNumber(topic: string, partition: number, count: number): number {
  let hash = 0;
  for (let i = 0; i < topic.length; i++) hash = (Math.imul(hash, 31) + topic.charCodeAt(i)) | 0;
  const sum = (Math.imul(hash, 31) + partition) | 0;
  return (sum === -0x8000_0000 ? 0 : Math.abs(sum)) % count;
}
