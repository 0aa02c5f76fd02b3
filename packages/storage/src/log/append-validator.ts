// What is checked and changed in batches before they enter a log. Batches of today's producers pass as the bytes they are; only
// base offset and leader epoch are patched, which their checksum does not cover.

import {
  type Batch,
  batchAt,
  batchSizeAt,
  type CompressionType,
  errorCodes,
  InvalidRecordError,
  iterateBatches,
  noTimestamp,
  ProtocolError,
  RecordBatch,
  type RecordsSummary,
  rebuildRecords,
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

/** How many records at fault are named at most. Kafka names all; a batch may have a hundred thousand. */
const maxRecordErrors = 1000;

/**
 * undefined: there is no whole batch. Throws MESSAGE_TOO_LARGE, RECORD_LIST_TOO_LARGE, CORRUPT_MESSAGE, INVALID_RECORD,
 * INVALID_TIMESTAMP or UNSUPPORTED_COMPRESSION_TYPE. Nothing has been changed then, except that base offset and leader epoch may
 * be patched.
 */
export function validateForAppend(records: Buffer, context: ValidationContext): ValidatedRecords | undefined {
  const size = batchSizeAt(records, 0);
  if (size === 0) return undefined;
  const first = batchAt(records, 0);
  const isAlone = size === records.length || batchSizeAt(records, size) === 0;
  return first instanceof RecordBatch && isAlone ? validateBatch(first, context) : validateOthers(records, context);
}

function validateBatch(batch: RecordBatch, context: ValidationContext): ValidatedRecords {
  const { config, origin, nextOffset, leaderEpoch, nowMs } = context;
  ensureSize(batch.sizeInBytes, config);
  batch.ensureValid();
  if (origin === 'client') ensureClientBatch(batch);
  const summary = validateRecords(batch, config.maxDecompressedMessageBytes);
  if (!summary.hasConsecutiveOffsets) throw new InvalidRecordError('The offsets of the records in the batch have gaps');
  ensureRecords(batch, summary, context);
  const isAppendTime = config.messageTimestampType === 'LogAppendTime';
  const target = targetCompression(batch.compression, config);
  // Markers are never compressed: whoever reads the log looks into them often.
  if (target !== batch.compression && !batch.isControl) return rebuilt(batch.bytes(), target, context);
  if (isAppendTime) batch.setMaxTimestamp('LogAppendTime', nowMs);
  // A producer that is wrong about the largest timestamp, or about the type, is put right.
  else batch.setMaxTimestamp('CreateTime', summary.maxTimestamp);
  return stamped(batch, nextOffset, leaderEpoch, isAppendTime ? nowMs : noTimestamp);
}

/** Several batches, or messages of old producers: they become one batch. */
function validateOthers(records: Buffer, context: ValidationContext): ValidatedRecords {
  const { config } = context;
  const { magic } = batchAt(records, 0);
  let compression: CompressionType = 'none';
  let validBytes = 0;
  let count = 0;
  for (const batch of iterateBatches(records)) {
    if (batch.magic !== magic) throw new InvalidRecordError('Batches of different magics cannot be appended together');
    ensureSize(batch.sizeInBytes, config);
    batch.ensureValid();
    ensureRecords(batch, validateRecords(batch, config.maxDecompressedMessageBytes), context);
    if (batch.isCompressed) ({ compression } = batch);
    validBytes += batch.sizeInBytes;
    count += 1;
  }
  if (count > 1 && (magic === 2 || compression !== 'none')) {
    throw new InvalidRecordError('Only uncompressed messages of the old formats may come several at a time');
  }
  return rebuilt(records.subarray(0, validBytes), targetCompression(compression, config), context);
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
  return stamped(new RecordBatch(bytes, 0), nextOffset, leaderEpoch, isAppendTime ? nowMs : noTimestamp);
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
  const { baseOffset, recordCount, lastOffsetDelta } = batch;
  if (baseOffset !== 0) throw new InvalidRecordError(`A producer's batch must have the base offset 0, not ${baseOffset}`);
  if (recordCount <= 0) throw new InvalidRecordError(`The batch declares ${recordCount} records`);
  if (lastOffsetDelta !== recordCount - 1) {
    throw new InvalidRecordError(`The batch has ${recordCount} records, but its last offset delta is ${lastOffsetDelta}`);
  }
  if (batch.isControl) throw new InvalidRecordError('A producer must not write control records');
  if (batch.hasProducerId && batch.baseSequence < 0) {
    throw new InvalidRecordError(`The batch of producer ${batch.producerId} has the sequence ${batch.baseSequence}`);
  }
}

/** What is asked of each record: a key in compacted topics, and a timestamp that is not too far from now (KIP-937). */
function ensureRecords(batch: Batch, summary: RecordsSummary, context: ValidationContext): void {
  const needsKeys = isCompacted(context.config);
  if (!(needsKeys && summary.firstKeyless >= 0) && hasRightTimestamps(batch, summary, context)) return;
  const recordErrors: RecordError[] = [];
  let hasWrongTimestamp = false;
  let batchIndex = 0;
  for (const { key, timestamp } of batch.records(context.config.maxDecompressedMessageBytes)) {
    const isKeyless = needsKeys && key === null;
    const message = isKeyless ? 'A compacted topic cannot keep a record without a key.' : timestampFault(batch, timestamp, context);
    if (message !== undefined && recordErrors.length < maxRecordErrors) recordErrors.push({ batchIndex, message });
    if (message !== undefined && !isKeyless) hasWrongTimestamp = true;
    batchIndex += 1;
  }
  if (hasWrongTimestamp) {
    const message = 'One or more records have a timestamp that the topic does not allow.';
    throw new InvalidRecordsError(errorCodes.INVALID_TIMESTAMP, recordErrors, message);
  }
  if (recordErrors.length > 0) {
    const message = 'One or more records have no key, which a compacted topic needs.';
    throw new InvalidRecordsError(errorCodes.INVALID_RECORD, recordErrors, message);
  }
}

/** Answers for all records at once where their smallest and largest timestamps are right; false is not yet a fault. */
function hasRightTimestamps(batch: Batch, { minTimestamp, maxTimestamp }: RecordsSummary, context: ValidationContext): boolean {
  const { config, nowMs } = context;
  if (config.messageTimestampType === 'LogAppendTime') return batch.timestampType !== 'LogAppendTime';
  return nowMs - minTimestamp <= config.messageTimestampBeforeMaxMs && maxTimestamp - nowMs <= config.messageTimestampAfterMaxMs;
}

/** undefined: the topic takes it. A record without a timestamp is never at fault. */
function timestampFault(batch: Batch, timestamp: number, { config, nowMs }: ValidationContext): string | undefined {
  if (config.messageTimestampType === 'LogAppendTime') {
    return batch.timestampType === 'LogAppendTime' ? 'A producer must not say that its timestamps are LogAppendTime.' : undefined;
  }
  const isTooEarly = nowMs - timestamp > config.messageTimestampBeforeMaxMs;
  const isTooLate = timestamp - nowMs > config.messageTimestampAfterMaxMs;
  if (timestamp === noTimestamp || !(isTooEarly || isTooLate)) return undefined;
  return `The timestamp ${timestamp} is too far from the broker's, ${nowMs}: the topic allows ${
    isTooEarly ? `${config.messageTimestampBeforeMaxMs} ms before` : `${config.messageTimestampAfterMaxMs} ms after`
  } it.`;
}

function targetCompression(compression: CompressionType, config: LogConfig): CompressionType {
  return config.compressionType === 'producer' ? compression : config.compressionType;
}

function levelOf(compression: CompressionType, config: LogConfig): number | undefined {
  const { gzip, lz4, zstd } = config.compressionLevels;
  return { none: undefined, snappy: undefined, gzip, lz4, zstd }[compression];
}
