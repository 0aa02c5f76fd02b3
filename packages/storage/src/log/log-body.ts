// The body of a log: its segments, and what is known from their records, which is leader epochs and producer states. It grows by a
// segment at its end, and loses segments at either end; what is known of them goes with them, in memory and on disk.

import { isDiskFull } from './disk-fault.ts';
import type { LeaderEpochs } from './leader-epochs.ts';
import type { LogConfig } from './log-config.ts';
import type { LogFiles } from './log-files.ts';
import type { LogSegment } from './log-segment.ts';
import type { LogSegments } from './log-segments.ts';
import type { ProducerStates } from './producer-states.ts';

export interface LogParts {
  readonly segments: LogSegments;
  readonly leaderEpochs: LeaderEpochs;
  readonly producerStates: ProducerStates;
}

export class LogBody implements LogParts {
  readonly segments: LogSegments;
  readonly leaderEpochs: LeaderEpochs;
  readonly producerStates: ProducerStates;
  readonly #files: LogFiles;

  constructor(files: LogFiles, { segments, leaderEpochs, producerStates }: LogParts) {
    this.#files = files;
    this.segments = segments;
    this.leaderEpochs = leaderEpochs;
    this.producerStates = producerStates;
  }

  /** A new segment at the end. One that is empty is replaced. */
  extend(baseOffset: number, config: LogConfig): LogSegment {
    const old = this.segments.active;
    const segment = this.#files.createSegment(baseOffset, config);
    const isReplaced = old.sizeBytes === 0;
    if (!isReplaced) {
      old.seal();
      old.writeIndexes();
      this.#files.writeSnapshot(this.producerStates, baseOffset);
    }
    this.segments.remove((each) => isReplaced && each === old);
    this.segments.add(segment);
    if (isReplaced) this.#files.removeSegments([old], 0);
    segment.markStart();
    return segment;
  }

  /**
   * Drops everything; the next record gets the offset. In memory at once, on disk when the answer is called: whatever moment a crash
   * comes at, the files that are left tell where the log begins.
   */
  beginAnew(offset: number, config: LogConfig): () => void {
    const kept = this.segments.all().find(({ baseOffset }) => baseOffset === offset);
    const removed = this.segments.remove((segment) => segment !== kept);
    const segment = kept ?? this.#files.createSegment(offset, config);
    if (kept === undefined) this.segments.add(segment);
    this.leaderEpochs.clear();
    this.producerStates.clear();
    return () => {
      try {
        segment.markStart();
      } catch (error) {
        // There may be room once the others are gone.
        if (!isDiskFull(error)) throw error;
      }
      this.#removeForGood(removed, () => true);
      segment.markStart();
      kept?.truncateTo(offset);
    };
  }

  /** Drops what lies at the offset or beyond, and batches that contain it. Answers where the log ends now. */
  cutOffAt(offset: number, logStartOffset: number, config: LogConfig): number {
    const { segments, leaderEpochs, producerStates } = this;
    const removed = segments.remove((segment) => segment.baseOffset >= offset && segment !== segments.first);
    this.#removeForGood(removed, (each) => each > offset);
    const endOffset = segments.active.truncateTo(offset);
    leaderEpochs.truncateFromEnd(endOffset);
    this.#files.removeSnapshots((each) => each > endOffset);
    this.#files.loadProducerStates(producerStates, segments, logStartOffset, endOffset, config);
    return endOffset;
  }

  /**
   * If a crash brought back what followed the segment that is cut off and written from now on, that would not be the last, which a start
   * scans whatever an old checkpoint says: of its files some may be cut and others not. And if it brought back a snapshot of the end, the
   * log might pass for one that was left in order.
   */
  #removeForGood(segments: readonly LogSegment[], isSnapshotRemoved: (offset: number) => boolean): void {
    this.#files.removeSegments(segments, 0);
    this.#files.removeSnapshots(isSnapshotRemoved);
    if (segments.length > 0) this.#files.syncNamesNow();
  }

  /** Deletes segments from the front for as long as this says so; the active one stays. Answers how many there were. */
  deleteOldest(
    mustDelete: (segment: LogSegment, endOffset: number) => boolean,
    { logStartOffset, logEndOffset }: { readonly logStartOffset: number; readonly logEndOffset: number },
    config: LogConfig,
  ): number {
    const removed = this.segments.removeWhile(mustDelete);
    if (removed.length === 0) return 0;
    const { baseOffset: firstOffset } = this.segments.first;
    this.#files.removeSegments(removed, config.fileDeleteDelayMs);
    // As in Kafka: what is known of producers before the log start does not count any more.
    this.#files.removeSnapshots((offset) => offset < firstOffset || (offset <= logStartOffset && offset < logEndOffset));
    return removed.length;
  }

  /** Whether these are segments of the log, one behind the other, none of them active. */
  hasNeighbours(neighbours: readonly LogSegment[]): boolean {
    const all = this.segments.all();
    const at = all.indexOf(neighbours[0]!);
    const areThere = at >= 0 && neighbours.every((segment, index) => segment === all[at + index]);
    return areThere && at + neighbours.length < all.length;
  }

  /** Puts a cleaned segment in the place of neighbours. */
  replace(
    neighbours: readonly LogSegment[],
    cleaned: { readonly baseOffset: number; readonly sizeBytes: number; readonly modifiedMs: number },
    config: LogConfig,
  ): Promise<void> {
    this.segments.replace(neighbours, this.#files.swapSegments(neighbours, cleaned, config));
    return this.#files.syncNames();
  }
}
