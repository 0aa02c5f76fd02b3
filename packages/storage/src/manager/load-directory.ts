// Opens the logs that lie in a directory, giving way to other work in between.

import { zeroUuid } from '@odradek/protocol';
import { DamagedCheckpointError } from '../log/checkpoint-file.ts';
import { isDiskFault, isPassingFault } from '../log/disk-fault.ts';
import type { LogConfig } from '../log/log-config.ts';
import { deletedFolder, partitionMetadataFile } from '../log/log-file-names.ts';
import type { LogWorld } from '../log/log-files.ts';
import { type LoadedLog, openLogInSteps } from '../log/open-log.ts';
import { parseFutureFolder, parseTopicPartition, type TopicPartition, topicPartitionKey } from '../log/topic-partition.ts';
import { isLogFolder } from './found-partitions.ts';
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
  readonly topicPartition: TopicPartition;
  readonly isFuture: boolean;
  readonly path: string;
  readonly directory: LogDirectory;
  /** What the checkpoints say of it: whoever opens it one day needs to know. */
  readonly offsets: Readonly<Partial<Record<CheckpointName, number>>>;
  readonly error: unknown;
}

export interface Loading {
  readonly world: LogWorld;
  /** What counts for a topic that is found on disk. */
  readonly topicLogConfig: (topic: string) => LogConfig;
  /** `num.recovery.threads.per.data.dir`: how many logs are looked through at the same time. */
  readonly recoveryThreads: number;
  readonly found: (log: FoundLog) => void;
  readonly unreadable: (log: UnreadableLog) => void;
}

export interface LoadedDirectory {
  /** It was left in order. */
  readonly isClean: boolean;
  /** The checkpoints may say too much of a log, or tell of one that is not there any more, in whose place another may be made. */
  readonly areCheckpointsStale: boolean;
}

/** How many logs are opened before other work has its turn. */
const logsPerTurn = 64;

/**
 * Throws when the disk has a fault. Of the logs that a crash has left to be looked through, several wait for the disk at the same time;
 * all else is done in this thread, for one log after the other.
 */
export async function loadDirectory(directory: LogDirectory, loading: Loading): Promise<LoadedDirectory> {
  const { timer } = loading.world;
  const isClean = directory.takeCleanShutdownMark();
  const checkpoints = readCheckpoints(directory, loading.world);
  const absent = new Set(Object.values(checkpoints).flatMap((offsets) => [...offsets.keys()]));
  const hasLines = absent.size > 0;
  const folders = logFolders(directory, loading.world);
  let opened = 0;
  /** All lanes take from the same folders. An error ends them for all. */
  const openSome = async (): Promise<void> => {
    for (const folder of folders) {
      absent.delete(topicPartitionKey(folder.topicPartition));
      await openFolder(folder, { directory, isClean, checkpoints, loading });
      opened += 1;
      if (opened % logsPerTurn === 0) await new Promise<void>((resolve) => timer.afterThisTurn(resolve));
    }
  };
  const lanes = await Promise.allSettled(Array.from({ length: loading.recoveryThreads }, openSome));
  for (const lane of lanes) if (lane.status === 'rejected') throw lane.reason;
  return { isClean, areCheckpointsStale: isClean ? absent.size > 0 : hasLines };
}

type Checkpoints = Readonly<Record<CheckpointName, ReadonlyMap<string, number>>>;

function readCheckpoints(directory: LogDirectory, { logger }: LogWorld): Checkpoints {
  const read = (name: CheckpointName): ReadonlyMap<string, number> => {
    try {
      return directory.readCheckpoint(name);
    } catch (error) {
      // Without a checkpoint there is more to scan, and deleted records come back; that is better than no start.
      if (!(error instanceof DamagedCheckpointError)) throw error;
      logger.warn('A checkpoint is damaged and does not count', { directory: directory.path, reason: error.message });
      return new Map();
    }
  };
  return {
    recoveryPoint: read('recoveryPoint'),
    highWatermark: read('highWatermark'),
    logStartOffset: read('logStartOffset'),
    cleanedOffset: read('cleanedOffset'),
  };
}

interface LogFolder {
  readonly path: string;
  readonly topicPartition: TopicPartition;
  readonly isFuture: boolean;
}

/** The folders of logs, one by one. Those that were to be removed are, on the way. */
function* logFolders(directory: LogDirectory, { fileSystem, logger }: LogWorld): Generator<LogFolder, void, undefined> {
  for (const folder of fileSystem.listSync(directory.path)) {
    const path = `${directory.path}/${folder}`;
    if (deletedFolder.test(folder) && fileSystem.statSync(path)?.isDirectory === true) {
      try {
        fileSystem.removeSync(path);
      } catch (error) {
        // Such as a file in it that somebody has open on a network's disk. Nothing needs the folder, and the next start tries again.
        logger.warn('A deleted log could not be removed', { path, error });
      }
      continue;
    }
    const future = parseFutureFolder(folder);
    const topicPartition = future ?? parseTopicPartition(folder);
    // The log of Kafka's own controller is none of a broker's partitions.
    if (topicPartition === undefined || topicPartition.topic === '__cluster_metadata') continue;
    if (!isLogFolder(fileSystem, path, { orEmpty: true })) continue;
    yield { path, topicPartition, isFuture: future !== undefined };
  }
}

interface OpeningOfFolder {
  readonly directory: LogDirectory;
  readonly isClean: boolean;
  readonly checkpoints: Checkpoints;
  readonly loading: Loading;
}

async function openFolder({ path, topicPartition, isFuture }: LogFolder, parts: OpeningOfFolder): Promise<void> {
  const { directory, isClean, checkpoints, loading } = parts;
  const name = topicPartitionKey(topicPartition);
  try {
    const opening = openLogInSteps(path, loading.world, {
      topicPartition,
      topicId: readTopicId(loading.world.fileSystem, `${path}/${partitionMetadataFile}`) ?? zeroUuid,
      directory,
      config: loading.topicLogConfig(topicPartition.topic),
      isNew: false,
      isClean,
      recoveryPoint: checkpoints.recoveryPoint.get(name) ?? 0,
      logStartOffset: checkpoints.logStartOffset.get(name) ?? 0,
      highWatermark: checkpoints.highWatermark.get(name) ?? 0,
      cleanedOffset: checkpoints.cleanedOffset.get(name),
    });
    let step = opening.next();
    while (step.done !== true) step = opening.next(await step.value.later());
    loading.found({ ...step.value, name, isFuture });
  } catch (error) {
    if (isDiskFault(error) || isPassingFault(error)) throw error;
    loading.unreadable({ name, topicPartition, isFuture, path, directory, offsets: offsetsOf(name, checkpoints), error });
  }
}

function offsetsOf(name: string, checkpoints: Checkpoints): UnreadableLog['offsets'] {
  const lines = Object.entries(checkpoints).map(([checkpoint, offsets]) => [checkpoint, offsets.get(name)] as const);
  return Object.fromEntries(lines.filter(([, offset]) => offset !== undefined));
}
