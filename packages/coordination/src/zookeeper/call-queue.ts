// Calls that wait for their turn: first in, first out, also when there are tens of thousands.

export class CallQueue<T> {
  #calls: (T | undefined)[] = [];
  #head = 0;

  push(call: T): void {
    this.#calls.push(call);
  }

  /** Back to where they came from: before all others, in their order. */
  putBack(calls: readonly T[]): void {
    if (calls.length > 0) this.#calls = [...calls, ...this.drain()];
  }

  shift(): T | undefined {
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
  drain(): T[] {
    const calls = this.#calls.slice(this.#head) as T[];
    this.#calls = [];
    this.#head = 0;
    return calls;
  }
}
