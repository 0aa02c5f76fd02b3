// One segment: a records file and its indexes, which grow together. What is appended is staged first; `write` hands all that is
// staged to the disk at once.
//
//   baseOffset <= the offsets in it < nextOffset; relative offsets fit into an int32

import { type Batch, noTimestamp } from '@odradek/protocol';
import type { FilePool } from './file-pool.ts';
import { segmentFileName, suffix } from './log-file-names.ts';
import { OffsetIndex, type OffsetPosition } from './offset-index.ts';
import { type BatchPosition, RecordsFile } from './records-file.ts';
import { TimeIndex, type TimestampOffset } from './time-index.ts';
import { TransactionIndex } from './transaction-index.ts';

/** The largest distance of an offset from the segment's base that its indexes can hold. */
export const maxRelativeOffset = 0x7fffffff;

export interface SegmentOptions {
  readonly baseOffset: number;
  readonly maxIndexBytes: number;
  readonly indexIntervalBytes: number;
  /** Nothing of the segment is on disk yet. */
  readonly isNew: boolean;
  readonly sizeBytes: number;
  readonly createdMs: number;
  /** The size that a new file of records is given at once; 0 or left out: none. */
  readonly preallocatedBytes?: number;
  /** What the names of its files end in as long as it is not a part of the log: `.cleaned`. */
  readonly pending?: string;
}

export class LogSegment {
  readonly baseOffset: number;
  readonly records: RecordsFile;
  readonly offsetIndex: OffsetIndex;
  readonly timeIndex: TimeIndex;
  readonly transactionIndex: TransactionIndex;
  /** `index.interval.bytes`; a change counts from now on. */
  indexIntervalBytes: number;
  readonly createdMs: number;
  /** The largest timestamp and the batch that has it; undefined until it is asked for or something is appended. */
  #maxTimestamp: TimestampOffset | undefined;
  /** The timestamp of the first batch, by which the segment's age counts; -1: it has none; undefined: not read yet. */
  #firstTimestamp: number | undefined;
  #bytesSinceIndexEntry = 0;
  #staged: Buffer[] = [];
  #stagedBytes = 0;
  /** What was found when the end was last looked for. */
  #lastBatch: { readonly endPosition: number; readonly nextOffset: number } | undefined;
  /** Where the last read ended: sequential readers go on from here without a search. */
  #lastRead: OffsetPosition | undefined;

  constructor(pool: FilePool, directory: string, options: SegmentOptions) {
    const { baseOffset, isNew, maxIndexBytes: maxBytes, pending = '' } = options;
    const path = `${directory}/${segmentFileName(baseOffset, '')}`;
    this.baseOffset = baseOffset;
    this.createdMs = options.createdMs;
    this.indexIntervalBytes = options.indexIntervalBytes;
    this.records = new RecordsFile(pool, path + suffix.records + pending, options.sizeBytes, options.preallocatedBytes);
    this.offsetIndex = new OffsetIndex(pool, path + suffix.offsetIndex + pending, { baseOffset, maxBytes, isNew });
    this.timeIndex = new TimeIndex(pool, path + suffix.timeIndex + pending, { baseOffset, maxBytes, isNew });
    this.transactionIndex = new TransactionIndex(pool, path + suffix.transactionIndex + pending, isNew);
    if (isNew) this.#maxTimestamp = { timestamp: noTimestamp, offset: baseOffset };
  }

  /** With what is staged. */
  get sizeBytes(): number {
    return this.records.sizeBytes + this.#stagedBytes;
  }

  get writtenBytes(): number {
    return this.records.sizeBytes;
  }

  /** The largest timestamp, and the last offset of the batch that has it. */
  get maxTimestamp(): TimestampOffset {
    this.#maxTimestamp ??= this.#readMaxTimestamp();
    return this.#maxTimestamp;
  }

  /** -1: the first batch has none, or there is no batch. */
  get firstTimestamp(): number {
    if (this.#firstTimestamp === undefined) {
      if (this.records.sizeBytes === 0) return noTimestamp;
      const [first] = this.records.headersFrom(0);
      this.#firstTimestamp = first?.batch.maxTimestamp ?? noTimestamp;
    }
    return this.#firstTimestamp;
  }

  /** Whether positions and relative offsets, which are int32, can express it. */
  canHold(sizeBytes: number, lastOffset: number): boolean {
    return lastOffset - this.baseOffset <= maxRelativeOffset && this.sizeBytes + sizeBytes <= maxRelativeOffset;
  }

  get areIndexesFull(): boolean {
    return this.offsetIndex.isFull || this.timeIndex.isFull;
  }

  /** An empty records file says where a log begins that does not begin at 0. */
  markStart(): void {
    if (this.baseOffset > 0) this.records.ensureExists();
  }

  /** Takes a batch that `write` will hand to the disk. */
  stage(bytes: Buffer, lastOffset: number, maxTimestamp: number): void {
    const position = this.sizeBytes;
    this.#staged.push(bytes);
    this.#stagedBytes += bytes.length;
    this.recordAppended(position, bytes.length, lastOffset, maxTimestamp);
  }

  /** Keeps indexes and timestamps up with a batch that stands, or will stand, at the position. */
  recordAppended(position: number, sizeBytes: number, lastOffset: number, maxTimestamp: number): void {
    if (position === 0) this.#firstTimestamp = maxTimestamp;
    if (maxTimestamp > this.maxTimestamp.timestamp) this.#maxTimestamp = { timestamp: maxTimestamp, offset: lastOffset };
    if (this.#bytesSinceIndexEntry > this.indexIntervalBytes) {
      this.offsetIndex.append(lastOffset, position);
      this.timeIndex.maybeAppend(this.maxTimestamp.timestamp, this.maxTimestamp.offset);
      this.#bytesSinceIndexEntry = 0;
    }
    this.#bytesSinceIndexEntry += sizeBytes;
  }

  /**
   * Hands what is staged to the disk, the records in one write. When it throws, `truncateTo` what was written before brings the
   * files back to that.
   */
  write(): void {
    if (this.#stagedBytes === 0) return;
    const staged = this.#staged;
    const stagedBytes = this.#stagedBytes;
    this.dropStaged();
    this.offsetIndex.maybeWrite();
    this.timeIndex.maybeWrite();
    this.records.append(staged, stagedBytes);
    this.transactionIndex.write();
  }

  /** Forgets what is staged. */
  dropStaged(): void {
    this.#staged = [];
    this.#stagedBytes = 0;
  }

  /** Where the batch that contains the offset, or the next after it, begins. undefined: the segment ends before it. */
  positionOf(offset: number): BatchPosition | undefined {
    for (const found of this.records.headersFrom(this.searchStart(offset))) {
      if (found.batch.lastOffset >= offset) return found;
    }
    return undefined;
  }

  /** A position at or before the batch with the offset, where a batch begins. */
  searchStart(offset: number): number {
    const last = this.#lastRead;
    return last !== undefined && last.offset === offset ? last.position : this.offsetIndex.lookup(offset).position;
  }

  /** A read ended before this offset, which stands at this position. */
  rememberRead(offset: number, position: number): void {
    this.#lastRead = { offset, position };
  }

  /** The batches, from `fromOffset` on, that have a timestamp which is at least this one. */
  *batchesSince(timestamp: number, fromOffset: number): Generator<Batch, void, undefined> {
    const offset = Math.max(this.timeIndex.lookup(timestamp).offset, fromOffset);
    for (const { batch, position, sizeBytes } of this.records.headersFrom(this.offsetIndex.lookup(offset).position)) {
      if (batch.maxTimestamp >= timestamp && batch.lastOffset >= fromOffset) yield this.records.batchAt(position, sizeBytes);
    }
  }

  /** Drops the batch with the offset and all that follow. Answers where the batches that are left end. */
  truncateTo(offset: number): number {
    this.#lastRead = undefined;
    this.#lastBatch = undefined;
    this.records.truncate(this.positionOf(offset)?.position ?? this.records.sizeBytes);
    this.offsetIndex.truncateTo(offset);
    const end = this.readNextOffset() ?? offset;
    this.timeIndex.truncateTo(end);
    this.transactionIndex.truncateTo(end);
    this.#bytesSinceIndexEntry = 0;
    this.#firstTimestamp = undefined;
    this.#maxTimestamp = this.records.sizeBytes === 0 ? { timestamp: noTimestamp, offset: this.baseOffset } : undefined;
    return end;
  }

  /** The segment will not grow any more: its time index gets its last entry, and what was preallocated goes. */
  seal(): void {
    this.records.trim();
    if (this.records.sizeBytes > 0) {
      const { timestamp, offset } = this.maxTimestamp;
      this.timeIndex.maybeAppend(timestamp, offset);
    }
  }

  /** Puts the indexes on disk, as they are known so far. */
  writeIndexes(): void {
    // First: a start takes the others for a sign that they are whole.
    this.transactionIndex.write();
    if (this.records.sizeBytes === 0) return;
    this.offsetIndex.write();
    this.timeIndex.write();
  }

  /** The offset after the last batch. undefined: the file does not end where a batch does, so something is wrong with it. */
  readNextOffset(): number | undefined {
    const { sizeBytes: fileBytes } = this.records;
    if (this.#lastBatch?.endPosition === fileBytes) return this.#lastBatch.nextOffset;
    let next = fileBytes === 0 ? this.baseOffset : -1;
    let end = fileBytes === 0 ? 0 : (this.offsetIndex.lastEntry?.position ?? 0);
    for (const { batch, position, sizeBytes } of this.records.headersFrom(end)) {
      next = batch.lastOffset + 1;
      end = position + sizeBytes;
    }
    // An index may know of batches that a crash has taken, and so lead to where none begins.
    if (end !== fileBytes || next < 0) return undefined;
    this.#lastBatch = { endPosition: end, nextOffset: next };
    return next;
  }

  /** Before its records are scanned: nothing of it is known, and its indexes are empty. */
  forgetContents(): void {
    this.offsetIndex.reset();
    this.timeIndex.reset();
    this.transactionIndex.reset();
    this.#bytesSinceIndexEntry = 0;
    this.#maxTimestamp = { timestamp: noTimestamp, offset: this.baseOffset };
    this.#firstTimestamp = undefined;
    this.#lastRead = undefined;
    this.#lastBatch = undefined;
  }

  #readMaxTimestamp(): TimestampOffset {
    let max = this.timeIndex.lastEntry ?? { timestamp: noTimestamp, offset: this.baseOffset };
    const start = this.offsetIndex.lookup(max.offset).position;
    for (const { batch } of this.records.headersFrom(start)) {
      if (batch.maxTimestamp > max.timestamp) max = { timestamp: batch.maxTimestamp, offset: batch.lastOffset };
    }
    return max;
  }

  /** Forces the records to the device. Their indexes need it only once the segment does not grow any more: see `flushIndexes`. */
  flush(): Promise<void> {
    return this.records.flush();
  }

  /** Forces the indexes to the device, and where the records end, so that a start after a crash may trust them. */
  async flushIndexes(): Promise<void> {
    this.writeIndexes();
    await this.records.flushTrim();
    await this.offsetIndex.sync();
    await this.timeIndex.sync();
    await this.transactionIndex.sync();
  }

  /** The same, for a start that has made them anew. */
  flushIndexesSync(): void {
    this.writeIndexes();
    this.transactionIndex.syncSync();
    this.offsetIndex.syncSync();
    this.timeIndex.syncSync();
  }

  get isRetired(): boolean {
    return this.records.isRetired;
  }

  /** Lets go of the files for good. Reads that are under way may end. */
  retire(): void {
    this.records.retire();
    this.offsetIndex.retire();
    this.timeIndex.retire();
    this.transactionIndex.retire();
  }
}
