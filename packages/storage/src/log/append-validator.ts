// What is checked and changed in batches before they enter a log. Batches of today's producers pass as the bytes they are; only
// base offset and leader epoch are patched, which their checksum does not cover.

import {
  type Batch,
  batchAt,
  batchSizeAt,
  type CompressionType,
  CorruptRecordError,
  DecompressionError,
  errorCodes,
  InvalidRecordError,
  iterateBatches,
  LegacyBatch,
  ProtocolError,
  RecordBatch,
  type RecordsSummary,
  rebuildRecords,
  UnsupportedCompressionTypeError,
  validateRecords,
} from '@odradek/protocol';
import { isCompacted, type LogConfig } from './log-config.ts';

/** Who appends. Followers take what their leader has, as it is; coordinators may write control batches. */
export type AppendOrigin = 'client' | 'coordinator' | 'replication';

export interface RecordError {
  /** The record's place in its batch. */
  readonly batchIndex: number;
  readonly message: string;
}

/** Names the records that are at fault. */
export class InvalidRecordsError extends ProtocolError {
  readonly recordErrors: readonly RecordError[];

  constructor(code: number, recordErrors: readonly RecordError[], message: string) {
    super(code, message);
    this.recordErrors = recordErrors;
  }
}

export interface ValidationContext {
  readonly config: LogConfig;
  readonly origin: AppendOrigin;
  readonly nextOffset: number;
  readonly leaderEpoch: number;
  readonly nowMs: number;
}

export interface ValidatedRecords {
  /** One batch of magic 2, with its offsets and leader epoch. */
  readonly batch: RecordBatch;
  /** -1 where the records keep the times of their producers. */
  readonly logAppendTime: number;
}

/** How many records at fault are named; one is enough to find the bug. */
const maxRecordErrors = 10;

/**
 * Throws MESSAGE_TOO_LARGE, RECORD_LIST_TOO_LARGE, CORRUPT_MESSAGE, INVALID_RECORD, INVALID_TIMESTAMP or
 * UNSUPPORTED_COMPRESSION_TYPE. Nothing has been changed then, except that base offset and leader epoch may be patched.
 */
export function validateForAppend(records: Buffer, context: ValidationContext): ValidatedRecords {
  try {
    const first = firstBatch(records);
    if (first instanceof RecordBatch && first.sizeInBytes === records.length) return validateBatch(first, context);
    return validateOthers(records, context);
  } catch (error) {
    throw asProtocolError(error);
  }
}

function firstBatch(records: Buffer): Batch {
  if (batchSizeAt(records, 0) === 0) throw new CorruptRecordError('There is no whole batch in the records');
  return batchAt(records, 0);
}

function validateBatch(batch: RecordBatch, context: ValidationContext): ValidatedRecords {
  const { config, origin, nextOffset, leaderEpoch, nowMs } = context;
  ensureSize(batch.sizeInBytes, config);
  batch.ensureValid();
  if (origin === 'client') ensureClientBatch(batch);
  if (batch.isControl) return stamped(batch, nextOffset, leaderEpoch, -1);
  const summary = validateRecords(batch, config.maxDecompressedMessageBytes);
  ensureComplete(batch, summary, origin);
  ensureKeys(batch, summary, config);
  const isAppendTime = config.messageTimestampType === 'LogAppendTime';
  if (!isAppendTime) ensureTimestamps(batch, summary, context);
  const target = targetCompression(batch, config);
  if (target !== batch.compression) return rebuilt(batch.bytes(), target, context);
  if (isAppendTime) batch.setMaxTimestamp('LogAppendTime', nowMs);
  // A producer that is wrong about the largest timestamp, or about the type, is put right.
  else if (batch.timestampType !== 'CreateTime' || batch.maxTimestamp !== summary.maxTimestamp) {
    batch.setMaxTimestamp('CreateTime', summary.maxTimestamp);
  }
  return stamped(batch, nextOffset, leaderEpoch, isAppendTime ? nowMs : -1);
}

/** Several batches, or messages of old producers: they become one batch. */
function validateOthers(records: Buffer, context: ValidationContext): ValidatedRecords {
  const { config, origin } = context;
  let count = 0;
  let magic = -1;
  let compression: CompressionType = 'none';
  let validBytes = 0;
  for (const batch of iterateBatches(records)) {
    if (count > 0 && batch.magic !== magic) throw new InvalidRecordError('Batches of different magics cannot be appended together');
    if (count > 0 && batch instanceof RecordBatch && origin === 'client') {
      throw new InvalidRecordError('A producer may send only one record batch for a partition at a time');
    }
    ensureSize(batch.sizeInBytes, config);
    batch.ensureValid();
    const summary = validateRecords(batch, config.maxDecompressedMessageBytes);
    ensureKeys(batch, summary, config);
    if (batch.magic > 0 && config.messageTimestampType !== 'LogAppendTime') ensureTimestamps(batch, summary, context);
    if (batch instanceof LegacyBatch && batch.timestampType === 'LogAppendTime') {
      throw new InvalidRecordsError(errorCodes.INVALID_TIMESTAMP, [], 'A producer must not set the timestamp type LogAppendTime');
    }
    magic = batch.magic;
    compression = batch.compression;
    validBytes += batch.sizeInBytes;
    count += 1;
  }
  const target = config.compressionType === 'producer' ? compression : config.compressionType;
  return rebuilt(records.subarray(0, validBytes), target, context);
}

function rebuilt(records: Buffer, compression: CompressionType, context: ValidationContext): ValidatedRecords {
  const { config, nextOffset, leaderEpoch, nowMs } = context;
  const isAppendTime = config.messageTimestampType === 'LogAppendTime';
  const bytes = rebuildRecords(records, {
    baseOffset: nextOffset,
    compression,
    compressionLevel: levelOf(compression, config),
    timestampType: config.messageTimestampType,
    logAppendTime: isAppendTime ? nowMs : undefined,
    partitionLeaderEpoch: leaderEpoch,
  });
  ensureSize(bytes.length, config);
  return stamped(new RecordBatch(bytes, 0), nextOffset, leaderEpoch, isAppendTime ? nowMs : -1);
}

function stamped(batch: RecordBatch, nextOffset: number, leaderEpoch: number, logAppendTime: number): ValidatedRecords {
  batch.setBaseOffset(nextOffset);
  batch.setPartitionLeaderEpoch(leaderEpoch);
  return { batch, logAppendTime };
}

function ensureSize(sizeBytes: number, config: LogConfig): void {
  if (sizeBytes > config.maxMessageBytes) {
    throw new ProtocolError(
      errorCodes.MESSAGE_TOO_LARGE,
      `The batch has ${sizeBytes} bytes; max.message.bytes of the topic is ${config.maxMessageBytes}.`,
    );
  }
  if (sizeBytes > config.segmentBytes) {
    throw new ProtocolError(
      errorCodes.RECORD_LIST_TOO_LARGE,
      `The batch has ${sizeBytes} bytes; segment.bytes of the topic is ${config.segmentBytes}.`,
    );
  }
}

function ensureClientBatch(batch: RecordBatch): void {
  if (batch.isControl) throw new InvalidRecordError('A producer must not write control records');
  if (batch.hasDeleteHorizon) throw new InvalidRecordError('A producer must not set the delete horizon');
  if (batch.hasProducerId && batch.baseSequence < 0) {
    throw new InvalidRecordError(`The batch of producer ${batch.producerId} has the sequence ${batch.baseSequence}`);
  }
}

function ensureComplete(batch: RecordBatch, summary: RecordsSummary, origin: AppendOrigin): void {
  const { recordCount } = batch;
  if (recordCount <= 0) throw new InvalidRecordError(`The batch declares ${recordCount} records`);
  if (origin === 'client' && batch.lastOffsetDelta !== recordCount - 1) {
    throw new InvalidRecordError(`The batch has ${recordCount} records, but its last offset delta is ${batch.lastOffsetDelta}`);
  }
  if (!summary.hasConsecutiveOffsets) throw new InvalidRecordError('The offsets of the records in the batch have gaps');
}

function ensureKeys(batch: Batch, summary: RecordsSummary, config: LogConfig): void {
  if (summary.firstKeyless < 0 || !isCompacted(config)) return;
  const recordErrors: RecordError[] = [];
  let batchIndex = 0;
  for (const { key } of batch.records(config.maxDecompressedMessageBytes)) {
    if (key === null && recordErrors.length < maxRecordErrors) {
      recordErrors.push({ batchIndex, message: 'A compacted topic cannot keep a record without a key.' });
    }
    batchIndex += 1;
  }
  throw new InvalidRecordsError(
    errorCodes.INVALID_RECORD,
    recordErrors,
    'One or more records have no key, which a compacted topic needs.',
  );
}

/** KIP-937: neither too long ago nor too far ahead. */
function ensureTimestamps(batch: Batch, summary: RecordsSummary, { config, nowMs }: ValidationContext): void {
  const earliest = nowMs - config.messageTimestampBeforeMaxMs;
  const latest = nowMs + config.messageTimestampAfterMaxMs;
  if ((summary.minTimestamp < 0 || summary.minTimestamp >= earliest) && summary.maxTimestamp <= latest) return;
  const recordErrors: RecordError[] = [];
  let batchIndex = 0;
  for (const { timestamp } of batch.records(config.maxDecompressedMessageBytes)) {
    if (timestamp !== -1 && (timestamp < earliest || timestamp > latest)) {
      const message = `Timestamp ${timestamp} of the record is not between ${earliest} and ${latest}.`;
      if (recordErrors.length < maxRecordErrors) recordErrors.push({ batchIndex, message });
    }
    batchIndex += 1;
  }
  if (recordErrors.length === 0) return;
  throw new InvalidRecordsError(
    errorCodes.INVALID_TIMESTAMP,
    recordErrors,
    'One or more records have a timestamp outside the range that the topic allows.',
  );
}

function targetCompression(batch: RecordBatch, config: LogConfig): CompressionType {
  return config.compressionType === 'producer' ? batch.compression : config.compressionType;
}

function levelOf(compression: CompressionType, config: LogConfig): number | undefined {
  const { gzip, lz4, zstd } = config.compressionLevels;
  return { none: undefined, snappy: undefined, gzip, lz4, zstd }[compression];
}

/** What the formats complain about, as clients are told it. */
export function asProtocolError(error: unknown): unknown {
  if (error instanceof ProtocolError) return error;
  if (error instanceof UnsupportedCompressionTypeError) {
    return new ProtocolError(errorCodes.UNSUPPORTED_COMPRESSION_TYPE, error.message, { cause: error });
  }
  if (error instanceof InvalidRecordError) return new InvalidRecordsError(errorCodes.INVALID_RECORD, [], error.message);
  if (error instanceof CorruptRecordError || error instanceof DecompressionError) {
    return new ProtocolError(errorCodes.CORRUPT_MESSAGE, error.message, { cause: error });
  }
  return error;
}
