// A log that is written to all the time, and may be moved between directories while it is. For tests.

import { buildRecordBatch, iterateBatches, ProtocolError } from '@odradek/protocol';
import { SeededRandom } from '@odradek/runtime';
import { type CrashLeaves, type SimulatedMachine, SimulatedWorld } from '@odradek/testing';
import { defaultLogConfig, type LogConfig } from '../log/log-config.ts';
import type { PartitionLog } from '../log/partition-log.ts';
import { LogManager, type LogManagerOptions } from './log-manager.ts';

export const orders = { topic: 'orders', partition: 0 };
export const topicId = 'gDgJJoRPTB6EtlLf-p62NQ';

export class MovingLog {
  readonly world: SimulatedWorld;
  readonly random: SeededRandom;
  readonly config: LogConfig;
  machine: SimulatedMachine;
  manager!: LogManager;
  readonly #options: Partial<LogManagerOptions>;
  readonly #directories: readonly string[];
  leaderEpoch = 0;
  /** Values of which the writer was told that they are written, in their order. */
  readonly acknowledged: string[] = [];
  #written = 0;
  #isWriting = false;
  /** Counts what each acknowledgement waited for, in ms. */
  longestWaitMs = 0;

  constructor(options: {
    readonly seed?: number;
    readonly config?: Partial<LogConfig>;
    readonly manager?: Partial<LogManagerOptions>;
    readonly directories?: readonly string[];
  }) {
    this.random = new SeededRandom(options.seed ?? 1);
    this.world = new SimulatedWorld({ seed: options.seed ?? 1 });
    this.machine = this.world.machine('broker');
    this.config = { ...defaultLogConfig, segmentBytes: 400_000, fileDeleteDelayMs: 1000, ...options.config };
    this.#options = options.manager ?? {};
    this.#directories = options.directories ?? ['/one', '/two', '/three'];
  }

  async open(): Promise<this> {
    this.manager = LogManager.open({
      world: this.machine,
      directories: this.#directories,
      topicLogConfig: () => this.config,
      ...this.#options,
    });
    await this.world.run(this.manager.load());
    this.manager.getOrCreate(orders, { topicId, config: this.config });
    this.log.assignLeaderEpoch(this.leaderEpoch, this.log.logEndOffset);
    return this;
  }

  get log(): PartitionLog {
    const log = this.manager.get(orders);
    if (log === undefined) throw new Error('The log is not here');
    return log;
  }

  get place(): string {
    return this.manager.get(orders)?.directory.path ?? 'nowhere';
  }

  move(path: string): void {
    const directory = this.manager.directory(path);
    if (directory === undefined) throw new Error(`There is no ${path}`);
    this.manager.startMove(orders, directory);
  }

  /** Until the log lies there. */
  async moved(path: string, limitMs = 120_000): Promise<void> {
    await this.world.runUntil(() => this.place === path && this.manager.future(orders) === undefined, limitMs);
  }

  async fill(megabytes: number): Promise<void> {
    for (let count = 0; count < megabytes * 100; count++) {
      this.#append(10_000);
      if (count % 20 === 0) await this.world.advance(1);
    }
    await this.world.advance(50);
    this.log.updateHighWatermark(this.log.writtenEndOffset);
  }

  /** Begins to write, until `stopWriting` or a crash. */
  write(): void {
    this.#isWriting = true;
    const { timer } = this.machine;
    const next = (): void => {
      if (!this.#isWriting) return;
      this.#append(1 + this.random.nextInt(3000));
      if (this.random.nextInt(5) === 0) this.manager.get(orders)?.updateHighWatermark(this.acknowledged.length);
      timer.schedule(this.random.nextInt(8), next);
    };
    next();
  }

  async stopWriting(): Promise<void> {
    this.#isWriting = false;
    await this.world.advance(200);
  }

  #append(size: number): void {
    const value = `${this.#written} `.padEnd(size, 'x');
    const log = this.manager.get(orders);
    if (log === undefined) return;
    const startMs = this.machine.clock.monotonicMs();
    try {
      const records = [{ timestamp: this.machine.clock.wallTimeMs(), key: Buffer.from('k'), value: Buffer.from(value) }];
      const { written } = log.appendAsLeader(buildRecordBatch({}, records), { leaderEpoch: this.leaderEpoch, origin: 'client' });
      this.#written += 1;
      written.then(
        () => {
          this.acknowledged.push(value);
          this.longestWaitMs = Math.max(this.longestWaitMs, this.machine.clock.monotonicMs() - startMs);
        },
        () => undefined,
      );
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
    }
  }

  /**
   * The numbers of what was acknowledged and is not there. More may be there that nobody was told of; but all of it in the order in
   * which it was written, and once.
   */
  async missing(): Promise<number[]> {
    const found = await this.values();
    const numbers = found.map((value) => Number.parseInt(value, 10)).filter((number) => !Number.isNaN(number));
    const isAscending = numbers.every((number, index) => index === 0 || number > numbers[index - 1]!);
    if (!isAscending) throw new Error(`Out of order: ${numbers.join(' ')}`);
    const there = new Set(found);
    return this.acknowledged.filter((value) => !there.has(value)).map((value) => Number.parseInt(value, 10));
  }

  async values(log: PartitionLog = this.log): Promise<string[]> {
    const values: string[] = [];
    for (const batch of iterateBatches(await this.bytes(log))) {
      for (const record of batch.records()) values.push(String(record.value));
    }
    return values;
  }

  async bytes(log: PartitionLog = this.log): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for (let offset = log.logStartOffset; offset < log.writtenEndOffset; ) {
      const reading = Promise.resolve(log.read(offset, { maxBytes: 1_000_000, isolation: 'logEnd', minOneBatch: true }));
      const { records, release } = await this.world.run(reading);
      const piece = Buffer.concat(records);
      release?.();
      pieces.push(piece);
      offset = [...iterateBatches(piece)].at(-1)?.nextOffset ?? Number.MAX_SAFE_INTEGER;
    }
    return Buffer.concat(pieces);
  }

  folders(directory: string): string[] {
    return this.machine.fileSystem
      .listSync(directory)
      .filter((name) => name.startsWith('orders'))
      .map((name) => name.replace(/[0-9a-f]{32}/, 'hex'));
  }

  /** The broker comes back as the leader of the next epoch, and the move goes on. */
  async crash(leaves: CrashLeaves): Promise<void> {
    this.#isWriting = false;
    this.machine = this.world.crash('broker', leaves);
    this.leaderEpoch += 1;
    await this.open();
    this.manager.resumeMove(orders);
  }
}
