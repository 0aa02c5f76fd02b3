// How much of something happens in a second, over the last few windows of time: what quotas are measured with.

import type { Clock } from '@odradek/runtime';

export interface RateWindows {
  /** How many windows are kept, the one that is being filled included. */
  readonly count: number;
  readonly sizeMs: number;
  /**
   * Over how many windows is measured at least, also when the first record is not so long ago. Kafka takes 1 for replication, and all
   * full windows for clients, which may thus burst when they come.
   */
  readonly atLeast: number;
}

/** Nobody is told to wait for longer: the answer has 31 bits for it. */
export const longestWaitMs = 0x7fff_ffff;

export class WindowedRate {
  readonly #clock: Clock;
  readonly #windows: RateWindows;
  /** What was recorded in the last windows, of which the newest has this number. */
  readonly #amounts: number[];
  #newest: number;
  /** The window in which anything was recorded first. */
  #first: number;
  #sum = 0;

  constructor(clock: Clock, windows: RateWindows) {
    this.#clock = clock;
    this.#windows = windows;
    this.#amounts = new Array<number>(windows.count).fill(0);
    this.#newest = this.#windowNow();
    this.#first = this.#newest;
  }

  record(amount: number): void {
    this.#advance();
    this.#amounts[this.#newest % this.#windows.count]! += amount;
    this.#sum += amount;
  }

  /**
   * Records the amount unless that would exceed the limit; answers how long it would be too much, 0 when it was recorded. After a time
   * without anything every amount will do: one that alone is too much for all windows would otherwise never be taken. A limit of 0, which
   * Kafka 3.9 lets be set, means nothing at all.
   */
  tryRecord(amount: number, limitPerSecond: number): number {
    this.#advance();
    const waitMs = this.#sum === 0 && limitPerSecond > 0 ? 0 : this.#throttleMs(this.#sum + amount, limitPerSecond);
    if (waitMs === 0) this.record(amount);
    return waitMs;
  }

  get perSecond(): number {
    this.#advance();
    return this.#sum / (this.#measuredMs() / 1000);
  }

  /** How long nothing may happen for the rate to come down to the limit. */
  throttleMs(limitPerSecond: number): number {
    this.#advance();
    return this.#throttleMs(this.#sum, limitPerSecond);
  }

  /** With what happens now, in W ms, it is the time X with sum / (W + X) = limit. */
  #throttleMs(sum: number, limitPerSecond: number): number {
    const waitMs = (sum / limitPerSecond) * 1000 - this.#measuredMs();
    return waitMs > 0 ? Math.min(Math.max(1, Math.round(waitMs)), longestWaitMs) : 0;
  }

  #measuredMs(): number {
    const { count, sizeMs, atLeast } = this.#windows;
    const startMs = Math.max(this.#first, this.#newest - count + 1) * sizeMs;
    return Math.max(atLeast * sizeMs, this.#clock.monotonicMs() - startMs);
  }

  #advance(): void {
    const now = this.#windowNow();
    const { count } = this.#windows;
    for (let window = Math.max(this.#newest + 1, now - count + 1); window <= now; window++) {
      this.#sum -= this.#amounts[window % count]!;
      this.#amounts[window % count] = 0;
    }
    this.#newest = now;
    // Fractions that were added and taken away again leave a rest.
    if (this.#sum < 1e-9) {
      this.#sum = 0;
      this.#first = now;
    }
  }

  #windowNow(): number {
    return Math.floor(this.#clock.monotonicMs() / this.#windows.sizeMs);
  }
}
