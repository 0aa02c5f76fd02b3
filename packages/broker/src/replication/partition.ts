// One partition as this broker holds it: leader or follower, its log, who is in sync, and where the high watermark stands.
//
//   logStartOffset <= highWatermark <= logEndOffset
//   highWatermark = the least log end offset of the in-sync replicas, and never falls during one leader's reign
//
// A Partition decides nothing about other partitions and knows no requests; it throws a ProtocolError where it must refuse.

import { errorCodes, ProtocolError, zeroUuid } from '@odradek/protocol';
import type { AppendInfo, FetchedRecords, PartitionLog } from '@odradek/storage';
import { sharedList, sharedSet } from '../metadata/replica-lists.ts';
import type { FollowerState } from './follower-state.ts';
import { Reign, type ReignOf, type ReignParts } from './reign.ts';

/** What the controller says of a partition, in LeaderAndIsr. */
export interface PartitionState {
  readonly leader: number;
  readonly leaderEpoch: number;
  readonly isr: readonly number[];
  readonly replicas: readonly number[];
  readonly partitionEpoch: number;
  readonly controllerEpoch: number;
}

export interface AppendOptions {
  readonly origin: 'client' | 'coordinator' | 'replication';
  /** -1: all in-sync replicas; then there must be enough of them before anything is written. */
  readonly requiredAcks: number;
}

export type Isolation = 'logEnd' | 'highWatermark' | 'lastStable';

export interface ReadOptions {
  readonly isolation: Isolation;
  /** The client's idea of the leader epoch, -1 for none. */
  readonly currentLeaderEpoch: number;
  /** Whether only a leader may answer. */
  readonly requiresLeader: boolean;
  readonly maxBytes: number;
  readonly minOneBatch: boolean;
}

export interface PartitionParts extends ReignParts {
  /** Called when something happened that a waiting request may have waited for. */
  readonly onProgress: (partition: Partition) => void;
  readonly onInSyncChange: (change: 'grown' | 'shrunk') => void;
}

/** A follower that fetches: how far it is, and in which life of its broker (-1: it does not say). */
export interface FollowerFetch {
  readonly brokerId: number;
  readonly brokerEpoch: number;
  readonly fetchOffset: number;
  readonly logStartOffset: number;
}

/** What a follower knows of its leader's log. */
export interface KnownOffsets {
  readonly leaderEpoch: number;
  readonly lastFetchedEpoch: number;
  /** As it was told last; -1: it has not taken any yet. */
  readonly highWatermark: number;
  readonly logStartOffset: number;
}

const noEpoch = -1;

export class Partition implements ReignOf {
  readonly topic: string;
  readonly index: number;
  readonly #parts: PartitionParts;
  #topicId: string;
  #log: PartitionLog | undefined;
  #isOffline = false;
  #leader = -1;
  #leaderEpoch = noEpoch;
  #leadingSinceEpoch = noEpoch;
  /** Of what the controller told last; while this broker leads, the reign knows better. */
  #partitionEpoch = -1;
  #inSyncReplicas = sharedSet([]);
  #assignedReplicas = sharedList([]);
  /** While this broker leads. */
  #reign: Reign | undefined;
  #stagedBytes = 0;
  #writtenBytes = 0;
  /** The end of the written log of which waiting requests were told last. */
  #toldEndOffset = -1;

  constructor(topic: string, index: number, topicId: string, parts: PartitionParts) {
    this.topic = topic;
    this.index = index;
    this.#topicId = topicId;
    this.#parts = parts;
  }

  get topicId(): string {
    return this.#topicId;
  }

  get leader(): number {
    return this.#leader;
  }

  get leaderEpoch(): number {
    return this.#leaderEpoch;
  }

  /** The epoch in which this broker began to lead; it may have gone on in later ones, when others left the in-sync replicas. */
  get leadingSinceEpoch(): number {
    return this.#leadingSinceEpoch;
  }

  get partitionEpoch(): number {
    return this.#reign?.partitionEpoch ?? this.#partitionEpoch;
  }

  get isLeader(): boolean {
    return this.#reign !== undefined;
  }

  get assignedReplicas(): readonly number[] {
    return this.#assignedReplicas;
  }

  /** As agreed on with the controller. */
  get inSyncReplicas(): ReadonlySet<number> {
    return this.#reign?.inSyncReplicas ?? this.#inSyncReplicas;
  }

  get isUnderReplicated(): boolean {
    return this.isLeader && this.inSyncReplicas.size < this.#assignedReplicas.length;
  }

  /** What the leader knows of the other replicas; nothing where this broker does not lead. */
  get followers(): Iterable<FollowerState> {
    return this.#reign?.followers ?? [];
  }

  /** The disk below it failed: the partition answers nothing but KAFKA_STORAGE_ERROR from now on. */
  get isOffline(): boolean {
    return this.#isOffline;
  }

  /** There has been no log yet: where it is offline, the log could not be opened. */
  get isUnopened(): boolean {
    return this.#log === undefined;
  }

  /** Bytes written since this partition was made, for whoever waits for a certain amount. */
  get writtenBytes(): number {
    return this.#writtenBytes;
  }

  /** The log, whoever leads. Throws KAFKA_STORAGE_ERROR when its disk is gone. */
  get log(): PartitionLog {
    if (this.#isOffline) throw this.#refusal(errorCodes.KAFKA_STORAGE_ERROR, 'lies on a log directory that is offline');
    if (this.#log === undefined) throw this.#refusal(errorCodes.NOT_LEADER_OR_FOLLOWER, 'has no log here yet');
    return this.#log;
  }

  get hasLog(): boolean {
    return this.#log !== undefined && !this.#isOffline;
  }

  /** The controller made this broker the leader. `openLog` is called when there is no log yet. True: a new reign began. */
  becomeLeader(state: PartitionState, openLog: () => PartitionLog): boolean {
    this.#log ??= openLog();
    const reign = this.#reign;
    if (reign !== undefined && reign.leaderEpoch === state.leaderEpoch) {
      reign.update(state);
      this.#assignedReplicas = sharedList(state.replicas);
    } else {
      this.#endReign();
      this.#take(state);
      if (reign === undefined) this.#leadingSinceEpoch = state.leaderEpoch;
      const startOffset = this.#log.logEndOffset;
      this.#log.assignLeaderEpoch(state.leaderEpoch, startOffset);
      this.#reign = new Reign(this.#parts, this, state, startOffset);
    }
    this.advanceHighWatermark();
    this.#progressed();
    return this.#reign !== reign;
  }

  /** The controller named another leader (or none). True: the leader or its epoch is new. */
  becomeFollower(state: PartitionState, openLog: () => PartitionLog): boolean {
    this.#log ??= openLog();
    const isNewReign = state.leaderEpoch > this.#leaderEpoch || state.leader !== this.#leader;
    if (!isNewReign && state.partitionEpoch < this.#partitionEpoch) return false;
    this.#endReign();
    this.#take(state);
    this.#progressed();
    return isNewReign;
  }

  /** The controller took the replica away: who waits for it is told so. */
  stop(): void {
    this.#leader = -1;
    this.#endReign();
    this.#progressed();
  }

  markOffline(): void {
    this.#isOffline = true;
    this.#leader = -1;
    this.#endReign();
    this.#progressed();
  }

  /** The log begins later: old segments were deleted. */
  recordStartMoved(): void {
    this.#progressed();
  }

  /** The log goes on in another directory. */
  replaceLog(log: PartitionLog): void {
    if (this.#log !== undefined) this.#log = log;
    this.#progressed();
  }

  /** A topic id that was not known when the partition was made. */
  assignTopicId(topicId: string): void {
    if (this.#topicId === zeroUuid) this.#topicId = topicId;
  }

  /** Throws NOT_LEADER_OR_FOLLOWER or NOT_ENOUGH_REPLICAS, or what the log has against the records. */
  append(records: Buffer, options: AppendOptions): AppendInfo {
    const log = this.#leaderLog();
    if (options.requiredAcks === -1 && !this.hasEnoughInSyncReplicas()) {
      throw this.#refusal(
        errorCodes.NOT_ENOUGH_REPLICAS,
        `has only ${this.inSyncReplicas.size} replicas in sync, and min.insync.replicas is ${log.config.minInSyncReplicas}`,
      );
    }
    const info = log.appendAsLeader(records, { leaderEpoch: this.#leaderEpoch, origin: options.origin });
    if (!info.isDuplicate) this.#stagedBytes += info.sizeBytes;
    return info;
  }

  /** Throws OFFSET_OUT_OF_RANGE, or what `checkEpoch` throws. At once when the bytes are at hand. */
  read(fetchOffset: number, options: ReadOptions): FetchedRecords | Promise<FetchedRecords> {
    const log = this.#logFor(options.currentLeaderEpoch, options.requiresLeader);
    return log.read(fetchOffset, { maxBytes: options.maxBytes, isolation: options.isolation, minOneBatch: options.minOneBatch });
  }

  /**
   * Where a reader that last read in `lastFetchedEpoch` and asks for `fetchOffset` parts from this log: the largest epoch that
   * both have, and its end here. undefined: nowhere, the reader may go on.
   */
  divergence(
    fetchOffset: number,
    lastFetchedEpoch: number,
    currentLeaderEpoch: number,
    requiresLeader: boolean,
  ): { readonly epoch: number; readonly endOffset: number } | undefined {
    if (lastFetchedEpoch < 0) return undefined;
    const log = this.#logFor(currentLeaderEpoch, requiresLeader);
    const end = log.endOffsetForEpoch(lastFetchedEpoch);
    if (end.endOffset < 0 || end.leaderEpoch < 0 || fetchOffset < log.logStartOffset) {
      throw this.#refusal(
        errorCodes.OFFSET_OUT_OF_RANGE,
        `knows nothing of leader epoch ${lastFetchedEpoch} at offset ${fetchOffset}`,
      );
    }
    if (end.leaderEpoch < lastFetchedEpoch || end.endOffset < fetchOffset)
      return { epoch: end.leaderEpoch, endOffset: end.endOffset };
    return undefined;
  }

  /** The log, if the client's idea of the leader epoch is ours. Throws NOT_LEADER_OR_FOLLOWER, FENCED_ or UNKNOWN_LEADER_EPOCH. */
  #logFor(currentLeaderEpoch: number, requiresLeader: boolean): PartitionLog {
    this.checkEpoch(currentLeaderEpoch);
    return requiresLeader ? this.#leaderLog() : this.log;
  }

  checkEpoch(currentLeaderEpoch: number): void {
    if (currentLeaderEpoch === noEpoch || currentLeaderEpoch === this.#leaderEpoch) return;
    if (currentLeaderEpoch < this.#leaderEpoch) {
      throw this.#refusal(errorCodes.FENCED_LEADER_EPOCH, `is in leader epoch ${this.#leaderEpoch}, not in ${currentLeaderEpoch}`);
    }
    throw this.#refusal(
      errorCodes.UNKNOWN_LEADER_EPOCH,
      `is in leader epoch ${this.#leaderEpoch}, not yet in ${currentLeaderEpoch}`,
    );
  }

  /** The log for a question about offsets, after the same checks as for a read. */
  logForOffsets(currentLeaderEpoch: number, requiresLeader: boolean): PartitionLog {
    return this.#logFor(currentLeaderEpoch, requiresLeader);
  }

  /** The end of what a reader of this isolation may see. */
  readableEnd(isolation: Isolation): number {
    switch (isolation) {
      case 'logEnd':
        return this.log.writtenEndOffset;
      case 'highWatermark':
        return this.log.highWatermark;
      case 'lastStable':
        return this.log.lastStableOffset;
    }
  }

  /** Until the high watermark has reached this leader's reign, a consumer must not be told where the log ends. */
  get isEndKnown(): boolean {
    return this.#reign === undefined || this.log.highWatermark >= this.#reign.startOffset;
  }

  /**
   * Throws NOT_LEADER_OR_FOLLOWER for a broker that is no replica, or has begun another life since it asked. One that tells the right leader
   * epoch may have become a replica without this broker's having heard of it: UNKNOWN_LEADER_EPOCH.
   */
  ensureFollower(brokerId: number, brokerEpoch: number, currentLeaderEpoch = noEpoch): FollowerState {
    const follower = this.#reign?.follower(brokerId);
    if (follower === undefined) {
      const mayBeOne = this.isLeader && currentLeaderEpoch !== noEpoch;
      const code = mayBeOne ? errorCodes.UNKNOWN_LEADER_EPOCH : errorCodes.NOT_LEADER_OR_FOLLOWER;
      throw this.#refusal(code, `has no replica on broker ${brokerId}`);
    }
    if (brokerEpoch !== -1 && brokerEpoch < follower.brokerEpoch) {
      throw this.#refusal(errorCodes.NOT_LEADER_OR_FOLLOWER, `has heard of a later life of broker ${brokerId} than ${brokerEpoch}`);
    }
    return follower;
  }

  /** A follower fetched, and so has everything before `fetchOffset`. Throws as `ensureFollower`. */
  recordFollowerFetch({ brokerId, brokerEpoch, fetchOffset, logStartOffset }: FollowerFetch): void {
    const follower = this.ensureFollower(brokerId, brokerEpoch);
    const { log } = this;
    const [lowWatermarkBefore, endBefore] = [follower.logStartOffset, follower.logEndOffset];
    follower.brokerEpoch = brokerEpoch;
    follower.recordFetch(fetchOffset, logStartOffset, log.logEndOffset, this.#parts.clock.monotonicMs());
    this.#reign?.maybeGrow(follower, log.highWatermark);
    const hasMoved = this.advanceHighWatermark();
    if (hasMoved || logStartOffset !== lowWatermarkBefore || fetchOffset !== endBefore) this.#progressed();
  }

  /**
   * Counts the fetch of a follower in sync that has all there is and has been told so, and answers what is known of the follower: there is
   * nothing to read or to tell, until something happens to the partition. undefined: nothing was done, the fetch goes its usual way.
   */
  tryRecordLevelFetch(
    { brokerId, brokerEpoch, fetchOffset, logStartOffset }: FollowerFetch,
    known: KnownOffsets,
  ): FollowerState | undefined {
    const log = this.#log;
    const reign = this.#reign;
    if (log === undefined || reign === undefined || this.#isOffline || known.leaderEpoch !== this.#leaderEpoch) return undefined;
    if (fetchOffset !== log.writtenEndOffset || fetchOffset !== log.logEndOffset) return undefined;
    if (known.highWatermark !== log.highWatermark || known.logStartOffset !== log.logStartOffset) return undefined;
    if (!isPartOf(log, known.lastFetchedEpoch, fetchOffset)) return undefined;
    const follower = reign.follower(brokerId);
    if (follower === undefined || follower.brokerEpoch !== brokerEpoch || !reign.inSyncReplicas.has(brokerId)) return undefined;
    if (follower.logEndOffset !== fetchOffset || follower.logStartOffset !== logStartOffset) return undefined;
    follower.recordFetch(fetchOffset, logStartOffset, fetchOffset, this.#parts.clock.monotonicMs());
    return follower;
  }

  /** Followers that lag for too long leave the in-sync replicas, when the controller agrees. */
  maybeShrinkInSyncReplicas(): void {
    if (this.#reign !== undefined && this.hasLog) this.#reign.maybeShrink(this.log.logEndOffset);
  }

  /** Whether a produce request with acks=all may be accepted. */
  hasEnoughInSyncReplicas(): boolean {
    return this.#reign?.hasEnoughInSync(this.log.config.minInSyncReplicas) ?? false;
  }

  /** Whether what the high watermark has passed was enough replicas' when it did. */
  hadEnoughInSyncReplicas(): boolean {
    return this.#reign?.hadEnoughInSync(this.log.config.minInSyncReplicas) ?? false;
  }

  /** The leader's next batches. Throws KAFKA_STORAGE_ERROR, CORRUPT_MESSAGE, or Error when they do not follow what is here. */
  appendAsFollower(records: Buffer): AppendInfo {
    const info = this.#followerLog().appendAsFollower(records);
    this.#stagedBytes += info.sizeBytes;
    return info;
  }

  /**
   * What the leader says of its offsets, once what came with it is written. A new leader may know less than this broker; what was
   * committed before stays so, as long as it has not been cut off.
   */
  followOffsets(highWatermark: number, logStartOffset: number): void {
    const log = this.#followerLog();
    if (highWatermark > log.highWatermark) log.updateHighWatermark(highWatermark);
    if (logStartOffset > log.logStartOffset) log.deleteRecordsBefore(Math.min(logStartOffset, log.highWatermark));
    this.#progressed();
  }

  /** Drops what the leader does not have. */
  truncateTo(offset: number): void {
    this.#followerLog().truncateTo(offset);
    this.#toldEndOffset = -1;
  }

  /** Drops everything: the leader begins later. */
  restartAt(offset: number): void {
    this.#followerLog().truncateFullyAndStartAt(offset);
    this.#toldEndOffset = -1;
  }

  /** What was appended is written: readers have news. Called for each append; those of one turn were written together. */
  recordWritten(): void {
    const writtenEnd = this.#log?.writtenEndOffset ?? 0;
    if (writtenEnd === this.#toldEndOffset) return;
    this.#toldEndOffset = writtenEnd;
    // Before the bytes count: who waits for a certain amount begins to count here.
    this.#reign?.stirFollowers();
    this.#writtenBytes += this.#stagedBytes;
    this.#stagedBytes = 0;
    this.advanceHighWatermark();
    this.#progressed();
  }

  /** Moves the high watermark as far as the in-sync replicas allow. True: it moved. */
  advanceHighWatermark(): boolean {
    const log = this.#log;
    const reign = this.#reign;
    if (log === undefined || reign === undefined || this.#isOffline) return false;
    const before = log.highWatermark;
    // With too few in sync nothing more is committed, even if those few have it.
    if (!this.hasEnoughInSyncReplicas()) return false;
    const reached = reign.committedEnd(log.writtenEndOffset);
    if (reached <= before) return false;
    return log.updateHighWatermark(reached) > before;
  }

  /** The offset below which every replica has deleted: the least log start offset of all that are there. */
  get lowWatermark(): number {
    let lowest = this.log.logStartOffset;
    for (const { brokerId, logStartOffset } of this.followers) {
      if (logStartOffset < lowest && this.#parts.isBrokerAlive(brokerId)) lowest = logStartOffset;
    }
    return lowest;
  }

  /** Deletes what lies before the offset; -1 means all that is committed. Answers the offset meant. */
  deleteRecordsBefore(offset: number): number {
    const log = this.#leaderLog();
    const target = offset === -1 ? log.highWatermark : offset;
    if (target < 0) throw this.#refusal(errorCodes.OFFSET_OUT_OF_RANGE, `cannot delete before offset ${offset}`);
    if (target > log.highWatermark) {
      throw this.#refusal(errorCodes.OFFSET_OUT_OF_RANGE, `cannot delete beyond its high watermark ${log.highWatermark}`);
    }
    if (target > log.logStartOffset) log.deleteRecordsBefore(target);
    this.#progressed();
    return target;
  }

  /** The reign has agreed on it with the controller. */
  inSyncChanged(change: 'grown' | 'shrunk'): void {
    this.#parts.onInSyncChange(change);
    // The set can be down to this broker alone, or have room for the next that waits to join: that one will fetch again.
    this.advanceHighWatermark();
    this.#progressed();
  }

  #leaderLog(): PartitionLog {
    const log = this.log;
    if (!this.isLeader) throw this.#refusal(errorCodes.NOT_LEADER_OR_FOLLOWER, `is led by broker ${this.#leader}`);
    return log;
  }

  #followerLog(): PartitionLog {
    const { log } = this;
    if (this.isLeader) throw this.#refusal(errorCodes.NOT_LEADER_OR_FOLLOWER, 'is led by this broker, and follows nobody');
    return log;
  }

  #endReign(): void {
    this.#reign?.end();
    this.#reign?.stirFollowers();
    this.#reign = undefined;
  }

  /** Something happened that a follower or a waiting request may have waited for. */
  #progressed(): void {
    this.#reign?.stirFollowers();
    this.#parts.onProgress(this);
  }

  #take(state: PartitionState): void {
    this.#leader = state.leader;
    this.#leaderEpoch = state.leaderEpoch;
    this.#partitionEpoch = state.partitionEpoch;
    this.#assignedReplicas = sharedList(state.replicas);
    this.#inSyncReplicas = sharedSet(state.isr);
  }

  #refusal(code: number, what: string): ProtocolError {
    return new ProtocolError(code, `${this.topic}-${this.index} ${what}`);
  }
}

/** Whether a log that ends at the offset, in the epoch, parts nowhere from this one. One that has nothing at all does not. */
function isPartOf(log: PartitionLog, lastEpoch: number, endOffset: number): boolean {
  if (lastEpoch === noEpoch) return true;
  const end = log.endOffsetForEpoch(lastEpoch);
  return end.leaderEpoch === lastEpoch && end.endOffset >= endOffset;
}
