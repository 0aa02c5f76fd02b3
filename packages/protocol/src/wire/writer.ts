// Writes the primitive types of the protocol, the mirror image of reader.ts. Small fields go to one growing buffer; records are
// remembered where they belong and handed on as they are, so that a megabyte of batches is never copied here.

import { zeroUuid } from './uuid.ts';
import { sizeOfUnsignedVarint, writeUnsignedVarint, writeVarint, writeVarlong } from './varint.ts';

const initialCapacity = 1024;
/** A buffer that has grown beyond this is not kept for the next message. */
const keptCapacity = 1024 * 1024;

export class Writer {
  #buffer = Buffer.allocUnsafeSlow(initialCapacity);
  #view = viewOf(this.#buffer);
  #position = 0;
  /** Pieces written by reference, each with the position in the buffer before which it belongs. */
  #pieces: { readonly position: number; readonly bytes: Uint8Array }[] = [];
  #piecesSize = 0;

  /** How many bytes have been written. */
  get size(): number {
    return this.#position + this.#piecesSize;
  }

  /** What was written, in order. The bytes are the caller's; the writer is empty afterwards and may be used again. */
  chunks(): Buffer[] {
    const own = Buffer.allocUnsafe(this.#position);
    this.#buffer.copy(own, 0, 0, this.#position);
    const chunks: Buffer[] = [];
    let taken = 0;
    for (const { position, bytes } of this.#pieces) {
      if (position > taken) chunks.push(own.subarray(taken, position));
      chunks.push(asBuffer(bytes));
      taken = position;
    }
    if (this.#position > taken || chunks.length === 0) chunks.push(taken === 0 ? own : own.subarray(taken));
    this.reset();
    return chunks;
  }

  /** Forgets what was written. */
  reset(): void {
    this.#position = 0;
    this.#piecesSize = 0;
    if (this.#pieces.length > 0) this.#pieces = [];
    if (this.#buffer.length > keptCapacity) {
      this.#buffer = Buffer.allocUnsafeSlow(initialCapacity);
      this.#view = viewOf(this.#buffer);
    }
  }

  bool(value: boolean): void {
    this.int8(value ? 1 : 0);
  }

  int8(value: number): void {
    this.#view.setInt8(this.#reserve(1), value);
  }

  int16(value: number): void {
    const start = this.#reserve(2);
    this.#view.setInt16(start, value);
  }

  uint16(value: number): void {
    const start = this.#reserve(2);
    this.#view.setUint16(start, value);
  }

  int32(value: number): void {
    const start = this.#reserve(4);
    this.#view.setInt32(start, value);
  }

  uint32(value: number): void {
    const start = this.#reserve(4);
    this.#view.setUint32(start, value);
  }

  int64(value: number): void {
    const start = this.#reserve(8);
    this.#view.setInt32(start, Math.floor(value / 0x100000000));
    this.#view.setInt32(start + 4, value);
  }

  int64Bits(value: bigint): void {
    const start = this.#reserve(8);
    this.#view.setBigInt64(start, value);
  }

  float64(value: number): void {
    const start = this.#reserve(8);
    this.#view.setFloat64(start, value);
  }

  uuid(value: string): void {
    const start = this.#reserve(16);
    if (value === zeroUuid) this.#buffer.fill(0, start, start + 16);
    else if (value.length !== 22 || this.#buffer.write(value, start, 'base64url') !== 16)
      throw new TypeError(`Not a uuid: "${value}"`);
  }

  unsignedVarint(value: number): void {
    const start = this.#reserve(5);
    this.#position = writeUnsignedVarint(this.#buffer, start, value);
  }

  varint(value: number): void {
    const start = this.#reserve(5);
    this.#position = writeVarint(this.#buffer, start, value);
  }

  varlong(value: number): void {
    const start = this.#reserve(10);
    this.#position = writeVarlong(this.#buffer, start, value);
  }

  /** An int16 length, then UTF-8. */
  string(value: string): void {
    const start = this.#reserve(2 + value.length * 3);
    const size = this.#utf8(value, start + 2);
    if (size > 0x7fff) throw new RangeError(`A string of ${size} bytes is too long for this version: its length is an int16`);
    this.#view.setInt16(start, size);
    this.#position = start + 2 + size;
  }

  /** An unsigned varint of length + 1, then UTF-8. */
  compactString(value: string): void {
    // The length comes first, and so does the question how many bytes the length itself takes: one, where the text cannot be longer
    // than 126 bytes.
    const start = this.#reserve(5 + value.length * 3);
    const sizeOfLength = value.length <= 42 ? 1 : sizeOfUnsignedVarint(Buffer.byteLength(value) + 1);
    const size = this.#utf8(value, start + sizeOfLength);
    writeUnsignedVarint(this.#buffer, start, size + 1);
    this.#position = start + sizeOfLength + size;
  }

  /** An int32 length, then the bytes, copied. */
  bytes(value: Uint8Array): void {
    this.int32(value.length);
    this.raw(value);
  }

  /** An unsigned varint of length + 1, then the bytes, copied. */
  compactBytes(value: Uint8Array): void {
    this.unsignedVarint(value.length + 1);
    this.raw(value);
  }

  /** An int32 length, then the pieces by reference. */
  records(value: Uint8Array | readonly Uint8Array[]): void {
    this.int32(sizeOfRecords(value));
    this.#splice(value);
  }

  /** An unsigned varint of length + 1, then the pieces by reference. */
  compactRecords(value: Uint8Array | readonly Uint8Array[]): void {
    this.unsignedVarint(sizeOfRecords(value) + 1);
    this.#splice(value);
  }

  /** Bytes without a length, copied. */
  raw(value: Uint8Array): void {
    const start = this.#reserve(value.length);
    this.#buffer.set(value, start);
  }

  /** Overwrites an int32 written earlier in this message. */
  patchInt32(position: number, value: number): void {
    this.#view.setInt32(position, value);
  }

  /** Opens a tagged field, of which the size is not known before it is written. `closeTagged` wants the result. */
  openTagged(tag: number): number {
    this.unsignedVarint(tag);
    return this.#reserve(1) + 1;
  }

  /** Puts the size before what was written since `openTagged`. Records, which are not in the buffer, cannot be there. */
  closeTagged(start: number): void {
    const size = this.#position - start;
    const sizeOfLength = sizeOfUnsignedVarint(size);
    if (sizeOfLength > 1) {
      this.#reserve(sizeOfLength - 1);
      this.#buffer.copyWithin(start + sizeOfLength - 1, start, start + size);
    }
    writeUnsignedVarint(this.#buffer, start - 1, size);
  }

  /** Makes room for `size` bytes and returns where they start. */
  #reserve(size: number): number {
    const start = this.#position;
    const after = start + size;
    if (after > this.#buffer.length) this.#grow(after);
    this.#position = after;
    return start;
  }

  #grow(needed: number): void {
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(grown, 0, 0, this.#position);
    this.#buffer = grown;
    this.#view = viewOf(grown);
  }

  /** Writes UTF-8 where room has been made for three bytes a character, and returns its size. */
  #utf8(value: string, start: number): number {
    // A call into the platform costs as much as a dozen characters written here.
    if (value.length > 12) return this.#buffer.write(value, start, 'utf8');
    const buffer = this.#buffer;
    for (let index = 0; index < value.length; index++) {
      const code = value.charCodeAt(index);
      if (code > 0x7f) return buffer.write(value, start, 'utf8');
      buffer[start + index] = code;
    }
    return value.length;
  }

  #splice(value: Uint8Array | readonly Uint8Array[]): void {
    if (value instanceof Uint8Array) this.#piece(value);
    else for (const bytes of value) this.#piece(bytes);
  }

  #piece(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#pieces.push({ position: this.#position, bytes });
    this.#piecesSize += bytes.length;
  }
}

function sizeOfRecords(value: Uint8Array | readonly Uint8Array[]): number {
  if (value instanceof Uint8Array) return value.length;
  let size = 0;
  for (const bytes of value) size += bytes.length;
  return size;
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function viewOf(buffer: Buffer): DataView {
  return new DataView(buffer.buffer, buffer.byteOffset, buffer.length);
}
