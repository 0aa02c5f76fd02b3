// Which partition a log holds, and how its folder is called.

import { futureFolder, randomFolderSuffixes } from './log-file-names.ts';

export interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

/** A key for maps. */
export function topicPartitionKey({ topic, partition }: TopicPartition): string {
  return `${topic}-${partition}`;
}

const largestPartition = 0x7fffffff;

/**
 * Reads `topic-partition`; undefined for any other name, such as one that no topic may have: checkpoints could not be read again that
 * tell of it. A topic may itself contain dashes: the last one counts.
 */
export function parseTopicPartition(folder: string): TopicPartition | undefined {
  const match = /^([a-zA-Z0-9._-]{1,249})-(0|[1-9]\d{0,9})$/.exec(folder);
  if (match === null || randomFolderSuffixes.test(folder)) return undefined;
  const topic = match[1] ?? '';
  const partition = Number(match[2]);
  return partition > largestPartition || topic === '.' || topic === '..' ? undefined : { topic, partition };
}

/** The partition of a log that is moving into this directory; undefined for any other folder. */
export function parseFutureFolder(folder: string): TopicPartition | undefined {
  const key = futureFolder.exec(folder)?.[1];
  return key === undefined ? undefined : parseTopicPartition(key);
}
