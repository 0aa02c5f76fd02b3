// A broker whose ZooKeeper goes away in the middle of its start, and one that stops while it is away.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { brokerIdNode, controllerNode, isCoordinationError, ZooKeeperStore } from '@odradek/coordination';
import { SimulatedWorld, SimulatedZooKeeper } from '@odradek/testing';
import { type Broker, startBroker } from './broker.ts';

const sessionTimeoutMs = 6000;

interface Scene {
  readonly world: SimulatedWorld;
  readonly zookeeper: SimulatedZooKeeper;
}

async function open(): Promise<Scene> {
  const world = new SimulatedWorld({ seed: 1, logLevel: 'fatal', network: { minDelayMs: 1, maxDelayMs: 3 } });
  return { world, zookeeper: await SimulatedZooKeeper.start(world) };
}

function start({ world, zookeeper }: Scene, options: { readonly signal?: AbortSignal } = {}): Promise<Broker> {
  const properties = {
    'broker.id': 7,
    'log.dirs': '/data',
    listeners: 'PLAINTEXT://broker:9092',
    'zookeeper.connect': zookeeper.address,
    'zookeeper.session.timeout.ms': sessionTimeoutMs,
    'zookeeper.connection.timeout.ms': 60_000,
    'offsets.topic.replication.factor': 1,
  };
  return startBroker({ world: world.machine('broker'), properties, ...options });
}

/** What an observer finds in the tree: who is registered, and who is the controller. */
async function look({ world, zookeeper }: Scene): Promise<{ registered: string[]; controller: number }> {
  const store = await ZooKeeperStore.connect({ ...world.machine('observer'), connect: zookeeper.address });
  const session = await world.run(store.openSession());
  const { names } = await world.run(session.children('/brokers/ids'));
  const { data } = await world.run(session.get(controllerNode.path));
  await world.run(session.close());
  assert.ok(names.every((name) => brokerIdNode.path(Number(name)) === `/brokers/ids/${name}`));
  return { registered: names, controller: controllerNode.decode(data).brokerId };
}

describe('a broker whose ZooKeeper goes away', () => {
  for (const [name, awayMs] of [
    ['for a moment', 100],
    ['for longer than the session', 30_000],
  ] as const) {
    it(`${name} in the middle of its start, wherever it is, waits and goes on`, async () => {
      let moments = 0;
      for (let atMs = 2; ; atMs += 7) {
        const scene = await open();
        const { world, zookeeper } = scene;
        let isReady = false;
        const starting = start(scene).then((broker) => {
          isReady = true;
          return broker;
        });
        starting.catch(() => undefined); // Seen below.
        await world.advance(atMs);
        if (isReady) {
          await world.run((await starting).close());
          break;
        }
        await zookeeper.stop();
        await world.advance(awayMs);
        await zookeeper.resume();
        const broker = await world.run(starting, 60_000).catch((error: unknown) => {
          throw new Error(`the start ends when ZooKeeper goes away after ${atMs} ms`, { cause: error });
        });
        assert.deepEqual(await look(scene), { registered: ['7'], controller: 7 }, `away after ${atMs} ms`);
        await world.run(broker.close(), 60_000);
        moments++;
      }
      assert.ok(moments >= 5, `${moments} moments`);
    });
  }

  it('in the middle of its start can be told to stop, and then waits no longer', async () => {
    const scene = await open();
    const { world, zookeeper } = scene;
    const stopping = new AbortController();
    const starting = start(scene, { signal: stopping.signal });
    await world.advance(20);
    await zookeeper.stop();
    await world.advance(60_000);
    stopping.abort();
    await assert.rejects(world.run(starting, 100), (error: unknown) => isCoordinationError(error, 'SessionExpired'));
  });

  for (const [name, awayMs] of [
    ['and stays away for a moment', 10],
    ['and stays away for longer than its session', 30_000],
  ] as const) {
    it(`${name} stops without it`, async () => {
      const scene = await open();
      const { world, zookeeper } = scene;
      const broker = await world.run(start(scene));
      await zookeeper.stop();
      await world.advance(awayMs);
      await world.run(broker.close(), 60_000);
    });
  }
});
