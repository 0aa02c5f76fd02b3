// One partition that a fetcher follows, in one reign of its leader: how far it is, where it was cut off, and what has gone wrong with it.
//
//   new -> truncating   the follower's log is cut off where it parts from the leader's     (OffsetForLeaderEpoch)
//   new -> fetching     leaders that speak Fetch 12 say with the records where they part   (diverging epoch)
//   truncating -> fetching
//   any -> failed       nothing is asked about it until the controller has something new to say

import { errorByCode, errorCodes, ProtocolError } from '@odradek/protocol';
import type { Clock, Logger } from '@odradek/runtime';
import type { SessionPartition } from './fetch-session-client.ts';
import { type EpochEndAnswer, type OutOfRange, truncationFor } from './follower-truncation.ts';
import type { Partition } from './partition.ts';

export interface FollowedPartitionParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** replica.fetch.backoff.ms */
  readonly backoffMs: () => number;
}

export class FollowedPartition {
  readonly partition: Partition;
  readonly leaderEpoch: number;
  state: 'new' | 'truncating' | 'fetching' | 'failed' = 'new';
  /** Records of the leader's that are committed and not here; undefined: not known yet. */
  lag: number | undefined;
  readonly #parts: FollowedPartitionParts;
  #wanted: SessionPartition | undefined;
  /** Monotonic; before that nothing is asked about it. */
  #notBeforeMs = 0;
  /** The refusal that was logged last, so that the same again is not. */
  #toldErrorCode: number = errorCodes.NONE;
  #isOver = false;

  constructor(partition: Partition, parts: FollowedPartitionParts) {
    this.partition = partition;
    this.leaderEpoch = partition.leaderEpoch;
    this.#parts = parts;
  }

  /** What `wanted` answered last. */
  get lastWanted(): SessionPartition | undefined {
    return this.#wanted;
  }

  /** What to ask the leader for next: the same object as before, as long as nothing has changed. */
  wanted(canDiverge: boolean, maxBytes: number): SessionPartition {
    const { topic, topicId, index: partition, log } = this.partition;
    const { logEndOffset: fetchOffset, logStartOffset } = log;
    const lastFetchedEpoch = canDiverge ? (log.latestEpoch ?? -1) : -1;
    const last = this.#wanted;
    if (
      last?.fetchOffset === fetchOffset &&
      last.lastFetchedEpoch === lastFetchedEpoch &&
      last.logStartOffset === logStartOffset &&
      last.maxBytes === maxBytes &&
      last.topicId === topicId
    ) {
      return last;
    }
    this.#wanted = {
      topic,
      topicId,
      partition,
      currentLeaderEpoch: this.leaderEpoch,
      fetchOffset,
      lastFetchedEpoch,
      logStartOffset,
      maxBytes,
    };
    return this.#wanted;
  }

  /** It is not followed any more, or in another reign. Answers that are still to come do not count. */
  end(): void {
    this.#isOver = true;
  }

  get isCurrent(): boolean {
    return !this.#isOver && this.leaderEpoch === this.partition.leaderEpoch;
  }

  /** When it may be asked about again, on the monotonic clock; Infinity: only after the controller has spoken. */
  get dueMs(): number {
    return this.state === 'failed' ? Number.POSITIVE_INFINITY : this.#notBeforeMs;
  }

  /** Runs what may fail because of this one partition. */
  guarded(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.failed(error);
    }
  }

  /** Cuts off what the leader, by its answer, does not have. */
  cutOffAt(answer: EpochEndAnswer): void {
    const { log } = this.partition;
    const { offset, isComplete } = truncationFor(answer, log, log.highWatermark);
    this.#cutOff(offset);
    // A leader that tells where logs part is asked further by fetching.
    if (isComplete) this.state = 'fetching';
  }

  /** For logs that know no epochs: what lies before the high watermark every leader has, if only clean elections were held. */
  cutOffAtHighWatermark(): void {
    this.#cutOff(this.partition.log.highWatermark);
    this.state = 'fetching';
  }

  #cutOff(offset: number): void {
    const { topic, index, log } = this.partition;
    if (offset < log.logEndOffset) {
      const { logEndOffset, highWatermark } = log;
      const fields = { topic, partition: index, from: offset, logEndOffset, highWatermark };
      if (offset < highWatermark) this.#parts.logger.warn('Cutting off what was committed: the leader does not have it', fields);
      else this.#parts.logger.info('Cutting off what the leader does not have', fields);
    }
    this.partition.truncateTo(offset);
  }

  /** The leader did not have the offset, and this is what follows from where its log ends and begins. */
  startOver(then: OutOfRange, leaderEnd: number): void {
    const { partition } = this;
    const { topic, index, log } = partition;
    this.#parts.logger.warn('The leader does not have the offset that comes next here', {
      topic,
      partition: index,
      logEndOffset: log.logEndOffset,
      then: then.type,
      offset: then.offset,
    });
    if (then.type === 'truncate') partition.truncateTo(then.offset);
    else if (then.type === 'restart') partition.restartAt(then.offset);
    else this.delay();
    this.lag = Math.max(0, leaderEnd - log.logEndOffset);
  }

  /** What the leader says of its own offsets. */
  followOffsets({ highWatermark, logStartOffset }: { readonly highWatermark: number; readonly logStartOffset: number }): void {
    const { partition } = this;
    this.lag = Math.max(0, highWatermark - partition.log.logEndOffset);
    this.#toldErrorCode = errorCodes.NONE;
    partition.followOffsets(highWatermark, logStartOffset);
  }

  /** The leader refused to tell anything of the partition. */
  refused(errorCode: number): void {
    const { logger } = this.#parts;
    const { topic, index } = this.partition;
    const fields = { topic, partition: index, leaderEpoch: this.leaderEpoch, error: errorByCode(errorCode).name };
    this.delay();
    if (errorCode === errorCodes.FENCED_LEADER_EPOCH) {
      logger.info('Waiting for the controller: the leader is in a later epoch', fields);
      this.state = 'failed';
      return;
    }
    if (this.#toldErrorCode === errorCode) return;
    this.#toldErrorCode = errorCode;
    switch (errorCode) {
      case errorCodes.UNKNOWN_LEADER_EPOCH:
      case errorCodes.NOT_LEADER_OR_FOLLOWER:
        // One of the two has not heard of the leader yet, or still believes to hear of it.
        logger.debug('The leader does not answer yet', fields);
        return;
      case errorCodes.UNKNOWN_TOPIC_OR_PARTITION:
      case errorCodes.UNKNOWN_TOPIC_ID:
      case errorCodes.INCONSISTENT_TOPIC_ID:
        logger.warn('The leader does not know the partition', fields);
        return;
      default:
        logger.error('The leader cannot serve the partition', fields);
    }
  }

  /** What the leader sent could not be taken. */
  failed(error: unknown): void {
    const { logger } = this.#parts;
    const { topic, index } = this.partition;
    const fields = { topic, partition: index, error };
    const code = error instanceof ProtocolError ? error.code : undefined;
    if (!this.isCurrent) {
      logger.debug('A partition that is not followed any more has failed', fields);
    } else if (code === errorCodes.CORRUPT_MESSAGE || code === errorCodes.INVALID_RECORD) {
      logger.error('The leader sent records that are damaged; they will be fetched again', fields);
      this.delay();
    } else if (code === errorCodes.KAFKA_STORAGE_ERROR && this.#isDirectoryOnline) {
      logger.error('What was fetched could not be written; it will be tried again', fields);
      this.delay();
    } else {
      logger.error('A partition cannot be followed any more', fields);
      this.state = 'failed';
    }
  }

  delay(): void {
    this.#notBeforeMs = this.#parts.clock.monotonicMs() + this.#parts.backoffMs();
  }

  /** A disk that is full may have room again later. */
  get #isDirectoryOnline(): boolean {
    return this.partition.hasLog && this.partition.log.directory.isOnline;
  }
}
