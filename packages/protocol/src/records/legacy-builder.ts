// Writes messages of magic 0 and 1; their picture is in legacy-batch.ts.

import { place } from './batch-builder.ts';
import { putInt32, putInt64 } from './big-endian.ts';
import { type CompressionType, compress, compressionTypeId } from './compression.ts';
import { crc32 } from './crc32c.ts';
import { type LegacyMagic, legacyMessageOverhead, legacyPosition, logAppendTimeAttribute } from './legacy-batch.ts';
import type { RecordInit } from './record.ts';
import { logOverhead, noTimestamp } from './record-batch.ts';

export interface LegacyBatchOptions {
  readonly magic: LegacyMagic;
  /** 0 by default. */
  readonly baseOffset?: number | undefined;
  /** Any but zstd. */
  readonly compression?: CompressionType | undefined;
  /** For gzip. */
  readonly compressionLevel?: number | undefined;
  /** Magic 0 has no timestamps and takes neither this nor the next. */
  readonly timestampType?: 'CreateTime' | 'LogAppendTime' | undefined;
  readonly logAppendTime?: number | undefined;
}

/** One message for each record, or a single compressed one that wraps them all. Headers are dropped: these formats have none. */
export function buildLegacyBatch(options: LegacyBatchOptions, records: Iterable<RecordInit>): Buffer {
  const { magic } = options;
  const baseOffset = options.baseOffset ?? 0;
  const compression = options.compression ?? 'none';
  const isAppendTime = magic === 1 && options.timestampType === 'LogAppendTime';
  const timestampAttribute = isAppendTime ? logAppendTimeAttribute : 0;
  const placed = place(baseOffset, records);
  if (placed.records.length === 0) return Buffer.alloc(0);

  let size = 0;
  for (const record of placed.records) size += sizeOfMessage(magic, record.key ?? null, record.value ?? null);
  const messages = Buffer.allocUnsafe(size);
  // Relative offsets are what lets a broker place a wrapper without opening it; magic 0 does not know them.
  const offsetShift = magic === 1 && compression !== 'none' ? baseOffset : 0;
  let at = 0;
  let maxTimestamp = noTimestamp;
  for (const [index, record] of placed.records.entries()) {
    const timestamp = isAppendTime ? (options.logAppendTime ?? noTimestamp) : (record.timestamp ?? noTimestamp);
    if (timestamp > maxTimestamp) maxTimestamp = timestamp;
    const offset = placed.offsets[index]! - offsetShift;
    at = writeMessage(messages, at, {
      magic,
      offset,
      attributes: timestampAttribute,
      timestamp,
      key: record.key ?? null,
      value: record.value ?? null,
    });
  }
  if (compression === 'none') return messages;

  const value = compress(compression, messages, options.compressionLevel, magic);
  const wrapper = Buffer.allocUnsafe(sizeOfMessage(magic, null, value));
  const attributes = compressionTypeId(compression) | timestampAttribute;
  writeMessage(wrapper, 0, { magic, offset: placed.offsets.at(-1)!, attributes, timestamp: maxTimestamp, key: null, value });
  return wrapper;
}

interface LegacyMessage {
  readonly magic: LegacyMagic;
  readonly offset: number;
  readonly attributes: number;
  readonly timestamp: number;
  readonly key: Uint8Array | null;
  readonly value: Uint8Array | null;
}

function sizeOfMessage(magic: LegacyMagic, key: Uint8Array | null, value: Uint8Array | null): number {
  return logOverhead + legacyMessageOverhead[magic] + (key?.length ?? 0) + (value?.length ?? 0);
}

function writeMessage(target: Buffer, start: number, message: LegacyMessage): number {
  const end = start + sizeOfMessage(message.magic, message.key, message.value);
  putInt64(target, start, message.offset);
  putInt32(target, start + legacyPosition.size, end - start - logOverhead);
  target[start + legacyPosition.magic] = message.magic;
  target[start + legacyPosition.attributes] = message.attributes;
  let at = start + legacyPosition.timestamp;
  if (message.magic === 1) {
    putInt64(target, at, message.timestamp);
    at += 8;
  }
  at = writeSizedBytes(target, at, message.key);
  writeSizedBytes(target, at, message.value);
  putInt32(target, start + legacyPosition.crc, crc32(target, start + legacyPosition.magic, end));
  return end;
}

function writeSizedBytes(target: Buffer, position: number, bytes: Uint8Array | null): number {
  putInt32(target, position, bytes === null ? -1 : bytes.length);
  if (bytes !== null) target.set(bytes, position + 4);
  return position + 4 + (bytes?.length ?? 0);
}
