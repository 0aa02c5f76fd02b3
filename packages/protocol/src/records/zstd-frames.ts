// Finds the frames in a zstd stream. Node's decoder stops after the first, skippable ones included, where zstd itself and
// Kafka go on to the end of the input. All integers are little-endian.
//
//   skippable frame   50 to 5f 2a 4d 18, uint32 size, that many bytes
//   frame             28 b5 2f fd
//     descriptor      bits 7-6 size of the content size field (0: none, or 1 byte if single segment; 1: 2, 2: 4, 3: 8),
//                     bit 5 single segment, bit 2 checksum, bits 1-0 size of the dictionary id (0, 1, 2, 4)
//     window          1 byte, unless single segment
//     dictionary id   0 to 4 bytes
//     content size    0 to 8 bytes; the field of 2 bytes counts from 256
//     block           3 bytes: bit 0 last, bits 2-1 type (0 stored, 1 one byte repeated, 2 compressed), the rest size; content
//     checksum        4 bytes, if flagged

import { DecompressionError } from './record-errors.ts';

export interface ZstdFrame {
  readonly start: number;
  readonly end: number;
  /** What the frame says of its content; null where it says nothing. */
  readonly contentBytes: number | null;
}

const frameMagic = 0xfd2fb528;
const skippableMagic = 0x184d2a50;
const dictionaryIdBytes = [0, 1, 2, 4] as const;

export function zstdFramesOf(bytes: Uint8Array): ZstdFrame[] {
  const frames: ZstdFrame[] = [];
  let position = 0;
  while (position < bytes.length) {
    if (position + 8 > bytes.length) throw truncated();
    const magic = uint32(bytes, position);
    if ((magic & 0xfffffff0) >>> 0 === skippableMagic) {
      position += 8 + uint32(bytes, position + 4);
      if (position > bytes.length) throw truncated();
    } else if (magic === frameMagic) {
      const frame = readFrame(bytes, position);
      frames.push(frame);
      position = frame.end;
    } else {
      throw new DecompressionError('Zstd: this is not a frame');
    }
  }
  if (frames.length === 0) throw truncated();
  return frames;
}

function readFrame(bytes: Uint8Array, start: number): ZstdFrame {
  const descriptor = bytes[start + 4]!;
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const sizeCode = descriptor >>> 6;
  const sizeBytes = sizeCode === 0 ? (isSingleSegment ? 1 : 0) : 1 << sizeCode;
  const sizePosition = start + 5 + (isSingleSegment ? 0 : 1) + dictionaryIdBytes[(descriptor & 3) as 0 | 1 | 2 | 3];
  let position = sizePosition + sizeBytes;
  if (position > bytes.length) throw truncated();
  const contentBytes = sizeBytes === 0 ? null : littleEndian(bytes, sizePosition, sizeBytes) + (sizeBytes === 2 ? 256 : 0);
  for (;;) {
    if (position + 3 > bytes.length) throw truncated();
    const block = littleEndian(bytes, position, 3);
    const type = (block >>> 1) & 3;
    position += 3 + (type === 1 ? 1 : block >>> 3);
    if (position > bytes.length) throw truncated();
    if ((block & 1) !== 0) break;
  }
  if ((descriptor & 4) !== 0) position += 4;
  if (position > bytes.length) throw truncated();
  return { start, end: position, contentBytes };
}

function uint32(bytes: Uint8Array, position: number): number {
  return littleEndian(bytes, position, 4);
}

function littleEndian(bytes: Uint8Array, position: number, count: number): number {
  let value = 0;
  for (let index = count - 1; index >= 0; index--) value = value * 256 + bytes[position + index]!;
  return value;
}

function truncated(): DecompressionError {
  return new DecompressionError('Zstd: the stream ends within a frame');
}
