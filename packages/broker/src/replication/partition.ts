// One partition as this broker holds it: leader or follower, its log, who is in sync, and where the high watermark stands.
//
//   logStartOffset <= highWatermark <= logEndOffset
//   highWatermark = the least log end offset of the in-sync replicas, and never falls during one leader's reign
//
// A Partition decides nothing about other partitions and knows no requests; it throws a ProtocolError where it must refuse.

import { errorCodes, ProtocolError, zeroUuid } from '@odradek/protocol';
import type { Clock } from '@odradek/runtime';
import type { AppendInfo, FetchedRecords, PartitionLog } from '@odradek/storage';
import { FollowerState } from './follower-state.ts';
import { hasEnoughInSync, highWatermarkOf } from './in-sync-replicas.ts';

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

export interface PartitionParts {
  readonly brokerId: number;
  readonly clock: Clock;
  /** replica.lag.time.max.ms */
  readonly maxReplicaLagMs: () => number;
  /** Called when something happened that a waiting request may have waited for. */
  readonly onProgress: (partition: Partition) => void;
}

const noEpoch = -1;

export class Partition {
  readonly topic: string;
  readonly index: number;
  readonly #parts: PartitionParts;
  #topicId: string;
  #log: PartitionLog | undefined;
  #isOffline = false;
  #leader = -1;
  #leaderEpoch = noEpoch;
  #partitionEpoch = -1;
  /** Where the log ended when this broker began to lead; the high watermark is not known to be right before it gets there. */
  #leaderEpochStartOffset = 0;
  #assignedReplicas: readonly number[] = [];
  #inSyncReplicas: ReadonlySet<number> = new Set();
  readonly #followers = new Map<number, FollowerState>();
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

  get partitionEpoch(): number {
    return this.#partitionEpoch;
  }

  get isLeader(): boolean {
    return this.#leader === this.#parts.brokerId;
  }

  get assignedReplicas(): readonly number[] {
    return this.#assignedReplicas;
  }

  get inSyncReplicas(): ReadonlySet<number> {
    return this.#inSyncReplicas;
  }

  get isUnderReplicated(): boolean {
    return this.isLeader && this.#inSyncReplicas.size < this.#assignedReplicas.length;
  }

  /** The disk below it failed: the partition answers nothing but KAFKA_STORAGE_ERROR from now on. */
  get isOffline(): boolean {
    return this.#isOffline;
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
    const isNewReign = state.leaderEpoch > this.#leaderEpoch || !this.isLeader;
    this.#take(state);
    if (isNewReign) {
      this.#leaderEpochStartOffset = this.#log.logEndOffset;
      this.#log.assignLeaderEpoch(state.leaderEpoch, this.#leaderEpochStartOffset);
      this.#resetFollowers();
    }
    this.advanceHighWatermark();
    this.#parts.onProgress(this);
    return isNewReign;
  }

  /** The controller named another leader (or none). True: the leader or its epoch is new. */
  becomeFollower(state: PartitionState, openLog: () => PartitionLog): boolean {
    this.#log ??= openLog();
    const isNewReign = state.leaderEpoch > this.#leaderEpoch || state.leader !== this.#leader;
    this.#take(state);
    this.#followers.clear();
    this.#parts.onProgress(this);
    return isNewReign;
  }

  /** The controller took the replica away: who waits for it is told so. */
  stop(): void {
    this.#leader = -1;
    this.#followers.clear();
    this.#parts.onProgress(this);
  }

  markOffline(): void {
    this.#isOffline = true;
    this.#leader = -1;
    this.#followers.clear();
    this.#parts.onProgress(this);
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
        `has only ${this.#inSyncReplicas.size} replicas in sync, and min.insync.replicas is ${log.config.minInSyncReplicas}`,
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
    return !this.isLeader || this.log.highWatermark >= this.#leaderEpochStartOffset;
  }

  /** A follower fetched, and so has everything before `fetchOffset`. Throws NOT_LEADER_OR_FOLLOWER for a broker that is no replica. */
  recordFollowerFetch(brokerId: number, fetchOffset: number, logStartOffset: number): void {
    const follower = this.#followers.get(brokerId);
    if (follower === undefined) throw this.#refusal(errorCodes.NOT_LEADER_OR_FOLLOWER, `has no replica on broker ${brokerId}`);
    follower.recordFetch(fetchOffset, logStartOffset, this.log.logEndOffset, this.#parts.clock.monotonicMs());
    this.advanceHighWatermark();
    this.#parts.onProgress(this);
  }

  hasEnoughInSyncReplicas(): boolean {
    const minInSync = this.log.config.minInSyncReplicas;
    return hasEnoughInSync(this.#inSyncReplicas.size, minInSync, this.#assignedReplicas.length);
  }

  /** What was appended is written: readers have news. Called for each append; those of one turn were written together. */
  recordWritten(): void {
    const writtenEnd = this.#log?.writtenEndOffset ?? 0;
    if (writtenEnd === this.#toldEndOffset) return;
    this.#toldEndOffset = writtenEnd;
    this.#writtenBytes += this.#stagedBytes;
    this.#stagedBytes = 0;
    this.advanceHighWatermark();
    this.#parts.onProgress(this);
  }

  /** Moves the high watermark as far as the in-sync replicas allow. True: it moved. */
  advanceHighWatermark(): boolean {
    const log = this.#log;
    if (log === undefined || !this.isLeader || this.#isOffline) return false;
    const before = log.highWatermark;
    let reached = log.writtenEndOffset;
    if (this.#followers.size > 0) {
      if (!this.hasEnoughInSyncReplicas()) return false;
      reached = highWatermarkOf(reached, this.#inSyncReplicas, this.#followers.values(), {
        nowMs: this.#parts.clock.monotonicMs(),
        maxLagMs: this.#parts.maxReplicaLagMs(),
      });
    }
    if (reached <= before) return false;
    return log.updateHighWatermark(reached) > before;
  }

  /** The offset below which every replica may delete: the least log start offset of all. */
  get lowWatermark(): number {
    let lowest = this.log.logStartOffset;
    for (const follower of this.#followers.values()) {
      if (this.#inSyncReplicas.has(follower.brokerId) && follower.logStartOffset < lowest) lowest = follower.logStartOffset;
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
    this.#parts.onProgress(this);
    return target;
  }

  #leaderLog(): PartitionLog {
    const log = this.log;
    if (!this.isLeader) throw this.#refusal(errorCodes.NOT_LEADER_OR_FOLLOWER, `is led by broker ${this.#leader}`);
    return log;
  }

  #take(state: PartitionState): void {
    this.#leader = state.leader;
    this.#leaderEpoch = state.leaderEpoch;
    this.#partitionEpoch = state.partitionEpoch;
    this.#assignedReplicas = state.replicas;
    this.#inSyncReplicas = new Set(state.isr);
  }

  #resetFollowers(): void {
    this.#followers.clear();
    const nowMs = this.#parts.clock.monotonicMs();
    for (const brokerId of this.#assignedReplicas) {
      if (brokerId !== this.#parts.brokerId) this.#followers.set(brokerId, new FollowerState(brokerId, nowMs));
    }
  }

  #refusal(code: number, what: string): ProtocolError {
    return new ProtocolError(code, `${this.topic}-${this.index} ${what}`);
  }
}
