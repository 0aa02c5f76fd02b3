import { describe, test } from 'node:test';
import { scenarios } from './scenarios.ts';

/** Always the same in tests, so that a change is to blame for what changes; `npm run simulate` draws new ones. */
const seeds = [1, 2, 3, 4, 5, 6, 7, 8];
/** Three brokers have more to get wrong. */
const clusterSeeds = Array.from({ length: Number(process.env['ODRADEK_CLUSTER_SEEDS'] ?? 40) }, (_, index) => index + 1);

/** Seeds that once found a fault, with its story. */
const remembered: Readonly<Record<string, readonly { readonly seed: number; readonly story: string }[]>> = {
  'crashing-broker': [
    {
      seed: 599500207,
      story: 'a batch that survived kill -9 unsynced, was sent again and acknowledged, does not survive a power cut',
    },
  ],
  cluster: [
    { seed: 3093462621, story: 'a leader that was the controller too loses power and is back before another controller looks' },
    { seed: 33, story: 'a controller that could not read the tree anew fails again while it waits to try' },
  ],
  'full-disk': [{ seed: 6, story: 'a checkpoint of high watermarks does not fit on the disk' }],
};

for (const { name, play } of scenarios) {
  describe(`simulation: ${name}`, () => {
    for (const seed of name === 'cluster' ? clusterSeeds : seeds) {
      test(`seed ${seed}: npm run simulate -- --scenario=${name} --seed=${seed}`, () => play(seed));
    }
    for (const { seed, story } of remembered[name] ?? []) {
      test(`${story} (seed ${seed})`, () => play(seed));
    }
  });
}
