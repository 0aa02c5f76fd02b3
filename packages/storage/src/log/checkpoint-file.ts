// Kafka's checkpoint files, all in one text format.
//
//   0                    version
//   2                    number of lines that follow
//   orders 0 4711        topic, partition, offset: recovery points, high watermarks, log start offsets
//   orders 1 815

import type { FileSystem } from '@odradek/runtime';
import type { TopicPartition } from './topic-partition.ts';

const version = '0';

export function printCheckpoint(lines: readonly string[]): string {
  return `${[version, String(lines.length), ...lines].join('\n')}\n`;
}

/** The file is not what a broker writes. */
export class DamagedCheckpointError extends Error {
  override readonly name = 'DamagedCheckpointError';
}

/** The lines after the head. Throws DamagedCheckpointError when the head does not fit them. */
export function parseCheckpoint(text: string, path: string): string[] {
  // Kafka makes the file before it has anything to put into it.
  if (text === '') return [];
  const [head, count, ...rest] = text.split('\n');
  if (head !== version) throw new DamagedCheckpointError(`${path} has the unknown version "${head}"`);
  const lines = rest.filter((line) => line !== '');
  if (count !== String(lines.length))
    throw new DamagedCheckpointError(`${path} says that it has ${count} lines, but has ${lines.length}`);
  return lines;
}

export interface OffsetCheckpoint {
  readonly topicPartition: TopicPartition;
  readonly offset: number;
}

export function printOffsets(offsets: Iterable<OffsetCheckpoint>): string {
  const lines: string[] = [];
  for (const { topicPartition, offset } of offsets) lines.push(`${topicPartition.topic} ${topicPartition.partition} ${offset}`);
  return printCheckpoint(lines);
}

/** `topic-partition` → offset. A file that is absent has none. Throws DamagedCheckpointError. */
export function readOffsets(fileSystem: FileSystem, path: string): Map<string, number> {
  const offsets = new Map<string, number>();
  if (fileSystem.statSync(path) === undefined) return offsets;
  for (const line of parseCheckpoint(fileSystem.readFileSync(path).toString('utf8'), path)) {
    const match = /^(\S+) (\d+) (-?\d+)$/.exec(line);
    if (match === null) throw new DamagedCheckpointError(`${path} has a line that is not topic, partition and offset: ${line}`);
    offsets.set(`${match[1]}-${match[2]}`, Number(match[3]));
  }
  return offsets;
}
