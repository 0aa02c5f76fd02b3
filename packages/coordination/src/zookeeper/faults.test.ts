// Sessions that work while everything around them fails by chance: what was answered is there, watches miss nothing, calls come to an
// end, and no session believes in itself when others have been told that it is over. ODRADEK_SEED runs one seed alone,
// ODRADEK_SEEDS so many of them.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SeededRandom, Timer } from '@odradek/runtime';
import { SimulatedWorld, SimulatedZooKeeper } from '@odradek/testing';
import { type Coordination, isCoordinationError } from '../coordination.ts';
import { ZooKeeperStore } from './zookeeper-store.ts';

const timeoutMs = 4000;

/** Counts up in one node, with version checks, until told to stop or the session is over. */
class Counter {
  readonly path: string;
  readonly #session: Coordination;
  readonly #timer: Timer;
  #version = 0;
  answered = 0;
  isStopped = false;

  constructor(session: Coordination, path: string, timer: Timer) {
    this.#session = session;
    this.#timer = timer;
    this.path = path;
  }

  async run(): Promise<void> {
    while (!this.isStopped) {
      await new Promise<void>((resolve) => this.#timer.schedule(20, resolve));
      const next = this.answered + 1;
      try {
        // Nobody else writes here: no answer that was lost may be taken for somebody else's write.
        this.#version = (await this.#session.set(this.path, Buffer.from(String(next)), this.#version)).version;
        assert.equal(this.#version, next);
        this.answered = next;
      } catch (error) {
        if (!isCoordinationError(error, 'SessionExpired')) throw error;
        return;
      }
    }
  }
}

/** Knows a node by its watch alone. */
class Mirror {
  readonly #session: Coordination;
  readonly #path: string;
  value = '';

  constructor(session: Coordination, path: string) {
    this.#session = session;
    this.#path = path;
  }

  async look(): Promise<void> {
    const now = await unlessOver(() => this.#session.get(this.#path, () => void this.look()));
    if (now !== undefined) this.value = String(now.data);
  }
}

/** undefined: the session is over. */
async function unlessOver<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (!isCoordinationError(error, 'SessionExpired')) throw error;
    return undefined;
  }
}

const machines = ['one', 'two', 'three'];

async function disturb(world: SimulatedWorld, server: SimulatedZooKeeper, random: SeededRandom): Promise<void> {
  const machine = machines[random.nextInt(machines.length)]!;
  const durationMs = random.nextInt(random.nextInt(4) === 0 ? 2 * timeoutMs : timeoutMs / 2);
  switch (random.nextInt(4)) {
    case 0:
      world.simulatedNetwork.partition([machine], ['zookeeper']);
      await world.advance(durationMs);
      world.simulatedNetwork.heal();
      break;
    case 1:
      // Requests arrive and answers do not.
      world.simulatedNetwork.cutOneWay('zookeeper', machine);
      await world.advance(durationMs);
      world.simulatedNetwork.heal();
      break;
    case 2:
      world.pause(machine);
      await world.advance(durationMs);
      world.resume(machine);
      break;
    default:
      await server.stop();
      await world.advance(durationMs);
      await server.resume();
  }
  await world.advance(random.nextInt(1000));
}

async function live(seed: number): Promise<{ cuts: number; expired: number }> {
  const world = new SimulatedWorld({ seed, logLevel: 'fatal', network: { maxDelayMs: 5, splitProbability: 0.2 } });
  const random = world.random;
  const server = await SimulatedZooKeeper.start(world);
  const open = async (name: string): Promise<Coordination> => {
    const store = await ZooKeeperStore.connect({ ...world.machine(name), connect: server.address, sessionTimeoutMs: timeoutMs });
    return world.run(store.openSession());
  };
  const observer = await open('observer');
  const sessions: Coordination[] = [];
  let cuts = 0;
  for (const machine of machines) {
    const session = await open(machine);
    session.onState((state) => {
      if (state === 'disconnected') cuts++;
    });
    sessions.push(session);
  }
  const counters = sessions.map((session, i) => new Counter(session, `/counter-${i}`, world.machine(machines[i]!).timer));
  for (const [i, session] of sessions.entries()) {
    await world.run(observer.create(`/counter-${i}`, Buffer.from('0')));
    await world.run(session.create(`/alive-${i}`, null, { ephemeral: true }));
    const check = async (): Promise<void> => {
      const stat = await unlessOver(() => observer.exists(`/alive-${i}`, () => void check()));
      if (stat === undefined) assert.match(session.state, /lapsed|expired/, `seed ${seed}: the node of session ${i} is gone`);
    };
    await world.run(check());
  }
  const mirrors = sessions.map((session, i) => new Mirror(session, `/counter-${(i + 1) % sessions.length}`));
  await world.run(Promise.all(mirrors.map((mirror) => mirror.look())));
  const runs = counters.map((counter) => counter.run());

  world.simulatedNetwork.faults.cutProbability = 0.002;
  for (let i = 0; i < 12; i++) await disturb(world, server, random);
  world.simulatedNetwork.faults.cutProbability = 0;

  for (const counter of counters) counter.isStopped = true;
  await world.run(Promise.all(runs), 60_000);
  await world.advance(2 * timeoutMs);
  let expired = 0;
  for (const [i, session] of sessions.entries()) {
    const { data } = (await world.run(unlessOver(() => observer.get(`/counter-${i}`))))!;
    const own = await world.run(unlessOver(() => session.get(`/counter-${i}`)));
    const alive = await world.run(unlessOver(() => observer.exists(`/alive-${i}`)));
    if (session.state === 'expired') {
      expired++;
      assert.equal(own, undefined);
      assert.equal(alive, undefined);
      assert.ok(Number(data) >= counters[i]!.answered, `seed ${seed}: ${data} is less than ${counters[i]!.answered}`);
    } else {
      assert.equal(session.state, 'connected', `seed ${seed}`);
      assert.equal(alive?.ephemeralOwner, session.sessionId, `seed ${seed}`);
      assert.equal(Number(data), counters[i]!.answered, `seed ${seed}`);
      const mirrored = await world.run(unlessOver(() => observer.get(`/counter-${(i + 1) % sessions.length}`)));
      assert.equal(mirrors[i]!.value, String(mirrored!.data), `seed ${seed}: session ${i} has missed news`);
    }
  }
  return { cuts, expired };
}

describe('ZooKeeper sessions under faults', () => {
  const only = process.env['ODRADEK_SEED'];
  const seeds =
    only === undefined ? Array.from({ length: Number(process.env['ODRADEK_SEEDS'] ?? 6) }, (_, i) => i + 1) : [Number(only)];

  it(`keep their promises, seeds ${seeds[0]} to ${seeds.at(-1)}`, async () => {
    const sums = { cuts: 0, expired: 0 };
    for (const seed of seeds) {
      const { cuts, expired } = await live(seed).catch((error: unknown) => {
        throw new Error(`seed ${seed} has failed`, { cause: error });
      });
      sums.cuts += cuts;
      sums.expired += expired;
    }
    if (only === undefined) assert.ok(sums.cuts > 20 && sums.expired > 0, `too little has happened: ${JSON.stringify(sums)}`);
  });
});
