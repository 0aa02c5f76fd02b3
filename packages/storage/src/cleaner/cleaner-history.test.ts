import { test } from 'node:test';
import { CleanerHistory } from './cleaner-history.fixture.ts';

/** ODRADEK_SEED plays one again, ODRADEK_SEEDS=1000 plays more than usual. */
const seed = process.env['ODRADEK_SEED'];
const seedCount = Number(process.env['ODRADEK_SEEDS'] ?? 100);
const stepCount = 120;

test('a compacted log keeps what it must and nothing else, through cleanings, crashes and truncations', async () => {
  const seeds = seed === undefined ? Array.from({ length: seedCount }, (_, index) => index) : [Number(seed)];
  for (const each of seeds) {
    const history = new CleanerHistory(each);
    try {
      await history.play(stepCount);
    } catch (error) {
      throw new Error(`ODRADEK_SEED=${each} fails after:\n${history.steps.join(', ')}\n${history.text}`, { cause: error });
    }
  }
});
