// Opens the log in a folder. After a clean stop everything is as it was left, and little is read. After a crash, what lies before
// the recovery point is on the device and is trusted; what comes after is scanned, and cut off where it is damaged.

import { errorCodes, ProtocolError, RecordBatch } from '@odradek/protocol';
import type { LogDirectory } from '../manager/log-directory.ts';
import { LeaderEpochs } from './leader-epochs.ts';
import type { LogConfig } from './log-config.ts';
import { leaderEpochFile, offsetOfFileName, suffix } from './log-file-names.ts';
import { LogFiles, type LogWorld, snapshotsAmong } from './log-files.ts';
import { LogSegments } from './log-segments.ts';
import { PartitionLog } from './partition-log.ts';
import { replayIndexed } from './producer-replay.ts';
import { ProducerStates } from './producer-states.ts';
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

export function openLog(path: string, world: LogWorld, options: OpenLogOptions): LoadedLog {
  const { config, isNew } = options;
  const names = isNew ? [] : finishSegmentSwaps(world, path);
  const files = new LogFiles(path, world, snapshotsAmong(names));
  const segments = new LogSegments();
  for (const name of names) {
    const baseOffset = offsetOfFileName(name, suffix.records);
    if (baseOffset === undefined) continue;
    const stat = world.fileSystem.statSync(`${path}/${name}`);
    segments.add(files.openSegment(baseOffset, stat?.size ?? 0, stat?.modifiedMs ?? 0, config));
  }
  const isEmpty = segments.isEmpty;
  if (isEmpty) segments.add(files.createSegment(Math.max(0, options.logStartOffset), config));
  const leaderEpochs = new LeaderEpochs(world.fileSystem, `${path}/${leaderEpochFile}`, isNew);
  const producerStates = new ProducerStates();
  const loading: Loading = { path, world, options, files, segments, leaderEpochs, producerStates };
  const recovery = isEmpty || options.isClean ? nothingRecovered : recover(loading);
  const logEndOffset = endOf(segments);
  const logStartOffset = Math.max(options.logStartOffset, segments.first.baseOffset);
  if (logStartOffset > logEndOffset) return restarted(loading, logStartOffset, recovery);
  leaderEpochs.truncateFromEnd(logEndOffset);
  leaderEpochs.truncateFromStart(logStartOffset);
  files.removeSnapshotsFrom(logEndOffset + 1);
  if (recovery.scannedSegments === 0) loadProducers(loading, logStartOffset, logEndOffset);
  return { log: logOf(loading, logStartOffset, logEndOffset), recovery };
}

interface Loading {
  readonly path: string;
  readonly world: LogWorld;
  readonly options: OpenLogOptions;
  readonly files: LogFiles;
  readonly segments: LogSegments;
  readonly leaderEpochs: LeaderEpochs;
  readonly producerStates: ProducerStates;
}

function logOf(loading: Loading, logStartOffset: number, logEndOffset: number): PartitionLog {
  const { options, files, segments, leaderEpochs, producerStates } = loading;
  return new PartitionLog(options, files, options.config, {
    segments,
    leaderEpochs,
    producerStates,
    logStartOffset,
    logEndOffset,
    // After a clean stop all of it is on the device. What was scanned may only be in the page cache.
    recoveryPoint: options.isClean ? logEndOffset : options.recoveryPoint,
    highWatermark: options.highWatermark,
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
  files.removeSnapshotsFrom(0);
  leaderEpochs.clear();
  producerStates.clear();
  producerStates.advanceTo(logStartOffset);
  segments.add(files.createSegment(logStartOffset, options.config));
  return { log: logOf(loading, logStartOffset, logStartOffset), recovery };
}

function endOf({ active }: LogSegments): number {
  return active.sizeBytes === 0 ? active.baseOffset : active.readNextOffset();
}

/** Scans the segments from the recovery point on. */
function recover(loading: Loading): RecoveryReport {
  const { segments, options, files, producerStates, leaderEpochs, world, path } = loading;
  const first = Math.max(0, segments.floorIndex(options.recoveryPoint));
  const start = segments.at(first)!.baseOffset;
  files.removeSnapshotsFrom(start + 1);
  loadProducers(loading, Math.max(options.logStartOffset, segments.first.baseOffset), start);
  let scannedBytes = 0;
  let scannedSegments = 0;
  let truncatedBytes = 0;
  for (let index = first; index < segments.count; index++) {
    const segment = segments.at(index)!;
    scannedBytes += segment.sizeBytes;
    scannedSegments += 1;
    if (index > first) files.writeSnapshot(producerStates, segment.baseOffset);
    truncatedBytes += segment.recover(options.config.maxMessageBytes, (batch) => {
      replayIndexed(producerStates, segment, batch);
      if (batch instanceof RecordBatch && batch.partitionLeaderEpoch >= 0) {
        leaderEpochs.assign(batch.partitionLeaderEpoch, batch.baseOffset);
      }
    });
    segment.writeIndexes();
    if (truncatedBytes === 0) continue;
    // What follows the damage was written after it, and is not reachable without a gap.
    const later = segments.remove((each) => each.baseOffset > segment.baseOffset);
    for (const each of later) truncatedBytes += each.sizeBytes;
    files.removeSegments(later, 0);
    break;
  }
  producerStates.advanceTo(segments.active.readNextOffset());
  if (truncatedBytes > 0) world.logger.warn('A damaged end of a log was cut off', { path, truncatedBytes });
  return { scannedSegments, scannedBytes, truncatedBytes };
}

function loadProducers({ files, segments, options, producerStates }: Loading, logStartOffset: number, endOffset: number): void {
  // A log that a clean stop left without any snapshot has no producers worth one.
  if (options.isClean && files.snapshots.length === 0) {
    producerStates.advanceTo(endOffset);
    return;
  }
  files.loadProducerStates(producerStates, segments, logStartOffset, endOffset, options.config);
}

/** For a disk fault while a log is opened. */
export function openingFailed(path: string, error: unknown): ProtocolError {
  return new ProtocolError(errorCodes.KAFKA_STORAGE_ERROR, `The log in ${path} cannot be opened`, { cause: error });
}
