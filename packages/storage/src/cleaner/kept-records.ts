// Which records of one batch stay, and where they stand in its bytes. Used again for one batch after the other.

import { noTimestamp } from '@odradek/protocol';

export class KeptRecords {
  count = 0;
  sizeBytes = 0;
  hasTombstones = false;
  firstTimestamp = noTimestamp;
  /** The largest timestamp of those that stay. */
  maxTimestamp = noTimestamp;
  #bytes: Buffer = Buffer.alloc(0);
  /** By the record's index: 1 where it stays. */
  #isKept = new Uint8Array(256);
  /** Start and end of each piece of the bytes that stays; neighbours are one. */
  #bounds = new Int32Array(64);
  #boundCount = 0;

  /** None of so many records so far; they stand in the bytes, which must stay as they are until they have been copied. */
  begin(recordCount: number, bytes: Buffer): void {
    this.count = 0;
    this.sizeBytes = 0;
    this.hasTombstones = false;
    this.firstTimestamp = noTimestamp;
    this.maxTimestamp = noTimestamp;
    this.#bytes = bytes;
    this.#boundCount = 0;
    // A record takes more than a byte: a batch that declares more of them than that is found out soon.
    const most = Math.min(recordCount, bytes.length);
    if (this.#isKept.length < most) this.#isKept = new Uint8Array(most * 2);
    else this.#isKept.fill(0, 0, most);
  }

  /** Each comes behind those that were added before. */
  add(index: number, start: number, end: number, timestamp: number): void {
    if (this.count === 0) this.firstTimestamp = timestamp;
    this.count += 1;
    this.sizeBytes += end - start;
    if (timestamp > this.maxTimestamp) this.maxTimestamp = timestamp;
    this.#isKept[index] = 1;
    const last = this.#boundCount - 1;
    if (last >= 0 && this.#bounds[last] === start) this.#bounds[last] = end;
    else this.#addPiece(start, end);
  }

  #addPiece(start: number, end: number): void {
    if (this.#boundCount === this.#bounds.length) {
      const more = new Int32Array(this.#bounds.length * 2);
      more.set(this.#bounds);
      this.#bounds = more;
    }
    this.#bounds[this.#boundCount] = start;
    this.#bounds[this.#boundCount + 1] = end;
    this.#boundCount += 2;
  }

  has(index: number): boolean {
    return this.#isKept[index] === 1;
  }

  copyTo(target: Buffer, position: number): void {
    let at = position;
    for (let bound = 0; bound < this.#boundCount; bound += 2) {
      at += this.#bytes.copy(target, at, this.#bounds[bound], this.#bounds[bound + 1]);
    }
  }
}
