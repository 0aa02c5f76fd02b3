// Chance. Real brokers draw from the operating system, simulated ones from a seed.

import { randomBytes } from 'node:crypto';

export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** A whole number in [0, bound). */
  nextInt(bound: number): number;
  /** `size` random bytes. */
  bytes(size: number): Buffer;
}

export const systemRandom: Random = {
  next: () => Math.random(),
  nextInt: (bound) => Math.floor(Math.random() * bound),
  bytes: (size) => randomBytes(size),
};
