// Brokers under every fault that the simulation knows, and what must be left of the load when they are over. Without an operator there
// are three of them; with one there are four, so that partitions have somewhere to move, and more befalls them.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { SeededRandom } from '@odradek/runtime';
import { SimulatedWorld } from '@odradek/testing';
import { ChangingTopics, phoenixTopic, recklessTopic } from './changing-topics.ts';
import { ClusterClient } from './cluster-client.ts';
import { abandonOne, Fate, fullDisk, isWhole, usualFaults } from './cluster-faults.ts';
import { ClusterLoad, fetchCommitted, loadTopic } from './cluster-load.ts';
import { checkPlaces, isSettled } from './cluster-places.ts';
import { ClusterWatch } from './cluster-watch.ts';
import { GroupMembers } from './group-members.ts';
import { Operator } from './operator.ts';
import { SimulatedCluster } from './simulated-cluster.ts';

const faults = 8;
const longestPauseMs = 5_000;
const recoveryLimitMs = 300_000;
const strayLimitMs = 15_000;

export async function cluster(seed: number): Promise<void> {
  const world = newWorld(seed);
  const random = new SeededRandom(seed);
  const simulated = await SimulatedCluster.start(world, 3);
  const watch = new ClusterWatch(simulated, { [loadTopic]: 'lossless' });
  world.onTurn = () => watch.check();
  const fate = new Fate(simulated, random);
  await telling(world, [fate], async () => {
    const load = await ClusterLoad.start(simulated, random.nextInt(2 ** 32));
    watch.watch(load.written);
    for (let i = 0; i < faults; i++) {
      await world.advance(random.nextInt(longestPauseMs));
      fate.inflict();
    }
    await recover(simulated, fate);
    await load.stop();
    await settle(simulated, watch, load);
    await stopAll(simulated);
  });
}

/** While an operator changes this and that, and a group reads what is written. */
export async function operatedCluster(seed: number): Promise<void> {
  const world = newWorld(seed);
  const random = new SeededRandom(seed);
  const simulated = await SimulatedCluster.start(world, 4);
  const watch = new ClusterWatch(simulated, { [loadTopic]: 'lossless', [phoenixTopic]: 'lossless', [recklessTopic]: 'agreeing' });
  world.onTurn = () => watch.check();
  const fate = new Fate(simulated, random, [...usualFaults, fullDisk, fullDisk, abandonOne, abandonOne]);
  const topics = new ChangingTopics(simulated, random.nextInt(2 ** 32));
  const operator = new Operator(simulated, topics, random.nextInt(2 ** 32));
  await telling(world, [fate, operator], async () => {
    await world.run(operator.begin());
    const load = await ClusterLoad.start(simulated, random.nextInt(2 ** 32));
    watch.watch(load.written, topics.written);
    const members = new GroupMembers(simulated, random.nextInt(2 ** 32), ({ partition, offset, ...record }) =>
      watch.checkRead(loadTopic, partition, offset, record),
    );
    for (let i = 0; i < faults; i++) {
      await world.advance(random.nextInt(longestPauseMs));
      fate.inflict();
      await world.advance(random.nextInt(longestPauseMs / 4));
      operator.act();
    }
    await recover(simulated, fate);
    await operator.stop(recoveryLimitMs);
    await topics.stop(simulated);
    await members.stop();
    await load.stop();
    await settle(simulated, watch, load);
    await world.run(members.checkCommitted(new ClusterClient(world.machine('reader'), simulated.addresses)), recoveryLimitMs);
    await checkPlacesSoon(simulated, new Map([[phoenixTopic, topics.current?.topicId]]));
    await stopAll(simulated);
  });
}

function newWorld(seed: number): SimulatedWorld {
  return new SimulatedWorld({ seed, network: { maxDelayMs: 4, splitProbability: 0.05 }, logLevel: 'info' });
}

/** Where it fails, tells what happened to the cluster. */
async function telling(
  world: SimulatedWorld,
  tellers: readonly { readonly story: readonly string[] }[],
  run: () => Promise<void>,
): Promise<void> {
  try {
    await run();
  } catch (error) {
    const logFile = process.env['ODRADEK_SIMULATION_LOG'];
    if (logFile !== undefined) writeFileSync(logFile, world.logText.join(''));
    const events = tellers
      .flatMap(({ story }) => story)
      .sort((one, other) => Number.parseInt(one, 10) - Number.parseInt(other, 10));
    const story = [`What happened to the cluster:`, ...events].join('\n  ');
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${story}`, { cause: error });
  }
}

async function recover(simulated: SimulatedCluster, fate: Fate): Promise<void> {
  fate.relent();
  await simulated.world.runUntil(() => simulated.failures.length > 0 || isWhole(simulated), recoveryLimitMs);
  assert.deepEqual(simulated.failures, []);
}

async function settle(simulated: SimulatedCluster, watch: ClusterWatch, load: ClusterLoad): Promise<void> {
  const { world } = simulated;
  await world.runUntil(() => isSettled(simulated), recoveryLimitMs);
  watch.checkAllAgree();
  const client = new ClusterClient(world.machine('reader'), simulated.addresses);
  for (const { group, offset } of load.committed) {
    assert.equal(await world.run(fetchCommitted(client, group), recoveryLimitMs), Math.max(offset, offset === 0 ? -1 : 0));
  }
}

/** A broker that nobody has told to give a replica up finds out itself, after a while. */
async function checkPlacesSoon(simulated: SimulatedCluster, topicIds: ReadonlyMap<string, string | undefined>): Promise<void> {
  try {
    checkPlaces(simulated, topicIds);
  } catch {
    await simulated.world.advance(strayLimitMs);
    checkPlaces(simulated, topicIds);
  }
}

async function stopAll(simulated: SimulatedCluster): Promise<void> {
  const { world } = simulated;
  assert.deepEqual(simulated.failures, []);
  await world.run(Promise.all(simulated.nodes.map((node) => simulated.stopNode(node))), recoveryLimitMs);
}
