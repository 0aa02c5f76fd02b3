// The purgatory: requests wait here for something that happens to a key (a partition moves its high watermark) or for their
// time to run out, whichever comes first. Nothing ticks: an operation is looked at when its key is checked, and by its timer.
//
// How many operations wait is bounded by the connections, each of which has few requests in flight.

import type { Timer, TimerTask } from '@odradek/runtime';
import type { DelayedOperation } from './delayed-operation.ts';

/** An operation in the purgatory. */
export interface Waiting<Key> {
  readonly operation: DelayedOperation<Key>;
  readonly keys: Key[];
  task: TimerTask | undefined;
  isDone: boolean;
}

export class Purgatory<Key> {
  readonly #timer: Timer;
  readonly #watchers = new Map<Key, Set<Waiting<Key>>>();
  #waiting = 0;

  constructor(timer: Timer) {
    this.#timer = timer;
  }

  /** Operations that wait now. */
  get size(): number {
    return this.#waiting;
  }

  /**
   * Lets the operation wait for its keys, unless it completes at once: then the answer is undefined. A time-out of 0 or less expires it
   * in a later turn.
   */
  watch(operation: DelayedOperation<Key>, keys: readonly Key[], timeoutMs: number): Waiting<Key> | undefined {
    if (operation.tryComplete()) return undefined;
    const waiting: Waiting<Key> = { operation, keys: [...keys], task: undefined, isDone: false };
    this.#waiting += 1;
    for (const key of keys) this.#add(waiting, key);
    waiting.task = this.#timer.schedule(timeoutMs, () => this.#expire(waiting));
    return waiting;
  }

  /** Lets an operation that waits wait for this key too. */
  watchAlso(waiting: Waiting<Key>, key: Key): void {
    if (waiting.isDone) return;
    waiting.keys.push(key);
    this.#add(waiting, key);
  }

  #add(waiting: Waiting<Key>, key: Key): void {
    const watchers = this.#watchers.get(key);
    if (watchers === undefined) this.#watchers.set(key, new Set([waiting]));
    else watchers.add(waiting);
  }

  /** Something happened to the key: completes every operation there whose time has come. */
  check(key: Key): void {
    const watchers = this.#watchers.get(key);
    if (watchers === undefined) return;
    // A copy, because completing one may add another under the same key in this very call.
    for (const waiting of [...watchers]) {
      if (!waiting.isDone && waiting.operation.tryComplete(key)) this.#remove(waiting);
    }
  }

  /** Expires every operation, as at the end of the broker's life. */
  close(): void {
    const all = new Set<Waiting<Key>>();
    for (const watchers of this.#watchers.values()) for (const waiting of watchers) all.add(waiting);
    for (const waiting of all) this.#expire(waiting);
  }

  #expire(waiting: Waiting<Key>): void {
    if (waiting.isDone) return;
    this.#remove(waiting);
    waiting.operation.expire();
  }

  #remove(waiting: Waiting<Key>): void {
    waiting.isDone = true;
    waiting.task?.cancel();
    this.#waiting -= 1;
    for (const key of waiting.keys) {
      const watchers = this.#watchers.get(key);
      if (watchers === undefined) continue;
      watchers.delete(waiting);
      if (watchers.size === 0) this.#watchers.delete(key);
    }
  }
}
