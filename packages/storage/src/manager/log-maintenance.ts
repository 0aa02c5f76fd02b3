// What happens to logs as time goes by: checkpoints, forced flushes, retention, and producers that are forgotten.

import type { FileSystem, TimerTask } from '@odradek/runtime';
import { printOffsets } from '../log/checkpoint-file.ts';
import { isPassingFault } from '../log/disk-fault.ts';
import type { LogWorld } from '../log/log-files.ts';
import type { LogSegment } from '../log/log-segment.ts';
import type { PartitionLog } from '../log/partition-log.ts';
import type { UnreadableLog } from './load-directory.ts';
import type { CheckpointName, LogDirectory } from './log-directory.ts';
import { expiredSegments, isFromTheFuture, type SegmentAge, surplusSegments } from './retention.ts';

export interface MaintenanceIntervals {
  /** `replica.high.watermark.checkpoint.interval.ms` */
  readonly highWatermarkCheckpointMs: number;
  /** `log.flush.offset.checkpoint.interval.ms` */
  readonly recoveryPointCheckpointMs: number;
  /** `log.flush.start.offset.checkpoint.interval.ms` */
  readonly logStartOffsetCheckpointMs: number;
  /** `log.flush.scheduler.interval.ms` */
  readonly flushCheckMs: number;
  /** `log.retention.check.interval.ms` */
  readonly retentionCheckMs: number;
  /** `log.initial.task.delay.ms`: when retention looks for the first time. */
  readonly firstRetentionCheckMs: number;
  /** `producer.id.expiration.check.interval.ms` */
  readonly producerExpiryCheckMs: number;
}

export const defaultIntervals: MaintenanceIntervals = {
  highWatermarkCheckpointMs: 5000,
  recoveryPointCheckpointMs: 60_000,
  logStartOffsetCheckpointMs: 60_000,
  flushCheckMs: Number.MAX_SAFE_INTEGER,
  retentionCheckMs: 300_000,
  firstRetentionCheckMs: 30_000,
  producerExpiryCheckMs: 600_000,
};

/** How many logs are looked at before other work has its turn. */
const logsPerTurn = 64;

interface Logs {
  readonly directories: readonly LogDirectory[];
  logs(): Iterable<PartitionLog>;
  /** Logs on their way into another directory have their lines in its checkpoints; what else happens to them comes from their source. */
  futures(): Iterable<PartitionLog>;
  /** Logs that have moved, whose folders still have their names: if a power cut undoes the move, they are what there is. */
  leftBehind(): Iterable<PartitionLog>;
  /** Logs that cannot be opened keep their lines as the start has found them. */
  unreadable(): Iterable<UnreadableLog>;
  isBeingCleaned(log: PartitionLog): boolean;
  /** Told when a log begins later because old segments were deleted. */
  readonly onLogShortened: (log: PartitionLog) => void;
}

/** What a checkpoint says: the offset of each log. */
interface Offsets {
  readonly logs: readonly (PartitionLog | UnreadableLog)[];
  readonly offsets: readonly number[];
}

interface Written extends Offsets {
  readonly writing: Promise<void>;
}

export class LogMaintenance {
  readonly #logs: Logs;
  readonly #world: LogWorld;
  readonly #intervals: MaintenanceIntervals;
  readonly #tasks = new Map<string, TimerTask>();
  /** Segments that stay because of a record from the future. */
  readonly #warnedOf = new WeakSet<LogSegment>();
  /** What was written last, by file: an idle broker writes nothing, and puts no text together. */
  readonly #written = new Map<string, Written>();

  constructor(logs: Logs, world: LogWorld, intervals: Partial<MaintenanceIntervals>) {
    this.#logs = logs;
    this.#world = world;
    this.#intervals = { ...defaultIntervals, ...intervals };
  }

  start(): void {
    const intervals = this.#intervals;
    this.#every('high watermarks', intervals.highWatermarkCheckpointMs, () => this.#checkpoint('highWatermark'));
    this.#every('recovery points', intervals.recoveryPointCheckpointMs, () => this.#checkpoint('recoveryPoint'));
    this.#every('log start offsets', intervals.logStartOffsetCheckpointMs, () => this.#checkpoint('logStartOffset'));
    if (intervals.flushCheckMs < Number.MAX_SAFE_INTEGER) this.#every('flushes', intervals.flushCheckMs, () => this.#flushDue());
    this.#every('retention', intervals.retentionCheckMs, () => this.#retain(), intervals.firstRetentionCheckMs);
    this.#every('producers', intervals.producerExpiryCheckMs, () => {
      for (const log of this.#logs.logs()) log.removeExpiredProducers();
    });
  }

  stop(): void {
    for (const task of this.#tasks.values()) task.cancel();
    this.#tasks.clear();
  }

  async checkpointAll(): Promise<void> {
    for (const directory of this.#logs.directories) if (directory.isOnline) await this.checkpointDirectory(directory);
  }

  async checkpointDirectory(directory: LogDirectory): Promise<void> {
    for (const name of ['recoveryPoint', 'highWatermark', 'logStartOffset', 'cleanedOffset'] as const)
      await this.#write(directory, name);
  }

  /** Puts down how far the directory's logs are compacted. */
  checkpointCleaned(directory: LogDirectory): Promise<void> {
    return this.#write(directory, 'cleanedOffset');
  }

  async #checkpoint(name: CheckpointName): Promise<void> {
    for (const directory of this.#logs.directories) {
      if (!directory.isOnline) continue;
      try {
        await this.#write(directory, name);
      } catch (error) {
        if (isPassingFault(error)) {
          // The last checkpoint still stands: a start would only have more to recover. The next turn tries again.
          this.#world.logger.warn('A checkpoint could not be written for now', {
            directory: directory.path,
            checkpoint: name,
            error,
          });
        } else {
          directory.fail(error);
        }
      }
    }
  }

  async #write(directory: LogDirectory, name: CheckpointName): Promise<void> {
    const now = this.#offsetsIn(directory, name);
    // Most brokers compact nothing.
    if (name === 'cleanedOffset' && now.offsets.length === 0 && !directory.hasCheckpoint(name)) return;
    const key = `${name} ${directory.path}`;
    const last = this.#written.get(key);
    if (last !== undefined && isSame(last, now)) return last.writing;
    const lines = now.logs.map(({ topicPartition }, index) => ({ topicPartition, offset: now.offsets[index] ?? 0 }));
    const writing = directory.writeCheckpoint(name, printOffsets(lines));
    this.#written.set(key, { ...now, writing });
    try {
      await writing;
    } catch (error) {
      this.#written.delete(key);
      throw error;
    }
  }

  #offsetsIn(directory: LogDirectory, name: CheckpointName): Offsets {
    const logs: (PartitionLog | UnreadableLog)[] = [];
    const offsets: number[] = [];
    for (const log of this.#logs.unreadable()) {
      const offset = log.offsets[name];
      if (log.directory !== directory || offset === undefined) continue;
      logs.push(log);
      offsets.push(offset);
    }
    for (const source of [this.#logs.logs(), this.#logs.futures(), this.#logs.leftBehind()]) {
      for (const log of source) {
        if (log.directory !== directory) continue;
        if (name === 'logStartOffset' && log.isStartInNames) continue;
        const offset = log[name];
        if (offset === undefined) continue;
        logs.push(log);
        offsets.push(offset);
      }
    }
    return { logs, offsets };
  }

  async #flushDue(): Promise<void> {
    const nowMs = this.#world.clock.wallTimeMs();
    for (const log of this.#logs.logs()) {
      if (log.config.flushMs < Number.MAX_SAFE_INTEGER && nowMs - log.lastFlushMs >= log.config.flushMs) {
        // A failure has taken the directory offline, which says all there is to say.
        await log.flush().catch(() => undefined);
      }
    }
  }

  async #retain(): Promise<void> {
    const nowMs = this.#world.clock.wallTimeMs();
    let looked = 0;
    for (const log of this.#logs.logs()) {
      if (!log.directory.isOnline || !log.config.cleanupPolicy.includes('delete')) continue;
      // Its turn comes again.
      if (this.#logs.isBeingCleaned(log)) continue;
      try {
        this.#retainLog(log, nowMs);
      } catch (error) {
        this.#world.logger.warn('Old segments could not be deleted', { path: log.path, error });
      }
      looked += 1;
      if (looked % logsPerTurn === 0) await new Promise<void>((resolve) => this.#world.timer.afterThisTurn(resolve));
    }
  }

  #retainLog(log: PartitionLog, nowMs: number): void {
    const { segments, config } = log;
    if (segments.count === 1 && segments.active.sizeBytes === 0) return;
    const ages = segments.all().map((segment) => ageOf(segment, this.#world.fileSystem));
    const surplus = surplusSegments(ages, config);
    const expired = expiredSegments(ages.slice(surplus), config, nowMs);
    const count = surplus + expired;
    this.#warnOfFuture(log, segments.at(count), isFromTheFuture(ages[count], config, nowMs));
    if (count === 0) return;
    // An active segment that must go too ends here; but not while its end might still be lost.
    if (count === segments.count && segments.active.sizeBytes > 0 && log.highWatermark === log.logEndOffset) log.roll();
    let left = count;
    const deleted = log.deleteOldSegments(() => left-- > 0);
    if (deleted === 0) return;
    this.#logs.onLogShortened(log);
    this.#world.logger.info('Deleted old segments', {
      path: log.path,
      segments: deleted,
      // A producer that counts in seconds writes records that are from 1970.
      tooOld: expired,
      tooMany: surplus,
      lastRecordTime: isoTime(ages[deleted - 1]?.largestTimestamp),
      logStartOffset: log.logStartOffset,
    });
  }

  /** Once for each segment: nothing changes before its time has come. */
  #warnOfFuture(log: PartitionLog, segment: LogSegment | undefined, isBlocking: boolean): void {
    if (!isBlocking || segment === undefined || this.#warnedOf.has(segment)) return;
    this.#warnedOf.add(segment);
    this.#world.logger.warn('A segment has a record from the future, and cannot be deleted by its age before that is old enough', {
      path: log.path,
      segment: segment.baseOffset,
      lastRecordTime: isoTime(segment.maxTimestamp.timestamp),
    });
  }

  #every(name: string, intervalMs: number, work: () => void | Promise<void>, firstMs: number = intervalMs): void {
    const run = async (): Promise<void> => {
      try {
        await work();
      } catch (error) {
        this.#world.logger.error('Looking after the logs met a fault', { work: name, error });
      }
      if (this.#tasks.has(name)) schedule(intervalMs);
    };
    const schedule = (delayMs: number): void => {
      this.#tasks.set(
        name,
        this.#world.timer.schedule(delayMs, () => void run()),
      );
    };
    schedule(Math.min(firstMs, intervalMs));
  }
}

function isSame(one: Offsets, other: Offsets): boolean {
  return (
    one.logs.length === other.logs.length &&
    one.offsets.every((offset, index) => offset === other.offsets[index] && one.logs[index] === other.logs[index])
  );
}

/** The timestamp is looked for only when it is asked for: mostly that of the first segment decides. */
function ageOf(segment: LogSegment, fileSystem: FileSystem): SegmentAge {
  return {
    sizeBytes: segment.sizeBytes,
    get largestTimestamp(): number {
      const { timestamp } = segment.maxTimestamp;
      return timestamp >= 0 ? timestamp : (fileSystem.statSync(segment.records.path)?.modifiedMs ?? segment.createdMs);
    },
  };
}

/** A record may claim any time. */
function isoTime(timestamp: number | undefined): string {
  const time = new Date(timestamp ?? Number.NaN);
  return Number.isNaN(time.getTime()) ? String(timestamp) : time.toISOString();
}
