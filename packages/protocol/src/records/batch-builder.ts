// Records in, one batch of magic 2 out.

import { type CompressionType, compress, compressionTypeId } from './compression.ts';
import { type RecordInit, sizeOfRecord, writeRecord } from './record.ts';
import {
  noPartitionLeaderEpoch,
  noProducerEpoch,
  noProducerId,
  noSequence,
  noTimestamp,
  type RecordBatch,
  recordBatchOverhead,
  writeRecordBatchHeader,
} from './record-batch.ts';

export interface RecordBatchOptions {
  /** 0 by default. */
  readonly baseOffset?: number | undefined;
  /** That of the last record by default; compaction keeps the original one when it removes records from the end. */
  readonly lastOffset?: number | undefined;
  readonly compression?: CompressionType | undefined;
  /** For gzip and zstd; the codec's own default where absent. */
  readonly compressionLevel?: number | undefined;
  readonly timestampType?: 'CreateTime' | 'LogAppendTime' | undefined;
  /** The timestamp of all records where the type is LogAppendTime. */
  readonly logAppendTime?: number | undefined;
  readonly partitionLeaderEpoch?: number | undefined;
  readonly producerId?: number | undefined;
  readonly producerEpoch?: number | undefined;
  readonly baseSequence?: number | undefined;
  readonly isTransactional?: boolean | undefined;
  readonly isControl?: boolean | undefined;
  /** When the cleaner may remove the tombstones in the batch; it takes the place of the base timestamp. */
  readonly deleteHorizonMs?: number | null | undefined;
}

export interface EmptyBatchOptions
  extends Omit<RecordBatchOptions, 'compression' | 'compressionLevel' | 'logAppendTime' | 'deleteHorizonMs'> {
  readonly lastOffset: number;
  readonly maxTimestamp: number;
}

/** Offsets must grow from record to record. Without any record there is no batch: the result is empty. */
export function buildRecordBatch(options: RecordBatchOptions, records: Iterable<RecordInit>): Buffer {
  const placed = place(options.baseOffset ?? 0, records);
  const first = placed.records[0];
  if (first === undefined) return Buffer.alloc(0);
  const baseOffset = options.baseOffset ?? 0;
  const deleteHorizonMs = options.deleteHorizonMs ?? null;
  const baseTimestamp = deleteHorizonMs ?? first.timestamp ?? noTimestamp;
  const compression = options.compression ?? 'none';
  const timestampType = options.timestampType ?? 'CreateTime';

  let recordBytes = 0;
  let maxTimestamp = noTimestamp;
  for (const [index, record] of placed.records.entries()) {
    const timestamp = record.timestamp ?? noTimestamp;
    if (timestamp > maxTimestamp) maxTimestamp = timestamp;
    recordBytes += sizeOfRecord(placed.offsets[index]! - baseOffset, timestamp - baseTimestamp, record);
  }
  const plain = Buffer.allocUnsafe(recordBatchOverhead + recordBytes);
  let at = recordBatchOverhead;
  for (const [index, record] of placed.records.entries()) {
    at = writeRecord(plain, at, placed.offsets[index]! - baseOffset, (record.timestamp ?? noTimestamp) - baseTimestamp, record);
  }
  const batch = compression === 'none' ? plain : withCompressedRecords(plain, compression, options.compressionLevel);
  writeRecordBatchHeader(batch, 0, {
    ...headerOf(options),
    lastOffset: options.lastOffset ?? placed.offsets.at(-1)!,
    sizeInBytes: batch.length,
    compressionId: compressionTypeId(compression),
    hasDeleteHorizon: deleteHorizonMs !== null,
    baseTimestamp,
    maxTimestamp: timestampType === 'LogAppendTime' ? (options.logAppendTime ?? noTimestamp) : maxTimestamp,
    recordCount: placed.records.length,
  });
  return batch;
}

/**
 * The batch with only some of its records, which are copied as they stand: they go on counting from its base offset and base timestamp.
 * `plain` has room for a header and behind it those records, not compressed; the result may be made of it.
 */
export function withRecordsOf(
  batch: RecordBatch,
  plain: Buffer,
  { recordCount, maxTimestamp }: { readonly recordCount: number; readonly maxTimestamp: number },
): Buffer {
  const { compression } = batch;
  const bytes = compression === 'none' ? plain : withCompressedRecords(plain, compression, undefined);
  writeRecordBatchHeader(bytes, 0, {
    baseOffset: batch.baseOffset,
    lastOffset: batch.lastOffset,
    sizeInBytes: bytes.length,
    partitionLeaderEpoch: batch.partitionLeaderEpoch,
    compressionId: batch.compressionId,
    timestampType: batch.timestampType,
    isTransactional: batch.isTransactional,
    isControl: batch.isControl,
    hasDeleteHorizon: batch.hasDeleteHorizon,
    baseTimestamp: batch.baseTimestamp,
    maxTimestamp,
    producerId: batch.producerId,
    producerEpoch: batch.producerEpoch,
    baseSequence: batch.baseSequence,
    recordCount,
  });
  return bytes;
}

/** The header alone, as compaction leaves it to remember a producer's last sequence number when all records are gone. */
export function buildEmptyBatch(options: EmptyBatchOptions): Buffer {
  const batch = Buffer.allocUnsafe(recordBatchOverhead);
  writeRecordBatchHeader(batch, 0, {
    ...headerOf(options),
    lastOffset: options.lastOffset,
    sizeInBytes: recordBatchOverhead,
    compressionId: 0,
    hasDeleteHorizon: false,
    baseTimestamp: noTimestamp,
    maxTimestamp: options.maxTimestamp,
    recordCount: 0,
  });
  return batch;
}

/** The records with the offset of each. Throws RangeError where offsets do not grow or stand before the base offset. */
export function place(
  baseOffset: number,
  records: Iterable<RecordInit>,
): { records: readonly RecordInit[]; offsets: readonly number[] } {
  const list = Array.isArray(records) ? (records as readonly RecordInit[]) : [...records];
  let next = baseOffset;
  const offsets = list.map((record) => {
    const offset = record.offset ?? next;
    if (offset < next) throw new RangeError(`A record has the offset ${offset} where ${next} is the lowest possible`);
    if (offset - baseOffset > 0x7fffffff) throw new RangeError(`Offset ${offset} is too far from the base offset ${baseOffset}`);
    next = offset + 1;
    return offset;
  });
  return { records: list, offsets };
}

function headerOf(options: RecordBatchOptions) {
  return {
    baseOffset: options.baseOffset ?? 0,
    partitionLeaderEpoch: options.partitionLeaderEpoch ?? noPartitionLeaderEpoch,
    timestampType: options.timestampType ?? 'CreateTime',
    isTransactional: options.isTransactional ?? false,
    isControl: options.isControl ?? false,
    producerId: options.producerId ?? noProducerId,
    producerEpoch: options.producerEpoch ?? noProducerEpoch,
    baseSequence: options.baseSequence ?? noSequence,
  };
}

function withCompressedRecords(plain: Buffer, compression: CompressionType, level: number | undefined): Buffer {
  const compressed = compress(compression, plain.subarray(recordBatchOverhead), level);
  const batch = Buffer.allocUnsafe(recordBatchOverhead + compressed.length);
  batch.set(compressed, recordBatchOverhead);
  return batch;
}
