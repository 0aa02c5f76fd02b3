// The same seeds each time, so that a change is to blame for what changes; `npm run simulate` draws new ones.

import { describe, test } from 'node:test';
import { cluster } from './cluster.ts';

const seeds = Number(process.env['ODRADEK_CLUSTER_SEEDS'] ?? 160);

/** Seeds that once found a fault, with its story. */
const remembered = [
  { seed: 3093462621, story: 'a leader that was the controller too loses power and is back before another controller looks' },
  { seed: 33, story: 'a controller that could not read the tree anew fails again while it waits to try' },
];

describe('simulation: cluster', () => {
  for (let seed = 1; seed <= seeds; seed++) {
    test(`seed ${seed}: npm run simulate -- --scenario=cluster --seed=${seed}`, () => cluster(seed));
  }
  for (const { seed, story } of remembered) test(`${story} (seed ${seed})`, () => cluster(seed));
});
