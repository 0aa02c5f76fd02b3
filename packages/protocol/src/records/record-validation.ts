// Checks the records of a batch, and learns from them what a log must know, without making an object for any.

import type { Batch } from './batches.ts';
import { int32At, int64At, uint32At } from './big-endian.ts';
import { defaultMaxDecompressedBytes } from './compression.ts';
import { crc32 } from './crc32c.ts';
import { LegacyBatch } from './legacy-batch.ts';
import { noTimestamp, type RecordBatch } from './record-batch.ts';
import { CorruptRecordError } from './record-errors.ts';

export interface RecordsSummary {
  readonly recordCount: number;
  /** Whether the offsets follow each other without gaps from the base offset on, as they must in what a producer sends. */
  readonly hasConsecutiveOffsets: boolean;
  /** -1 where no record has a timestamp, as are the two below. */
  readonly maxTimestamp: number;
  /** The first record that has the largest timestamp. */
  readonly offsetOfMaxTimestamp: number;
  readonly minTimestamp: number;
  readonly keylessCount: number;
  /** The position of the first record without a key among the records of the batch; -1 where all have one. */
  readonly firstKeyless: number;
  /** The size of the records after decompression. */
  readonly recordBytes: number;
}

const nothing: RecordsSummary = {
  recordCount: 0,
  hasConsecutiveOffsets: true,
  maxTimestamp: noTimestamp,
  offsetOfMaxTimestamp: -1,
  minTimestamp: noTimestamp,
  keylessCount: 0,
  firstKeyless: -1,
  recordBytes: 0,
};

/**
 * Throws InvalidRecordError at the first record whose structure is wrong, or where the batch does not hold exactly the records that it
 * declares; DecompressionError where the codec fails, CorruptRecordError where a wrapped message has a wrong checksum. The checksum of
 * the batch itself is not looked at: `ensureValid` does that.
 */
export function validateRecords(batch: Batch, maxBytes: number = defaultMaxDecompressedBytes): RecordsSummary {
  return batch instanceof LegacyBatch ? validateMessages(batch, maxBytes) : validateBatch(batch, maxBytes);
}

/** Counts the records, checking as much as is needed for that. */
export function countRecords(batch: Batch, maxBytes: number = defaultMaxDecompressedBytes): number {
  if (batch instanceof LegacyBatch) return batch.recordCount;
  return batch.recordCount === 0 ? 0 : validateBatch(batch, maxBytes).recordCount;
}

function validateBatch(batch: RecordBatch, maxBytes: number): RecordsSummary {
  const { recordCount } = batch;
  if (recordCount === 0) return nothing;
  const reader = batch.scan(maxBytes);
  const bytes = reader.end - reader.position;
  const baseTimestamp = batch.baseTimestamp;
  const logAppendTime = batch.timestampType === 'LogAppendTime' ? batch.maxTimestamp : null;
  let hasConsecutiveOffsets = true;
  let maxTimestamp = noTimestamp;
  let minTimestamp = Number.MAX_SAFE_INTEGER;
  let deltaOfMaxTimestamp = -1;
  let keylessCount = 0;
  let firstKeyless = -1;
  for (let index = 0; index < recordCount; index++) {
    reader.advance();
    const timestamp = baseTimestamp + reader.timestampDelta;
    if (timestamp > maxTimestamp) {
      maxTimestamp = timestamp;
      deltaOfMaxTimestamp = reader.offsetDelta;
    }
    if (timestamp < minTimestamp) minTimestamp = timestamp;
    if (reader.offsetDelta !== index) hasConsecutiveOffsets = false;
    if (reader.keySize < 0) {
      if (keylessCount === 0) firstKeyless = index;
      keylessCount += 1;
    }
  }
  reader.ensureAtEnd();
  if (logAppendTime !== null) {
    maxTimestamp = logAppendTime;
    minTimestamp = logAppendTime;
    deltaOfMaxTimestamp = 0;
  }
  return {
    recordCount,
    hasConsecutiveOffsets,
    maxTimestamp,
    offsetOfMaxTimestamp: deltaOfMaxTimestamp === -1 ? -1 : batch.baseOffset + deltaOfMaxTimestamp,
    minTimestamp,
    keylessCount,
    firstKeyless,
    recordBytes: bytes,
  };
}

function validateMessages(batch: LegacyBatch, maxBytes: number): RecordsSummary {
  let firstOffset = -1;
  let recordCount = 0;
  let hasConsecutiveOffsets = true;
  let maxTimestamp = noTimestamp;
  let minTimestamp = Number.MAX_SAFE_INTEGER;
  let offsetOfMaxTimestamp = -1;
  let keylessCount = 0;
  let firstKeyless = -1;
  for (const record of batch.records(maxBytes)) {
    if (recordCount === 0) firstOffset = record.offset;
    if (record.offset !== firstOffset + recordCount) hasConsecutiveOffsets = false;
    if (record.timestamp > maxTimestamp) {
      maxTimestamp = record.timestamp;
      offsetOfMaxTimestamp = record.offset;
    }
    if (record.timestamp < minTimestamp) minTimestamp = record.timestamp;
    if (record.key === null) {
      if (keylessCount === 0) firstKeyless = recordCount;
      keylessCount += 1;
    }
    recordCount += 1;
  }
  const bytes = batch.recordBytes(maxBytes);
  if (batch.isCompressed) ensureInnerChecksums(bytes);
  return {
    recordCount,
    hasConsecutiveOffsets,
    maxTimestamp,
    offsetOfMaxTimestamp,
    minTimestamp,
    keylessCount,
    firstKeyless,
    recordBytes: bytes.length,
  };
}

/** The checksum of a wrapper covers compressed bytes, those of the inner messages their own. */
function ensureInnerChecksums(messages: Buffer): void {
  for (
    let at = 0, end = 0;
    at + 12 <= messages.length && (end = at + 12 + int32At(messages, at + 8)) <= messages.length;
    at = end
  ) {
    if (uint32At(messages, at + 12) !== crc32(messages, at + 16, end)) {
      throw new CorruptRecordError(`The message with the inner offset ${int64At(messages, at)} has a wrong checksum`);
    }
  }
}
