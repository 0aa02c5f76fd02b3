// Time that only moves when told to, and the turns of an event loop that runs in it.
//
// One turn: everything that is due at one millisecond is run, each action with all the promises that it settles; then what was put
// off to the end of the turn. Nothing else drives the program, so the same start and the same actions give the same run.

import { type Clock, type Timer, type TimerTask, TimingWheel } from '@odradek/runtime';
import type { SimulatedProcess } from './simulated-process.ts';

export class SimulatedTime {
  readonly #wheel = new TimingWheel(0);
  /** Due in this turn, in order. */
  #ready: (() => void)[] = [];
  #afterThisTurn: (() => void)[] = [];

  /** Milliseconds since the simulation began. */
  get nowMs(): number {
    return this.#wheel.nowMs;
  }

  /** Runs the action in the turn that comes `delayMs` from now, at least a millisecond; the returned function forgets it. */
  schedule(delayMs: number, action: () => void): () => void {
    let isWanted = true;
    const entry = this.#wheel.add(this.nowMs + delayMs, () => {
      this.#ready.push(() => {
        if (isWanted) {
          action();
        }
      });
    });
    return () => {
      isWanted = false;
      this.#wheel.cancel(entry);
    };
  }

  afterThisTurn(action: () => void): void {
    this.#afterThisTurn.push(action);
  }

  /** When the next turn is; undefined when nothing is left to happen. */
  get nextMs(): number | undefined {
    return this.#afterThisTurn.length > 0 ? this.nowMs : this.#wheel.nextMs;
  }

  /** Moves to the next turn and runs it. */
  async runTurn(): Promise<void> {
    if (this.#afterThisTurn.length === 0 && this.#wheel.nextMs !== undefined) {
      this.#wheel.advance(this.#wheel.nextMs);
    }
    const ready = this.#ready;
    this.#ready = [];
    for (const action of ready) {
      action();
      await promisesSettled();
    }
    const last = this.#afterThisTurn;
    this.#afterThisTurn = [];
    for (const action of last) {
      action();
    }
    await promisesSettled();
  }

  /** Moves on to a time at or before the next turn. */
  moveTo(timeMs: number): void {
    this.#wheel.advance(timeMs);
  }
}

/** The clock of one machine. */
export class SimulatedClock implements Clock {
  readonly #time: SimulatedTime;
  #wallOffsetMs: number;

  constructor(time: SimulatedTime, wallStartMs: number) {
    this.#time = time;
    this.#wallOffsetMs = wallStartMs;
  }

  wallTimeMs(): number {
    return this.#wallOffsetMs + this.#time.nowMs;
  }

  monotonicMs(): number {
    return this.#time.nowMs;
  }

  /** Someone sets the wall clock, forward or back. */
  shiftWallTime(byMs: number): void {
    this.#wallOffsetMs += byMs;
  }
}

export class SimulatedTimer implements Timer {
  readonly #time: SimulatedTime;
  readonly #process: SimulatedProcess;
  #isClosed = false;

  constructor(time: SimulatedTime, process: SimulatedProcess) {
    this.#time = time;
    this.#process = process;
  }

  schedule(delayMs: number, action: () => void): TimerTask {
    let isCancelled = false;
    const call = this.#unlessClosed(() => {
      if (!isCancelled) action();
    });
    const forget = this.#time.schedule(delayMs, () => this.#process.run(call));
    return {
      cancel: () => {
        isCancelled = true;
        forget();
      },
    };
  }

  afterThisTurn(action: () => void): void {
    const call = this.#unlessClosed(action);
    this.#time.afterThisTurn(() => this.#process.run(call));
  }

  close(): void {
    this.#isClosed = true;
  }

  #unlessClosed(action: () => void): () => void {
    return () => {
      if (!this.#isClosed) {
        action();
      }
    };
  }
}

/** Resolves once every promise that can settle without the outside has done so: a platform turn runs all of them first. */
export function promisesSettled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
