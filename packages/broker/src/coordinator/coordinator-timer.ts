// The timers of one shard. What a timer does is an operation like any other: it may yield records, and it never runs after the
// shard was unloaded.

import type { Timer, TimerTask } from '@odradek/runtime';
import type { Outcome } from './coordinator-shard.ts';

export type TimerOperation = () => Outcome<void>;

/** How long a timer whose records could not be written waits before it tries again: the value that Kafka has. */
const retryBackoffMs = 500;

export class CoordinatorTimer {
  readonly #timer: Timer;
  readonly #run: (operation: TimerOperation) => Promise<boolean>;
  readonly #tasks = new Map<string, TimerTask>();

  /** `run` carries out an operation, and says whether it could be written. */
  constructor(timer: Timer, run: (operation: TimerOperation) => Promise<boolean>) {
    this.#timer = timer;
    this.#run = run;
  }

  /**
   * Runs the operation after `delayMs`, and again later if what it yields cannot be written. An earlier operation under the
   * same key is forgotten.
   */
  schedule(key: string, delayMs: number, operation: TimerOperation): void {
    this.#tasks.get(key)?.cancel();
    const task = this.#timer.schedule(delayMs, () => {
      if (this.#tasks.get(key) === task) this.#tasks.delete(key);
      void this.#run(operation).then((isDone) => {
        if (!isDone && !this.#tasks.has(key)) this.schedule(key, retryBackoffMs, operation);
      });
    });
    this.#tasks.set(key, task);
  }

  cancel(key: string): void {
    this.#tasks.get(key)?.cancel();
    this.#tasks.delete(key);
  }

  isScheduled(key: string): boolean {
    return this.#tasks.has(key);
  }

  cancelAll(): void {
    for (const task of this.#tasks.values()) task.cancel();
    this.#tasks.clear();
  }
}
