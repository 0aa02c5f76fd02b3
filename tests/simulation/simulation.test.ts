import { describe, test } from 'node:test';
import { scenarios } from './scenarios.ts';

// The cluster has a file of its own, cluster/cluster.test.ts: it takes longer.

/** Always the same in tests, so that a change is to blame for what changes; `npm run simulate` draws new ones. */
const seeds = [1, 2, 3, 4, 5, 6, 7, 8];
/** Seeds that once found a fault, with its story. */
const remembered: Readonly<Record<string, readonly { readonly seed: number; readonly story: string }[]>> = {
  'crashing-broker': [
    {
      seed: 599500207,
      story: 'a batch that survived kill -9 unsynced, was sent again and acknowledged, does not survive a power cut',
    },
  ],
  'full-disk': [{ seed: 6, story: 'a checkpoint of high watermarks does not fit on the disk' }],
};

for (const { name, play } of scenarios.filter((scenario) => !scenario.name.endsWith('cluster'))) {
  describe(`simulation: ${name}`, () => {
    for (const seed of seeds) {
      test(`seed ${seed}: npm run simulate -- --scenario=${name} --seed=${seed}`, () => play(seed));
    }
    for (const { seed, story } of remembered[name] ?? []) {
      test(`${story} (seed ${seed})`, () => play(seed));
    }
  });
}
