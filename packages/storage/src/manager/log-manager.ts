// All logs of a broker: where they lie, opening them at the start, making, deleting and closing them, and the checkpoints that say
// how far each is on the device.

import { errorCodes, ProtocolError, zeroUuid } from '@odradek/protocol';
import type { World } from '@odradek/runtime';
import { CleanerSchedule, type CleanerSettings } from '../cleaner/cleaner-schedule.ts';
import { TurnByTurnRunner } from '../cleaner/compaction-runner.ts';
import { ThreadRunner } from '../cleaner/thread-runner.ts';
import { DamagedCheckpointError } from '../log/checkpoint-file.ts';
import { isDiskFault, isDiskFull } from '../log/disk-fault.ts';
import { FilePool } from '../log/file-pool.ts';
import type { LogConfig } from '../log/log-config.ts';
import { partitionMetadataFile } from '../log/log-file-names.ts';
import type { LogWorld } from '../log/log-files.ts';
import { openingFailed, openLog, type RecoveryReport } from '../log/open-log.ts';
import type { PartitionLog } from '../log/partition-log.ts';
import { TailBudget } from '../log/tail-cache.ts';
import { parseTopicPartition, type TopicPartition, topicPartitionKey } from '../log/topic-partition.ts';
import { WriteScheduler } from '../log/write-scheduler.ts';
import { type CheckpointName, LogDirectory } from './log-directory.ts';
import { LogMaintenance, type MaintenanceIntervals } from './log-maintenance.ts';
import { readTopicId, writeTopicId } from './partition-metadata.ts';

export interface LogManagerOptions {
  readonly world: World;
  /** `log.dirs`, absolute or relative to the working directory. */
  readonly directories: readonly string[];
  /** What counts for a topic that is found on disk. */
  readonly topicLogConfig: (topic: string) => LogConfig;
  /** How many bytes of what was written last stay in memory. */
  readonly tailCacheBytes?: number;
  readonly maxOpenFiles?: number;
  readonly intervals?: Partial<MaintenanceIntervals>;
  /** Without it nothing is compacted. */
  readonly cleaner?: CleanerOptions;
  /** A disk failed while the broker ran, or could not be used at the start. */
  readonly onDirectoryOffline?: (directory: LogDirectory, error: unknown) => void;
}

export interface CleanerOptions {
  readonly settings: CleanerSettings;
  /** A thread of their own needs a real disk: a simulated one is in the memory of this thread. */
  readonly runIn: 'thread' | 'turns';
}

export interface CreateLogOptions {
  readonly topicId: string;
  readonly config: LogConfig;
  /** False: the partition was here before, so it is not made anew as long as it might lie in a directory that is offline. */
  readonly isNew?: boolean;
}

/** What the start found. */
export interface StartReport extends RecoveryReport {
  readonly logs: number;
  /** False where any directory with logs had not been closed in order. */
  readonly isClean: boolean;
}

const logsClosedTogether = 64;

const defaultTailCacheBytes = 32 * 1024 * 1024;

export class LogManager {
  readonly directories: readonly LogDirectory[];
  readonly #options: LogManagerOptions;
  readonly #logWorld: LogWorld;
  readonly #logs = new Map<string, PartitionLog>();
  readonly #maintenance: LogMaintenance;
  readonly #cleaner: CleanerSchedule | undefined;
  #startReport: StartReport = { logs: 0, isClean: true, scannedSegments: 0, scannedBytes: 0, truncatedBytes: 0 };
  #isClosed = false;

  private constructor(options: LogManagerOptions) {
    const { world, tailCacheBytes = defaultTailCacheBytes, maxOpenFiles } = options;
    this.#options = options;
    this.directories = options.directories.map(
      (path) =>
        new LogDirectory(path, world.fileSystem, {
          directoryFailed: (directory, error) => this.#directoryFailed(directory, error),
          checkpoint: (directory) => this.#checkpointDirectory(directory),
        }),
    );
    this.#logWorld = {
      clock: world.clock,
      timer: world.timer,
      random: world.random,
      fileSystem: world.fileSystem,
      logger: world.logger.child('storage'),
      pool: new FilePool(world.fileSystem, maxOpenFiles),
      writes: new WriteScheduler(world.timer),
      tailBudget: new TailBudget(tailCacheBytes),
    };
    this.#maintenance = new LogMaintenance(this, this.#logWorld, options.intervals ?? {});
    this.#cleaner = options.cleaner === undefined ? undefined : this.#createCleaner(options.cleaner);
  }

  #createCleaner({ settings, runIn }: CleanerOptions): CleanerSchedule {
    const world = { ...this.#logWorld, logger: this.#options.world.logger.child('cleaner') };
    return new CleanerSchedule(
      {
        logs: () => this.#logs.values(),
        createRunner: () => (runIn === 'thread' ? new ThreadRunner() : new TurnByTurnRunner(world)),
        checkpoint: (directory) => this.#maintenance.checkpointCleaned(directory),
        world,
      },
      settings,
    );
  }

  /** `log.cleaner.…` has changed. */
  updateCleaner(settings: CleanerSettings): void {
    this.#cleaner?.updateSettings(settings);
  }

  isBeingCleaned(log: PartitionLog): boolean {
    return this.#cleaner?.isBeingCleaned(log) ?? false;
  }

  /**
   * Takes the directories. A directory that cannot be used is offline from the start; throws when none can. `claim` and `load`
   * follow, once the cluster is known.
   */
  static open(options: LogManagerOptions): LogManager {
    const manager = new LogManager(options);
    let lastError: unknown;
    for (const directory of manager.directories) {
      try {
        directory.open();
      } catch (error) {
        lastError = error;
        directory.fail(error);
      }
    }
    if (!manager.directories.some(({ isOnline }) => isOnline)) {
      throw new Error(`No log directory can be used: ${lastError instanceof Error ? lastError.message : String(lastError)}`, {
        cause: lastError,
      });
    }
    return manager;
  }

  get startReport(): StartReport {
    return this.#startReport;
  }

  /** Checks that the directories belong to this broker and cluster. Throws InvalidLogDirectoryError. */
  claim(brokerId: number, clusterId: string): void {
    for (const directory of this.#online()) directory.claim(brokerId, clusterId);
  }

  /** Opens the logs that lie in the directories, giving way to other work in between, and begins to look after them. */
  async load(): Promise<void> {
    const total = { logs: 0, isClean: true, scannedSegments: 0, scannedBytes: 0, truncatedBytes: 0 };
    for (const directory of this.#online()) {
      try {
        await this.#loadDirectory(directory, total);
      } catch (error) {
        directory.fail(error);
      }
    }
    this.#startReport = total;
    this.#maintenance.start();
    this.#cleaner?.start();
  }

  async #loadDirectory(directory: LogDirectory, total: { -readonly [K in keyof StartReport]: StartReport[K] }): Promise<void> {
    const { fileSystem, timer } = this.#logWorld;
    const isClean = directory.takeCleanShutdownMark();
    const recoveryPoints = this.#readCheckpoint(directory, 'recoveryPoint');
    const highWatermarks = this.#readCheckpoint(directory, 'highWatermark');
    const startOffsets = this.#readCheckpoint(directory, 'logStartOffset');
    const cleanedOffsets = this.#readCheckpoint(directory, 'cleanedOffset');
    let opened = 0;
    for (const name of fileSystem.listSync(directory.path)) {
      const path = `${directory.path}/${name}`;
      if (name.endsWith('-delete') && fileSystem.statSync(path)?.isDirectory === true) {
        fileSystem.removeSync(path);
        continue;
      }
      const topicPartition = parseTopicPartition(name);
      // The log of Kafka's own controller is none of a broker's partitions.
      if (topicPartition === undefined || topicPartition.topic === '__cluster_metadata') continue;
      if (fileSystem.statSync(path)?.isDirectory !== true) continue;
      const key = topicPartitionKey(topicPartition);
      if (this.#logs.has(key)) throw new Error(`${name} lies in more than one log directory, ${directory.path} being one`);
      const { log, recovery } = openLog(path, this.#logWorld, {
        topicPartition,
        topicId: readTopicId(fileSystem, `${path}/${partitionMetadataFile}`) ?? zeroUuid,
        directory,
        config: this.#options.topicLogConfig(topicPartition.topic),
        isNew: false,
        isClean,
        recoveryPoint: recoveryPoints.get(key) ?? 0,
        logStartOffset: startOffsets.get(key) ?? 0,
        highWatermark: highWatermarks.get(key) ?? 0,
        cleanedOffset: cleanedOffsets.get(key),
      });
      this.#logs.set(key, log);
      total.logs += 1;
      total.scannedSegments += recovery.scannedSegments;
      total.scannedBytes += recovery.scannedBytes;
      total.truncatedBytes += recovery.truncatedBytes;
      if (!isClean) total.isClean = false;
      opened += 1;
      if (opened % 64 === 0) await new Promise<void>((resolve) => timer.afterThisTurn(resolve));
    }
  }

  /** Without a checkpoint there is more to scan, and deleted records come back; that is better than no start. */
  #readCheckpoint(directory: LogDirectory, name: CheckpointName): Map<string, number> {
    try {
      return directory.readCheckpoint(name);
    } catch (error) {
      if (!(error instanceof DamagedCheckpointError)) throw error;
      this.#logWorld.logger.warn('A checkpoint is damaged and does not count', { directory: directory.path, error });
      return new Map();
    }
  }

  get(topicPartition: TopicPartition): PartitionLog | undefined {
    return this.#logs.get(topicPartitionKey(topicPartition));
  }

  logs(): Iterable<PartitionLog> {
    return this.#logs.values();
  }

  get logCount(): number {
    return this.#logs.size;
  }

  /**
   * Makes the log in the directory with the fewest. Throws KAFKA_STORAGE_ERROR, or INCONSISTENT_TOPIC_ID for another topic of that
   * name. With `isNew` false the partition is known to have had a log.
   */
  getOrCreate(topicPartition: TopicPartition, options: CreateLogOptions): PartitionLog {
    const existing = this.get(topicPartition);
    if (existing !== undefined) {
      const isOther = existing.topicId !== zeroUuid && options.topicId !== zeroUuid && existing.topicId !== options.topicId;
      if (isOther)
        throw new ProtocolError(errorCodes.INCONSISTENT_TOPIC_ID, `${existing.path} holds the topic ${existing.topicId}`);
      return existing;
    }
    if (options.isNew === false && this.directories.some(({ isOnline }) => !isOnline)) {
      // It may lie in a directory that is offline. An empty one in its place would hide what was acknowledged.
      const partition = topicPartitionKey(topicPartition);
      throw new ProtocolError(errorCodes.KAFKA_STORAGE_ERROR, `The log of ${partition} may lie in a directory that is offline`);
    }
    const directory = this.#emptiestDirectory();
    const { fileSystem } = this.#logWorld;
    const path = `${directory.path}/${topicPartitionKey(topicPartition)}`;
    try {
      // Nobody should have put anything there since the start; but what is there is not overwritten.
      const isNew = fileSystem.statSync(path) === undefined;
      fileSystem.makeDirectorySync(path);
      if (options.topicId !== zeroUuid) writeTopicId(fileSystem, `${path}/${partitionMetadataFile}`, options.topicId);
      const { log } = openLog(path, this.#logWorld, {
        topicPartition,
        topicId: options.topicId,
        directory,
        config: options.config,
        isNew,
        isClean: isNew,
        recoveryPoint: 0,
        logStartOffset: 0,
        highWatermark: 0,
      });
      this.#logs.set(topicPartitionKey(topicPartition), log);
      return log;
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      if (!isDiskFull(error)) directory.fail(error);
      throw openingFailed(path, error);
    }
  }

  /** The log is gone at once; its folder, renamed, is removed after file.delete.delay.ms. Does nothing when there is no such log. */
  delete(topicPartition: TopicPartition): void {
    const key = topicPartitionKey(topicPartition);
    const log = this.#logs.get(key);
    if (log === undefined) return;
    this.#logs.delete(key);
    this.#cleaner?.abort(log);
    log.closeFiles();
    if (!log.directory.isOnline) return;
    const { fileSystem, random, timer, logger } = this.#logWorld;
    const doomed = `${log.directory.path}/${deletedFolder(key, random.bytes(16).toString('hex'))}`;
    try {
      fileSystem.renameSync(log.path, doomed);
    } catch (error) {
      log.directory.fail(error);
      throw new ProtocolError(errorCodes.KAFKA_STORAGE_ERROR, `${log.path} cannot be deleted`, { cause: error });
    }
    // A log of the same name that is made soon must not inherit from this one. A failure has been dealt with where it happened.
    log.directory.checkpointSoon().catch(() => undefined);
    timer.schedule(log.config.fileDeleteDelayMs, () => {
      fileSystem
        .remove(doomed)
        .catch((error: unknown) => logger.warn('A deleted log could not be removed', { path: doomed, error }));
    });
  }

  async #checkpointDirectory(directory: LogDirectory): Promise<void> {
    try {
      await this.#maintenance.checkpointDirectory(directory);
    } catch (error) {
      if (isDiskFault(error)) directory.fail(error);
      throw error;
    }
  }

  /** Writes the recovery points, high watermarks and log start offsets of all logs. */
  checkpoint(): Promise<void> {
    return this.#maintenance.checkpointAll();
  }

  /** Stops in order: everything on the device, snapshots and checkpoints written, the mark of a clean stop left behind. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#maintenance.stop();
    await this.#cleaner?.close();
    const logs = [...this.#logs.values()];
    // Many at a time: each waits for the device, which can do more than one thing at once.
    for (let first = 0; first < logs.length; first += logsClosedTogether) {
      await Promise.all(logs.slice(first, first + logsClosedTogether).map((log) => this.#closeLog(log)));
    }
    for (const directory of this.#online()) {
      try {
        await this.#maintenance.checkpointDirectory(directory);
        directory.putCleanShutdownMark();
      } catch (error) {
        directory.fail(error);
      }
    }
    for (const directory of this.directories) directory.release();
  }

  async #closeLog(log: PartitionLog): Promise<void> {
    try {
      await log.close();
    } catch (error) {
      // Its directory is offline by now, and gets no mark of a clean stop.
      this.#logWorld.logger.error('A log could not be closed in order', { path: log.path, error });
    }
  }

  #online(): LogDirectory[] {
    return this.directories.filter(({ isOnline }) => isOnline);
  }

  #emptiestDirectory(): LogDirectory {
    const online = this.#online();
    const [only] = online;
    if (only === undefined) throw new ProtocolError(errorCodes.KAFKA_STORAGE_ERROR, 'All log directories are offline');
    if (online.length === 1) return only;
    const counts = new Map(online.map((directory) => [directory, 0]));
    for (const { directory } of this.#logs.values()) {
      const count = counts.get(directory);
      if (count !== undefined) counts.set(directory, count + 1);
    }
    return online.reduce((best, directory) => ((counts.get(directory) ?? 0) < (counts.get(best) ?? 0) ? directory : best), only);
  }

  #directoryFailed(directory: LogDirectory, error: unknown): void {
    this.#logWorld.logger.error('A log directory is offline', { directory: directory.path, error });
    for (const [key, log] of this.#logs) {
      if (log.directory !== directory) continue;
      this.#logs.delete(key);
      this.#cleaner?.abort(log);
      // Not now: whoever met the fault is still at work in one of these logs.
      this.#logWorld.timer.afterThisTurn(() => log.closeFiles());
    }
    this.#options.onDirectoryOffline?.(directory, error);
  }
}

/** Kafka's name for a log that waits to be removed. It must not become longer than a file name can be. */
function deletedFolder(key: string, uniqueHex: string): string {
  const ending = `.${uniqueHex}-delete`;
  return `${key.slice(0, 255 - ending.length)}${ending}`;
}
