// A look into the ZooKeeper of a cluster, for the moment when it says that a broker is gone.

import { type Coordination, ZooKeeperStore } from '@odradek/coordination';
import { createLogger, createSystemWorld } from '@odradek/runtime';

export async function openSession(connect: string): Promise<Coordination> {
  const { network, timer, clock, random } = createSystemWorld();
  const store = await ZooKeeperStore.connect({ network, timer, clock, random, logger: createLogger({ level: 'fatal' }), connect });
  return await store.openSession();
}

/** Settles with the time at which the node was deleted. */
export function whenDeleted(coordination: Coordination, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    coordination.exists(path, () => resolve(performance.now())).catch(reject);
  });
}
