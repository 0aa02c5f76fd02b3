// As cluster.test.ts, with an operator at work. In a file of its own, so that the two can be played at the same time.

import { describe, test } from 'node:test';
import { operatedCluster } from './cluster.ts';

const seeds = Number(process.env['ODRADEK_OPERATED_CLUSTER_SEEDS'] ?? 40);

describe('simulation: operated cluster', () => {
  for (let seed = 1; seed <= seeds; seed++) {
    test(`seed ${seed}: npm run simulate -- --scenario=operated-cluster --seed=${seed}`, () => operatedCluster(seed));
  }
});
