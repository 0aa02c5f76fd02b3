// A log on a simulated disk that may be full, fail and crash, and beside it the model of what it must be.

import assert from 'node:assert/strict';
import { errorCodes, ProtocolError, zeroUuid } from '@odradek/protocol';
import { SeededRandom } from '@odradek/runtime';
import { type CrashLeaves, promisesSettled, type SimulatedMachine, SimulatedWorld } from '@odradek/testing';
import type { AppendInfo } from '../log/append-info.ts';
import { defaultLogConfig, type LogConfig } from '../log/log-config.ts';
import type { PartitionLog } from '../log/partition-log.ts';
import { LogManager } from '../manager/log-manager.ts';
import { checkCrashedDisk, checkStoppedDisk } from './disk-checks.fixture.ts';
import { FailingDisk } from './failing-disk.fixture.ts';
import { contentsOf } from './log-checks.fixture.ts';
import { LogModel, type ModelBatch } from './log-model.fixture.ts';

const topicPartition = { topic: 'history', partition: 0 };
const topicIds = ['gDgJJoRPTB6EtlLf-p62NQ', 'AAAAAAAAAAAAAAAAAAAAAQ', 'AAAAAAAAAAAAAAAAAAAAAg', 'AAAAAAAAAAAAAAAAAAAAAw'];
const crashes: readonly CrashLeaves[] = ['nothing', 'something', 'something', 'everything'];

export class LogOnDisk {
  readonly random: SeededRandom;
  readonly world: SimulatedWorld;
  readonly config: LogConfig;
  readonly model = new LogModel();
  machine: SimulatedMachine;
  disk!: FailingDisk;
  manager!: LogManager;
  log!: PartitionLog;
  #topicId: string = topicIds[0]!;
  /** Appends of this turn: what became of them is known after it. */
  #unsettled: { readonly endOffset: number; readonly info: AppendInfo }[] = [];
  /** What was done, for who reads how it came to a failure. */
  readonly steps: string[] = [];

  constructor(seed: number) {
    this.random = new SeededRandom(seed);
    this.world = new SimulatedWorld({ seed });
    this.machine = this.world.machine('broker');
    this.config = {
      ...defaultLogConfig,
      segmentBytes: this.oneOf([1600, 3000, 20_000]),
      indexIntervalBytes: this.oneOf([0, 100, 4096]),
      segmentIndexBytes: this.oneOf([40, 1000]),
      flushMessages: this.oneOf([1, 5, Number.MAX_SAFE_INTEGER]),
      fileDeleteDelayMs: this.oneOf([0, 1000]),
      messageTimestampType: this.oneOf(['CreateTime', 'CreateTime', 'LogAppendTime']),
      compressionType: this.oneOf(['producer', 'producer', 'producer', 'none', 'lz4']),
      producerIdExpirationMs: Number.MAX_SAFE_INTEGER,
      // Drawn apart, so that the other seeds still play what they did before there was such a thing.
      preallocate: new SeededRandom(seed + 0x5eed).nextInt(4) === 0,
    };
  }

  /** Opens what is on the disk. */
  async start(): Promise<void> {
    this.disk = new FailingDisk(this.machine.fileSystem);
    this.manager = LogManager.open({
      world: { ...this.machine, fileSystem: this.disk.fileSystem },
      directories: ['/data'],
      topicLogConfig: () => this.config,
      tailCacheBytes: this.oneOf([0, 500, 100_000]),
      maxOpenFiles: this.oneOf([1, 2, 100]),
    });
    await this.world.run(this.manager.load());
    this.steps.push(`  open: ${JSON.stringify(this.manager.startReport)}`);
    const found = this.manager.get(topicPartition);
    if (found !== undefined && found.topicId !== zeroUuid && found.topicId !== this.#topicId) {
      assert.fail(`a crash has brought back the topic ${found.topicId}`);
    }
    this.log = this.manager.getOrCreate(topicPartition, { topicId: this.#topicId, config: this.config });
  }

  get logText(): string {
    const segments = this.log.segments.all().map((s) => `${s.baseOffset}:${s.writtenBytes}`);
    const batches = this.model.batches.map(({ baseOffset, endOffset }) => `${baseOffset}-${endOffset}`);
    return [...this.world.logText, `segments ${segments.join(' ')}`, `batches ${batches.join(' ')}`].join('\n');
  }

  readonly run = <T>(promise: Promise<T>): Promise<T> => this.world.run(promise);

  /** More about the latest step. */
  note(text: string): void {
    this.steps.push(`${this.steps.pop()?.split(': ')[0]}: ${text}`);
  }

  oneOf<const T>(values: readonly T[]): T {
    return values[this.random.nextInt(values.length)]!;
  }

  // What is written, or is not

  /** What became of the append is looked at when the turn ends. */
  settleLater(info: AppendInfo, endOffset: number): void {
    // It may fail before its turn is looked at.
    info.written.catch(() => undefined);
    this.#unsettled.push({ endOffset, info });
  }

  /** This turn ends: what was appended is written, or is not. */
  async turn(): Promise<void> {
    const unsettled = this.#unsettled;
    this.#unsettled = [];
    for (const { endOffset, info } of unsettled) {
      try {
        await this.world.run(info.written);
        this.model.written(endOffset);
        if (this.config.flushMessages === 1) this.model.forced(endOffset);
      } catch (error) {
        this.mustBeFull(error);
      }
    }
    await this.world.advance(this.random.nextInt(20));
  }

  /** False: the disk has failed, and the log is offline. */
  async settle(): Promise<boolean> {
    await this.turn();
    return !this.disk.hasFailed;
  }

  get isDiskFull(): boolean {
    return this.machine.fileSystem.capacityBytes < Number.MAX_SAFE_INTEGER;
  }

  /** The disk is what has refused; the model goes back to what the log still has. */
  mustBeFull(error: unknown): void {
    assert.ok(error instanceof ProtocolError && error.code === errorCodes.KAFKA_STORAGE_ERROR, String(error));
    if (this.disk.hasFailed) return;
    assert.ok(this.isDiskFull, `only a full disk may refuse: ${error.message}`);
    this.note('refused');
    this.#unsettled = [];
    this.model.goBackTo(this.log.logEndOffset);
    this.model.areEndsKnown = false;
  }

  /** Whether it did not; only the disk may have been in the way. */
  mayFail(action: () => void): boolean {
    try {
      action();
      return true;
    } catch (error) {
      this.mustBeFull(error);
      return false;
    }
  }

  raiseHighWatermark(offset: number): void {
    const reached = this.log.updateHighWatermark(offset);
    this.model.highWatermarks.push(reached);
    if (reached === this.model.endOffset) this.model.areEndsKnown = true;
  }

  // What becomes of it as a whole

  async deleteTopic(): Promise<void> {
    await this.turn();
    this.manager.delete(topicPartition);
    this.#topicId = topicIds[(topicIds.indexOf(this.#topicId) + 1) % topicIds.length]!;
    this.model.beginAgain();
    try {
      this.log = this.manager.getOrCreate(topicPartition, { topicId: this.#topicId, config: this.config });
    } catch (error) {
      assert.ok(this.isDiskFull, String(error));
      this.note('the file with its id does not fit');
      this.machine.fileSystem.capacityBytes = Number.MAX_SAFE_INTEGER;
      this.log = this.manager.getOrCreate(topicPartition, { topicId: this.#topicId, config: this.config });
    }
  }

  /** Stops in order: nothing is lost and nothing is scanned. */
  async restart(): Promise<void> {
    await this.turn();
    const model = this.model;
    const { highWatermark } = this.log;
    this.machine.fileSystem.capacityBytes = Number.MAX_SAFE_INTEGER;
    await this.world.run(this.manager.close());
    checkStoppedDisk(this.machine.fileSystem, '/data');
    // All of it is on the device.
    this.machine = this.world.crash('broker', this.oneOf(crashes));
    await this.start();
    const { isClean, scannedSegments } = this.manager.startReport;
    assert.deepEqual({ isClean, scannedSegments }, { isClean: true, scannedSegments: 0 });
    assert.equal(this.log.logStartOffset, model.startOffset, 'log start offset');
    const { logEndOffset } = this.log;
    assert.ok(model.endOfRecords(model.endOffset) <= logEndOffset && logEndOffset <= model.endOffset, `log end ${logEndOffset}`);
    assert.equal(this.log.highWatermark, Math.min(highWatermark, logEndOffset), 'high watermark');
    model.endOffset = logEndOffset;
    model.allForced();
    model.durableStart = model.startOffset;
    model.highWatermarks = [highWatermark];
    model.areEndsKnown = false;
  }

  /** The machine fails: what was not forced to the device may be lost. */
  async crash(): Promise<void> {
    // Whatever is under way stops at its next call to the disk.
    await promisesSettled();
    const model = this.model;
    const leaves = this.oneOf(crashes);
    const { durableEnd, writtenEnd } = model;
    const { recoveryPoint, writtenEndOffset } = this.log;
    this.note(`${leaves}, recovery point ${recoveryPoint}, durable ${durableEnd}, written ${writtenEndOffset}`);
    // In the middle of a change the log itself is not to be believed.
    const forced = this.disk.hasFailed ? durableEnd : Math.max(durableEnd, recoveryPoint);
    const written = this.disk.hasFailed ? writtenEnd : writtenEndOffset;
    const kept = leaves === 'everything' ? written : forced;
    const isExact = leaves === 'everything' && !model.isStartUnforced && !this.disk.hasFailed;
    this.#unsettled = [];
    this.machine.fileSystem.capacityBytes = Number.MAX_SAFE_INTEGER;
    this.machine.fileSystem.faults.clear();
    this.machine = this.world.crash('broker', leaves);
    checkCrashedDisk(this.machine.fileSystem, '/data');
    await this.start();
    this.#checkFound(await contentsOf(this.log, this.run), model.endOfRecords(kept), isExact ? kept : Number.MAX_SAFE_INTEGER);
  }

  /** `mustHave` is what the log must reach to, and `mayHave` what it may. */
  #checkFound(found: readonly ModelBatch[], mustHave: number, mayHave: number): void {
    const log = this.log;
    const model = this.model;
    const { logStartOffset, logEndOffset, highWatermark } = log;
    const mayStart = logStartOffset <= model.startOffset || found.length === 0 || model.isStartUnforced;
    assert.ok(mayStart, `the log starts at ${logStartOffset}, not at ${model.startOffset}`);
    assert.ok(logStartOffset >= model.durableStart, `the log starts at ${logStartOffset}, before ${model.durableStart}`);
    assert.ok(logEndOffset >= mustHave, `the log ends at ${logEndOffset}, but ${mustHave} was there`);
    assert.ok(logEndOffset <= mayHave, `the log ends at ${logEndOffset}, but was written to ${mayHave}`);
    const bounded = (offset: number): number => Math.min(Math.max(offset, logStartOffset), logEndOffset);
    const mayHaveMark = model.highWatermarks.some((each) => bounded(each) === highWatermark);
    assert.ok(mayHaveMark, `the high watermark is ${highWatermark}, none of ${model.highWatermarks.join(' ')}`);
    const current = new Set(model.batches.map(({ bytes }) => bytes.toString('latin1')));
    for (const { bytes, endOffset } of found) {
      const mustBeCurrent = endOffset <= mustHave && endOffset > model.startOffset;
      const isKnown = mustBeCurrent ? current.has(bytes.toString('latin1')) : model.wasEverWritten(bytes);
      assert.ok(isKnown, `the batch that ends at ${endOffset} is none that was there`);
    }
    model.found(found, logStartOffset, logEndOffset);
    model.highWatermarks.push(highWatermark);
  }
}
