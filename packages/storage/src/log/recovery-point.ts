// How far a log is on the device, and the flushes that bring it further.
//
//   recoveryPoint <= writtenEndOffset
//   before it: records, leader epochs and, but for the active segment, indexes are on the device, so a start after a crash trusts
//   them; from the segment in which it lies on, everything is scanned

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

export class RecoveryPoint {
  readonly #log: FlushedLog;
  #offset: number;
  /** Counts how often the log went back: a flush that began before says nothing about what was appended since. */
  #setbacks = 0;

  constructor(log: FlushedLog, offset: number) {
    this.#log = log;
    this.#offset = offset;
  }

  get offset(): number {
    return this.#offset;
  }

  /** The log was cut off at the offset. True: the recovery point lay beyond it. */
  logWentBackTo(offset: number): boolean {
    this.#setbacks += 1;
    const isLower = offset < this.#offset;
    if (isLower) this.#offset = offset;
    return isLower;
  }

  /** Forces to the device what was written before the offset. Concurrent calls share the work. */
  async flushUpTo(endOffset: number): Promise<void> {
    if (endOffset <= this.#offset) return;
    const setbacks = this.#setbacks;
    const { segments, leaderEpochs } = this.#log;
    const from = Math.max(0, segments.floorIndex(this.#offset));
    const dirty = segments.all().slice(from);
    await leaderEpochs.write();
    for (let index = 0; index < dirty.length && dirty[index]!.baseOffset < endOffset; index++) {
      await this.#flushSegment(dirty[index]!, dirty[index + 1]);
    }
    if (setbacks === this.#setbacks && endOffset > this.#offset) this.#offset = endOffset;
  }

  async #flushSegment(segment: LogSegment, next: LogSegment | undefined): Promise<void> {
    if (segment.writtenBytes === 0) return;
    try {
      if (next !== undefined) segment.writeIndexes();
      await forced(segment.flush());
      if (next === undefined || segment.isRetired) return;
      await forced(segment.flushIndexes());
      await forced(this.#log.files.syncSnapshot(next.baseOffset));
    } catch (error) {
      // The segment was deleted in the meantime: then it does not matter.
      if (!(error instanceof RetiredFileError)) throw error;
    }
  }
}

async function forced(flush: Promise<void>): Promise<void> {
  try {
    await flush;
  } catch (error) {
    if (error instanceof RetiredFileError) throw error;
    throw new FailedFlushError('A file could not be forced to the device', { cause: error });
  }
}
