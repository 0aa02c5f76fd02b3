// As cluster.test.ts, with an operator at work. In a file of its own, so that the two can be played at the same time.

import { describe, test } from 'node:test';
import { operatedCluster } from './cluster.ts';

const seeds = Number(process.env['ODRADEK_OPERATED_CLUSTER_SEEDS'] ?? 40);

/** Seeds that once found a fault, with its story. */
const remembered = [
  { seed: 100007, story: 'a replica is moved away from a broker that lives on without its session' },
  { seed: 100060, story: 'a replica is moved away while its broker waits for the session of its last life to end' },
  { seed: 100021, story: 'a topic is deleted while the disk of a broker is full' },
  { seed: 100067, story: 'a topic is deleted while a partition of it moves to a broker that is down' },
];

describe('simulation: operated cluster', () => {
  for (let seed = 1; seed <= seeds; seed++) {
    test(`seed ${seed}: npm run simulate -- --scenario=operated-cluster --seed=${seed}`, () => operatedCluster(seed));
  }
  for (const { seed, story } of remembered) test(`${story} (seed ${seed})`, () => operatedCluster(seed));
});
