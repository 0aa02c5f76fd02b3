// Converts batches between the message formats: down for consumers that know only old ones, up for what old producers send.

import { buildRecordBatch, type RecordBatchOptions } from './batch-builder.ts';
import { type Batch, iterateBatches } from './batches.ts';
import { buildLegacyBatch } from './legacy-builder.ts';
import type { LogRecord } from './record.ts';
import { UnsupportedCompressionTypeError } from './record-errors.ts';

/**
 * Batches of a magic above `toMagic` are rewritten in it, one by one, keeping offsets, timestamps and compression; those at
 * or below it stay as they are, as every client reads older formats than its own. Headers are dropped and control batches
 * left out, for which the old formats have no place. From uncompressed batches the records below `startOffset` are left out:
 * old consumers do not expect to be given messages from before the offset they asked for, except within a compressed message.
 *
 * The result may be empty although the input is not. It ends before a batch that is compressed with zstd, so that a consumer gets
 * what lies before it; when there is nothing before it, UnsupportedCompressionTypeError is thrown.
 */
export function convertRecords(buffer: Buffer, toMagic: 0 | 1 | 2, startOffset: number): Buffer {
  const parts: Buffer[] = [];
  for (const batch of iterateBatches(buffer)) {
    if (batch.compression === 'zstd' && toMagic < 2 && !batch.isControl) {
      if (parts.length > 0) break;
      throw new UnsupportedCompressionTypeError(`Zstd compression does not exist in message format ${toMagic}`);
    }
    if (batch.magic <= toMagic) {
      parts.push(batch.bytes());
    } else {
      const converted = downConvert(batch, toMagic === 0 ? 0 : 1, startOffset);
      if (converted !== null) parts.push(converted);
    }
  }
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}

/** Says without converting anything whether `convertRecords` would have to. */
export function needsConversion(buffer: Buffer, toMagic: 0 | 1 | 2): boolean {
  for (const batch of iterateBatches(buffer)) if (batch.magic > toMagic) return true;
  return false;
}

function downConvert(batch: Batch, magic: 0 | 1, startOffset: number): Buffer | null {
  if (batch.isControl) return null;
  const records: LogRecord[] = [];
  for (const record of batch.records()) {
    if (batch.isCompressed || record.offset >= startOffset) records.push(record);
  }
  const first = records[0];
  if (first === undefined) return null;
  const isAppendTime = batch.timestampType === 'LogAppendTime';
  return buildLegacyBatch(
    {
      magic,
      baseOffset: first.offset,
      compression: batch.compression,
      timestampType: isAppendTime ? 'LogAppendTime' : 'CreateTime',
      logAppendTime: isAppendTime ? batch.maxTimestamp : undefined,
    },
    records,
  );
}

export interface RebuildOptions {
  /** 2 by default. */
  readonly toMagic?: 1 | 2 | undefined;
  /** The offset of the first record; the others follow without gaps. */
  readonly baseOffset: number;
  /** That of the topic, or of the producer where the topic leaves it to the producer. */
  readonly compression: RecordBatchOptions['compression'];
  readonly compressionLevel?: number | undefined;
  readonly timestampType: 'CreateTime' | 'LogAppendTime';
  readonly logAppendTime?: number | undefined;
  readonly partitionLeaderEpoch: number;
}

/**
 * All records of the buffer in one new batch with new offsets. This serves messages of old producers, and also batches that must
 * be compressed anew because the topic asks for another codec; the first batch gives the producer's id, epoch and sequence.
 * Records of magic 0 have no timestamp and get none, unless the type is LogAppendTime.
 */
export function rebuildRecords(buffer: Buffer, options: RebuildOptions): Buffer {
  const records: Omit<LogRecord, 'offset' | 'sequence'>[] = [];
  let first: Batch | undefined;
  for (const batch of iterateBatches(buffer)) {
    first ??= batch;
    for (const { timestamp, key, value, headers } of batch.records()) records.push({ timestamp, key, value, headers });
  }
  const { toMagic, ...batchOptions } = options;
  if (toMagic === 1) return buildLegacyBatch({ magic: 1, ...batchOptions }, records);
  return buildRecordBatch(
    {
      ...batchOptions,
      producerId: first?.producerId,
      producerEpoch: first?.producerEpoch,
      baseSequence: first?.baseSequence,
      isTransactional: first?.isTransactional,
    },
    records,
  );
}
