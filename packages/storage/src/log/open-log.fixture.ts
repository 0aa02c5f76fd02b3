// A log of its own on a simulated machine, for tests.

import { buildRecordBatch, iterateBatches, type RecordBatchOptions } from '@odradek/protocol';
import type { FileSystem } from '@odradek/runtime';
import { type CrashLeaves, type SimulatedDisk, type SimulatedMachine, SimulatedWorld } from '@odradek/testing';
import { LogManager } from '../manager/log-manager.ts';
import type { AppendInfo } from './append-info.ts';
import { defaultLogConfig, type LogConfig } from './log-config.ts';
import type { PartitionLog } from './partition-log.ts';

export const topicId = 'gDgJJoRPTB6EtlLf-p62NQ';
const topicPartition = { topic: 'orders', partition: 0 };
export const logFolder = '/data/orders-0';

export class LogUnderTest {
  readonly world: SimulatedWorld;
  machine: SimulatedMachine;
  manager!: LogManager;
  log!: PartitionLog;
  readonly #config: LogConfig;
  readonly #seen: (disk: SimulatedDisk) => FileSystem;

  private constructor(config: Partial<LogConfig>, seen: (disk: SimulatedDisk) => FileSystem) {
    this.#seen = seen;
    this.world = new SimulatedWorld({ seed: 1 });
    this.machine = this.world.machine('broker');
    this.#config = { ...defaultLogConfig, ...config };
  }

  /** `seen` makes of the disk what the log sees of it. */
  static async open(config: Partial<LogConfig> = {}, seen = (disk: SimulatedDisk): FileSystem => disk): Promise<LogUnderTest> {
    const made = new LogUnderTest(config, seen);
    await made.start();
    return made;
  }

  /** `begun` is called when the disk is there, before anything is read from it. */
  async start(begun: () => void = () => undefined): Promise<void> {
    const world = { ...this.machine, fileSystem: this.#seen(this.machine.fileSystem) };
    begun();
    this.manager = LogManager.open({ world, directories: ['/data'], topicLogConfig: () => this.#config });
    await this.world.run(this.manager.load());
    this.log = this.manager.getOrCreate(topicPartition, { topicId, config: this.#config });
  }

  async restart(): Promise<void> {
    await this.world.run(this.manager.close());
    await this.start();
  }

  async crash(leaves: CrashLeaves): Promise<void> {
    await this.world.advance(0);
    this.machine = this.world.crash('broker', leaves);
    await this.start();
  }

  /** Appends as a producer does, and waits until it is written. */
  async append(values: readonly string[], options: RecordBatchOptions = {}, laterMs = 0): Promise<AppendInfo> {
    const info = this.log.appendAsLeader(batch(values, options, laterMs), { leaderEpoch: 0, origin: 'client' });
    await this.world.run(info.written);
    return info;
  }

  /** Appends within this turn. */
  stage(values: readonly string[], options: RecordBatchOptions = {}, leaderEpoch = 0): AppendInfo {
    return this.log.appendAsLeader(batch(values, options), { leaderEpoch, origin: 'client' });
  }

  /** The values from the offset to the written end, and the offsets at which they stand. */
  async values(fromOffset = this.log.logStartOffset): Promise<string[]> {
    const found: string[] = [];
    for (let offset = fromOffset; offset < this.log.writtenEndOffset; ) {
      const reading = Promise.resolve(this.log.read(offset, { maxBytes: 1000, isolation: 'logEnd', minOneBatch: true }));
      const { records } = await this.world.run(reading);
      const batches = [...iterateBatches(Buffer.concat(records))];
      if (batches.length === 0) break;
      for (const record of batches.flatMap((each) => [...each.records()])) {
        if (record.offset >= fromOffset) found.push(String(record.value));
      }
      offset = batches.at(-1)!.nextOffset;
    }
    return found;
  }

  files(): string[] {
    return this.machine.fileSystem.listSync(logFolder);
  }
}

/** Its first record has the time at which simulations begin, or a later one. */
export function batch(values: readonly string[], options: RecordBatchOptions = {}, laterMs = 0): Buffer {
  const records = values.map((value, index) => ({
    timestamp: Date.UTC(2025, 0, 1) + laterMs + index,
    key: Buffer.from('key'),
    value: Buffer.from(value),
  }));
  return buildRecordBatch(options, records);
}
