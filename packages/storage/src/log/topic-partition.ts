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

/** Reads `topic-partition`; undefined for any other name. A topic may itself contain dashes: the last one counts. */
export function parseTopicPartition(folder: string): TopicPartition | undefined {
  const match = /^(.+)-(\d{1,10})$/.exec(folder);
  if (match === null || randomFolderSuffixes.test(folder)) return undefined;
  const [, topic = '', partition = ''] = match;
  return { topic, partition: Number(partition) };
}

/** The partition of a log that is moving into this directory; undefined for any other folder. */
export function parseFutureFolder(folder: string): TopicPartition | undefined {
  const key = futureFolder.exec(folder)?.[1];
  return key === undefined ? undefined : parseTopicPartition(key);
}
