// The log of one partition, and the one door to its data. It holds these invariants:
//
//   logStartOffset <= lastStableOffset <= highWatermark <= writtenEndOffset <= logEndOffset
//   recoveryPoint <= writtenEndOffset: everything before it is on the device
//
// An append is validated, stamped and taken into account at once; its bytes go to the file at the end of this turn of the event
// loop, together with those of other appends. If they cannot be written, the log goes back to `writtenEndOffset` as though
// nothing had been appended. Readers never see what is not written.

import { type Batch, errorCodes, iterateBatches, ProtocolError, RecordBatch } from '@odradek/protocol';
import type { LogDirectory } from '../manager/log-directory.ts';
import { type AppendOrigin, asProtocolError, validateForAppend } from './append-validator.ts';
import { isDiskFull } from './disk-full.ts';
import { type EpochEnd, type LeaderEpochs, unknownEpochEnd } from './leader-epochs.ts';
import type { LogConfig } from './log-config.ts';
import type { LogFiles } from './log-files.ts';
import { type FetchedRecords, type ReadOptions, readLog } from './log-reads.ts';
import type { LogSegment } from './log-segment.ts';
import type { LogSegments } from './log-segments.ts';
import { markerOf, replayIndexed } from './producer-replay.ts';
import type { ProducerStates } from './producer-states.ts';
import { LogTail } from './tail-cache.ts';
import type { TopicPartition } from './topic-partition.ts';

export interface AppendOptions {
  readonly leaderEpoch: number;
  readonly origin: AppendOrigin;
}

export interface AppendInfo {
  readonly firstOffset: number;
  readonly lastOffset: number;
  /** ms; -1 where the records keep their own times. */
  readonly logAppendTime: number;
  readonly logStartOffset: number;
  readonly maxTimestamp: number;
  /** The batch had been appended before; these are the offsets that it got then. */
  readonly isDuplicate: boolean;
  readonly sizeBytes: number;
  /**
   * Settles when the bytes are in the file, and on the device where `flush.messages` asks for it; from then on the log does not refer
   * to the bytes that it was given. Rejects with KAFKA_STORAGE_ERROR.
   */
  readonly written: Promise<void>;
}

export interface ActiveProducer {
  readonly producerId: number;
  readonly producerEpoch: number;
  readonly lastSequence: number;
  readonly lastTimestamp: number;
  readonly coordinatorEpoch: number;
  /** -1: no transaction is open. */
  readonly currentTxnStartOffset: number;
}

export interface TimestampedOffset {
  readonly timestamp: number;
  readonly offset: number;
  /** -1 where it is not known. */
  readonly leaderEpoch: number;
}

/** What is known of a log when it is opened. */
export interface OpenedLog {
  readonly segments: LogSegments;
  readonly leaderEpochs: LeaderEpochs;
  readonly producerStates: ProducerStates;
  readonly logStartOffset: number;
  readonly logEndOffset: number;
  readonly recoveryPoint: number;
  readonly highWatermark: number;
}

const settled = Promise.resolve();

/** How long after a read up to the end the tail is kept: a consumer that keeps up asks again within its longest wait. */
const tailWantedForMs = 10_000;

export class PartitionLog {
  readonly topicPartition: TopicPartition;
  readonly topicId: string;
  readonly directory: LogDirectory;
  readonly #files: LogFiles;
  readonly #segments: LogSegments;
  readonly #leaderEpochs: LeaderEpochs;
  readonly #producerStates: ProducerStates;
  readonly #tail: LogTail;
  #config: LogConfig;
  #logStartOffset: number;
  #logEndOffset: number;
  #writtenEndOffset: number;
  #highWatermark: number;
  #recoveryPoint: number;
  /** The batches of this turn, for the tail; and who waits for them. */
  #staged: { readonly bytes: Buffer; readonly baseOffset: number; readonly nextOffset: number }[] = [];
  /** Until when, on the monotonic clock, what is appended is kept in memory: as long as somebody has lately read up to the end. */
  #tailWantedUntilMs = 0;
  #writing: PromiseWithResolvers<void> | undefined;
  #isClosed = false;
  #lastFlushMs: number;
  #rollJitterMs: number;

  constructor(
    identity: { readonly topicPartition: TopicPartition; readonly topicId: string; readonly directory: LogDirectory },
    files: LogFiles,
    config: LogConfig,
    opened: OpenedLog,
  ) {
    this.topicPartition = identity.topicPartition;
    this.topicId = identity.topicId;
    this.directory = identity.directory;
    this.#files = files;
    this.#config = config;
    this.#segments = opened.segments;
    this.#leaderEpochs = opened.leaderEpochs;
    this.#producerStates = opened.producerStates;
    this.#logStartOffset = opened.logStartOffset;
    this.#logEndOffset = opened.logEndOffset;
    this.#writtenEndOffset = opened.logEndOffset;
    this.#recoveryPoint = Math.min(opened.recoveryPoint, opened.logEndOffset);
    this.#highWatermark = Math.min(Math.max(opened.highWatermark, opened.logStartOffset), opened.logEndOffset);
    this.#producerStates.highWatermarkMoved(this.#highWatermark);
    this.#tail = new LogTail(files.tailBudget);
    this.#rollJitterMs = this.#drawJitter();
    this.#lastFlushMs = files.clock.wallTimeMs();
  }

  get config(): LogConfig {
    return this.#config;
  }

  get path(): string {
    return this.#files.path;
  }

  get logStartOffset(): number {
    return this.#logStartOffset;
  }

  /** Where the next record will stand. */
  get logEndOffset(): number {
    return this.#logEndOffset;
  }

  /** Where the log ends on disk; as `logEndOffset`, but for what this turn has appended. */
  get writtenEndOffset(): number {
    return this.#writtenEndOffset;
  }

  get highWatermark(): number {
    return this.#highWatermark;
  }

  /** What consumers of committed records may read up to: no open transaction can change what lies before. */
  get lastStableOffset(): number {
    const unstable = this.#producerStates.firstUnstableOffset();
    return unstable === undefined ? this.#highWatermark : Math.min(unstable, this.#highWatermark);
  }

  get recoveryPoint(): number {
    return this.#recoveryPoint;
  }

  /** When the log was last forced to the device, wall time in ms. */
  get lastFlushMs(): number {
    return this.#lastFlushMs;
  }

  get sizeBytes(): number {
    return this.#segments.sizeBytes;
  }

  get segmentCount(): number {
    return this.#segments.count;
  }

  get segments(): LogSegments {
    return this.#segments;
  }

  get tail(): LogTail {
    return this.#tail;
  }

  /** Somebody has read up to the end: what is appended next is likely to be asked for soon. */
  wantTail(): void {
    this.#tailWantedUntilMs = this.#files.clock.monotonicMs() + tailWantedForMs;
  }

  #isTailWanted(): boolean {
    return this.#tailWantedUntilMs > 0 && this.#files.clock.monotonicMs() < this.#tailWantedUntilMs;
  }

  get leaderEpochs(): LeaderEpochs {
    return this.#leaderEpochs;
  }

  get latestEpoch(): number | undefined {
    return this.#leaderEpochs.latest?.epoch;
  }

  updateConfig(config: LogConfig): void {
    const hasNewJitter = config.segmentJitterMs !== this.#config.segmentJitterMs;
    this.#config = config;
    if (hasNewJitter) this.#rollJitterMs = this.#drawJitter();
    for (const segment of this.#segments.all()) segment.indexIntervalBytes = config.indexIntervalBytes;
  }

  /**
   * Appends what a producer or a coordinator sent. Throws at once, having changed nothing, for what may not be appended: see
   * `validateForAppend` and `ProducerStates.check`; KAFKA_STORAGE_ERROR when the disk failed.
   */
  appendAsLeader(records: Buffer, options: AppendOptions): AppendInfo {
    this.#ensureUsable();
    const nowMs = this.#files.clock.wallTimeMs();
    const { batch, logAppendTime } = validateForAppend(records, {
      config: this.#config,
      origin: options.origin,
      nextOffset: this.#logEndOffset,
      leaderEpoch: options.leaderEpoch,
      nowMs,
    });
    if (batch.hasProducerId) {
      if (batch.isControl) this.#checkMarker(batch);
      else {
        const duplicate = this.#producerStates.duplicateOf(batch);
        if (duplicate !== undefined) return this.#duplicate(duplicate, batch);
      }
      this.#producerStates.check(batch);
    }
    this.#leaderEpochs.assign(options.leaderEpoch, this.#logEndOffset);
    const { baseOffset } = batch;
    const bytes = batch.sizeInBytes === batch.buffer.length && batch.start === 0 ? batch.buffer : batch.bytes();
    this.#stage(batch, bytes);
    return {
      firstOffset: baseOffset,
      lastOffset: this.#logEndOffset - 1,
      logAppendTime,
      logStartOffset: this.#logStartOffset,
      maxTimestamp: batch.maxTimestamp,
      isDuplicate: false,
      sizeBytes: batch.sizeInBytes,
      written: this.#whenWritten(),
    };
  }

  /** Appends what the leader has: batches with their offsets and epochs, one behind the other. Throws CORRUPT_MESSAGE, or Error for a gap backwards. */
  appendAsFollower(records: Buffer): AppendInfo {
    this.#ensureUsable();
    let firstOffset = -1;
    let maxTimestamp = -1;
    let sizeBytes = 0;
    try {
      for (const batch of iterateBatches(records)) {
        batch.ensureValid();
        if (batch.baseOffset < this.#logEndOffset && batch.lastOffset < this.#logEndOffset) {
          throw new Error(`${this.path}: the leader's batch ${batch.baseOffset} lies before the log's end ${this.#logEndOffset}`);
        }
        if (firstOffset < 0) firstOffset = batch.baseOffset;
        if (batch instanceof RecordBatch && batch.partitionLeaderEpoch >= 0) {
          this.#leaderEpochs.assign(batch.partitionLeaderEpoch, batch.baseOffset);
        }
        this.#stage(batch, batch.bytes());
        maxTimestamp = Math.max(maxTimestamp, batch.maxTimestamp);
        sizeBytes += batch.sizeInBytes;
      }
    } catch (error) {
      throw asProtocolError(error);
    }
    return {
      firstOffset,
      lastOffset: this.#logEndOffset - 1,
      logAppendTime: -1,
      logStartOffset: this.#logStartOffset,
      maxTimestamp,
      isDuplicate: false,
      sizeBytes,
      written: this.#whenWritten(),
    };
  }

  #duplicate(known: { readonly lastOffset: number; readonly offsetDelta: number }, batch: RecordBatch): AppendInfo {
    return {
      firstOffset: known.lastOffset - known.offsetDelta,
      lastOffset: known.lastOffset,
      logAppendTime: this.#config.messageTimestampType === 'LogAppendTime' ? batch.maxTimestamp : -1,
      logStartOffset: this.#logStartOffset,
      maxTimestamp: batch.maxTimestamp,
      isDuplicate: true,
      sizeBytes: batch.sizeInBytes,
      // The first copy may be waiting for its write in this very turn, or for the device: since it was sent, or since a crash before
      // which nobody had been told of it.
      written: known.lastOffset < this.#writtenEndOffset ? (this.#isFlushDue() ? this.flush() : settled) : this.#whenWritten(),
    };
  }

  #checkMarker(batch: RecordBatch): void {
    const marker = markerOf(batch);
    if (marker !== undefined) this.#producerStates.checkMarker(batch.producerId, marker.coordinatorEpoch);
  }

  #stage(batch: Batch, bytes: Buffer): void {
    const { baseOffset, lastOffset, maxTimestamp } = batch;
    const segment = this.#segmentFor(bytes.length, lastOffset, maxTimestamp);
    segment.stage(bytes, lastOffset, maxTimestamp);
    this.#staged.push({ bytes, baseOffset, nextOffset: lastOffset + 1 });
    this.#logEndOffset = lastOffset + 1;
    this.#recordProducer(batch, segment);
  }

  #recordProducer(batch: Batch, segment: LogSegment): void {
    replayIndexed(this.#producerStates, segment, batch);
    this.#producerStates.advanceTo(this.#logEndOffset);
  }

  /** The active segment, or a new one when this batch does not fit into it. */
  #segmentFor(sizeBytes: number, lastOffset: number, maxTimestamp: number): LogSegment {
    const { active } = this.#segments;
    const { segmentBytes, segmentMs } = this.#config;
    const isFull =
      active.sizeBytes > segmentBytes - sizeBytes ||
      (active.sizeBytes > 0 && this.#segmentAgeMs(active, maxTimestamp) > segmentMs - this.#rollJitterMs) ||
      active.areIndexesFull ||
      !active.canHold(lastOffset);
    return isFull && active.sizeBytes > 0 ? this.roll() : active;
  }

  /** By the timestamps of records, as far as there are any, so that a replica rolls where its leader did. */
  #segmentAgeMs(segment: LogSegment, maxTimestamp: number): number {
    const { firstTimestamp } = segment;
    if (firstTimestamp !== undefined && maxTimestamp >= 0) return maxTimestamp - firstTimestamp;
    return this.#files.clock.wallTimeMs() - segment.createdMs;
  }

  /** Begins a new segment at the log's end. */
  roll(): LogSegment {
    this.writeStaged();
    this.#ensureUsable();
    const old = this.#segments.active;
    if (old.sizeBytes === 0) return old;
    old.seal();
    const segment = this.#guarded(() => {
      this.#files.writeSnapshot(this.#producerStates, this.#logEndOffset);
      old.writeIndexes();
      return this.#files.createSegment(this.#logEndOffset, this.#config);
    });
    this.#segments.add(segment);
    this.#rollJitterMs = this.#drawJitter();
    // Not waited for: until it is done, a crash means that the old segment is scanned too.
    this.#flushUpTo(this.#logEndOffset, [old]).catch(() => undefined);
    return segment;
  }

  #whenWritten(): Promise<void> {
    if (this.#staged.length === 0) return settled;
    if (this.#writing === undefined) {
      this.#writing = Promise.withResolvers();
      // An append whose producer wants no answer has nobody who waits.
      this.#writing.promise.catch(() => undefined);
      this.#files.writes.add(this);
    }
    return this.#writing.promise;
  }

  /** Hands what was appended in this turn to the disk. */
  writeStaged(): void {
    const writing = this.#writing;
    const staged = this.#staged;
    if (staged.length === 0) return;
    this.#writing = undefined;
    this.#staged = [];
    try {
      this.#segments.active.write();
      if (this.#leaderEpochs.isDirty) this.#leaderEpochs.write();
    } catch (error) {
      writing?.reject(this.#writeFailed(error));
      return;
    }
    if (this.#isTailWanted()) for (const { bytes, baseOffset, nextOffset } of staged) this.#tail.add(bytes, baseOffset, nextOffset);
    else this.#tail.clear();
    this.#writtenEndOffset = this.#logEndOffset;
    if (this.#isFlushDue()) this.flush().then(writing?.resolve, writing?.reject);
    else writing?.resolve();
  }

  /** Whether so much is not on the device that `flush.messages` asks for a flush. */
  #isFlushDue(): boolean {
    return this.#writtenEndOffset - this.#recoveryPoint >= this.#config.flushMessages;
  }

  /** The log goes back to what is on disk. A full disk may have room again later; any other fault takes the directory offline. */
  #writeFailed(error: unknown): ProtocolError {
    this.#segments.active.dropStaged();
    const failure = this.#storageError(error, 'cannot be written');
    if (this.directory.isOnline) {
      try {
        this.#rebuildAt(this.#writtenEndOffset);
      } catch (second) {
        this.directory.fail(second);
      }
    }
    this.#logEndOffset = this.#writtenEndOffset;
    return failure;
  }

  #storageError(error: unknown, what: string): ProtocolError {
    if (error instanceof ProtocolError) return error;
    if (!isDiskFull(error)) this.directory.fail(error);
    return new ProtocolError(errorCodes.KAFKA_STORAGE_ERROR, `${this.path} ${what}: ${messageOf(error)}`, { cause: error });
  }

  #guarded<T>(action: () => T): T {
    try {
      return action();
    } catch (error) {
      throw this.#storageError(error, 'has a fault');
    }
  }

  #ensureUsable(): void {
    if (this.#isClosed) throw new ProtocolError(errorCodes.NOT_LEADER_OR_FOLLOWER, `${this.path} is closed`);
    if (!this.directory.isOnline) {
      throw new ProtocolError(errorCodes.KAFKA_STORAGE_ERROR, `The log directory ${this.directory.path} is offline`);
    }
  }

  /**
   * Whole batches from the one that contains the offset. At once when the bytes are in memory or few. Throws OFFSET_OUT_OF_RANGE
   * or KAFKA_STORAGE_ERROR.
   */
  read(fetchOffset: number, options: ReadOptions): FetchedRecords | Promise<FetchedRecords> {
    this.#ensureUsable();
    return this.#guarded(() => readLog(this, fetchOffset, options));
  }

  /** The first record whose timestamp is at least this one. undefined: there is none. */
  offsetForTimestamp(timestamp: number): TimestampedOffset | undefined {
    this.#ensureUsable();
    return this.#guarded(() => {
      for (const segment of this.#segments.all()) {
        if (segment.maxTimestamp.timestamp < timestamp) continue;
        for (const batch of segment.batchesFromTimestamp(timestamp)) {
          for (const record of batch.records()) {
            if (record.timestamp >= timestamp && record.offset >= this.#logStartOffset) return this.#timestamped(record);
          }
        }
      }
      return undefined;
    });
  }

  /** The first record that has the largest timestamp of all. undefined: the log is empty. */
  offsetOfMaxTimestamp(): TimestampedOffset | undefined {
    this.#ensureUsable();
    return this.#guarded(() => {
      let latest = -1;
      for (const segment of this.#segments.all()) latest = Math.max(latest, segment.maxTimestamp.timestamp);
      return latest < 0 ? undefined : this.offsetForTimestamp(latest);
    });
  }

  #timestamped({ timestamp, offset }: { readonly timestamp: number; readonly offset: number }): TimestampedOffset {
    return { timestamp, offset, leaderEpoch: this.epochForOffset(offset) };
  }

  /** The leader epoch of the record at the offset; -1 where it is not known. */
  epochForOffset(offset: number): number {
    return this.#leaderEpochs.epochAt(offset) ?? -1;
  }

  endOffsetForEpoch(epoch: number): EpochEnd {
    if (this.#leaderEpochs.latest === undefined) return unknownEpochEnd;
    return this.#leaderEpochs.endOffsetFor(epoch, this.#logEndOffset);
  }

  /** The epoch's leader begins at the offset. */
  assignLeaderEpoch(epoch: number, startOffset: number): void {
    this.#leaderEpochs.assign(epoch, startOffset);
  }

  /** Never falls below the log start, nor rises above what is written. Answers the new one. */
  updateHighWatermark(offset: number): number {
    this.#highWatermark = Math.min(Math.max(offset, this.#logStartOffset), this.#writtenEndOffset);
    this.#producerStates.highWatermarkMoved(this.#highWatermark);
    return this.#highWatermark;
  }

  hasOngoingTransaction(producerId: number, producerEpoch: number): boolean {
    const state = this.#producerStates.get(producerId);
    return state !== undefined && state.producerEpoch === producerEpoch && state.transactionFirstOffset !== undefined;
  }

  activeProducers(): ActiveProducer[] {
    return [...this.#producerStates.states()].map((state) => ({
      producerId: state.producerId,
      producerEpoch: state.producerEpoch,
      lastSequence: state.batches.at(-1)?.lastSequence ?? -1,
      lastTimestamp: state.lastTimestamp,
      coordinatorEpoch: state.coordinatorEpoch,
      currentTxnStartOffset: state.transactionFirstOffset ?? -1,
    }));
  }

  removeExpiredProducers(): void {
    if (!this.#producerStates.isEmpty) {
      this.#producerStates.removeExpired(this.#files.clock.wallTimeMs(), this.#config.producerIdExpirationMs);
    }
  }

  /** Records before the offset are gone for readers at once; segments that lie wholly before it are deleted. */
  deleteRecordsBefore(offset: number): void {
    this.#ensureUsable();
    if (offset > this.#highWatermark) {
      throw new ProtocolError(errorCodes.OFFSET_OUT_OF_RANGE, `${offset} lies beyond the high watermark ${this.#highWatermark}`);
    }
    if (offset <= this.#logStartOffset) return;
    this.#logStartOffset = offset;
    this.#leaderEpochs.truncateFromStart(offset);
    this.#deleteSegments((_segment, endOffset) => endOffset <= offset);
  }

  /**
   * Deletes segments from the front for as long as this says so; the active one stays. Answers how many there were. The log begins
   * with what is left.
   */
  deleteOldSegments(mustDelete: (segment: LogSegment, endOffset: number) => boolean): number {
    this.#ensureUsable();
    const deleted = this.#deleteSegments(
      (segment, endOffset) => endOffset <= this.#highWatermark && mustDelete(segment, endOffset),
    );
    if (deleted > 0 && this.#segments.first.baseOffset > this.#logStartOffset) {
      this.#logStartOffset = this.#segments.first.baseOffset;
      this.#leaderEpochs.truncateFromStart(this.#logStartOffset);
    }
    return deleted;
  }

  #deleteSegments(mustDelete: (segment: LogSegment, endOffset: number) => boolean): number {
    const doomed = new Set<LogSegment>();
    const all = this.#segments.all();
    for (let index = 0; index < all.length - 1; index++) {
      const segment = all[index]!;
      if (!mustDelete(segment, this.#segments.endOffset(index, this.#logEndOffset))) break;
      doomed.add(segment);
    }
    if (doomed.size === 0) return 0;
    const removed = this.#segments.remove((segment) => doomed.has(segment));
    this.#guarded(() => {
      this.#leaderEpochs.write();
      this.#files.removeSegments(removed, this.#config.fileDeleteDelayMs);
    });
    return removed.length;
  }

  /** Drops everything from the offset on, as a follower does whose log has parted from the leader's. */
  truncateTo(offset: number): void {
    this.#ensureUsable();
    this.writeStaged();
    if (offset >= this.#logEndOffset) return;
    this.#guarded(() => {
      if (offset <= this.#segments.first.baseOffset) this.#restartAt(offset);
      else this.#rebuildAt(offset);
    });
    this.#highWatermark = Math.min(this.#highWatermark, offset);
    this.#recoveryPoint = Math.min(this.#recoveryPoint, offset);
    this.#logStartOffset = Math.min(this.#logStartOffset, offset);
  }

  /** Drops everything; the next record gets this offset. */
  truncateFullyAndStartAt(offset: number): void {
    this.#ensureUsable();
    this.writeStaged();
    this.#guarded(() => this.#restartAt(offset));
    this.#logStartOffset = offset;
    this.#highWatermark = offset;
    this.#recoveryPoint = offset;
  }

  #restartAt(offset: number): void {
    this.#tail.clear();
    const removed = this.#segments.remove(() => true);
    this.#files.removeSegments(removed, 0);
    this.#files.removeSnapshotsFrom(0);
    this.#leaderEpochs.clear();
    this.#leaderEpochs.write();
    this.#producerStates.clear();
    this.#producerStates.advanceTo(offset);
    this.#segments.add(this.#files.createSegment(offset, this.#config));
    this.#logEndOffset = offset;
    this.#writtenEndOffset = offset;
  }

  /** Cuts the log off at the offset and makes everything known from it anew. */
  #rebuildAt(offset: number): void {
    this.#tail.clear();
    const removed = this.#segments.remove((segment) => segment.baseOffset >= offset && segment !== this.#segments.first);
    this.#files.removeSegments(removed, 0);
    this.#segments.active.truncateTo(offset);
    this.#leaderEpochs.truncateFromEnd(offset);
    this.#leaderEpochs.write();
    this.#files.removeSnapshotsFrom(offset + 1);
    this.#files.loadProducerStates(this.#producerStates, this.#segments, this.#logStartOffset, offset, this.#config);
    this.#producerStates.highWatermarkMoved(Math.min(this.#highWatermark, offset));
    this.#logEndOffset = offset;
    this.#writtenEndOffset = offset;
  }

  /** Forces everything written so far to the device. Concurrent calls share one fdatasync. Rejects with KAFKA_STORAGE_ERROR. */
  async flush(): Promise<void> {
    const offset = this.#writtenEndOffset;
    this.#lastFlushMs = this.#files.clock.wallTimeMs();
    if (offset <= this.#recoveryPoint) return;
    const from = Math.max(0, this.#segments.floorIndex(this.#recoveryPoint));
    await this.#flushUpTo(offset, this.#segments.all().slice(from));
  }

  async #flushUpTo(offset: number, segments: readonly LogSegment[]): Promise<void> {
    this.#guarded(() => this.#leaderEpochs.write());
    try {
      for (const segment of segments) if (segment.writtenBytes > 0) await segment.flush();
    } catch (error) {
      // What the device has is unknown after a failed sync, so this is no disk to go on with.
      this.directory.fail(error);
      throw new ProtocolError(errorCodes.KAFKA_STORAGE_ERROR, `${this.path} cannot be forced to the device`, { cause: error });
    }
    const reached = Math.min(offset, this.#writtenEndOffset);
    // Segments are flushed in order, each from its beginning: those before these were flushed when they were rolled.
    const isGapless = (segments[0]?.baseOffset ?? 0) <= this.#recoveryPoint;
    if (isGapless && reached > this.#recoveryPoint) this.#recoveryPoint = reached;
  }

  /** Puts everything on disk that a clean start needs. The log cannot be used afterwards. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.writeStaged();
    if (this.directory.isOnline) {
      this.#segments.active.seal();
      await this.flush();
      if (this.#logEndOffset > this.#logStartOffset) this.#files.writeSnapshot(this.#producerStates, this.#logEndOffset);
      this.#leaderEpochs.write();
      for (const segment of this.#segments.all()) segment.writeIndexes();
    }
    this.closeFiles();
  }

  /** Lets go of the files, as they are. */
  closeFiles(): void {
    this.#isClosed = true;
    this.#tail.clear();
    for (const segment of this.#segments.all()) segment.close();
  }

  /** So that the segments of many partitions do not all end at the same moment. */
  #drawJitter(): number {
    const { segmentJitterMs } = this.#config;
    return segmentJitterMs <= 0 ? 0 : this.#files.random.nextInt(Math.min(segmentJitterMs, 0x7fffffff));
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
