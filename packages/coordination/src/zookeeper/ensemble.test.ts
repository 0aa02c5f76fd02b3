// The store against three real servers, which die, hang and come back.

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import {
  needed,
  skipWithout,
  startZooKeeper,
  until,
  type ZooKeeperEnsemble,
  type ZooKeeperServer,
  zooKeeperJars,
} from '@odradek/testing';
import type { Coordination, SessionState } from '../coordination.ts';
import { closeSessions, openSession, reached, TracedNetwork } from './store.fixture.ts';

const jars = await zooKeeperJars();
const skip = skipWithout(jars);

/** Writes numbers that go up into one node, each in place of the one before, and knows which of them were answered. */
class Writer {
  readonly #session: Coordination;
  readonly #path: string;
  #version = 0;
  answered = 0;
  isStopped = false;

  constructor(session: Coordination, path: string) {
    this.#session = session;
    this.#path = path;
  }

  async run(): Promise<void> {
    await this.#session.create(this.#path, Buffer.from('0'));
    while (!this.isStopped) {
      const next = this.answered + 1;
      // Nobody else writes here: an answer that is lost is not taken for somebody else's write.
      this.#version = (await this.#session.set(this.#path, Buffer.from(String(next)), this.#version)).version;
      this.answered = next;
    }
  }

  async read(session: Coordination): Promise<{ value: number; version: number }> {
    const { data, stat } = await session.get(this.#path);
    return { value: Number(data?.toString()), version: stat.version };
  }
}

describe('a ZooKeeper ensemble', { skip }, () => {
  let ensemble: ZooKeeperEnsemble;
  before(async () => {
    ensemble = await startZooKeeper(needed(jars), { servers: 3 });
  });
  after(() => ensemble?.close());
  afterEach(closeSessions);

  const statesOf = (session: Coordination): SessionState[] => {
    const states: SessionState[] = [];
    session.onState((state) => states.push(state));
    return states;
  };
  const addressOf = ({ host, port }: ZooKeeperServer): string => `${host}:${port}`;

  it('loses nothing that was answered when its leader is killed under sixteen writers, and keeps the session', async () => {
    const session = await openSession(ensemble.connect);
    const { sessionId } = session;
    const states = statesOf(session);
    const events: string[] = [];
    await session.create('/mine', null, { ephemeral: true });
    await session.create('/watched', null);
    await session.get('/watched', ({ type }) => events.push(type));

    const writers = Array.from({ length: 16 }, (_, i) => new Writer(session, `/writer-${i}`));
    const runs = writers.map((writer) => writer.run());
    const allReach = (count: number) =>
      until(`each writer has written ${count}`, () => writers.every(({ answered }) => answered >= count));
    await allReach(20);
    const leader = await ensemble.leader();
    await leader.kill();
    const atDeath = Math.max(...writers.map(({ answered }) => answered));
    await allReach(atDeath + 20);
    for (const writer of writers) writer.isStopped = true;
    await Promise.all(runs);

    assert.equal(session.sessionId, sessionId);
    assert.equal(session.state, 'connected');
    assert.ok(
      states.every((state) => state === 'disconnected' || state === 'connected'),
      states.join(' '),
    );
    const observer = await openSession(ensemble.connect);
    await observer.sync('/');
    for (const writer of writers) {
      assert.deepEqual(await writer.read(observer), { value: writer.answered, version: writer.answered });
    }
    assert.equal((await observer.exists('/mine'))?.ephemeralOwner, sessionId);
    assert.deepEqual(events, []);
    await observer.set('/watched', null);
    await session.sync('/watched');
    assert.deepEqual(events, ['dataChanged']);

    await leader.start();
    await ensemble.untilReady();
  });

  it('takes the session over to another server when its own hangs', async () => {
    const network = new TracedNetwork();
    const leader = await ensemble.leader();
    const followers = ensemble.servers.filter((server) => server !== leader);
    const session = await openSession(followers.map(addressOf).join(','), { network });
    const states = statesOf(session);
    await session.create('/hanging', null, { ephemeral: true });
    const own = ensemble.servers.find(({ port }) => port === network.lastPort)!;
    own.pause();
    try {
      await reached(session, 'connected');
      assert.notEqual(network.lastPort, own.port);
      assert.ok(!states.includes('expired'), states.join(' '));
      assert.equal((await session.exists('/hanging'))?.ephemeralOwner, session.sessionId);
    } finally {
      own.resume();
    }
    await ensemble.untilReady();
  });

  it('ends a session whose only server hangs for too long; the session says before that it may be over', async () => {
    const [own, other] = ensemble.servers as [ZooKeeperServer, ZooKeeperServer];
    const session = await openSession(addressOf(own), { sessionTimeoutMs: 3000 });
    const observer = await openSession(addressOf(other), { sessionTimeoutMs: 10_000 });
    const moments: string[] = [];
    session.onState((state) => moments.push(state));
    await session.create('/short', null, { ephemeral: true });
    await observer.sync('/short');
    const gone = new Promise<void>((resolve) => {
      void observer.exists('/short', () => {
        moments.push('the node is gone');
        resolve();
      });
    });
    await observer.sync('/short');
    own.pause();
    try {
      await gone;
    } finally {
      own.resume();
    }
    await until('the session knows', () => session.state === 'expired');
    assert.deepEqual(moments, ['disconnected', 'lapsed', 'the node is gone', 'expired']);
    await assert.rejects(session.get('/'), { code: 'SessionExpired' });
    await ensemble.untilReady();
  });

  it('gives a session back after an outage of all servers that was longer than the session', async () => {
    const session = await openSession(ensemble.connect, { sessionTimeoutMs: 3000 });
    const { sessionId } = session;
    const states = statesOf(session);
    await session.create('/survivor', null, { ephemeral: true });
    const lapsed = reached(session, 'lapsed');
    await Promise.all(ensemble.servers.map((server) => server.kill()));
    const waiting = session.get('/survivor');
    await lapsed;
    const back = reached(session, 'connected');
    await Promise.all(ensemble.servers.map((server) => server.start()));
    await back;
    assert.equal((await waiting).stat.ephemeralOwner, sessionId);
    assert.deepEqual(states, ['disconnected', 'lapsed', 'connected']);
  });
});
