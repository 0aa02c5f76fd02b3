// Scans a segment after a crash: the first batch that is damaged, and all that follows, is cut off; the indexes are made anew.

import {
  type Batch,
  batchAt,
  batchSizeAt,
  CorruptRecordError,
  logOverhead,
  RecordBatch,
  recordBatchOverhead,
} from '@odradek/protocol';
import type { LogSegment } from './log-segment.ts';
import type { PendingRead, RecordsFile } from './records-file.ts';

/** What was behind the last batch that is whole and in its place. */
export interface CutOff {
  readonly sizeBytes: number;
  /** Where a batch could have begun there were only zeros: the file was longer than what had been written to it. */
  readonly isZeros: boolean;
}

const smallestWindowBytes = 1024 * 1024;
const largestWindowBytes = 8 * 1024 * 1024;

/**
 * `take` sees each batch whose bytes are whole, and says whether it belongs there. Asks for a piece of a few megabytes at a time, and
 * is told how much of it was read.
 */
export function* recoverSegment(
  segment: LogSegment,
  maxMessageBytes: number,
  take: (batch: Batch) => boolean,
): Generator<PendingRead, CutOff, number> {
  const { records } = segment;
  segment.forgetContents();
  const scan = new SegmentScan(segment, take);
  const windowBytes = Math.max(smallestWindowBytes, Math.min(maxMessageBytes, largestWindowBytes));
  let window = Buffer.allocUnsafeSlow(Math.min(records.sizeBytes, windowBytes));
  while (scan.endPosition < records.sizeBytes && !scan.isAtDamage) {
    const start = scan.endPosition;
    const leftBytes = records.sizeBytes - start;
    const end = yield records.pendingRead(window, Math.min(window.length, leftBytes), start);
    scan.takePiece(window.subarray(0, end));
    if (scan.endPosition > start || scan.isAtDamage) continue;
    // Not one whole batch in the window: it is larger than that, or cut off.
    const neededBytes = end >= logOverhead ? window.readInt32BE(8) + logOverhead : 0;
    if (neededBytes <= window.length || neededBytes > leftBytes) break;
    window = Buffer.allocUnsafeSlow(neededBytes);
  }
  const cut = { sizeBytes: records.sizeBytes - scan.endPosition, isZeros: hasZerosAt(scan.endPosition, records) };
  records.truncate(scan.endPosition);
  segment.seal();
  return cut;
}

class SegmentScan {
  readonly #segment: LogSegment;
  readonly #take: (batch: Batch) => boolean;
  /** Where the batches end that were taken. */
  endPosition = 0;
  isAtDamage = false;
  #nextOffset: number;

  constructor(segment: LogSegment, take: (batch: Batch) => boolean) {
    this.#segment = segment;
    this.#take = take;
    this.#nextOffset = segment.baseOffset;
  }

  /** Takes the batches that are whole in the bytes, which stand at `endPosition`. */
  takePiece(bytes: Buffer): void {
    let at = 0;
    for (let size = 0; (size = this.#sizeOfBatch(bytes, at)) > 0; at += size) {
      const batch = batchAt(bytes, at);
      if (!batch.isCrcValid() || !this.#isInPlace(batch) || !this.#take(batch)) {
        this.isAtDamage = true;
        break;
      }
      this.#segment.recordAppended(this.endPosition + at, size, batch.lastOffset, batch.maxTimestamp);
      this.#nextOffset = batch.lastOffset + 1;
    }
    this.endPosition += at;
  }

  #sizeOfBatch(bytes: Buffer, at: number): number {
    try {
      return batchSizeAt(bytes, at);
    } catch (error) {
      // No batch can begin like this.
      if (!(error instanceof CorruptRecordError)) throw error;
      this.isAtDamage = true;
      return 0;
    }
  }

  /** What stands in the wrong place is no batch of this segment, though its bytes are whole. */
  #isInPlace(batch: Batch): boolean {
    const firstOffset = batch instanceof RecordBatch ? batch.baseOffset : batch.lastOffset;
    return firstOffset >= this.#nextOffset && this.#segment.canHold(0, batch.lastOffset);
  }
}

function hasZerosAt(position: number, records: RecordsFile): boolean {
  const header = Buffer.alloc(recordBatchOverhead);
  const length = records.readSync(header, 0, header.length, position);
  return length > 0 && header.every((byte) => byte === 0);
}
