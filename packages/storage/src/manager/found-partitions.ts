// Which folders of a directory are the logs of partitions, and of which, before any of them is opened.

import { zeroUuid } from '@odradek/protocol';
import type { FileSystem } from '@odradek/runtime';
import { DamagedCheckpointError } from '../log/checkpoint-file.ts';
import { isFileOfLog, leaderEpochFile, partitionMetadataFile } from '../log/log-file-names.ts';
import { parseTopicPartition, type TopicPartition, topicPartitionKey } from '../log/topic-partition.ts';
import type { LogDirectory } from './log-directory.ts';
import { readTopicId } from './partition-metadata.ts';

export interface FoundPartition extends TopicPartition {
  /** The zero uuid where none was kept. */
  readonly topicId: string;
  /** A cleaner has been at work in it. */
  readonly isCompacted: boolean;
  /** The last leader epoch, though no record may be of it; -1: none was kept. */
  readonly lastLeaderEpoch: number;
}

export function findPartitions(fileSystem: FileSystem, directory: LogDirectory): FoundPartition[] {
  const cleaned = cleanedLogs(directory);
  return fileSystem.listSync(directory.path).flatMap((folder) => {
    const path = `${directory.path}/${folder}`;
    const topicPartition = parseTopicPartition(folder);
    if (topicPartition === undefined || topicPartition.topic === '__cluster_metadata') return [];
    if (!isLogFolder(fileSystem, path)) return [];
    const topicId = readTopicId(fileSystem, `${path}/${partitionMetadataFile}`) ?? zeroUuid;
    const lastLeaderEpoch = readLastEpoch(fileSystem, `${path}/${leaderEpochFile}`);
    return [{ ...topicPartition, topicId, isCompacted: cleaned.has(topicPartitionKey(topicPartition)), lastLeaderEpoch }];
  });
}

/**
 * Whether it is a folder with a log in it. `backup-2024` may be somebody's own, which must be taken neither for a partition nor for a stray
 * one. `orEmpty`: a crash may have left no more of a log than that.
 */
export function isLogFolder(fileSystem: FileSystem, path: string, { orEmpty = false } = {}): boolean {
  if (fileSystem.statSync(path)?.isDirectory !== true) return false;
  if (fileSystem.statSync(`${path}/${partitionMetadataFile}`) !== undefined) return true;
  const names = fileSystem.listSync(path);
  return names.length === 0 ? orEmpty : names.some(isFileOfLog);
}

function cleanedLogs(directory: LogDirectory): ReadonlyMap<string, number> {
  try {
    return directory.readCheckpoint('cleanedOffset');
  } catch (error) {
    // Whoever opens the logs will say so.
    if (!(error instanceof DamagedCheckpointError)) throw error;
    return new Map();
  }
}

/** Opening the log may find more in its batches, and complains of a file that makes no sense. */
function readLastEpoch(fileSystem: FileSystem, path: string): number {
  if (fileSystem.statSync(path) === undefined) return -1;
  const [, epoch] = /(?:^|\n)(\d+) \d+\n?$/.exec(fileSystem.readFileSync(path).toString('utf8')) ?? [];
  return epoch === undefined ? -1 : Number(epoch);
}
