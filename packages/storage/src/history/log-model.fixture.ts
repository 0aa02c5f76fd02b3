// What a log must be: a list of batches, too simple to be wrong. Everything else is worked out from that list, in other ways than
// the log does it.
//
// The model knows which batches the log must have (all up to `durableEnd` even after a power cut), and which it might: what was cut
// off or not forced to the device may come back after a crash, but only whole, in place, and without a gap.
//
//   durableStart <= startOffset, durableEnd <= writtenEnd <= endOffset

import assert from 'node:assert/strict';
import { type Batch, batchAt, type LogRecord, magicPosition, readEndTransactionMarker } from '@odradek/protocol';

export interface ModelBatch {
  readonly bytes: Buffer;
  readonly baseOffset: number;
  readonly endOffset: number;
  /** As the producer sent it, where it was a producer. */
  readonly sent?: Buffer | undefined;
}

export interface ModelTransaction {
  readonly producerId: number;
  readonly firstOffset: number;
  /** -1: it is open. */
  endOffset: number;
  isAborted: boolean;
}

export interface ModelProducer {
  readonly producerEpoch: number;
  readonly lastSequence: number;
}

export class LogModel {
  batches: ModelBatch[] = [];
  startOffset = 0;
  endOffset = 0;
  /** What is written, and so survives the end of the process. */
  writtenEnd = 0;
  /** What a power cut leaves. */
  durableEnd = 0;
  /** The log begins here at least, even after a power cut. */
  durableStart = 0;
  /** The log was begun anew, and the one before may come back. */
  isStartUnforced = false;
  /** Records before this were deleted once, and what was known of them is forgotten, even if a crash has brought them back. */
  knownFrom = 0;
  /** The leader epoch of what is appended next. */
  epoch = 0;
  /** The high watermarks that a checkpoint on disk may tell of. */
  highWatermarks = [0];
  /** A transaction that ended beyond the high watermark may be forgotten: after a start, and when the high watermark fell. */
  areEndsKnown = true;
  /** Every batch that ever stood in the log, by what it is. */
  readonly #everWritten = new Set<string>();
  /** What a crash brought back began before the log start, and of that part nothing is known. */
  isBeginningUnknown = false;

  wasEverWritten(bytes: Buffer): boolean {
    return this.#everWritten.has(contentOf(bytes));
  }

  /** It was given to the log, which refused it; perhaps after it had reached the file. */
  mayBeWritten(bytes: Buffer): void {
    this.#everWritten.add(contentOf(bytes));
  }

  /** The batch stands at the end of the log now. */
  keep(bytes: Buffer, sent?: Buffer): ModelBatch {
    const { baseOffset, nextOffset } = batchOf(bytes);
    const batch = { bytes, baseOffset, endOffset: nextOffset, sent };
    this.batches.push(batch);
    this.mayBeWritten(bytes);
    this.endOffset = nextOffset;
    return batch;
  }

  written(endOffset: number): void {
    this.writtenEnd = Math.max(this.writtenEnd, endOffset);
  }

  forced(endOffset: number): void {
    this.durableEnd = Math.max(this.durableEnd, endOffset);
  }

  /** All of it is on the device as it is. */
  allForced(): void {
    this.writtenEnd = this.endOffset;
    this.durableEnd = this.endOffset;
    this.isStartUnforced = false;
  }

  /** Whatever comes of it, nothing from the offset on is safe any more. */
  mayGoBackTo(offset: number): void {
    this.writtenEnd = Math.min(this.writtenEnd, offset);
    this.durableEnd = Math.min(this.durableEnd, offset);
    if (offset >= this.startOffset) return;
    this.durableStart = Math.min(this.durableStart, offset);
    this.isStartUnforced = true;
  }

  goBackTo(offset: number): void {
    this.mayGoBackTo(offset);
    this.batches = this.batches.filter(({ endOffset }) => endOffset <= offset);
    this.endOffset = offset;
    this.startOffset = Math.min(this.startOffset, offset);
  }

  /** The log is empty, and its next record gets this offset. */
  beginAt(offset: number): void {
    this.mayGoBackTo(0);
    this.isStartUnforced = true;
    this.isBeginningUnknown = false;
    this.durableStart = 0;
    this.batches = [];
    this.startOffset = offset;
    this.endOffset = offset;
    this.writtenEnd = offset;
  }

  deleteBefore(offset: number): void {
    this.startOffset = Math.max(this.startOffset, offset);
    this.knownFrom = Math.max(this.knownFrom, offset);
  }

  /** Another topic of the same name: nothing of this one may be seen any more. */
  beginAgain(): void {
    this.#everWritten.clear();
    // As long as nothing of it has been acknowledged, a crash may give it the log start and the high watermark of the one before.
    this.beginAt(0);
    this.knownFrom = 0;
    this.epoch = 0;
    this.highWatermarks.push(0);
    this.areEndsKnown = true;
  }

  /** A crash has left these batches. */
  found(batches: readonly ModelBatch[], startOffset: number, endOffset: number): void {
    const before = this.batches.filter((batch) => batch.endOffset <= startOffset);
    this.isBeginningUnknown ||= this.isStartUnforced && startOffset > 0;
    const sent = new Map(this.batches.map((batch) => [batch.bytes.toString('latin1'), batch.sent]));
    this.batches = [...before, ...batches.map((batch) => ({ ...batch, sent: sent.get(batch.bytes.toString('latin1')) }))];
    this.startOffset = startOffset;
    this.endOffset = endOffset;
    this.writtenEnd = endOffset;
    // What was there before the crash and has not been forced since may yet go with the next.
    this.durableEnd = Math.min(this.durableEnd, endOffset);
    this.durableStart = Math.min(this.durableStart, startOffset);
    this.areEndsKnown = false;
  }

  /** From here on nothing is forgotten: before lies what was deleted once. */
  get rememberedFrom(): number {
    return Math.max(this.startOffset, this.knownFrom);
  }

  /** Where a gap at the end of a log begins is in no file. */
  endOfRecords(endOffset: number): number {
    return this.batches.findLast((batch) => batch.endOffset <= endOffset)?.endOffset ?? 0;
  }

  /** Those that readers can have, with the markers of transactions. */
  records(): LogRecord[] {
    return this.batches.flatMap(({ bytes }) => [...batchOf(bytes).records()]).filter(({ offset }) => offset >= this.startOffset);
  }

  producers(fromOffset: number): Map<number, ModelProducer> {
    const found = new Map<number, ModelProducer>();
    for (const { bytes, endOffset } of this.batches) {
      const { producerId, producerEpoch, lastSequence, isControl } = batchOf(bytes);
      if (producerId < 0 || endOffset <= fromOffset) continue;
      const before = found.get(producerId);
      const known = before?.producerEpoch === producerEpoch ? before.lastSequence : -1;
      found.set(producerId, { producerEpoch, lastSequence: isControl ? known : lastSequence });
    }
    return found;
  }

  lastOf(producerId: number): ModelBatch | undefined {
    return this.batches.findLast(({ bytes }) => {
      const batch = batchOf(bytes);
      return batch.producerId === producerId && !batch.isControl;
    });
  }

  /** In the order of their beginnings. */
  transactions(): ModelTransaction[] {
    const all: ModelTransaction[] = [];
    const open = new Map<number, ModelTransaction>();
    for (const { bytes, baseOffset } of this.batches) {
      const batch = batchOf(bytes);
      const { producerId } = batch;
      if (!batch.isTransactional) continue;
      const transaction = open.get(producerId);
      if (!batch.isControl) {
        if (transaction !== undefined) continue;
        const begun = { producerId, firstOffset: baseOffset, endOffset: -1, isAborted: false };
        open.set(producerId, begun);
        all.push(begun);
      } else if (transaction !== undefined) {
        open.delete(producerId);
        transaction.endOffset = baseOffset;
        const [marker] = batch.records();
        assert.ok(marker !== undefined, 'a marker has a record');
        transaction.isAborted = readEndTransactionMarker(marker)?.type === 'abort';
      }
    }
    return all;
  }

  /** Between these the last stable offset must lie. They are one where the log knows of all ends beyond the high watermark. */
  lastStableOffset(highWatermark: number): { readonly lowest: number; readonly highest: number } {
    const bound = (offsets: readonly number[]): number =>
      Math.min(highWatermark, Math.max(this.startOffset, Math.min(...offsets, Number.MAX_SAFE_INTEGER)));
    const transactions = this.transactions();
    const undecided = transactions.filter(({ endOffset }) => endOffset < 0 || endOffset >= highWatermark);
    const seen = (this.areEndsKnown ? undecided : transactions.filter(({ endOffset }) => endOffset < 0)).filter(
      ({ firstOffset }) => firstOffset >= this.rememberedFrom,
    );
    return {
      lowest: this.isBeginningUnknown ? bound([0]) : bound(undecided.map(({ firstOffset }) => firstOffset)),
      highest: bound(seen.map(({ firstOffset }) => firstOffset)),
    };
  }
}

/**
 * What checksums cover in every format. A write that is torn within the fields before may leave the offset or the leader epoch of
 * the batch that stood there before, and nothing in the formats tells.
 */
function contentOf(bytes: Buffer): string {
  return bytes.toString('latin1', magicPosition);
}

export function batchOf(bytes: Buffer): Batch {
  return batchAt(bytes, 0);
}
