// What the tests against real servers have in common.

import { type ByteStream, createLogger, type Network, NodeNetwork, SystemTimer, systemClock, systemRandom } from '@odradek/runtime';
import type { Coordination, SessionState } from '../coordination.ts';
import { ZooKeeperStore, type ZooKeeperStoreParts } from './zookeeper-store.ts';

const timer = new SystemTimer(systemClock);
// ODRADEK_TEST_LOG=info shows what a test went through.
const logger = createLogger({ level: (process.env['ODRADEK_TEST_LOG'] as 'info' | undefined) ?? 'fatal' });

export function connectStore(connect: string, options: Partial<ZooKeeperStoreParts> = {}): Promise<ZooKeeperStore> {
  return ZooKeeperStore.connect({
    network: new NodeNetwork(),
    timer,
    clock: systemClock,
    random: systemRandom,
    logger,
    connect,
    sessionTimeoutMs: 4000,
    connectionTimeoutMs: 20_000,
    ...options,
  });
}

const sessions = new Set<Coordination>();

/** One that `closeSessions` closes. */
export async function openSession(connect: string, options: Partial<ZooKeeperStoreParts> = {}): Promise<Coordination> {
  const session = await (await connectStore(connect, options)).openSession();
  sessions.add(session);
  return session;
}

/** For `afterEach`: a session that is left open would look for its servers for ever. */
export async function closeSessions(): Promise<void> {
  await Promise.all([...sessions].map((session) => session.close()));
  sessions.clear();
}

/** Settles when the session comes into that state. */
export function reached(session: Coordination, wanted: SessionState): Promise<void> {
  return new Promise((resolve) => {
    const stop = session.onState((state) => {
      if (state !== wanted) return;
      stop();
      resolve();
    });
  });
}

/** A network whose cable can be pulled. */
export class CuttableNetwork implements Network {
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

/** A network that knows where the latest connection goes to. */
export class TracedNetwork implements Network {
  readonly #network = new NodeNetwork();
  lastPort = 0;

  listen: Network['listen'] = (options, accept) => this.#network.listen(options, accept);

  connect: Network['connect'] = async (options, receiver) => {
    const stream = await this.#network.connect(options, receiver);
    this.lastPort = options.port;
    return stream;
  };
}
