// Which partition a log holds, and how its folder is called.

import { randomFolderSuffixes } from './log-file-names.ts';

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
