// DescribeLogDirs (35): tells this broker's log directories, the partitions in them and their sizes. Version 3 has an error of the
// whole request, version 4 tells the space on the volume, version 5 whether a directory gets no new partitions.

import { DescribeLogDirsRequest, DescribeLogDirsResponse, errorCodes, type Message, type MessageInit } from '@odradek/protocol';
import type { FileSystem, Logger } from '@odradek/runtime';
import type { BrokerConfig } from '../broker-config.ts';
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
      const logs = [...parts.logManager.logs()].filter(({ topicPartition }) =>
        isAskedFor(topicPartition.topic, topicPartition.partition),
      );
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

function directoryResult(
  { config, fileSystem, logger }: DescribeLogDirsParts,
  { path, isOnline }: { readonly path: string; readonly isOnline: boolean },
  logs: readonly DescribedLog[],
): DirectoryResult {
  const broken: DirectoryResult = { errorCode: errorCodes.KAFKA_STORAGE_ERROR, logDir: path, topics: [] };
  if (!isOnline) return broken;
  try {
    const { totalBytes, usableBytes } = fileSystem.volumeSync(path);
    const cordoned = config.get('cordoned.log.dirs');
    return {
      errorCode: errorCodes.NONE,
      logDir: path,
      topics: byTopic(logs.filter(({ directory }) => directory.path === path)),
      totalBytes,
      usableBytes,
      isCordoned: cordoned.includes('*') || cordoned.includes(path),
    };
  } catch (error) {
    logger.warn('Cannot tell the space on the volume of a log directory', { directory: path, error });
    return broken;
  }
}

function byTopic(logs: readonly DescribedLog[]): TopicsInDirectory {
  const topics = Map.groupBy(logs, ({ topicPartition }) => topicPartition.topic);
  return [...topics].map(([name, ofTopic]) => ({
    name,
    partitions: ofTopic.map(({ topicPartition, sizeBytes, logEndOffset, highWatermark }) => ({
      partitionIndex: topicPartition.partition,
      partitionSize: sizeBytes,
      offsetLag: Math.max(highWatermark - logEndOffset, 0),
      // Copies that are on the way to another directory exist once AlterReplicaLogDirs does.
      isFutureKey: false,
    })),
  }));
}
