// One record of a magic 2 batch.
//
//   size             varint     of all that follows
//   attributes       int8       unused, 0
//   timestampDelta   varlong    to the batch's base timestamp
//   offsetDelta      varint     to the batch's base offset
//   keySize          varint     -1 = null
//   key              keySize bytes
//   valueSize        varint     -1 = null
//   value            valueSize bytes
//   headerCount      varint
//   headers          headerCount times:
//                      keySize varint, key UTF-8 (never null), valueSize varint (-1 = null), value
//
// Varints are zigzag-coded, see wire/varint.ts.

import { sizeOfVarint, sizeOfVarlong, writeVarint, writeVarlong } from '../wire/varint.ts';
import { InvalidRecordError } from './record-errors.ts';

export interface RecordHeader {
  readonly key: string;
  readonly value: Buffer | null;
}

/** A record as it is read. Key, value and header values are slices of the batch, or of its decompressed form. */
export interface LogRecord {
  readonly offset: number;
  /** In ms; -1 where the record has none. */
  readonly timestamp: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly RecordHeader[];
  /** The producer's sequence number, or -1 where the batch has no producer id. */
  readonly sequence: number;
}

/** A record as it is given to a builder. */
export interface RecordInit {
  /** The one after the record before by default, or the batch's base offset for the first. */
  readonly offset?: number | undefined;
  /** In ms; -1 by default, which means none. */
  readonly timestamp?: number | undefined;
  readonly key?: Uint8Array | null | undefined;
  readonly value?: Uint8Array | null | undefined;
  readonly headers?: readonly { readonly key: string; readonly value: Uint8Array | null }[] | undefined;
}

/** CreateTime: the producer's clock. LogAppendTime: the broker's, the same for all records of a batch. Magic 0 has neither. */
export type TimestampType = 'NoTimestampType' | 'CreateTime' | 'LogAppendTime';

const noHeaders: readonly RecordHeader[] = [];

/**
 * Walks over the records of a batch without making an object for each. `advance` checks the structure of the next record and
 * leaves its fields here; key, value and headers are made only when they are asked for.
 */
export class RecordReader {
  readonly buffer: Buffer;
  readonly end: number;
  position: number;

  timestampDelta = 0;
  offsetDelta = 0;
  keySize = -1;
  valueSize = -1;
  headerCount = 0;
  /** Of the whole record, its size field included. */
  sizeInBytes = 0;
  #keyStart = 0;
  #valueStart = 0;
  #headersStart = 0;
  /** Where reading must stop: the end of the record once its size is known. */
  #limit = 0;

  constructor(buffer: Buffer, position = 0, end: number = buffer.length) {
    this.buffer = buffer;
    this.position = position;
    this.end = end;
  }

  get isAtEnd(): boolean {
    return this.position >= this.end;
  }

  /** Steps to the next record, or throws InvalidRecordError where there is none or where it is malformed. */
  advance(): void {
    const start = this.position;
    if (start >= this.end) throw new InvalidRecordError('The batch declares more records than it holds');
    this.#limit = this.end;
    const size = this.#varint();
    const recordEnd = this.position + size;
    if (size < 0 || recordEnd > this.end) {
      throw new InvalidRecordError(`A record declares ${size} bytes where the batch has ${this.end - this.position} left`);
    }
    this.#limit = recordEnd;
    this.#skip(1, 'attributes');
    this.timestampDelta = this.#varlong();
    this.offsetDelta = this.#varint();
    this.keySize = this.#varint();
    this.#keyStart = this.position;
    if (this.keySize > 0) this.#skip(this.keySize, 'key');
    this.valueSize = this.#varint();
    this.#valueStart = this.position;
    if (this.valueSize > 0) this.#skip(this.valueSize, 'value');
    this.headerCount = this.#varint();
    this.#headersStart = this.position;
    if (this.headerCount !== 0) this.#skipHeaders();
    if (this.position !== recordEnd) {
      throw new InvalidRecordError(`A record declares ${size} bytes, but its fields take ${size - (recordEnd - this.position)}`);
    }
    this.sizeInBytes = recordEnd - start;
  }

  /** Throws where bytes are left after the last record. */
  ensureAtEnd(): void {
    if (this.position < this.end) throw new InvalidRecordError('The batch holds more bytes than the records that it declares');
  }

  /** Where the key stands in `buffer`, `keySize` bytes long. */
  get keyStart(): number {
    return this.#keyStart;
  }

  key(): Buffer | null {
    return this.keySize < 0 ? null : this.buffer.subarray(this.#keyStart, this.#keyStart + this.keySize);
  }

  value(): Buffer | null {
    return this.valueSize < 0 ? null : this.buffer.subarray(this.#valueStart, this.#valueStart + this.valueSize);
  }

  headers(): readonly RecordHeader[] {
    if (this.headerCount === 0) return noHeaders;
    const after = this.position;
    const headers: RecordHeader[] = [];
    this.position = this.#headersStart;
    for (let index = 0; index < this.headerCount; index++) {
      const keySize = this.#varint();
      const key = this.buffer.toString('utf8', this.position, this.position + keySize);
      this.position += keySize;
      const valueSize = this.#varint();
      headers.push({ key, value: valueSize < 0 ? null : this.buffer.subarray(this.position, this.position + valueSize) });
      if (valueSize > 0) this.position += valueSize;
    }
    this.position = after;
    return headers;
  }

  #skipHeaders(): void {
    // A header takes two bytes at least, so a count beyond what is left is known to be wrong before anything is read.
    if (this.headerCount < 0 || this.headerCount > this.#limit - this.position) {
      throw new InvalidRecordError(`A record declares ${this.headerCount} headers`);
    }
    for (let index = 0; index < this.headerCount; index++) {
      const keySize = this.#varint();
      if (keySize < 0) throw new InvalidRecordError(`A header declares a key of ${keySize} bytes`);
      this.#skip(keySize, 'header key');
      const valueSize = this.#varint();
      if (valueSize > 0) this.#skip(valueSize, 'header value');
    }
  }

  #skip(size: number, what: string): void {
    const after = this.position + size;
    if (after > this.#limit) throw new InvalidRecordError(`A record ends within its ${what}, which declares ${size} bytes`);
    this.position = after;
  }

  #byte(): number {
    if (this.position >= this.#limit) throw new InvalidRecordError('A record ends within a number');
    return this.buffer[this.position++]!;
  }

  #varint(): number {
    let byte = this.#byte();
    let value = byte & 0x7f;
    for (let shift = 7; byte > 0x7f; shift += 7) {
      if (shift > 28) throw new InvalidRecordError('A record has a varint of more than five bytes');
      byte = this.#byte();
      value |= (byte & 0x7f) << shift;
    }
    return (value >>> 1) ^ -(value & 1);
  }

  /** What lies beyond ±(2^53 - 1) becomes that bound. */
  #varlong(): number {
    let byte = this.#byte();
    let low = byte & 0x7f;
    for (let shift = 7; byte > 0x7f; shift += 7) {
      if (shift === 28) return this.#restOfVarlong(low);
      byte = this.#byte();
      low |= (byte & 0x7f) << shift;
    }
    return (low >>> 1) ^ -(low & 1);
  }

  #restOfVarlong(low: number): number {
    // The sign is the lowest bit; the 27 bits above it are in `low`, the rest follows in groups of seven.
    let magnitude = low >>> 1;
    let weight = 0x8000000;
    for (let count = 4; ; count++) {
      if (count === 10) throw new InvalidRecordError('A record has a varlong of more than ten bytes');
      const byte = this.#byte();
      magnitude += (byte & 0x7f) * weight;
      weight *= 128;
      if (byte < 0x80) break;
    }
    if (magnitude > Number.MAX_SAFE_INTEGER) return (low & 1) === 0 ? Number.MAX_SAFE_INTEGER : Number.MIN_SAFE_INTEGER;
    return (low & 1) === 0 ? magnitude : Math.max(-1 - magnitude, Number.MIN_SAFE_INTEGER);
  }
}

/** The bytes that a record takes in a batch, its size field included. */
export function sizeOfRecord(offsetDelta: number, timestampDelta: number, record: RecordInit): number {
  const size = sizeOfBody(offsetDelta, timestampDelta, record);
  return sizeOfVarint(size) + size;
}

/** Writes the record at the position and returns the position after it. The caller has made room for `sizeOfRecord`. */
export function writeRecord(
  target: Buffer,
  position: number,
  offsetDelta: number,
  timestampDelta: number,
  record: RecordInit,
): number {
  let at = writeVarint(target, position, sizeOfBody(offsetDelta, timestampDelta, record));
  target[at++] = 0;
  at = writeVarlong(target, at, timestampDelta);
  at = writeVarint(target, at, offsetDelta);
  at = writeSizedBytes(target, at, record.key ?? null);
  at = writeSizedBytes(target, at, record.value ?? null);
  const headers = record.headers ?? noHeaders;
  at = writeVarint(target, at, headers.length);
  for (const header of headers) {
    at = writeVarint(target, at, Buffer.byteLength(header.key));
    at += target.write(header.key, at, 'utf8');
    at = writeSizedBytes(target, at, header.value);
  }
  return at;
}

function sizeOfBody(offsetDelta: number, timestampDelta: number, record: RecordInit): number {
  let size = 1 + sizeOfVarlong(timestampDelta) + sizeOfVarint(offsetDelta);
  size += sizeOfSizedBytes(record.key ?? null) + sizeOfSizedBytes(record.value ?? null);
  const headers = record.headers ?? noHeaders;
  size += sizeOfVarint(headers.length);
  for (const header of headers) {
    const keySize = Buffer.byteLength(header.key);
    size += sizeOfVarint(keySize) + keySize + sizeOfSizedBytes(header.value);
  }
  return size;
}

function sizeOfSizedBytes(bytes: Uint8Array | null): number {
  return bytes === null ? 1 : sizeOfVarint(bytes.length) + bytes.length;
}

function writeSizedBytes(target: Buffer, position: number, bytes: Uint8Array | null): number {
  if (bytes === null) return writeVarint(target, position, -1);
  const at = writeVarint(target, position, bytes.length);
  target.set(bytes, at);
  return at + bytes.length;
}
