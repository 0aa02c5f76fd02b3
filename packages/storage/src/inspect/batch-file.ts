// The batches in a `.log` file, for tools that look at it: it is only read, whoever else has it open, and nothing in it is taken for
// granted.

import { CorruptRecordError, logOverhead, magicPosition } from '@odradek/protocol';
import type { FileSystem, OpenFile } from '@odradek/runtime';

/** Where a batch stands in the file, and its bytes, which are good until the next one is asked for. */
export interface BatchBytes {
  readonly position: number;
  readonly sizeBytes: number;
  readonly magic: number;
  readonly buffer: Buffer;
  /** Where it begins in the buffer. */
  readonly start: number;
}

/** No batch can begin where one should. */
export class BatchSizeError extends CorruptRecordError {
  override readonly name = 'BatchSizeError';
  /** What the size field says. */
  readonly length: number;

  constructor(position: number, length: number) {
    super(`What stands at position ${position} declares ${length} bytes, fewer than any format needs`);
    this.length = length;
  }
}

const windowBytes = 1024 * 1024;
/** What follows the size field in a message of magic 0 without key and value: nothing is smaller. */
const smallestLength = 14;

export class BatchFile {
  readonly path: string;
  readonly sizeBytes: number;
  readonly #file: OpenFile;

  /** Throws ENOENT where there is no such file. */
  constructor(fileSystem: FileSystem, path: string) {
    this.path = path;
    this.#file = fileSystem.openSync(path, 'read');
    this.sizeBytes = this.#file.sizeSync();
  }

  /**
   * The batches that lie whole between the positions; `from` is where one begins. A short tail ends the walk. Throws
   * BatchSizeError where no batch can begin; magic, checksum and contents are for the caller to judge.
   */
  *batches(from = 0, end: number = this.sizeBytes): Generator<BatchBytes, void, undefined> {
    let window = Buffer.allocUnsafeSlow(Math.max(0, Math.min(windowBytes, end - from)));
    let windowStart = from;
    let windowEnd = from;
    for (let at = from; at + magicPosition < end; ) {
      if (at + magicPosition >= windowEnd) {
        windowStart = at;
        windowEnd = this.#fill(window, at, end);
      }
      const sizeBytes = this.#sizeAt(window, at - windowStart, at);
      if (at + sizeBytes > end) return;
      if (at + sizeBytes > windowEnd) {
        if (sizeBytes > window.length) window = Buffer.allocUnsafeSlow(sizeBytes);
        windowStart = at;
        windowEnd = this.#fill(window, at, end);
      }
      const start = at - windowStart;
      yield { position: at, sizeBytes, magic: window.readInt8(start + magicPosition), buffer: window, start };
      at += sizeBytes;
    }
  }

  #fill(window: Buffer, at: number, end: number): number {
    return at + this.#file.readSync(window, 0, Math.min(window.length, end - at), at);
  }

  #sizeAt(window: Buffer, start: number, position: number): number {
    const length = window.readInt32BE(start + 8);
    if (length >= smallestLength) return length + logOverhead;
    throw new BatchSizeError(position, length);
  }

  closeSync(): void {
    this.#file.closeSync();
  }
}
