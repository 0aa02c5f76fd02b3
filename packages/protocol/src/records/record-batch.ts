// A batch of records, magic 2: the unit that producers send, the log keeps and consumers fetch.
//
//   position  field                  type     meaning
//      0      baseOffset             int64    of the first record that the producer put in; the broker sets it
//      8      batchLength            int32    of all that follows
//     12      partitionLeaderEpoch   int32    the broker sets it
//     16      magic                  int8     2
//     17      crc                    uint32   CRC-32C of all that follows
//     21      attributes             int16    see below
//     23      lastOffsetDelta        int32    last offset = base offset + this; compaction keeps it when it removes records
//     27      baseTimestamp          int64    the records' deltas count from it; the delete horizon where attribute 6 is set
//     35      maxTimestamp           int64    of the records; with LogAppendTime the timestamp of them all
//     43      producerId             int64    -1 = none
//     51      producerEpoch          int16    -1 = none
//     53      baseSequence           int32    -1 = none
//     57      recordCount            int32
//     61      records                         see record.ts; all of them compressed as one piece
//
//   attributes   bits 0-2  compression: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd
//                bit  3    timestamp type: 0 CreateTime, 1 LogAppendTime
//                bit  4    transactional
//                bit  5    control batch
//                bit  6    base timestamp is the delete horizon
//
// Base offset and leader epoch stand before the checksum and outside of it, so a broker stamps a batch without touching the rest.

import { int16At, int32At, int64At, putInt16, putInt32, putInt64, uint32At } from './big-endian.ts';
import {
  type CompressionType,
  compressionTypeById,
  decompress,
  decompressToScratch,
  defaultMaxDecompressedBytes,
} from './compression.ts';
import { crc32c } from './crc32c.ts';
import { type LogRecord, RecordReader, type TimestampType } from './record.ts';
import { CorruptRecordError, InvalidRecordError } from './record-errors.ts';

/** The bytes before which the length field counts: base offset and the length itself. */
export const logOverhead = 12;
/** The size of a batch without records. */
export const recordBatchOverhead = 61;
/** Where the magic stands, in every format. */
export const magicPosition = 16;

export const noTimestamp = -1;
export const noProducerId = -1;
export const noProducerEpoch = -1;
export const noSequence = -1;
export const noPartitionLeaderEpoch = -1;

const position = {
  baseOffset: 0,
  batchLength: 8,
  partitionLeaderEpoch: 12,
  magic: magicPosition,
  crc: 17,
  attributes: 21,
  lastOffsetDelta: 23,
  baseTimestamp: 27,
  maxTimestamp: 35,
  producerId: 43,
  producerEpoch: 51,
  baseSequence: 53,
  recordCount: 57,
} as const;

const attribute = { compression: 0x07, logAppendTime: 0x08, transactional: 0x10, control: 0x20, deleteHorizon: 0x40 } as const;

/** What the header says, for writing it. */
export interface RecordBatchHeader {
  readonly baseOffset: number;
  readonly lastOffset: number;
  readonly sizeInBytes: number;
  readonly partitionLeaderEpoch: number;
  readonly compressionId: number;
  readonly timestampType: TimestampType;
  readonly isTransactional: boolean;
  readonly isControl: boolean;
  readonly hasDeleteHorizon: boolean;
  readonly baseTimestamp: number;
  readonly maxTimestamp: number;
  readonly producerId: number;
  readonly producerEpoch: number;
  readonly baseSequence: number;
  readonly recordCount: number;
}

/**
 * A view on the bytes of a batch. Making one reads nothing; it must stand where `batchSizeAt` found a whole batch of magic 2
 * with a size of at least `recordBatchOverhead`, which `ensureValid` checks.
 */
export class RecordBatch {
  readonly buffer: Buffer;
  /** Where the batch starts in the buffer. */
  readonly start: number;

  constructor(buffer: Buffer, start = 0) {
    this.buffer = buffer;
    this.start = start;
  }

  get baseOffset(): number {
    return int64At(this.buffer, this.start);
  }

  get batchLength(): number {
    return int32At(this.buffer, this.start + position.batchLength);
  }

  get sizeInBytes(): number {
    return this.batchLength + logOverhead;
  }

  /** Where the batch ends in the buffer. */
  get end(): number {
    return this.start + this.sizeInBytes;
  }

  get partitionLeaderEpoch(): number {
    return int32At(this.buffer, this.start + position.partitionLeaderEpoch);
  }

  get magic(): 2 {
    return 2;
  }

  get crc(): number {
    return uint32At(this.buffer, this.start + position.crc);
  }

  get attributes(): number {
    return int16At(this.buffer, this.start + position.attributes);
  }

  get lastOffsetDelta(): number {
    return int32At(this.buffer, this.start + position.lastOffsetDelta);
  }

  get baseTimestamp(): number {
    return int64At(this.buffer, this.start + position.baseTimestamp);
  }

  get maxTimestamp(): number {
    return int64At(this.buffer, this.start + position.maxTimestamp);
  }

  get producerId(): number {
    return int64At(this.buffer, this.start + position.producerId);
  }

  get producerEpoch(): number {
    return int16At(this.buffer, this.start + position.producerEpoch);
  }

  get baseSequence(): number {
    return int32At(this.buffer, this.start + position.baseSequence);
  }

  get recordCount(): number {
    return int32At(this.buffer, this.start + position.recordCount);
  }

  get lastOffset(): number {
    return this.baseOffset + this.lastOffsetDelta;
  }

  get nextOffset(): number {
    return this.lastOffset + 1;
  }

  get lastSequence(): number {
    return sequenceAfter(this.baseSequence, this.lastOffsetDelta);
  }

  /** 0 to 7; only 0 to 4 have a codec. */
  get compressionId(): number {
    return this.buffer[this.start + position.attributes + 1]! & attribute.compression;
  }

  /** Throws InvalidRecordError where the attributes name a codec that does not exist. */
  get compression(): CompressionType {
    return compressionTypeById(this.compressionId);
  }

  get isCompressed(): boolean {
    return this.compressionId !== 0;
  }

  get timestampType(): TimestampType {
    return this.#has(attribute.logAppendTime) ? 'LogAppendTime' : 'CreateTime';
  }

  get isTransactional(): boolean {
    return this.#has(attribute.transactional);
  }

  get isControl(): boolean {
    return this.#has(attribute.control);
  }

  get hasDeleteHorizon(): boolean {
    return this.#has(attribute.deleteHorizon);
  }

  /** When the cleaner may remove the tombstones or the marker in this batch; null where it has not been set. */
  get deleteHorizonMs(): number | null {
    return this.hasDeleteHorizon ? this.baseTimestamp : null;
  }

  get hasProducerId(): boolean {
    // Ids are never negative, so the sign bit tells.
    return this.buffer[this.start + position.producerId]! < 0x80;
  }

  setBaseOffset(offset: number): void {
    putInt64(this.buffer, this.start, offset);
  }

  /** Sets the base offset so that the last record gets this offset. */
  setLastOffset(offset: number): void {
    this.setBaseOffset(offset - this.lastOffsetDelta);
  }

  setPartitionLeaderEpoch(epoch: number): void {
    putInt32(this.buffer, this.start + position.partitionLeaderEpoch, epoch);
  }

  /** Both are covered by the checksum, which is computed anew where they change. */
  setMaxTimestamp(type: 'CreateTime' | 'LogAppendTime', timestamp: number): void {
    if (this.timestampType === type && this.maxTimestamp === timestamp) return;
    const flags = type === 'LogAppendTime' ? this.attributes | attribute.logAppendTime : this.attributes & ~attribute.logAppendTime;
    putInt16(this.buffer, this.start + position.attributes, flags);
    putInt64(this.buffer, this.start + position.maxTimestamp, timestamp);
    this.#writeCrc();
  }

  isCrcValid(): boolean {
    return this.sizeInBytes >= recordBatchOverhead && this.crc === this.#computeCrc();
  }

  /** Throws CorruptRecordError where the size or the checksum is wrong. */
  ensureValid(): void {
    this.#ensureWholeHeader();
    const computed = this.#computeCrc();
    if (this.crc !== computed) {
      throw new CorruptRecordError(
        `The batch at offset ${this.baseOffset} has the checksum ${this.crc}, but its bytes give ${computed}`,
      );
    }
  }

  /** Its own bytes, not copied. */
  bytes(): Buffer {
    return this.buffer.subarray(this.start, this.end);
  }

  /** The records section: a slice where it is not compressed, otherwise what it decompresses to. */
  recordBytes(maxBytes: number = defaultMaxDecompressedBytes): Buffer {
    const section = this.#section();
    return this.isCompressed ? decompress(this.compression, section, maxBytes) : section;
  }

  /** A walk over the records that checks them and makes nothing. The next walk may overwrite the bytes that it gives out. */
  scan(maxBytes: number = defaultMaxDecompressedBytes): RecordReader {
    this.#ensureCount();
    const section = this.#section();
    return new RecordReader(this.isCompressed ? decompressToScratch(this.compression, section, maxBytes) : section);
  }

  /** Throws InvalidRecordError at the first record that is malformed. */
  *records(maxBytes: number = defaultMaxDecompressedBytes): Generator<LogRecord, void, undefined> {
    const count = this.#ensureCount();
    if (count === 0) return;
    const reader = new RecordReader(this.recordBytes(maxBytes));
    const { baseOffset, baseTimestamp, baseSequence } = this;
    const logAppendTime = this.#has(attribute.logAppendTime) ? this.maxTimestamp : null;
    for (let index = 0; index < count; index++) {
      reader.advance();
      if (index === count - 1) reader.ensureAtEnd();
      yield {
        offset: baseOffset + reader.offsetDelta,
        timestamp: logAppendTime ?? baseTimestamp + reader.timestampDelta,
        key: reader.key(),
        value: reader.value(),
        headers: reader.headers(),
        sequence: sequenceAfter(baseSequence, reader.offsetDelta),
      };
    }
  }

  #has(flag: number): boolean {
    return (this.buffer[this.start + position.attributes + 1]! & flag) !== 0;
  }

  #section(): Buffer {
    this.#ensureWholeHeader();
    return this.buffer.subarray(this.start + recordBatchOverhead, this.end);
  }

  #ensureCount(): number {
    const count = this.recordCount;
    if (count < 0) throw new InvalidRecordError(`The batch at offset ${this.baseOffset} declares ${count} records`);
    return count;
  }

  #ensureWholeHeader(): void {
    if (this.sizeInBytes < recordBatchOverhead) {
      throw new CorruptRecordError(`A batch of ${this.sizeInBytes} bytes is smaller than its header of ${recordBatchOverhead}`);
    }
  }

  #computeCrc(): number {
    return crc32c(this.buffer, this.start + position.attributes, this.end);
  }

  #writeCrc(): void {
    putInt32(this.buffer, this.start + position.crc, this.#computeCrc());
  }
}

/** Writes the header before records that stand in `buffer` already, and then the checksum over both. */
export function writeRecordBatchHeader(buffer: Buffer, start: number, header: RecordBatchHeader): void {
  let attributes = header.compressionId;
  if (header.timestampType === 'LogAppendTime') attributes |= attribute.logAppendTime;
  if (header.isTransactional) attributes |= attribute.transactional;
  if (header.isControl) attributes |= attribute.control;
  if (header.hasDeleteHorizon) attributes |= attribute.deleteHorizon;
  putInt64(buffer, start, header.baseOffset);
  putInt32(buffer, start + position.batchLength, header.sizeInBytes - logOverhead);
  putInt32(buffer, start + position.partitionLeaderEpoch, header.partitionLeaderEpoch);
  buffer[start + position.magic] = 2;
  putInt16(buffer, start + position.attributes, attributes);
  putInt32(buffer, start + position.lastOffsetDelta, header.lastOffset - header.baseOffset);
  putInt64(buffer, start + position.baseTimestamp, header.baseTimestamp);
  putInt64(buffer, start + position.maxTimestamp, header.maxTimestamp);
  putInt64(buffer, start + position.producerId, header.producerId);
  putInt16(buffer, start + position.producerEpoch, header.producerEpoch);
  putInt32(buffer, start + position.baseSequence, header.baseSequence);
  putInt32(buffer, start + position.recordCount, header.recordCount);
  putInt32(buffer, start + position.crc, crc32c(buffer, start + position.attributes, start + header.sizeInBytes));
}

/** Sequence numbers run from 0 to 2^31 - 1 and then start again at 0; -1 stays -1. */
export function sequenceAfter(sequence: number, increment: number): number {
  if (sequence < 0) return noSequence;
  const sum = sequence + increment;
  return sum > 0x7fffffff ? sum - 0x80000000 : sum;
}
