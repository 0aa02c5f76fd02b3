// The last offset of each key, in one buffer: what a cleaning may remember of the dirty part of a log, however many keys it has.
//
//   slot, 24 bytes    0  4 × int32  MD5 of the key
//                    16  float64    1 + offset; 0: the slot is free
//
// The key says where to look first and how far to step when that slot is taken. The number of slots is a prime, so the steps reach
// every slot before they come back to the first.

import { KeyDigest } from './key-digest.ts';

export const slotBytes = 24;
const wordsPerSlot = slotBytes / 4;
const doublesPerSlot = slotBytes / 8;
const smallestSlotCount = 7;

export class OffsetMap {
  readonly slotCount: number;
  readonly #digest = new KeyDigest();
  readonly #words: Int32Array;
  readonly #doubles: Float64Array;
  #size = 0;

  /** In memory that holds `sizeBytes` zeros, or in its own. */
  constructor(sizeBytes: number, memory?: ArrayBuffer) {
    this.slotCount = primeUpTo(Math.max(smallestSlotCount, Math.floor(sizeBytes / slotBytes)));
    const slots = memory ?? new ArrayBuffer(this.slotCount * slotBytes);
    this.#words = new Int32Array(slots, 0, this.slotCount * wordsPerSlot);
    this.#doubles = new Float64Array(slots, 0, this.slotCount * doublesPerSlot);
  }

  get sizeBytes(): number {
    return this.slotCount * slotBytes;
  }

  /** How many keys there are. */
  get size(): number {
    return this.#size;
  }

  /**
   * The key stands at `bytes[start, end)`. Offsets must be put in ascending order. There must be a free slot. Answers the offset that the
   * key had; -1: none.
   */
  put(bytes: Uint8Array, start: number, end: number, offset: number): number {
    const slot = this.#slotOf(bytes, start, end);
    const { words } = this.#digest;
    const earlier = this.#offsetIn(slot);
    if (earlier < 0) {
      const at = slot * wordsPerSlot;
      this.#words[at] = words[0]!;
      this.#words[at + 1] = words[1]!;
      this.#words[at + 2] = words[2]!;
      this.#words[at + 3] = words[3]!;
      this.#size += 1;
    }
    this.#doubles[slot * doublesPerSlot + 2] = offset + 1;
    return earlier;
  }

  /** -1: the key is not there. */
  get(bytes: Uint8Array, start: number, end: number): number {
    return this.#offsetIn(this.#slotOf(bytes, start, end));
  }

  /** The slot that has the key, or the free one that it would get. */
  #slotOf(bytes: Uint8Array, start: number, end: number): number {
    this.#digest.of(bytes, start, end);
    const { words: digest } = this.#digest;
    const first = digest[0]!;
    const second = digest[1]!;
    const third = digest[2]!;
    const fourth = digest[3]!;
    const slots = this.slotCount;
    const step = 1 + ((second >>> 0) % (slots - 1));
    for (let slot = (first >>> 0) % slots; ; slot = (slot + step) % slots) {
      if (this.#offsetIn(slot) < 0) return slot;
      const at = slot * wordsPerSlot;
      const words = this.#words;
      if (words[at] === first && words[at + 1] === second && words[at + 2] === third && words[at + 3] === fourth) return slot;
    }
  }

  #offsetIn(slot: number): number {
    return this.#doubles[slot * doublesPerSlot + 2]! - 1;
  }
}

function primeUpTo(limit: number): number {
  for (let candidate = limit; ; candidate--) if (isPrime(candidate)) return candidate;
}

function isPrime(candidate: number): boolean {
  for (let divisor = 2; divisor * divisor <= candidate; divisor++) if (candidate % divisor === 0) return false;
  return candidate > 1;
}
