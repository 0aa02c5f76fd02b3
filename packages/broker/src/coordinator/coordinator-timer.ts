// The timers of one shard. What a timer does is an operation like any other: it may yield records, and it never runs after the
// shard was unloaded.

import type { Clock, Timer, TimerTask } from '@odradek/runtime';
import type { Outcome } from './coordinator-shard.ts';

export type TimerOperation = () => Outcome<void>;

/** How long a timer whose records could not be written waits before it tries again: the value that Kafka has. */
const retryBackoffMs = 500;

interface Scheduled {
  readonly key: string;
  readonly deadlineMs: number;
  readonly operation: TimerOperation;
  readonly task: TimerTask;
}

export class CoordinatorTimer {
  readonly #timer: Timer;
  readonly #clock: Clock;
  readonly #run: (operation: TimerOperation) => Promise<boolean>;
  readonly #scheduled = new Map<string, Scheduled>();

  /** `run` carries out an operation, and says whether it could be written. */
  constructor(timer: Timer, clock: Clock, run: (operation: TimerOperation) => Promise<boolean>) {
    this.#timer = timer;
    this.#clock = clock;
    this.#run = run;
  }

  /**
   * Runs the operation after `delayMs`, and again later if what it yields cannot be written. An earlier operation under the
   * same key is forgotten.
   */
  schedule(key: string, delayMs: number, operation: TimerOperation): void {
    this.#scheduled.get(key)?.task.cancel();
    const scheduled: Scheduled = {
      key,
      deadlineMs: this.#clock.monotonicMs() + delayMs,
      operation,
      task: this.#timer.schedule(delayMs, () => this.#fire(scheduled)),
    };
    this.#scheduled.set(key, scheduled);
  }

  /** Runs what should have run before now, where the event loop has not come to it. */
  runOverdue(): void {
    const nowMs = this.#clock.monotonicMs();
    const overdue = [...this.#scheduled.values()].filter(({ deadlineMs }) => deadlineMs < nowMs);
    for (const scheduled of overdue.sort((a, b) => a.deadlineMs - b.deadlineMs)) {
      // One may forget another.
      if (this.#scheduled.get(scheduled.key) !== scheduled) continue;
      scheduled.task.cancel();
      this.#fire(scheduled);
    }
  }

  #fire(scheduled: Scheduled): void {
    const { key, operation } = scheduled;
    if (this.#scheduled.get(key) === scheduled) this.#scheduled.delete(key);
    void this.#run(operation).then((isDone) => {
      if (!isDone && !this.#scheduled.has(key)) this.schedule(key, retryBackoffMs, operation);
    });
  }

  cancel(key: string): void {
    this.#scheduled.get(key)?.task.cancel();
    this.#scheduled.delete(key);
  }

  isScheduled(key: string): boolean {
    return this.#scheduled.has(key);
  }

  cancelAll(): void {
    for (const { task } of this.#scheduled.values()) task.cancel();
    this.#scheduled.clear();
  }
}
