// partition.metadata: which topic a log belongs to, so that the log of a deleted topic is not taken for that of a new one.
//
//   version: 0
//   topic_id: gDgJJoRPTB6EtlLf-p62NQ

import type { FileSystem } from '@odradek/runtime';

/** Not forced to the device: the coordination tree has the id too. */
export function writeTopicId(fileSystem: FileSystem, path: string, topicId: string): void {
  const file = fileSystem.openSync(path, 'truncate');
  try {
    file.writeSync([Buffer.from(`version: 0\ntopic_id: ${topicId}`)], 0);
  } finally {
    file.closeSync();
  }
}

/** undefined: the file is absent, or a crash left it unfinished. */
export function readTopicId(fileSystem: FileSystem, path: string): string | undefined {
  if (fileSystem.statSync(path) === undefined) return undefined;
  return /^version: 0\s+topic_id: ([\w-]{22})\s*$/.exec(fileSystem.readFileSync(path).toString('utf8'))?.[1];
}
