// `npm run simulate`: plays the scenarios with seeds by chance, or again with one that failed.
//
//   npm run simulate                                  100 seeds for each scenario
//   npm run simulate -- --seeds=5000                  more
//   npm run simulate -- --scenario=NAME --seed=4711   one
//   ODRADEK_SIMULATION_LOG=FILE npm run simulate -- …   what the brokers of a cluster that failed have logged
//   npm run simulate -- storage …                     histories of a log alone: see play-histories.fixture.ts

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { systemRandom } from '@odradek/runtime';
import { scenarios } from './scenarios.ts';

const histories = '../../packages/storage/src/history/play-histories.fixture.ts';
if (process.argv[2] === 'storage') {
  const args = [...process.execArgv, fileURLToPath(new URL(histories, import.meta.url)), ...process.argv.slice(3)];
  process.exit(spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? 1);
}

const { values } = parseArgs({
  options: { scenario: { type: 'string' }, seed: { type: 'string' }, seeds: { type: 'string', default: '100' } },
});
const seeds =
  values.seed === undefined
    ? Array.from({ length: wholeNumber('seeds', values.seeds) }, () => systemRandom.nextInt(2 ** 32))
    : [wholeNumber('seed', values.seed)];
const chosen = scenarios.filter(({ name }) => values.scenario === undefined || values.scenario === name);
if (chosen.length === 0) {
  console.error(`There is no scenario ${values.scenario}; there are: ${scenarios.map(({ name }) => name).join(', ')}`);
  process.exit(1);
}

let passed = 0;
let failed = 0;
for (const { name, play } of chosen) {
  for (const seed of seeds) {
    try {
      await play(seed);
      passed++;
    } catch (error) {
      failed++;
      console.error(`\n${name} failed. To see it again: npm run simulate -- --scenario=${name} --seed=${seed}`);
      console.error(error);
    }
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

function wholeNumber(option: string, text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  console.error(`--${option} takes a whole number, not ${JSON.stringify(text)}`);
  process.exit(1);
}
