// Opens the logs that lie in a directory, giving way to other work in between.

import { zeroUuid } from '@odradek/protocol';
import { DamagedCheckpointError } from '../log/checkpoint-file.ts';
import { isDiskFault, isDiskFull } from '../log/disk-fault.ts';
import type { LogConfig } from '../log/log-config.ts';
import { partitionMetadataFile } from '../log/log-file-names.ts';
import type { LogWorld } from '../log/log-files.ts';
import { type LoadedLog, openLogInSteps } from '../log/open-log.ts';
import { parseFutureFolder, parseTopicPartition, topicPartitionKey } from '../log/topic-partition.ts';
import type { CheckpointName, LogDirectory } from './log-directory.ts';
import { readTopicId } from './partition-metadata.ts';

export interface FoundLog extends LoadedLog {
  /** Topic and partition. */
  readonly name: string;
  /** On its way here from another directory. */
  readonly isFuture: boolean;
}

/** A log that cannot be opened though its disk works: its files make no sense, or we make a mistake. */
export interface UnreadableLog {
  readonly name: string;
  readonly isFuture: boolean;
  readonly path: string;
  readonly error: unknown;
}

export interface Loading {
  readonly world: LogWorld;
  /** What counts for a topic that is found on disk. */
  readonly topicLogConfig: (topic: string) => LogConfig;
  readonly found: (log: FoundLog) => void;
  readonly unreadable: (log: UnreadableLog) => void;
}

/** How many logs are opened before other work has its turn. */
const logsPerTurn = 64;

/** Throws when the disk has a fault. Answers whether the directory was left in order. */
export async function loadDirectory(directory: LogDirectory, loading: Loading): Promise<boolean> {
  const { fileSystem, timer, logger } = loading.world;
  const isClean = directory.takeCleanShutdownMark();
  const readCheckpoint = (name: CheckpointName): Map<string, number> => {
    try {
      return directory.readCheckpoint(name);
    } catch (error) {
      // Without a checkpoint there is more to scan, and deleted records come back; that is better than no start.
      if (!(error instanceof DamagedCheckpointError)) throw error;
      logger.warn('A checkpoint is damaged and does not count', { directory: directory.path, error });
      return new Map();
    }
  };
  const recoveryPoints = readCheckpoint('recoveryPoint');
  const highWatermarks = readCheckpoint('highWatermark');
  const startOffsets = readCheckpoint('logStartOffset');
  const cleanedOffsets = readCheckpoint('cleanedOffset');
  const giveWay = (): Promise<void> => new Promise((resolve) => timer.afterThisTurn(resolve));
  let opened = 0;
  for (const folder of fileSystem.listSync(directory.path)) {
    const path = `${directory.path}/${folder}`;
    if (folder.endsWith('-delete') && fileSystem.statSync(path)?.isDirectory === true) {
      fileSystem.removeSync(path);
      continue;
    }
    const future = parseFutureFolder(folder);
    const topicPartition = future ?? parseTopicPartition(folder);
    // The log of Kafka's own controller is none of a broker's partitions.
    if (topicPartition === undefined || topicPartition.topic === '__cluster_metadata') continue;
    if (fileSystem.statSync(path)?.isDirectory !== true) continue;
    const name = topicPartitionKey(topicPartition);
    const isFuture = future !== undefined;
    try {
      const opening = openLogInSteps(path, loading.world, {
        topicPartition,
        topicId: readTopicId(fileSystem, `${path}/${partitionMetadataFile}`) ?? zeroUuid,
        directory,
        config: loading.topicLogConfig(topicPartition.topic),
        isNew: false,
        isClean,
        recoveryPoint: recoveryPoints.get(name) ?? 0,
        logStartOffset: startOffsets.get(name) ?? 0,
        highWatermark: highWatermarks.get(name) ?? 0,
        cleanedOffset: cleanedOffsets.get(name),
      });
      let step = opening.next();
      for (; step.done !== true; step = opening.next()) await giveWay();
      loading.found({ ...step.value, name, isFuture });
    } catch (error) {
      if (isDiskFault(error) || isDiskFull(error)) throw error;
      loading.unreadable({ name, isFuture, path, error });
    }
    opened += 1;
    if (opened % logsPerTurn === 0) await giveWay();
  }
  return isClean;
}
