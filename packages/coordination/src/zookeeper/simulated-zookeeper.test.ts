// The same suite against the simulated ZooKeeper on a slow network that splits chunks, so that simulated clusters rest on the truth.

import { SimulatedWorld, SimulatedZooKeeper } from '@odradek/testing';
import { describeCoordination } from '../coordination.contract.ts';
import { ZooKeeperStore } from './zookeeper-store.ts';

for (const seed of [1, 2, 3]) {
  describeCoordination(`simulated ZooKeeper, seed ${seed}`, async () => {
    const world = new SimulatedWorld({ seed, network: { maxDelayMs: 5, splitProbability: 0.3 } });
    const zookeeper = await SimulatedZooKeeper.start(world);
    let sessions = 0;
    let isClosed = false;
    // The suite waits for promises: time goes on by itself.
    const timeGoesOn = (async () => {
      while (!isClosed) await world.advance(1);
    })();
    return {
      async openSession() {
        const machine = world.machine(`client-${sessions++}`);
        const store = await ZooKeeperStore.connect({ ...machine, connect: zookeeper.address, sessionTimeoutMs: 6_000 });
        return store.openSession();
      },
      expire: (session) => zookeeper.expireSession(session.sessionId),
      async close() {
        await zookeeper.close();
        isClosed = true;
        await timeGoesOn;
      },
    };
  });
}
