// The log of one partition, and the one door to its data. It holds these invariants:
//
//   logStartOffset <= lastStableOffset <= highWatermark <= writtenEndOffset <= logEndOffset
//   recoveryPoint <= writtenEndOffset: everything before it is on the device
//
// An append is validated, stamped and taken into account at once; its bytes go to the file at the end of this turn of the event
// loop, together with those of other appends. If they cannot be written, the log goes back to `writtenEndOffset` as though
// nothing had been appended. Readers never see what is not written.

import { type Batch, errorCodes, iterateBatches, ProtocolError, type RecordBatch } from '@odradek/protocol';
import type { LogDirectory } from '../manager/log-directory.ts';
import type { AppendInfo, AppendOptions } from './append-info.ts';
import { validateForAppend } from './append-validator.ts';
import { CheckpointBarrier } from './checkpoint-barrier.ts';
import { isOutOfFiles } from './disk-fault.ts';
import type { EpochEnd, EpochEntry, LeaderEpochs } from './leader-epochs.ts';
import { LogBody, type LogParts } from './log-body.ts';
import type { LogConfig } from './log-config.ts';
import type { LogFiles } from './log-files.ts';
import { type FetchedRecords, type ReadOptions, readLog } from './log-reads.ts';
import { type LogSegment, maxRelativeOffset } from './log-segment.ts';
import type { LogSegments } from './log-segments.ts';
import { checkProducer, type Repetition, replayIndexed } from './producer-replay.ts';
import type { ActiveProducer, LastOfProducer, ProducerStates } from './producer-states.ts';
import { RecoveryPoint } from './recovery-point.ts';
import { SegmentRoll } from './segment-roll.ts';
import { StagedAppends } from './staged-appends.ts';
import { ensureUsable, storageFailure } from './storage-failure.ts';
import { LogTail } from './tail-cache.ts';
import { firstRecordSince, type RecordTime, recordOfMaxTimestamp } from './timestamp-search.ts';
import type { TopicPartition } from './topic-partition.ts';

export interface TimestampedOffset extends RecordTime {
  /** -1 where it is not known. */
  readonly leaderEpoch: number;
}

/** What is known of a log when it is opened. */
export interface OpenedLog extends LogParts {
  readonly logStartOffset: number;
  readonly logEndOffset: number;
  readonly recoveryPoint: number;
  /** Segments from this one on have been scanned, and their indexes made anew. */
  readonly firstScannedOffset: number;
  /** From this one on the indexes may not be on the device. */
  readonly firstUnsettledOffset: number;
  readonly highWatermark: number;
  readonly cleanedOffset?: number | undefined;
}

const settled = Promise.resolve();

export class PartitionLog {
  readonly topicPartition: TopicPartition;
  readonly topicId: string;
  readonly directory: LogDirectory;
  readonly #files: LogFiles;
  readonly #body: LogBody;
  /** Those of the body. */
  readonly #segments: LogSegments;
  readonly #leaderEpochs: LeaderEpochs;
  readonly #producerStates: ProducerStates;
  readonly #tail: LogTail;
  /** The log was compacted up to here, as far as is known. Falls when the log is cut off. */
  cleanedOffset: number | undefined;
  #config: LogConfig;
  /** Where the log ended when its producers' states were read from a snapshot: at the start, or when it was cut off since. */
  #foundEndOffset: number;
  #logStartOffset: number;
  #logEndOffset: number;
  #writtenEndOffset: number;
  #highWatermark: number;
  readonly #recoveryPoint: RecoveryPoint;
  /** What a checkpoint may have said when the log was opened: a start takes the log for whole that ends there. 0: none does any more. */
  #orderlyEndOffset: number;
  readonly #staged = new StagedAppends();
  /** The latest epoch without what is staged. */
  #writtenEpoch: EpochEntry | undefined;
  readonly #barrier: CheckpointBarrier;
  /** While this is under way nobody is told of an append: the log is changing its directory. */
  #held: Promise<void> | undefined;
  /** Counts how often the log went back, for readers that have waited. */
  #setbacks = 0;
  #isClosed = false;
  #lastFlushMs: number;
  readonly #rollRule: SegmentRoll;

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
    this.#body = new LogBody(files, opened);
    this.#segments = opened.segments;
    this.#leaderEpochs = opened.leaderEpochs;
    this.#producerStates = opened.producerStates;
    this.#logStartOffset = opened.logStartOffset;
    this.#logEndOffset = opened.logEndOffset;
    this.#foundEndOffset = opened.logEndOffset;
    this.#writtenEndOffset = opened.logEndOffset;
    const { segments, leaderEpochs, firstScannedOffset, firstUnsettledOffset } = opened;
    this.#orderlyEndOffset = opened.recoveryPoint;
    const flushedOffset = Math.min(opened.recoveryPoint, opened.logEndOffset);
    this.#recoveryPoint = new RecoveryPoint({ segments, leaderEpochs, files }, flushedOffset, {
      firstScannedOffset,
      firstUnsettledOffset,
    });
    this.#highWatermark = Math.min(Math.max(opened.highWatermark, opened.logStartOffset), opened.logEndOffset);
    this.#producerStates.highWatermarkMoved(this.#highWatermark);
    this.cleanedOffset = opened.cleanedOffset;
    this.#tail = new LogTail(files.tailBudget);
    this.#barrier = new CheckpointBarrier(this.directory, opened.recoveryPoint > opened.logEndOffset);
    this.#rollRule = new SegmentRoll(files.clock, files.random);
    this.#rollRule.drawJitter(config);
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

  /** The files alone tell a start where the log begins, whatever happens: no checkpoint needs to say it. */
  get isStartInNames(): boolean {
    return this.#logStartOffset <= this.#segments.first.baseOffset && this.#files.areNamesForced;
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
    return unstable === undefined ? this.#highWatermark : Math.min(Math.max(unstable, this.#logStartOffset), this.#highWatermark);
  }

  /**
   * A snapshot tells which transactions are open, not which ended beyond the high watermark: until that has passed the end that the
   * log had then, the last stable offset may lie beyond a transaction whose end can still be lost.
   */
  get areTransactionsKnown(): boolean {
    return this.#highWatermark >= this.#foundEndOffset;
  }

  /** What a start after a crash may trust; at most where the active segment begins. */
  get recoveryPoint(): number {
    return this.#recoveryPoint.offset;
  }

  /** When the log was last forced to the device, wall time in ms. */
  get lastFlushMs(): number {
    return this.#lastFlushMs;
  }

  get sizeBytes(): number {
    return this.#segments.sizeBytes;
  }

  get segments(): LogSegments {
    return this.#segments;
  }

  get tail(): LogTail {
    return this.#tail;
  }

  /** Somebody has read up to the end: what is appended next is likely to be asked for soon. */
  wantTail(): void {
    this.#tail.want(this.#files.clock.monotonicMs());
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Changes when the log was cut off. */
  get setbacks(): number {
    return this.#setbacks;
  }

  get latestEpoch(): number | undefined {
    return this.#leaderEpochs.latest?.epoch;
  }

  updateConfig(config: LogConfig): void {
    const hasNewJitter = config.segmentJitterMs !== this.#config.segmentJitterMs;
    this.#config = config;
    if (hasNewJitter) this.#rollRule.drawJitter(config);
    for (const segment of this.#segments.all()) segment.indexIntervalBytes = config.indexIntervalBytes;
  }

  /**
   * Appends what a producer or a coordinator sent. Throws at once, having changed nothing, for what may not be appended: see
   * `validateForAppend` and `ProducerStates.check`; KAFKA_STORAGE_ERROR when the disk failed.
   */
  appendAsLeader(records: Buffer, options: AppendOptions): AppendInfo {
    ensureUsable(this);
    const nowMs = this.#files.clock.wallTimeMs();
    const validated = validateForAppend(records, {
      config: this.#config,
      origin: options.origin,
      nextOffset: this.#logEndOffset,
      leaderEpoch: options.leaderEpoch,
      nowMs,
    });
    if (validated === undefined) return this.#appended(-1, { logAppendTime: -1, maxTimestamp: -1, sizeBytes: 0 });
    const { batch, logAppendTime } = validated;
    if (batch.hasProducerId) {
      const repetition = checkProducer(this.#producerStates, batch, options.origin === 'client');
      if (repetition !== undefined) return this.#duplicate(repetition, batch);
    }
    const { baseOffset, maxTimestamp, sizeInBytes: sizeBytes } = batch;
    this.#stage(batch, sizeBytes === batch.buffer.length ? batch.buffer : batch.bytes());
    return this.#appended(baseOffset, { logAppendTime, maxTimestamp, sizeBytes });
  }

  /**
   * Appends what the leader has: batches with their offsets and epochs, one behind the other. Throws CORRUPT_MESSAGE,
   * KAFKA_STORAGE_ERROR, or Error when they do not follow what is there; those before the one at fault may have been appended.
   */
  appendAsFollower(records: Buffer): AppendInfo {
    ensureUsable(this);
    let firstOffset = -1;
    let maxTimestamp = -1;
    let sizeBytes = 0;
    for (const batch of iterateBatches(records)) {
      batch.ensureValid();
      const { baseOffset } = batch;
      if (baseOffset < this.#logEndOffset) this.#beginWithin(batch);
      if (firstOffset < 0) firstOffset = baseOffset;
      this.#stage(batch, batch.bytes());
      maxTimestamp = Math.max(maxTimestamp, batch.maxTimestamp);
      sizeBytes += batch.sizeInBytes;
    }
    return this.#appended(firstOffset, { logAppendTime: -1, maxTimestamp, sizeBytes });
  }

  /** The log start may lie within the leader's first batch. An empty log then begins with that batch, before its log start. */
  #beginWithin({ baseOffset, lastOffset }: Batch): void {
    const isEmpty = this.#logEndOffset === this.#logStartOffset && this.#segments.sizeBytes === 0;
    if (!isEmpty || lastOffset < this.#logEndOffset) {
      throw new Error(`${this.path}: the leader's batch ${baseOffset} lies before the log's end ${this.#logEndOffset}`);
    }
    this.#wholly(() => this.#restartAt(baseOffset, this.#logStartOffset));
  }

  #appended(
    firstOffset: number,
    batch: { readonly logAppendTime: number; readonly maxTimestamp: number; readonly sizeBytes: number },
  ): AppendInfo {
    return {
      firstOffset,
      lastOffset: this.#logEndOffset - 1,
      logAppendTime: batch.logAppendTime,
      logStartOffset: this.#logStartOffset,
      maxTimestamp: batch.maxTimestamp,
      isDuplicate: false,
      sizeBytes: batch.sizeBytes,
      written: this.#whenWritten(),
    };
  }

  #duplicate({ batch: known, isForgotten }: Repetition, batch: RecordBatch): AppendInfo {
    const firstOffset = known.lastOffset - known.offsetDelta;
    return {
      firstOffset: isForgotten ? -1 : firstOffset,
      lastOffset: isForgotten ? firstOffset - 1 : known.lastOffset,
      // As in Kafka, whatever the topic's type of timestamps.
      logAppendTime: known.timestamp,
      logStartOffset: this.#logStartOffset,
      maxTimestamp: known.timestamp,
      isDuplicate: true,
      sizeBytes: batch.sizeInBytes,
      // The first copy may be waiting for its write in this very turn, or for the device: since it was sent, or since a crash before
      // which nobody had been told of it.
      written: known.lastOffset < this.#writtenEndOffset ? this.#whenDurable() : this.#whenWritten(),
    };
  }

  #stage(batch: Batch, bytes: Buffer): void {
    const { baseOffset, lastOffset, maxTimestamp, partitionLeaderEpoch } = batch;
    const segment = this.#segmentFor(bytes.length, baseOffset, lastOffset, maxTimestamp);
    if (this.#staged.isEmpty) this.#writtenEpoch = this.#leaderEpochs.latest;
    if (partitionLeaderEpoch >= 0) this.#leaderEpochs.assign(partitionLeaderEpoch, baseOffset);
    this.#recoveryPoint.touch();
    try {
      segment.stage(bytes, lastOffset, maxTimestamp);
      this.#staged.add({ bytes, baseOffset, nextOffset: lastOffset + 1 });
      this.#logEndOffset = lastOffset + 1;
      replayIndexed(this.#producerStates, segment, batch);
    } catch (error) {
      // An index could not be read. What is staged may be half of what it should be.
      throw this.#dropStaged(error);
    }
  }

  /** The active segment, or a new one when this batch does not fit into it. */
  #segmentFor(sizeBytes: number, baseOffset: number, lastOffset: number, maxTimestamp: number): LogSegment {
    const { active } = this.#segments;
    if (active.canHold(sizeBytes, lastOffset)) {
      if (active.sizeBytes === 0 || this.#barrier.isUp) return active;
      const isDue = this.#guarded(() => this.#rollRule.isDue(active, sizeBytes, maxTimestamp, this.#config));
      if (!isDue) return active;
    }
    // The leader's log may have a gap that is too wide for a segment; then the new one begins behind it.
    return this.#rollAt(lastOffset - this.#logEndOffset > maxRelativeOffset ? baseOffset : this.#logEndOffset);
  }

  /** Begins a new segment at the log's end, if it may and the last one is not empty. Throws KAFKA_STORAGE_ERROR. */
  roll(): void {
    ensureUsable(this);
    if (this.#segments.active.sizeBytes > 0 && !this.#barrier.isUp) this.#rollAt(this.#logEndOffset);
  }

  #rollAt(baseOffset: number): LogSegment {
    if (!this.writeStaged()) throw new ProtocolError(errorCodes.KAFKA_STORAGE_ERROR, `${this.path} could not be written`);
    const old = this.#segments.active;
    if (old.baseOffset === baseOffset) return old;
    const isReplaced = old.sizeBytes === 0;
    const segment = this.#guarded(() => this.#body.extend(baseOffset, this.#config));
    if (!isReplaced) this.#recoveryPoint.segmentClosed(old);
    this.#rollRule.drawJitter(this.#config);
    // Not waited for: until it is done, a crash means that the old segment is scanned too. A failure has been dealt with.
    this.#flushUpTo(this.#logEndOffset).catch(() => undefined);
    return segment;
  }

  #whenWritten(): Promise<void> {
    return this.#staged.whenWritten(this.#files.writes, this);
  }

  /** Hands what was appended in this turn to the disk. False: that failed, and those who wait have been told. */
  writeStaged(): boolean {
    if (this.#staged.isEmpty) return true;
    try {
      this.#segments.active.write();
    } catch (error) {
      this.#dropStaged(error);
      return false;
    }
    const { batches, waiting } = this.#staged.take();
    if (this.#tail.isWanted(this.#files.clock.monotonicMs()))
      for (const { bytes, baseOffset, nextOffset } of batches) this.#tail.add(bytes, baseOffset, nextOffset);
    else this.#tail.clear();
    this.#writtenEndOffset = this.#logEndOffset;
    if (waiting === undefined) return true;
    const durable = this.#whenDurable();
    if (durable === settled) waiting.resolve();
    else durable.then(waiting.resolve, waiting.reject);
    return true;
  }

  /**
   * What is appended from now on is acknowledged only when the promise is settled, and not at all when it rejects: it is being decided
   * in which directory the log lies.
   */
  holdAcknowledgements(until: Promise<void>): void {
    const held = until.finally(() => {
      if (this.#held === held) this.#held = undefined;
    });
    // Perhaps nobody appends, and then nobody waits.
    held.catch(() => undefined);
    this.#held = held;
  }

  /** Settles when what is written is as durable as asked. */
  #whenDurable(): Promise<void> {
    if (this.#held !== undefined) return this.#held.then(() => (this.#isClosed ? settled : this.#whenDurable()));
    // Whether so much is not on the device that `flush.messages` asks for a flush.
    const isFlushDue = this.#writtenEndOffset - this.#recoveryPoint.flushedOffset >= this.#config.flushMessages;
    if (isFlushDue) return this.flush();
    const passed = this.#barrier.passed();
    if (passed === undefined) return settled;
    return passed.catch((error: unknown) => {
      throw storageFailure(this, error, 'has no checkpoint that fits it');
    });
  }

  /**
   * What was appended in this turn cannot be written: the log goes back to what is on disk, and those who wait are told. A full disk
   * may have room again later; any other fault takes the directory offline.
   */
  #dropStaged(error: unknown): Error {
    const { waiting } = this.#staged.take();
    const epoch = this.#writtenEpoch;
    this.#segments.active.dropStaged();
    const failure = storageFailure(this, error, 'cannot be written');
    if (this.directory.isOnline) {
      try {
        this.#rebuildAt(this.#writtenEndOffset);
        // A leader's epoch that has no record yet is known all the same: a follower may ask where an earlier one ends.
        if (epoch?.startOffset === this.#writtenEndOffset) this.#leaderEpochs.assign(epoch.epoch, epoch.startOffset);
      } catch (second) {
        this.directory.fail(second);
      }
    }
    this.#logEndOffset = this.#writtenEndOffset;
    waiting?.reject(failure);
    return failure;
  }

  #guarded<T>(action: () => T): T {
    try {
      return action();
    } catch (error) {
      throw storageFailure(this, error, 'has a fault');
    }
  }

  /** What must not be done by half. A full disk hinders none of it, but files that cannot be opened may. */
  #wholly(action: () => void): void {
    this.#guarded(() => {
      try {
        action();
      } catch (error) {
        if (isOutOfFiles(error)) this.directory.fail(error);
        throw error;
      }
    });
  }

  /**
   * Whole batches from the one that contains the offset. At once when the bytes are in memory or few. Throws OFFSET_OUT_OF_RANGE
   * or KAFKA_STORAGE_ERROR.
   */
  read(fetchOffset: number, options: ReadOptions): FetchedRecords | Promise<FetchedRecords> {
    ensureUsable(this);
    const read = this.#guarded(() => readLog(this, fetchOffset, options));
    if (!(read instanceof Promise)) return read;
    return read.catch((error: unknown) => {
      throw storageFailure(this, error, 'cannot be read');
    });
  }

  /** The first record whose timestamp is at least this one. undefined: there is none. */
  offsetForTimestamp(timestamp: number): TimestampedOffset | undefined {
    return this.#search((segments) => firstRecordSince(timestamp, segments, this.#logStartOffset));
  }

  /** The first record that has the largest timestamp of all. undefined: there is none with a timestamp. */
  offsetOfMaxTimestamp(): TimestampedOffset | undefined {
    return this.#search(recordOfMaxTimestamp);
  }

  #search(find: (segments: readonly LogSegment[]) => RecordTime | undefined): TimestampedOffset | undefined {
    ensureUsable(this);
    this.writeStaged();
    const found = this.#guarded(() => find(this.#segments.all()));
    return found === undefined
      ? undefined
      : { timestamp: found.timestamp, offset: found.offset, leaderEpoch: this.epochForOffset(found.offset) };
  }

  /** The leader epoch of the record at the offset; -1 where it is not known. */
  epochForOffset(offset: number): number {
    return this.#leaderEpochs.epochAt(offset) ?? -1;
  }

  endOffsetForEpoch(epoch: number): EpochEnd {
    return this.#leaderEpochs.endOffsetFor(epoch, this.#logEndOffset);
  }

  /** The epoch's leader begins at the offset. */
  assignLeaderEpoch(epoch: number, startOffset: number): void {
    this.#leaderEpochs.assign(epoch, startOffset);
  }

  /** What the other log, which holds the same records, knows of leader epochs. */
  takeEpochsOf(other: PartitionLog): void {
    this.#leaderEpochs.replaceWith(other.#leaderEpochs);
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
    return this.#producerStates.active();
  }

  lastOfProducers(): Map<number, LastOfProducer> {
    return this.#producerStates.last(this.#highWatermark);
  }

  /**
   * Puts a cleaned segment, whose files are on the device as `*.cleaned`, in the place of neighbours, none of them active. Settles
   * when no crash can undo it. Throws when one of them is not in the log any more.
   */
  async replaceSegments(
    neighbours: readonly LogSegment[],
    cleaned: { readonly baseOffset: number; readonly sizeBytes: number; readonly modifiedMs: number },
  ): Promise<void> {
    ensureUsable(this);
    if (!this.#body.hasNeighbours(neighbours)) throw new Error(`${this.path} has other segments by now`);
    try {
      await this.#body.replace(neighbours, cleaned, this.#config);
    } catch (error) {
      // Half of it may have been done. That harms nobody where the log has been given up meanwhile, and its folder has another name.
      if (!this.#isClosed) this.directory.fail(error);
      throw error;
    }
  }

  removeExpiredProducers(): void {
    if (!this.#producerStates.isEmpty) {
      this.#producerStates.removeExpired(this.#files.clock.wallTimeMs(), this.#config.producerIdExpirationMs);
    }
  }

  /** Records before the offset are gone for readers at once; segments that lie wholly before it are deleted. */
  deleteRecordsBefore(offset: number): void {
    ensureUsable(this);
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
    ensureUsable(this);
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
    return this.#guarded(() => this.#body.deleteOldest(mustDelete, this, this.#config));
  }

  /**
   * Drops everything from the offset on, as a follower does whose log has parted from the leader's. A batch that contains the offset
   * goes whole.
   */
  truncateTo(offset: number): void {
    ensureUsable(this);
    this.writeStaged();
    if (offset >= this.#logEndOffset) {
      // An epoch in which this broker led and nothing came is not the new leader's.
      this.#leaderEpochs.truncateFromEnd(this.#logEndOffset);
      return;
    }
    this.#wholly(() => {
      if (offset <= this.#segments.first.baseOffset) this.#restartAt(offset, offset);
      else this.#rebuildAt(offset);
    });
    this.#highWatermark = Math.min(this.#highWatermark, this.#logEndOffset);
    this.#logStartOffset = Math.min(this.#logStartOffset, this.#logEndOffset);
  }

  /** Drops everything; the next record gets this offset. */
  truncateFullyAndStartAt(offset: number): void {
    ensureUsable(this);
    this.writeStaged();
    this.#wholly(() => this.#restartAt(offset, offset));
  }

  #restartAt(offset: number, logStartOffset: number): void {
    this.#forgetOrderlyEnd(offset);
    this.#tail.clear();
    const beginOnDisk = this.#body.beginAnew(offset, this.#config);
    this.#wentBackTo(offset);
    this.#logStartOffset = logStartOffset;
    this.#highWatermark = logStartOffset;
    beginOnDisk();
  }

  /** Cuts the log off at the offset and makes everything known from it anew. */
  #rebuildAt(offset: number): void {
    this.#forgetOrderlyEnd(offset);
    this.#tail.clear();
    const endOffset = this.#body.cutOffAt(offset, this.#logStartOffset, this.#config);
    this.#producerStates.highWatermarkMoved(Math.min(this.#highWatermark, endOffset));
    this.#wentBackTo(endOffset);
  }

  /** The log will be cut off below it. Should it ever end there again, that says nothing: without its snapshot a start looks through it. */
  #forgetOrderlyEnd(offset: number): void {
    const orderlyEnd = this.#orderlyEndOffset;
    if (offset >= orderlyEnd) return;
    this.#files.removeSnapshots((each) => each >= orderlyEnd);
    this.#files.syncNamesNow();
    this.#orderlyEndOffset = 0;
  }

  #wentBackTo(endOffset: number): void {
    this.#setbacks += 1;
    this.#logEndOffset = endOffset;
    this.#writtenEndOffset = endOffset;
    this.#foundEndOffset = endOffset;
    if (this.cleanedOffset !== undefined) this.cleanedOffset = Math.min(this.cleanedOffset, this.#segments.active.baseOffset);
    // A start must neither trust nor hide what is appended from now on because of what an old checkpoint says.
    const isLess = this.#recoveryPoint.logWentBackTo(endOffset) || endOffset < this.#logStartOffset;
    if (isLess) this.#barrier.raise();
  }

  /** Forces everything written so far to the device. Concurrent calls share one fdatasync. Rejects with KAFKA_STORAGE_ERROR. */
  async flush(): Promise<void> {
    this.#lastFlushMs = this.#files.clock.wallTimeMs();
    const passed = this.#barrier.passed();
    await this.#flushUpTo(this.#writtenEndOffset, passed);
  }

  async #flushUpTo(offset: number, passed?: Promise<void>): Promise<void> {
    try {
      await this.#recoveryPoint.flushUpTo(offset);
      await passed;
    } catch (error) {
      throw storageFailure(this, error, 'cannot be forced to the device');
    }
  }

  /** Puts everything on disk that a clean start needs. The log cannot be used afterwards. Rejects with KAFKA_STORAGE_ERROR. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.writeStaged();
    try {
      if (this.directory.isOnline) await this.#settle();
    } catch (error) {
      throw storageFailure(this, error, 'cannot be closed in order');
    } finally {
      this.closeFiles();
    }
  }

  async #settle(): Promise<void> {
    const endOffset = this.#logEndOffset;
    const { active } = this.#segments;
    // A snapshot at the end says that nothing has come since a clean start or a roll.
    if (!this.#files.snapshots.includes(endOffset)) {
      active.seal();
      active.writeIndexes();
    }
    if (endOffset > this.#logStartOffset) this.#files.writeSnapshot(this.#producerStates, endOffset);
    await this.#recoveryPoint.close(endOffset);
  }

  /** Lets go of the files, as they are. What this turn has appended is lost, and those who wait are told. */
  closeFiles(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { waiting } = this.#staged.take();
    const code = this.directory.isOnline ? errorCodes.NOT_LEADER_OR_FOLLOWER : errorCodes.KAFKA_STORAGE_ERROR;
    waiting?.reject(new ProtocolError(code, `${this.path} is closed`));
    this.#tail.clear();
    for (const segment of this.#segments.all()) segment.retire();
    this.#leaderEpochs.retire();
    this.#files.retire();
  }
}
