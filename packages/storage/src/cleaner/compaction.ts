// The compaction of one log, from its files to new files beside them. It knows no `PartitionLog`, so that it can run in a thread of
// its own; what it may not decide it asks its host.
//
//   1. Over the dirty part of the log: remember the last offset of each key, as many keys as there is memory for.
//   2. Over all segments up to where that got, in groups that fit into one: copy what stays to `BASE.log.cleaned` and its indexes,
//      force them to the device, and have the host put them in the place of the group.
//
//   clean           | dirty                          | not to be cleaned
//   [ segment ][ segment ][ segment ][ segment ]     [ active segment
//                   ^ firstDirtyOffset               ^ endOffset
//   [    cleaned         ][      cleaned       ]

import type { Batch } from '@odradek/protocol';
import type { FileSystem } from '@odradek/runtime';
import type { FilePool } from '../log/file-pool.ts';
import { segmentEndings, segmentFileName, suffix } from '../log/log-file-names.ts';
import { LogSegment } from '../log/log-segment.ts';
import type { LastOfProducer } from '../log/producer-states.ts';
import type { AbortedTransaction } from '../log/transaction-index.ts';
import { BatchFilter } from './batch-filter.ts';
import type { BatchWindow } from './batch-window.ts';
import { CleanedTransactions } from './cleaned-transactions.ts';
import type { CompactionMemory } from './compaction-memory.ts';
import { slotBytes } from './offset-map.ts';
import { SeenKeys } from './seen-keys.ts';
import { groupSegments, type SegmentSize } from './segment-groups.ts';

export interface SourceSegment extends SegmentSize {
  /** When it was last changed: what it becomes keeps that time, by which tombstones of the old formats go. */
  readonly modifiedMs: number;
}

/** All that a compaction must know. Plain values: it may be sent to another thread. */
export interface CompactionJob {
  /** The log's folder. */
  readonly path: string;
  /** From the first of the log to the one before `endOffset`. */
  readonly segments: readonly SourceSegment[];
  readonly firstDirtyOffset: number;
  /** Where in its segment the first dirty offset, or a batch before it, stands. */
  readonly firstDirtyPosition: number;
  readonly endOffset: number;
  readonly highWatermark: number;
  /** Those that have records before `endOffset`. */
  readonly abortedTransactions: readonly AbortedTransaction[];
  readonly lastOfProducers: ReadonlyMap<number, LastOfProducer>;
  readonly nowMs: number;
  readonly limits: CompactionLimits;
}

export interface CompactionLimits {
  readonly segmentBytes: number;
  readonly segmentIndexBytes: number;
  readonly indexIntervalBytes: number;
  readonly deleteRetentionMs: number;
  readonly maxDecompressedBytes: number;
  /** For the map of keys. */
  readonly mapBytes: number;
  /** How full the map may become, between 0 and 1. */
  readonly mapLoadFactor: number;
  /** How much is read and written at a time. */
  readonly bufferBytes: number;
}

/** A group of segments and what became of it. Its files are named `*.cleaned`, and are on the device. */
export interface CleanedGroup {
  readonly replacedBaseOffsets: readonly number[];
  readonly baseOffset: number;
  /** The log is clean up to here once the group has been replaced. */
  readonly endOffset: number;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
}

export interface CompactionReport {
  /** The log is clean up to here. */
  readonly endOffset: number;
  readonly mappedBytes: number;
  readonly mappedKeys: number;
  readonly readBytes: number;
  readonly writtenBytes: number;
  readonly recordsRead: number;
  readonly recordsRetained: number;
  /** Records without a key, which have no place in a compacted log. */
  readonly keylessRecords: number;
}

/** Whoever runs a compaction. */
export interface CompactionHost {
  readonly fileSystem: FileSystem;
  readonly pool: FilePool;
  /** No other compaction uses it meanwhile. */
  readonly memory: CompactionMemory;
  /** After every piece that was read or written: where the work is held back, gives way, or ends by an error. */
  pace(sizeBytes: number): Promise<void> | undefined;
  /** After every batch: where a thread lets others go first. */
  giveWay?(): void;
  /** Puts the cleaned segment in the place of the group, or rejects when the log has changed. */
  replace(group: CleanedGroup): Promise<void>;
}

export async function compact(job: CompactionJob, host: CompactionHost): Promise<CompactionReport> {
  const { memory, giveWay } = host;
  const window = memory.window(job.limits.bufferBytes);
  const { firstDirtyOffset, endOffset: dirtyEndOffset } = job;
  const { mapLoadFactor } = job.limits;
  const mapBytes = mapBytesOf(job);
  const mapMemory = memory.slots(mapBytes, giveWay);
  const keys = new SeenKeys({ mapBytes, mapMemory, mapLoadFactor, firstDirtyOffset, endOffset: dirtyEndOffset });
  const mappedBytes = await seeKeys(job, host, window, keys);
  const { lastOfProducers, highWatermark, nowMs, limits } = job;
  const { deleteRetentionMs, maxDecompressedBytes } = limits;
  const transactions = new CleanedTransactions();
  const filter = new BatchFilter({
    keys,
    transactions,
    lastOfProducers,
    highWatermark,
    nowMs,
    deleteRetentionMs,
    maxDecompressedBytes,
    scratch: memory.cleaned,
  });
  const endOffset = keys.latestOffset + 1;
  const total = { readBytes: 0, writtenBytes: 0 };
  const rewriting: Rewriting = { job, host, window, filter, transactions, endOffset, total };
  for (const group of groupSegments(
    job.segments.filter(({ baseOffset }) => baseOffset < endOffset),
    limits,
  )) {
    await cleanGroup(rewriting, group);
  }
  const { recordsRead, recordsRetained, keylessRecords } = filter;
  return { endOffset, mappedBytes, mappedKeys: keys.count, ...total, recordsRead, recordsRetained, keylessRecords };
}

/** No more than there can be keys in the dirty part. */
function mapBytesOf({ firstDirtyOffset, endOffset, limits }: CompactionJob): number {
  const largestKeyCount = Math.max(0, endOffset - firstDirtyOffset);
  return Math.min(limits.mapBytes, Math.ceil((largestKeyCount + 1) / limits.mapLoadFactor + 64) * slotBytes);
}

/** Answers the bytes that were read. */
async function seeKeys(job: CompactionJob, host: CompactionHost, window: BatchWindow, keys: SeenKeys): Promise<number> {
  const { firstDirtyOffset, endOffset, path } = job;
  const transactions = new CleanedTransactions();
  transactions.expect(job.abortedTransactions.filter(({ lastOffset }) => lastOffset >= firstDirtyOffset));
  const dirty = job.segments.filter((segment) => segment.endOffset > firstDirtyOffset);
  let readBytes = 0;
  for (const segment of dirty) {
    let position = segment.baseOffset < firstDirtyOffset ? job.firstDirtyPosition : 0;
    const file = host.fileSystem.openSync(recordsPath(path, segment.baseOffset), 'read');
    try {
      while (position < segment.sizeBytes) {
        const { batches, sizeBytes } = window.read(file, position, segment.sizeBytes);
        position += sizeBytes;
        readBytes += sizeBytes;
        await host.pace(sizeBytes);
        for (const batch of batches) {
          if (!seeBatch(batch, job, transactions, keys)) return readBytes;
          host.giveWay?.();
        }
      }
    } finally {
      file.closeSync();
    }
    // There may be nothing at the end of a segment that was cleaned before.
    keys.latestOffset = Math.max(keys.latestOffset, Math.min(segment.endOffset, endOffset) - 1);
  }
  return readBytes;
}

/** False: there is no room for more keys. */
function seeBatch(batch: Batch, job: CompactionJob, transactions: CleanedTransactions, keys: SeenKeys): boolean {
  const { firstDirtyOffset, limits } = job;
  if (batch.magic === 2 && batch.isControl) transactions.isMarkerOfNothing(batch);
  else if (!transactions.isAborted(batch)) {
    if (batch.magic === 2) {
      const { baseOffset, recordCount } = batch;
      const reader = batch.scan(limits.maxDecompressedBytes);
      for (let index = 0; index < recordCount; index++) {
        reader.advance();
        const offset = baseOffset + reader.offsetDelta;
        if (reader.keySize < 0 || offset < firstDirtyOffset) continue;
        if (keys.isFull) return false;
        keys.put(reader.buffer, reader.keyStart, reader.keyStart + reader.keySize, offset);
      }
    } else {
      for (const { key, offset } of batch.records(limits.maxDecompressedBytes)) {
        if (key === null || offset < firstDirtyOffset) continue;
        if (keys.isFull) return false;
        keys.put(key, 0, key.length, offset);
      }
    }
  }
  if (batch.lastOffset >= firstDirtyOffset) keys.latestOffset = Math.max(keys.latestOffset, batch.lastOffset);
  return true;
}

interface Rewriting {
  readonly job: CompactionJob;
  readonly host: CompactionHost;
  readonly window: BatchWindow;
  readonly filter: BatchFilter;
  readonly transactions: CleanedTransactions;
  readonly endOffset: number;
  readonly total: { readBytes: number; writtenBytes: number };
}

async function cleanGroup(rewriting: Rewriting, group: readonly SourceSegment[]): Promise<void> {
  const { job, host, transactions, total } = rewriting;
  const first = group[0]!;
  const last = group.at(-1)!;
  removeCleaned(job.path, first.baseOffset, host.fileSystem);
  const cleaned = new LogSegment(host.pool, job.path, {
    baseOffset: first.baseOffset,
    maxIndexBytes: job.limits.segmentIndexBytes,
    indexIntervalBytes: job.limits.indexIntervalBytes,
    isNew: true,
    sizeBytes: 0,
    createdMs: last.modifiedMs,
    pending: suffix.cleaned,
  });
  try {
    cleaned.records.ensureExists();
    transactions.keepIn((transaction) => cleaned.transactionIndex.append(transaction));
    for (const segment of group) await cleanInto(rewriting, segment, cleaned);
    cleaned.seal();
    await cleaned.flushIndexes();
    await cleaned.flush();
    host.fileSystem.setModifiedSync(cleaned.records.path, last.modifiedMs);
    total.writtenBytes += cleaned.writtenBytes;
    await host.replace({
      replacedBaseOffsets: group.map(({ baseOffset }) => baseOffset),
      baseOffset: first.baseOffset,
      endOffset: Math.min(last.endOffset, rewriting.endOffset),
      sizeBytes: cleaned.writtenBytes,
      modifiedMs: last.modifiedMs,
    });
  } catch (error) {
    cleaned.retire();
    removeCleaned(job.path, first.baseOffset, host.fileSystem);
    throw error;
  } finally {
    cleaned.retire();
  }
}

async function cleanInto(rewriting: Rewriting, segment: SourceSegment, cleaned: LogSegment): Promise<void> {
  const { job, host, window, filter, transactions, total } = rewriting;
  const { baseOffset, endOffset, sizeBytes: segmentBytes } = segment;
  transactions.expect(job.abortedTransactions.filter((each) => each.lastOffset >= baseOffset && each.firstOffset < endOffset));
  filter.keepsLegacyTombstones = segment.modifiedMs > legacyDeleteHorizonMs(job);
  const file = host.fileSystem.openSync(recordsPath(job.path, baseOffset), 'read');
  try {
    for (let position = 0; position < segmentBytes; ) {
      const { batches, sizeBytes } = window.read(file, position, segmentBytes);
      position += sizeBytes;
      total.readBytes += sizeBytes;
      const before = cleaned.writtenBytes;
      host.memory.cleaned.giveBack();
      for (const batch of batches) {
        const left = filter.filter(batch);
        if (left !== undefined) cleaned.stage(left.bytes, left.lastOffset, left.maxTimestamp);
        host.giveWay?.();
      }
      cleaned.write();
      await host.pace(sizeBytes + cleaned.writtenBytes - before);
    }
  } finally {
    file.closeSync();
  }
}

/** Messages of the old formats have no place for a delete horizon: their tombstones go that long after the clean part was last changed. */
function legacyDeleteHorizonMs({ segments, firstDirtyOffset, limits }: CompactionJob): number {
  const lastClean = segments.findLast(({ baseOffset }) => baseOffset < firstDirtyOffset);
  return lastClean === undefined ? 0 : lastClean.modifiedMs - limits.deleteRetentionMs;
}

function recordsPath(path: string, baseOffset: number): string {
  return `${path}/${segmentFileName(baseOffset, suffix.records)}`;
}

function removeCleaned(path: string, baseOffset: number, fileSystem: FileSystem): void {
  for (const ending of segmentEndings) fileSystem.removeSync(`${path}/${segmentFileName(baseOffset, ending)}${suffix.cleaned}`);
}
