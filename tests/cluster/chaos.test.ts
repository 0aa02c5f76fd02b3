// A cluster of real processes under a load of foreign clients, in which brokers and ZooKeeper servers are killed and paused, in turn and
// then by chance: nothing acknowledged is lost, nothing of an idempotent producer is there twice, the group goes on and sees everything.
//
// ODRADEK_CHAOS_MINUTES=30 goes on for so long, ODRADEK_CHAOS_SEED repeats the choices of a run, and ODRADEK_CHAOS_LOGS names a directory in
// which the brokers' logs are kept. In the long form franz-go and Java take part, too.

import { test } from 'node:test';
import { SeededRandom } from '@odradek/runtime';
import { skipWithout } from '@odradek/testing';
import { ChaosCluster, faults, jars, moreFaults } from './chaos-cluster.ts';
import { franzGo, javaClient, loadTools } from './steady-load.ts';

const minutes = Number(process.env['ODRADEK_CHAOS_MINUTES'] ?? 0);
const [franz, java] = minutes > 0 ? [await franzGo(), await javaClient()] : [];
const more = [franz, java].filter((program) => program !== undefined);
const skip = skipWithout(jars, ...loadTools, ...more.flatMap(({ tools }) => tools));
const seed = Number(process.env['ODRADEK_CHAOS_SEED'] ?? Date.now() % 1_000_000);
/** By chance, when no time is given. */
const faultCount = 3;

test('whoever is killed or paused, nothing acknowledged is lost', { skip, timeout: (minutes + 6) * 60_000 }, async (context) => {
  const random = new SeededRandom(seed);
  context.diagnostic(`ODRADEK_CHAOS_SEED=${seed}`);
  await using cluster = await ChaosCluster.start({ producers: more, members: java === undefined ? [] : [java] });
  const endMs = performance.now() + minutes * 60_000;
  const chosen = (index: number) => faults[index] ?? moreFaults[random.nextInt(moreFaults.length)] ?? faults[0];
  const isOver = (index: number) => index >= faults.length + faultCount && performance.now() >= endMs;
  for (let index = 0; !isOver(index); index++) {
    const fault = chosen(index);
    if (fault === undefined) continue;
    const startMs = performance.now();
    try {
      const what = await fault.happen(cluster, random);
      await cluster.settle();
      context.diagnostic(`${fault.name}: ${what}; after ${Math.round(performance.now() - startMs)} ms all was well`);
    } catch (error) {
      throw new Error(`${index}: ${fault.name} (ODRADEK_CHAOS_SEED=${seed})`, { cause: error });
    }
  }
  await cluster.finish();
});
