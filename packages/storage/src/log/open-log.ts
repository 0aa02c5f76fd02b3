// Opens the log in a folder. After a clean stop everything is as it was left, and little is read. After a crash, what lies before
// the recovery point is on the device and is trusted; what comes after is scanned, and cut off where it is damaged.

import { type Batch, errorCodes, ProtocolError, RecordBatch } from '@odradek/protocol';
import type { LogDirectory } from '../manager/log-directory.ts';
import { DamagedCheckpointError } from './checkpoint-file.ts';
import { LeaderEpochs } from './leader-epochs.ts';
import { isCompacted, type LogConfig } from './log-config.ts';
import { leaderEpochFile, offsetOfFileName, segmentEndings, segmentFileName, suffix } from './log-file-names.ts';
import { LogFiles, type LogWorld, snapshotsAmong } from './log-files.ts';
import type { LogSegment } from './log-segment.ts';
import { LogSegments } from './log-segments.ts';
import { PartitionLog } from './partition-log.ts';
import { replayIndexed } from './producer-replay.ts';
import { ProducerStates } from './producer-states.ts';
import type { PendingRead } from './records-file.ts';
import { type CutOff, recoverSegment } from './segment-recovery.ts';
import { finishSegmentSwaps } from './segment-swaps.ts';
import type { TopicPartition } from './topic-partition.ts';

export interface OpenLogOptions {
  readonly topicPartition: TopicPartition;
  readonly topicId: string;
  readonly directory: LogDirectory;
  readonly config: LogConfig;
  /** Nothing is in the folder but what the caller has just put there. */
  readonly isNew: boolean;
  /** The broker stopped in order: nothing needs to be scanned. */
  readonly isClean: boolean;
  /** From the checkpoints of the directory. */
  readonly recoveryPoint: number;
  readonly logStartOffset: number;
  readonly highWatermark: number;
  readonly cleanedOffset?: number | undefined;
}

/** What a start had to do for a log. */
export interface RecoveryReport {
  readonly scannedSegments: number;
  readonly scannedBytes: number;
  readonly truncatedBytes: number;
}

export interface LoadedLog {
  readonly log: PartitionLog;
  readonly recovery: RecoveryReport;
}

const nothingRecovered: RecoveryReport = { scannedSegments: 0, scannedBytes: 0, truncatedBytes: 0 };

/** The steps in which a log is opened. Each asks for a read, and is told how many bytes it gave. */
type Opening<T> = Generator<PendingRead, T, number>;

/** All at once; see `openLogInSteps`. */
export function openLog(path: string, world: LogWorld, options: OpenLogOptions): LoadedLog {
  const opening = openLogInSteps(path, world, options);
  let step = opening.next();
  while (step.done !== true) step = opening.next(step.value.now());
  return step.value;
}

/** A crash may leave gigabytes to be looked through: between two steps other work can have its turn, and other logs. */
export function* openLogInSteps(path: string, world: LogWorld, options: OpenLogOptions): Opening<LoadedLog> {
  const { config, isNew } = options;
  const names = isNew ? [] : finishSegmentSwaps(world, path);
  const files = new LogFiles(path, world, snapshotsAmong(names), options.isClean);
  const segments = openSegments(path, world, files, names, config);
  const isEmpty = segments.isEmpty;
  if (isEmpty) beginAt(Math.max(0, options.logStartOffset), segments, files, config);
  const { leaderEpochs, areEpochsLost } = openLeaderEpochs(path, world, isNew);
  const producerStates = new ProducerStates();
  const hasSnapshots = files.snapshots.length > 0;
  const isUntouched = isAsOrderlyStopLeftIt(segments, files, options);
  const loading: Loading = { path, world, options, files, segments, leaderEpochs, producerStates, hasSnapshots, isUntouched };
  const firstUntrusted = isEmpty ? segments.count : firstUntrustedSegment(loading, new Set(names));
  if (areEpochsLost) findEpochs(loading, firstUntrusted);
  const recovery = firstUntrusted < segments.count ? yield* recover(loading, firstUntrusted) : nothingRecovered;
  const logEndOffset = segments.active.readNextOffset() ?? segments.active.baseOffset;
  const logStartOffset = Math.max(options.logStartOffset, segments.first.baseOffset);
  const firstScannedOffset = segments.at(firstUntrusted)?.baseOffset ?? Number.MAX_SAFE_INTEGER;
  if (logStartOffset > logEndOffset) return restarted(loading, logStartOffset, recovery);
  dropBefore(loading, logStartOffset);
  leaderEpochs.truncateFromEnd(logEndOffset);
  leaderEpochs.truncateFromStart(logStartOffset);
  dropStraySnapshots(loading, logStartOffset, logEndOffset);
  if (recovery.scannedSegments === 0) loadProducers(loading, logStartOffset, logEndOffset);
  return { log: logOf(loading, logStartOffset, logEndOffset, firstScannedOffset), recovery };
}

interface Loading {
  readonly path: string;
  readonly world: LogWorld;
  readonly options: OpenLogOptions;
  readonly files: LogFiles;
  readonly segments: LogSegments;
  readonly leaderEpochs: LeaderEpochs;
  readonly producerStates: ProducerStates;
  /** There were any when the log was found. */
  readonly hasSnapshots: boolean;
  /** Though the broker did not stop in order, nothing has been done to the log since it last did. */
  readonly isUntouched: boolean;
}

/** Where the file is damaged, the batches tell what it should say. Kafka takes the whole directory offline instead. */
function openLeaderEpochs(path: string, { fileSystem, logger }: LogWorld, isNew: boolean) {
  const file = `${path}/${leaderEpochFile}`;
  try {
    return { leaderEpochs: new LeaderEpochs(fileSystem, file, isNew), areEpochsLost: false };
  } catch (error) {
    if (!(error instanceof DamagedCheckpointError)) throw error;
    logger.warn('The leader epochs of a log are damaged; they are made anew from its batches', { path, error });
    return { leaderEpochs: new LeaderEpochs(fileSystem, file, true), areEpochsLost: true };
  }
}

/** Those of the segments before the one that is scanned in any case. */
function findEpochs({ segments, leaderEpochs }: Loading, endIndex: number): void {
  for (const segment of segments.all().slice(0, endIndex)) {
    for (const { batch } of segment.records.headersFrom(0)) {
      if (batch instanceof RecordBatch && batch.partitionLeaderEpoch >= 0)
        leaderEpochs.assign(batch.partitionLeaderEpoch, batch.baseOffset);
    }
  }
}

function openSegments(path: string, world: LogWorld, files: LogFiles, names: readonly string[], config: LogConfig): LogSegments {
  const segments = new LogSegments();
  for (const name of names) {
    const baseOffset = offsetOfFileName(name, suffix.records);
    if (baseOffset === undefined) continue;
    const stat = world.fileSystem.statSync(`${path}/${name}`);
    segments.add(files.openSegment(baseOffset, stat?.size ?? 0, stat?.modifiedMs ?? 0, config));
  }
  const baseOffsets = new Set(segments.all().map(({ baseOffset }) => baseOffset));
  for (const name of names) {
    const baseOffset = segmentEndings.map((ending) => offsetOfFileName(name, ending)).find((offset) => offset !== undefined);
    if (baseOffset === undefined || baseOffsets.has(baseOffset)) continue;
    world.logger.warn('Removing an index without records', { path, file: name });
    world.fileSystem.removeSync(`${path}/${name}`);
  }
  return segments;
}

/**
 * From where on the segments must be scanned: from the recovery point after a crash, else from the first whose files do not fit
 * each other. The number of segments when all can be trusted.
 */
function firstUntrustedSegment(loading: Loading, names: ReadonlySet<string>): number {
  const { segments, options, path, world } = loading;
  const afterCrash = flushedSegments(loading);
  const all = segments.all();
  for (let index = 0; index < afterCrash; index++) {
    const segment = all[index]!;
    const { baseOffset, writtenBytes, transactionIndex } = segment;
    const has = (ending: string): boolean => names.has(segmentFileName(baseOffset, ending));
    const isWhole =
      (writtenBytes === 0 || (has(suffix.offsetIndex) && has(suffix.timeIndex))) &&
      (!has(suffix.transactionIndex) || transactionIndex.isSane(baseOffset)) &&
      endsRightly(segment, all[index + 1], options);
    if (isWhole) continue;
    world.logger.warn('A segment and its indexes do not fit each other; they are made anew', { path, baseOffset });
    return index;
  }
  return afterCrash;
}

/**
 * The last segment must end with a whole batch. After a crash each must reach to the next: the crash may have come while segments
 * were cut off that an earlier checkpoint calls safe.
 */
function endsRightly(
  segment: LogSegment,
  next: LogSegment | undefined,
  { isClean, config, cleanedOffset = 0 }: OpenLogOptions,
): boolean {
  if (next === undefined) return segment.readNextOffset() !== undefined;
  const mayEndEarly = isClean || isCompacted(config) || next.baseOffset <= cleanedOffset;
  return mayEndEarly || segment.readNextOffset() === next.baseOffset;
}

/** How many segments are on the device whole: those before the one with the recovery point, and that one where nothing has come since. */
function flushedSegments({ segments, options, isUntouched }: Loading): number {
  return options.isClean || isUntouched ? segments.count : Math.max(0, segments.floorIndex(options.recoveryPoint));
}

/**
 * Whether the log ends where the recovery point is, with the snapshot that an orderly stop leaves there. Before a log that is
 * written to is cut off below that, the snapshot is taken away (see `PartitionLog`), so it says that nothing of this has changed; and
 * what was appended was lost whole, if no index knows of it.
 */
function isAsOrderlyStopLeftIt(segments: LogSegments, files: LogFiles, { recoveryPoint, isClean }: OpenLogOptions): boolean {
  if (isClean || segments.isEmpty || !files.snapshots.includes(recoveryPoint)) return false;
  const { active } = segments;
  return (
    active.writtenBytes > 0 &&
    active.readNextOffset() === recoveryPoint &&
    (active.timeIndex.lastEntry?.offset ?? -1) < recoveryPoint &&
    active.transactionIndex.entries.every(({ lastOffset }) => lastOffset < recoveryPoint)
  );
}

function logOf(loading: Loading, logStartOffset: number, logEndOffset: number, firstScannedOffset: number): PartitionLog {
  const { options, files, segments, leaderEpochs, producerStates } = loading;
  return new PartitionLog(options, files, options.config, {
    segments,
    leaderEpochs,
    producerStates,
    logStartOffset,
    logEndOffset,
    // After a clean stop all of it is on the device. What was scanned may only be in the page cache.
    recoveryPoint: options.isClean ? logEndOffset : options.recoveryPoint,
    firstScannedOffset,
    firstUnsettledOffset: Math.max(
      firstScannedOffset,
      segments.at(flushedSegments(loading))?.baseOffset ?? Number.MAX_SAFE_INTEGER,
    ),
    highWatermark: options.highWatermark,
    cleanedOffset: options.cleanedOffset,
  });
}

/** The log start lies beyond the end: everything was deleted, or what was after the start was lost. */
function restarted(loading: Loading, logStartOffset: number, recovery: RecoveryReport): LoadedLog {
  const { files, segments, options, leaderEpochs, producerStates, world, path } = loading;
  world.logger.warn('A log ends before it starts; it begins anew', { path, logStartOffset });
  files.removeSegments(
    segments.remove(() => true),
    0,
  );
  files.removeSnapshots(() => true);
  leaderEpochs.clear();
  producerStates.clear();
  beginAt(logStartOffset, segments, files, options.config);
  return { log: logOf(loading, logStartOffset, logStartOffset, logStartOffset), recovery };
}

function beginAt(offset: number, segments: LogSegments, files: LogFiles, config: LogConfig): void {
  const segment = files.createSegment(offset, config);
  segments.add(segment);
  segment.markStart();
}

/** Scans the segments from that one on. */
function* recover(loading: Loading, first: number): Opening<RecoveryReport> {
  const { segments, options, files, producerStates, leaderEpochs, world, path } = loading;
  const start = segments.at(first)!.baseOffset;
  files.removeSnapshots((offset) => offset > start);
  loadProducers(loading, Math.max(options.logStartOffset, segments.first.baseOffset), start);
  let scannedBytes = 0;
  let scannedSegments = 0;
  let truncatedBytes = 0;
  let nextOffset = start;
  const epochs = new ScannedEpochs(leaderEpochs, start);
  const flushedCount = flushedSegments(loading);
  for (let index = first; index < segments.count && truncatedBytes === 0; index++) {
    const segment = segments.at(index)!;
    if (isOutOfPlace(loading, segment, nextOffset)) {
      truncatedBytes += dropSegments(loading, segment.baseOffset);
      break;
    }
    scannedBytes += segment.sizeBytes;
    scannedSegments += 1;
    if (index > first) files.writeSnapshot(producerStates, segment.baseOffset);
    nextOffset = segment.baseOffset;
    const cut = yield* recoverSegment(segment, options.config.maxMessageBytes, (batch) => {
      if (!epochs.take(batch)) return false;
      replayIndexed(producerStates, segment, batch);
      nextOffset = batch.lastOffset + 1;
      return true;
    });
    if (!isSpare(cut, nextOffset, segments.at(index + 1), options.config)) truncatedBytes += cut.sizeBytes;
    // The recovery point must not fall: below it compaction may have left holes, which beyond it are taken for lost records.
    if (index < flushedCount) segment.flushIndexesSync();
    else segment.writeIndexes();
    // What follows the damage was written after it, and is not reachable without a gap.
    if (truncatedBytes > 0) truncatedBytes += dropSegments(loading, segment.baseOffset + 1);
  }
  if (truncatedBytes > 0)
    world.logger.warn('A damaged end of a log was cut off', { path, truncatedBytes, logEndOffset: nextOffset });
  return { scannedSegments, scannedBytes, truncatedBytes };
}

/**
 * Zeros behind the last batch are no damage where `preallocate` has put them, or where the next segment goes on: then its being cut
 * to size has not reached the device, and nothing is missing.
 */
function isSpare({ isZeros }: CutOff, nextOffset: number, next: LogSegment | undefined, { preallocate }: LogConfig): boolean {
  return isZeros && (next === undefined ? preallocate : next.baseOffset === nextOffset);
}

/** The batches know their leader epochs; what the file says of them may be of batches that were cut off before the crash. */
class ScannedEpochs {
  readonly #leaderEpochs: LeaderEpochs;
  readonly #startOffset: number;
  #hasAny = false;

  constructor(leaderEpochs: LeaderEpochs, startOffset: number) {
    this.#leaderEpochs = leaderEpochs;
    this.#startOffset = startOffset;
  }

  /** False: the batch is older than the one before it, so it was cut off before that was written, and the crash has brought it back. */
  take(batch: Batch): boolean {
    const { partitionLeaderEpoch } = batch;
    if (!(batch instanceof RecordBatch) || partitionLeaderEpoch < 0) return true;
    if (!this.#hasAny) this.#leaderEpochs.truncateFromEnd(this.#startOffset);
    this.#hasAny = true;
    if (partitionLeaderEpoch < (this.#leaderEpochs.latest?.epoch ?? -1)) return false;
    this.#leaderEpochs.assign(partitionLeaderEpoch, batch.baseOffset);
    return true;
  }
}

/**
 * A crash may take whole batches from the end of a segment and leave the next segment, or bring back what was cut off before that
 * one began. Only compaction makes gaps otherwise: up to where the cleaner says it got, and in a topic that is compacted now up to
 * the recovery point, since it cleans nothing that is not on the device.
 */
function isOutOfPlace({ options }: Loading, segment: LogSegment, nextOffset: number): boolean {
  if (segment.baseOffset <= nextOffset) return segment.baseOffset < nextOffset;
  const { isClean, config, recoveryPoint, cleanedOffset = 0 } = options;
  return !isClean && segment.baseOffset > (isCompacted(config) ? Math.max(recoveryPoint, cleanedOffset) : cleanedOffset);
}

/** Removes the segments from the offset on. Answers their size. */
function dropSegments({ segments, files }: Loading, fromOffset: number): number {
  const dropped = segments.remove(({ baseOffset }) => baseOffset >= fromOffset);
  files.removeSegments(dropped, 0);
  return dropped.reduce((sum, { writtenBytes }) => sum + writtenBytes, 0);
}

/** Segments that were deleted with their records, and that a crash has brought back. */
function dropBefore({ segments, files }: Loading, logStartOffset: number): void {
  files.removeSegments(
    segments.removeWhile((_segment, endOffset) => endOffset <= logStartOffset),
    0,
  );
}

/** Only those where a segment begins are of use to a recovery, and the last to the next clean start. */
function dropStraySnapshots({ files, segments }: Loading, logStartOffset: number, logEndOffset: number): void {
  const last = files.snapshots.findLast((offset) => offset <= logEndOffset);
  const baseOffsets = new Set(segments.all().map(({ baseOffset }) => baseOffset));
  files.removeSnapshots(
    (offset) => offset !== last && (offset > logEndOffset || offset <= logStartOffset || !baseOffsets.has(offset)),
  );
}

function loadProducers(
  { files, segments, options, producerStates, hasSnapshots }: Loading,
  logStartOffset: number,
  endOffset: number,
): void {
  // A log that a clean stop left without any snapshot has no producers worth one.
  if (options.isClean && !hasSnapshots) return;
  files.loadProducerStates(producerStates, segments, logStartOffset, endOffset, options.config);
}

/** For a disk fault while a log is opened. */
export function openingFailed(path: string, error: unknown): ProtocolError {
  return new ProtocolError(errorCodes.KAFKA_STORAGE_ERROR, `The log in ${path} cannot be opened`, { cause: error });
}
