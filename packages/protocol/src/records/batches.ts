// Cuts bytes into batches, whatever their formats. All formats agree on where the size and the magic stand.

import { int32At } from './big-endian.ts';
import { LegacyBatch, legacyMessageOverhead } from './legacy-batch.ts';
import { logOverhead, magicPosition, RecordBatch } from './record-batch.ts';
import { CorruptRecordError } from './record-errors.ts';

export type Batch = RecordBatch | LegacyBatch;

/** The largest size that the formats can express. */
const largestBatchBytes = 0x7fffffff;

/**
 * The size of the batch at the position, or 0 where the bytes end before the batch does: a short tail is what a fetch
 * ends in, not a fault. Throws CorruptRecordError where no batch can begin like this.
 *
 * This is the whole of a walk that allocates nothing:
 *   for (let at = 0, size = 0; (size = batchSizeAt(buffer, at)) > 0; at += size) …
 */
export function batchSizeAt(buffer: Buffer, position: number, end: number = buffer.length): number {
  if (position + logOverhead > end) return 0;
  const length = int32At(buffer, position + 8);
  if (length < legacyMessageOverhead[0])
    throw new CorruptRecordError(`A batch declares ${length} bytes, fewer than any format needs`);
  const size = length + logOverhead;
  if (size > largestBatchBytes) throw new CorruptRecordError(`A batch declares ${length} bytes, more than any format allows`);
  if (position + magicPosition + 1 > end) return 0;
  const magic = buffer[position + magicPosition]!;
  if (magic > 2) throw new CorruptRecordError(`A batch declares the magic ${(magic << 24) >> 24}, which does not exist`);
  return position + size > end ? 0 : size;
}

/** A view on the batch at the position, where `batchSizeAt` has found one. */
export function batchAt(buffer: Buffer, position: number): Batch {
  return buffer[position + magicPosition] === 2 ? new RecordBatch(buffer, position) : new LegacyBatch(buffer, position);
}

/** Views on the batches, in order. A short tail ends the iteration. Throws CorruptRecordError as `batchSizeAt` does. */
export function* iterateBatches(buffer: Buffer, start = 0, end: number = buffer.length): Generator<Batch, void, undefined> {
  for (let at = start, size = 0; (size = batchSizeAt(buffer, at, end)) > 0; at += size) yield batchAt(buffer, at);
}

/** What whole batches there are, and how far they reach. */
export interface BatchesSummary {
  readonly count: number;
  /** The bytes of whole batches; what follows is a short tail. */
  readonly validBytes: number;
  readonly lastPosition: number;
}

export function recordBatchesIn(buffer: Buffer, start = 0, end: number = buffer.length): BatchesSummary {
  let count = 0;
  let at = start;
  let lastPosition = -1;
  for (let size = 0; (size = batchSizeAt(buffer, at, end)) > 0; at += size) {
    lastPosition = at;
    count += 1;
  }
  return { count, validBytes: at - start, lastPosition };
}

/** Null where there is no whole batch. */
export function firstBatchOf(buffer: Buffer): Batch | null {
  return batchSizeAt(buffer, 0) === 0 ? null : batchAt(buffer, 0);
}

/** Null where there is no whole batch. */
export function lastBatchOf(buffer: Buffer): Batch | null {
  const { lastPosition } = recordBatchesIn(buffer);
  return lastPosition === -1 ? null : batchAt(buffer, lastPosition);
}
