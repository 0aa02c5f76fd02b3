// How much replication may cost while partitions are moved: a rate in bytes a second, for the replicas that a topic names as throttled. A
// leader has one for what it sends, a follower one for what it fetches. Nothing is delayed: while the rate is exceeded, throttled
// replicas that are not in sync get nothing.

import type { Clock } from '@odradek/runtime';
import { WindowedRate } from '../quotas/windowed-rate.ts';

export interface ReplicationQuotaParts {
  readonly clock: Clock;
  /** leader.replication.throttled.rate or follower.replication.throttled.rate, in bytes a second. */
  readonly limit: () => number;
  /** leader.replication.throttled.replicas or follower.replication.throttled.replicas of the topic. */
  readonly throttledReplicas: (topic: string) => string | undefined;
  readonly brokerId: number;
  /** replication.quota.window.num and replication.quota.window.size.seconds */
  readonly windowCount: number;
  readonly windowMs: number;
}

export class ReplicationQuota {
  readonly #parts: ReplicationQuotaParts;
  readonly #rate: WindowedRate;
  readonly #parsed = new Map<string, 'all' | ReadonlySet<number>>();

  constructor(parts: ReplicationQuotaParts) {
    const { clock, windowCount: count, windowMs: sizeMs } = parts;
    this.#parts = parts;
    this.#rate = new WindowedRate(clock, { count, sizeMs, atLeast: 1 });
  }

  isThrottled(topic: string, partition: number): boolean {
    const text = this.#parts.throttledReplicas(topic);
    if (text === undefined || text === '') return false;
    const replicas = this.#replicasIn(text);
    return replicas === 'all' || replicas.has(partition);
  }

  /** Throttled replicas have moved so many bytes. */
  record(bytes: number): void {
    this.#rate.record(bytes);
  }

  get isExceeded(): boolean {
    const limit = this.#parts.limit();
    return limit < Number.MAX_SAFE_INTEGER && this.bytesPerSecond > limit;
  }

  /** Over the windows that are kept, and since the first record where that is less; over one window at least. */
  get bytesPerSecond(): number {
    return this.#rate.perSecond;
  }

  /** Topics have few different values, and they are looked up with every fetch. */
  #replicasIn(text: string): 'all' | ReadonlySet<number> {
    let replicas = this.#parsed.get(text);
    if (replicas === undefined) {
      if (this.#parsed.size >= 1000) this.#parsed.clear();
      replicas = text.trim() === '*' ? 'all' : partitionsOf(text, this.#parts.brokerId);
      this.#parsed.set(text, replicas);
    }
    return replicas;
  }
}

/** Of `partition:broker,partition:broker,…` the partitions of one broker. */
function partitionsOf(text: string, brokerId: number): ReadonlySet<number> {
  const partitions = new Set<number>();
  for (const entry of text.split(',')) {
    const [partition, broker] = entry.trim().split(':');
    if (partition !== undefined && broker !== undefined && Number(broker) === brokerId) partitions.add(Number(partition));
  }
  return partitions;
}
