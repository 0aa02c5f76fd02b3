// A log driven at random on a simulated disk, beside its model: appends of all kinds, truncations, deletions, reopenings, full
// disks, and crashes between any two changes of the disk.

import assert from 'node:assert/strict';
import { errorCodes, ProtocolError, type RecordBatch, zeroUuid } from '@odradek/protocol';
import { SeededRandom } from '@odradek/runtime';
import { type CrashLeaves, promisesSettled, type SimulatedMachine, SimulatedWorld } from '@odradek/testing';
import type { AppendInfo } from '../log/append-info.ts';
import { type AppendOrigin, validateForAppend } from '../log/append-validator.ts';
import { defaultLogConfig, type LogConfig } from '../log/log-config.ts';
import type { PartitionLog } from '../log/partition-log.ts';
import { LogManager } from '../manager/log-manager.ts';
import { BatchMaker } from './batch-maker.fixture.ts';
import { checkCrashedDisk, checkStoppedDisk } from './disk-checks.fixture.ts';
import { FailingDisk } from './failing-disk.fixture.ts';
import { checkLog, checkRead, contentsOf } from './log-checks.fixture.ts';
import { batchOf, LogModel, type ModelBatch } from './log-model.fixture.ts';

const topicPartition = { topic: 'history', partition: 0 };
const topicIds = ['gDgJJoRPTB6EtlLf-p62NQ', 'AAAAAAAAAAAAAAAAAAAAAQ', 'AAAAAAAAAAAAAAAAAAAAAg', 'AAAAAAAAAAAAAAAAAAAAAw'];
const crashes: readonly CrashLeaves[] = ['nothing', 'something', 'something', 'everything'];

type Step = readonly [weight: number, name: string, run: () => void | Promise<void>];

export class LogHistory {
  readonly #random: SeededRandom;
  readonly #world: SimulatedWorld;
  readonly #config: LogConfig;
  readonly #maker: BatchMaker;
  readonly #model = new LogModel();
  #machine: SimulatedMachine;
  #disk!: FailingDisk;
  #manager!: LogManager;
  #log!: PartitionLog;
  #topicId: string = topicIds[0]!;
  /** Appends of this turn: what became of them is known after it. */
  #unsettled: { readonly endOffset: number; readonly info: AppendInfo }[] = [];
  readonly steps: string[] = [];

  constructor(seed: number) {
    this.#random = new SeededRandom(seed);
    this.#world = new SimulatedWorld({ seed });
    this.#machine = this.#world.machine('broker');
    this.#maker = new BatchMaker(this.#random, () => this.#machine.clock.wallTimeMs());
    this.#config = {
      ...defaultLogConfig,
      segmentBytes: this.#oneOf([1600, 3000, 20_000]),
      indexIntervalBytes: this.#oneOf([0, 100, 4096]),
      segmentIndexBytes: this.#oneOf([40, 1000]),
      flushMessages: this.#oneOf([1, 5, Number.MAX_SAFE_INTEGER]),
      fileDeleteDelayMs: this.#oneOf([0, 1000]),
      messageTimestampType: this.#oneOf(['CreateTime', 'CreateTime', 'LogAppendTime']),
      compressionType: this.#oneOf(['producer', 'producer', 'producer', 'none', 'lz4']),
      producerIdExpirationMs: Number.MAX_SAFE_INTEGER,
      // Drawn apart, so that the other seeds still play what they did before there was such a thing.
      preallocate: new SeededRandom(seed + 0x5eed).nextInt(4) === 0,
    };
  }

  async play(stepCount: number): Promise<void> {
    await this.#start();
    for (let step = 0; step < stepCount; step++) {
      await this.#step(this.#steps());
      checkLog(this.#log, this.#model);
    }
    await this.#turn();
    await this.#readAll();
    await this.#restart();
    await this.#readAll();
    await this.#world.run(this.#manager.close());
  }

  #steps(): readonly Step[] {
    return [
      ...this.#changes(),
      [15, 'read', () => this.#read()],
      [4, 'find a timestamp', () => this.#findTimestamp()],
      [3, 'fill the disk', () => this.#fillDisk()],
      [2, 'restart', () => this.#restart()],
      [4, 'crash', () => this.#crash()],
      [4, 'fail in the middle', () => this.#failInTheMiddle()],
      [1, 'delete the topic', () => this.#deleteTopic()],
    ];
  }

  /** After which the disk is another, perhaps. */
  #changes(): readonly Step[] {
    return [
      [40, 'append', () => this.#append()],
      [3, 'append in an old format', () => this.#appendLegacy()],
      [4, 'repeat an append', () => this.#repeat()],
      [2, 'append what is refused', () => this.#appendOutOfOrder()],
      [6, 'append as follower', () => this.#appendAsFollower()],
      [15, 'turn', () => this.#turn()],
      [5, 'move the high watermark', () => this.#moveHighWatermark()],
      [3, 'flush', () => this.#flush()],
      [2, 'checkpoint', () => this.#checkpoint()],
      [2, 'roll', () => this.#roll()],
      [3, 'truncate', () => this.#truncate()],
      [1, 'truncate fully', () => this.#truncateFully()],
      [2, 'delete records', () => this.#deleteRecords()],
      [2, 'delete old segments', () => this.#deleteOldSegments()],
      [2, 'next leader epoch', () => this.#nextEpoch()],
    ];
  }

  async #step(steps: readonly Step[]): Promise<void> {
    let draw = this.#random.nextInt(steps.reduce((sum, [weight]) => sum + weight, 0));
    for (const [weight, name, run] of steps) {
      draw -= weight;
      if (draw >= 0) continue;
      this.steps.push(name);
      await run();
      return;
    }
  }

  get logText(): string {
    const segments = this.#log.segments.all().map((s) => `${s.baseOffset}:${s.writtenBytes}`);
    const batches = this.#model.batches.map(({ baseOffset, endOffset }) => `${baseOffset}-${endOffset}`);
    return [...this.#world.logText, `segments ${segments.join(' ')}`, `batches ${batches.join(' ')}`].join('\n');
  }

  #note(text: string): void {
    this.steps.push(`${this.steps.pop()?.split(': ')[0]}: ${text}`);
  }

  async #start(): Promise<void> {
    this.#disk = new FailingDisk(this.#machine.fileSystem);
    this.#manager = LogManager.open({
      world: { ...this.#machine, fileSystem: this.#disk.fileSystem },
      directories: ['/data'],
      topicLogConfig: () => this.#config,
      tailCacheBytes: this.#oneOf([0, 500, 100_000]),
      maxOpenFiles: this.#oneOf([1, 2, 100]),
    });
    await this.#world.run(this.#manager.load());
    this.steps.push(`  open: ${JSON.stringify(this.#manager.startReport)}`);
    const found = this.#manager.get(topicPartition);
    if (found !== undefined && found.topicId !== zeroUuid && found.topicId !== this.#topicId) {
      assert.fail(`a crash has brought back the topic ${found.topicId}`);
    }
    this.#log = this.#manager.getOrCreate(topicPartition, { topicId: this.#topicId, config: this.#config });
  }

  readonly #run = <T>(promise: Promise<T>): Promise<T> => this.#world.run(promise);

  // What is appended

  #append(): void {
    const batch = this.#random.nextInt(3) === 0 ? this.#maker.plain() : this.#maker.ofProducer(this.#log.activeProducers());
    this.#appendAsLeader(batch.bytes(), batch.isControl ? 'coordinator' : 'client', batch);
  }

  #appendLegacy(): void {
    this.#appendAsLeader(Buffer.concat(this.#maker.legacy().map((batch) => batch.bytes())), 'client', undefined);
  }

  #appendAsLeader(sent: Buffer, origin: AppendOrigin, batch: RecordBatch | undefined): void {
    const stamped = validateForAppend(Buffer.from(sent), {
      config: this.#config,
      origin,
      nextOffset: this.#model.endOffset,
      leaderEpoch: this.#model.epoch,
      nowMs: this.#machine.clock.wallTimeMs(),
    })!.batch.bytes();
    try {
      const info = this.#log.appendAsLeader(Buffer.from(sent), { leaderEpoch: this.#model.epoch, origin });
      if (info.isDuplicate && batch !== undefined) {
        this.#checkForgotten(batch, info);
        return;
      }
      const kept = this.#model.keep(stamped, origin === 'client' && batch !== undefined ? sent : undefined);
      assert.equal(info.firstOffset, kept.baseOffset);
      assert.equal(info.lastOffset, kept.endOffset - 1);
      this.#await(info, kept.endOffset);
    } catch (error) {
      this.#mustBeFull(error);
    }
  }

  /**
   * A crash that brings deleted records back brings back producers too that the log had forgotten, and that have begun at 0 again
   * since. What they send next may then repeat one of the old batches, or lie before all that the log remembers.
   */
  #checkForgotten(batch: RecordBatch, info: AppendInfo): void {
    assert.ok(this.#model.knownFrom > 0, `${info.firstOffset} is no duplicate`);
    if (info.firstOffset >= 0) this.#checkDuplicate(batch, info);
    else this.#await(info, info.lastOffset + 1);
  }

  #checkDuplicate(sent: RecordBatch, info: AppendInfo): void {
    const known = this.#model.batches.find(({ baseOffset }) => baseOffset === info.firstOffset);
    assert.ok(known !== undefined, `${info.firstOffset} is no duplicate`);
    const { producerId, producerEpoch, baseSequence, lastSequence } = batchOf(known.bytes);
    assert.deepEqual(
      [producerId, producerEpoch, baseSequence, lastSequence],
      [sent.producerId, sent.producerEpoch, sent.baseSequence, sent.lastSequence],
    );
    assert.equal(info.lastOffset, known.endOffset - 1);
    this.#await(info, known.endOffset);
  }

  /** A producer that has heard nothing sends its last batch again. */
  #repeat(): void {
    const known = this.#oneOfProducers();
    const last = known === undefined ? undefined : this.#model.lastOf(known.producerId);
    if (known === undefined || last?.sent === undefined) return;
    const batch = batchOf(last.sent) as RecordBatch;
    // What the log has forgotten it takes for something new, or for something lost.
    if (batch.lastSequence !== known.lastSequence || batch.producerEpoch !== known.producerEpoch) return;
    try {
      const info = this.#log.appendAsLeader(Buffer.from(last.sent), { leaderEpoch: this.#model.epoch, origin: 'client' });
      assert.ok(info.isDuplicate, `${last.baseOffset} was appended again`);
      this.#checkDuplicate(batch, info);
    } catch (error) {
      this.#mustBeFull(error);
    }
  }

  #appendOutOfOrder(): void {
    const known = this.#oneOfProducers();
    if (known === undefined || known.lastSequence < 0) return;
    const { producerId, producerEpoch, currentTxnStartOffset } = known;
    const isTransactional = currentTxnStartOffset >= 0;
    const append = (options: { producerEpoch: number; baseSequence: number }): void => {
      const batch = this.#maker.plain({ producerId, isTransactional, ...options });
      const info = this.#log.appendAsLeader(batch.bytes(), { leaderEpoch: this.#model.epoch, origin: 'client' });
      this.#checkForgotten(batch, info);
    };
    if (this.#isDiskFull || this.#disk.hasFailed) return;
    const code = errorCodes.OUT_OF_ORDER_SEQUENCE_NUMBER;
    try {
      append({ producerEpoch, baseSequence: known.lastSequence + 3 });
    } catch (error) {
      assert.equal((error as { code?: unknown }).code, code);
    }
    assert.throws(() => append({ producerEpoch: producerEpoch + 1, baseSequence: 7 }), { code });
    if (producerEpoch === 0) return;
    assert.throws(() => append({ producerEpoch: producerEpoch - 1, baseSequence: 0 }), { code: errorCodes.INVALID_PRODUCER_EPOCH });
  }

  #oneOfProducers() {
    const producers = this.#log.activeProducers();
    return producers[this.#random.nextInt(Math.max(1, producers.length))];
  }

  /** What a leader would send: several batches with their offsets and epochs, perhaps with a gap as compaction leaves it. */
  #appendAsFollower(): void {
    const model = this.#model;
    let offset = this.#log.logEndOffset + (this.#random.nextInt(4) === 0 ? this.#random.nextInt(5) : 0);
    const batches: Buffer[] = [];
    if (this.#random.nextInt(6) === 0) {
      batches.push(...this.#maker.legacy(offset).map((batch) => batch.bytes()));
      offset = batchOf(batches.at(-1)!).nextOffset;
    }
    for (let count = 1 + this.#random.nextInt(3); count > 0; count--) {
      const isOfProducer = count === 1 && this.#random.nextInt(2) === 0;
      const batch = isOfProducer ? this.#maker.ofProducer(this.#log.activeProducers()) : this.#maker.plain();
      if (this.#random.nextInt(5) === 0) model.epoch += 1;
      batch.setBaseOffset(offset);
      batch.setPartitionLeaderEpoch(model.epoch);
      offset = batch.nextOffset;
      batches.push(batch.bytes());
    }
    try {
      const info = this.#log.appendAsFollower(Buffer.concat(batches));
      for (const batch of batches) model.keep(Buffer.from(batch));
      this.#await(info, model.endOffset);
    } catch (error) {
      for (const batch of batches) model.mayBeWritten(batch);
      // The first of them may have been appended.
      for (const batch of batches) if (batchOf(batch).nextOffset <= this.#log.logEndOffset) model.keep(Buffer.from(batch));
      this.#mustBeFull(error);
    }
  }

  #await(info: AppendInfo, endOffset: number): void {
    // It may fail before its turn is looked at.
    info.written.catch(() => undefined);
    this.#unsettled.push({ endOffset, info });
  }

  #mustBeFull(error: unknown): void {
    assert.ok(error instanceof ProtocolError && error.code === errorCodes.KAFKA_STORAGE_ERROR, String(error));
    if (this.#disk.hasFailed) return;
    assert.ok(this.#isDiskFull, `only a full disk may refuse: ${error.message}`);
    this.#note('refused');
    this.#unsettled = [];
    this.#model.goBackTo(this.#log.logEndOffset);
    this.#model.areEndsKnown = false;
  }

  // What happens to it

  /** This turn ends: what was appended is written, or is not. */
  async #turn(): Promise<void> {
    const unsettled = this.#unsettled;
    this.#unsettled = [];
    for (const { endOffset, info } of unsettled) {
      try {
        await this.#world.run(info.written);
        this.#model.written(endOffset);
        if (this.#config.flushMessages === 1) this.#model.forced(endOffset);
      } catch (error) {
        this.#mustBeFull(error);
      }
    }
    await this.#world.advance(this.#random.nextInt(20));
  }

  /** False: the disk has failed, and the log is offline. */
  async #settle(): Promise<boolean> {
    await this.#turn();
    return !this.#disk.hasFailed;
  }

  get #isDiskFull(): boolean {
    return this.#machine.fileSystem.capacityBytes < Number.MAX_SAFE_INTEGER;
  }

  async #fillDisk(): Promise<void> {
    const { fileSystem } = this.#machine;
    if (this.#isDiskFull) {
      await this.#turn();
      fileSystem.capacityBytes = Number.MAX_SAFE_INTEGER;
      this.#note('there is room again');
    } else fileSystem.capacityBytes = fileSystem.usedBytes + this.#random.nextInt(1500);
  }

  async #flush(): Promise<void> {
    if (!(await this.#settle())) return;
    try {
      await this.#run(this.#log.flush());
      this.#model.allForced();
    } catch (error) {
      this.#mustBeFull(error);
    }
  }

  async #checkpoint(): Promise<void> {
    if (!(await this.#settle())) return;
    const model = this.#model;
    const { startOffset } = model;
    const { highWatermark } = this.#log;
    try {
      await this.#world.run(this.#manager.checkpoint());
      if (this.#disk.hasFailed) return;
      model.highWatermarks = [highWatermark];
      if (!model.isStartUnforced) model.durableStart = Math.max(model.durableStart, startOffset);
    } catch (error) {
      assert.ok(this.#isDiskFull || this.#disk.hasFailed, String(error));
    }
  }

  async #roll(): Promise<void> {
    if (!(await this.#settle())) return;
    this.#mayFail(() => this.#log.roll());
  }

  #mayFail(action: () => void): boolean {
    try {
      action();
      return true;
    } catch (error) {
      this.#mustBeFull(error);
      return false;
    }
  }

  /** It rises mostly. */
  #moveHighWatermark(): void {
    const before = this.#log.highWatermark;
    const least = this.#random.nextInt(4) === 0 ? 0 : before;
    const wanted = least + this.#random.nextInt(Math.max(1, this.#model.endOffset + 2 - least));
    this.#raiseTo(wanted);
    assert.equal(this.#log.highWatermark, Math.min(Math.max(wanted, this.#model.startOffset), this.#log.writtenEndOffset));
    if (this.#log.highWatermark < before) this.#model.areEndsKnown = false;
  }

  #raiseTo(offset: number): void {
    const reached = this.#log.updateHighWatermark(offset);
    this.#model.highWatermarks.push(reached);
    if (reached === this.#model.endOffset) this.#model.areEndsKnown = true;
  }

  async #truncate(): Promise<void> {
    if (!(await this.#settle())) return;
    const model = this.#model;
    const { startOffset, endOffset } = model;
    const offset = startOffset + this.#random.nextInt(endOffset - startOffset + 1);
    const kept = model.batches.filter((batch) => batch.endOffset <= offset);
    this.#note(`to ${offset}`);
    model.mayGoBackTo(model.endOfRecords(offset));
    // All of it goes then.
    if (offset <= this.#log.segments.first.baseOffset && offset < endOffset) model.isStartUnforced = true;
    if (!this.#mayFail(() => this.#log.truncateTo(offset))) return;
    const { logEndOffset } = this.#log;
    assert.ok((kept.at(-1)?.endOffset ?? 0) <= logEndOffset && logEndOffset <= offset, `log end ${logEndOffset}`);
    model.goBackTo(logEndOffset);
    model.areEndsKnown = false;
    model.highWatermarks.push(this.#log.highWatermark);
  }

  async #truncateFully(): Promise<void> {
    if (!(await this.#settle())) return;
    const offset = this.#random.nextInt(this.#model.endOffset + 20);
    this.#note(`to ${offset}`);
    this.#model.mayGoBackTo(0);
    this.#model.isStartUnforced = true;
    try {
      this.#log.truncateFullyAndStartAt(offset);
    } catch (error) {
      // The file that says where the log begins did not fit; in memory it does.
      assert.ok(this.#isDiskFull || this.#disk.hasFailed, String(error));
    }
    if (this.#disk.hasFailed) return;
    this.#model.beginAt(offset);
    this.#model.areEndsKnown = false;
    this.#model.highWatermarks.push(offset);
    await this.#turn();
  }

  async #deleteRecords(): Promise<void> {
    if (!(await this.#settle())) return;
    const model = this.#model;
    this.#raiseTo(model.endOffset);
    const offset = model.startOffset + this.#random.nextInt(model.endOffset - model.startOffset + 1);
    this.#note(`before ${offset}`);
    model.deleteBefore(offset);
    if (!this.#mayFail(() => this.#log.deleteRecordsBefore(offset))) return;
    assert.throws(() => this.#log.deleteRecordsBefore(model.endOffset + 1), { code: errorCodes.OFFSET_OUT_OF_RANGE });
  }

  /** As retention does. */
  async #deleteOldSegments(): Promise<void> {
    if (!(await this.#settle())) return;
    const { segments, highWatermark } = this.#log;
    const ends = segments.all().flatMap((_, index) => segments.at(index + 1)?.baseOffset ?? []);
    const wanted = this.#random.nextInt(segments.count + 1);
    const expected = ends.slice(0, wanted).filter((offset) => offset <= highWatermark);
    this.#note(`up to ${expected.at(-1)}`);
    this.#model.deleteBefore(expected.at(-1) ?? 0);
    let left = wanted;
    this.#mayFail(() =>
      assert.equal(
        this.#log.deleteOldSegments(() => left-- > 0),
        expected.length,
      ),
    );
  }

  async #nextEpoch(): Promise<void> {
    if (!(await this.#settle())) return;
    this.#model.epoch += 1 + this.#random.nextInt(2);
    this.#log.assignLeaderEpoch(this.#model.epoch, this.#log.logEndOffset);
  }

  async #deleteTopic(): Promise<void> {
    await this.#turn();
    this.#manager.delete(topicPartition);
    this.#topicId = topicIds[(topicIds.indexOf(this.#topicId) + 1) % topicIds.length]!;
    this.#model.beginAgain();
    try {
      this.#log = this.#manager.getOrCreate(topicPartition, { topicId: this.#topicId, config: this.#config });
    } catch (error) {
      assert.ok(this.#isDiskFull, String(error));
      this.#note('the file with its id does not fit');
      this.#machine.fileSystem.capacityBytes = Number.MAX_SAFE_INTEGER;
      this.#log = this.#manager.getOrCreate(topicPartition, { topicId: this.#topicId, config: this.#config });
    }
  }

  /** Stops in order: nothing is lost and nothing is scanned. */
  async #restart(): Promise<void> {
    await this.#turn();
    const model = this.#model;
    const { highWatermark } = this.#log;
    this.#machine.fileSystem.capacityBytes = Number.MAX_SAFE_INTEGER;
    await this.#world.run(this.#manager.close());
    checkStoppedDisk(this.#machine.fileSystem, '/data');
    // All of it is on the device.
    this.#machine = this.#world.crash('broker', this.#oneOf(crashes));
    await this.#start();
    const { isClean, scannedSegments } = this.#manager.startReport;
    assert.deepEqual({ isClean, scannedSegments }, { isClean: true, scannedSegments: 0 });
    assert.equal(this.#log.logStartOffset, model.startOffset, 'log start offset');
    const { logEndOffset } = this.#log;
    assert.ok(model.endOfRecords(model.endOffset) <= logEndOffset && logEndOffset <= model.endOffset, `log end ${logEndOffset}`);
    assert.equal(this.#log.highWatermark, Math.min(highWatermark, logEndOffset), 'high watermark');
    model.endOffset = logEndOffset;
    model.allForced();
    model.durableStart = model.startOffset;
    model.highWatermarks = [highWatermark];
    model.areEndsKnown = false;
  }

  /** The disk fails at some moment soon, perhaps between two renames, and then the machine crashes. */
  async #failInTheMiddle(): Promise<void> {
    await this.#turn();
    this.#disk.failAfter(1 + this.#random.nextInt(25));
    for (let count = 0; count < 12 && !this.#disk.hasFailed; count++) {
      await this.#step(this.#changes());
      if (!this.#disk.hasFailed) checkLog(this.#log, this.#model);
    }
    this.steps.push('crash');
    await this.#crash();
  }

  async #crash(): Promise<void> {
    // Whatever is under way stops at its next call to the disk.
    await promisesSettled();
    const model = this.#model;
    const leaves = this.#oneOf(crashes);
    const { durableEnd, writtenEnd } = model;
    const { recoveryPoint, writtenEndOffset } = this.#log;
    this.#note(`${leaves}, recovery point ${recoveryPoint}, durable ${durableEnd}, written ${writtenEndOffset}`);
    // In the middle of a change the log itself is not to be believed.
    const forced = this.#disk.hasFailed ? durableEnd : Math.max(durableEnd, recoveryPoint);
    const written = this.#disk.hasFailed ? writtenEnd : writtenEndOffset;
    const kept = leaves === 'everything' ? written : forced;
    const isExact = leaves === 'everything' && !model.isStartUnforced && !this.#disk.hasFailed;
    this.#unsettled = [];
    this.#machine.fileSystem.capacityBytes = Number.MAX_SAFE_INTEGER;
    this.#machine.fileSystem.faults.clear();
    this.#machine = this.#world.crash('broker', leaves);
    checkCrashedDisk(this.#machine.fileSystem, '/data');
    await this.#start();
    this.#checkFound(await contentsOf(this.#log, this.#run), model.endOfRecords(kept), isExact ? kept : Number.MAX_SAFE_INTEGER);
  }

  /** `mustHave` is what the log must reach to, and `mayHave` what it may. */
  #checkFound(found: readonly ModelBatch[], mustHave: number, mayHave: number): void {
    const log = this.#log;
    const model = this.#model;
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

  // What is read

  async #read(): Promise<void> {
    await this.#turn();
    const { startOffset, endOffset } = this.#model;
    const offset = startOffset + this.#random.nextInt(endOffset - startOffset + 2);
    const options = {
      maxBytes: this.#oneOf([0, 1, 200, 1000, 100_000]),
      isolation: this.#oneOf(['logEnd', 'highWatermark', 'lastStable'] as const),
      minOneBatch: this.#random.nextInt(2) === 0,
    };
    this.#note(`at ${offset} ${JSON.stringify(options)}`);
    await checkRead({ log: this.#log, model: this.#model, offset, options }, this.#run);
  }

  async #readAll(): Promise<void> {
    const { startOffset, endOffset } = this.#model;
    for (const maxBytes of [1, 100_000]) {
      const options = { maxBytes, isolation: 'logEnd', minOneBatch: true } as const;
      for (let offset = startOffset; offset < endOffset; offset++)
        await checkRead({ log: this.#log, model: this.#model, offset, options }, this.#run);
    }
  }

  async #findTimestamp(): Promise<void> {
    await this.#turn();
    const records = this.#model.records();
    const timestamp = (records.at(this.#random.nextInt(records.length + 1))?.timestamp ?? 0) + this.#random.nextInt(3) - 1;
    const first = records.find((record) => record.timestamp >= timestamp);
    assert.equal(this.#log.offsetForTimestamp(timestamp)?.offset, first?.offset, `offset for ${timestamp}`);
    // Records before the log start count as long as their segment is there.
    const largest = records.reduce((max, record) => Math.max(max, record.timestamp), -1);
    const found = this.#log.offsetOfMaxTimestamp();
    const expected = records.find((record) => record.timestamp === largest);
    if (found === undefined || found.offset >= this.#model.startOffset) {
      assert.equal(found?.offset, largest < 0 ? undefined : expected?.offset, `offset of the largest timestamp ${largest}`);
    } else assert.ok(found.timestamp >= largest, `the largest timestamp ${largest}`);
  }

  #oneOf<const T>(values: readonly T[]): T {
    return values[this.#random.nextInt(values.length)]!;
  }
}
