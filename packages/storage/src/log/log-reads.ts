// How a read finds its bytes: in the tail that is in memory, else in a segment. Only whole batches are handed out.
//
//   segment   |  batch  |  batch  |  batch with the offset  |  batch  |  batch  |  …
//             ^ from the index, or where the last read ended          ^ upper bound, or maxBytes
//             [  one read from the disk: what comes before the offset is left out  ]

import { batchAt, batchSizeAt, errorCodes, ProtocolError } from '@odradek/protocol';
import type { LogSegment } from './log-segment.ts';
import type { PartitionLog } from './partition-log.ts';
import type { AbortedTransaction } from './transaction-index.ts';

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
  const endOffset = upperBound(log, options);
  if (fetchOffset >= endOffset) log.wantTail();
  if (fetchOffset >= endOffset || (options.maxBytes <= 0 && !options.minOneBatch)) return fetched(log, [], 0, fetchOffset, options);
  const tail = log.tail.read(fetchOffset, endOffset, options.maxBytes, options.minOneBatch);
  if (tail !== undefined) {
    log.wantTail();
    return fetched(log, tail.chunks, tail.sizeBytes, fetchOffset, options, tail.release);
  }
  return readSegments(log, fetchOffset, endOffset, options);
}

function upperBound(log: PartitionLog, { isolation }: ReadOptions): number {
  switch (isolation) {
    case 'logEnd':
      return log.writtenEndOffset;
    case 'highWatermark':
      return log.highWatermark;
    case 'lastStable':
      return log.lastStableOffset;
  }
}

function readSegments(
  log: PartitionLog,
  fetchOffset: number,
  endOffset: number,
  options: ReadOptions,
): FetchedRecords | Promise<FetchedRecords> {
  const { segments } = log;
  // Compaction may have emptied the end of a segment, so the next record may stand in a later one.
  for (let index = Math.max(0, segments.floorIndex(fetchOffset)); index < segments.count; index++) {
    const segment = segments.at(index);
    if (segment === undefined || segment.baseOffset >= endOffset) break;
    const start = segment.searchStart(fetchOffset);
    // A first guess that has room for what must be skipped; the batch with the offset may still lie beyond it.
    const read = segment.records.read(start, Math.max(options.maxBytes, 1) + segment.indexIntervalBytes);
    const slice = (bytes: Buffer): FetchedRecords | undefined =>
      sliced(log, segment, start, bytes, fetchOffset, endOffset, options);
    if (read instanceof Promise) {
      return read.then((bytes) => {
        const found = slice(bytes) ?? far(log, segment, fetchOffset, endOffset, options);
        return found ?? fetched(log, [], 0, fetchOffset, options);
      });
    }
    const found = slice(read) ?? far(log, segment, fetchOffset, endOffset, options);
    if (found !== undefined) return found;
  }
  return fetched(log, [], 0, fetchOffset, options);
}

/** The whole batches in these bytes that the reader may have. undefined: the batch that it must have is not whole in them. */
function sliced(
  log: PartitionLog,
  segment: LogSegment,
  position: number,
  bytes: Buffer,
  fetchOffset: number,
  endOffset: number,
  options: ReadOptions,
): FetchedRecords | undefined {
  let from = -1;
  let to = 0;
  let nextOffset = fetchOffset;
  for (let at = 0, size = 0; (size = batchSizeAt(bytes, at)) > 0; at += size) {
    const batch = batchAt(bytes, at);
    const { lastOffset } = batch;
    if (lastOffset < fetchOffset) continue;
    if (from < 0) from = at;
    if (lastOffset >= endOffset) break;
    const isForced = options.minOneBatch && to === 0;
    if (at + size - from > options.maxBytes && !isForced) {
      if (to === 0) to = from; // It was found, and is too large.
      break;
    }
    to = at + size;
    nextOffset = lastOffset + 1;
  }
  if (from < 0 || to === 0) return from >= 0 && !options.minOneBatch ? fetched(log, [], 0, fetchOffset, options) : undefined;
  segment.rememberRead(nextOffset, position + to);
  if (nextOffset >= endOffset) log.wantTail();
  if (to === from) return fetched(log, [], 0, fetchOffset, options);
  const release = (): void => segment.records.release(bytes);
  return fetched(log, [bytes.subarray(from, to)], to - from, fetchOffset, options, release);
}

/** For a batch that the first guess did not reach: its place is looked for by headers, and it is read alone. */
function far(
  log: PartitionLog,
  segment: LogSegment,
  fetchOffset: number,
  endOffset: number,
  options: ReadOptions,
): FetchedRecords | undefined {
  const found = segment.positionOf(fetchOffset);
  if (found === undefined) return undefined;
  if (found.batch.lastOffset >= endOffset) return fetched(log, [], 0, fetchOffset, options);
  if (found.sizeBytes > options.maxBytes && !options.minOneBatch) return fetched(log, [], 0, fetchOffset, options);
  const bytes = Buffer.allocUnsafeSlow(found.sizeBytes);
  const size = segment.records.readSync(bytes, 0, found.sizeBytes, found.position);
  if (size < found.sizeBytes) return undefined;
  segment.rememberRead(found.batch.lastOffset + 1, found.position + size);
  return fetched(log, [bytes], size, fetchOffset, options);
}

function fetched(
  log: PartitionLog,
  records: Buffer[],
  sizeBytes: number,
  fetchOffset: number,
  { isolation }: ReadOptions,
  release?: () => void,
): FetchedRecords {
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
