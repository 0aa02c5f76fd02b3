// What was written last, kept in memory: a consumer or follower that keeps up costs no read from the disk. One bound counts for
// all logs of a broker; beyond it the oldest goes, whichever log it belongs to.
//
//   slabs   | a a b a b b a | b c a a b … |        batches of all logs, copied one behind the other as they come
//   log a     ^ ^   ^     ^     ^ ^                 its entries point into the slabs
//
// Batches are copied, because the buffer in which they came is wanted for the next request; a copy costs a tenth of what making and
// collecting another buffer would. A slab is used again when no entry points into it and no answer that is on its way does.

import { BufferPool } from '@odradek/runtime';

const slabBytes = 1024 * 1024;

/** How long after a read up to the end the tail is kept: a consumer that keeps up asks again within its longest wait. */
const wantedForMs = 10_000;

interface Slab {
  readonly bytes: Buffer;
  /** What points into the slab: entries of logs, and answers that have not left yet. */
  references: number;
}

interface TailEntry {
  readonly slab: Slab;
  readonly start: number;
  readonly end: number;
  readonly baseOffset: number;
  readonly nextOffset: number;
}

/** What was found in memory. */
export interface TailRead {
  readonly chunks: Buffer[];
  readonly sizeBytes: number;
  /** To be called when nothing refers to the chunks any more; or never, and then the memory is left to the garbage collector. */
  readonly release: () => void;
}

/** Bounds what all tails of a broker keep, and holds their bytes. */
export class TailBudget {
  readonly maxBytes: number;
  readonly #pool: BufferPool;
  #bytes = 0;
  /** One owner for each entry, in the order in which they came; `#first` is where the oldest stands. */
  #owners: LogTail[] = [];
  #first = 0;
  /** The slab that is being filled; this budget is one of its references. */
  #slab: Slab | undefined;
  #slabUsed = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
    this.#pool = new BufferPool({ largestBytes: 4 * slabBytes, maxIdleBytes: 4 * slabBytes });
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Copies the bytes into a slab, for an entry to point at. */
  place(bytes: Buffer): { readonly slab: Slab; readonly start: number } {
    if (bytes.length > slabBytes / 4) {
      // A large batch has a slab of its own rather than leave half of one empty.
      const slab = { bytes: this.#pool.take(bytes.length), references: 1 };
      bytes.copy(slab.bytes);
      return { slab, start: 0 };
    }
    if (this.#slab === undefined || this.#slabUsed + bytes.length > slabBytes) {
      if (this.#slab !== undefined) this.dropReference(this.#slab);
      this.#slab = { bytes: this.#pool.take(slabBytes), references: 1 };
      this.#slabUsed = 0;
    }
    const slab = this.#slab;
    const start = this.#slabUsed;
    bytes.copy(slab.bytes, start);
    this.#slabUsed += bytes.length;
    slab.references += 1;
    return { slab, start };
  }

  dropReference(slab: Slab): void {
    slab.references -= 1;
    if (slab.references === 0) this.#pool.give(slab.bytes);
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
  /** On the monotonic clock. */
  #wantedUntilMs = 0;

  constructor(budget: TailBudget) {
    this.#budget = budget;
  }

  /** Somebody has read up to the end. */
  want(nowMs: number): void {
    this.#wantedUntilMs = nowMs + wantedForMs;
  }

  /** Whether somebody has lately read up to the end. Otherwise nothing need be kept. */
  isWanted(nowMs: number): boolean {
    return nowMs < this.#wantedUntilMs;
  }

  add(bytes: Buffer, baseOffset: number, nextOffset: number): void {
    if (bytes.length > this.#budget.maxBytes) {
      this.clear();
      return;
    }
    const { slab, start } = this.#budget.place(bytes);
    this.#entries.push({ slab, start, end: start + bytes.length, baseOffset, nextOffset });
    this.#budget.added(this, bytes.length);
  }

  /** Called by the budget. A log that was cleared has nothing left to drop for the entries it once had. */
  dropOldest(): void {
    const oldest = this.#entries[this.#first];
    if (oldest === undefined) return;
    this.#drop(oldest);
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
    for (let index = this.#first; index < this.#entries.length; index++) this.#drop(this.#entries[index]!);
    this.#entries = [];
    this.#first = 0;
  }

  /**
   * The batches from the one with the offset on, below `endOffset` and within `maxBytes`, except that the first may be larger when
   * `minOneBatch`. undefined: the offset is not in memory.
   */
  read(offset: number, endOffset: number, maxBytes: number, minOneBatch: boolean): TailRead | undefined {
    const start = this.#indexOf(offset);
    if (start < 0) return undefined;
    let end = start;
    let sizeBytes = 0;
    for (; end < this.#entries.length; end++) {
      const entry = this.#entries[end]!;
      if (entry.nextOffset > endOffset) break;
      const size = entry.end - entry.start;
      const isForced = minOneBatch && end === start;
      if (sizeBytes + size > maxBytes && !isForced) break;
      sizeBytes += size;
    }
    return this.#handOut(start, end, sizeBytes);
  }

  /** Neighbours that lie one behind the other in a slab become one chunk. */
  #handOut(first: number, end: number, sizeBytes: number): TailRead {
    const chunks: Buffer[] = [];
    const slabs: Slab[] = [];
    for (let index = first; index < end; ) {
      const { slab, start } = this.#entries[index]!;
      let chunkEnd = start;
      for (; index < end; index++) {
        const next = this.#entries[index]!;
        if (next.slab !== slab || next.start !== chunkEnd) break;
        chunkEnd = next.end;
      }
      chunks.push(slab.bytes.subarray(start, chunkEnd));
      if (slabs.at(-1) !== slab) slabs.push(slab);
    }
    for (const slab of slabs) slab.references += 1;
    const release = (): void => {
      for (const slab of slabs.splice(0)) this.#budget.dropReference(slab);
    };
    return { chunks, sizeBytes, release };
  }

  #drop({ slab, start, end }: TailEntry): void {
    this.#budget.removed(end - start);
    this.#budget.dropReference(slab);
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
