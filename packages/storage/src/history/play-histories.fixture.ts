// `npm run simulate -- storage`: plays histories of a log with seeds by chance, or again with one that failed.
//
//   npm run simulate -- storage                                100 seeds of each history
//   npm run simulate -- storage --runs=5000                    more
//   npm run simulate -- storage --history=log --seed=4711      one
//   npm run simulate -- storage --runs=5000 --seed=20000       as many, from that one on

import { parseArgs } from 'node:util';
import { systemRandom } from '@odradek/runtime';
import { histories } from './histories.fixture.ts';

const { values } = parseArgs({
  options: { history: { type: 'string' }, seed: { type: 'string' }, runs: { type: 'string' } },
});
const first = values.seed === undefined ? systemRandom.nextInt(2 ** 32) : Number(values.seed);
const runs = Number(values.runs ?? (values.seed === undefined ? 100 : 1));
const chosen = histories.filter(({ name }) => values.history === undefined || values.history === name);
if (chosen.length === 0) {
  console.error(`There is no history ${values.history}; there are: ${histories.map(({ name }) => name).join(', ')}`);
  process.exit(1);
}

let failed = 0;
for (const { name, play } of chosen) {
  const failedBefore = failed;
  for (let seed = first; seed < first + runs; seed++) {
    try {
      await play(seed);
    } catch (error) {
      failed += 1;
      console.error(`\nTo see it again: npm run simulate -- storage --history=${name} --seed=${seed}`);
      console.error(error);
    }
  }
  console.log(
    `${name}: seeds ${first} to ${first + runs - 1}, ${runs - (failed - failedBefore)} passed, ${failed - failedBefore} failed`,
  );
}
process.exit(failed === 0 ? 0 : 1);
