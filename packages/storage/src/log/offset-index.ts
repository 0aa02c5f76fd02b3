// The offset index of a segment: from an offset to where to begin looking for it.
//
//   entry, 8 bytes   0  int32  offset of the last record of a batch, relative to the segment's base offset
//                    4  int32  position of that batch in the records file
//
// An entry is added when `index.interval.bytes` have passed since the last. Offsets and positions ascend.

import type { FilePool } from './file-pool.ts';
import { countBeforeZeros, IndexFile, type IndexFileOptions } from './index-file.ts';

export interface OffsetPosition {
  readonly offset: number;
  readonly position: number;
}

export const offsetEntryBytes = 8;

/** The entry whose bytes begin there. */
export function readOffsetEntry(bytes: Buffer, at: number, baseOffset: number): OffsetPosition {
  return { offset: baseOffset + bytes.readInt32BE(at), position: bytes.readInt32BE(at + 4) };
}

export class OffsetIndex extends IndexFile {
  constructor(pool: FilePool, path: string, options: IndexFileOptions) {
    super(pool, path, offsetEntryBytes, options);
  }

  protected override countEntries(entryCount: number, entryAt: (index: number) => Buffer): number {
    // A first entry may have the relative offset 0, but its position is not 0 then: an entry comes after some bytes.
    return countBeforeZeros(entryCount, (index) => {
      const entry = entryAt(index);
      return entry.readInt32BE(0) === 0 && entry.readInt32BE(4) === 0;
    });
  }

  get isFull(): boolean {
    return this.entryCount >= this.maxEntries;
  }

  append(offset: number, position: number): void {
    const entry = this.addEntry();
    entry.writeInt32BE(offset - this.baseOffset, 0);
    entry.writeInt32BE(position, 4);
  }

  /** The last entry at or before the offset; the segment's beginning where there is none. */
  lookup(offset: number): OffsetPosition {
    const relative = offset - this.baseOffset;
    const index = this.lastWhere((entry) => entry.readInt32BE(0) <= relative);
    return index < 0 ? { offset: this.baseOffset, position: 0 } : this.at(index);
  }

  at(index: number): OffsetPosition {
    return readOffsetEntry(this.entryAt(index), 0, this.baseOffset);
  }

  get lastEntry(): OffsetPosition | undefined {
    const count = this.entryCount;
    return count === 0 ? undefined : this.at(count - 1);
  }

  /** Drops the entries at and after the offset. */
  truncateTo(offset: number): void {
    const relative = offset - this.baseOffset;
    this.keep(this.lastWhere((entry) => entry.readInt32BE(0) < relative) + 1);
  }
}
