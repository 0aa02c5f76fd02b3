// DescribeLogDirs (35): tells this broker's log directories, the partitions in them and their sizes. Version 3 has an error of the
// whole request, version 4 tells the space on the volume, version 5 whether a directory gets no new partitions.

import { DescribeLogDirsRequest, DescribeLogDirsResponse, errorCodes, type Message, type MessageInit } from '@odradek/protocol';
import type { FileSystem, Logger } from '@odradek/runtime';
import type { BrokerConfig } from '../broker-config.ts';
import { isCordoned } from '../log-dir-settings.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';

/** What is read of a log here. */
export interface DescribedLog {
  readonly topicPartition: { readonly topic: string; readonly partition: number };
  readonly directory: { readonly path: string };
  readonly sizeBytes: number;
  readonly logEndOffset: number;
  readonly highWatermark: number;
}

export interface DescribeLogDirsParts {
  readonly logManager: {
    readonly directories: readonly { readonly path: string; readonly isOnline: boolean }[];
    logs(): Iterable<DescribedLog>;
    /** On their way to another directory. */
    futures(): Iterable<DescribedLog>;
  };
  readonly replicaManager: {
    find(
      topic: string,
      partition: number,
    ): { readonly hasLog: boolean; readonly log: { readonly logEndOffset: number } } | undefined;
  };
  readonly config: Pick<BrokerConfig, 'get'>;
  readonly fileSystem: Pick<FileSystem, 'volumeSync'>;
  readonly logger: Logger;
}

type DirectoryResult = NonNullable<MessageInit<typeof DescribeLogDirsResponse>['results']>[number];
type TopicsInDirectory = NonNullable<DirectoryResult['topics']>;

export function describeLogDirsHandler(
  parts: DescribeLogDirsParts,
): Handler<typeof DescribeLogDirsRequest, typeof DescribeLogDirsResponse> {
  return defineHandler(DescribeLogDirsRequest, DescribeLogDirsResponse, {
    handle({ topics }) {
      const isAskedFor = partitionFilter(topics);
      const found = [
        ...Array.from(parts.logManager.logs(), (log) => ({ log, isFuture: false })),
        ...Array.from(parts.logManager.futures(), (log) => ({ log, isFuture: true })),
      ];
      const logs = found.filter(({ log: { topicPartition } }) => isAskedFor(topicPartition.topic, topicPartition.partition));
      return { results: parts.logManager.directories.map((directory) => directoryResult(parts, directory, logs)) };
    },
  });
}

/** null asks for all partitions. */
function partitionFilter(topics: Message<typeof DescribeLogDirsRequest>['topics']): (topic: string, partition: number) => boolean {
  if (topics === null) return () => true;
  const partitions = new Map<string, Set<number>>();
  for (const { topic, partitions: asked } of topics) {
    partitions.set(topic, new Set([...(partitions.get(topic) ?? []), ...asked]));
  }
  return (topic, partition) => partitions.get(topic)?.has(partition) === true;
}

interface LogInDirectory {
  readonly log: DescribedLog;
  readonly isFuture: boolean;
}

function directoryResult(
  { config, fileSystem, logger, replicaManager }: DescribeLogDirsParts,
  { path, isOnline }: { readonly path: string; readonly isOnline: boolean },
  logs: readonly LogInDirectory[],
): DirectoryResult {
  const broken: DirectoryResult = { errorCode: errorCodes.KAFKA_STORAGE_ERROR, logDir: path, topics: [] };
  if (!isOnline) return broken;
  try {
    const { totalBytes, usableBytes } = fileSystem.volumeSync(path);
    const here = logs.filter(({ log }) => log.directory.path === path);
    return {
      errorCode: errorCodes.NONE,
      logDir: path,
      topics: byTopic(here, replicaManager),
      totalBytes,
      usableBytes,
      isCordoned: isCordoned(config, path),
    };
  } catch (error) {
    logger.warn('Cannot tell the space on the volume of a log directory', { directory: path, error });
    return broken;
  }
}

function byTopic(logs: readonly LogInDirectory[], replicaManager: DescribeLogDirsParts['replicaManager']): TopicsInDirectory {
  const topics = Map.groupBy(logs, ({ log }) => log.topicPartition.topic);
  return Array.from(topics, ([name, ofTopic]) => ({
    name,
    partitions: ofTopic.map(({ log, isFuture }) => ({
      partitionIndex: log.topicPartition.partition,
      partitionSize: log.sizeBytes,
      offsetLag: offsetLag(log, isFuture, replicaManager),
      isFutureKey: isFuture,
    })),
  }));
}

/** How far a copy on its way is behind the log, or a log behind its high watermark; -1 while the partition is not in use here. */
function offsetLag(log: DescribedLog, isFuture: boolean, replicaManager: DescribeLogDirsParts['replicaManager']): number {
  const { topic, partition: index } = log.topicPartition;
  const partition = replicaManager.find(topic, index);
  if (partition?.hasLog !== true) return -1;
  return isFuture ? partition.log.logEndOffset - log.logEndOffset : Math.max(log.highWatermark - log.logEndOffset, 0);
}
