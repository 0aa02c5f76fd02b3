// Chance that can be repeated: the same seed draws the same numbers. For tests and the simulator, never for secrets.

import type { Random } from './random.ts';

/** The generator is sfc32 (Chris Doty-Humphrey, PractRand): 128 bits of state, one of which counts, so no seed has a short cycle. */
export class SeededRandom implements Random {
  readonly seed: number;
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number) {
    this.seed = seed;
    this.#a = seed | 0;
    this.#b = Math.floor(seed / 2 ** 32) | 0;
    this.#c = 0;
    for (let round = 0; round < 12; round++) {
      this.#nextUint32(); // Mixes the seed through the state, as its author asks.
    }
  }

  next(): number {
    const high = this.#nextUint32() >>> 5;
    const low = this.#nextUint32() >>> 6;
    return (high * 2 ** 26 + low) / 2 ** 53;
  }

  nextInt(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  bytes(size: number): Buffer {
    const bytes = Buffer.alloc(size);
    for (let index = 0; index < size; index++) {
      bytes[index] = this.#nextUint32();
    }
    return bytes;
  }

  #nextUint32(): number {
    const result = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + result) | 0;
    return result >>> 0;
  }
}
