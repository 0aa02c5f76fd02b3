// The codecs of record batches. Each comes in a synchronous form and in one that works on the thread pool.
//
// Decompression is bounded: it fails before it takes more memory than the caller allows, whatever the bytes claim. Whatever is
// wrong with the bytes, it fails with DecompressionError.
//
// Levels are honoured for gzip (compression.gzip.level) and zstd (compression.zstd.level). lz4-napi has no levels, so
// compression.lz4.level has no effect; snappy has none in Kafka either.

import { compressLz4, compressLz4Async, decompressLz4 } from './lz4.ts';
import { onFirstUse } from './native.ts';
import { DecompressionError, InvalidRecordError, UnsupportedCompressionTypeError } from './record-errors.ts';
import { scratch } from './scratch.ts';
import { compressSnappy, compressSnappyAsync, decompressSnappy } from './snappy.ts';
import { zstdFramesOf } from './zstd-frames.ts';

type Zlib = typeof import('node:zlib');
const zlib = onFirstUse<Zlib>('node:zlib');

/** In the order of the ids that the attributes of a batch hold. */
export const compressionTypes = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const;
export type CompressionType = (typeof compressionTypes)[number];

/**
 * How much a batch may grow to where the caller does not say. Kafka decompresses as a stream and has no bound; a batch at the
 * default message.max.bytes reaches this one only when it shrank by more than a hundred and twenty-eight times.
 */
export const defaultMaxDecompressedBytes = 128 * 1024 * 1024;

export function compressionTypeById(id: number): CompressionType {
  const type = compressionTypes[id];
  if (type === undefined) throw new InvalidRecordError(`There is no compression type with the id ${id}`);
  return type;
}

export function compressionTypeId(type: CompressionType): number {
  return compressionTypes.indexOf(type);
}

/** `messageMagic` matters to lz4, which has a form of its own in magic 0, and to zstd, which exists only from magic 2 on. */
export function compress(type: CompressionType, content: Uint8Array, level?: number, messageMagic = 2): Buffer {
  ensureSupported(type, messageMagic);
  switch (type) {
    case 'none':
      return asBuffer(content);
    case 'gzip':
      return zlib().gzipSync(content, gzipOptions(level));
    case 'snappy':
      return compressSnappy(content);
    case 'lz4':
      return compressLz4(content, messageMagic);
    case 'zstd':
      return zlib().zstdCompressSync(content, zstdOptions(level));
  }
}

export async function compressAsync(type: CompressionType, content: Uint8Array, level?: number, messageMagic = 2): Promise<Buffer> {
  ensureSupported(type, messageMagic);
  switch (type) {
    case 'none':
      return asBuffer(content);
    case 'gzip':
      return inPool((done) => zlib().gzip(content, gzipOptions(level), done));
    case 'snappy':
      return compressSnappyAsync(content);
    case 'lz4':
      return compressLz4Async(content, messageMagic);
    case 'zstd':
      return inPool((done) => zlib().zstdCompress(content, zstdOptions(level), done));
  }
}

export function decompress(
  type: CompressionType,
  bytes: Uint8Array,
  maxBytes = defaultMaxDecompressedBytes,
  messageMagic = 2,
): Buffer {
  switch (type) {
    case 'none':
      return asBuffer(bytes);
    case 'gzip':
      return guarded('Gzip', maxBytes, () => zlib().gunzipSync(bytes, outputOptions(gzipContentBytes(bytes), maxBytes)));
    case 'snappy':
      return decompressSnappy(bytes, maxBytes);
    case 'lz4':
      return decompressLz4(bytes, maxBytes, messageMagic);
    case 'zstd':
      return decompressZstd(bytes, maxBytes);
  }
}

/** As `decompress` for magic 2, but the next call may overwrite the result: it is for looking at, not for keeping. */
export function decompressToScratch(type: CompressionType, bytes: Uint8Array, maxBytes: number): Buffer {
  if (type === 'snappy') return decompressSnappy(bytes, maxBytes, scratch);
  if (type === 'lz4') return decompressLz4(bytes, maxBytes, 2, scratch);
  return decompress(type, bytes, maxBytes);
}

/** Snappy and lz4 take about a millisecond for a mebibyte, and do it at once: the trips to the pool would cost more. */
export async function decompressAsync(
  type: CompressionType,
  bytes: Uint8Array,
  maxBytes = defaultMaxDecompressedBytes,
  messageMagic = 2,
): Promise<Buffer> {
  if (type === 'gzip') {
    return guardedAsync('Gzip', maxBytes, (done) => zlib().gunzip(bytes, outputOptions(gzipContentBytes(bytes), maxBytes), done));
  }
  if (type === 'zstd') {
    const parts: Buffer[] = [];
    let left = maxBytes;
    for (const frame of zstdFramesOf(bytes)) {
      const options = outputOptions(frame.contentBytes ?? zstdGuess(frame.end - frame.start), left);
      const part = await guardedAsync('Zstd', maxBytes, (done) =>
        zlib().zstdDecompress(bytes.subarray(frame.start, frame.end), options, done),
      );
      parts.push(part);
      left -= part.length;
    }
    return joined(parts);
  }
  return decompress(type, bytes, maxBytes, messageMagic);
}

function decompressZstd(bytes: Uint8Array, maxBytes: number): Buffer {
  const parts: Buffer[] = [];
  let left = maxBytes;
  for (const frame of zstdFramesOf(bytes)) {
    const options = outputOptions(frame.contentBytes ?? zstdGuess(frame.end - frame.start), left);
    const part = guarded('Zstd', maxBytes, () => zlib().zstdDecompressSync(bytes.subarray(frame.start, frame.end), options));
    parts.push(part);
    left -= part.length;
    if (left < 0) throw tooLarge('Zstd', maxBytes);
  }
  return joined(parts);
}

function ensureSupported(type: CompressionType, messageMagic: number): void {
  if (type === 'zstd' && messageMagic < 2) {
    throw new UnsupportedCompressionTypeError(`Zstd compression does not exist in message format ${messageMagic}`);
  }
}

function gzipOptions(level: number | undefined): { level?: number } {
  return level === undefined ? {} : { level };
}

function zstdOptions(level: number | undefined): { params?: Record<number, number> } {
  return level === undefined ? {} : { params: { [zlib().constants.ZSTD_c_compressionLevel]: level } };
}

const smallestChunk = 1024;
const largestChunk = 1024 * 1024;

/**
 * Node collects the output in chunks. With one chunk that is a little larger than the content it joins nothing and asks the
 * codec once, which makes zstd four times faster than its default of 16 KiB does. The guess need not be right.
 */
function outputOptions(guessedBytes: number, maxBytes: number): { chunkSize: number; maxOutputLength: number } {
  const chunkSize = Math.min(Math.max(guessedBytes + 1, smallestChunk), largestChunk);
  return { chunkSize, maxOutputLength: Math.max(maxBytes, 1) };
}

/** The trailer of a gzip member holds the size of its content; this one of the last member. */
function gzipContentBytes(bytes: Uint8Array): number {
  const end = bytes.length;
  if (end < 18) return 0;
  const declared = bytes[end - 4]! + bytes[end - 3]! * 0x100 + bytes[end - 2]! * 0x10000 + bytes[end - 1]! * 0x1000000;
  // Deflate cannot shrink by more than 1032 times.
  return Math.min(declared, end * 1032);
}

/** Producers in Java leave the size of the content out. */
function zstdGuess(compressedBytes: number): number {
  return Math.max(compressedBytes * 8, 16 * 1024);
}

function joined(parts: readonly Buffer[]): Buffer {
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}

type Done = (error: Error | null, result: Buffer) => void;

function inPool(start: (done: Done) => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    start((error, result) => {
      if (error === null) resolve(result);
      else reject(error);
    });
  });
}

function guarded(codec: string, maxBytes: number, decode: () => Buffer): Buffer {
  try {
    return decode();
  } catch (error) {
    throw explained(codec, maxBytes, error);
  }
}

async function guardedAsync(codec: string, maxBytes: number, start: (done: Done) => void): Promise<Buffer> {
  try {
    return await inPool(start);
  } catch (error) {
    throw explained(codec, maxBytes, error);
  }
}

function tooLarge(codec: string, maxBytes: number, options?: ErrorOptions): DecompressionError {
  return new DecompressionError(`${codec}: the content would take more than the ${maxBytes} bytes allowed`, options);
}

function explained(codec: string, maxBytes: number, error: unknown): DecompressionError {
  if (error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE')
    return tooLarge(codec, maxBytes, { cause: error });
  return new DecompressionError(`${codec}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
