// Messages of the formats before record batches: magic 0 (until Kafka 0.10) and magic 1 (until 0.11).
//
//   position  field       type     meaning
//      0      offset      int64
//      8      size        int32    of all that follows
//     12      crc         uint32   CRC-32 (IEEE) of all that follows
//     16      magic       int8     0 or 1
//     17      attributes  int8     bits 0-2 compression: 0 none, 1 gzip, 2 snappy, 3 lz4; bit 3 timestamp type (magic 1)
//     18      timestamp   int64    magic 1 only
//   18 | 26   keySize     int32    -1 = null
//             key
//             valueSize   int32    -1 = null
//             value
//
// Compressed messages are wrapped: the value of an outer message is the compressed sequence of inner ones, and the outer
// offset is that of the last inner message. In magic 0 inner offsets are absolute. In magic 1 they are relative, and the last
// of them stands for the outer offset, so that a broker can assign offsets without decompressing; certain old producers send
// the outer offset 0, and then the inner offsets are taken as they are. With LogAppendTime the outer timestamp counts for all
// inner messages.
//
// An outer message takes the place of a batch, whether or not it wraps others.

import { int32At, int64At, putInt32, putInt64, uint32At } from './big-endian.ts';
import { type CompressionType, compressionTypeById, decompress, defaultMaxDecompressedBytes } from './compression.ts';
import { crc32 } from './crc32c.ts';
import type { LogRecord, TimestampType } from './record.ts';
import {
  logOverhead,
  magicPosition,
  noPartitionLeaderEpoch,
  noProducerEpoch,
  noProducerId,
  noSequence,
  noTimestamp,
} from './record-batch.ts';
import { CorruptRecordError, InvalidRecordError } from './record-errors.ts';

export type LegacyMagic = 0 | 1;

/** What a message takes after its size field, apart from key and value. */
export const legacyMessageOverhead = { 0: 14, 1: 22 } as const;

export const legacyPosition = { offset: 0, size: 8, crc: 12, magic: magicPosition, attributes: 17, timestamp: 18 } as const;
export const logAppendTimeAttribute = 0x08;
const compressionAttribute = 0x07;

/** A view on an outer message, with the face of a `RecordBatch`: what the old formats lack reads as -1 or false. */
export class LegacyBatch {
  readonly buffer: Buffer;
  readonly start: number;
  readonly partitionLeaderEpoch: number = noPartitionLeaderEpoch;
  readonly producerId: number = noProducerId;
  readonly producerEpoch: number = noProducerEpoch;
  readonly baseSequence: number = noSequence;
  readonly lastSequence: number = noSequence;
  readonly isTransactional: boolean = false;
  readonly isControl: boolean = false;
  readonly hasDeleteHorizon: boolean = false;
  readonly deleteHorizonMs: number | null = null;
  readonly hasProducerId: boolean = false;

  constructor(buffer: Buffer, start = 0) {
    this.buffer = buffer;
    this.start = start;
  }

  get magic(): LegacyMagic {
    return this.buffer[this.start + legacyPosition.magic] === 0 ? 0 : 1;
  }

  get batchLength(): number {
    return int32At(this.buffer, this.start + legacyPosition.size);
  }

  get sizeInBytes(): number {
    return this.batchLength + logOverhead;
  }

  get end(): number {
    return this.start + this.sizeInBytes;
  }

  get crc(): number {
    return uint32At(this.buffer, this.start + legacyPosition.crc);
  }

  get attributes(): number {
    return this.buffer[this.start + legacyPosition.attributes]!;
  }

  get compressionId(): number {
    return this.attributes & compressionAttribute;
  }

  /** Throws InvalidRecordError where the attributes name a codec that does not exist. */
  get compression(): CompressionType {
    return compressionTypeById(this.compressionId);
  }

  get isCompressed(): boolean {
    return this.compressionId !== 0;
  }

  get timestampType(): TimestampType {
    if (this.magic === 0) return 'NoTimestampType';
    return (this.attributes & logAppendTimeAttribute) !== 0 ? 'LogAppendTime' : 'CreateTime';
  }

  get maxTimestamp(): number {
    return this.magic === 0 ? noTimestamp : int64At(this.buffer, this.start + legacyPosition.timestamp);
  }

  get baseTimestamp(): number {
    return this.maxTimestamp;
  }

  get lastOffset(): number {
    return int64At(this.buffer, this.start);
  }

  get nextOffset(): number {
    return this.lastOffset + 1;
  }

  /** The offset of the first inner message. Where there are any, this decompresses them. */
  get baseOffset(): number {
    return this.isCompressed ? this.#innerMessages(defaultMaxDecompressedBytes).firstOffset : this.lastOffset;
  }

  get lastOffsetDelta(): number {
    return this.lastOffset - this.baseOffset;
  }

  /** Where there are inner messages, this decompresses them. */
  get recordCount(): number {
    return this.isCompressed ? this.#innerMessages(defaultMaxDecompressedBytes).count : 1;
  }

  /** Not for wrappers of magic 0, whose inner offsets are absolute. */
  setBaseOffset(offset: number): void {
    this.setLastOffset(offset + this.lastOffsetDelta);
  }

  setLastOffset(offset: number): void {
    putInt64(this.buffer, this.start, offset);
  }

  /** The formats have no place for an epoch, so nothing is set. */
  setPartitionLeaderEpoch(_epoch: number): void {
    return;
  }

  setMaxTimestamp(type: 'CreateTime' | 'LogAppendTime', timestamp: number): void {
    if (this.magic === 0) throw new TypeError('Messages of magic 0 have no timestamp to set');
    if (this.timestampType === type && this.maxTimestamp === timestamp) return;
    const flags = type === 'LogAppendTime' ? this.attributes | logAppendTimeAttribute : this.attributes & ~logAppendTimeAttribute;
    this.buffer[this.start + legacyPosition.attributes] = flags;
    putInt64(this.buffer, this.start + legacyPosition.timestamp, timestamp);
    putInt32(this.buffer, this.start + legacyPosition.crc, this.#computeCrc());
  }

  isCrcValid(): boolean {
    return this.batchLength >= legacyMessageOverhead[this.magic] && this.crc === this.#computeCrc();
  }

  /** Throws CorruptRecordError where the size or the checksum is wrong. */
  ensureValid(): void {
    this.#ensureWholeHeader();
    const computed = this.#computeCrc();
    if (this.crc !== computed) {
      throw new CorruptRecordError(
        `The message at offset ${this.lastOffset} has the checksum ${this.crc}, but its bytes give ${computed}`,
      );
    }
  }

  /** Its own bytes, not copied. */
  bytes(): Buffer {
    return this.buffer.subarray(this.start, this.end);
  }

  /** The inner messages, decompressed; the message itself where it wraps none. */
  recordBytes(maxBytes: number = defaultMaxDecompressedBytes): Buffer {
    return this.isCompressed ? this.#innerMessages(maxBytes).bytes : this.bytes();
  }

  /** Throws InvalidRecordError or CorruptRecordError where a message is malformed. */
  *records(maxBytes: number = defaultMaxDecompressedBytes): Generator<LogRecord, void, undefined> {
    this.#ensureWholeHeader();
    if (!this.isCompressed) {
      yield readMessage(this.buffer, this.start, this.end, this.lastOffset, null);
      return;
    }
    const { bytes, offsetShift } = this.#innerMessages(maxBytes);
    const logAppendTime = this.timestampType === 'LogAppendTime' ? this.maxTimestamp : null;
    for (let position = 0; ; ) {
      const end = innerMessageEnd(bytes, position);
      if (end === -1) return;
      yield readMessage(bytes, position, end, int64At(bytes, position) + offsetShift, logAppendTime);
      position = end;
    }
  }

  #innerMessages(maxBytes: number): { bytes: Buffer; count: number; firstOffset: number; offsetShift: number } {
    const { magic, compression } = this;
    if (compression === 'zstd') throw new InvalidRecordError(`Zstd compression does not exist in message format ${magic}`);
    this.#ensureWholeHeader();
    const value = valueOf(this.buffer, this.start, this.end);
    if (value === null) throw new InvalidRecordError(`The compressed message at offset ${this.lastOffset} has no value`);
    const bytes = decompress(compression, value, maxBytes, magic);
    let count = 0;
    let lastInner = -1;
    for (let position = 0, end = 0; (end = innerMessageEnd(bytes, position)) !== -1; position = end) {
      if (bytes[position + legacyPosition.magic] !== magic) {
        throw new InvalidRecordError(
          `A message of magic ${bytes[position + legacyPosition.magic]} is wrapped in one of magic ${magic}`,
        );
      }
      if ((bytes[position + legacyPosition.attributes]! & compressionAttribute) !== 0) {
        throw new InvalidRecordError('A message within a compressed message is compressed itself');
      }
      lastInner = int64At(bytes, position);
      count += 1;
    }
    if (count === 0) throw new InvalidRecordError(`The compressed message at offset ${this.lastOffset} holds none`);
    const { lastOffset } = this;
    if (magic === 1 && lastOffset !== 0 && lastOffset < lastInner) {
      throw new InvalidRecordError(
        `The compressed message at offset ${lastOffset} holds one with the relative offset ${lastInner}`,
      );
    }
    const offsetShift = magic === 1 && lastOffset !== 0 ? lastOffset - lastInner : 0;
    return { bytes, count, firstOffset: int64At(bytes, 0) + offsetShift, offsetShift };
  }

  #ensureWholeHeader(): void {
    if (this.batchLength < legacyMessageOverhead[this.magic]) {
      throw new CorruptRecordError(`A message of ${this.batchLength} bytes is smaller than magic ${this.magic} allows`);
    }
  }

  #computeCrc(): number {
    return crc32(this.buffer, this.start + legacyPosition.magic, this.end);
  }
}

/** The end of the inner message at the position; -1 where none, or only part of one, is left. */
function innerMessageEnd(bytes: Buffer, position: number): number {
  if (position + logOverhead > bytes.length) return -1;
  const size = int32At(bytes, position + legacyPosition.size);
  if (size < legacyMessageOverhead[0]) throw new CorruptRecordError(`A message within a compressed message declares ${size} bytes`);
  const end = position + logOverhead + size;
  if (end > bytes.length) return -1;
  if (bytes[position + legacyPosition.magic] === 1 && size < legacyMessageOverhead[1]) {
    throw new CorruptRecordError(`A message of magic 1 within a compressed message declares ${size} bytes`);
  }
  return end;
}

function readMessage(bytes: Buffer, start: number, end: number, offset: number, logAppendTime: number | null): LogRecord {
  const hasTimestamp = bytes[start + legacyPosition.magic] === 1;
  const keyPosition = start + (hasTimestamp ? 26 : 18);
  const key = sizedBytes(bytes, keyPosition, end);
  return {
    offset,
    timestamp: hasTimestamp ? (logAppendTime ?? int64At(bytes, start + legacyPosition.timestamp)) : noTimestamp,
    key,
    value: sizedBytes(bytes, keyPosition + 4 + (key?.length ?? 0), end),
    headers: [],
    sequence: noSequence,
  };
}

function valueOf(bytes: Buffer, start: number, end: number): Buffer | null {
  const keyPosition = start + (bytes[start + legacyPosition.magic] === 1 ? 26 : 18);
  return sizedBytes(bytes, keyPosition + 4 + (sizedBytes(bytes, keyPosition, end)?.length ?? 0), end);
}

function sizedBytes(bytes: Buffer, position: number, end: number): Buffer | null {
  const start = position + 4;
  if (start > end) throw new InvalidRecordError('A message ends within the size of its key or value');
  const size = int32At(bytes, position);
  if (size < 0) return null;
  if (start + size > end)
    throw new InvalidRecordError(`A message declares ${size} bytes of key or value where ${end - start} are left`);
  return bytes.subarray(start, start + size);
}
