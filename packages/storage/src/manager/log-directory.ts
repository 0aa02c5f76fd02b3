// One log directory: held by this process alone, with the checkpoints of its logs, and offline from the first fault of its disk on.
//
//   log.dirs/  .lock                              held by the process that uses the directory
//              meta.properties                    whose it is
//              .kafka_cleanshutdown               only after an orderly stop
//              recovery-point-offset-checkpoint   what is on the device, by partition
//              replication-offset-checkpoint      high watermarks
//              log-start-offset-checkpoint        log start offsets that are not the base of a segment
//              cleaner-offset-checkpoint          how far logs are compacted; only where any is
//              topic-0/ …                         one folder for each log

import { type DirectoryLock, type FileSystem, parseProperties } from '@odradek/runtime';
import { readOffsets } from '../log/checkpoint-file.ts';

export const checkpointFiles = {
  recoveryPoint: 'recovery-point-offset-checkpoint',
  highWatermark: 'replication-offset-checkpoint',
  logStartOffset: 'log-start-offset-checkpoint',
  cleanedOffset: 'cleaner-offset-checkpoint',
} as const;
export type CheckpointName = keyof typeof checkpointFiles;

export const metaPropertiesFile = 'meta.properties';
export const cleanShutdownFile = '.kafka_cleanshutdown';

/** The directory belongs to someone else, or its description makes no sense. The message is for whoever starts the broker. */
export class InvalidLogDirectoryError extends Error {
  override readonly name = 'InvalidLogDirectoryError';
}

/** What a directory asks of whoever looks after it. */
export interface LogDirectoryOwner {
  /** The disk has a fault. */
  directoryFailed(directory: LogDirectory, error: unknown): void;
  /** Writes all checkpoints of the directory. */
  checkpoint(directory: LogDirectory): Promise<void>;
}

export class LogDirectory {
  readonly path: string;
  readonly #fileSystem: FileSystem;
  readonly #owner: LogDirectoryOwner;
  #lock: DirectoryLock | undefined;
  #isOnline = true;
  /** The checkpoint that was asked for last, as long as it is under way. */
  #checkpoint: Promise<void> | undefined;
  /** It has not begun yet, so it will cover what is asked for now. */
  #isCheckpointAhead = false;
  #isCheckpointMissing = false;
  /** Counts folders that got another name. A crash may give them back the old one until the device has heard of it. */
  #renames = 0;
  #forcedRenames = 0;

  constructor(path: string, fileSystem: FileSystem, owner: LogDirectoryOwner) {
    this.path = path;
    this.#fileSystem = fileSystem;
    this.#owner = owner;
  }

  get isOnline(): boolean {
    return this.#isOnline;
  }

  /** The disk has a fault. From now on nothing is read from it or written to it. */
  fail(error: unknown): void {
    if (!this.#isOnline) return;
    this.#isOnline = false;
    this.#owner.directoryFailed(this, error);
  }

  get checkpointUnderWay(): Promise<void> | undefined {
    return this.#checkpoint;
  }

  /** The last that was asked for could not be written, for a full disk or want of files: the one on disk may tell of logs that are gone. */
  get isCheckpointMissing(): boolean {
    return this.#isCheckpointMissing;
  }

  /**
   * One of the logs went back, or is gone: the checkpoints say too much of it until they are written again. Settles then. Those who
   * ask while one is being written share the next.
   */
  checkpointSoon(): Promise<void> {
    if (this.#checkpoint !== undefined && this.#isCheckpointAhead) return this.#checkpoint;
    const earlier = this.#checkpoint?.catch(() => undefined) ?? Promise.resolve();
    this.#isCheckpointAhead = true;
    const checkpoint = earlier.then(async () => {
      this.#isCheckpointAhead = false;
      const renames = this.#renames;
      if (this.#forcedRenames < renames) await this.#fileSystem.syncDirectory(this.path);
      this.#forcedRenames = Math.max(this.#forcedRenames, renames);
      return this.#owner.checkpoint(this);
    });
    this.#checkpoint = checkpoint;
    const ended = (isWritten: boolean): void => {
      if (this.#checkpoint !== checkpoint) return;
      this.#checkpoint = undefined;
      this.#isCheckpointMissing = !isWritten;
    };
    checkpoint.then(
      () => ended(true),
      () => ended(false),
    );
    return checkpoint;
  }

  /** The folder of a log got another name. `checkpointSoon` forces that to the device. */
  folderRenamed(): void {
    this.#renames += 1;
  }

  /** Before a folder is made where one was renamed a moment ago: otherwise a crash might put the old one in its place. */
  forceNames(): void {
    if (this.#forcedRenames === this.#renames) return;
    this.#fileSystem.syncDirectorySync(this.path);
    this.#forcedRenames = this.#renames;
  }

  /** Makes the directory if it is not there, and takes it. Throws when another process holds it, or the disk refuses. */
  open(): void {
    this.#fileSystem.makeDirectorySync(this.path);
    this.#lock = this.#fileSystem.lockDirectorySync(this.path);
  }

  release(): void {
    this.#lock?.release();
    this.#lock = undefined;
  }

  /**
   * Reads whose directory it is; writes it down in a new one. Throws InvalidLogDirectoryError when it belongs to another broker or
   * cluster.
   */
  claim(brokerId: number, clusterId: string): void {
    const owner = this.readOwner();
    if (owner === undefined) {
      this.#fileSystem.replaceFileSync(
        `${this.path}/${metaPropertiesFile}`,
        `#\n#\nbroker.id=${brokerId}\nversion=0\ncluster.id=${clusterId}\n`,
      );
      return;
    }
    if (owner.brokerId !== undefined && owner.brokerId !== brokerId) {
      throw new InvalidLogDirectoryError(
        `The log directory ${this.path} belongs to broker ${owner.brokerId}, but this is broker ${brokerId}.`,
      );
    }
    if (owner.clusterId !== undefined && owner.clusterId !== clusterId) {
      throw new InvalidLogDirectoryError(
        `The log directory ${this.path} belongs to the cluster ${owner.clusterId}, but this broker is in the cluster ${clusterId}.`,
      );
    }
  }

  /** undefined: nobody has used the directory yet. */
  readOwner(): { readonly brokerId: number | undefined; readonly clusterId: string | undefined } | undefined {
    const path = `${this.path}/${metaPropertiesFile}`;
    if (this.#fileSystem.statSync(path) === undefined) return undefined;
    const properties = parseProperties(this.#fileSystem.readFileSync(path).toString('utf8'));
    const version = properties.get('version');
    if (version !== '0' && version !== '1') {
      throw new InvalidLogDirectoryError(
        `${path} has ${version === undefined ? 'no version' : `the version ${version}`}, but should have 0 or 1.`,
      );
    }
    const id = properties.get('broker.id') ?? properties.get('node.id');
    if (id !== undefined && !/^-?\d+$/.test(id)) throw new InvalidLogDirectoryError(`${path} names the broker "${id}".`);
    return { brokerId: id === undefined ? undefined : Number(id), clusterId: properties.get('cluster.id') };
  }

  /** Whether the broker stopped in order. The mark is taken away, since from now on it might not. */
  takeCleanShutdownMark(): boolean {
    const path = `${this.path}/${cleanShutdownFile}`;
    if (this.#fileSystem.statSync(path) === undefined) return false;
    this.#fileSystem.removeSync(path);
    // If a power cut brought it back, nobody would look for the damage.
    this.#fileSystem.syncDirectorySync(this.path);
    return true;
  }

  /** Only after everything else is on the device. */
  putCleanShutdownMark(): void {
    this.#fileSystem.replaceFileSync(`${this.path}/${cleanShutdownFile}`, '{"version":0,"brokerEpoch":-1}');
  }

  readCheckpoint(name: CheckpointName): Map<string, number> {
    return readOffsets(this.#fileSystem, `${this.path}/${checkpointFiles[name]}`);
  }

  hasCheckpoint(name: CheckpointName): boolean {
    return this.#fileSystem.statSync(`${this.path}/${checkpointFiles[name]}`) !== undefined;
  }

  writeCheckpoint(name: CheckpointName, content: string): Promise<void> {
    return this.#fileSystem.replaceFile(`${this.path}/${checkpointFiles[name]}`, content);
  }
}
