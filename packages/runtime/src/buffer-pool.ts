// Large buffers that are used again and again: for frames from the network and for what is read from disk. A busy broker moves
// hundreds of megabytes a second; made anew for each use, the buffers cost more time to collect than all that happens to their bytes.
//
// Whoever takes a buffer may give it back, once nothing refers to its bytes any more, or leave it to the garbage collector.

/** Smaller buffers are left to the garbage collector, which is good at them. */
const smallestPooledBytes = 8 * 1024;

export interface BufferPoolOptions {
  /** Larger buffers are rare, and not kept. */
  readonly largestBytes: number;
  /** What lies idle for later at most, over all sizes. */
  readonly maxIdleBytes: number;
}

export class BufferPool {
  readonly #options: BufferPoolOptions;
  /** Idle buffers by capacity. */
  readonly #idle = new Map<number, ArrayBufferLike[]>();
  #idleBytes = 0;

  constructor(options: BufferPoolOptions) {
    this.#options = options;
  }

  get idleBytes(): number {
    return this.#idleBytes;
  }

  /** A buffer of exactly this size, with whatever was in it before. */
  take(size: number): Buffer {
    if (size < smallestPooledBytes || size > this.#options.largestBytes) return Buffer.allocUnsafe(size);
    const capacity = capacityFor(size);
    const idle = this.#idle.get(capacity)?.pop();
    if (idle === undefined) return Buffer.allocUnsafeSlow(capacity).subarray(0, size);
    this.#idleBytes -= capacity;
    return Buffer.from(idle, 0, size);
  }

  /** Takes back what `take` gave, at most once. Other buffers are left alone. */
  give(taken: Buffer): void {
    const { buffer, byteOffset, length } = taken;
    const capacity = buffer.byteLength;
    if (length < smallestPooledBytes || length > this.#options.largestBytes || byteOffset !== 0) return;
    if (capacityFor(length) !== capacity || this.#idleBytes + capacity > this.#options.maxIdleBytes) return;
    const idle = this.#idle.get(capacity);
    if (idle === undefined) this.#idle.set(capacity, [buffer]);
    else idle.push(buffer);
    this.#idleBytes += capacity;
  }
}

/** Four capacities between one power of two and the next: at most a fifth is wasted, and sizes that are alike share buffers. */
function capacityFor(size: number): number {
  const step = 2 ** Math.max(0, Math.floor(Math.log2(size)) - 2);
  return Math.ceil(size / step) * step;
}
