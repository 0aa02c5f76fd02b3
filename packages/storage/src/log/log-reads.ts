// How a read finds its bytes: in the tail that is in memory, else in a segment. Only whole batches are handed out.
//
//   segment   |  batch  |  batch  |  batch with the offset  |  batch  |  batch  |  …
//             ^ from the index, or where the last read ended          ^ upper bound, or maxBytes
//             [  one read from the disk: what comes before the offset is left out  ]

import { batchAt, batchSizeAt, errorCodes, ProtocolError } from '@odradek/protocol';
import type { LogSegment } from './log-segment.ts';
import type { PartitionLog } from './partition-log.ts';
import type { AbortedTransaction } from './transaction-index.ts';

/** More than a reader gets at a time, however much it asks for: it is memory until it has left. */
const maxReadBytes = 8 * 1024 * 1024;

export interface ReadOptions {
  readonly maxBytes: number;
  /** How far the reader may see: followers to the end, consumers to what is committed, or to what no transaction can change. */
  readonly isolation: 'logEnd' | 'highWatermark' | 'lastStable';
  /** The first batch is returned even if it is larger than `maxBytes`, so that the reader gets on. */
  readonly minOneBatch: boolean;
}

export interface FetchedRecords {
  /** Whole batches, in one or more pieces. */
  readonly records: Buffer[];
  readonly sizeBytes: number;
  /** Those that the returned records may belong to, by first offset; null unless `lastStable` was asked for. */
  readonly abortedTransactions: { readonly producerId: number; readonly firstOffset: number }[] | null;
  readonly logEndOffset: number;
  readonly highWatermark: number;
  readonly lastStableOffset: number;
  readonly logStartOffset: number;
  /** To be called when nothing refers to the records any more, so that their buffer can be used again; or never. */
  readonly release: (() => void) | undefined;
}

export function readLog(log: PartitionLog, fetchOffset: number, options: ReadOptions): FetchedRecords | Promise<FetchedRecords> {
  if (fetchOffset < log.logStartOffset || fetchOffset > log.logEndOffset) {
    throw new ProtocolError(
      errorCodes.OFFSET_OUT_OF_RANGE,
      `${log.path} has the offsets from ${log.logStartOffset} to ${log.logEndOffset}, not ${fetchOffset}`,
    );
  }
  const endOffset = upperBound(log, options.isolation);
  const { isolation, minOneBatch } = options;
  const maxBytes = Math.min(options.maxBytes, maxReadBytes);
  const wanted: Wanted = { maxBytes, isolation, minOneBatch, fetchOffset, endOffset };
  if (fetchOffset >= endOffset) log.wantTail();
  if (fetchOffset >= endOffset || (maxBytes <= 0 && !minOneBatch)) return fetched(log, nothing(), wanted);
  const tail = log.tail.read(fetchOffset, endOffset, maxBytes, minOneBatch);
  if (tail !== undefined) {
    log.wantTail();
    return fetched(log, { records: tail.chunks, sizeBytes: tail.sizeBytes, release: tail.release }, wanted);
  }
  return readSegments(log, wanted, Math.max(0, log.segments.floorIndex(fetchOffset)));
}

function upperBound(log: PartitionLog, isolation: ReadOptions['isolation']): number {
  switch (isolation) {
    case 'logEnd':
      return log.writtenEndOffset;
    case 'highWatermark':
      return log.highWatermark;
    case 'lastStable':
      return log.lastStableOffset;
  }
}

/** What is common to the steps of one read. */
interface Wanted extends ReadOptions {
  readonly fetchOffset: number;
  /** The reader may not see what lies at it or beyond. */
  readonly endOffset: number;
}

/** Compaction may have emptied the end of a segment, so the next record may stand in a later one than its offset says. */
function readSegments(log: PartitionLog, wanted: Wanted, first: number): FetchedRecords | Promise<FetchedRecords> {
  const { segments } = log;
  for (let index = first; index < segments.count; index++) {
    const segment = segments.at(index);
    if (segment === undefined || segment.baseOffset >= wanted.endOffset) break;
    const { setbacks } = log;
    const found = readSegment(log, segment, wanted);
    if (found instanceof Promise) {
      return found.then((records) => {
        // In the meantime the segment was deleted or cut off: what was read may be gone, or not have been whole.
        if (segment.isRetired || log.setbacks !== setbacks) return readLog(log, wanted.fetchOffset, wanted);
        return records ?? readSegments(log, wanted, segments.floorIndex(segment.baseOffset) + 1);
      });
    }
    if (found !== undefined) return found;
  }
  return fetched(log, nothing(), wanted);
}

/** undefined: the segment ends before the offset. */
function readSegment(
  log: PartitionLog,
  segment: LogSegment,
  wanted: Wanted,
): FetchedRecords | undefined | Promise<FetchedRecords | undefined> {
  const start = segment.searchStart(wanted.fetchOffset);
  // A first guess that has room for what must be skipped; the batch with the offset may still lie beyond it.
  const read = segment.records.read(start, Math.max(wanted.maxBytes, 1) + segment.indexIntervalBytes);
  const take = (bytes: Buffer): FetchedRecords | undefined | Promise<FetchedRecords | undefined> => {
    const found = sliced(log, segment, start, bytes, wanted);
    if (found !== undefined) return found;
    segment.records.release(bytes);
    return segment.isRetired ? undefined : alone(log, segment, wanted);
  };
  return read instanceof Promise ? read.then(take) : take(read);
}

/** The whole batches in these bytes that the reader may have. undefined: the batch that it must have is not whole in them. */
function sliced(
  log: PartitionLog,
  segment: LogSegment,
  position: number,
  bytes: Buffer,
  wanted: Wanted,
): FetchedRecords | undefined {
  const { fetchOffset, endOffset, maxBytes, minOneBatch } = wanted;
  let from = -1;
  let to = -1;
  let nextOffset = fetchOffset;
  for (let at = 0, size = 0; (size = batchSizeAt(bytes, at)) > 0; at += size) {
    const { lastOffset } = batchAt(bytes, at);
    if (lastOffset < fetchOffset) continue;
    if (from < 0) {
      from = at;
      to = at;
    }
    const isForced = minOneBatch && to === from;
    if (lastOffset >= endOffset || (at + size - from > maxBytes && !isForced)) break;
    to = at + size;
    nextOffset = lastOffset + 1;
  }
  if (from < 0) return undefined;
  segment.rememberRead(nextOffset, position + to);
  if (nextOffset >= endOffset) log.wantTail();
  const release = (): void => segment.records.release(bytes);
  if (to > from) return fetched(log, { records: [bytes.subarray(from, to)], sizeBytes: to - from, release }, wanted);
  release();
  return fetched(log, nothing(), wanted);
}

/** For a batch that the first guess did not reach: its place is looked for by headers, and it is read alone. */
function alone(
  log: PartitionLog,
  segment: LogSegment,
  wanted: Wanted,
): FetchedRecords | undefined | Promise<FetchedRecords | undefined> {
  const found = segment.positionOf(wanted.fetchOffset);
  if (found === undefined) return undefined;
  const { batch, position, sizeBytes } = found;
  const { lastOffset } = batch;
  if (lastOffset >= wanted.endOffset || (sizeBytes > wanted.maxBytes && !wanted.minOneBatch))
    return fetched(log, nothing(), wanted);
  const take = (bytes: Buffer): FetchedRecords => {
    segment.rememberRead(lastOffset + 1, position + sizeBytes);
    const release = (): void => segment.records.release(bytes);
    return fetched(log, { records: [bytes], sizeBytes, release }, wanted);
  };
  const read = segment.records.read(position, sizeBytes);
  return read instanceof Promise ? read.then(take) : take(read);
}

interface Found {
  readonly records: Buffer[];
  readonly sizeBytes: number;
  readonly release: (() => void) | undefined;
}

const nothing = (): Found => ({ records: [], sizeBytes: 0, release: undefined });

function fetched(log: PartitionLog, { records, sizeBytes, release }: Found, { isolation, fetchOffset }: Wanted): FetchedRecords {
  return {
    records,
    sizeBytes,
    abortedTransactions: isolation === 'lastStable' ? abortedIn(log, fetchOffset, records) : null,
    logEndOffset: log.logEndOffset,
    highWatermark: log.highWatermark,
    lastStableOffset: log.lastStableOffset,
    logStartOffset: log.logStartOffset,
    release,
  };
}

/** The aborted transactions with records between the fetch offset and the end of what was read. */
function abortedIn(
  log: PartitionLog,
  fetchOffset: number,
  records: readonly Buffer[],
): { readonly producerId: number; readonly firstOffset: number }[] {
  const endOffset = endOf(records);
  if (endOffset < 0) return [];
  const found: AbortedTransaction[] = [];
  const { segments } = log;
  for (let index = Math.max(0, segments.floorIndex(fetchOffset)); index < segments.count; index++) {
    const entries = segments.at(index)?.transactionIndex.entries ?? [];
    for (const entry of entries) {
      if (entry.lastOffset >= fetchOffset && entry.firstOffset < endOffset) found.push(entry);
      // All that come later began at or after this one's last stable offset.
      if (entry.lastStableOffset >= endOffset) return byFirstOffset(found);
    }
  }
  return byFirstOffset(found);
}

function byFirstOffset(
  transactions: readonly AbortedTransaction[],
): { readonly producerId: number; readonly firstOffset: number }[] {
  return [...transactions]
    .sort((a, b) => a.firstOffset - b.firstOffset)
    .map(({ producerId, firstOffset }) => ({ producerId, firstOffset }));
}

function endOf(records: readonly Buffer[]): number {
  const last = records.at(-1);
  if (last === undefined) return -1;
  let end = -1;
  for (let at = 0, size = 0; (size = batchSizeAt(last, at)) > 0; at += size) end = batchAt(last, at).lastOffset + 1;
  return end;
}
