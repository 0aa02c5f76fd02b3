// The session against servers that do what real ones do only by bad luck, or never, in simulated time.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLogger } from '@odradek/runtime';
import { SimulatedWorld } from '@odradek/testing';
import { type FakeBehaviour, FakeServer, statBytes } from './fake-server.fixture.ts';
import { JuteWriter } from './jute.ts';
import { dataOf, failureOf, listening, type Scene, sceneWith, timeoutMs } from './session-scene.fixture.ts';
import { ZooKeeperStore } from './zookeeper-store.ts';

describe('a ZooKeeper session and its servers', () => {
  it('is kept alive by a ping in each third of its timeout', async () => {
    const scene = await sceneWith([{}]);
    await scene.world.advance(5 * timeoutMs);
    const [server] = scene.servers as [FakeServer];
    assert.deepEqual(scene.states, []);
    const pings = server.heard.filter((heard) => heard === 'ping').length;
    assert.ok(pings >= 14 && pings <= 16, `${pings} pings`);
    assert.equal(server.greetings.length, 1);
  });

  it('sends no pings while there is other work', async () => {
    const scene = await sceneWith([{ asked: (connection, { xid }) => connection.answer(xid, 1, 0, dataOf('x')) }]);
    for (let i = 0; i < 20; i++) {
      await scene.world.run(scene.session.get('/'));
      await scene.world.advance(timeoutMs / 6);
    }
    assert.deepEqual([...new Set(scene.servers[0]!.heard.slice(1))], ['get']);
  });

  it('takes the timeout that the server gives', async () => {
    const scene = await sceneWith([{ connected: (connection) => connection.greet(7n, 900) }]);
    const [server] = scene.servers as [FakeServer];
    assert.equal(server.greetings[0]?.timeoutMs, timeoutMs);
    assert.equal(scene.session.sessionId, 7n);
    await scene.world.advance(3000);
    const pings = server.heard.filter((heard) => heard === 'ping').length;
    assert.ok(pings >= 8 && pings <= 10, `${pings} pings`);
  });

  it('can be asked for another timeout than that of the store', async () => {
    const world = new SimulatedWorld({ seed: 1, logLevel: 'fatal' });
    const server = new FakeServer();
    await server.listen(world.machine('zk0').network, '', 2181);
    const store = await ZooKeeperStore.connect({ ...world.machine('broker'), connect: 'zk0' });
    await world.run(store.openSession());
    await world.run(store.openSession({ timeoutMs: 1234 }));
    assert.deepEqual(
      server.greetings.map((greeting) => greeting.timeoutMs),
      [18_000, 1234],
    );
  });

  it('goes to another server after two thirds of the timeout without a byte, with the same id and password', async () => {
    const scene = await sceneWith([{}, {}, {}]);
    const silent = listening(scene);
    silent.answersPings = false;
    await scene.world.runUntil(() => scene.states.includes('connected'));
    const greetings = scene.servers.filter((server) => server !== silent).flatMap(({ greetings }) => greetings);
    assert.deepEqual(
      greetings.map(({ sessionId, password }) => ({ sessionId, password })),
      [{ sessionId: 0x5eedn, password: 'secret' }],
    );
    assert.deepEqual(scene.moments, ['4000 disconnected', '4000 connected']);
  });

  it('tries all servers at once and then again with pauses, in an order that chance gives', async () => {
    const firsts = new Set<number>();
    for (let seed = 1; seed <= 12; seed++) {
      const scene = await sceneWith([{}, {}, {}], { seed });
      firsts.add(scene.servers.indexOf(listening(scene)));
      const current = listening(scene);
      const others = scene.servers.filter((server) => server !== current);
      for (const server of scene.servers) server.behaviour = { connected: (connection) => connection.close() };
      current.connection.close();
      await scene.world.advance(40);
      assert.deepEqual(
        others.map(({ greetings }) => greetings.length),
        [1, 1],
      );
      await scene.world.advance(10_000);
      const rounds = current.greetings.length;
      assert.ok(rounds >= 11 && rounds <= 24, `${rounds} rounds in ten seconds`);
      await scene.world.run(scene.session.close());
    }
    assert.ok(firsts.size > 1);
  });

  it('never hurries back to a server that takes it and drops it at once', async () => {
    const scene = await sceneWith([{}]);
    const [server] = scene.servers as [FakeServer];
    server.behaviour = {
      connected: (connection) => {
        connection.greet(0x5eedn, timeoutMs);
        connection.close();
      },
    };
    server.connection.close();
    await scene.world.advance(10_000);
    assert.ok(server.greetings.length < 30, `${server.greetings.length} connections in ten seconds`);
  });

  it('says which transaction it has seen last, so that a server that is behind can refuse it, and goes on to the next', async () => {
    const answering: FakeBehaviour = { asked: (connection, { xid }) => connection.answer(xid, 0x1_0000_0007, 0, dataOf('x')) };
    const scene = await sceneWith([answering, answering]);
    await scene.world.run(scene.session.get('/'));
    const current = listening(scene);
    const behind = scene.servers.find((server) => server !== current)!;
    behind.behaviour = { connected: (connection) => connection.close() };
    current.connection.close();
    await scene.world.runUntil(() => scene.states.includes('connected'));
    assert.equal(behind.greetings.at(-1)?.lastZxid, 0x1_0000_0007n);
    assert.equal(current.greetings.at(-1)?.lastZxid, 0x1_0000_0007n);
    assert.equal(current.greetings.length, 2);
  });

  it('gives up opening after the connection timeout, with the reason', async () => {
    const world = new SimulatedWorld({ seed: 1, logLevel: 'fatal' });
    const silent = new FakeServer();
    silent.behaviour = { connected: () => undefined };
    await silent.listen(world.machine('zk0').network, '', 2181);
    const store = await ZooKeeperStore.connect({ ...world.machine('broker'), connect: 'zk0,zk1', connectionTimeoutMs: 3000 });
    const startMs = world.clock.monotonicMs();
    const failure = await failureOf(world, store.openSession());
    assert.equal(failure.code, 'ConnectionLoss');
    assert.match(failure.message, /zk0:2181,zk1:2181 has answered within 3000 ms/);
    assert.ok(world.clock.monotonicMs() - startMs <= 3100);
    await world.advance(100);
    assert.equal(silent.connections.length, 0);
  });
});

describe('the end of a ZooKeeper session', () => {
  it('comes by the word of a server, and ends nodes, watches and waiting calls', async () => {
    const scene = await sceneWith([{}]);
    const [server] = scene.servers as [FakeServer];
    server.behaviour = { connected: (connection) => connection.greet(0n, 0) };
    const disconnected = scene.world.runUntil(() => scene.states.includes('disconnected'));
    server.connection.close();
    await disconnected;
    const waiting = failureOf(scene.world, scene.session.get('/a'));
    assert.equal((await waiting).code, 'SessionExpired');
    assert.deepEqual(scene.states, ['disconnected', 'expired']);
    assert.equal((await failureOf(scene.world, scene.session.get('/a'))).code, 'SessionExpired');
    assert.equal(server.greetings.length, 2);
    await scene.world.advance(60_000);
    assert.equal(server.greetings.length, 2);
  });

  it('comes by an answer as well', async () => {
    const scene = await sceneWith([{ asked: (connection, { xid }) => connection.answer(xid, 1, -112) }]);
    assert.equal((await failureOf(scene.world, scene.session.get('/a'))).code, 'SessionExpired');
    assert.deepEqual(scene.states, ['expired']);
  });

  it('may have come after five sixths of the timeout since the last message that was answered was sent', async () => {
    const scene = await sceneWith([{}]);
    scene.servers[0]!.answersPings = false;
    scene.servers[0]!.behaviour = { connected: () => undefined };
    await scene.world.advance(60_000);
    assert.deepEqual(scene.moments, ['4000 disconnected', '5000 lapsed']);
    scene.servers[0]!.behaviour = {};
    await scene.world.runUntil(() => scene.session.state === 'connected');
    assert.deepEqual(scene.states, ['disconnected', 'lapsed', 'connected']);
  });

  it('is counted from what was sent, not from what was heard', async () => {
    // The server says something all the time, and answers nothing.
    const scene = await sceneWith([{ connected: (connection, { sessionId }) => connection.greet(sessionId || 1n, timeoutMs) }]);
    const [server] = scene.servers as [FakeServer];
    server.answersPings = false;
    const { connection } = server;
    server.behaviour = { connected: () => undefined };
    for (let i = 0; i < 20; i++) {
      connection.notify(3, '/somewhere');
      await scene.world.advance(500);
    }
    assert.deepEqual(scene.moments, ['5000 disconnected', '5000 lapsed']);
  });

  it('is known to a program that was stopped before anything in it has run again', async () => {
    const scene = await sceneWith([{}]);
    scene.world.pause('broker');
    await scene.world.advance(5500);
    assert.equal(scene.session.state, 'lapsed');
    assert.deepEqual(scene.states, []);
    scene.world.resume('broker');
    await scene.world.advance(100);
    assert.deepEqual(scene.states, ['disconnected', 'lapsed', 'connected']);
  });

  it('that may have come does not end the waiting of calls: they go out when a server takes the session again', async () => {
    const scene = await sceneWith([{}]);
    const [server] = scene.servers as [FakeServer];
    server.behaviour = { connected: () => undefined };
    server.connection.close();
    await scene.world.runUntil(() => scene.states.includes('disconnected'));
    const before = scene.session.create('/before', null);
    await scene.world.runUntil(() => scene.states.includes('lapsed'));
    const after = scene.session.sync('/after');
    await scene.world.advance(60_000);
    assert.deepEqual([...new Set(server.heard.filter((heard) => !heard.startsWith('connect')))], []);
    server.behaviour = {
      asked: (connection, { xid, opcode, body }) => {
        const created = new JuteWriter().string(body.string()).finish();
        connection.answer(xid, 1, 0, opcode === 15 ? Buffer.concat([created, statBytes()]) : created);
      },
    };
    await scene.world.run(Promise.all([before, after]), 10_000);
    assert.deepEqual(scene.states, ['disconnected', 'lapsed', 'connected']);
  });

  it('is asked for by close behind all other calls', async () => {
    const scene = await sceneWith(
      [{ asked: (connection, { xid, opcode }) => connection.answer(xid, 1, 0, opcode === 4 ? dataOf('x') : undefined) }],
      {
        maxInFlightRequests: 1,
      },
    );
    const reads = [scene.session.get('/a'), scene.session.get('/b')];
    const closing = scene.session.close();
    assert.equal((await failureOf(scene.world, scene.session.get('/c'))).code, 'SessionExpired');
    await scene.world.run(Promise.all([...reads, closing]));
    assert.deepEqual(scene.servers[0]!.heard, ['connect 0x0', 'get', 'get', 'close']);
    assert.deepEqual(scene.states, ['closed']);
    await scene.world.run(scene.session.close());
  });

  it('by close does not wait for a server that cannot be reached', async () => {
    const scene = await sceneWith([{}]);
    await scene.servers[0]!.stop();
    await scene.world.runUntil(() => scene.states.includes('disconnected'));
    const waiting = failureOf(scene.world, scene.session.get('/a'));
    await scene.session.close();
    assert.equal((await waiting).code, 'SessionExpired');
    assert.deepEqual(scene.states, ['disconnected', 'closed']);
  });

  it('by close comes also when the server goes away over it', async () => {
    const scene = await sceneWith([{ asked: (connection) => connection.close() }]);
    await scene.world.run(scene.session.close());
    assert.deepEqual(scene.states, ['closed']);
  });
});

describe('calls of a ZooKeeper session', () => {
  it('go out again on the next connection, first of all and in their order', async () => {
    const paths: string[] = [];
    const scene = await sceneWith([{}], { maxInFlightRequests: 2 });
    const [server] = scene.servers as [FakeServer];
    server.behaviour = {
      asked: (connection, { body }) => {
        paths.push(body.string());
        if (paths.length < 2) return;
        connection.close();
        server.behaviour = {
          asked: (next, request) => {
            const path = request.body.string();
            paths.push(path);
            next.answer(request.xid, 1, 0, dataOf(path));
          },
        };
      },
    };
    const asked = ['/a', '/b', '/c', '/d'];
    const read = await scene.world.run(Promise.all(asked.map((path) => scene.session.get(path))));
    assert.deepEqual(
      read.map(({ data }) => String(data)),
      asked,
    );
    assert.deepEqual(paths, ['/a', '/b', ...asked]);
  });

  it('are not what breaks every connection: after ten of them they are given up', async () => {
    const scene = await sceneWith([{}]);
    const [server] = scene.servers as [FakeServer];
    server.behaviour = { asked: (connection) => connection.close() };
    assert.equal((await failureOf(scene.world, scene.session.set('/large', Buffer.alloc(1000)))).code, 'ConnectionLoss');
    assert.equal(server.heard.filter((heard) => heard === 'set').length, 10);
    server.behaviour = { asked: (connection, { xid }) => connection.answer(xid, 1, 0, dataOf('x')) };
    assert.equal(String((await scene.world.run(scene.session.get('/a'))).data), 'x');
  });

  it('that were under way end with the session, as those that wait', async () => {
    const scene = await sceneWith([{}], { maxInFlightRequests: 1 });
    const [server] = scene.servers as [FakeServer];
    server.behaviour = {
      asked: (connection) => connection.close(),
      connected: (connection) => connection.greet(0n, 0),
    };
    const codes = await Promise.all([scene.session.get('/a'), scene.session.get('/b')].map((call) => failureOf(scene.world, call)));
    assert.deepEqual(
      codes.map(({ code }) => code),
      ['SessionExpired', 'SessionExpired'],
    );
  });
});

describe('a connection that is given up', () => {
  /** What the log says of it. */
  async function reason(silence: (scene: Scene, server: FakeServer) => Promise<void>): Promise<string> {
    const lines: string[] = [];
    const scene = await sceneWith([{}], {
      logger: createLogger({ level: 'warn', write: (line: string) => void lines.push(line) }),
    });
    const [server] = scene.servers as [FakeServer];
    server.answersPings = false;
    server.behaviour = { connected: () => undefined };
    await silence(scene, server);
    return lines.find((line) => line.includes('is lost')) ?? '';
  }

  it('was silent', async () => {
    assert.match(await reason(({ world }) => world.advance(5000)), /was silent for 4000 ms/);
  });

  it('has spoken, and answered nothing', async () => {
    const talking = async ({ world }: Scene, server: FakeServer): Promise<void> => {
      const { connection } = server;
      for (let i = 0; i < 12; i++) {
        connection.notify(3, '/somewhere');
        await world.advance(500);
      }
    };
    assert.match(await reason(talking), /has answered nothing that was sent in the last 500\d ms, so that the session may be over/);
  });
});
