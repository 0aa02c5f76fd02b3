// A session in simulated time, with servers that do what a test tells them.

import assert from 'node:assert/strict';
import { SimulatedWorld } from '@odradek/testing';
import { type Coordination, type CoordinationError, isCoordinationError } from '../coordination.ts';
import { type FakeBehaviour, FakeServer, statBytes } from './fake-server.fixture.ts';
import { JuteWriter } from './jute.ts';
import { ZooKeeperStore, type ZooKeeperStoreParts } from './zookeeper-store.ts';

export const timeoutMs = 6000;

export interface Scene {
  readonly world: SimulatedWorld;
  readonly servers: readonly FakeServer[];
  readonly states: string[];
  /** What happened, with the time since the scene began. */
  readonly moments: string[];
  session: Coordination;
}

/** A session with servers that listen on zk0:2181, zk1:2181, …, and do as they are told. */
export async function sceneWith(
  behaviours: readonly FakeBehaviour[],
  options: Partial<ZooKeeperStoreParts> & { readonly seed?: number } = {},
): Promise<Scene> {
  const { seed = 1, ...parts } = options;
  const world = new SimulatedWorld({ seed, logLevel: 'fatal' });
  const servers = behaviours.map((behaviour) => Object.assign(new FakeServer(), { behaviour }));
  await Promise.all(servers.map((server, i) => server.listen(world.machine(`zk${i}`).network, '', 2181)));
  const connect = servers.map((_, i) => `zk${i}:2181`).join(',');
  const store = await ZooKeeperStore.connect({ ...world.machine('broker'), connect, sessionTimeoutMs: timeoutMs, ...parts });
  const session = await world.run(store.openSession());
  const states: string[] = [];
  const moments: string[] = [];
  const startMs = world.clock.monotonicMs();
  session.onState((state) => {
    states.push(state);
    moments.push(`${Math.round((world.clock.monotonicMs() - startMs) / 100) * 100} ${state}`);
  });
  return { world, servers, states, moments, session };
}

/** Runs the promise to its end and returns its error. */
export async function failureOf(world: SimulatedWorld, promise: Promise<unknown>): Promise<CoordinationError> {
  const outcome = await world.run(
    promise.then(
      () => undefined,
      (error: unknown) => error,
    ),
  );
  assert.ok(isCoordinationError(outcome), `${outcome}`);
  return outcome;
}

export const dataOf = (text: string): Buffer => Buffer.concat([new JuteWriter().buffer(Buffer.from(text)).finish(), statBytes()]);
export const listening = (scene: Scene): FakeServer => scene.servers.find(({ connections }) => connections.length > 0)!;
