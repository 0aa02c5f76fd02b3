// Text as Java makes it where that differs from JavaScript.

import { isUtf8 } from 'node:buffer';
import type { Json } from '@odradek/protocol';

/** `new String(bytes, UTF_8)`: where the bytes are not UTF-8, Java puts in fewer replacements than JavaScript does. */
export function javaString(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString();
  let text = '';
  let rightFrom = 0;
  for (let at = 0; at < bytes.length; ) {
    const length = sequenceLength(bytes, at);
    if (length > 0) at += length;
    else {
      text += `${bytes.toString('utf8', rightFrom, at)}\ufffd`;
      at -= length;
      rightFrom = at;
    }
  }
  return text + bytes.toString('utf8', rightFrom);
}

/** How long the character at the position is; less than 0 where none is: so many bytes become one replacement. */
function sequenceLength(bytes: Buffer, at: number): number {
  const first = bytes[at]!;
  const left = bytes.length - at;
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return left > 1 && isContinuation(bytes[at + 1]) ? 2 : -1;
  if (first >= 0xe0 && first <= 0xef) {
    if (left > 1 && !canFollow(first, bytes[at + 1]!)) return -1;
    // What is left of a character at the end is one replacement, whatever it is.
    if (left < 3) return -left;
    if (!isContinuation(bytes[at + 2])) return -2;
    return first === 0xed && bytes[at + 1]! >= 0xa0 ? -3 : 3;
  }
  if (first < 0xf0 || first > 0xf4 || (left > 1 && !canFollow(first, bytes[at + 1]!))) return -1;
  if (left > 2 && !isContinuation(bytes[at + 2])) return -2;
  if (left < 4) return -left;
  return isContinuation(bytes[at + 3]) ? 4 : -3;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** Whether it can be the second byte of a character that is not too small or too large; surrogates come out later. */
function canFollow(first: number, second: number): boolean {
  if (first === 0xe0) return second >= 0xa0 && second <= 0xbf;
  if (first === 0xf0) return second >= 0x90 && second <= 0xbf;
  if (first === 0xf4) return second >= 0x80 && second <= 0x8f;
  return isContinuation(second);
}

/** As Jackson prints it: without spaces, and with capitals in the numbers of control characters. */
export function printJson(value: Json): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'string') return JSON.stringify(value).replaceAll(/\\u00[01][0-9a-f]/g, capitalised);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(printJson).join(',')}]`;
  return `{${Object.entries(value)
    .map(([name, field]) => `${JSON.stringify(name)}:${printJson(field)}`)
    .join(',')}}`;
}

function capitalised(escaped: string): string {
  return `\\u${escaped.slice(2).toUpperCase()}`;
}

/** The keys of a `HashMap<String, ?>`, put in by `computeIfAbsent` in this order, as Java goes through them. */
export function hashOrder(keys: readonly string[]): string[] {
  let buckets = 16;
  while (keys.length - 1 > buckets * 0.75) buckets *= 2;
  const bucketOf = (key: string): number => {
    let hash = 0;
    for (let at = 0; at < key.length; at++) hash = (Math.imul(hash, 31) + key.charCodeAt(at)) | 0;
    return (hash ^ (hash >>> 16)) & (buckets - 1);
  };
  // A new key comes first in its bucket.
  return keys.toReversed().sort((a, b) => bucketOf(a) - bucketOf(b));
}
