// What the walk over the dirty part of a log has learned of its keys: the last offset of each, and with that, which records are not
// the last of their keys.
//
// A record of the dirty part need not be looked up by its key again: when a key came once more, the record before it was marked.
// For what lies before the dirty part, and where the marks would take too much memory, the key is looked up.

import { OffsetMap } from './offset-map.ts';

export interface SeenKeysOptions {
  /** For the map of keys. */
  readonly mapBytes: number;
  /** Where the map may stand: so many zeros. */
  readonly mapMemory?: ArrayBuffer;
  /** How full the map may become, between 0 and 1. */
  readonly mapLoadFactor: number;
  readonly firstDirtyOffset: number;
  readonly endOffset: number;
}

/** The part of the map's memory that the marks may take on top of it. */
const markedPart = 1 / 16;

export class SeenKeys {
  /** Up to where the walk has got; -1: it has not begun. */
  latestOffset = -1;
  readonly #map: OffsetMap;
  readonly #mostKeys: number;
  readonly #firstMarked: number;
  /** One bit for each offset from `firstMarked` on. */
  readonly #superseded: Uint8Array | undefined;

  constructor({ mapBytes, mapMemory, mapLoadFactor, firstDirtyOffset, endOffset }: SeenKeysOptions) {
    this.#map = new OffsetMap(mapBytes, mapMemory);
    this.#mostKeys = Math.floor(this.#map.slotCount * mapLoadFactor);
    this.#firstMarked = firstDirtyOffset;
    const markBytes = Math.ceil(Math.max(0, endOffset - firstDirtyOffset) / 8);
    if (markBytes <= this.#map.sizeBytes * markedPart) this.#superseded = new Uint8Array(markBytes);
  }

  /** How many there are. */
  get count(): number {
    return this.#map.size;
  }

  /** Nothing may be put any more. */
  get isFull(): boolean {
    return this.#map.size >= this.#mostKeys;
  }

  /** The key of the record at the offset, which is beyond those that were put before, stands at `bytes[start, end)`. */
  put(bytes: Uint8Array, start: number, end: number, offset: number): void {
    const earlier = this.#map.put(bytes, start, end, offset);
    this.latestOffset = offset;
    if (earlier < 0 || this.#superseded === undefined) return;
    const mark = earlier - this.#firstMarked;
    this.#superseded[mark >>> 3]! |= 1 << (mark & 7);
  }

  /** Whether nothing that was put comes later and has the key. What lies in the dirty part itself must have been put. */
  isLast(offset: number, bytes: Uint8Array, start: number, end: number): boolean {
    const mark = offset - this.#firstMarked;
    if (mark < 0 || this.#superseded === undefined) return this.#map.get(bytes, start, end) <= offset;
    return (this.#superseded[mark >>> 3]! & (1 << (mark & 7))) === 0;
  }
}
