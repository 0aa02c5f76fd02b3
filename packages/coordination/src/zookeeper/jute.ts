// Jute, the way in which ZooKeeper writes values down. All numbers are big-endian:
//
//   boolean   1       0 or 1
//   int       4       int32
//   long      8       int64
//   buffer    4 + n   int32 size, -1 for none | bytes
//   ustring   4 + n   int32 size, -1 for none | UTF-8
//   vector    4 + …   int32 count, -1 for none | its elements

/** What came is not what ZooKeeper's protocol allows. The connection that brought it cannot be used any more. */
export class InvalidAnswerError extends Error {
  override readonly name = 'InvalidAnswerError';
}

export class JuteWriter {
  #bytes: Buffer;
  #size = 0;

  constructor(expectedBytes = 256) {
    this.#bytes = Buffer.allocUnsafe(expectedBytes);
  }

  int(value: number): this {
    this.#ensure(4);
    this.#size = this.#bytes.writeInt32BE(value, this.#size);
    return this;
  }

  long(value: bigint): this {
    this.#ensure(8);
    this.#size = this.#bytes.writeBigInt64BE(value, this.#size);
    return this;
  }

  boolean(value: boolean): this {
    this.#ensure(1);
    this.#bytes[this.#size++] = value ? 1 : 0;
    return this;
  }

  buffer(value: Uint8Array | null): this {
    if (value === null) return this.int(-1);
    this.int(value.byteLength);
    this.#ensure(value.byteLength);
    this.#bytes.set(value, this.#size);
    this.#size += value.byteLength;
    return this;
  }

  string(value: string): this {
    const size = Buffer.byteLength(value);
    this.int(size);
    this.#ensure(size);
    this.#bytes.write(value, this.#size, 'utf8');
    this.#size += size;
    return this;
  }

  vector<T>(values: readonly T[], write: (value: T) => void): this {
    this.int(values.length);
    for (const value of values) write(value);
    return this;
  }

  /** All that was written. */
  finish(): Buffer {
    return this.#bytes.subarray(0, this.#size);
  }

  #ensure(size: number): void {
    if (this.#size + size <= this.#bytes.byteLength) return;
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#bytes.byteLength, this.#size + size));
    this.#bytes.copy(larger, 0, 0, this.#size);
    this.#bytes = larger;
  }
}

/** Reads one frame, whose bytes may change afterwards: what it returns is a copy. Throws InvalidAnswerError. */
export class JuteReader {
  readonly #bytes: Buffer;
  #position = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get remainingBytes(): number {
    return this.#bytes.byteLength - this.#position;
  }

  int(): number {
    return this.#bytes.readInt32BE(this.#take(4));
  }

  /** All 64 bits: ids of sessions. */
  long(): bigint {
    return this.#bytes.readBigInt64BE(this.#take(8));
  }

  /** Transaction ids and times, which stay in the safe range (see NodeStat). */
  safeLong(): number {
    const at = this.#take(8);
    const value = this.#bytes.readInt32BE(at) * 2 ** 32 + this.#bytes.readUInt32BE(at + 4);
    if (!Number.isSafeInteger(value))
      throw new InvalidAnswerError(`an id or a time beyond 2^53: ${this.#bytes.readBigInt64BE(at)}`);
    return value;
  }

  boolean(): boolean {
    return this.#bytes[this.#take(1)] !== 0;
  }

  buffer(): Buffer | null {
    const size = this.#size();
    if (size === -1) return null;
    const at = this.#take(size);
    return Buffer.from(this.#bytes.subarray(at, at + size));
  }

  string(): string {
    const size = this.#size();
    if (size === -1) throw new InvalidAnswerError('a text is missing');
    const at = this.#take(size);
    return this.#bytes.toString('utf8', at, at + size);
  }

  /** No vector at all reads as an empty one. */
  vector<T>(read: () => T): T[] {
    const count = this.int();
    // Each element has at least one byte, so that a count alone cannot make us allocate.
    if (count < -1 || count > this.remainingBytes) throw new InvalidAnswerError(`a list of ${count}`);
    const values: T[] = [];
    for (let i = 0; i < count; i++) values.push(read());
    return values;
  }

  #size(): number {
    const size = this.int();
    if (size < -1) throw new InvalidAnswerError(`a size of ${size}`);
    return size;
  }

  #take(size: number): number {
    const at = this.#position;
    if (size > this.#bytes.byteLength - at) {
      throw new InvalidAnswerError(`${size} bytes are wanted and ${this.#bytes.byteLength - at} are left`);
    }
    this.#position = at + size;
    return at;
  }
}
