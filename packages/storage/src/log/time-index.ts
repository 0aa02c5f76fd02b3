// The time index of a segment: from a timestamp to an offset at which to begin looking for it.
//
//   entry, 12 bytes   0  int64  the largest timestamp up to here in the segment
//                     8  int32  offset of the batch that has it, relative to the segment's base offset
//
// Timestamps ascend strictly, offsets do not descend. The last entry of a segment that is closed has its largest timestamp.

import type { FilePool } from './file-pool.ts';
import { countBeforeZeros, IndexFile } from './index-file.ts';

export interface TimestampOffset {
  readonly timestamp: number;
  readonly offset: number;
}

const entryBytes = 12;

export class TimeIndex extends IndexFile {
  constructor(pool: FilePool, path: string, options: { baseOffset: number; maxBytes: number; isNew: boolean }) {
    super(pool, path, { ...options, entryBytes });
  }

  protected override countEntries(entryCount: number, entryAt: (index: number) => Buffer): number {
    return countBeforeZeros(entryCount, (index) => entryAt(index).readBigInt64BE(0) === 0n);
  }

  /** Does nothing when the timestamp is not later than the last. `evenIfFull` for the closing entry of a segment. */
  maybeAppend(timestamp: number, offset: number, evenIfFull = false): void {
    if (timestamp < 0 || (this.isFull && !evenIfFull)) return;
    const last = this.lastEntry;
    if (last !== undefined && timestamp <= last.timestamp) return;
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
    const entry = this.entryAt(index);
    return { timestamp: readInt64(entry), offset: this.baseOffset + entry.readInt32BE(8) };
  }

  get lastEntry(): TimestampOffset | undefined {
    return this.entryCount === 0 ? undefined : this.at(this.entryCount - 1);
  }

  truncateTo(offset: number): void {
    const relative = offset - this.baseOffset;
    this.keep(this.lastWhere((entry) => entry.readInt32BE(8) < relative) + 1);
  }

  isSane(): boolean {
    if (!this.hasWholeEntries) return false;
    const count = this.entryCount;
    if (count === 0) return true;
    const last = this.at(count - 1);
    return last.timestamp >= this.at(0).timestamp && last.offset >= this.baseOffset;
  }
}

function readInt64(entry: Buffer): number {
  return entry.readInt32BE(0) * 0x100000000 + entry.readUInt32BE(4);
}

function writeInt64(entry: Buffer, value: number): void {
  entry.writeInt32BE(Math.floor(value / 0x100000000), 0);
  entry.writeInt32BE(value | 0, 4);
}
