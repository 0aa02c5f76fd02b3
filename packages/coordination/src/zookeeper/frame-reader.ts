// Cuts the stream of bytes from a server into frames. A frame that is larger than the limit is not kept: its first bytes, which say
// what it answers, are handed over, and the rest is skipped.

import { InvalidAnswerError } from './jute.ts';

/** xid, zxid and error. */
export const answerHeadSize = 16;

export interface FrameTaker {
  /** The bytes are lent for the call. */
  take(frame: Buffer): void;
  takeOversize(head: Buffer, frameBytes: number): void;
}

export class FrameReader {
  readonly #maxFrameBytes: number;
  readonly #taker: FrameTaker;
  /** The beginning of a frame; it grows with what arrives, not with what the server says is coming. */
  #held = Buffer.alloc(64);
  #heldBytes = 0;
  #skipBytes = 0;

  constructor(maxFrameBytes: number, taker: FrameTaker) {
    this.#maxFrameBytes = maxFrameBytes;
    this.#taker = taker;
  }

  /** Throws InvalidAnswerError, and whatever the taker throws; then no more may be pushed. */
  push(chunk: Buffer): void {
    let rest = this.#skip(chunk);
    while (rest.byteLength > 0) {
      if (this.#heldBytes > 0) rest = this.#hold(rest);
      else {
        const wanted = wantedBytes(rest, rest.byteLength, this.#maxFrameBytes);
        if (rest.byteLength < wanted) {
          rest = this.#hold(rest);
        } else {
          this.#give(rest.subarray(0, wanted));
          rest = this.#skip(rest.subarray(wanted));
        }
      }
    }
  }

  /** Adds to what is held, and gives it away when it is whole. Returns what was not needed for that. */
  #hold(chunk: Buffer): Buffer {
    const wanted = wantedBytes(this.#held, this.#heldBytes, this.#maxFrameBytes);
    const size = Math.min(wanted - this.#heldBytes, chunk.byteLength);
    const end = this.#heldBytes + size;
    if (end > this.#held.byteLength) {
      const larger = Buffer.allocUnsafe(Math.min(wanted, Math.max(end, 2 * this.#held.byteLength)));
      this.#held.copy(larger, 0, 0, this.#heldBytes);
      this.#held = larger;
    }
    chunk.copy(this.#held, this.#heldBytes, 0, size);
    this.#heldBytes = end;
    if (end < wanted) return chunk.subarray(size);
    // The size has just become known, and it wants more.
    if (wantedBytes(this.#held, end, this.#maxFrameBytes) > end) return chunk.subarray(size);
    const whole = this.#held.subarray(0, end);
    this.#held = Buffer.alloc(64);
    this.#heldBytes = 0;
    this.#give(whole);
    return this.#skip(chunk.subarray(size));
  }

  #give(bytes: Buffer): void {
    const size = bytes.readInt32BE(0);
    if (size <= this.#maxFrameBytes) this.#taker.take(bytes.subarray(4));
    else {
      this.#skipBytes = size - answerHeadSize;
      this.#taker.takeOversize(bytes.subarray(4), size);
    }
  }

  #skip(chunk: Buffer): Buffer {
    const size = Math.min(this.#skipBytes, chunk.byteLength);
    this.#skipBytes -= size;
    return chunk.subarray(size);
  }
}

/** How many bytes must be there before something can be done with the frame that begins here. */
function wantedBytes(bytes: Buffer, available: number, maxFrameBytes: number): number {
  if (available < 4) return 4;
  const size = bytes.readInt32BE(0);
  if (size < 0) throw new InvalidAnswerError(`a frame of ${size} bytes`);
  return 4 + (size > maxFrameBytes ? answerHeadSize : size);
}
