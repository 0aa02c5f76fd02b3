// Those partitions of a follower's fetch session in which nothing happens. A follower of thousands of partitions is level with nearly all of
// them each time that it fetches. So a partition rests once its follower has all of it and has been told so: it is not looked at, and
// the fetches of all that rest are counted at once, by their time.
//
//   awake -> resting   the follower is level, in sync, and knows the leader's offsets
//   resting -> awake   something happens to the partition; the follower asks for something else, forgets it, or begins another life

import type { WantedPartition } from './fetch-sessions.ts';
import type { FollowerRest, FollowerState } from './follower-state.ts';
import type { Partition } from './partition.ts';

export class RestingPartitions {
  /** What has to be looked at, in the order in which it is served. */
  readonly #awake: Set<WantedPartition>;
  readonly #rests = new Set<Rest>();
  #lastFetchMs = Number.NEGATIVE_INFINITY;
  /** The follower, in one life of its broker. */
  #brokerId = -1;
  #brokerEpoch = -1;

  /** Told of what rests no more, for a request that waits. */
  onAwake: ((partition: Partition, wanted: WantedPartition) => void) | undefined;

  constructor(wanted: Iterable<WantedPartition>) {
    this.#awake = new Set(wanted);
  }

  /** Monotonic time of the session's last fetch. */
  get lastFetchMs(): number {
    return this.#lastFetchMs;
  }

  awake(): Iterable<WantedPartition> {
    return this.#awake;
  }

  /** The follower has fetched, and so has everything of what rests. In another life it is known of nothing. */
  recordFetch(brokerId: number, brokerEpoch: number, nowMs: number): void {
    if (brokerId !== this.#brokerId || brokerEpoch !== this.#brokerEpoch) this.wakeAll();
    this.#brokerId = brokerId;
    this.#brokerEpoch = brokerEpoch;
    this.#lastFetchMs = nowMs;
  }

  /** The follower is level with the partition, and its fetch has been counted. */
  rest(partition: Partition, wanted: WantedPartition, follower: FollowerState): void {
    this.#awake.delete(wanted);
    const rest = new Rest(this, partition, wanted, follower);
    this.#rests.add(rest);
    wanted.rest = rest;
    follower.rest(rest);
  }

  /** The follower has asked for something else, or is no longer who it was. */
  wake(wanted: WantedPartition): void {
    wanted.rest?.end();
    this.#awake.add(wanted);
  }

  /** It is served after the others the next time. */
  moveToEnd(wanted: WantedPartition): void {
    if (this.#awake.delete(wanted)) this.#awake.add(wanted);
  }

  /** The follower does not ask for it any more. */
  forget(wanted: WantedPartition): void {
    wanted.rest?.end();
    this.#awake.delete(wanted);
  }

  wakeAll(): void {
    for (const rest of [...this.#rests]) rest.end();
  }

  /** Called by a rest that has ended. */
  woke(rest: Rest, partition: Partition, wanted: WantedPartition): void {
    this.#rests.delete(rest);
    this.#awake.add(wanted);
    this.onAwake?.(partition, wanted);
  }
}

class Rest implements FollowerRest {
  readonly #resting: RestingPartitions;
  readonly #partition: Partition;
  readonly #wanted: WantedPartition;
  readonly #follower: FollowerState;

  constructor(resting: RestingPartitions, partition: Partition, wanted: WantedPartition, follower: FollowerState) {
    this.#resting = resting;
    this.#partition = partition;
    this.#wanted = wanted;
    this.#follower = follower;
  }

  get lastFetchMs(): number {
    return this.#resting.lastFetchMs;
  }

  end(): void {
    if (this.#wanted.rest !== this) return;
    this.#wanted.rest = undefined;
    this.#follower.rise();
    this.#resting.woke(this, this.#partition, this.#wanted);
  }
}
