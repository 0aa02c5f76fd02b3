// MD5 of record keys, as Kafka's cleaner uses it: 128 bits, so that two keys are never taken for one. A cleaner hashes every record
// twice, mostly with short keys, and the way into native code would cost several times what the digest does (1.4 against 0.3 µs
// for 20 bytes).

const additions = Int32Array.from({ length: 64 }, (_, step) => Math.floor(Math.abs(Math.sin(step + 1)) * 0x100000000) | 0);
const blockBytes = 64;
/** Where the length of the message stands in its last block. */
const lengthPosition = 56;

export class KeyDigest {
  /** The digest of the key that was given last, as four little-endian words. */
  readonly words = new Int32Array(4);
  readonly #block = new Int32Array(16);

  of(bytes: Uint8Array, start: number, end: number): void {
    const { words } = this;
    const block = this.#block;
    words[0] = 0x67452301;
    words[1] = 0xefcdab89 | 0;
    words[2] = 0x98badcfe | 0;
    words[3] = 0x10325476;
    let at = start;
    for (; at + blockBytes <= end; at += blockBytes) {
      for (let word = 0, byte = at; word < 16; word++, byte += 4) {
        block[word] = bytes[byte]! | (bytes[byte + 1]! << 8) | (bytes[byte + 2]! << 16) | (bytes[byte + 3]! << 24);
      }
      this.#addBlock();
    }
    this.#addEnd(bytes, at, end, end - start);
  }

  /** What is left of the key, a one bit, zeros, and the length of the key in bits. */
  #addEnd(bytes: Uint8Array, from: number, end: number, keyBytes: number): void {
    const block = this.#block;
    block.fill(0);
    const left = end - from;
    for (let index = 0; index < left; index++) block[index >> 2]! |= bytes[from + index]! << ((index & 3) * 8);
    block[left >> 2]! |= 0x80 << ((left & 3) * 8);
    if (left >= lengthPosition) {
      this.#addBlock();
      block.fill(0);
    }
    block[14] = keyBytes << 3;
    block[15] = Math.floor(keyBytes / 0x20000000);
    this.#addBlock();
  }

  /** RFC 1321, 3.4. */
  #addBlock(): void {
    const { words } = this;
    const block = this.#block;
    let a = words[0]!;
    let b = words[1]!;
    let c = words[2]!;
    let d = words[3]!;
    for (let i = 0; i < 16; i += 4) {
      a = (rotated((a + ((b & c) | (~b & d)) + block[i]! + additions[i]!) | 0, 7) + b) | 0;
      d = (rotated((d + ((a & b) | (~a & c)) + block[i + 1]! + additions[i + 1]!) | 0, 12) + a) | 0;
      c = (rotated((c + ((d & a) | (~d & b)) + block[i + 2]! + additions[i + 2]!) | 0, 17) + d) | 0;
      b = (rotated((b + ((c & d) | (~c & a)) + block[i + 3]! + additions[i + 3]!) | 0, 22) + c) | 0;
    }
    for (let i = 16; i < 32; i += 4) {
      a = (rotated((a + ((d & b) | (~d & c)) + block[(5 * i + 1) & 15]! + additions[i]!) | 0, 5) + b) | 0;
      d = (rotated((d + ((c & a) | (~c & b)) + block[(5 * i + 6) & 15]! + additions[i + 1]!) | 0, 9) + a) | 0;
      c = (rotated((c + ((b & d) | (~b & a)) + block[(5 * i + 11) & 15]! + additions[i + 2]!) | 0, 14) + d) | 0;
      b = (rotated((b + ((a & c) | (~a & d)) + block[(5 * i) & 15]! + additions[i + 3]!) | 0, 20) + c) | 0;
    }
    for (let i = 32; i < 48; i += 4) {
      a = (rotated((a + (b ^ c ^ d) + block[(3 * i + 5) & 15]! + additions[i]!) | 0, 4) + b) | 0;
      d = (rotated((d + (a ^ b ^ c) + block[(3 * i + 8) & 15]! + additions[i + 1]!) | 0, 11) + a) | 0;
      c = (rotated((c + (d ^ a ^ b) + block[(3 * i + 11) & 15]! + additions[i + 2]!) | 0, 16) + d) | 0;
      b = (rotated((b + (c ^ d ^ a) + block[(3 * i + 14) & 15]! + additions[i + 3]!) | 0, 23) + c) | 0;
    }
    for (let i = 48; i < 64; i += 4) {
      a = (rotated((a + (c ^ (b | ~d)) + block[(7 * i) & 15]! + additions[i]!) | 0, 6) + b) | 0;
      d = (rotated((d + (b ^ (a | ~c)) + block[(7 * i + 7) & 15]! + additions[i + 1]!) | 0, 10) + a) | 0;
      c = (rotated((c + (a ^ (d | ~b)) + block[(7 * i + 14) & 15]! + additions[i + 2]!) | 0, 15) + d) | 0;
      b = (rotated((b + (d ^ (c | ~a)) + block[(7 * i + 21) & 15]! + additions[i + 3]!) | 0, 21) + c) | 0;
    }
    words[0] = (words[0]! + a) | 0;
    words[1] = (words[1]! + b) | 0;
    words[2] = (words[2]! + c) | 0;
    words[3] = (words[3]! + d) | 0;
  }
}

function rotated(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}
