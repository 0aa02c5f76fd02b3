// Reads the primitive types of the protocol from bytes, in order. All integers are big-endian.
//
//   string   int16 length (-1 = null), UTF-8             compact: unsigned varint length + 1 (0 = null), UTF-8
//   bytes    int32 length (-1 = null), bytes             compact: unsigned varint length + 1 (0 = null), bytes
//   array    int32 count (-1 = null), elements           compact: unsigned varint count + 1 (0 = null), elements
//   uuid     16 bytes
//
// Every length is checked against the bytes that are there before anything is made of it, so that nothing is allocated by a
// number that a peer chose.

import { MalformedMessageError } from './malformed-message-error.ts';
import { zeroUuid } from './uuid.ts';
import { unzigzag } from './varint.ts';

/**
 * The most elements that the arrays of one message may have together. An element of two bytes can become an object of a hundred, so the
 * size of a frame alone would let a peer fill our memory; a LeaderAndIsr request for 200,000 partitions has about two million.
 */
const maxElements = 5_000_000;

export class Reader {
  readonly buffer: Buffer;
  readonly end: number;
  position: number;
  readonly #view: DataView;
  #elements = 0;

  constructor(buffer: Buffer, position = 0, end = buffer.length) {
    this.buffer = buffer;
    this.position = position;
    this.end = end;
    this.#view = new DataView(buffer.buffer, buffer.byteOffset, end);
  }

  get remaining(): number {
    return this.end - this.position;
  }

  /** Steps over `size` bytes and returns where they start. */
  skip(size: number): number {
    const start = this.position;
    const after = start + size;
    if (after > this.end)
      throw new MalformedMessageError(`${size} bytes expected at position ${start}, but only ${this.end - start} are left`);
    this.position = after;
    return start;
  }

  bool(): boolean {
    return this.#view.getInt8(this.skip(1)) !== 0;
  }

  int8(): number {
    return this.#view.getInt8(this.skip(1));
  }

  int16(): number {
    return this.#view.getInt16(this.skip(2));
  }

  uint16(): number {
    return this.#view.getUint16(this.skip(2));
  }

  int32(): number {
    return this.#view.getInt32(this.skip(4));
  }

  uint32(): number {
    return this.#view.getUint32(this.skip(4));
  }

  /** Saturates at the largest and smallest safe integer. */
  int64(): number {
    const start = this.skip(8);
    return safeInt64(this.#view.getInt32(start), this.#view.getUint32(start + 4));
  }

  int64Bits(): bigint {
    return this.#view.getBigInt64(this.skip(8));
  }

  float64(): number {
    return this.#view.getFloat64(this.skip(8));
  }

  uuid(): string {
    const start = this.skip(16);
    const view = this.#view;
    if (
      view.getInt32(start) === 0 &&
      view.getInt32(start + 4) === 0 &&
      view.getInt32(start + 8) === 0 &&
      view.getInt32(start + 12) === 0
    ) {
      return zeroUuid;
    }
    return this.buffer.toString('base64url', start, start + 16);
  }

  unsignedVarint(): number {
    let byte = this.#view.getUint8(this.skip(1));
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    for (let shift = 7; shift <= 28; shift += 7) {
      byte = this.#view.getUint8(this.skip(1));
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
    throw new MalformedMessageError(`The varint that ends at position ${this.position} is longer than five bytes`);
  }

  varint(): number {
    return unzigzag(this.unsignedVarint());
  }

  /** Saturates at the largest and smallest safe integer. */
  varlong(): number {
    let low = 0;
    let shift = 0;
    // The first four bytes carry 28 bits, which integer arithmetic holds; most values end there.
    for (; shift < 28; shift += 7) {
      const byte = this.#view.getUint8(this.skip(1));
      low |= (byte & 0x7f) << shift;
      if (byte < 0x80) return unzigzag(low);
    }
    let high = 0;
    let weight = 1;
    for (; shift < 70; shift += 7) {
      const byte = this.#view.getUint8(this.skip(1));
      high += (byte & 0x7f) * weight;
      weight *= 128;
      if (byte < 0x80) return saturate(high * 0x8000000 + (low >>> 1), low & 1);
    }
    throw new MalformedMessageError(`The varlong that ends at position ${this.position} is longer than ten bytes`);
  }

  /** The length of anything in the compact form; -1 is null. */
  compactLength(): number {
    return this.unsignedVarint() - 1;
  }

  /** A string of a length that was read before. The name is for the error when there is none. */
  string(length: number, name: string): string {
    if (length <= 0) {
      if (length < 0) throw nullError(name);
      return '';
    }
    const start = this.skip(length);
    return this.buffer.toString('utf8', start, start + length);
  }

  nullableString(length: number, name: string): string | null {
    return length < 0 ? null : this.string(length, name);
  }

  /** A slice, not a copy, of a length that was read before. */
  bytes(length: number, name: string): Buffer {
    if (length < 0) throw nullError(name);
    const start = this.skip(length);
    return this.buffer.subarray(start, start + length);
  }

  nullableBytes(length: number, name: string): Buffer | null {
    return length < 0 ? null : this.bytes(length, name);
  }

  /** The number of elements of an array, after making sure that the bytes left can hold as many of the smallest size. */
  count(count: number, smallestSize: number, name: string): number {
    if (count < 0) throw nullError(name);
    // An element of no size at all still counts as one byte, as it does for Kafka.
    if (count * Math.max(smallestSize, 1) > this.end - this.position) {
      throw new MalformedMessageError(`${name} cannot have ${count} elements: only ${this.end - this.position} bytes are left`);
    }
    this.#elements += count;
    if (this.#elements > maxElements) throw new MalformedMessageError(`A message cannot have more than ${maxElements} elements`);
    return count;
  }

  /** -1 for null. */
  nullableCount(count: number, smallestSize: number, name: string): number {
    return count < 0 ? -1 : this.count(count, smallestSize, name);
  }

  /** Where the next `size` bytes end. */
  endOf(size: number): number {
    if (size > this.end - this.position) {
      throw new MalformedMessageError(
        `A tagged field of ${size} bytes at position ${this.position}, but only ${this.end - this.position} are left`,
      );
    }
    return this.position + size;
  }

  ensureAt(position: number): void {
    if (this.position !== position)
      throw new MalformedMessageError(`A tagged field ends at ${this.position}, not at ${position} as its size says`);
  }

  /** Steps over the tagged fields of a struct that knows none. */
  skipTaggedFields(): void {
    for (let left = this.unsignedVarint(); left > 0; left--) {
      this.unsignedVarint();
      this.skip(this.unsignedVarint());
    }
  }
}

function nullError(name: string): MalformedMessageError {
  return new MalformedMessageError(`${name} must not be null`);
}

/** The number whose upper and lower halves are given, or the nearest safe integer. */
function safeInt64(high: number, low: number): number {
  if (high > 0x1fffff) return Number.MAX_SAFE_INTEGER;
  if (high < -0x200000 || (high === -0x200000 && low === 0)) return Number.MIN_SAFE_INTEGER;
  return high * 0x100000000 + low;
}

function saturate(magnitude: number, sign: number): number {
  const value = sign === 1 ? -1 - magnitude : magnitude;
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, value));
}
