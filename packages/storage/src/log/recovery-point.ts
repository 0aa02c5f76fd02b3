// How far a log is on the device, and the flushes that bring it further.
//
//   recoveryPoint <= flushedOffset <= writtenEndOffset
//   before flushedOffset the records are on the device, and what is known of their leader epochs
//   before recoveryPoint their indexes and producer snapshots are too, so a start after a crash trusts all of it; from the segment
//   in which it lies on, it scans
//
// The active segment's indexes are not forced with every flush, because that segment is scanned in any case: once the log has been
// written to, the recovery point is where the active segment begins at most. Before that it stays at the end that the last orderly
// stop has left, and a start that finds the log ending there need not look through it.

import { isOutOfFiles } from './disk-fault.ts';
import { RetiredFileError } from './file-pool.ts';
import type { LeaderEpochs } from './leader-epochs.ts';
import type { LogFiles } from './log-files.ts';
import type { LogSegment } from './log-segment.ts';
import type { LogSegments } from './log-segments.ts';

/** After this nobody knows what the device has, so it is no disk to go on with, not even when it was only full. */
export class FailedFlushError extends Error {
  override readonly name = 'FailedFlushError';
}

/** What is flushed. */
export interface FlushedLog {
  readonly segments: LogSegments;
  readonly leaderEpochs: LeaderEpochs;
  readonly files: LogFiles;
}

const settled = Promise.resolve();

export class RecoveryPoint {
  readonly #log: FlushedLog;
  #flushedOffset: number;
  /** The segment in which this lies is the first that may not be on the device as it is; the flushed offset but for what was cut off. */
  #dirtyFromOffset: number;
  /** Segments that do not grow any more, whose indexes may not be on the device. Ascending. */
  readonly #unsettled: LogSegment[];
  #settling: Promise<void> | undefined;
  /** Counts how often the log went back: a flush that began before says nothing about what was appended since. */
  #setbacks: number;
  /** As of the last flush: until the next one, what was cut off may come back. */
  #flushedSetbacks = 0;
  #isClosed = false;
  /** All of the log is on the device, with its indexes, and nothing has been done to it since. */
  #isUntouched: boolean;

  /**
   * What was scanned, from `firstScannedOffset` on, is only known to be in the page cache, and so is what the scan has cut off; and
   * the indexes from `firstUnsettledOffset` on.
   */
  constructor(
    log: FlushedLog,
    flushedOffset: number,
    { firstScannedOffset, firstUnsettledOffset }: { readonly firstScannedOffset: number; readonly firstUnsettledOffset: number },
  ) {
    const { segments } = log;
    this.#log = log;
    this.#flushedOffset = flushedOffset;
    this.#dirtyFromOffset = Math.min(flushedOffset, firstScannedOffset);
    this.#setbacks = firstScannedOffset === Number.MAX_SAFE_INTEGER ? 0 : 1;
    this.#isUntouched = firstScannedOffset === Number.MAX_SAFE_INTEGER;
    this.#unsettled = segments.all().filter((each) => each.baseOffset >= firstUnsettledOffset && each !== segments.active);
  }

  get flushedOffset(): number {
    return this.#flushedOffset;
  }

  /** What the checkpoint may say. */
  get offset(): number {
    if (this.#isClosed || this.#isUntouched) return this.#flushedOffset;
    const first = this.#unsettled.find(({ isRetired }) => !isRetired) ?? this.#log.segments.active;
    return Math.min(this.#flushedOffset, first.baseOffset);
  }

  /** Something is being appended. */
  touch(): void {
    this.#isUntouched = false;
  }

  /** The log was cut off at the offset. True: checkpoints may say more of it now than is true. */
  logWentBackTo(offset: number): boolean {
    this.#setbacks += 1;
    this.#isUntouched = false;
    this.#dirtyFromOffset = Math.min(this.#dirtyFromOffset, offset, this.#log.segments.active.baseOffset);
    const isLower = offset < this.#flushedOffset;
    if (isLower) this.#flushedOffset = offset;
    return isLower;
  }

  /** The segment does not grow any more. */
  segmentClosed(segment: LogSegment): void {
    this.#isUntouched = false;
    this.#unsettled.push(segment);
  }

  /** Forces to the device what was written before the offset, and what else a start needs of the segments that are closed. */
  async flushUpTo(endOffset: number): Promise<void> {
    const setbacks = this.#setbacks;
    // First of all: a file that comes back beside the one that took its place would be taken for a part of the log.
    await forced(this.#log.files.syncNames());
    if (endOffset > this.#flushedOffset || this.#flushedSetbacks < this.#setbacks) await this.#flushRecords(endOffset, setbacks);
    await this.#settleAll();
  }

  /** Whoever comes while that is under way waits for its end, not only for what is left to begin. */
  #settleAll(): Promise<void> {
    if (this.#unsettled.length === 0) return this.#settling ?? settled;
    this.#settling ??= this.#settleInOrder().finally(() => {
      this.#settling = undefined;
    });
    return this.#settling;
  }

  async #settleInOrder(): Promise<void> {
    for (let segment = this.#unsettled[0]; segment !== undefined; segment = this.#unsettled[0]) {
      if (!segment.isRetired) await this.#settle(segment);
      this.#unsettled.shift();
    }
  }

  /** As `flushUpTo`, and the active segment as though it were closed: nothing will be appended any more. */
  async close(endOffset: number): Promise<void> {
    await this.flushUpTo(endOffset);
    const { segments, leaderEpochs, files } = this.#log;
    // An epoch of which there is no record is assigned again by the next start. Ten thousand idle logs would be forced to the device
    // for nothing else. But of what was cut off the file must not tell any more.
    const hasRecords = (leaderEpochs.latest?.startOffset ?? endOffset) < endOffset;
    if (hasRecords || leaderEpochs.fileReaches(endOffset)) await leaderEpochs.write();
    await forced(segments.active.flushIndexes());
    await forced(files.syncSnapshot(endOffset));
    this.#isClosed = true;
  }

  async #flushRecords(endOffset: number, setbacks: number): Promise<void> {
    const { segments, leaderEpochs } = this.#log;
    const dirty = segments.all().slice(Math.max(0, segments.floorIndex(this.#dirtyFromOffset)));
    await leaderEpochs.write();
    for (const segment of dirty) {
      if (segment.baseOffset <= endOffset) await forced(this.#unlessGone(segment));
    }
    this.#flushedSetbacks = Math.max(this.#flushedSetbacks, setbacks);
    if (setbacks !== this.#setbacks) return;
    this.#flushedOffset = Math.max(this.#flushedOffset, endOffset);
    this.#dirtyFromOffset = this.#flushedOffset;
  }

  /** The segment may be deleted in the meantime: then it does not matter. If the log is closed, nobody knows what the device has. */
  async #unlessGone(segment: LogSegment): Promise<void> {
    try {
      await segment.flush();
    } catch (error) {
      if (!(error instanceof RetiredFileError) || this.#log.segments.all().includes(segment)) throw error;
    }
  }

  async #settle(segment: LogSegment): Promise<void> {
    const { segments, files } = this.#log;
    const next = segments.at(segments.floorIndex(segment.baseOffset) + 1);
    segment.writeIndexes();
    await forced(unlessRetired(segment.flushIndexes()));
    if (next !== undefined) await forced(files.syncSnapshot(next.baseOffset));
  }
}

/** Of a segment that is not in use any more no start trusts anything. */
async function unlessRetired(flush: Promise<void>): Promise<void> {
  try {
    await flush;
  } catch (error) {
    if (!(error instanceof RetiredFileError)) throw error;
  }
}

async function forced(flush: Promise<void>): Promise<void> {
  try {
    await flush;
  } catch (error) {
    // It was not even begun.
    if (isOutOfFiles(error)) throw error;
    throw new FailedFlushError('A file could not be forced to the device', { cause: error });
  }
}
