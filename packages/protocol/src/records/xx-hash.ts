// xxHash32 with seed 0: the checksum within LZ4 frames.

const prime1 = 0x9e3779b1;
const prime2 = 0x85ebca77;
const prime3 = 0xc2b2ae3d;
const prime4 = 0x27d4eb2f;
const prime5 = 0x165667b1;

/** The hash of bytes `start` (inclusive) to `end` (exclusive), as an unsigned number. */
export function xxHash32(bytes: Uint8Array, start: number, end: number): number {
  let position = start;
  let hash = prime5;
  if (end - start >= 16) {
    let lane1 = (prime1 + prime2) | 0;
    let lane2 = prime2 | 0;
    let lane3 = 0;
    let lane4 = -prime1 | 0;
    for (; position + 16 <= end; position += 16) {
      lane1 = round(lane1, word(bytes, position));
      lane2 = round(lane2, word(bytes, position + 4));
      lane3 = round(lane3, word(bytes, position + 8));
      lane4 = round(lane4, word(bytes, position + 12));
    }
    hash = rotate(lane1, 1) + rotate(lane2, 7) + rotate(lane3, 12) + rotate(lane4, 18);
  }
  hash = (hash + (end - start)) | 0;
  for (; position + 4 <= end; position += 4) {
    hash = Math.imul(rotate(hash + Math.imul(word(bytes, position), prime3), 17), prime4);
  }
  for (; position < end; position++) {
    hash = Math.imul(rotate(hash + Math.imul(bytes[position]!, prime5), 11), prime1);
  }
  hash = Math.imul(hash ^ (hash >>> 15), prime2);
  hash = Math.imul(hash ^ (hash >>> 13), prime3);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function round(lane: number, input: number): number {
  return Math.imul(rotate(lane + Math.imul(input, prime2), 13), prime1);
}

function rotate(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}

function word(bytes: Uint8Array, position: number): number {
  return bytes[position]! | (bytes[position + 1]! << 8) | (bytes[position + 2]! << 16) | (bytes[position + 3]! << 24);
}
