// How much replication may cost while partitions are moved: a rate in bytes a second, for the replicas that a topic names as throttled. A
// leader has one for what it sends, a follower one for what it fetches. Nothing is delayed: while the rate is exceeded, throttled
// replicas that are not in sync get nothing.

import type { Clock } from '@odradek/runtime';

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
  /** The bytes of the last windows, of which the newest has this number. */
  readonly #windows: number[];
  #newest: number;
  /** The window in which anything was counted first. */
  #first: number;
  #sum = 0;
  readonly #parsed = new Map<string, 'all' | ReadonlySet<number>>();

  constructor(parts: ReplicationQuotaParts) {
    this.#parts = parts;
    this.#windows = new Array<number>(parts.windowCount).fill(0);
    this.#newest = this.#windowNow();
    this.#first = this.#newest;
  }

  isThrottled(topic: string, partition: number): boolean {
    const text = this.#parts.throttledReplicas(topic);
    if (text === undefined || text === '') return false;
    const replicas = this.#replicasIn(text);
    return replicas === 'all' || replicas.has(partition);
  }

  /** Throttled replicas have moved so many bytes. */
  record(bytes: number): void {
    this.#advance();
    this.#windows[this.#newest % this.#windows.length]! += bytes;
    this.#sum += bytes;
  }

  get isExceeded(): boolean {
    const limit = this.#parts.limit();
    return limit < Number.MAX_SAFE_INTEGER && this.bytesPerSecond > limit;
  }

  /** Over the windows that are kept, and since the first record where that is less; over one window at least. */
  get bytesPerSecond(): number {
    this.#advance();
    const { windowMs, clock } = this.#parts;
    const startMs = Math.max(this.#first, this.#newest - this.#windows.length + 1) * windowMs;
    return this.#sum / (Math.max(windowMs, clock.monotonicMs() - startMs) / 1000);
  }

  #advance(): void {
    const now = this.#windowNow();
    const count = this.#windows.length;
    if (this.#sum === 0) this.#first = now;
    for (let window = Math.max(this.#newest + 1, now - count + 1); window <= now; window++) {
      this.#sum -= this.#windows[window % count]!;
      this.#windows[window % count] = 0;
    }
    this.#newest = now;
  }

  #windowNow(): number {
    return Math.floor(this.#parts.clock.monotonicMs() / this.#parts.windowMs);
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
