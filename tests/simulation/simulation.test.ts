import { describe, test } from 'node:test';
import { scenarios } from './scenarios.ts';

/** Always the same in tests, so that a change is to blame for what changes; `npm run simulate` draws new ones. */
const seeds = [1, 2, 3, 4, 5, 6, 7, 8];

for (const { name, play } of scenarios) {
  describe(`simulation: ${name}`, () => {
    for (const seed of seeds) {
      test(`seed ${seed}: npm run simulate -- --scenario=${name} --seed=${seed}`, () => play(seed));
    }
  });
}
