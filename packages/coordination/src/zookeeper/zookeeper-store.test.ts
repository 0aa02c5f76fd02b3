// The store against real servers.

import { after, before, describe } from 'node:test';
import { type ByteStream, createLogger, type Network, NodeNetwork, SystemTimer, systemClock, systemRandom } from '@odradek/runtime';
import { needed, skipWithout, startZooKeeper, until, type ZooKeeperEnsemble, zooKeeperJars } from '@odradek/testing';
import { describeCoordination } from '../coordination.contract.ts';
import type { Coordination } from '../coordination.ts';
import { ZooKeeperStore, type ZooKeeperStoreParts } from './zookeeper-store.ts';

const jars = await zooKeeperJars();
const skip = skipWithout(jars);

const timer = new SystemTimer(systemClock);

function partsFor(connect: string, options: Partial<ZooKeeperStoreParts> = {}): ZooKeeperStoreParts {
  return {
    network: new NodeNetwork(),
    timer,
    clock: systemClock,
    random: systemRandom,
    logger: createLogger({ level: (process.env['ODRADEK_TEST_LOG'] as 'info' | undefined) ?? 'fatal' }),
    connect,
    sessionTimeoutMs: 4000,
    connectionTimeoutMs: 20_000,
    ...options,
  };
}

/** A network whose cable can be pulled. */
class CuttableNetwork implements Network {
  readonly #network = new NodeNetwork();
  readonly #streams = new Set<ByteStream>();
  isCut = false;

  listen: Network['listen'] = (options, accept) => this.#network.listen(options, accept);

  connect: Network['connect'] = async (options, receiver) => {
    if (this.isCut) throw new Error('the cable is out');
    const stream = await this.#network.connect(options, receiver);
    this.#streams.add(stream);
    return stream;
  };

  cut(): void {
    this.isCut = true;
    for (const stream of this.#streams) stream.destroy();
    this.#streams.clear();
  }
}

describe('a ZooKeeper server', { skip }, () => {
  let ensemble: ZooKeeperEnsemble;
  let roots = 0;
  before(async () => {
    ensemble = await startZooKeeper(needed(jars));
  });
  after(() => ensemble?.close());

  describeCoordination('ZooKeeper', async () => {
    const connect = `${ensemble.connect}/contract/${roots++}`;
    const sessions = new Map<Coordination, CuttableNetwork>();
    return {
      async openSession() {
        const network = new CuttableNetwork();
        const session = await (await ZooKeeperStore.connect(partsFor(connect, { network }))).openSession();
        sessions.set(session, network);
        return session;
      },
      async expire(session) {
        const network = sessions.get(session)!;
        const observer = await (await ZooKeeperStore.connect(partsFor(ensemble.connect))).openSession();
        await session.create('/probe', null, { ephemeral: true });
        const probe = `${connect.slice(connect.indexOf('/'))}/probe`;
        const gone = new Promise((resolve) => void observer.exists(probe, resolve));
        network.cut();
        await gone;
        network.isCut = false;
        await until('the session knows of its end', () => session.state === 'expired');
        await observer.close();
      },
      async close() {
        await Promise.all([...sessions.keys()].map((session) => session.close()));
      },
    };
  });
});
