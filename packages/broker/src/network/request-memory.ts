// How many bytes of requests the broker holds at one time: `queued.max.request.bytes` over all connections.
//
// A connection that has begun to receive a frame may always finish it, so the sum can go beyond the limit by the frames that were
// under way; nobody begins a new one before there is room. Requests are never queued between connection and handler, which is
// why `queued.max.requests` has nothing to count: a connection cuts its next frame only when the handler can begin with it.

export class RequestMemory {
  readonly #limitBytes: number;
  #usedBytes = 0;
  readonly #waiting = new Set<() => void>();

  /** A limit of 0 or less is none. */
  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes <= 0 ? Number.POSITIVE_INFINITY : limitBytes;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  get isFull(): boolean {
    return this.#usedBytes >= this.#limitBytes;
  }

  /** Counts bytes that came in (or, negative, that were let go). */
  add(bytes: number): void {
    this.#usedBytes += bytes;
    if (bytes < 0 && this.#waiting.size > 0 && !this.isFull) this.#wake();
  }

  /** Calls once when there is room again. */
  waitForRoom(resume: () => void): void {
    this.#waiting.add(resume);
  }

  stopWaiting(resume: () => void): void {
    this.#waiting.delete(resume);
  }

  #wake(): void {
    for (const resume of [...this.#waiting]) {
      if (this.isFull) return;
      this.#waiting.delete(resume);
      resume();
    }
  }
}
