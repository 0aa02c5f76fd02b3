// A log driven at random on a simulated disk, beside a model that is too simple to be wrong: a list of batches.
//
// The model knows which batches the log must have (all up to `durableEnd` even after a power cut), and which it might: what was cut
// off or not forced to the device may come back after a crash, but only whole, in place, and without a gap.

import assert from 'node:assert/strict';
import {
  buildControlBatch,
  buildRecordBatch,
  type CompressionType,
  errorCodes,
  iterateBatches,
  ProtocolError,
  RecordBatch,
  readEndTransactionMarker,
} from '@odradek/protocol';
import { SeededRandom } from '@odradek/runtime';
import { type CrashLeaves, promisesSettled, type SimulatedMachine, SimulatedWorld } from '@odradek/testing';
import type { AppendInfo } from '../log/append-info.ts';
import { defaultLogConfig, type LogConfig } from '../log/log-config.ts';
import type { ReadOptions } from '../log/log-reads.ts';
import type { PartitionLog } from '../log/partition-log.ts';
import { LogManager } from './log-manager.ts';

interface ModelBatch {
  readonly bytes: Buffer;
  readonly baseOffset: number;
  readonly endOffset: number;
}

const topicPartition = { topic: 'history', partition: 0 };
const topicId = 'gDgJJoRPTB6EtlLf-p62NQ';
const producers = [7, 8, 9];

export class LogHistory {
  readonly #random: SeededRandom;
  readonly #world: SimulatedWorld;
  readonly #config: LogConfig;
  #machine: SimulatedMachine;
  #manager!: LogManager;
  #log!: PartitionLog;
  #batches: ModelBatch[] = [];
  /** Every batch that ever stood in the log, by what it is. */
  readonly #everWritten = new Set<string>();
  #startOffset = 0;
  #endOffset = 0;
  /** What is written, and so survives the end of the process. */
  #writtenEnd = 0;
  /** What a power cut leaves. */
  #durableEnd = 0;
  /** The log was begun anew, and the one before may come back. */
  #isStartUnforced = false;
  #epoch = 0;
  /** Records before this were deleted once, and what was known of them is forgotten, even if a crash has brought them back. */
  #knownFrom = 0;
  /** Appends of this turn: what became of them is known after it. */
  #unsettled: { readonly endOffset: number; readonly info: AppendInfo }[] = [];
  readonly steps: string[] = [];

  constructor(seed: number) {
    this.#random = new SeededRandom(seed);
    this.#world = new SimulatedWorld({ seed });
    this.#machine = this.#world.machine('broker');
    this.#config = {
      ...defaultLogConfig,
      segmentBytes: this.#oneOf([1600, 3000, 20_000]),
      indexIntervalBytes: this.#oneOf([0, 100, 4096]),
      segmentIndexBytes: this.#oneOf([40, 1000]),
      flushMessages: this.#oneOf([1, 5, Number.MAX_SAFE_INTEGER]),
      fileDeleteDelayMs: this.#oneOf([0, 1000]),
      messageTimestampType: this.#oneOf(['CreateTime', 'CreateTime', 'LogAppendTime']),
      producerIdExpirationMs: Number.MAX_SAFE_INTEGER,
    };
  }

  async play(stepCount: number): Promise<void> {
    await this.#start();
    for (let step = 0; step < stepCount; step++) {
      await this.#step();
      this.#check();
    }
    await this.#turn();
    await this.#readAll();
    await this.#restart();
    await this.#readAll();
    await this.#world.run(this.#manager.close());
  }

  async #step(): Promise<void> {
    const steps: readonly (readonly [number, string, () => void | Promise<void>])[] = [
      [40, 'append', () => this.#append()],
      [6, 'append as follower', () => this.#appendAsFollower()],
      [15, 'turn', () => this.#turn()],
      [15, 'read', () => this.#read()],
      [4, 'find a timestamp', () => this.#findTimestamp()],
      [5, 'move the high watermark', () => this.#moveHighWatermark()],
      [3, 'flush', () => this.#flush()],
      [2, 'checkpoint', () => this.#checkpoint()],
      [2, 'roll', () => this.#roll()],
      [3, 'truncate', () => this.#truncate()],
      [1, 'truncate fully', () => this.#truncateFully()],
      [2, 'delete records', () => this.#deleteRecords()],
      [2, 'next leader epoch', () => this.#nextEpoch()],
      [3, 'fill the disk', () => this.#fillDisk()],
      [2, 'restart', () => this.#restart()],
      [4, 'crash', () => this.#crash()],
    ];
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
    const batches = this.#batches.map(({ baseOffset, endOffset }) => `${baseOffset}-${endOffset}`);
    return [...this.#world.logText, `segments ${segments.join(' ')}`, `batches ${batches.join(' ')}`].join('\n');
  }

  #note(text: string): void {
    this.steps.push(`${this.steps.pop()?.split(': ')[0]}: ${text}`);
  }

  async #start(): Promise<void> {
    this.#manager = LogManager.open({
      world: this.#machine,
      directories: ['/data'],
      topicLogConfig: () => this.#config,
      tailCacheBytes: this.#oneOf([0, 500, 100_000]),
      maxOpenFiles: this.#oneOf([1, 2, 100]),
    });
    await this.#world.run(this.#manager.load());
    this.steps.push(`  open: ${JSON.stringify(this.#manager.startReport)}`);
    this.#log = this.#manager.getOrCreate(topicPartition, { topicId, config: this.#config });
  }

  // What is appended

  #append(): void {
    const batch = this.#random.nextInt(3) === 0 ? this.#plainBatch() : this.#producerBatch();
    const isMarker = batch.isControl;
    try {
      const info = this.#log.appendAsLeader(batch.bytes(), {
        leaderEpoch: this.#epoch,
        origin: isMarker ? 'coordinator' : 'client',
      });
      if (info.isDuplicate) {
        this.#checkDuplicate(batch, info);
        return;
      }
      this.#keep(Buffer.from(batch.bytes()));
      assert.equal(info.firstOffset, this.#batches.at(-1)!.baseOffset);
      assert.equal(info.lastOffset, this.#endOffset - 1);
      this.#unsettled.push({ endOffset: this.#endOffset, info });
    } catch (error) {
      this.#mustBeFull(error);
    }
  }

  /**
   * A crash that brings deleted records back brings back producers too that the log had forgotten, and that have begun at 0 again
   * since. What they send next may then repeat one of the old batches.
   */
  #checkDuplicate(batch: RecordBatch, info: AppendInfo): void {
    const known = this.#batches.find(({ baseOffset }) => baseOffset === info.firstOffset);
    assert.ok(known !== undefined && this.#knownFrom > 0, `${info.firstOffset} is no duplicate`);
    const { producerId, producerEpoch, baseSequence, lastSequence } = new RecordBatch(known.bytes, 0);
    assert.deepEqual(
      [producerId, producerEpoch, baseSequence, lastSequence],
      [batch.producerId, batch.producerEpoch, batch.baseSequence, batch.lastSequence],
    );
  }

  #plainBatch(): RecordBatch {
    return this.#batch({});
  }

  /** The next of a producer: records in or outside of a transaction, a marker, or its last batch again. */
  #producerBatch(): RecordBatch {
    const producerId = this.#oneOf(producers);
    // Whether the log is right about its producers is checked elsewhere.
    const known = this.#log.activeProducers().find((each) => each.producerId === producerId);
    const producerEpoch = known?.producerEpoch ?? 0;
    const isOpen = known !== undefined && known.currentTxnStartOffset >= 0;
    if (isOpen && this.#random.nextInt(3) === 0) {
      return new RecordBatch(
        buildControlBatch({
          type: this.#oneOf(['commit', 'abort']),
          producerId,
          producerEpoch,
          coordinatorEpoch: 0,
          timestamp: this.#machine.clock.wallTimeMs(),
        }),
        0,
      );
    }
    const lastSequence = known?.lastSequence ?? -1;
    const isNewEpoch = !isOpen && this.#random.nextInt(5) === 0;
    return this.#batch({
      producerId,
      producerEpoch: isNewEpoch ? producerEpoch + 1 : producerEpoch,
      baseSequence: isNewEpoch || lastSequence < 0 ? 0 : lastSequence + 1,
      isTransactional: isOpen || this.#random.nextInt(3) === 0,
    });
  }

  #batch(options: Parameters<typeof buildRecordBatch>[0]): RecordBatch {
    const nowMs = this.#machine.clock.wallTimeMs();
    const compression: CompressionType = this.#oneOf(['none', 'none', 'gzip', 'snappy', 'lz4', 'zstd']);
    const records = Array.from({ length: 1 + this.#random.nextInt(4) }, () => ({
      timestamp: nowMs - this.#random.nextInt(1000),
      key: Buffer.from('key'),
      value: this.#random.bytes(this.#oneOf([1, 50, 300])),
    }));
    return new RecordBatch(buildRecordBatch({ ...options, compression }, records), 0);
  }

  /** What a leader would send: several batches with their offsets, perhaps with a gap as compaction leaves it. */
  #appendAsFollower(): void {
    let offset = this.#log.logEndOffset + (this.#random.nextInt(4) === 0 ? this.#random.nextInt(5) : 0);
    const batches: RecordBatch[] = [];
    for (let count = 1 + this.#random.nextInt(3); count > 0; count--) {
      const batch = this.#plainBatch();
      batch.setBaseOffset(offset);
      batch.setPartitionLeaderEpoch(this.#epoch);
      offset = batch.nextOffset;
      batches.push(batch);
    }
    try {
      const info = this.#log.appendAsFollower(Buffer.concat(batches.map((batch) => batch.bytes())));
      for (const batch of batches) this.#keep(Buffer.from(batch.bytes()));
      this.#unsettled.push({ endOffset: this.#endOffset, info });
    } catch (error) {
      // The first of them may have been appended.
      for (const batch of batches) if (batch.nextOffset <= this.#log.logEndOffset) this.#keep(Buffer.from(batch.bytes()));
      this.#mustBeFull(error);
    }
  }

  /** The log has stamped the bytes that it was given. */
  #keep(bytes: Buffer): void {
    const batch = new RecordBatch(bytes, 0);
    this.#batches.push({ bytes, baseOffset: batch.baseOffset, endOffset: batch.nextOffset });
    this.#everWritten.add(bytes.toString('latin1'));
    this.#endOffset = batch.nextOffset;
  }

  #mustBeFull(error: unknown): void {
    assert.ok(error instanceof ProtocolError && error.code === errorCodes.KAFKA_STORAGE_ERROR, String(error));
    assert.ok(this.#isDiskFull, `only a full disk may refuse: ${error.message}`);
    this.#note('refused');
    this.#goBackTo(this.#log.logEndOffset);
  }

  // What happens to it

  /** This turn ends: what was appended is written, or is not. */
  async #turn(): Promise<void> {
    const unsettled = this.#unsettled;
    this.#unsettled = [];
    for (const { endOffset, info } of unsettled) {
      try {
        await this.#world.run(info.written);
        this.#writtenEnd = Math.max(this.#writtenEnd, endOffset);
        if (this.#config.flushMessages === 1) this.#durableEnd = Math.max(this.#durableEnd, endOffset);
      } catch (error) {
        this.#mustBeFull(error);
      }
    }
    await this.#world.advance(this.#random.nextInt(20));
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
    await this.#turn();
    try {
      await this.#world.run(this.#log.flush());
      this.#durableEnd = this.#endOffset;
      this.#isStartUnforced = false;
    } catch (error) {
      this.#mustBeFull(error);
    }
  }

  async #checkpoint(): Promise<void> {
    await this.#turn();
    const isFull = this.#isDiskFull;
    await this.#world.run(this.#manager.checkpoint()).catch((error: unknown) => assert.ok(isFull, String(error)));
  }

  async #roll(): Promise<void> {
    await this.#turn();
    try {
      this.#log.roll();
    } catch (error) {
      this.#mustBeFull(error);
    }
  }

  #moveHighWatermark(): void {
    const wanted = this.#random.nextInt(this.#endOffset + 2);
    const reached = this.#log.updateHighWatermark(wanted);
    assert.equal(reached, Math.min(Math.max(wanted, this.#startOffset), this.#log.writtenEndOffset));
  }

  async #truncate(): Promise<void> {
    await this.#turn();
    const offset = this.#startOffset + this.#random.nextInt(this.#endOffset - this.#startOffset + 1);
    const kept = this.#batches.filter(({ endOffset }) => endOffset <= offset);
    this.#note(`to ${offset}`);
    this.#log.truncateTo(offset);
    const { logEndOffset } = this.#log;
    assert.ok((kept.at(-1)?.endOffset ?? 0) <= logEndOffset && logEndOffset <= offset, `log end ${logEndOffset}`);
    this.#goBackTo(logEndOffset);
    if (this.#endOffset < this.#startOffset) this.#isStartUnforced = true;
    this.#startOffset = Math.min(this.#startOffset, this.#endOffset);
  }

  async #truncateFully(): Promise<void> {
    await this.#turn();
    const offset = this.#random.nextInt(this.#endOffset + 20);
    this.#note(`to ${offset}`);
    try {
      this.#log.truncateFullyAndStartAt(offset);
    } catch (error) {
      // The file that says where the log begins did not fit; in memory it does.
      assert.ok(this.#isDiskFull, String(error));
    }
    this.#goBackTo(0);
    this.#isStartUnforced = true;
    this.#startOffset = this.#log.logStartOffset;
    this.#endOffset = offset;
    this.#writtenEnd = offset;
    await this.#turn();
  }

  #goBackTo(offset: number): void {
    this.#batches = this.#batches.filter(({ endOffset }) => endOffset <= offset);
    this.#unsettled = [];
    this.#endOffset = offset;
    this.#writtenEnd = Math.min(this.#writtenEnd, offset);
    this.#durableEnd = Math.min(this.#durableEnd, offset);
  }

  async #deleteRecords(): Promise<void> {
    await this.#turn();
    this.#log.updateHighWatermark(this.#endOffset);
    const offset = this.#startOffset + this.#random.nextInt(this.#endOffset - this.#startOffset + 1);
    this.#note(`before ${offset}`);
    this.#log.deleteRecordsBefore(offset);
    this.#startOffset = offset;
    this.#knownFrom = Math.max(this.#knownFrom, offset);
    assert.throws(() => this.#log.deleteRecordsBefore(this.#endOffset + 1), { code: errorCodes.OFFSET_OUT_OF_RANGE });
  }

  async #nextEpoch(): Promise<void> {
    await this.#turn();
    this.#epoch += 1 + this.#random.nextInt(2);
    this.#log.assignLeaderEpoch(this.#epoch, this.#log.logEndOffset);
  }

  /** Stops in order: nothing is lost and nothing is scanned. */
  async #restart(): Promise<void> {
    await this.#turn();
    this.#machine.fileSystem.capacityBytes = Number.MAX_SAFE_INTEGER;
    await this.#world.run(this.#manager.close());
    // All of it is on the device.
    this.#machine = this.#world.crash('broker', this.#oneOf(['nothing', 'something', 'everything']));
    await this.#start();
    const { isClean, scannedSegments } = this.#manager.startReport;
    assert.deepEqual({ isClean, scannedSegments }, { isClean: true, scannedSegments: 0 });
    assert.equal(this.#log.logStartOffset, this.#startOffset, 'log start offset');
    const { logEndOffset } = this.#log;
    assert.ok(this.#endOfRecords(this.#endOffset) <= logEndOffset && logEndOffset <= this.#endOffset, `log end ${logEndOffset}`);
    this.#endOffset = logEndOffset;
    this.#durableEnd = this.#endOffset;
    this.#writtenEnd = this.#endOffset;
    this.#isStartUnforced = false;
  }

  /** Where a gap at the end of a log begins is in no file. */
  #endOfRecords(endOffset: number): number {
    return this.#batches.findLast((batch) => batch.endOffset <= endOffset)?.endOffset ?? 0;
  }

  async #crash(): Promise<void> {
    // Whatever is under way stops at its next call to the disk.
    await promisesSettled();
    const leaves: CrashLeaves = this.#oneOf(['nothing', 'something', 'everything']);
    this.#note(
      `${leaves}, recovery point ${this.#log.recoveryPoint}, durable ${this.#durableEnd}, written ${this.#log.writtenEndOffset}`,
    );
    const kept = leaves === 'everything' ? this.#log.writtenEndOffset : Math.max(this.#durableEnd, this.#log.recoveryPoint);
    const mustHave = this.#endOfRecords(kept);
    this.#unsettled = [];
    this.#machine.fileSystem.capacityBytes = Number.MAX_SAFE_INTEGER;
    this.#machine = this.#world.crash('broker', leaves);
    await this.#start();
    const log = this.#log;
    const found = await this.#contents();
    const mayStart = log.logStartOffset <= this.#startOffset || found.length === 0 || this.#isStartUnforced;
    assert.ok(mayStart, `the log starts at ${log.logStartOffset}`);
    assert.ok(log.logEndOffset >= mustHave, `the log ends at ${log.logEndOffset}, but ${mustHave} was on the device`);
    if (leaves === 'everything' && !this.#isStartUnforced)
      assert.ok(log.logEndOffset <= kept, `the log ends at ${log.logEndOffset}, but was written to ${kept}`);
    const current = new Set(this.#batches.map(({ bytes }) => bytes.toString('latin1')));
    for (const { bytes, endOffset } of found) {
      const all = endOffset <= mustHave && endOffset > this.#startOffset ? current : this.#everWritten;
      assert.ok(all.has(bytes.toString('latin1')), `the batch that ends at ${endOffset} is none that was there`);
    }
    this.#startOffset = log.logStartOffset;
    const before = this.#batches.filter(({ endOffset }) => endOffset <= log.logStartOffset);
    this.#batches = [...before, ...found];
    this.#endOffset = log.logEndOffset;
    this.#writtenEnd = this.#endOffset;
    // What was there before the crash and has not been forced since may yet go with the next.
    this.#durableEnd = Math.min(this.#durableEnd, this.#endOffset);
  }

  // What must hold

  #check(): void {
    const log = this.#log;
    assert.equal(log.logStartOffset, this.#startOffset, 'log start offset');
    assert.equal(log.logEndOffset, this.#endOffset, 'log end offset');
    assert.ok(log.logStartOffset <= log.lastStableOffset, 'log start <= last stable');
    assert.ok(log.lastStableOffset <= log.highWatermark, 'last stable <= high watermark');
    assert.ok(log.highWatermark <= log.writtenEndOffset, 'high watermark <= written end');
    assert.ok(log.recoveryPoint <= log.writtenEndOffset, 'recovery point <= written end');
    assert.ok(log.directory.isOnline, 'the directory is online');
    this.#checkProducers();
    this.#checkEpochs();
  }

  /** Independent of how the log does it: from the batches as they stand. */
  #producersIn(batches: readonly ModelBatch[]): Map<number, { producerEpoch: number; lastSequence: number; firstOffset: number }> {
    const found = new Map<number, { producerEpoch: number; lastSequence: number; firstOffset: number }>();
    for (const { bytes } of batches) {
      const batch = new RecordBatch(bytes, 0);
      const { producerId, producerEpoch, lastSequence } = batch;
      if (producerId < 0) continue;
      const before = found.get(producerId);
      const isSameEpoch = before?.producerEpoch === producerEpoch;
      if (batch.isControl) {
        found.set(producerId, { producerEpoch, lastSequence: isSameEpoch ? before.lastSequence : -1, firstOffset: -1 });
        continue;
      }
      const firstOffset = before !== undefined && before.firstOffset >= 0 ? before.firstOffset : -1;
      const opened = firstOffset < 0 && batch.isTransactional ? batch.baseOffset : firstOffset;
      found.set(producerId, { producerEpoch, lastSequence, firstOffset: opened });
    }
    return found;
  }

  #checkProducers(): void {
    const actual = new Map(this.#log.activeProducers().map((producer) => [producer.producerId, producer]));
    // Producers whose records have all been deleted may be forgotten, even if a crash has brought the records back.
    const from = Math.max(this.#startOffset, this.#knownFrom);
    const present = this.#producersIn(this.#batches.filter(({ endOffset }) => endOffset > from));
    for (const [producerId, { producerEpoch, lastSequence }] of this.#producersIn(this.#batches)) {
      if ((present.get(producerId)?.lastSequence ?? -1) < 0) continue;
      const known = actual.get(producerId);
      assert.equal(known?.producerEpoch, producerEpoch, `epoch of producer ${producerId}`);
      assert.equal(known?.lastSequence, lastSequence, `last sequence of producer ${producerId}`);
    }
  }

  #checkEpochs(): void {
    const from = Math.max(this.#startOffset, this.#knownFrom);
    const epochs = this.#batches
      .filter(({ endOffset }) => endOffset > from)
      .map(({ bytes, baseOffset }) => ({ epoch: new RecordBatch(bytes, 0).partitionLeaderEpoch, baseOffset }));
    for (const { epoch, baseOffset } of epochs) {
      assert.equal(this.#log.epochForOffset(Math.max(baseOffset, from)), epoch, `epoch at ${baseOffset}`);
    }
  }

  async #read(): Promise<void> {
    await this.#turn();
    const offset = this.#startOffset + this.#random.nextInt(this.#endOffset - this.#startOffset + 2);
    const options: ReadOptions = {
      maxBytes: this.#oneOf([0, 1, 200, 1000, 100_000]),
      isolation: this.#oneOf(['logEnd', 'highWatermark', 'lastStable']),
      minOneBatch: this.#random.nextInt(2) === 0,
    };
    await this.#readAt(offset, options);
  }

  async #readAt(offset: number, options: ReadOptions): Promise<void> {
    const log = this.#log;
    if (offset > this.#endOffset) {
      assert.throws(() => log.read(offset, options), { code: errorCodes.OFFSET_OUT_OF_RANGE });
      return;
    }
    const bound = { logEnd: log.writtenEndOffset, highWatermark: log.highWatermark, lastStable: log.lastStableOffset };
    const endOffset = bound[options.isolation];
    const reading = Promise.resolve(log.read(offset, options));
    this.#note(`at ${offset} ${JSON.stringify(options)}`);
    const { records, sizeBytes, abortedTransactions, release } = await this.#world.run(reading);
    const found = Buffer.concat(records);
    release?.();
    assert.equal(found.length, sizeBytes, 'size of what was read');
    const expected: ModelBatch[] = [];
    let size = 0;
    for (const batch of this.#batches.filter(({ endOffset: end }) => end > offset)) {
      const isForced = options.minOneBatch && expected.length === 0;
      if (offset >= endOffset || batch.endOffset > endOffset || (size + batch.bytes.length > options.maxBytes && !isForced)) break;
      expected.push(batch);
      size += batch.bytes.length;
    }
    const what = `read at ${offset} below ${endOffset}`;
    const offsets = [...iterateBatches(found)].map((batch) => [batch.baseOffset, batch.nextOffset]);
    // A read may end with a segment, and before it has all that it may have when it had to skip much; but it gets on.
    const { segments } = log;
    const next = expected[offsets.length];
    const last = expected[offsets.length - 1];
    const isTight = options.maxBytes <= 1000;
    const mayEnd = next !== undefined && last !== undefined;
    if (mayEnd && (isTight || segments.floorIndex(next.baseOffset) > segments.floorIndex(last.baseOffset))) {
      expected.length = offsets.length;
    }
    assert.deepEqual(
      offsets,
      expected.map((batch) => [batch.baseOffset, batch.endOffset]),
      what,
    );
    assert.ok(found.equals(Buffer.concat(expected.map(({ bytes }) => bytes))), what);
    if (options.isolation === 'lastStable') this.#checkAborted(abortedTransactions ?? [], offset, expected.at(-1)?.endOffset ?? -1);
  }

  #checkAborted(actual: readonly { producerId: number; firstOffset: number }[], from: number, endOffset: number): void {
    const expected: { producerId: number; firstOffset: number; lastOffset: number }[] = [];
    const open = new Map<number, number>();
    for (const { bytes, baseOffset } of this.#batches) {
      const batch = new RecordBatch(bytes, 0);
      const { producerId } = batch;
      if (!batch.isTransactional) continue;
      const firstOffset = open.get(producerId);
      if (!batch.isControl) {
        if (firstOffset === undefined) open.set(producerId, baseOffset);
        continue;
      }
      open.delete(producerId);
      const isAborted = readEndTransactionMarker([...batch.records()][0]!)?.type === 'abort';
      if (!isAborted || firstOffset === undefined || baseOffset < from || firstOffset >= endOffset) continue;
      expected.push({ producerId, firstOffset, lastOffset: baseOffset });
    }
    // Of a transaction that began before the log's start the log may know the beginning, or not any more.
    const isCut = (producerId: number, offset: number): boolean =>
      expected.some(
        (each) =>
          each.producerId === producerId &&
          each.firstOffset < this.#startOffset &&
          each.firstOffset <= offset &&
          offset <= each.lastOffset,
      );
    const whole = (transactions: typeof actual): typeof actual =>
      transactions
        .filter(({ producerId, firstOffset }) => !isCut(producerId, firstOffset))
        .map(({ producerId, firstOffset }) => ({ producerId, firstOffset }))
        .sort((a, b) => a.firstOffset - b.firstOffset);
    assert.deepEqual(whole(actual), whole(expected), 'aborted transactions');
  }

  async #readAll(): Promise<void> {
    for (const maxBytes of [1, 100_000]) {
      for (let offset = this.#startOffset; offset < this.#endOffset; offset++) {
        await this.#readAt(offset, { maxBytes, isolation: 'logEnd', minOneBatch: true });
      }
    }
  }

  /** What is in the log now, whatever the model says. */
  async #contents(): Promise<ModelBatch[]> {
    const found: ModelBatch[] = [];
    for (let offset = this.#log.logStartOffset; offset < this.#log.logEndOffset; ) {
      const read = Promise.resolve(this.#log.read(offset, { maxBytes: 2000, isolation: 'logEnd', minOneBatch: true }));
      const batches = (await this.#world.run(read)).records.flatMap((bytes) => [...iterateBatches(Buffer.from(bytes))]);
      if (batches.length === 0) break;
      for (const batch of batches) {
        batch.ensureValid();
        found.push({ bytes: batch.bytes(), baseOffset: batch.baseOffset, endOffset: batch.nextOffset });
      }
      offset = batches.at(-1)!.nextOffset;
    }
    return found;
  }

  async #findTimestamp(): Promise<void> {
    await this.#turn();
    const records = this.#batches.flatMap(({ bytes }) =>
      [...new RecordBatch(bytes, 0).records()].filter(({ offset }) => offset >= this.#startOffset),
    );
    const timestamp = (records.at(this.#random.nextInt(records.length + 1))?.timestamp ?? 0) + this.#random.nextInt(3) - 1;
    const first = records.find((record) => record.timestamp >= timestamp);
    assert.equal(this.#log.offsetForTimestamp(timestamp)?.offset, first?.offset, `offset for ${timestamp}`);
  }

  #oneOf<const T>(values: readonly T[]): T {
    return values[this.#random.nextInt(values.length)]!;
  }
}
