// All logs of a broker: where they lie, opening them at the start, making, deleting and closing them, and the checkpoints that say
// how far each is on the device.

import { errorCodes, ProtocolError, zeroUuid } from '@odradek/protocol';
import { DirectoryInUseError, type World } from '@odradek/runtime';
import { CleanerSchedule, type CleanerSettings } from '../cleaner/cleaner-schedule.ts';
import { TurnByTurnRunner } from '../cleaner/compaction-runner.ts';
import { ThreadRunner } from '../cleaner/thread-runner.ts';
import { isDiskFault } from '../log/disk-fault.ts';
import { FilePool } from '../log/file-pool.ts';
import type { LogConfig } from '../log/log-config.ts';
import { longestFileName, partitionMetadataFile, setAsideFolder } from '../log/log-file-names.ts';
import type { LogWorld } from '../log/log-files.ts';
import type { PartitionLog } from '../log/partition-log.ts';
import { TailBudget } from '../log/tail-cache.ts';
import { type TopicPartition, topicPartitionKey } from '../log/topic-partition.ts';
import { WriteScheduler } from '../log/write-scheduler.ts';
import { FoldersAside } from './folders-aside.ts';
import { type FoundPartition, findPartitions } from './found-partitions.ts';
import { FutureLogs, type FutureLogsHost } from './future-logs.ts';
import { type DirectoryFailure, LoadedLogs, noneUsable, type StartReport } from './load-all.ts';
import type { UnreadableLog } from './load-directory.ts';
import { InvalidLogDirectoryError, LogDirectory } from './log-directory.ts';
import { LogMaintenance, type MaintenanceIntervals } from './log-maintenance.ts';
import { defaultMoveSettings, type MoveSettings } from './log-moves.ts';
import { type NewLogOptions, NewLogs } from './new-logs.ts';
import { readTopicId, writeTopicId } from './partition-metadata.ts';

export interface LogManagerOptions {
  readonly world: World;
  /** `log.dirs`; clients are told them, and name them, as they stand here. */
  readonly directories: readonly string[];
  /** `cordoned.log.dirs`: whether the directory gets no new logs. */
  readonly isCordoned?: (path: string) => boolean;
  readonly moves?: MoveSettings;
  /** `num.recovery.threads.per.data.dir`; Kafka's default where left out. */
  readonly recoveryThreads?: () => number;
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

export interface CreateLogOptions extends NewLogOptions {
  /** False: the partition was here before, so it is not made anew as long as it may lie in a directory that is offline. */
  readonly isNew?: boolean;
}

const logsClosedTogether = 64;

const defaultRecoveryThreads = 2;

const defaultTailCacheBytes = 32 * 1024 * 1024;

export class LogManager {
  readonly directories: readonly LogDirectory[];
  readonly #options: LogManagerOptions;
  readonly #logWorld: LogWorld;
  /** Directories of which all logs are known: of others the checkpoints, written anew, would forget what is there. */
  readonly #loaded = new Set<LogDirectory>();
  readonly #logs = new Map<string, PartitionLog>();
  readonly #futures: FutureLogs;
  /** Logs that are here and cannot be opened. */
  readonly #unreadable = new Map<string, UnreadableLog>();
  /** Directories in which a log could not be recovered, or closed, in order: the next start must look at what is there. */
  readonly #disordered = new Set<LogDirectory>();
  readonly #newLogs: NewLogs;
  readonly #aside: FoldersAside;
  readonly #maintenance: LogMaintenance;
  readonly #cleaner: CleanerSchedule | undefined;
  #startReport: StartReport = { logs: 0, isClean: true, scannedSegments: 0, scannedBytes: 0, truncatedBytes: 0 };
  #isClosed = false;

  /** Told when a log has moved into another directory. The one that it was before must not be used any more. */
  onLogMoved: (log: PartitionLog) => void = () => undefined;

  /** Told when a log begins later because old segments were deleted. */
  onLogShortened: (log: PartitionLog) => void = () => undefined;

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
    this.#aside = new FoldersAside(this.#logWorld);
    this.#newLogs = new NewLogs({
      world: this.#logWorld,
      directories: this.directories,
      isCordoned: options.isCordoned ?? (() => false),
      logs: () => this.#all(),
    });
    this.#maintenance = new LogMaintenance(this, this.#logWorld, options.intervals ?? {});
    this.#futures = new FutureLogs(this.#futuresHost(), options.moves ?? defaultMoveSettings);
    this.#cleaner = options.cleaner === undefined ? undefined : this.#createCleaner(options.cleaner);
  }

  #createCleaner({ settings, runIn }: CleanerOptions): CleanerSchedule {
    const world = { ...this.#logWorld, logger: this.#options.world.logger.child('cleaner') };
    return new CleanerSchedule(
      {
        // What is being copied must stay as it is: a record that comes later may be the reason why an earlier one is gone.
        logs: () => [...this.#logs].flatMap(([name, log]) => (this.#futures.has(name) ? [] : log)),
        createRunner: () => (runIn === 'thread' ? new ThreadRunner(world.timer) : new TurnByTurnRunner(world)),
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
   * Takes the directories. A directory that cannot be used is offline from the start; throws when none can, and when one is in use:
   * it may be named twice, or be another broker's. `claim` and `load` follow, once the cluster is known.
   */
  static open(options: LogManagerOptions): LogManager {
    const twice = options.directories.find((path, index) => options.directories.indexOf(path) !== index);
    if (twice !== undefined) throw new Error(`The log directory ${twice} is named twice`);
    const manager = new LogManager(options);
    try {
      manager.#eachOnline((directory) => {
        directory.open();
        directory.readOwner();
      });
    } catch (error) {
      for (const directory of manager.directories) directory.release();
      throw error;
    }
    return manager;
  }

  /** A directory whose disk refuses is offline from then on; throws when there is no other, and for one that is somebody else's. */
  #eachOnline(action: (directory: LogDirectory) => void): void {
    const online = this.#online();
    const failures: DirectoryFailure[] = [];
    for (const directory of online) {
      try {
        action(directory);
      } catch (error) {
        if (error instanceof DirectoryInUseError || error instanceof InvalidLogDirectoryError) throw error;
        failures.push({ directory, error });
      }
    }
    if (failures.length === online.length) throw noneUsable(failures);
    for (const { directory, error } of failures) directory.fail(error);
  }

  get startReport(): StartReport {
    return this.#startReport;
  }

  /** Checks that the directories belong to this broker and cluster. Throws InvalidLogDirectoryError. */
  claim(brokerId: number, clusterId: string): void {
    this.#eachOnline((directory) => directory.claim(brokerId, clusterId));
  }

  /** The partitions that have a log in the directories; to be asked before `load`. */
  findPartitions(): FoundPartition[] {
    const found: FoundPartition[] = [];
    this.#eachOnline((directory) => found.push(...findPartitions(this.#logWorld.fileSystem, directory)));
    return found;
  }

  /**
   * Opens the logs that lie in the directories, giving way to other work in between, and begins to look after them. A directory whose disk
   * refuses is offline from then on; rejects when there is no other.
   */
  async load(): Promise<void> {
    const loaded = await LoadedLogs.load(this.#online(), {
      world: this.#logWorld,
      topicLogConfig: this.#options.topicLogConfig,
      recoveryThreads: this.#options.recoveryThreads?.() ?? defaultRecoveryThreads,
      logs: this.#logs,
      futures: this.#futures,
      aside: this.#aside,
    });
    if (this.#online().length === 0) throw noneUsable(loaded.failures);
    for (const log of loaded.unreadable) this.#unreadable.set(log.name, log);
    for (const directory of loaded.loaded) this.#loaded.add(directory);
    loaded.settle();
    for (const directory of loaded.notRecovered) this.#disordered.add(directory);
    this.#startReport = { ...loaded.report, logs: this.#logs.size };
    this.#maintenance.start();
    this.#cleaner?.start();
  }

  get(topicPartition: TopicPartition): PartitionLog | undefined {
    return this.#logs.get(topicPartitionKey(topicPartition));
  }

  logs(): Iterable<PartitionLog> {
    return this.#logs.values();
  }

  /** What logs were before they moved, as long as a crash may undo that. */
  leftBehind(): Iterable<PartitionLog> {
    return this.#futures.leftBehind();
  }

  /** Logs that are here and cannot be opened. */
  unreadable(): Iterable<UnreadableLog> {
    return this.#unreadable.values();
  }

  /** The log that will take the place of the partition's when it has caught up; it lies in another directory. */
  future(topicPartition: TopicPartition): PartitionLog | undefined {
    return this.#futures.get(topicPartitionKey(topicPartition));
  }

  futures(): Iterable<PartitionLog> {
    return this.#futures.values();
  }

  *#all(): Generator<PartitionLog, void, undefined> {
    yield* this.#logs.values();
    yield* this.#futures.values();
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
      if (existing.topicId === zeroUuid && options.topicId !== zeroUuid) this.#writeLostId(existing, options.topicId);
      return existing;
    }
    this.#ensureNotElsewhere(topicPartition, options.isNew === false);
    const log = this.#newLogs.create(topicPartition, options);
    this.#logs.set(topicPartitionKey(topicPartition), log);
    return log;
  }

  /** A crash has left the file with the id unfinished, or the log is from before topics had ids. The log itself hears of it at the next start. */
  #writeLostId({ path, directory }: PartitionLog, topicId: string): void {
    const { fileSystem, logger } = this.#logWorld;
    const file = `${path}/${partitionMetadataFile}`;
    try {
      if (readTopicId(fileSystem, file) === undefined) writeTopicId(fileSystem, file, topicId);
    } catch (error) {
      if (isDiskFault(error)) directory.fail(error);
      else logger.warn('The id of a topic could not be written beside its log', { path, topicId, error });
    }
  }

  /** An empty log in the place of one that cannot be read now would hide what was acknowledged. */
  #ensureNotElsewhere(topicPartition: TopicPartition, wasHere: boolean): void {
    const name = topicPartitionKey(topicPartition);
    const unreadable = this.#unreadable.get(name);
    if (unreadable !== undefined)
      throw new ProtocolError(errorCodes.KAFKA_STORAGE_ERROR, `The log in ${unreadable.path} could not be opened`);
    if (wasHere && this.#hasOfflineDirectory)
      throw new ProtocolError(errorCodes.KAFKA_STORAGE_ERROR, `The log of ${name} may lie in a directory that is offline`);
  }

  get #hasOfflineDirectory(): boolean {
    return this.directories.some(({ isOnline }) => !isOnline);
  }

  /** The directory of that path, online or not; undefined when none is configured. */
  directory(path: string): LogDirectory | undefined {
    return this.directories.find((directory) => directory.path === path);
  }

  /** The partition will be made in that directory, if it is made here at all. */
  prefer(topicPartition: TopicPartition, directory: LogDirectory): void {
    this.#newLogs.prefer(topicPartitionKey(topicPartition), directory);
  }

  /**
   * Begins to move the partition's log into the directory. Nothing happens where it is there, or on its way. Throws KAFKA_STORAGE_ERROR:
   * with a directory offline there might be another future log of it.
   */
  startMove(topicPartition: TopicPartition, directory: LogDirectory): void {
    this.#futures.start(topicPartitionKey(topicPartition), directory);
  }

  /** A log that was on its way when the broker stopped goes on, now that it is known that the partition is still here. */
  resumeMove(topicPartition: TopicPartition): void {
    this.#futures.resume(topicPartitionKey(topicPartition));
  }

  /** The log stays where it is, and what was copied is removed. */
  cancelMove(topicPartition: TopicPartition): void {
    this.#futures.cancel(topicPartitionKey(topicPartition));
  }

  /** `num.replica.alter.log.dirs.threads` or the rate has changed. */
  updateMoves(settings: MoveSettings): void {
    this.#futures.updateSettings(settings);
  }

  #futuresHost(): FutureLogsHost {
    return {
      world: this.#logWorld,
      aside: this.#aside,
      hasOfflineDirectory: () => this.#hasOfflineDirectory,
      get: (name) => this.#logs.get(name),
      create: (folder, directory, { topicPartition, topicId, config }) => {
        this.#newLogs.forget(topicPartitionKey(topicPartition));
        return this.#newLogs.createIn(directory, folder, topicPartition, { topicId, config });
      },
      isBeingCleaned: (log) => this.isBeingCleaned(log),
      abortCleaning: (log) => this.#cleaner?.abort(log),
      replace: (name, log) => {
        this.#logs.set(name, log);
        this.onLogMoved(log);
      },
    };
  }

  /**
   * The log is gone at once; its folder, renamed, is removed after file.delete.delay.ms. Does nothing when there is no such log. Throws
   * KAFKA_STORAGE_ERROR when it lies, or may lie, in a directory that is offline: it would be there again when its disk is.
   */
  delete(topicPartition: TopicPartition): void {
    const name = topicPartitionKey(topicPartition);
    this.#newLogs.forget(name);
    this.cancelMove(topicPartition);
    this.#futures.discardLeftBehind(name);
    const unreadable = this.#unreadable.get(name);
    if (unreadable !== undefined) this.#deleteUnreadable(unreadable);
    const log = this.#logs.get(name);
    if (log === undefined) {
      if (unreadable !== undefined || !this.#hasOfflineDirectory) return;
      throw new ProtocolError(errorCodes.KAFKA_STORAGE_ERROR, `The log of ${name} may lie in a directory that is offline`);
    }
    this.#logs.delete(name);
    this.#cleaner?.abort(log);
    this.#aside.put(log, 'delete');
    if (!log.directory.isOnline) throw new ProtocolError(errorCodes.KAFKA_STORAGE_ERROR, `${log.path} cannot be deleted`);
  }

  /** No topic claims the log. It is not in use any more, and its folder is kept under another name for somebody to look at. */
  putAside(log: PartitionLog): void {
    const name = topicPartitionKey(log.topicPartition);
    if (this.#logs.get(name) !== log) return;
    this.cancelMove(log.topicPartition);
    this.#logs.delete(name);
    this.#cleaner?.abort(log);
    this.#aside.put(log, 'stray');
  }

  #deleteUnreadable({ name, topicPartition, path, directory }: UnreadableLog): void {
    const { fileDeleteDelayMs } = this.#options.topicLogConfig(topicPartition.topic);
    if (directory.isOnline) this.#aside.rename({ name, path, directory, removeAfterMs: fileDeleteDelayMs }, 'delete');
    if (!directory.isOnline) throw new ProtocolError(errorCodes.KAFKA_STORAGE_ERROR, `${path} cannot be deleted`);
    this.#unreadable.delete(name);
    // A log of the same name that is made soon must not inherit from this one. A failure has been dealt with where it happened.
    directory.checkpointSoon().catch(() => undefined);
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

  /**
   * Stops in order: everything on the device, snapshots and checkpoints written, the mark of a clean stop left behind. A directory whose
   * logs have not been opened stays as it was found: the start failed before, and the next one must know what the last stop has left.
   */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#maintenance.stop();
    this.#aside.close();
    await this.#cleaner?.close();
    await this.#futures.close();
    const logs = [...this.#all()];
    // Many at a time: each waits for the device, which can do more than one thing at once.
    for (let first = 0; first < logs.length; first += logsClosedTogether) {
      await Promise.all(logs.slice(first, first + logsClosedTogether).map((log) => this.#closeLog(log)));
    }
    for (const directory of this.#online()) {
      if (!this.#loaded.has(directory)) continue;
      try {
        await this.#maintenance.checkpointDirectory(directory);
        if (!this.#disordered.has(directory)) directory.putCleanShutdownMark();
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
      // Its disk has failed, or is only full: then not all of the log may be on it that a start after a clean stop takes for granted.
      this.#disordered.add(log.directory);
      this.#logWorld.logger.error('A log could not be closed in order', { path: log.path, error });
    }
  }

  #online(): LogDirectory[] {
    return this.directories.filter(({ isOnline }) => isOnline);
  }

  #directoryFailed(directory: LogDirectory, error: unknown): void {
    this.#logWorld.logger.error('A log directory is offline', { directory: directory.path, error });
    for (const logs of [this.#logs, this.#futures]) {
      for (const [name, log] of logs) {
        if (log.directory !== directory) continue;
        logs.delete(name);
        this.#futures.stop(name);
        this.#cleaner?.abort(log);
        // Not now: whoever met the fault is still at work in one of these logs.
        this.#logWorld.timer.afterThisTurn(() => log.closeFiles());
      }
    }
    this.#options.onDirectoryOffline?.(directory, error);
  }
}

/** Whether the name of a log that is moving, which is longer than that of one that lies where it is, is not too long for a folder. */
export function mayMove(topicPartition: TopicPartition): boolean {
  return setAsideFolder(topicPartitionKey(topicPartition), 'future', '0'.repeat(32)).length <= longestFileName;
}
