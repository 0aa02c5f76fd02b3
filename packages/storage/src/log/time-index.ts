// The time index of a segment: from a timestamp to an offset at which to begin looking for it.
//
//   entry, 12 bytes   0  int64  the largest timestamp up to here in the segment
//                     8  int32  offset of the batch that has it, relative to the segment's base offset
//
// Timestamps ascend strictly, offsets do not descend. The last entry of a segment that is closed has its largest timestamp.

import type { FilePool } from './file-pool.ts';
import { countBeforeZeros, IndexFile, type IndexFileOptions } from './index-file.ts';

export interface TimestampOffset {
  readonly timestamp: number;
  readonly offset: number;
}

export const timeEntryBytes = 12;

/** The entry whose bytes begin there. */
export function readTimeEntry(bytes: Buffer, at: number, baseOffset: number): TimestampOffset {
  return { timestamp: readInt64(bytes, at), offset: baseOffset + bytes.readInt32BE(at + 8) };
}

export class TimeIndex extends IndexFile {
  constructor(pool: FilePool, path: string, options: IndexFileOptions) {
    super(pool, path, timeEntryBytes, options);
  }

  protected override countEntries(entryCount: number, entryAt: (index: number) => Buffer): number {
    return countBeforeZeros(entryCount, (index) => {
      const entry = entryAt(index);
      return readInt64(entry) === 0 && entry.readInt32BE(8) === 0;
    });
  }

  /** There is no room but for the closing entry. */
  get isFull(): boolean {
    return this.entryCount >= this.maxEntries - 1;
  }

  /** Does nothing when the timestamp is not later than the last. */
  maybeAppend(timestamp: number, offset: number): void {
    const last = this.lastEntry;
    if (timestamp < 0 || (last !== undefined && timestamp <= last.timestamp)) return;
    const entry = this.addEntry();
    writeInt64(entry, timestamp);
    entry.writeInt32BE(offset - this.baseOffset, 8);
  }

  /** The last entry whose timestamp is at most the given one; the segment's beginning where there is none. */
  lookup(timestamp: number): TimestampOffset {
    const index = this.lastWhere((entry) => readInt64(entry) <= timestamp);
    return index < 0 ? { timestamp: -1, offset: this.baseOffset } : this.at(index);
  }

  at(index: number): TimestampOffset {
    return readTimeEntry(this.entryAt(index), 0, this.baseOffset);
  }

  get lastEntry(): TimestampOffset | undefined {
    const count = this.entryCount;
    return count === 0 ? undefined : this.at(count - 1);
  }

  /** Drops the entries at and after the offset. */
  truncateTo(offset: number): void {
    const relative = offset - this.baseOffset;
    this.keep(this.lastWhere((entry) => entry.readInt32BE(8) < relative) + 1);
  }
}

function readInt64(bytes: Buffer, at = 0): number {
  return bytes.readInt32BE(at) * 0x100000000 + bytes.readUInt32BE(at + 4);
}

function writeInt64(entry: Buffer, value: number): void {
  entry.writeInt32BE(Math.floor(value / 0x100000000), 0);
  entry.writeInt32BE(value | 0, 4);
}
