// Frames: what travels on a connection is an int32 size and then as many bytes.

import { MalformedMessageError } from './malformed-message-error.ts';

const sizeOfLength = 4;

/**
 * A frame up to `promisedBytes` gets its buffer as soon as `earnestBytes` of it are here, so that each chunk can be copied as it arrives
 * and let go. Before that, and of a longer frame, the chunks are kept and joined later: a peer that promises much and sends little must
 * not make us allocate.
 */
const earnestBytes = 32 * 1024;
const promisedBytes = 1024 * 1024;

/**
 * Cuts frames out of a stream of chunks. A frame that lies whole within one chunk is a slice of it; any other is copied once. With
 * `allocate` every frame is copied, into what that gives, so that chunks need not outlive `next`.
 */
export class FrameCutter {
  readonly #maxFrameBytes: number;
  readonly #allocate: ((size: number) => Buffer) | undefined;
  #chunk: Buffer = Buffer.alloc(0);
  #position = 0;
  /** The four bytes of a length that came in pieces. */
  readonly #lengthBytes = Buffer.alloc(sizeOfLength);
  #lengthFilled = 0;
  /** The frame that began in an earlier chunk: its length (-1: none), what has arrived, and either its buffer or its chunks. */
  #frameLength = -1;
  #frameFilled = 0;
  #frame: Buffer | null = null;
  #frameChunks: Buffer[] = [];

  constructor(maxFrameBytes: number, allocate?: (size: number) => Buffer) {
    this.#maxFrameBytes = maxFrameBytes;
    this.#allocate = allocate;
  }

  /** Bytes that belong to a frame which has not arrived whole. */
  get pendingBytes(): number {
    return this.#frameFilled + this.#lengthFilled + this.#chunk.length - this.#position;
  }

  /** Whether all of the chunk has been taken. */
  get isDrained(): boolean {
    return this.#position === this.#chunk.length;
  }

  /** Takes the next chunk of the stream. All frames of the chunk before must have been taken out with `next`. */
  add(chunk: Buffer): void {
    if (!this.isDrained) throw new Error('A chunk was added before the frames of the last one were taken');
    this.#chunk = chunk;
    this.#position = 0;
  }

  /** Copies what is left of the chunk, whose bytes may change from now on. */
  own(): void {
    if (this.isDrained) return;
    this.#chunk = Buffer.from(this.#chunk.subarray(this.#position));
    this.#position = 0;
  }

  /** The next whole frame, without its length; null when more must arrive first. Throws on a negative or too large length. */
  next(): Buffer | null {
    if (this.#frameLength < 0 && !this.#readLength()) return null;
    const missing = this.#frameLength - this.#frameFilled;
    const available = this.#chunk.length - this.#position;
    if (this.#frameFilled === 0 && available >= missing && this.#allocate === undefined) {
      const frame = this.#chunk.subarray(this.#position, this.#position + missing);
      this.#position += missing;
      this.#frameLength = -1;
      return frame;
    }
    this.#keep(Math.min(missing, available));
    return this.#frameFilled === this.#frameLength ? this.#finish() : null;
  }

  #readLength(): boolean {
    const available = this.#chunk.length - this.#position;
    let length: number;
    if (this.#lengthFilled === 0 && available >= sizeOfLength) {
      length = this.#chunk.readInt32BE(this.#position);
      this.#position += sizeOfLength;
    } else {
      const taken = Math.min(sizeOfLength - this.#lengthFilled, available);
      this.#chunk.copy(this.#lengthBytes, this.#lengthFilled, this.#position, this.#position + taken);
      this.#lengthFilled += taken;
      this.#position += taken;
      if (this.#lengthFilled < sizeOfLength) return false;
      this.#lengthFilled = 0;
      length = this.#lengthBytes.readInt32BE(0);
    }
    if (length < 0) throw new MalformedMessageError(`A frame cannot have the negative size ${length}`);
    if (length > this.#maxFrameBytes)
      throw new MalformedMessageError(`A frame of ${length} bytes exceeds the limit of ${this.#maxFrameBytes}${whatItIs(length)}`);
    this.#frameLength = length;
    return true;
  }

  /** Keeps the next `size` bytes of the chunk for the frame that will be whole later. */
  #keep(size: number): void {
    if (size === 0) return;
    const piece = this.#chunk.subarray(this.#position, this.#position + size);
    this.#position += size;
    if (this.#frame === null && this.#frameLength <= promisedBytes) {
      const isEarnest = this.#frameLength <= earnestBytes || this.#frameFilled + size >= earnestBytes;
      if (isEarnest) this.#openFrame();
    }
    if (this.#frame !== null) {
      piece.copy(this.#frame, this.#frameFilled);
    } else {
      this.#frameChunks.push(this.#allocate === undefined ? piece : Buffer.from(piece));
    }
    this.#frameFilled += size;
  }

  #openFrame(): void {
    this.#frame = this.#allocate?.(this.#frameLength) ?? Buffer.allocUnsafe(this.#frameLength);
    let filled = 0;
    for (const chunk of this.#frameChunks) filled += chunk.copy(this.#frame, filled);
    this.#frameChunks = [];
  }

  #finish(): Buffer {
    const frame = this.#frame ?? Buffer.concat(this.#frameChunks, this.#frameLength);
    this.#frame = null;
    this.#frameChunks = [];
    this.#frameLength = -1;
    this.#frameFilled = 0;
    return frame;
  }
}

/** Puts the size before a message, for the wire. */
export function frame(chunks: readonly Buffer[]): Buffer[] {
  let size = 0;
  for (const chunk of chunks) size += chunk.length;
  const length = Buffer.allocUnsafe(sizeOfLength);
  length.writeInt32BE(size);
  return [length, ...chunks];
}

/** Those who speak something else are told by their first bytes, which are no size. Many come so by mistake. */
function whatItIs(length: number): string {
  const bytes = Buffer.alloc(sizeOfLength);
  bytes.writeInt32BE(length);
  // A record of TLS with a handshake, 16, in a version of 3.x.
  if (bytes[0] === 0x16 && bytes[1] === 3) return ': the peer begins TLS, which is not spoken here';
  if (/^(GET |POST|PUT |HEAD|DELE|OPTI|PATC|CONN|PRI )$/.test(bytes.toString('latin1')))
    return ': the peer speaks HTTP, which is not spoken here';
  return '';
}
