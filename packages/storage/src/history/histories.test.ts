import { test } from 'node:test';
import { histories } from './histories.fixture.ts';

/** Always the same, so that a change is to blame for what changes; `npm run simulate -- storage` draws others. */
const seedCount = 100;

for (const { name, play } of histories) {
  test(`a ${name} history: seeds 0 to ${seedCount - 1}`, async () => {
    for (let seed = 0; seed < seedCount; seed++) await play(seed);
  });
}
