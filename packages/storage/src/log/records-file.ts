// The records of a segment: batches one behind the other, in a file that only grows at its end.

import { type Batch, batchAt, batchSizeAt, logOverhead, magicPosition } from '@odradek/protocol';
import type { BufferPool, OpenFile } from '@odradek/runtime';
import { appendOrNothing, type FilePool, type PooledFile } from './file-pool.ts';

/** Up to this size a read from the page cache costs less than the way to the thread pool and back (5.5 against 41 µs). */
export const maxSyncReadBytes = 64 * 1024;

/** How much is read at a time when only headers are wanted. */
const scanBytes = 16 * 1024;
/** Enough for the header of any format up to the magic, and of magic 2 whole. */
const headerBytes = 61;

/** Where a batch stands in the file; `batch` has its header only. */
export interface BatchPosition {
  readonly batch: Batch;
  readonly position: number;
  readonly sizeBytes: number;
}

/** A read that is still to be done, by whoever has the time for it: at once, or in the thread pool. Both answer how much was read. */
export interface PendingRead {
  now(): number;
  later(): Promise<number>;
}

export class RecordsFile {
  readonly #file: PooledFile;
  readonly #buffers: BufferPool;
  #sizeBytes: number;
  /** How long a new file is made with its first bytes; 0: no longer than they are, or it has been made. */
  #preallocatedBytes: number;
  /** There may be zeros behind what was written. */
  #hasSpare = false;
  /** The zeros were cut off, and the device may not have heard of it. */
  #isTrimUnforced = false;
  #flushing: Promise<void> | undefined;
  #flushAgain: Promise<void> | undefined;

  constructor(pool: FilePool, path: string, sizeBytes: number, preallocatedBytes = 0) {
    this.#file = pool.file(path, 'readWrite');
    this.#buffers = pool.buffers;
    this.#sizeBytes = sizeBytes;
    this.#preallocatedBytes = preallocatedBytes;
  }

  get path(): string {
    return this.#file.path;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** One vectored write. When it throws, the file is as long as before, as far as the disk lets us say so. */
  append(chunks: readonly Uint8Array[], sizeBytes: number): void {
    if (this.#preallocatedBytes > 0) this.#preallocate();
    appendOrNothing(this.#file.use(), chunks, this.#sizeBytes);
    this.#sizeBytes += sizeBytes;
  }

  /** As Kafka does it, and file systems with holes take no room for it: the file says that it is longer, and reads as zeros. */
  #preallocate(): void {
    this.#file.use().truncateSync(this.#preallocatedBytes);
    this.#preallocatedBytes = 0;
    this.#hasSpare = true;
  }

  /** The file ends where what was written does: nothing will be appended any more. */
  trim(): void {
    if (!this.#hasSpare) return;
    this.#file.use().truncateSync(this.#sizeBytes);
    this.#hasSpare = false;
    this.#isTrimUnforced = true;
  }

  /** Forces to the device what `trim` did. */
  async flushTrim(): Promise<void> {
    if (this.#isTrimUnforced) await this.flush();
  }

  /** Makes the file on disk, though it is empty. */
  ensureExists(): void {
    this.#file.use();
  }

  readSync(target: Uint8Array, offset: number, length: number, position: number): number {
    return this.#file.use().readSync(target, offset, length, position);
  }

  pendingRead(target: Uint8Array, length: number, position: number): PendingRead {
    return {
      now: () => this.readSync(target, 0, length, position),
      later: () => this.#file.pinned((file) => file.read(target, 0, length, position)),
    };
  }

  /** The bytes from `position`, fewer at the end of the file; at once when they are few. Give them back with `release`, or not at all. */
  read(position: number, length: number): Buffer | Promise<Buffer> {
    const wanted = Math.min(length, this.#sizeBytes - position);
    if (wanted <= 0) return Buffer.alloc(0);
    const target = this.#buffers.take(wanted);
    if (wanted <= maxSyncReadBytes) return target.subarray(0, this.readSync(target, 0, wanted, position));
    return this.#file.pinned(async (file: OpenFile) => target.subarray(0, await file.read(target, 0, wanted, position)));
  }

  /** Nothing refers to the bytes that `read` gave any more. */
  release(bytes: Buffer): void {
    this.#buffers.give(bytes);
  }

  /** Walks the headers from `position`, which must be where a batch begins, reading as little as possible. */
  *headersFrom(position: number, end: number = this.#sizeBytes): Generator<BatchPosition, void, undefined> {
    if (position + logOverhead > end) return;
    const window = this.#buffers.take(scanBytes);
    let windowStart = position;
    let windowEnd = position;
    try {
      for (let at = position; at + logOverhead <= end; ) {
        if (at < windowStart || at + headerBytes > windowEnd) {
          windowStart = at;
          windowEnd = at + this.readSync(window, 0, Math.min(scanBytes, end - at), at);
          if (windowEnd - at <= magicPosition) return;
        }
        const start = at - windowStart;
        const sizeBytes = window.readInt32BE(start + 8) + logOverhead;
        if (sizeBytes <= logOverhead || at + sizeBytes > end) return;
        // The window is used again for what comes next, so whoever gets the header gets a copy of it.
        const header = Buffer.from(window.subarray(start, Math.min(start + headerBytes, windowEnd - windowStart)));
        yield { batch: batchAt(header, 0), position: at, sizeBytes };
        at += sizeBytes;
      }
    } finally {
      this.#buffers.give(window);
    }
  }

  /** The whole batch at the position. */
  batchAt(position: number, sizeBytes: number): Batch {
    const bytes = Buffer.allocUnsafeSlow(sizeBytes);
    const read = this.readSync(bytes, 0, sizeBytes, position);
    if (read < sizeBytes || batchSizeAt(bytes, 0) !== sizeBytes) {
      throw new Error(`${this.path} has no whole batch of ${sizeBytes} bytes at position ${position}`);
    }
    return batchAt(bytes, 0);
  }

  truncate(sizeBytes: number): void {
    if (sizeBytes >= this.#sizeBytes) return;
    this.#file.use().truncateSync(sizeBytes);
    this.#sizeBytes = sizeBytes;
    this.#hasSpare = false;
  }

  /**
   * Forces everything written so far to the device. Callers that come while that is under way share the next round: it begins
   * when the one under way has ended, and covers what they wrote.
   */
  flush(): Promise<void> {
    if (this.#flushing === undefined) {
      this.#flushing = this.#sync().finally(() => {
        this.#flushing = undefined;
      });
      return this.#flushing;
    }
    this.#flushAgain ??= this.#flushing
      .catch(() => undefined)
      .then(() => {
        this.#flushAgain = undefined;
        return this.flush();
      });
    return this.#flushAgain;
  }

  #sync(): Promise<void> {
    return this.#file.pinned((file) => {
      this.#isTrimUnforced = false;
      return file.sync();
    });
  }

  get isRetired(): boolean {
    return this.#file.isRetired;
  }

  /** The segment is not in use any more. Reads that are under way may end. */
  retire(): void {
    this.#file.retire();
  }
}
