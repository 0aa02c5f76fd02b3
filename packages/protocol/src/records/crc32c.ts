// Checksums of record batches: CRC-32C (Castagnoli) for magic 2, CRC-32 (IEEE) for magic 0 and 1.

import { nativeOnFirstUse, onFirstUse } from './native.ts';

interface NativeCrc {
  crc32c(bytes: Uint8Array): number;
}

const native = nativeOnFirstUse<NativeCrc>('@node-rs/crc32');
const zlib = onFirstUse<typeof import('node:zlib')>('node:zlib');

/** From this size on the native function is faster, its call and the slice for it included; measured by bench/records.ts. */
const nativeFromBytes = 280;

/** The CRC-32C of bytes `start` (inclusive) to `end` (exclusive), as an unsigned number. */
export function crc32c(bytes: Uint8Array, start = 0, end: number = bytes.length): number {
  if (end - start >= nativeFromBytes) {
    const library = native();
    if (library !== null) return library.crc32c(bytes.subarray(start, end));
  }
  return crc32cInJavaScript(bytes, start, end);
}

/** The CRC-32 (IEEE) of bytes `start` to `end`, as an unsigned number. */
export function crc32(bytes: Uint8Array, start = 0, end: number = bytes.length): number {
  return zlib().crc32(bytes.subarray(start, end));
}

/** Castagnoli's polynomial 0x1edc6f41 with its bits reversed. */
const reversedPolynomial = 0x82f63b78;

/**
 * Eight tables of 256 entries in one array: entry `256 k + b` is what byte `b` does to the checksum after `k` more zero bytes
 * have followed it. So eight bytes are taken in one step.
 */
const tables = makeTables();

function makeTables(): Int32Array {
  const made = new Int32Array(8 * 256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ reversedPolynomial : crc >>> 1;
    made[byte] = crc;
  }
  for (let entry = 256; entry < made.length; entry++) {
    const before = made[entry - 256]!;
    made[entry] = (before >>> 8) ^ made[before & 0xff]!;
  }
  return made;
}

export function crc32cInJavaScript(bytes: Uint8Array, start: number, end: number): number {
  const t = tables;
  let crc = -1;
  let position = start;
  for (const lastStep = end - 8; position <= lastStep; position += 8) {
    crc ^= bytes[position]! | (bytes[position + 1]! << 8) | (bytes[position + 2]! << 16) | (bytes[position + 3]! << 24);
    crc =
      t[1792 + (crc & 0xff)]! ^
      t[1536 + ((crc >>> 8) & 0xff)]! ^
      t[1280 + ((crc >>> 16) & 0xff)]! ^
      t[1024 + (crc >>> 24)]! ^
      t[768 + bytes[position + 4]!]! ^
      t[512 + bytes[position + 5]!]! ^
      t[256 + bytes[position + 6]!]! ^
      t[bytes[position + 7]!]!;
  }
  for (; position < end; position++) crc = t[(crc ^ bytes[position]!) & 0xff]! ^ (crc >>> 8);
  return ~crc >>> 0;
}
