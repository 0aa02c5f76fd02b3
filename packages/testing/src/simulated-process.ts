// The program of a simulated machine, as far as the world is concerned: it runs, or it is stopped (SIGSTOP, a long collection of
// garbage, a machine that swaps) and hears of nothing until it goes on, while its clock and everybody else's move.

import type { SimulatedTime } from './simulated-time.ts';

export class SimulatedProcess {
  readonly #time: SimulatedTime;
  /** What the program would have heard of; undefined while it runs. */
  #held: (() => void)[] | undefined;
  #isDead = false;
  #turns = 0;

  constructor(time: SimulatedTime) {
    this.#time = time;
  }

  /** Counts how often it was called into: as long as this stays the same, nothing in it has changed. */
  get turns(): number {
    return this.#turns;
  }

  get isPaused(): boolean {
    return this.#held !== undefined;
  }

  /** Calls into the program, at once or when it goes on. */
  run(action: () => void): void {
    if (this.#isDead) return;
    if (this.#held === undefined) this.#call(action);
    else this.#held.push(action);
  }

  /** Its machine has crashed. */
  kill(): void {
    this.#isDead = true;
    this.#held = undefined;
  }

  pause(): void {
    this.#held ??= [];
  }

  resume(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const action of held) this.#time.schedule(0, () => this.#call(action));
  }

  #call(action: () => void): void {
    this.#turns += 1;
    action();
  }
}
