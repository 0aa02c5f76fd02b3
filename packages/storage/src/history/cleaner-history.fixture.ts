// A compacted log that is written, cleaned, cut off and crashed at random on a simulated disk, beside a list of all that was ever
// written to it. The list says what must be in the log still, and what must not be any more:
//
//   every record in the log was written at that offset as it is, and no committed reader sees one of an aborted transaction
//   of each key the last committed record is there; a tombstone at least for `delete.retention.ms`
//   below the cleaned offset there is nothing else: no earlier record of a key, nothing of an aborted transaction
//   the producers' last sequences and epochs can be found in the log alone

import assert from 'node:assert/strict';
import { type Batch, buildControlBatch, buildRecordBatch, type CompressionType, iterateBatches } from '@odradek/protocol';
import { SeededRandom } from '@odradek/runtime';
import { promisesSettled, type SimulatedMachine, SimulatedWorld } from '@odradek/testing';
import { type CleanerSettings, defaultCleanerSettings } from '../cleaner/cleaner-schedule.ts';
import { defaultLogConfig, type LogConfig } from '../log/log-config.ts';
import type { PartitionLog } from '../log/partition-log.ts';
import { LogManager } from '../manager/log-manager.ts';
import { checkCrashedDisk, checkStoppedDisk } from './disk-checks.fixture.ts';
import { FailingDisk } from './failing-disk.fixture.ts';

interface Written {
  readonly offset: number;
  readonly key: string;
  readonly value: string | null;
  readonly timestamp: number;
  readonly writtenMs: number;
  readonly producerId: number;
  readonly isTransactional: boolean;
  readonly sequence: number;
}

interface Marker {
  readonly offset: number;
  readonly producerId: number;
  readonly isCommit: boolean;
}

const topicPartition = { topic: 'compacted', partition: 0 };
const topicId = 'gDgJJoRPTB6EtlLf-p62NQ';
const path = '/data/compacted-0';
const producers = [7, 8, 9];

export class CleanerHistory {
  readonly #random: SeededRandom;
  readonly #world: SimulatedWorld;
  readonly #config: LogConfig;
  readonly #settings: CleanerSettings;
  #machine: SimulatedMachine;
  #disk!: FailingDisk;
  #manager!: LogManager;
  #log!: PartitionLog;
  #written: Written[] = [];
  #markers: Marker[] = [];
  /** The furthest that the log ever began at. A crash may bring records before it back, but not what was known of their producers. */
  #furthestStart = 0;
  /** The highest high watermark that ever was: a crash makes the log forget some of it, but not the other replicas. */
  #replicatedEnd = 0;
  /** What no crash takes away. */
  #durableEnd = 0;
  readonly steps: string[] = [];

  constructor(seed: number) {
    this.#random = new SeededRandom(seed);
    this.#world = new SimulatedWorld({ seed });
    this.#machine = this.#world.machine('broker');
    this.#config = {
      ...defaultLogConfig,
      cleanupPolicy: ['compact'],
      segmentBytes: this.#oneOf([700, 1500, 6000]),
      indexIntervalBytes: this.#oneOf([0, 200, 4096]),
      segmentIndexBytes: this.#oneOf([60, 1000]),
      fileDeleteDelayMs: this.#oneOf([0, 1000]),
      deleteRetentionMs: this.#oneOf([0, 2000, 60_000]),
      minCompactionLagMs: this.#oneOf([0, 0, 3000]),
      minCleanableDirtyRatio: this.#oneOf([0.01, 0.3]),
      messageTimestampType: this.#oneOf(['CreateTime', 'CreateTime', 'LogAppendTime']),
      producerIdExpirationMs: Number.MAX_SAFE_INTEGER,
      maxCompactionLagMs: this.#oneOf([Number.MAX_SAFE_INTEGER, 5000]),
    };
    this.#settings = {
      ...defaultCleanerSettings,
      threads: this.#oneOf([1, 2]),
      backoffMs: 1000,
      // From three keys at a time to all of them.
      dedupeBufferBytes: this.#oneOf([24 * 7, 24 * 40, 1_000_000]),
      ioBufferBytes: this.#oneOf([200, 100_000]),
      ioMaxBytesPerSecond: this.#oneOf([Number.MAX_VALUE, 20_000]),
    };
  }

  async play(stepCount: number): Promise<void> {
    await this.#start();
    for (let step = 0; step < stepCount; step++) {
      await this.#step();
      if (this.steps.at(-1) !== 'append') await this.#check();
    }
    await this.#flush();
    this.#replicateUpTo(this.#log.logEndOffset);
    await this.#world.advance(20_000);
    await this.#check();
    const before = this.#producerText();
    await this.#world.run(this.#manager.close());
    await this.#start();
    assert.equal(this.#producerText(), before);
    await this.#check();
    await this.#world.run(this.#manager.close());
  }

  async #step(): Promise<void> {
    const steps: readonly (readonly [number, string, () => void | Promise<void>])[] = [
      [50, 'append', () => this.#append()],
      [15, 'turn', () => this.#turn()],
      [8, 'pass time', () => this.#world.advance(this.#random.nextInt(3000))],
      [4, 'clean', () => this.#world.advance(4000)],
      [6, 'move the high watermark', () => this.#moveHighWatermark()],
      [3, 'roll', () => this.#log.roll()],
      [3, 'flush', () => this.#flush()],
      [2, 'truncate', () => this.#truncate()],
      [2, 'delete records', () => this.#deleteRecords()],
      [1, 'restart', () => this.#restart()],
      [3, 'crash', () => this.#crash()],
      [4, 'fail in the middle', () => this.#failInTheMiddle()],
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

  get text(): string {
    const segments = this.#log.segments.all().map(({ baseOffset, writtenBytes }) => `${baseOffset}:${writtenBytes}`);
    const { cleanedOffset, highWatermark, logEndOffset, lastStableOffset } = this.#log;
    const offsets = JSON.stringify({ cleanedOffset, highWatermark, logEndOffset, lastStableOffset });
    return [...this.#world.logText, segments.join(' '), offsets].join('\n');
  }

  async #start(): Promise<void> {
    this.#disk = new FailingDisk(this.#machine.fileSystem);
    this.#manager = LogManager.open({
      world: { ...this.#machine, fileSystem: this.#disk.fileSystem },
      directories: ['/data'],
      topicLogConfig: () => this.#config,
      tailCacheBytes: 0,
      maxOpenFiles: this.#oneOf([2, 100]),
      cleaner: { settings: this.#settings, runIn: 'turns' },
    });
    await this.#world.run(this.#manager.load());
    this.#log = this.#manager.getOrCreate(topicPartition, { topicId, config: this.#config });
  }

  // What is written

  #append(): void {
    const producerId = this.#oneOf([-1, ...producers]);
    const known = this.#log.activeProducers().find((each) => each.producerId === producerId);
    const isOpen = (known?.currentTxnStartOffset ?? -1) >= 0;
    if (isOpen && this.#random.nextInt(3) === 0) this.#appendMarker(producerId, known?.producerEpoch ?? 0);
    else this.#appendRecords(producerId, known, isOpen);
  }

  #appendRecords(
    producerId: number,
    known: { readonly producerEpoch: number; readonly lastSequence: number } | undefined,
    isOpen: boolean,
  ): void {
    const nowMs = this.#machine.clock.wallTimeMs();
    const isTransactional = producerId >= 0 && (isOpen || this.#random.nextInt(2) === 0);
    const records = Array.from({ length: 1 + this.#random.nextInt(4) }, () => ({
      timestamp: nowMs - this.#random.nextInt(1000),
      key: Buffer.from(`k${this.#random.nextInt(12)}`),
      value: this.#random.nextInt(4) === 0 ? null : Buffer.from(`v${this.#written.length} ${'.'.repeat(this.#random.nextInt(60))}`),
    }));
    const compression: CompressionType = this.#oneOf(['none', 'none', 'gzip', 'snappy', 'lz4', 'zstd']);
    const baseSequence = producerId < 0 ? -1 : (known?.lastSequence ?? -1) + 1;
    const bytes = buildRecordBatch(
      {
        compression,
        isTransactional,
        producerId,
        producerEpoch: producerId < 0 ? -1 : (known?.producerEpoch ?? 0),
        baseSequence,
      },
      records,
    );
    const info = this.#log.appendAsLeader(bytes, { leaderEpoch: 0, origin: 'client' });
    for (const [index, { key, value, timestamp }] of records.entries()) {
      this.#written.push({
        offset: info.firstOffset + index,
        key: String(key),
        value: value === null ? null : String(value),
        timestamp: info.logAppendTime >= 0 ? info.logAppendTime : timestamp,
        writtenMs: nowMs,
        producerId,
        isTransactional,
        sequence: baseSequence + index,
      });
    }
  }

  #appendMarker(producerId: number, producerEpoch: number): void {
    const isCommit = this.#random.nextInt(2) === 0;
    const timestamp = this.#machine.clock.wallTimeMs();
    const bytes = buildControlBatch({
      type: isCommit ? 'commit' : 'abort',
      producerId,
      producerEpoch,
      coordinatorEpoch: 0,
      timestamp,
    });
    const { firstOffset } = this.#log.appendAsLeader(bytes, { leaderEpoch: 0, origin: 'coordinator' });
    this.#markers.push({ offset: firstOffset, producerId, isCommit });
  }

  // What happens to it

  /** The cleaner does a piece of its work in every turn. */
  async #turn(): Promise<void> {
    for (let count = 1 + this.#random.nextInt(4); count > 0; count--) {
      await promisesSettled();
      await this.#world.advance(1);
    }
  }

  /** What is below it is never lost, as though it were replicated: the cleaner relies on the ends of transactions. */
  async #moveHighWatermark(): Promise<void> {
    if (this.#random.nextInt(3) > 0) await this.#flush();
    const { highWatermark } = this.#log;
    this.#replicateUpTo(highWatermark + this.#random.nextInt(Math.max(0, this.#durableEnd - highWatermark) + 1));
  }

  #replicateUpTo(offset: number): void {
    this.#replicatedEnd = Math.max(this.#replicatedEnd, this.#log.updateHighWatermark(offset));
  }

  async #flush(): Promise<void> {
    this.#log.writeStaged();
    const endOffset = this.#log.logEndOffset;
    await this.#world.run(this.#log.flush());
    this.#durableEnd = Math.max(this.#durableEnd, Math.min(endOffset, this.#log.logEndOffset));
  }

  /** As a follower does, never below the high watermark. Forced to the device, since what was cut off may otherwise come back. */
  async #truncate(): Promise<void> {
    this.#log.writeStaged();
    const { logEndOffset } = this.#log;
    this.#log.truncateTo(this.#replicatedEnd + this.#random.nextInt(logEndOffset - this.#replicatedEnd + 1));
    this.#endsNow();
    await this.#flush();
  }

  #endsNow(): void {
    const { logEndOffset } = this.#log;
    this.#durableEnd = Math.min(this.#durableEnd, logEndOffset);
    this.#written = this.#written.filter(({ offset }) => offset < logEndOffset);
    this.#markers = this.#markers.filter(({ offset }) => offset < logEndOffset);
  }

  #deleteRecords(): void {
    const { logStartOffset, highWatermark } = this.#log;
    if (this.#random.nextInt(3) > 0) return;
    const offset = logStartOffset + Math.floor(this.#random.nextInt(highWatermark - logStartOffset + 1) / 3);
    this.#log.deleteRecordsBefore(offset);
    this.#furthestStart = Math.max(this.#furthestStart, offset);
  }

  async #restart(): Promise<void> {
    this.#log.writeStaged();
    const before = this.#producerText();
    await this.#world.run(this.#manager.close());
    checkStoppedDisk(this.#machine.fileSystem, '/data');
    await this.#start();
    assert.equal(this.#producerText(), before);
    this.#durableEnd = this.#log.logEndOffset;
  }

  /** The disk fails at some moment soon, perhaps between two renames, and then the machine crashes. */
  async #failInTheMiddle(): Promise<void> {
    await this.#flush();
    if (this.#random.nextInt(2) === 0) this.#replicateUpTo(this.#log.logEndOffset);
    this.#disk.failAfter(1 + this.#random.nextInt(60));
    for (let turn = 0; turn < 2000 && !this.#disk.hasFailed; turn += 10) await this.#world.advance(10);
    await this.#crash();
  }

  async #crash(): Promise<void> {
    const isClosedWell = this.#random.nextInt(3) === 0;
    if (isClosedWell && !this.#disk.hasFailed) await this.#flush();
    // What is under way in this turn happens before: nothing of the old process may run on beside the new one.
    await promisesSettled();
    this.#machine.fileSystem.faults.clear();
    this.#machine = this.#world.crash('broker', this.#oneOf(['nothing', 'something', 'something', 'everything']));
    checkCrashedDisk(this.#machine.fileSystem, '/data');
    // Without snapshots the producers must be found in what the cleaner has left.
    const isBlank = this.#random.nextInt(2) === 0;
    if (isBlank) this.#removeSnapshots();
    await this.#start();
    assert.ok(this.#log.logEndOffset >= this.#durableEnd, `the log ends at ${this.#log.logEndOffset}, not ${this.#durableEnd}`);
    this.#endsNow();
    await this.#flush();
    if (!isBlank) return;
    const sequences = this.#sequencesWritten();
    for (const { producerId, lastSequence } of this.#log.activeProducers()) {
      if (sequences.has(producerId)) assert.equal(lastSequence, sequences.get(producerId), `the last sequence of ${producerId}`);
    }
  }

  #removeSnapshots(): void {
    const { fileSystem } = this.#machine;
    if (fileSystem.statSync(path) === undefined) return;
    for (const name of fileSystem.listSync(path)) if (name.endsWith('.snapshot')) fileSystem.removeSync(`${path}/${name}`);
  }

  #sequencesWritten(): Map<number, number> {
    const sequences = new Map<number, number>();
    for (const producerId of producers) {
      const last = this.#written.findLast((each) => each.producerId === producerId);
      // What the log start has taken away is forgotten.
      if (last !== undefined && last.offset >= this.#furthestStart) sequences.set(producerId, last.sequence);
    }
    return sequences;
  }

  // What must hold

  async #check(): Promise<void> {
    this.#log.writeStaged();
    const { logStartOffset, logEndOffset, cleanedOffset = 0 } = this.#log;
    const batches = await this.#readAll('logEnd');
    const found = batches.flatMap(({ batch }) => (batch.isControl ? [] : [...batch.records()]));
    const writtenAt = new Map(this.#written.map((each) => [each.offset, each]));
    const decided = this.#decide();
    let previous = -1;
    for (const { offset, key, value, timestamp } of found) {
      const expected = writtenAt.get(offset);
      assert.ok(offset > previous && offset < logEndOffset, `offset ${offset} after ${previous}`);
      previous = offset;
      assert.ok(expected !== undefined, `nothing was written at ${offset}`);
      assert.deepEqual(
        [String(key), value === null ? null : String(value), timestamp],
        [expected.key, expected.value, expected.timestamp],
      );
    }
    this.#checkKept(new Set(found.map(({ offset }) => offset)), decided, logStartOffset, cleanedOffset);
    this.#checkSearch(found);
    await this.#checkCommitted(decided);
  }

  #checkKept(found: ReadonlySet<number>, decided: Decided, logStartOffset: number, cleanedOffset: number): void {
    const nowMs = this.#machine.clock.wallTimeMs();
    const { deleteRetentionMs } = this.#config;
    const isIdle = !this.#manager.isBeingCleaned(this.#log);
    const last = new Map<string, number>();
    const lastClean = new Map<string, number>();
    for (const { offset, key } of this.#written) {
      if (decided.aborted.has(offset)) continue;
      last.set(key, offset);
      if (offset < cleanedOffset) lastClean.set(key, offset);
    }
    for (const { offset, key, value, writtenMs } of this.#written) {
      if (offset < logStartOffset) continue;
      const isAborted = decided.aborted.has(offset);
      if (offset < cleanedOffset && isIdle) {
        assert.ok(!isAborted || !found.has(offset), `${offset} was aborted, and all below ${cleanedOffset} is clean`);
        const isLast = lastClean.get(key) === offset;
        assert.ok(isLast || !found.has(offset), `${offset} is not the last of ${key} below ${cleanedOffset}`);
      }
      const mustBeThere = !isAborted && last.get(key) === offset && (value !== null || nowMs < writtenMs + deleteRetentionMs);
      assert.ok(!mustBeThere || found.has(offset), `${offset}, the last of ${key}, is lost`);
    }
  }

  #checkSearch(found: readonly { readonly offset: number; readonly timestamp: number }[]): void {
    const { logStartOffset } = this.#log;
    const readable = found.filter(({ offset }) => offset >= logStartOffset);
    const some = readable[this.#random.nextInt(Math.max(1, readable.length))];
    if (some === undefined) return;
    // Markers have times as well, but there is always this record.
    const answer = this.#log.offsetForTimestamp(some.timestamp);
    assert.ok(answer !== undefined && answer.timestamp >= some.timestamp && answer.offset <= some.offset);
    const first = readable.find(({ timestamp }) => timestamp >= some.timestamp);
    assert.ok(
      answer.offset <= (first?.offset ?? 0),
      `the first record since ${some.timestamp} is ${first?.offset}, not ${answer.offset}`,
    );
  }

  /** A reader of committed records drops what the answers say was aborted, and control batches. */
  async #checkCommitted({ aborted, undecided }: Decided): Promise<void> {
    const abortedNow = new Set<number>();
    for (const { batch, abortedTransactions } of await this.#readAll('lastStable')) {
      const starts = abortedTransactions.filter(({ firstOffset }) => firstOffset <= batch.lastOffset);
      for (const { producerId, firstOffset } of starts)
        if (!this.#hasEnded(producerId, firstOffset, batch.baseOffset)) abortedNow.add(producerId);
      if (batch.isControl) {
        abortedNow.delete(batch.producerId);
        continue;
      }
      if (batch.isTransactional && abortedNow.has(batch.producerId)) continue;
      for (const { offset } of batch.records()) {
        assert.ok(!aborted.has(offset), `${offset} was aborted, but is seen by a reader of committed records`);
        assert.ok(!undecided.has(offset), `${offset} is not decided, but is seen by a reader of committed records`);
      }
    }
  }

  #hasEnded(producerId: number, firstOffset: number, offset: number): boolean {
    return this.#markers.some((each) => each.producerId === producerId && each.offset > firstOffset && each.offset < offset);
  }

  #decide(): Decided {
    const aborted = new Set<number>();
    const undecided = new Set<number>();
    for (const { offset, producerId, isTransactional } of this.#written) {
      if (!isTransactional) continue;
      const end = this.#markers.find((marker) => marker.producerId === producerId && marker.offset > offset);
      if (end === undefined) undecided.add(offset);
      else if (!end.isCommit) aborted.add(offset);
    }
    return { aborted, undecided };
  }

  async #readAll(isolation: 'logEnd' | 'lastStable'): Promise<ReadBatch[]> {
    const batches: ReadBatch[] = [];
    const { lastStableOffset, logEndOffset } = this.#log;
    const endOffset = isolation === 'logEnd' ? logEndOffset : lastStableOffset;
    let offset = this.#log.logStartOffset;
    while (offset < endOffset) {
      const maxBytes = this.#oneOf([1, 5000, 5000, 5000]);
      const read = await this.#log.read(offset, { maxBytes, isolation, minOneBatch: true });
      const before = offset;
      for (const batch of iterateBatches(Buffer.concat(read.records))) {
        batch.ensureValid();
        assert.ok(batch.lastOffset >= offset, 'the answer begins with the batch that contains the offset');
        batches.push({ batch, abortedTransactions: read.abortedTransactions ?? [] });
        offset = batch.lastOffset + 1;
      }
      // Nothing is left but a hole up to the end.
      if (offset === before) break;
    }
    return batches;
  }

  #producerText(): string {
    const states = this.#log
      .activeProducers()
      .map(({ producerId, producerEpoch, lastSequence, currentTxnStartOffset }) =>
        [producerId, producerEpoch, lastSequence, currentTxnStartOffset].join(' '),
      );
    return states.sort().join(', ');
  }

  #oneOf<const T>(values: readonly T[]): T {
    return values[this.#random.nextInt(values.length)] as T;
  }
}

interface Decided {
  readonly aborted: ReadonlySet<number>;
  readonly undecided: ReadonlySet<number>;
}

interface ReadBatch {
  readonly batch: Batch;
  readonly abortedTransactions: readonly { readonly producerId: number; readonly firstOffset: number }[];
}
