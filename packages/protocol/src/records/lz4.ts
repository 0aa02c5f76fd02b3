// LZ4 frames, as far as Kafka reads and writes them. All integers are little-endian.
//
//   magic            04 22 4d 18
//   flags            bits 7-6 version 01, 5 independent blocks, 4 block checksums, 3 content size, 2 content checksum, 1 zero,
//                    0 dictionary
//   block size       bits 6-4: 4 = 64 KiB, 5 = 256 KiB, 6 = 1 MiB, 7 = 4 MiB; the others 0
//   content size     8 bytes, if flagged
//   header checksum  second byte of the xxHash32 over flags to content size
//   block            uint32 size, top bit set = stored uncompressed; the bytes; xxHash32 of them if flagged; repeated
//   end mark         uint32 0
//   content checksum uint32, if flagged; Kafka steps over it, and so do we: the batch has a checksum of its own
//
// Kafka refuses linked blocks and dictionaries, because its consumers cannot read them; so do we.
//
// Kafka's producers before 0.10 computed the header checksum over the magic as well. In messages of magic 0 that form is
// written, and any header checksum is accepted.
//
// A block is a row of sequences:
//
//   token            upper 4 bits length of the literals, lower 4 bits length of the match - 4; 15 means that more bytes
//                    follow, each added to it, until one is not 255
//   literals
//   distance         2 bytes, back from here to the match; the last sequence has none and ends after its literals, of which
//                    there are five or more where a match precedes them
//
// Writing is lz4-napi's. Reading is ours, because lz4-napi has no bound for what it allocates; a first pass over the sequences
// finds the exact size and checks everything, so that the second need not.

import { nativeOnFirstUse } from './native.ts';
import { DecompressionError } from './record-errors.ts';
import type { Allocate } from './scratch.ts';
import { xxHash32 } from './xx-hash.ts';

interface Lz4Library {
  compressFrame(bytes: Uint8Array): Promise<Buffer>;
  compressFrameSync(bytes: Uint8Array): Buffer;
}

const lz4 = nativeOnFirstUse<Lz4Library>('lz4-napi');

const frameMagic = 0x184d2204;
const flag = {
  independentBlocks: 0x20,
  blockChecksums: 0x10,
  contentSize: 0x08,
  contentChecksum: 0x04,
  reserved: 0x02,
  dictionary: 0x01,
} as const;
const storedBlock = 0x80000000;
const storedBlockBytes = 64 * 1024;

export function compressLz4(content: Uint8Array, messageMagic: number): Buffer {
  const library = lz4();
  return withHeaderChecksum(library === null ? storedFrame(content) : library.compressFrameSync(asBuffer(content)), messageMagic);
}

export async function compressLz4Async(content: Uint8Array, messageMagic: number): Promise<Buffer> {
  const library = lz4();
  return withHeaderChecksum(library === null ? storedFrame(content) : await library.compressFrame(content), messageMagic);
}

export function decompressLz4(
  bytes: Uint8Array,
  maxBytes: number,
  messageMagic: number,
  allocate: Allocate = Buffer.allocUnsafe,
): Buffer {
  const frame = readFrameHeader(bytes, messageMagic);
  const size = checkBlocks(bytes, frame, maxBytes);
  const content = allocate(size + slackBytes);
  const source = regionOf(bytes);
  const target = regionOf(content);
  let at = 0;
  for (let position = frame.blocksStart; ; ) {
    const field = uint32(bytes, position);
    if (field === 0) break;
    const start = position + 4;
    const end = start + (field & ~storedBlock);
    if (field >= storedBlock) {
      content.set(bytes.subarray(start, end), at);
      at += end - start;
    } else {
      at = decodeBlock(source, start, end, target, at);
    }
    position = end + frame.blockTrailerBytes;
  }
  return content.subarray(0, size);
}

interface FrameHeader {
  readonly blocksStart: number;
  readonly blockMaxBytes: number;
  /** 4 where each block is followed by its checksum. */
  readonly blockTrailerBytes: number;
}

function readFrameHeader(bytes: Uint8Array, messageMagic: number): FrameHeader {
  if (bytes.length < 7) throw new DecompressionError('LZ4: the stream ends within the frame header');
  if (uint32(bytes, 0) !== frameMagic) throw new DecompressionError('LZ4: this is not a frame');
  const flags = bytes[4]!;
  if (flags >>> 6 !== 1) throw new DecompressionError(`LZ4: unknown version ${flags >>> 6} of the frame`);
  if ((flags & flag.reserved) !== 0) throw new DecompressionError('LZ4: a reserved flag is set');
  if ((flags & flag.independentBlocks) === 0) throw new DecompressionError('LZ4: linked blocks are not supported');
  if ((flags & flag.dictionary) !== 0) throw new DecompressionError('LZ4: dictionaries are not supported');
  const descriptor = bytes[5]!;
  const sizeCode = (descriptor >>> 4) & 7;
  if (sizeCode < 4 || (descriptor & 0x8f) !== 0) throw new DecompressionError('LZ4: unknown block size');
  const checksumPosition = (flags & flag.contentSize) !== 0 ? 14 : 6;
  if (bytes.length <= checksumPosition) throw new DecompressionError('LZ4: the stream ends within the frame header');
  if (messageMagic > 0 && bytes[checksumPosition] !== headerChecksum(bytes, 4, checksumPosition)) {
    throw new DecompressionError('LZ4: the checksum of the frame header is wrong');
  }
  return {
    blocksStart: checksumPosition + 1,
    blockMaxBytes: 1 << (8 + 2 * sizeCode),
    blockTrailerBytes: (flags & flag.blockChecksums) !== 0 ? 4 : 0,
  };
}

/** Checks every block and returns the size of the whole content. */
function checkBlocks(bytes: Uint8Array, frame: FrameHeader, maxBytes: number): number {
  let total = 0;
  for (let position = frame.blocksStart; ; ) {
    if (position + 4 > bytes.length) throw new DecompressionError('LZ4: the stream ends without an end mark');
    const field = uint32(bytes, position);
    if (field === 0) return total;
    const isStored = field >= storedBlock;
    const size = field & ~storedBlock;
    const start = position + 4;
    const end = start + size;
    if (size > frame.blockMaxBytes) throw new DecompressionError(`LZ4: a block of ${size} bytes is larger than the frame allows`);
    if (end + frame.blockTrailerBytes > bytes.length) throw new DecompressionError('LZ4: the stream ends within a block');
    if (frame.blockTrailerBytes > 0 && uint32(bytes, end) !== xxHash32(bytes, start, end)) {
      throw new DecompressionError('LZ4: the checksum of a block is wrong');
    }
    const contentBytes = isStored ? size : checkBlock(bytes, start, end);
    if (contentBytes > frame.blockMaxBytes) throw new DecompressionError('LZ4: a block yields more than the frame allows');
    total += contentBytes;
    if (total > maxBytes) throw new DecompressionError(`LZ4: the content would take more than the ${maxBytes} bytes allowed`);
    position = end + frame.blockTrailerBytes;
  }
}

/** Walks over the sequences without copying; returns the size of the content. */
function checkBlock(bytes: Uint8Array, start: number, end: number): number {
  let position = start;
  let size = 0;
  while (position < end) {
    const token = bytes[position++]!;
    let length = token >>> 4;
    if (length === 15) {
      let more = 255;
      while (more === 255) {
        if (position >= end) throw truncatedBlock();
        more = bytes[position++]!;
        length += more;
      }
    }
    position += length;
    size += length;
    if (position === end) return size;
    // A block ends in five literals at least: after a match comes no less than a token and those.
    if (position + 8 > end) throw truncatedBlock();
    const distance = bytes[position]! | (bytes[position + 1]! << 8);
    position += 2;
    if (distance === 0 || distance > size) throw new DecompressionError('LZ4: a match from before the start of the block');
    length = (token & 15) + 4;
    if (length === 19) {
      let more = 255;
      while (more === 255) {
        if (position >= end) throw truncatedBlock();
        more = bytes[position++]!;
        length += more;
      }
    }
    size += length;
  }
  throw truncatedBlock();
}

/** Calls cost more than loops for what is short, which most literals and matches are. */
const callFromBytes = 96;
/** Copies in words run up to three bytes beyond the end, into what is written next; so the target is that much longer. */
const slackBytes = 3;

/** Decodes a block that `checkBlock` has passed; returns the position after its content. */
function decodeBlock(source: Region, start: number, end: number, target: Region, targetStart: number): number {
  const { bytes, words } = source;
  const { bytes: content, words: contentWords } = target;
  /** Up to here four bytes may be read at once. */
  const lastWord = end - 4;
  let position = start;
  let at = targetStart;
  for (;;) {
    const token = bytes[position++]!;
    let length = token >>> 4;
    if (length === 15) {
      let more = 255;
      while (more === 255) {
        more = bytes[position++]!;
        length += more;
      }
    }
    if (length >= callFromBytes) {
      content.set(bytes.subarray(position, position + length), at);
    } else if (position + length <= lastWord) {
      for (let index = 0; index < length; index += 4) contentWords.setInt32(at + index, words.getInt32(position + index));
    } else {
      for (let index = 0; index < length; index++) content[at + index] = bytes[position + index]!;
    }
    position += length;
    at += length;
    if (position >= end) return at;
    const distance = bytes[position]! | (bytes[position + 1]! << 8);
    position += 2;
    length = (token & 15) + 4;
    if (length === 19) {
      let more = 255;
      while (more === 255) {
        more = bytes[position++]!;
        length += more;
      }
    }
    if (length >= callFromBytes) {
      copyLongMatch(content, at, distance, length);
    } else if (distance >= 4) {
      const from = at - distance;
      for (let index = 0; index < length; index += 4) contentWords.setInt32(at + index, contentWords.getInt32(from + index));
    } else {
      const from = at - distance;
      for (let index = 0; index < length; index++) content[at + index] = content[from + index]!;
    }
    at += length;
  }
}

/** Bytes that are read and written one by one or four at once. */
interface Region {
  readonly bytes: Uint8Array;
  readonly words: DataView;
}

function regionOf(bytes: Uint8Array): Region {
  return { bytes, words: new DataView(bytes.buffer, bytes.byteOffset, bytes.length) };
}

/** A match may reach into what it is writing, which repeats it; each round doubles what can be copied at once. */
function copyLongMatch(target: Uint8Array, start: number, distance: number, length: number): void {
  const from = start - distance;
  const end = start + length;
  for (let at = start; at < end; ) {
    const count = Math.min(at - from, end - at);
    target.copyWithin(at, from, from + count);
    at += count;
  }
}

/** lz4-napi writes the right checksum. Magic 0 gets the one that producers of its time wrote. */
function withHeaderChecksum(frame: Buffer, messageMagic: number): Buffer {
  if (messageMagic === 0) frame[6] = headerChecksum(frame, 0, 6);
  return frame;
}

function headerChecksum(bytes: Uint8Array, start: number, end: number): number {
  return (xxHash32(bytes, start, end) >>> 8) & 0xff;
}

/** A frame of stored blocks: valid, if not small. For platforms where lz4-napi has no binary. */
export function storedFrame(content: Uint8Array): Buffer {
  const blockCount = Math.ceil(content.length / storedBlockBytes);
  const frame = Buffer.allocUnsafe(7 + content.length + 4 * blockCount + 4);
  frame.writeUInt32LE(frameMagic, 0);
  frame[4] = 0x40 | flag.independentBlocks;
  frame[5] = 0x40;
  frame[6] = headerChecksum(frame, 4, 6);
  let at = 7;
  for (let start = 0; start < content.length; start += storedBlockBytes) {
    const block = content.subarray(start, start + storedBlockBytes);
    frame.writeUInt32LE(storedBlock + block.length, at);
    frame.set(block, at + 4);
    at += 4 + block.length;
  }
  frame.writeUInt32LE(0, at);
  return frame;
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

function uint32(bytes: Uint8Array, position: number): number {
  return (bytes[position]! | (bytes[position + 1]! << 8) | (bytes[position + 2]! << 16) | (bytes[position + 3]! << 24)) >>> 0;
}

function truncatedBlock(): DecompressionError {
  return new DecompressionError('LZ4: a block ends within a sequence');
}
