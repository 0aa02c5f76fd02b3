// Opens the logs of all directories at a start. Nothing is written down before all of them are known: a checkpoint that came earlier would
// forget those that are not, and a start after a crash would find holes or deleted records in them.

import { partitionMetadataFile } from '../log/log-file-names.ts';
import type { RecoveryReport } from '../log/open-log.ts';
import type { PartitionLog } from '../log/partition-log.ts';
import type { FoldersAside } from './folders-aside.ts';
import { type ContendingLog, isContained, leftOverOf } from './left-over.ts';
import { type FoundLog, type Loading, loadDirectory, type UnreadableLog } from './load-directory.ts';
import type { LogDirectory } from './log-directory.ts';

/** What the start found. */
export interface StartReport extends RecoveryReport {
  readonly logs: number;
  /** False where any directory with logs had not been closed in order. */
  readonly isClean: boolean;
}

/** A directory whose disk has refused something. */
export interface DirectoryFailure {
  readonly directory: LogDirectory;
  readonly error: unknown;
}

/** Where the logs that are found go, by topic and partition. A directory that fails takes its own out again. */
interface LogsByName {
  get(name: string): PartitionLog | undefined;
  set(name: string, log: PartitionLog): unknown;
}

export interface LoadAllParts extends Pick<Loading, 'world' | 'topicLogConfig' | 'recoveryThreads'> {
  readonly logs: LogsByName;
  readonly futures: LogsByName;
  readonly aside: FoldersAside;
}

export class LoadedLogs {
  readonly #parts: LoadAllParts;
  readonly #leftOvers: {
    readonly log: PartitionLog;
    readonly hasOwnRecords: boolean;
    readonly from: LogsByName;
    readonly name: string;
  }[] = [];
  readonly #stale: LogDirectory[] = [];
  #report: Omit<StartReport, 'logs'> = { isClean: true, scannedSegments: 0, scannedBytes: 0, truncatedBytes: 0 };
  readonly unreadable: UnreadableLog[] = [];
  /** All their logs are known. */
  readonly loaded: LogDirectory[] = [];
  /** The next start must look at what is there. */
  readonly notRecovered: LogDirectory[] = [];
  readonly failures: DirectoryFailure[] = [];

  private constructor(parts: LoadAllParts) {
    this.#parts = parts;
  }

  /** A directory whose disk refuses is offline from then on. */
  static async load(directories: readonly LogDirectory[], parts: LoadAllParts): Promise<LoadedLogs> {
    const loaded = new LoadedLogs(parts);
    await Promise.all(directories.map((directory) => loaded.#load(directory)));
    return loaded;
  }

  get report(): Omit<StartReport, 'logs'> {
    return this.#report;
  }

  async #load(directory: LogDirectory): Promise<void> {
    let hasLogs = false;
    let hasUnreadable = false;
    try {
      const { isClean, areCheckpointsStale } = await loadDirectory(directory, {
        ...this.#parts,
        found: (found) => {
          hasLogs = true;
          this.#take(found);
        },
        unreadable: (log) => {
          hasUnreadable = true;
          this.#leaveAlone(log);
        },
      });
      this.loaded.push(directory);
      if (hasUnreadable && !isClean) this.notRecovered.push(directory);
      if (hasLogs && !isClean) this.#report = { ...this.#report, isClean: false };
      if (areCheckpointsStale) this.#stale.push(directory);
    } catch (error) {
      directory.fail(error);
      this.failures.push({ directory, error });
    }
  }

  #take({ name, isFuture, log, recovery }: FoundLog): void {
    const { isClean, scannedSegments, scannedBytes, truncatedBytes } = this.#report;
    this.#report = {
      isClean,
      scannedSegments: scannedSegments + recovery.scannedSegments,
      scannedBytes: scannedBytes + recovery.scannedBytes,
      truncatedBytes: truncatedBytes + recovery.truncatedBytes,
    };
    const logs = isFuture ? this.#parts.futures : this.#parts.logs;
    const earlier = logs.get(name);
    logs.set(name, log);
    if (earlier === undefined) return;
    const { log: leftOver, hasOwnRecords } = leftOverOf(this.#contending(earlier), this.#contending(log), (one, other) =>
      isContained(one.log, other.log),
    );
    if (leftOver.log === log) logs.set(name, earlier);
    this.#leftOvers.push({ log: leftOver.log, hasOwnRecords, from: logs, name });
  }

  #contending(log: PartitionLog): ContendingLog & { readonly log: PartitionLog } {
    const createdMs = this.#parts.world.fileSystem.statSync(`${log.path}/${partitionMetadataFile}`)?.modifiedMs ?? 0;
    return { log, topicId: log.topicId, logStartOffset: log.logStartOffset, createdMs };
  }

  /** The disk works, so the others in the directory go on. */
  #leaveAlone(log: UnreadableLog): void {
    const { path, error } = log;
    this.#parts.world.logger.error('A log cannot be opened; its partition is offline', { path, error });
    if (!log.isFuture) this.unreadable.push(log);
  }

  /** Once the manager knows all of it: folders that were left over get other names, and checkpoints that say too much are written anew. */
  settle(): void {
    for (const { log, hasOwnRecords, from, name } of this.#leftOvers) {
      const kept = from.get(name);
      // The disk of the other one has failed since: the next start looks at both again.
      if (kept === undefined) {
        log.closeFiles();
        this.notRecovered.push(log.directory);
      } else this.#putAside(log, kept, hasOwnRecords);
    }
    // A failure has been dealt with where it happened.
    for (const directory of this.#stale) if (directory.isOnline) directory.checkpointSoon().catch(() => undefined);
  }

  #putAside(log: PartitionLog, kept: PartitionLog, hasOwnRecords: boolean): void {
    this.#parts.world.logger.warn('A partition has two folders; the one that was left over is put aside', {
      folder: log.path,
      kept: kept.path,
      hasOwnRecords,
    });
    this.#parts.aside.put(log, hasOwnRecords ? 'stray' : 'delete');
  }
}

/** For a start that cannot go on without a directory. */
export function noneUsable(failures: readonly DirectoryFailure[]): Error {
  const reasons = failures.map(({ directory: { path }, error }) => `${path}: ${error instanceof Error ? error.message : error}`);
  return new Error(`No log directory can be used: ${reasons.join('; ')}`, { cause: failures.at(-1)?.error });
}
