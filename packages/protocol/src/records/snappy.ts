// Snappy as Kafka uses it: the framing of the Java library (snappy-java, by its author's name "xerial") around blocks of raw
// snappy.
//
//   header   8 bytes   82 53 4e 41 50 50 59 00  (0x82 "SNAPPY" 0)
//            int32     version, 1
//            int32     lowest version that can read it, 1
//   block    int32     size of the compressed block, then the block; repeated to the end. A block holds at most 32 KiB.
//
// Streams that were joined are read too: where the size of a block would stand, a second header begins; its first byte makes
// it a negative size, which no block has. Several clients leave the framing out, so bytes without the header are taken as one
// raw block.
//
//   raw block   unsigned varint: size of the content; then elements until the end. The two lowest bits of an element's tag say
//     0  literal: upper 6 bits = length - 1; 60 to 63: the length - 1 follows in 1 to 4 bytes, little-endian
//     1  copy, length 4 + bits 2-4, distance 11 bits: bits 5-7 above the next byte
//     2  copy, length 1 + upper 6 bits, distance in the next 2 bytes, little-endian
//     3  the same with 4 bytes
//
// The native library does the work, told to copy its output: the external buffers that it makes otherwise cost more than the
// codec (bench/records.ts: 2,000 against 350 MB/s). Small blocks, and all where the platform has no binary, are read by our
// own code and written by snappyjs. Reading is not left to snappyjs, which a literal of negative length leads into an endless
// loop.

import { int32At, putInt32 } from './big-endian.ts';
import { nativeOnFirstUse, onFirstUse } from './native.ts';
import { DecompressionError } from './record-errors.ts';
import type { Allocate } from './scratch.ts';

interface SnappyLibrary {
  compress(bytes: Uint8Array, options: typeof copyOutput): Promise<Buffer>;
  compressSync(bytes: Uint8Array, options: typeof copyOutput): Buffer;
  uncompressSync(bytes: Uint8Array, options: typeof copyOutput): Buffer;
}

const nativeSnappy = nativeOnFirstUse<SnappyLibrary>('snappy');
const snappyjs = onFirstUse<{ compress(bytes: Uint8Array): Uint8Array }>('snappyjs');

const copyOutput = { copyOutputData: true } as const;
/** Below this many compressed bytes a call to the native library costs more than our own code; measured by bench/records.ts. */
const nativeFromBytes = 512;

const header = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00, 0, 0, 0, 1, 0, 0, 0, 1]);
const magicBytes = 8;
/** snappy-java's default, which Kafka does not change. */
const blockBytes = 32 * 1024;

export function compressSnappy(content: Uint8Array): Buffer {
  const library = nativeSnappy();
  if (library === null) return compressSnappyInJavaScript(content);
  return frame(blocksOf(content).map((block) => library.compressSync(block, copyOutput)));
}

export async function compressSnappyAsync(content: Uint8Array): Promise<Buffer> {
  const library = nativeSnappy();
  if (library === null) return compressSnappyInJavaScript(content);
  return frame(await Promise.all(blocksOf(content).map((block) => library.compress(block, copyOutput))));
}

export function compressSnappyInJavaScript(content: Uint8Array): Buffer {
  return frame(blocksOf(content).map((block) => snappyjs().compress(block)));
}

export function decompressSnappy(bytes: Uint8Array, maxBytes: number, allocate: Allocate = Buffer.allocUnsafe): Buffer {
  if (!startsWithHeader(bytes, 0)) {
    const size = contentSize(bytes, 0, bytes.length);
    ensureAllowed(size, maxBytes);
    const raw = allocate(size);
    readBlock(bytes, 0, bytes.length, raw, 0, size);
    return raw;
  }
  const size = checkBlocks(bytes, maxBytes);
  const content = allocate(size);
  let filled = 0;
  forEachBlock(bytes, (start, end) => {
    const blockSize = contentSize(bytes, start, end);
    readBlock(bytes, start, end, content, filled, filled + blockSize);
    filled += blockSize;
  });
  return content;
}

function blocksOf(content: Uint8Array): Uint8Array[] {
  const blocks: Uint8Array[] = [];
  for (let start = 0; start < content.length; start += blockBytes) blocks.push(content.subarray(start, start + blockBytes));
  return blocks;
}

function frame(blocks: readonly Uint8Array[]): Buffer {
  let size = header.length;
  for (const block of blocks) size += 4 + block.length;
  const framed = Buffer.allocUnsafe(size);
  framed.set(header, 0);
  let at = header.length;
  for (const block of blocks) {
    putInt32(framed, at, block.length);
    framed.set(block, at + 4);
    at += 4 + block.length;
  }
  return framed;
}

function startsWithHeader(bytes: Uint8Array, position: number): boolean {
  if (bytes.length < position + header.length) return false;
  for (let index = 0; index < magicBytes; index++) if (bytes[position + index] !== header[index]) return false;
  return true;
}

/** The sum of what the blocks declare, so that the content can be allocated at once. */
function checkBlocks(bytes: Uint8Array, maxBytes: number): number {
  let total = 0;
  forEachBlock(bytes, (start, end) => {
    total += contentSize(bytes, start, end);
    ensureAllowed(total, maxBytes);
  });
  return total;
}

function forEachBlock(bytes: Uint8Array, visit: (start: number, end: number) => void): void {
  let position = 0;
  while (position < bytes.length) {
    if (startsWithHeader(bytes, position)) {
      if (int32At(bytes, position + magicBytes) < 1) throw new DecompressionError('Snappy: unknown version of the framing');
      position += header.length;
      continue;
    }
    if (position + 4 > bytes.length) throw new DecompressionError('Snappy: the stream ends within the size of a block');
    const size = int32At(bytes, position);
    const start = position + 4;
    if (size < 0 || start + size > bytes.length) {
      throw new DecompressionError(`Snappy: a block declares ${size} bytes where ${bytes.length - start} are left`);
    }
    visit(start, start + size);
    position = start + size;
  }
}

/** What a raw block declares as the size of its content, checked against what its bytes can possibly yield. */
function contentSize(bytes: Uint8Array, start: number, end: number): number {
  let size = 0;
  let position = start;
  for (let weight = 1; ; weight *= 128) {
    if (position >= end || position - start === 5) throw new DecompressionError('Snappy: malformed size of a block');
    const byte = bytes[position++]!;
    size += (byte & 0x7f) * weight;
    if (byte < 0x80) break;
  }
  // An element of three bytes yields at most 64, and none does better.
  if (size > (end - position) * 22)
    throw new DecompressionError(`Snappy: ${end - position} bytes cannot hold the ${size} declared`);
  return size;
}

function ensureAllowed(size: number, maxBytes: number): void {
  if (size > maxBytes) throw new DecompressionError(`Snappy: the content would take more than the ${maxBytes} bytes allowed`);
}

function readBlock(bytes: Uint8Array, start: number, end: number, target: Buffer, targetStart: number, targetEnd: number): void {
  const library = end - start >= nativeFromBytes ? nativeSnappy() : null;
  if (library === null) {
    decodeBlock(bytes, start, end, target, targetStart, targetEnd);
    return;
  }
  let content: Buffer;
  try {
    content = library.uncompressSync(bytes.subarray(start, end), copyOutput);
  } catch (error) {
    throw new DecompressionError(`Snappy: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  if (content.length !== targetEnd - targetStart) throw new DecompressionError('Snappy: a block does not yield what it declares');
  target.set(content, targetStart);
}

/**
 * Decodes the raw block in bytes `start` to `end` into `target`, which it must fill exactly from `targetStart` to
 * `targetEnd`.
 */
export function decodeBlock(
  bytes: Uint8Array,
  start: number,
  end: number,
  target: Buffer,
  targetStart: number,
  targetEnd: number,
): void {
  let position = start;
  while (bytes[position++]! > 0x7f);
  let at = targetStart;
  while (position < end) {
    const tag = bytes[position++]!;
    const kind = tag & 3;
    if (kind === 0) {
      let length = (tag >>> 2) + 1;
      if (length > 60) {
        const extra = length - 60;
        if (position + extra > end) throw truncated();
        length = littleEndian(bytes, position, extra) + 1;
        position += extra;
      }
      if (position + length > end) throw truncated();
      if (at + length > targetEnd) throw tooLong();
      copyLiteral(bytes, position, target, at, length);
      position += length;
      at += length;
      continue;
    }
    const distanceBytes = kind === 3 ? 4 : kind;
    if (position + distanceBytes > end) throw truncated();
    let distance = littleEndian(bytes, position, distanceBytes);
    let length = (tag >>> 2) + 1;
    if (kind === 1) {
      distance |= (tag >>> 5) << 8;
      length = ((tag >>> 2) & 7) + 4;
    }
    position += distanceBytes;
    if (distance === 0 || distance > at - targetStart)
      throw new DecompressionError('Snappy: a copy from before the start of the block');
    if (at + length > targetEnd) throw tooLong();
    for (const copyEnd = at + length; at < copyEnd; at++) target[at] = target[at - distance]!;
  }
  if (at !== targetEnd) throw new DecompressionError('Snappy: a block yields less than it declares');
}

function littleEndian(bytes: Uint8Array, position: number, count: number): number {
  if (count === 1) return bytes[position]!;
  let value = bytes[position]! | (bytes[position + 1]! << 8);
  if (count > 2) value += bytes[position + 2]! * 0x10000;
  if (count > 3) value += bytes[position + 3]! * 0x1000000;
  return value;
}

/** A call costs more than a loop for what is short, which most literals are. */
const callFromBytes = 48;

function copyLiteral(source: Uint8Array, from: number, target: Buffer, at: number, length: number): void {
  if (length >= callFromBytes) {
    target.set(source.subarray(from, from + length), at);
    return;
  }
  for (let index = 0; index < length; index++) target[at + index] = source[from + index]!;
}

function truncated(): DecompressionError {
  return new DecompressionError('Snappy: a block ends within an element');
}

function tooLong(): DecompressionError {
  return new DecompressionError('Snappy: a block yields more than it declares');
}
