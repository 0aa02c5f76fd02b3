// The real timer: one timing wheel, driven by one platform timer that is set for the wheel's next bucket that has entries.

import type { Clock } from './clock.ts';
import type { Timer, TimerTask } from './timer.ts';
import { TimingWheel, type WheelEntry } from './timing-wheel.ts';

/** The longest delay that setTimeout takes; a longer wait is made of several. */
const longestPlatformDelayMs = 2 ** 31 - 1;

export class SystemTimer implements Timer {
  readonly #clock: Clock;
  readonly #wheel: TimingWheel;
  #platformTimer: NodeJS.Timeout | undefined = undefined;
  /** When the platform timer fires; Infinity while none is set. */
  #wakeAtMs = Number.POSITIVE_INFINITY;
  #afterThisTurn: (() => void)[] = [];
  #isClosed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#wheel = new TimingWheel(clock.monotonicMs());
  }

  schedule(delayMs: number, action: () => void): TimerTask {
    if (this.#isClosed) {
      return { cancel: () => undefined };
    }
    const nowMs = this.#clock.monotonicMs();
    if (this.#wheel.size === 0) {
      this.#wheel.advance(nowMs); // Nothing to run: an idle wheel stands where it was last driven to.
    }
    // At least the next whole millisecond: an action that schedules another with no delay must not run it in the same turn.
    const entry = this.#wheel.add(Math.max(nowMs + delayMs, Math.floor(nowMs) + 1), action);
    this.#setPlatformTimer(nowMs);
    return { cancel: () => this.#cancel(entry) };
  }

  afterThisTurn(action: () => void): void {
    if (this.#isClosed) {
      return;
    }
    if (this.#afterThisTurn.length === 0) {
      setImmediate(this.#runAfterThisTurn);
    }
    this.#afterThisTurn.push(action);
  }

  close(): void {
    this.#isClosed = true;
    this.#afterThisTurn = [];
    this.#wheel.clear();
    clearTimeout(this.#platformTimer);
    this.#platformTimer = undefined;
  }

  #cancel(entry: WheelEntry): void {
    this.#wheel.cancel(entry);
    // A platform timer that is no longer wanted is left to fire once, which is cheaper than clearing it: most tasks are time-outs
    // that never happen. But it must not keep the process alive.
    if (this.#wheel.size === 0) {
      this.#platformTimer?.unref();
    }
  }

  #setPlatformTimer(nowMs: number): void {
    const nextMs = this.#wheel.nextMs;
    if (nextMs === undefined) {
      return;
    }
    if (this.#wakeAtMs <= nextMs) {
      this.#platformTimer?.ref();
      return;
    }
    clearTimeout(this.#platformTimer);
    this.#wakeAtMs = nextMs;
    this.#platformTimer = setTimeout(this.#wake, Math.min(Math.max(1, Math.ceil(nextMs - nowMs)), longestPlatformDelayMs));
  }

  readonly #wake = (): void => {
    this.#platformTimer = undefined;
    this.#wakeAtMs = Number.POSITIVE_INFINITY;
    try {
      this.#wheel.advance(this.#clock.monotonicMs());
    } finally {
      this.#setPlatformTimer(this.#clock.monotonicMs());
    }
  };

  readonly #runAfterThisTurn = (): void => {
    // What these actions ask for in their turn runs after the next input, so that a busy partition cannot starve the sockets.
    const actions = this.#afterThisTurn;
    this.#afterThisTurn = [];
    let done = 0;
    try {
      while (done < actions.length && !this.#isClosed) {
        actions[done++]!();
      }
    } finally {
      // Only after an action threw.
      for (; done < actions.length; done++) {
        this.afterThisTurn(actions[done]!);
      }
    }
  };
}
