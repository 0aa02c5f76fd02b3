// What was written last, kept in memory: a consumer or follower that keeps up costs no read from the disk. One bound counts for
// all logs of a broker; beyond it the oldest goes, whichever log it belongs to.
//
// Batches are kept as the bytes that came from the socket. Small ones are copied into slabs, because a batch of 100 bytes may be
// a slice of a chunk of 64 KiB and would keep all of that alive.

/** Batches below this size are copied. */
const smallBatchBytes = 16 * 1024;
const slabBytes = 256 * 1024;

/** Whether the tail keeps these very bytes, and not a copy. */
export function isKeptWhole(bytes: Buffer): boolean {
  return bytes.length >= smallBatchBytes;
}

export interface TailEntry {
  readonly bytes: Buffer;
  readonly baseOffset: number;
  readonly nextOffset: number;
}

/** Bounds what all tails of a broker keep. */
export class TailBudget {
  readonly maxBytes: number;
  #bytes = 0;
  /** One owner for each entry, in the order in which they came; `#first` is where the oldest stands. */
  #owners: LogTail[] = [];
  #first = 0;
  #slab: Buffer | undefined;
  #slabUsed = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** A copy of the bytes in a slab; what is too large for that is returned as it is. */
  compact(bytes: Buffer): Buffer {
    if (isKeptWhole(bytes)) return bytes;
    if (this.#slab === undefined || this.#slabUsed + bytes.length > slabBytes) {
      this.#slab = Buffer.allocUnsafeSlow(slabBytes);
      this.#slabUsed = 0;
    }
    const start = this.#slabUsed;
    bytes.copy(this.#slab, start);
    this.#slabUsed += bytes.length;
    return this.#slab.subarray(start, this.#slabUsed);
  }

  added(tail: LogTail, sizeBytes: number): void {
    this.#owners.push(tail);
    this.#bytes += sizeBytes;
    while (this.#bytes > this.maxBytes && this.#first < this.#owners.length) {
      this.#owners[this.#first]!.dropOldest();
      this.#first += 1;
    }
    if (this.#first > 1024 && this.#first * 2 > this.#owners.length) {
      this.#owners = this.#owners.slice(this.#first);
      this.#first = 0;
    }
  }

  removed(sizeBytes: number): void {
    this.#bytes -= sizeBytes;
  }
}

/** The tail of one log: entries without gaps, the last of which ends where the written log ends. */
export class LogTail {
  readonly #budget: TailBudget;
  #entries: TailEntry[] = [];
  #first = 0;

  constructor(budget: TailBudget) {
    this.#budget = budget;
  }

  add(bytes: Buffer, baseOffset: number, nextOffset: number): void {
    if (bytes.length > this.#budget.maxBytes) {
      this.clear();
      return;
    }
    this.#entries.push({ bytes: this.#budget.compact(bytes), baseOffset, nextOffset });
    this.#budget.added(this, bytes.length);
  }

  /** Called by the budget. A log that was cleared has nothing left to drop for the entries it once had. */
  dropOldest(): void {
    const oldest = this.#entries[this.#first];
    if (oldest === undefined) return;
    this.#budget.removed(oldest.bytes.length);
    this.#first += 1;
    if (this.#first > 64 && this.#first * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#first);
      this.#first = 0;
    } else if (this.#first === this.#entries.length) {
      this.#entries = [];
      this.#first = 0;
    }
  }

  clear(): void {
    if (this.#entries.length === 0) return;
    for (let index = this.#first; index < this.#entries.length; index++) this.#budget.removed(this.#entries[index]!.bytes.length);
    this.#entries = [];
    this.#first = 0;
  }

  /**
   * The batches from the one with the offset on, below `endOffset` and within `maxBytes`, except that the first may be larger when
   * `minOneBatch`. undefined: the offset is not in memory.
   */
  read(
    offset: number,
    endOffset: number,
    maxBytes: number,
    minOneBatch: boolean,
  ): { chunks: Buffer[]; sizeBytes: number } | undefined {
    const start = this.#indexOf(offset);
    if (start < 0) return undefined;
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    for (let index = start; index < this.#entries.length; index++) {
      const { bytes, nextOffset } = this.#entries[index]!;
      if (nextOffset > endOffset) break;
      const isForced = minOneBatch && chunks.length === 0;
      if (sizeBytes + bytes.length > maxBytes && !isForced) break;
      chunks.push(bytes);
      sizeBytes += bytes.length;
    }
    return { chunks, sizeBytes };
  }

  #indexOf(offset: number): number {
    const entries = this.#entries;
    let low = this.#first;
    let high = entries.length - 1;
    if (high < low || offset < entries[low]!.baseOffset || offset >= entries[high]!.nextOffset) return -1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (entries[middle]!.nextOffset > offset) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
