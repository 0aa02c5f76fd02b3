// The offset index and the time index of a segment, compared with its batches while these go by in their order.

import type { OffsetIndexView, TimeIndexView } from '../inspect/index-views.ts';
import type { VerificationRule } from './findings.ts';

/** What the checks need to know of a batch. */
export interface PassingBatch {
  readonly position: number;
  readonly baseOffset: number;
  readonly lastOffset: number;
  readonly maxTimestamp: number;
}

/** A finding in the file that is being checked. */
export type Complain = (rule: VerificationRule, position: number | undefined, detail: string) => void;

/** How the file of an index is made up. Zeros behind the last entry are what a killed Kafka leaves in the active segment. */
export function checkIndexSize(index: OffsetIndexView | TimeIndexView, isActive: boolean, complain: Complain): void {
  const { sizeBytes, realCount, entryCount } = index;
  if (!index.hasWholeEntries)
    complain('index-size', index.positionOf(entryCount), `the file ends within an entry, at ${sizeBytes}`);
  if (realCount < entryCount && !isActive) {
    const zeros = entryCount - realCount;
    complain('index-size', index.positionOf(realCount), `${zeros} entries of zeros in a segment that is closed`);
  }
}

export class OffsetIndexCheck {
  readonly #index: OffsetIndexView;
  readonly #complain: Complain;
  #next = 0;
  /** The entry whose batch has gone by, as long as its offset has not been met. */
  #open: { readonly offset: number; readonly at: number } | undefined;

  constructor(index: OffsetIndexView, complain: Complain) {
    this.#index = index;
    this.#complain = complain;
    for (let entry = 1; entry < index.realCount; entry++) {
      const [before, after] = [index.at(entry - 1), index.at(entry)];
      if (after.offset > before.offset && after.position > before.position) continue;
      const words = `offset ${after.offset} at ${after.position} follows offset ${before.offset} at ${before.position}`;
      complain('index-order', index.positionOf(entry), words);
    }
  }

  /** `areRecordsGone`: compaction has been here, so the offset need not be that of any batch that is left. */
  take(batch: PassingBatch, areRecordsGone: boolean): void {
    const index = this.#index;
    while (this.#next < index.realCount && index.at(this.#next).position < batch.position) {
      const { offset, position } = index.at(this.#next);
      this.#complain('index-position', index.positionOf(this.#next), `offset ${offset} at ${position}, where no batch begins`);
      this.#next += 1;
    }
    if (this.#next < index.realCount && index.at(this.#next).position === batch.position) {
      this.#close();
      const { offset } = index.at(this.#next);
      const at = index.positionOf(this.#next);
      if (offset < batch.baseOffset) {
        this.#complain('index-offset', at, `offset ${offset}, but the batch at ${batch.position} begins with ${batch.baseOffset}`);
      } else this.#open = { offset, at };
      this.#next += 1;
    }
    const open = this.#open;
    if (open === undefined) return;
    const isMet = areRecordsGone ? open.offset <= batch.lastOffset : open.offset === batch.lastOffset;
    if (isMet) this.#open = undefined;
    else if (open.offset < batch.lastOffset) this.#close();
  }

  /** After the last batch; `endPosition` is where it ends. */
  end(endPosition: number): void {
    this.#close();
    const index = this.#index;
    for (; this.#next < index.realCount; this.#next++) {
      const { offset, position } = index.at(this.#next);
      const words = `offset ${offset} at ${position}, but the batches end at ${endPosition}`;
      this.#complain('index-position', index.positionOf(this.#next), words);
    }
  }

  #close(): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    this.#complain('index-offset', open.at, `offset ${open.offset} is not the last of any batch from there to the next entry`);
  }
}

export class TimeIndexCheck {
  readonly #index: TimeIndexView;
  readonly #complain: Complain;
  #next = 0;
  #largest = -1;

  constructor(index: TimeIndexView, complain: Complain) {
    this.#index = index;
    this.#complain = complain;
    for (let entry = 1; entry < index.realCount; entry++) {
      const [before, after] = [index.at(entry - 1), index.at(entry)];
      if (after.timestamp > before.timestamp && after.offset >= before.offset) continue;
      const words = `timestamp ${after.timestamp} of offset ${after.offset} follows ${before.timestamp} of offset ${before.offset}`;
      complain('index-order', index.positionOf(entry), words);
    }
  }

  take({ baseOffset, lastOffset, maxTimestamp }: PassingBatch): void {
    const index = this.#index;
    for (; this.#next < index.realCount && index.at(this.#next).offset <= lastOffset; this.#next++) {
      const { timestamp, offset } = index.at(this.#next);
      const at = index.positionOf(this.#next);
      if (offset < baseOffset || timestamp !== maxTimestamp) {
        const found = offset < baseOffset ? 'there is no such batch' : `its batch has the timestamp ${maxTimestamp}`;
        this.#complain('time-index-offset', at, `timestamp ${timestamp} of offset ${offset}, but ${found}`);
      } else if (timestamp < this.#largest) {
        this.#complain('time-index-max', at, `timestamp ${timestamp} of offset ${offset}, but ${this.#largest} comes before it`);
      }
    }
    this.#largest = Math.max(this.#largest, maxTimestamp);
  }

  end(isClosed: boolean): void {
    const index = this.#index;
    for (let entry = this.#next; entry < index.realCount; entry++) {
      const { timestamp, offset } = index.at(entry);
      this.#complain(
        'time-index-offset',
        index.positionOf(entry),
        `timestamp ${timestamp} of offset ${offset}, which is not there`,
      );
    }
    const last = index.realCount === 0 ? -1 : index.at(index.realCount - 1).timestamp;
    if (isClosed && last < this.#largest) {
      this.#complain('time-index-end', undefined, `ends with the timestamp ${last}, but ${this.#largest} is in the segment`);
    }
  }
}
