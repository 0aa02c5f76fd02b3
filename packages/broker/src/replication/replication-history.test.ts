// Three replicas through a history of cuts, crashes with lost writes, restarts and elections, all from one seed. After each piece of it:
//
//   - replicas agree in all that each of them takes for committed
//   - the high watermark of a leader has not gone back in its reign
//   - whoever leads has everything that was acknowledged with acks=all, where it was acknowledged
//
// REPLICATION_SEEDS=1000 tries more, REPLICATION_SEED=17 one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SeededRandom } from '@odradek/runtime';
import { SimulatedWorld } from '@odradek/testing';
import { nameOf, ReplicaNodes } from './replica-nodes.fixture.ts';

const stepCount = 80;

const one = process.env['REPLICATION_SEED'];
const seeds =
  one === undefined
    ? Array.from({ length: Number(process.env['REPLICATION_SEEDS'] ?? 12) }, (_, index) => index + 1)
    : [Number(one)];

for (const seed of seeds) {
  test(`a history of replicas loses nothing that was acknowledged (seed ${seed})`, async () => {
    const world = new SimulatedWorld({ seed, network: { maxDelayMs: seed % 5 === 0 ? 60 : 8, cutProbability: 0.002 } });
    const nodes = new ReplicaNodes(world, {
      ...(seed % 3 === 0 ? { maxFetchVersion: 11 } : {}),
      logConfig: { segmentBytes: 2048, minInSyncReplicas: 1 + (seed % 2) },
      // So that followers leave and join many times in each history, and are about to while something else happens.
      properties: { 'replica.lag.time.max.ms': '300', 'replica.fetch.wait.max.ms': '80', 'replica.socket.timeout.ms': '500' },
      alterDelayMs: seed % 4 === 0 ? 20 : 200,
    });
    const watermarks = new Watermarks(nodes);
    try {
      await nodes.startAll();
      for (let step = 0; step < stepCount; step++) {
        await act(nodes, world.random, step);
        watermarks.check();
        if (step % 8 === 7) await checkLogs(nodes);
      }
      world.simulatedNetwork.faults.cutProbability = 0;
      world.simulatedNetwork.heal();
      for (const id of nodes.ids) if (!nodes.running.has(id)) await nodes.start(id);
      await world.runUntil(() => {
        watermarks.check();
        return nodes.isLevel;
      });
      const acknowledged = nodes.acknowledged.size;
      nodes.produce(nodes.controller.leadership.leader, 'last');
      await world.runUntil(() => nodes.acknowledged.size > acknowledged);
      await checkLogs(nodes);
    } catch (error) {
      throw new Error(`REPLICATION_SEED=${seed}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  });
}

async function act(nodes: ReplicaNodes, random: SeededRandom, step: number): Promise<void> {
  const { world, ids } = nodes;
  const network = world.simulatedNetwork;
  const id = ids[random.nextInt(ids.length)] ?? 0;
  const other = ids.filter((each) => each !== id)[random.nextInt(ids.length - 1)] ?? 0;
  const dice = random.nextInt(100);
  if (dice < 45) {
    // Also to a broker that has not heard yet that it leads no more.
    for (const each of nodes.running.keys()) nodes.produce(each, `${step}`, ...(random.nextInt(2) === 0 ? [] : [`${step}+`]));
  } else if (dice < 51) crash(nodes, id, random);
  else if (dice < 55) crash(nodes, nodes.controller.leadership.leader, random);
  else if (dice < 66) {
    const down = ids.find((each) => !nodes.running.has(each));
    if (down !== undefined) await nodes.start(down);
  } else if (dice < 74) network.partition([nameOf(id)], [nameOf(other)]);
  else if (dice < 78) network.cutOneWay(nameOf(id), nameOf(other));
  else if (dice < 88) network.heal();
  else if (dice < 93) {
    const { isr, leader } = nodes.controller.leadership;
    if (isr.includes(id) && nodes.running.has(id) && leader !== id) nodes.controller.elect(id);
  }
  await world.advance(random.nextInt(dice % 10 === 0 ? 900 : 60));
}

/** A machine loses what was not synced only while two others have everything; a program that ends loses nothing. */
function crash(nodes: ReplicaNodes, id: number, random: SeededRandom): void {
  if (!nodes.running.has(id)) return;
  const mayLose = nodes.running.size === 3 && nodes.controller.leadership.isr.length === 3;
  nodes.crash(id, mayLose ? ((['nothing', 'something', 'everything'] as const)[random.nextInt(3)] ?? 'something') : 'everything');
}

class Watermarks {
  readonly #nodes: ReplicaNodes;
  readonly #highest = new Map<string, number>();

  constructor(nodes: ReplicaNodes) {
    this.#nodes = nodes;
  }

  check(): void {
    for (const { id, partition } of this.#nodes.running.values()) {
      if (partition?.isLeader !== true || !partition.hasLog) continue;
      const reign = `${id}/${partition.leaderEpoch}`;
      const { highWatermark } = partition.log;
      const before = this.#highest.get(reign) ?? 0;
      assert.ok(highWatermark >= before, `the high watermark of ${reign} went back from ${before} to ${highWatermark}`);
      this.#highest.set(reign, highWatermark);
    }
  }
}

async function checkLogs(nodes: ReplicaNodes): Promise<void> {
  const committed: string[][] = [];
  for (const { id, partition } of nodes.running.values()) {
    if (partition?.hasLog === true) committed.push(await nodes.contents(id, partition.log.highWatermark));
  }
  for (const a of committed) {
    for (const b of committed) {
      const length = Math.min(a.length, b.length);
      assert.deepEqual(a.slice(0, length), b.slice(0, length), 'replicas disagree below their high watermarks');
    }
  }
  const { leader } = nodes;
  if (leader === undefined) return;
  const acknowledged = [...nodes.acknowledged];
  const lines = await nodes.contents(nodes.controller.leadership.leader, leader.log.logEndOffset);
  const values = new Map(lines.map((line) => line.split(' ')).map(([offset, , value]) => [Number(offset), value]));
  for (const [offset, value] of acknowledged) assert.equal(values.get(offset), value, `what was acknowledged at ${offset} is lost`);
}
