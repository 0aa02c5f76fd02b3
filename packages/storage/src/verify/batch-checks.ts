// One batch, by itself: its format, its checksum, its records.

import {
  type Batch,
  InvalidRecordError,
  LegacyBatch,
  ProtocolError,
  RecordBatch,
  recordBatchOverhead,
  validateRecords,
} from '@odradek/protocol';
import type { BatchBytes } from '../inspect/batch-file.ts';
import type { Complain, PassingBatch } from './index-checks.ts';

export interface CheckedBatch extends PassingBatch {
  readonly batch: Batch;
  /** It has fewer records than offsets: compaction has taken some. */
  readonly hasGaps: boolean;
}

/** What is in a log has been accepted once, however far it unfolds. */
const noLimit = Number.MAX_SAFE_INTEGER;

/** undefined: nothing that it says can be believed. */
export function checkBatch(
  { buffer, start, position, magic, sizeBytes }: BatchBytes,
  complain: Complain,
): CheckedBatch | undefined {
  if (magic < 0 || magic > 2) {
    complain('batch-format', position, `the magic ${magic}, which does not exist`);
    return undefined;
  }
  if (magic === 2 && sizeBytes < recordBatchOverhead) {
    complain('batch-format', position, `a batch of ${sizeBytes} bytes, fewer than its header has`);
    return undefined;
  }
  const batch = magic === 2 ? new RecordBatch(buffer, start) : new LegacyBatch(buffer, start);
  if (!batch.isCrcValid()) {
    complain('batch-crc', position, `the batch that ends with offset ${batch.lastOffset} has not the checksum of its bytes`);
    return damaged(batch, position);
  }
  return batch instanceof RecordBatch ? checkRecordBatch(batch, position, complain) : checkLegacyBatch(batch, position, complain);
}

/** What its header says may still be right. Without it the next batch would seem to follow a gap. */
function damaged(batch: Batch, position: number): CheckedBatch | undefined {
  const { lastOffset, maxTimestamp } = batch;
  const baseOffset = batch instanceof RecordBatch ? batch.baseOffset : lastOffset;
  if (baseOffset < 0 || lastOffset < baseOffset || batch.isControl) return undefined;
  return { batch, position, baseOffset, lastOffset, maxTimestamp, hasGaps: false };
}

function checkRecordBatch(batch: RecordBatch, position: number, complain: Complain): CheckedBatch {
  const { baseOffset, lastOffset, lastOffsetDelta, maxTimestamp, recordCount } = batch;
  if (baseOffset < 0 || lastOffsetDelta < 0) {
    complain('batch-records', position, `the batch goes from offset ${baseOffset} to ${lastOffset}`);
  }
  let largestTimestamp = maxTimestamp;
  const fault = faultOf(() => {
    if (recordCount > 0) largestTimestamp = scan(batch);
  });
  if (fault !== undefined) complain('batch-records', position, `the batch at offset ${baseOffset}: ${fault}`);
  else if (batch.timestampType === 'CreateTime' && largestTimestamp !== maxTimestamp) {
    const words = `the batch at offset ${baseOffset} says ${maxTimestamp}, but its records reach to ${largestTimestamp}`;
    complain('max-timestamp', position, words);
  }
  return { batch, position, baseOffset, lastOffset, maxTimestamp, hasGaps: recordCount < lastOffsetDelta + 1 };
}

/** Answers the largest timestamp. */
function scan(batch: RecordBatch): number {
  const { recordCount, lastOffsetDelta, baseTimestamp } = batch;
  const reader = batch.scan(noLimit);
  let previousDelta = -1;
  let largestDelta = Number.MIN_SAFE_INTEGER;
  for (let index = 0; index < recordCount; index++) {
    reader.advance();
    const { offsetDelta, timestampDelta } = reader;
    if (offsetDelta <= previousDelta || offsetDelta > lastOffsetDelta) {
      const bounds = `after ${previousDelta}, where ${lastOffsetDelta} is the last`;
      throw new InvalidRecordError(`record ${index} has the relative offset ${offsetDelta} ${bounds}`);
    }
    previousDelta = offsetDelta;
    if (timestampDelta > largestDelta) largestDelta = timestampDelta;
  }
  reader.ensureAtEnd();
  return baseTimestamp + largestDelta;
}

function checkLegacyBatch(batch: LegacyBatch, position: number, complain: Complain): CheckedBatch {
  const { lastOffset, maxTimestamp } = batch;
  let baseOffset = lastOffset;
  let hasGaps = false;
  const fault = faultOf(() => {
    baseOffset = batch.baseOffset;
    hasGaps = validateRecords(batch, noLimit).recordCount < lastOffset - baseOffset + 1;
  });
  if (fault !== undefined) complain('batch-records', position, `the message at offset ${lastOffset}: ${fault}`);
  return { batch, position, baseOffset, lastOffset, maxTimestamp, hasGaps };
}

/** What is wrong with the records; undefined where nothing is. Other errors are faults of ours. */
function faultOf(look: () => void): string | undefined {
  try {
    look();
    return undefined;
  } catch (error) {
    if (error instanceof ProtocolError) return error.message;
    throw error;
  }
}
