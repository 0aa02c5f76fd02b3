// Logs that are not there yet: in which directory each is made, and how.

import { errorCodes, ProtocolError, zeroUuid } from '@odradek/protocol';
import { isDiskFault } from '../log/disk-fault.ts';
import type { LogConfig } from '../log/log-config.ts';
import { partitionMetadataFile } from '../log/log-file-names.ts';
import type { LogWorld } from '../log/log-files.ts';
import { openingFailed, openLog } from '../log/open-log.ts';
import type { PartitionLog } from '../log/partition-log.ts';
import { type TopicPartition, topicPartitionKey } from '../log/topic-partition.ts';
import type { LogDirectory } from './log-directory.ts';
import { writeTopicId } from './partition-metadata.ts';
import { directoriesForNewLog } from './placement.ts';

export interface NewLogsHost {
  readonly world: LogWorld;
  readonly directories: readonly LogDirectory[];
  isCordoned(path: string): boolean;
  /** Those that are there, future logs among them. */
  logs(): Iterable<PartitionLog>;
}

export interface NewLogOptions {
  readonly topicId: string;
  readonly config: LogConfig;
}

export class NewLogs {
  readonly #host: NewLogsHost;
  /** Where partitions are to go that are not here yet, by topic and partition. */
  readonly #preferred = new Map<string, LogDirectory>();

  constructor(host: NewLogsHost) {
    this.#host = host;
  }

  prefer(name: string, directory: LogDirectory): void {
    this.#preferred.set(name, directory);
  }

  /** The partition is here by now, or will not be. */
  forget(name: string): void {
    this.#preferred.delete(name);
  }

  /** In the directory that is preferred or has the fewest, or the next when that one has a fault or is full. Throws KAFKA_STORAGE_ERROR. */
  create(topicPartition: TopicPartition, options: NewLogOptions): PartitionLog {
    const name = topicPartitionKey(topicPartition);
    let failure: unknown;
    for (const directory of this.#directoriesFor(name)) {
      try {
        const log = this.createIn(directory, name, topicPartition, options);
        this.forget(name);
        return log;
      } catch (error) {
        failure ??= error;
      }
    }
    throw failure ?? new ProtocolError(errorCodes.KAFKA_STORAGE_ERROR, 'All log directories are offline');
  }

  #directoriesFor(name: string): LogDirectory[] {
    const preferred = this.#preferred.get(name);
    if (preferred?.isOnline === true) return [preferred];
    const counts = new Map<LogDirectory, number>();
    for (const { directory } of this.#host.logs()) counts.set(directory, (counts.get(directory) ?? 0) + 1);
    return directoriesForNewLog(this.#host.directories, counts, (path) => this.#host.isCordoned(path));
  }

  createIn(directory: LogDirectory, folder: string, topicPartition: TopicPartition, options: NewLogOptions): PartitionLog {
    const { world } = this.#host;
    const { fileSystem } = world;
    const path = `${directory.path}/${folder}`;
    let isNew = false;
    try {
      // Nobody should have put anything there since the start; but what is there is not overwritten.
      isNew = fileSystem.statSync(path) === undefined;
      directory.forceNames();
      fileSystem.makeDirectorySync(path);
      if (options.topicId !== zeroUuid) writeTopicId(fileSystem, `${path}/${partitionMetadataFile}`, options.topicId);
      const { log } = openLog(path, world, {
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
      return log;
    } catch (error) {
      if (isDiskFault(error)) directory.fail(error);
      // Another directory may have room.
      else if (isNew) fileSystem.removeSync(path);
      throw openingFailed(path, error);
    }
  }
}
