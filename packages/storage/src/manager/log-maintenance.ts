// What happens to logs as time goes by: checkpoints, forced flushes, retention, and producers that are forgotten.

import type { TimerTask } from '@odradek/runtime';
import { isDiskFull } from '../log/disk-full.ts';
import type { LogWorld } from '../log/log-files.ts';
import type { PartitionLog } from '../log/partition-log.ts';
import type { CheckpointName, LogDirectory } from './log-directory.ts';
import { expiredSegments, surplusSegments } from './retention.ts';

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
  /** `producer.id.expiration.check.interval.ms` */
  readonly producerExpiryCheckMs: number;
}

export const defaultIntervals: MaintenanceIntervals = {
  highWatermarkCheckpointMs: 5000,
  recoveryPointCheckpointMs: 60_000,
  logStartOffsetCheckpointMs: 60_000,
  flushCheckMs: Number.MAX_SAFE_INTEGER,
  retentionCheckMs: 300_000,
  producerExpiryCheckMs: 600_000,
};

interface Logs {
  readonly directories: readonly LogDirectory[];
  logs(): Iterable<PartitionLog>;
}

export class LogMaintenance {
  readonly #logs: Logs;
  readonly #world: LogWorld;
  readonly #intervals: MaintenanceIntervals;
  readonly #tasks = new Map<string, TimerTask>();
  /** What was written last, by file: an idle broker writes nothing. */
  readonly #written = new Map<string, string>();

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
    this.#every('retention', intervals.retentionCheckMs, () => this.#retain());
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
    for (const name of ['recoveryPoint', 'highWatermark', 'logStartOffset'] as const) await this.#write(directory, name);
  }

  async #checkpoint(name: CheckpointName): Promise<void> {
    for (const directory of this.#logs.directories) {
      if (!directory.isOnline) continue;
      try {
        await this.#write(directory, name);
      } catch (error) {
        if (isDiskFull(error)) {
          // The last checkpoint still stands: a start would only have more to recover. The next turn tries again.
          this.#world.logger.warn('A checkpoint could not be written, because the disk is full', {
            directory: directory.path,
            checkpoint: name,
          });
        } else {
          directory.fail(error);
        }
      }
    }
  }

  async #write(directory: LogDirectory, name: CheckpointName): Promise<void> {
    const offsets = [];
    for (const log of this.#logs.logs()) {
      if (log.directory !== directory) continue;
      // A log that starts with its first segment needs no line.
      if (name === 'logStartOffset' && log.logStartOffset <= log.segments.first.baseOffset) continue;
      offsets.push({ ...log.topicPartition, offset: log[name] });
    }
    const key = `${name} ${directory.path}`;
    const content = offsets.map(({ topic, partition, offset }) => `${topic} ${partition} ${offset}`).join('\n');
    if (this.#written.get(key) === content) return;
    await directory.writeCheckpoint(name, offsets);
    this.#written.set(key, content);
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

  #retain(): void {
    const nowMs = this.#world.clock.wallTimeMs();
    for (const log of this.#logs.logs()) {
      if (!log.directory.isOnline || !log.config.cleanupPolicy.includes('delete')) continue;
      this.#retainLog(log, nowMs);
    }
  }

  #retainLog(log: PartitionLog, nowMs: number): void {
    const segments = log.segments.all().map((segment) => ({
      sizeBytes: segment.sizeBytes,
      largestTimestamp: segment.maxTimestamp.timestamp >= 0 ? segment.maxTimestamp.timestamp : segment.createdMs,
    }));
    const expired = expiredSegments(segments, log.config, nowMs);
    const count = Math.max(expired, surplusSegments(segments, log.config));
    // An active segment that has expired too ends here, so that it can go.
    if (expired === segments.length && log.segments.active.sizeBytes > 0) log.roll();
    if (count === 0) return;
    let left = count;
    const deleted = log.deleteOldSegments(() => left-- > 0);
    if (deleted > 0)
      this.#world.logger.info('Deleted old segments', { path: log.path, segments: deleted, logStartOffset: log.logStartOffset });
  }

  #every(name: string, intervalMs: number, work: () => void | Promise<void>): void {
    const run = async (): Promise<void> => {
      try {
        await work();
      } catch (error) {
        this.#world.logger.error('Looking after the logs met a fault', { work: name, error });
      }
      if (this.#tasks.has(name)) schedule();
    };
    const schedule = (): void => {
      this.#tasks.set(
        name,
        this.#world.timer.schedule(intervalMs, () => void run()),
      );
    };
    schedule();
  }
}
