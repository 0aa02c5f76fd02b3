import { test } from 'node:test';
import { LogHistory } from './log-history.fixture.ts';

/** ODRADEK_SEED plays one again, ODRADEK_SEEDS=1000 plays more than usual. */
const seed = process.env['ODRADEK_SEED'];
const seedCount = Number(process.env['ODRADEK_SEEDS'] ?? 100);
const stepCount = 80;

test('a log does what a list of batches does, through crashes, full disks and restarts', async () => {
  const seeds = seed === undefined ? Array.from({ length: seedCount }, (_, index) => index) : [Number(seed)];
  for (const each of seeds) {
    const history = new LogHistory(each);
    try {
      await history.play(stepCount);
    } catch (error) {
      throw new Error(`ODRADEK_SEED=${each} fails after:\n${history.steps.join('\n')}\n${history.logText}`, { cause: error });
    }
  }
});
