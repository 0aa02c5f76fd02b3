// Future logs: logs on their way into other directories, until each takes the place of the one that it follows; and what that leaves
// behind. All by the names of the logs, which are topic and partition.

import { errorCodes, ProtocolError, zeroUuid } from '@odradek/protocol';
import type { LogWorld } from '../log/log-files.ts';
import { openLog } from '../log/open-log.ts';
import type { PartitionLog } from '../log/partition-log.ts';
import { topicPartitionKey } from '../log/topic-partition.ts';
import type { FoldersAside } from './folders-aside.ts';
import type { LogDirectory } from './log-directory.ts';
import type { MoveHost } from './log-move.ts';
import { LogMoves, type MoveSettings } from './log-moves.ts';

/** Whoever keeps the logs that are in use. */
export interface FutureLogsHost {
  readonly world: LogWorld;
  readonly aside: FoldersAside;
  hasOfflineDirectory(): boolean;
  get(name: string): PartitionLog | undefined;
  /** Makes an empty log in a new folder of that directory, of the same partition. */
  create(folder: string, directory: LogDirectory, like: PartitionLog): PartitionLog;
  isBeingCleaned(log: PartitionLog): boolean;
  abortCleaning(log: PartitionLog): void;
  /** The log takes the place of the one of that name, which must not be used any more. */
  replace(name: string, log: PartitionLog): void;
}

export class FutureLogs {
  readonly #host: FutureLogsHost;
  /** As far as they have got. */
  readonly #logs = new Map<string, PartitionLog>();
  /** What logs were before they moved, as long as their folders have the names of the logs. */
  readonly #leftBehind = new Map<string, PartitionLog>();
  readonly #moves: LogMoves;

  constructor(host: FutureLogsHost, settings: MoveSettings) {
    this.#host = host;
    this.#moves = new LogMoves(this.#moveHost(), settings);
  }

  #moveHost(): MoveHost {
    return {
      world: this.#host.world,
      isBeingCleaned: (log) => this.#host.isBeingCleaned(log),
      reopen: (folder, directory, like, isClean) => this.#reopen(folder, directory, like, isClean),
      replaced: (source, log) => this.#replaced(source, log),
      discard: (source) => this.#discard(source),
      futureReopened: (future) => this.set(topicPartitionKey(future.topicPartition), future),
      gaveUp: (source) => this.cancel(topicPartitionKey(source.topicPartition)),
    };
  }

  get(name: string): PartitionLog | undefined {
    return this.#logs.get(name);
  }

  has(name: string): boolean {
    return this.#logs.has(name);
  }

  values(): Iterable<PartitionLog> {
    return this.#logs.values();
  }

  leftBehind(): Iterable<PartitionLog> {
    return this.#leftBehind.values();
  }

  [Symbol.iterator](): Iterator<[string, PartitionLog]> {
    return this.#logs.entries();
  }

  /** It was found on disk. It goes on with `resume`. */
  set(name: string, log: PartitionLog): void {
    this.#logs.set(name, log);
  }

  /** It cannot be used any more. */
  delete(name: string): void {
    this.#logs.delete(name);
  }

  /** Begins to move the log into the directory. Nothing happens where it is there, or on its way. See `LogManager.startMove`. */
  start(name: string, directory: LogDirectory): void {
    const source = this.#host.get(name);
    if (source === undefined) throw new ProtocolError(errorCodes.REPLICA_NOT_AVAILABLE, `There is no log of ${name} here`);
    if (this.#logs.get(name)?.directory !== directory) this.cancel(name);
    if (source.directory === directory) return;
    if (!this.#logs.has(name)) {
      if (this.#host.hasOfflineDirectory())
        throw new ProtocolError(errorCodes.KAFKA_STORAGE_ERROR, `${name} cannot move while a log directory is offline`);
      const future = this.#host.create(this.#host.aside.newName(name, 'future'), directory, source);
      future.cleanedOffset = source.cleanedOffset;
      this.#logs.set(name, future);
    }
    this.resume(name);
  }

  resume(name: string): void {
    const source = this.#host.get(name);
    const future = this.#logs.get(name);
    if (source === undefined || future === undefined) return;
    const isOfOtherTopic = source.topicId !== future.topicId && source.topicId !== zeroUuid;
    if (isOfOtherTopic || source.directory === future.directory) {
      this.cancel(name);
      return;
    }
    this.#host.abortCleaning(source);
    this.#moves.start(name, source, future);
  }

  /** The log stays where it is, and what was copied is removed. */
  cancel(name: string): void {
    this.stop(name);
    const future = this.#logs.get(name);
    if (future === undefined) return;
    this.#logs.delete(name);
    this.#host.aside.put(future, 'delete');
  }

  /** What was copied stays, and can be gone on with. */
  stop(name: string): void {
    this.#moves.cancel(name);
  }

  updateSettings(settings: MoveSettings): void {
    this.#moves.updateSettings(settings);
  }

  close(): Promise<void> {
    return this.#moves.close();
  }

  #reopen(folder: string, directory: LogDirectory, like: PartitionLog, isClean: boolean): PartitionLog {
    const { topicPartition, topicId, config, logStartOffset, highWatermark, cleanedOffset } = like;
    // Not closed in order: all of it is looked through, since the future log is only a copy.
    const options = { topicPartition, topicId, directory, config, isNew: false, isClean, recoveryPoint: 0, logStartOffset };
    return openLog(folder, this.#host.world, { ...options, highWatermark, cleanedOffset }).log;
  }

  #replaced(source: PartitionLog, log: PartitionLog): void {
    const name = topicPartitionKey(log.topicPartition);
    log.cleanedOffset = source.cleanedOffset;
    this.#logs.delete(name);
    this.#leftBehind.set(name, source);
    this.#host.replace(name, log);
    source.closeFiles();
    log.directory.checkpointSoon().catch(() => undefined);
  }

  /** If the log has just moved, what it was before is not needed any more. */
  discardLeftBehind(name: string): void {
    const source = this.#leftBehind.get(name);
    if (source !== undefined) this.#discard(source);
  }

  #discard(source: PartitionLog): void {
    const name = topicPartitionKey(source.topicPartition);
    if (this.#leftBehind.get(name) !== source) return;
    this.#leftBehind.delete(name);
    this.#host.aside.put(source, 'delete');
  }
}
