// Calls that wait for their turn: first in, first out, also when there are tens of thousands.

import type { Call } from './connection.ts';

export class CallQueue {
  #calls: (Call | undefined)[] = [];
  #head = 0;

  push(call: Call): void {
    this.#calls.push(call);
  }

  shift(): Call | undefined {
    const call = this.#calls[this.#head];
    if (call === undefined) return undefined;
    this.#calls[this.#head++] = undefined;
    if (this.#head === this.#calls.length) {
      this.#calls = [];
      this.#head = 0;
    }
    return call;
  }

  /** All of them, which are then no longer here. */
  drain(): Call[] {
    const calls = this.#calls.slice(this.#head) as Call[];
    this.#calls = [];
    this.#head = 0;
    return calls;
  }
}
