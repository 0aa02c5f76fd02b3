// One cleaning of one log: says to a runner what is to be done, and puts what comes of it into the log, as long as that is still
// the log from which it began.

import type { FileSystem } from '@odradek/runtime';
import type { LogSegment } from '../log/log-segment.ts';
import type { PartitionLog } from '../log/partition-log.ts';
import { type CleanableLog, type CleanableRange, type CleanableSegment, cleanableRange } from './cleanable-range.ts';
import type { CleanedGroup, CompactionJob, CompactionReport, SourceSegment } from './compaction.ts';
import { CompactionAbortedError, type CompactionRunner } from './compaction-runner.ts';

/** What of the broker's settings concerns a single cleaning. */
export interface CleaningLimits {
  /** `log.cleaner.dedupe.buffer.size`, as much of it as one cleaner may use. */
  readonly mapBytes: number;
  /** `log.cleaner.io.buffer.load.factor` */
  readonly mapLoadFactor: number;
  /** Half of `log.cleaner.io.buffer.size`, as much of it as one cleaner may use. */
  readonly bufferBytes: number;
}

export interface Cleaning {
  /** Rejects with CompactionAbortedError when the log has changed. */
  readonly finished: Promise<CompactionReport>;
  abort(): void;
}

/** Begins to clean the range. The log knows how far it is clean after each group of segments. */
export function startCleaning(
  log: PartitionLog,
  range: CleanableRange,
  runner: CompactionRunner,
  limits: CleaningLimits,
  world: { readonly fileSystem: FileSystem; readonly nowMs: number },
): Cleaning {
  const segments = log.segments.all().filter(({ baseOffset }) => baseOffset < range.endOffset);
  const byBaseOffset = new Map(segments.map((segment) => [segment.baseOffset, segment]));
  const replaced = new Set<LogSegment>();
  const { setbacks } = log;
  const ensureSame = (): void => {
    const isSame = !log.isClosed && log.directory.isOnline && log.setbacks === setbacks;
    // Retention, or a client who deletes records, may have taken some of the segments away.
    if (!isSame || segments.some((segment) => segment.isRetired && !replaced.has(segment)))
      throw new CompactionAbortedError(`${log.path} has changed while it was cleaned`);
  };
  const replace = async (group: CleanedGroup): Promise<void> => {
    ensureSame();
    const neighbours = group.replacedBaseOffsets.map((baseOffset) => byBaseOffset.get(baseOffset)!);
    for (const segment of neighbours) replaced.add(segment);
    await log.replaceSegments(neighbours, group);
    // From now on there may be holes up to here, also if the cleaning does not come to its end.
    if (log.setbacks === setbacks) log.cleanedOffset = Math.max(group.endOffset, range.firstDirtyOffset);
  };
  const running = runner.start(jobOf(log, segments, range, limits, world), replace);
  const finished = running.finished.then(
    (report) => {
      ensureSame();
      log.cleanedOffset = Math.max(report.endOffset, range.firstDirtyOffset);
      return report;
    },
    (error: unknown) => {
      // Whatever went wrong may come of the change.
      ensureSame();
      throw error;
    },
  );
  return { finished, abort: () => running.abort() };
}

function jobOf(
  log: PartitionLog,
  segments: readonly LogSegment[],
  range: CleanableRange,
  limits: CleaningLimits,
  { fileSystem, nowMs }: { readonly fileSystem: FileSystem; readonly nowMs: number },
): CompactionJob {
  const { config } = log;
  const { firstDirtyOffset, endOffset } = range;
  const withFirstDirty = segments.findLast(({ baseOffset }) => baseOffset <= firstDirtyOffset);
  return {
    path: log.path,
    segments: segments.map((segment, index) => sourceOf(segment, segments[index + 1]?.baseOffset ?? endOffset, fileSystem)),
    firstDirtyOffset,
    firstDirtyPosition: withFirstDirty?.offsetIndex.lookup(firstDirtyOffset).position ?? 0,
    endOffset,
    highWatermark: log.highWatermark,
    // A transaction that began in the range may have been aborted after it.
    abortedTransactions: log.segments
      .all()
      .flatMap(({ transactionIndex }) => transactionIndex.entries)
      .filter(({ firstOffset }) => firstOffset < endOffset),
    lastOfProducers: log.lastOfProducers(),
    nowMs,
    limits: {
      segmentBytes: config.segmentBytes,
      segmentIndexBytes: config.segmentIndexBytes,
      indexIntervalBytes: config.indexIntervalBytes,
      deleteRetentionMs: config.deleteRetentionMs,
      maxDecompressedBytes: mostDecompressedBytes,
      ...limits,
    },
  };
}

/** The largest `max.decompressed.message.bytes`: what a topic has taken once is cleaned, though it may take less by now. */
const mostDecompressedBytes = 0x7fffffff - 8;

const offsetEntryBytes = 8;
const timeEntryBytes = 12;

function sourceOf(segment: LogSegment, endOffset: number, fileSystem: FileSystem): SourceSegment {
  return {
    baseOffset: segment.baseOffset,
    endOffset,
    sizeBytes: segment.writtenBytes,
    offsetIndexBytes: segment.offsetIndex.entryCount * offsetEntryBytes,
    timeIndexBytes: segment.timeIndex.entryCount * timeEntryBytes,
    modifiedMs: modifiedMsOf(segment, fileSystem),
  };
}

/** Which part of the log may be cleaned. */
export function rangeOf(log: PartitionLog, fileSystem: FileSystem, nowMs: number): CleanableRange {
  const { logStartOffset, logEndOffset, recoveryPoint, cleanedOffset, config } = log;
  const cleanable: CleanableLog = {
    logStartOffset,
    logEndOffset,
    lastStableOffset: log.areTransactionsKnown ? log.lastStableOffset : logStartOffset,
    recoveryPoint,
    cleanedOffset,
    config,
    segments: log.segments.all().map((segment) => cleanableSegment(segment, fileSystem)),
  };
  return cleanableRange(cleanable, nowMs);
}

/** Timestamps are looked for only when they are asked for. */
function cleanableSegment(segment: LogSegment, fileSystem: FileSystem): CleanableSegment {
  return {
    baseOffset: segment.baseOffset,
    sizeBytes: segment.sizeBytes,
    get largestTimestamp(): number {
      const { timestamp } = segment.maxTimestamp;
      return timestamp >= 0 ? timestamp : modifiedMsOf(segment, fileSystem);
    },
    get firstTimestamp(): number {
      return segment.firstTimestamp;
    },
  };
}

function modifiedMsOf(segment: LogSegment, fileSystem: FileSystem): number {
  return fileSystem.statSync(segment.records.path)?.modifiedMs ?? segment.createdMs;
}
