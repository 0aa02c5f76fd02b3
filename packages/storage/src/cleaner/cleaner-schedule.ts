// Who is cleaned when: the dirtiest log first, as long as there is one that is dirty enough; then a rest.
//
// A log that cannot be cleaned, because a batch of it is damaged, is left alone until the next start. One that changes under a
// cleaning, because it is truncated, deleted or on a disk that fails, aborts it; what had been put in place stays.

import type { Clock, FileSystem, Logger, Timer, TimerTask } from '@odradek/runtime';
import { isDiskFault, isPassingFault } from '../log/disk-fault.ts';
import { isCompacted } from '../log/log-config.ts';
import type { PartitionLog } from '../log/partition-log.ts';
import type { LogDirectory } from '../manager/log-directory.ts';
import { type CleanableRange, isCleaningDue } from './cleanable-range.ts';
import { CompactionAbortedError, type CompactionRunner } from './compaction-runner.ts';
import { type Cleaning, rangeOf, startCleaning } from './log-cleaner.ts';

/** The broker's settings of these names, `log.cleaner.…`. */
export interface CleanerSettings {
  readonly isEnabled: boolean;
  readonly threads: number;
  readonly backoffMs: number;
  readonly dedupeBufferBytes: number;
  readonly ioBufferLoadFactor: number;
  readonly ioBufferBytes: number;
  readonly ioMaxBytesPerSecond: number;
}

/** Kafka's defaults. */
export const defaultCleanerSettings: CleanerSettings = {
  isEnabled: true,
  threads: 1,
  backoffMs: 15_000,
  dedupeBufferBytes: 128 * 1024 * 1024,
  ioBufferLoadFactor: 0.9,
  ioBufferBytes: 512 * 1024,
  ioMaxBytesPerSecond: Number.MAX_VALUE,
};

/** However little memory there is, a batch can be read and some keys remembered. */
const smallestBufferBytes = 4 * 1024;

export interface CleanerParts {
  readonly logs: () => Iterable<PartitionLog>;
  /** One for each cleaning that goes on at the same time. */
  readonly createRunner: () => CompactionRunner;
  /** Puts down on disk what is clean. */
  readonly checkpoint: (directory: LogDirectory) => Promise<void>;
  readonly world: {
    readonly clock: Clock;
    readonly timer: Timer;
    readonly fileSystem: FileSystem;
    readonly logger: Logger;
  };
}

/** A cleaning that has been decided on. */
interface Work {
  readonly log: PartitionLog;
  cleaning: Cleaning | undefined;
  isAborted: boolean;
}

interface Candidate {
  readonly log: PartitionLog;
  readonly range: CleanableRange;
  /** Those of the log when the range was looked for. */
  readonly setbacks: number;
}

export class CleanerSchedule {
  readonly #parts: CleanerParts;
  #settings: CleanerSettings;
  readonly #lanes: CleanerLane[] = [];
  /** By path: a log that was deleted and made anew waits until the cleaning of the old one has ended. */
  readonly #underWay = new Map<string, Work>();
  readonly #uncleanable = new WeakSet<PartitionLog>();
  #isStarted = false;

  constructor(parts: CleanerParts, settings: CleanerSettings = defaultCleanerSettings) {
    this.#parts = parts;
    this.#settings = settings;
  }

  get settings(): CleanerSettings {
    return this.#settings;
  }

  start(): void {
    this.#isStarted = true;
    this.#fitLanes();
  }

  /** They count from the next cleaning on, the limit of the rate at once. */
  updateSettings(settings: CleanerSettings): void {
    this.#settings = settings;
    for (const lane of this.#lanes) lane.limitRate(this.#ratePerLane());
    if (this.#isStarted) this.#fitLanes();
  }

  /** As many lanes as there should be threads. One that is too many ends after the cleaning that it is at. */
  #fitLanes(): void {
    const wanted = this.#settings.isEnabled ? this.#settings.threads : 0;
    while (this.#lanes.length < wanted) {
      const lane = new CleanerLane(this, this.#parts.createRunner(), this.#parts.world);
      lane.limitRate(this.#ratePerLane());
      this.#lanes.push(lane);
      lane.start();
    }
    for (const lane of this.#lanes.splice(wanted)) {
      lane.close().catch((error: unknown) => this.#parts.world.logger.error('A cleaner could not be stopped', { error }));
    }
  }

  #ratePerLane(): number {
    return this.#settings.ioMaxBytesPerSecond / Math.max(1, this.#settings.threads);
  }

  isBeingCleaned(log: PartitionLog): boolean {
    return this.#underWay.get(log.path)?.log === log;
  }

  /** The log is gone, or will be: whatever is done for it is in vain. */
  abort(log: PartitionLog): void {
    const found = this.#underWay.get(log.path);
    if (found?.log === log) abortWork(found);
  }

  /** Ends what is under way and begins nothing any more. */
  async close(): Promise<void> {
    this.#isStarted = false;
    for (const work of this.#underWay.values()) abortWork(work);
    await Promise.all(this.#lanes.splice(0).map((lane) => lane.close()));
  }

  /** Cleans the log that needs it most. False: none does, or it could not be done. */
  async cleanDirtiest(runner: CompactionRunner): Promise<boolean> {
    const found = this.#dirtiest();
    if (found === undefined) return false;
    const { log } = found;
    const work: Work = { log, cleaning: undefined, isAborted: false };
    this.#underWay.set(log.path, work);
    try {
      await this.#clean(found, work, runner);
      return true;
    } catch (error) {
      this.#failed(log, error);
      await this.#rememberHoles(log);
      return false;
    } finally {
      this.#underWay.delete(log.path);
    }
  }

  /** What has been done of a cleaning stays, and if the topic is not compacted any more when a crash comes, only the checkpoint vouches for it. */
  async #rememberHoles(log: PartitionLog): Promise<void> {
    try {
      if (!log.isClosed && log.directory.isOnline) await this.#parts.checkpoint(log.directory);
    } catch (error) {
      this.#failed(log, error);
    }
  }

  async #clean({ log, range, setbacks }: Candidate, work: Work, runner: CompactionRunner): Promise<void> {
    const { clock, fileSystem, logger } = this.#parts.world;
    const startedMs = clock.monotonicMs();
    // A start after a crash must not take the holes that a cleaning leaves for lost records: what is cleaned lies before the
    // recovery point, also on disk.
    await log.directory.checkpointSoon();
    if (work.isAborted || log.isClosed) throw new CompactionAbortedError(`${log.path} is gone`);
    // In what came in the place of what was cut off a transaction may be open.
    if (log.setbacks !== setbacks) throw new CompactionAbortedError(`${log.path} has changed before it was cleaned`);
    work.cleaning = startCleaning(log, range, runner, this.#limits(), { fileSystem, nowMs: clock.wallTimeMs() });
    const report = await work.cleaning.finished;
    logger.info('Compacted a log', {
      path: log.path,
      cleanedOffset: log.cleanedOffset,
      readBytes: report.mappedBytes + report.readBytes,
      writtenBytes: report.writtenBytes,
      recordsRead: report.recordsRead,
      recordsRetained: report.recordsRetained,
      tookMs: Math.round(clock.monotonicMs() - startedMs),
    });
    if (report.keylessRecords > 0)
      logger.warn('Dropped records without a key from a compacted log', { path: log.path, records: report.keylessRecords });
    await this.#parts.checkpoint(log.directory);
  }

  #dirtiest(): Candidate | undefined {
    const { logs, world } = this.#parts;
    const nowMs = world.clock.wallTimeMs();
    let dirtiest: Candidate | undefined;
    for (const log of logs()) {
      if (!isCompacted(log.config) || !log.directory.isOnline || log.isClosed) continue;
      if (this.#uncleanable.has(log) || this.#underWay.has(log.path)) continue;
      try {
        const range = rangeOf(log, world.fileSystem, nowMs);
        if (range.isCheckpointInvalid) this.#correctCheckpoint(log, range);
        if (!isCleaningDue(range, log.config.minCleanableDirtyRatio)) continue;
        if (dirtiest === undefined || range.dirtyRatio > dirtiest.range.dirtyRatio)
          dirtiest = { log, range, setbacks: log.setbacks };
      } catch (error) {
        this.#failed(log, error);
      }
    }
    return dirtiest;
  }

  #correctCheckpoint(log: PartitionLog, { firstDirtyOffset }: CleanableRange): void {
    // With `compact,delete` retention moves the log start beyond what is clean all the time.
    if (!log.config.cleanupPolicy.includes('delete')) {
      this.#parts.world.logger.warn('What a checkpoint says is clean is not in the log; the whole log counts as dirty', {
        path: log.path,
        cleanedOffset: log.cleanedOffset,
        logStartOffset: log.logStartOffset,
        logEndOffset: log.logEndOffset,
      });
    }
    log.cleanedOffset = firstDirtyOffset;
  }

  #limits() {
    const { dedupeBufferBytes, ioBufferLoadFactor, ioBufferBytes, threads } = this.#settings;
    return {
      mapBytes: Math.floor(dedupeBufferBytes / threads),
      mapLoadFactor: ioBufferLoadFactor,
      bufferBytes: Math.max(smallestBufferBytes, Math.floor(ioBufferBytes / threads / 2)),
    };
  }

  #failed(log: PartitionLog, error: unknown): void {
    const { logger } = this.#parts.world;
    if (error instanceof CompactionAbortedError || log.isClosed || !log.directory.isOnline) {
      logger.debug('A cleaning was given up', { path: log.path, reason: error instanceof Error ? error.message : String(error) });
    } else if (isPassingFault(error)) {
      logger.warn('A log could not be compacted for now', { path: log.path, error });
    } else if (isDiskFault(error)) {
      log.directory.fail(error);
    } else {
      this.#uncleanable.add(log);
      logger.error('A log cannot be compacted, and will not be until the next start', { path: log.path, error });
    }
  }
}

function abortWork(work: Work): void {
  work.isAborted = true;
  work.cleaning?.abort();
}

/** Cleans one log after the other, with a rest whenever there is none to clean. */
class CleanerLane {
  readonly #schedule: CleanerSchedule;
  readonly #runner: CompactionRunner;
  readonly #world: CleanerParts['world'];
  #isClosed = false;
  #pause: { readonly task: TimerTask; readonly end: () => void } | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(schedule: CleanerSchedule, runner: CompactionRunner, world: CleanerParts['world']) {
    this.#schedule = schedule;
    this.#runner = runner;
    this.#world = world;
  }

  start(): void {
    this.#running = this.#run();
  }

  limitRate(bytesPerSecond: number): void {
    this.#runner.limitRate(bytesPerSecond);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#pause?.task.cancel();
    this.#pause?.end();
    await this.#running;
    await this.#runner.close();
  }

  async #run(): Promise<void> {
    while (!this.#isClosed) {
      if (await this.#schedule.cleanDirtiest(this.#runner)) continue;
      this.#runner.rest();
      if (!this.#isClosed) await this.#rest(this.#schedule.settings.backoffMs);
    }
  }

  #rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#pause = { task: this.#world.timer.schedule(ms, resolve), end: resolve };
    });
  }
}
