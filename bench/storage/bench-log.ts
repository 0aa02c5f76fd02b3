// What the measurements of logs share: a manager over a folder, batches to fill logs with, and tables.

import { statfsSync } from 'node:fs';
import { buildRecordBatch } from '@odradek/protocol';
import { createSystemWorld, type FileSystem } from '@odradek/runtime';
import { defaultLogConfig, type LogConfig, LogManager, type LogManagerOptions, type PartitionLog } from '@odradek/storage';

export const gigabyte = 1e9;
const topicId = 'gDgJJoRPTB6EtlLf-p62NQ';

export interface OpenOptions {
  readonly config?: Partial<LogConfig>;
  readonly fileSystem?: FileSystem;
  readonly cleaner?: LogManagerOptions['cleaner'];
}

export interface OpenLogs {
  readonly manager: LogManager;
  log(topic: string): PartitionLog;
  close(): Promise<void>;
}

export async function openLogs(directory: string, { config, fileSystem, cleaner }: OpenOptions = {}): Promise<OpenLogs> {
  const system = createSystemWorld({ log: { write: () => undefined } });
  const world = fileSystem === undefined ? system : { ...system, fileSystem };
  const logConfig = { ...defaultLogConfig, ...config };
  const options = { world, directories: [directory], topicLogConfig: () => logConfig };
  const manager = LogManager.open(cleaner === undefined ? options : { ...options, cleaner });
  await manager.load();
  return {
    manager,
    log: (topic) => manager.getOrCreate({ topic, partition: 0 }, { topicId, config: logConfig }),
    close: async () => {
      await manager.close();
      system.timer.close();
    },
  };
}

/** One batch of records of 1 KiB each. */
export function batchOf(recordCount: number): Buffer {
  const records = Array.from({ length: recordCount }, (_, index) => ({
    timestamp: Date.now(),
    value: Buffer.alloc(1024, 97 + index),
  }));
  return buildRecordBatch({}, records);
}

/** Appends the batch until the log has that size; sixteen times in a turn. */
export async function fill(log: PartitionLog, sizeBytes: number, batch: Buffer): Promise<void> {
  while (log.sizeBytes < sizeBytes) {
    let written: Promise<void> | undefined;
    for (let count = 0; count < 16; count++) {
      written = log.appendAsLeader(Buffer.from(batch), { leaderEpoch: 0, origin: 'client' }).written;
    }
    await written;
  }
  log.updateHighWatermark(log.logEndOffset);
}

export function row(...cells: readonly (string | number)[]): void {
  console.log(`| ${cells.join(' | ')} |`);
}

export function head(...cells: readonly string[]): void {
  row(...cells);
  row(...cells.map(() => '---'));
}

export function median(numbers: readonly number[]): number {
  return [...numbers].sort((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}

/** Between these lies the median of all that could have been measured, with a confidence of 95 %: so far from the middle of the order. */
export function medianInterval(numbers: readonly number[]): readonly [low: number, high: number] {
  const sorted = [...numbers].sort((one, other) => one - other);
  const distance = 0.98 * Math.sqrt(sorted.length);
  const at = (index: number): number => sorted[Math.min(Math.max(Math.round(index), 0), sorted.length - 1)] ?? Number.NaN;
  return [at(sorted.length / 2 - distance), at(sorted.length / 2 + distance)];
}

/** What the process has used since, in µs. */
export function cpuUsSince(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return user + system;
}

/** Others need the disk as well. */
export function ensureRoom(directory: string, neededBytes: number): void {
  const { bavail, bsize } = statfsSync(directory);
  if (bavail * bsize > neededBytes * 1.5) return;
  console.error(`${directory} has ${Math.floor((bavail * bsize) / gigabyte)} GB left, too few for this measurement`);
  process.exit(1);
}
