// Three brokers under every fault that the simulation knows, and what must be left of the load when they are over.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { SeededRandom } from '@odradek/runtime';
import { SimulatedWorld } from '@odradek/testing';
import { ClusterClient } from './cluster-client.ts';
import { Fate, isWhole } from './cluster-faults.ts';
import { ClusterLoad, fetchCommitted, loadTopic } from './cluster-load.ts';
import { ClusterWatch } from './cluster-watch.ts';
import { SimulatedCluster } from './simulated-cluster.ts';

const brokers = 3;
const faults = 8;
const longestPauseMs = 5_000;
const recoveryLimitMs = 300_000;

export async function cluster(seed: number): Promise<void> {
  const world = new SimulatedWorld({ seed, network: { maxDelayMs: 4, splitProbability: 0.05 }, logLevel: 'info' });
  const random = new SeededRandom(seed);
  const simulated = await SimulatedCluster.start(world, brokers);
  const watch = new ClusterWatch(simulated, loadTopic);
  world.onTurn = () => watch.check();
  const fate = new Fate(simulated, random);
  try {
    const load = await ClusterLoad.start(simulated, random.nextInt(2 ** 32));
    watch.watch(load.written);
    for (let i = 0; i < faults; i++) {
      await world.advance(random.nextInt(longestPauseMs));
      fate.inflict();
    }
    fate.relent();
    await world.runUntil(() => isWhole(simulated), recoveryLimitMs);
    await load.stop();
    await world.runUntil(() => isSettled(simulated), recoveryLimitMs);
    watch.checkAllAgree();
    const client = new ClusterClient(world.machine('reader'), simulated.addresses);
    for (const { group, offset } of load.committed) {
      assert.equal(await world.run(fetchCommitted(client, group), recoveryLimitMs), Math.max(offset, offset === 0 ? -1 : 0));
    }
    assert.deepEqual(simulated.failures, []);
    await world.run(Promise.all(simulated.nodes.map((node) => simulated.stopNode(node))), recoveryLimitMs);
  } catch (error) {
    const logFile = process.env['ODRADEK_SIMULATION_LOG'];
    if (logFile !== undefined) writeFileSync(logFile, world.logText.join(''));
    const story = [`What happened to the cluster:`, ...fate.story].join('\n  ');
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${story}`, { cause: error });
  }
}

/** Every replica has all that its leader has, and knows that it is committed. */
function isSettled(simulated: SimulatedCluster): boolean {
  if (!isWhole(simulated)) return false;
  const ends = new Map<string, number>();
  for (const { broker } of simulated.nodes) {
    for (const { topic, partition, logEndOffset, highWatermark } of broker?.replicas() ?? []) {
      const key = `${topic}-${partition}`;
      const end = ends.get(key) ?? logEndOffset;
      if (highWatermark !== end || logEndOffset !== end) return false;
      ends.set(key, end);
    }
  }
  return true;
}
