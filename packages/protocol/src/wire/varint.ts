// Integers of variable length: seven bits a byte, lowest first, the top bit set on all bytes but the last.
// Signed ones are zigzag-coded first (0, -1, 1, -2, … become 0, 1, 2, 3, …), so that small negative numbers stay short.
//
//   unsigned varint  lengths and tags of flexible versions       1 to 5 bytes
//   varint           int32 within a record, zigzag               1 to 5 bytes
//   varlong          int64 within a record, zigzag               1 to 10 bytes

/** Values below 2^32. */
export function sizeOfUnsignedVarint(value: number): number {
  // 32 - clz32 is the number of significant bits; a byte carries seven of them, and zero takes one byte.
  return Math.max(1, Math.ceil((32 - Math.clz32(value)) / 7));
}

export function sizeOfVarint(value: number): number {
  return sizeOfUnsignedVarint(zigzag(value));
}

/** Safe integers only. */
export function sizeOfVarlong(value: number): number {
  if (isInt32(value)) return sizeOfVarint(value);
  // -1 - value folds a negative number onto the positive one of the same length, as zigzag does with the sign in the lowest bit.
  let rest = (value < 0 ? -1 - value : value) / 64;
  let size = 1;
  while (rest >= 1) {
    rest /= 128;
    size += 1;
  }
  return size;
}

/** Writes at the position and returns the position after. The caller has made room for five bytes. */
export function writeUnsignedVarint(target: Uint8Array, position: number, value: number): number {
  let rest = value >>> 0;
  let at = position;
  while (rest > 0x7f) {
    target[at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  target[at++] = rest;
  return at;
}

export function writeVarint(target: Uint8Array, position: number, value: number): number {
  return writeUnsignedVarint(target, position, zigzag(value));
}

/** Safe integers only. The caller has made room for ten bytes. */
export function writeVarlong(target: Uint8Array, position: number, value: number): number {
  if (isInt32(value)) return writeVarint(target, position, value);
  // zigzag(v) is 2v or -2v - 1, which does not fit a double exactly for the largest values: the lowest seven bits go out first, by hand.
  const isNegative = value < 0;
  const magnitude = isNegative ? -1 - value : value;
  let at = position;
  target[at++] = 0x80 | ((magnitude % 64) * 2) | (isNegative ? 1 : 0);
  let rest = Math.floor(magnitude / 64);
  while (rest > 0x7f) {
    target[at++] = (rest % 128) | 0x80;
    rest = Math.floor(rest / 128);
  }
  target[at++] = rest;
  return at;
}

export function zigzag(value: number): number {
  return ((value << 1) ^ (value >> 31)) >>> 0;
}

export function unzigzag(value: number): number {
  return (value >>> 1) ^ -(value & 1);
}

function isInt32(value: number): boolean {
  return (value | 0) === value;
}
