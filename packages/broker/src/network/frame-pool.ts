// Buffers for large frames, used again and again. A busy producer sends hundreds of megabytes a second; made anew for each frame, the
// buffers cost more time to collect than everything else that happens to their contents.
//
// A frame is given back when its request has been answered and its handler has said that nothing refers to it any more. Whoever
// keeps a slice of a frame that may be given back must copy it.

/** Smaller frames are left to the garbage collector, which is good at them. */
const smallestPooledBytes = 8 * 1024;
/** Larger ones are rare. */
const largestPooledBytes = 2 * 1024 * 1024;
/** What the pool holds for later at most, over all sizes. */
const maxIdleBytes = 32 * 1024 * 1024;

export class FramePool {
  /** Idle buffers by size; sizes are powers of two. */
  readonly #idle = new Map<number, ArrayBufferLike[]>();
  #idleBytes = 0;

  get idleBytes(): number {
    return this.#idleBytes;
  }

  take(size: number): Buffer {
    if (size < smallestPooledBytes || size > largestPooledBytes) return Buffer.allocUnsafe(size);
    const capacity = 2 ** Math.ceil(Math.log2(size));
    const idle = this.#idle.get(capacity)?.pop();
    if (idle === undefined) return Buffer.allocUnsafeSlow(capacity).subarray(0, size);
    this.#idleBytes -= capacity;
    return Buffer.from(idle, 0, size);
  }

  /** Takes back what `take` gave. Other buffers are left alone. */
  give(frame: Buffer): void {
    const { buffer, byteOffset } = frame;
    const capacity = buffer.byteLength;
    if (frame.length < smallestPooledBytes || frame.length > largestPooledBytes || byteOffset !== 0) return;
    if (2 ** Math.ceil(Math.log2(frame.length)) !== capacity || this.#idleBytes + capacity > maxIdleBytes) return;
    const idle = this.#idle.get(capacity);
    if (idle === undefined) this.#idle.set(capacity, [buffer]);
    else idle.push(buffer);
    this.#idleBytes += capacity;
  }
}
