// Gathers what one turn of the event loop appends. Every log that was appended to is written once, when the input that has
// already arrived has been handled; so producers that come together share a system call.

import type { Timer } from '@odradek/runtime';

export interface ScheduledLog {
  /** Writes what was staged. Never throws: whoever waits is told. */
  writeStaged(): boolean;
}

export class WriteScheduler {
  readonly #timer: Timer;
  #logs: ScheduledLog[] = [];

  constructor(timer: Timer) {
    this.#timer = timer;
  }

  add(log: ScheduledLog): void {
    if (this.#logs.length === 0) this.#timer.afterThisTurn(this.#write);
    this.#logs.push(log);
  }

  readonly #write = (): void => {
    const logs = this.#logs;
    this.#logs = [];
    for (const log of logs) log.writeStaged();
  };
}
