// The session against servers that do what real ones do only by bad luck, or never, in simulated time.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLogger } from '@odradek/runtime';
import { SimulatedWorld } from '@odradek/testing';
import { type Coordination, type CoordinationError, isCoordinationError } from '../coordination.ts';
import { type FakeBehaviour, type FakeConnection, FakeServer, statBytes } from './fake-server.fixture.ts';
import { JuteWriter } from './jute.ts';
import { ZooKeeperStore, type ZooKeeperStoreParts } from './zookeeper-store.ts';

const timeoutMs = 6000;

interface Scene {
  readonly world: SimulatedWorld;
  readonly servers: readonly FakeServer[];
  readonly states: string[];
  /** What happened, with the time since the scene began. */
  readonly moments: string[];
  session: Coordination;
}

/** A session with servers that listen on zk0:2181, zk1:2181, …, and do as they are told. */
async function sceneWith(
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
async function failureOf(world: SimulatedWorld, promise: Promise<unknown>): Promise<CoordinationError> {
  const outcome = await world.run(
    promise.then(
      () => undefined,
      (error: unknown) => error,
    ),
  );
  assert.ok(isCoordinationError(outcome), `${outcome}`);
  return outcome;
}

const dataOf = (text: string): Buffer => Buffer.concat([new JuteWriter().buffer(Buffer.from(text)).finish(), statBytes()]);
const listening = (scene: Scene): FakeServer => scene.servers.find(({ connections }) => connections.length > 0)!;

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

describe('watches of a ZooKeeper session', () => {
  /** Every node exists but /later. */
  const answering: FakeBehaviour = {
    asked: (connection, { xid, opcode, body }) => {
      const path = opcode === 101 ? '' : body.string();
      if (path === '/later') connection.answer(xid, 9, -101);
      else if (opcode === 3) connection.answer(xid, 9, 0, statBytes());
      else if (opcode === 12)
        connection.answer(xid, 9, 0, Buffer.concat([new JuteWriter().vector([], () => undefined).finish(), statBytes()]));
      else if (opcode === 4) connection.answer(xid, 9, 0, dataOf('x'));
      else connection.answer(xid, 9);
    },
  };

  it('are set again on the next connection, by kind, with the last transaction seen', async () => {
    const scene = await sceneWith([answering], {});
    const [server] = scene.servers as [FakeServer];
    const events: string[] = [];
    const watcher = (name: string) => (event: { type: string; path: string }) =>
      events.push(`${name}: ${event.type} ${event.path}`);
    const { session, world } = scene;
    await world.run(
      Promise.all([
        session.get('/data', watcher('data')),
        session.exists('/there', watcher('there')),
        session.exists('/later', watcher('later')),
        session.children('/parent', watcher('parent')),
        session.get('/fired', watcher('fired')),
        session.get('/later', watcher('none')).catch(() => undefined),
      ]),
    );
    server.connection.notify(3, '/fired');
    await world.runUntil(() => events.length > 0);
    let again: unknown[] = [];
    server.behaviour = {
      asked: (connection, { xid, opcode, body }) => {
        assert.deepEqual([xid, opcode], [-8, 101]);
        again = [body.long(), body.vector(() => body.string()), body.vector(() => body.string()), body.vector(() => body.string())];
        // What happened in between is told before the answer.
        connection.notify(1, '/later');
        connection.notify(2, '/data');
        connection.answer(xid, 12);
      },
    };
    server.connection.close();
    await world.runUntil(() => again.length > 0);
    assert.deepEqual(again, [9n, ['/data', '/there'], ['/later'], ['/parent']]);
    await world.advance(1000);
    server.connection.notify(4, '/parent');
    await world.advance(100);
    assert.deepEqual(events, [
      'fired: dataChanged /fired',
      'later: created /later',
      'data: deleted /data',
      'parent: childrenChanged /parent',
    ]);
  });

  it('are set again in pieces when they are many', async () => {
    const scene = await sceneWith([answering], { maxInFlightRequests: 1000 });
    const [server] = scene.servers as [FakeServer];
    const path = (i: number): string => `/${'x'.repeat(500)}${i}`;
    await scene.world.run(Promise.all(Array.from({ length: 1000 }, (_, i) => scene.session.get(path(i), () => undefined))));
    const sizes: number[] = [];
    const paths: string[] = [];
    server.behaviour = {
      asked: (connection, { xid, body }) => {
        sizes.push(body.remainingBytes);
        body.long();
        paths.push(...body.vector(() => body.string()));
        connection.answer(xid, 9);
      },
    };
    server.connection.close();
    await scene.world.runUntil(() => paths.length === 1000);
    assert.deepEqual(
      paths,
      Array.from({ length: 1000 }, (_, i) => path(i)),
    );
    assert.ok(sizes.length > 3 && Math.max(...sizes) <= 140_000, `${sizes}`);
  });

  it('come between the result before and the result after the change', async () => {
    const scene = await sceneWith([answering]);
    const [server] = scene.servers as [FakeServer];
    const order: string[] = [];
    await scene.world.run(scene.session.get('/a', () => order.push('watch')));
    const waiting: { connection: FakeConnection; xid: number }[] = [];
    server.behaviour = { asked: (connection, { xid }) => waiting.push({ connection, xid }) };
    const reads = ['before', 'after'].map((name) => scene.session.get('/a').then(() => order.push(name)));
    await scene.world.runUntil(() => waiting.length === 2);
    // All in one piece.
    const [before, after] = waiting as [(typeof waiting)[0], (typeof waiting)[0]];
    before.connection.answer(before.xid, 9, 0, dataOf('x'));
    before.connection.notify(3, '/a');
    after.connection.answer(after.xid, 10, 0, dataOf('y'));
    await scene.world.run(Promise.all(reads));
    assert.deepEqual(order, ['before', 'watch', 'after']);
  });
});

describe('answers of a ZooKeeper server', () => {
  const refusals: [error: number, code: string][] = [
    [-101, 'NoNode'],
    [-102, 'NoAuth'],
    [-103, 'BadVersion'],
    [-108, 'NoChildrenForEphemerals'],
    [-110, 'NodeExists'],
    [-111, 'NotEmpty'],
    [-114, 'InvalidAcl'],
    [-125, 'QuotaExceeded'],
    [-127, 'ConnectionLoss'],
    [-6, 'SystemError'],
    [-9999, 'SystemError'],
  ];
  it('are told in the words of the interface', async () => {
    const scene = await sceneWith([{}]);
    for (const [error, code] of refusals) {
      scene.servers[0]!.behaviour = { asked: (connection, { xid }) => connection.answer(xid, 1, error) };
      const failure = await failureOf(scene.world, scene.session.set('/a', null));
      assert.equal(failure.code, code);
      assert.equal(failure.path, '/a');
      assert.match(failure.message, new RegExp(`${error}`));
    }
    assert.deepEqual(scene.states, []);
  });

  it('that the session has moved end the connection, not the session', async () => {
    const moved: FakeBehaviour = {
      asked: (connection, { xid, body }) => {
        Object.assign(moved, { asked: answering });
        // The calls behind it are none the wiser.
        connection.answer(xid, 1, body.string() === '/a' ? -118 : 0);
      },
    };
    const answering: FakeBehaviour['asked'] = (connection, { xid, body }) => connection.answer(xid, 1, 0, dataOf(body.string()));
    const scene = await sceneWith([moved]);
    const read = await scene.world.run(Promise.all(['/a', '/b'].map((path) => scene.session.get(path))));
    assert.deepEqual(
      read.map(({ data }) => String(data)),
      ['/a', '/b'],
    );
    assert.deepEqual(scene.states, ['disconnected', 'connected']);
  });

  /** Each breaks the connection, fails what is under way with a reason, and leaves the session usable. */
  const nonsense: [name: string, send: (connection: FakeConnection, xid: number) => void, reason: RegExp][] = [
    [
      'an answer to another request',
      (connection, xid) => connection.answer(xid + 1, 1, 0, dataOf('x')),
      /request 2 where 1 is due/,
    ],
    ['an answer that ends too early', (connection, xid) => connection.answer(xid, 1, 0, Buffer.from([0, 0])), /are wanted/],
    ['a size below zero', (connection, xid) => connection.answer(xid, 1, 0, new JuteWriter().int(-2).finish()), /size of -2/],
    [
      'data larger than the frame',
      (connection, xid) => connection.answer(xid, 1, 0, new JuteWriter().int(2 ** 30).finish()),
      /1073741824 bytes/,
    ],
    ['a frame of negative size', (connection) => connection.sendRaw(Buffer.from([0x80, 0, 0, 0])), /frame of -2147483648 bytes/],
    ['a frame without a header', (connection) => connection.send(Buffer.from([1, 2, 3])), /are wanted/],
    [
      'an endless frame that answers nothing',
      (connection) => connection.sendRaw(Buffer.from([0x7f, 0xff, 0xff, 0xff, ...Buffer.alloc(16)])),
      /request 0 where 1/,
    ],
    ['an answer to a ping that was not sent', (connection) => connection.answer(-2, 1), /ping that was not sent/],
    [
      'an answer to an authentication that was not sent',
      (connection) => connection.answer(-4, 1),
      /authentication that was not sent/,
    ],
    ['news that end too early', (connection) => connection.answer(-1, -1, 0, Buffer.from([0, 0, 0, 1])), /are wanted/],
    [
      'a transaction id beyond all bounds',
      (connection, xid) =>
        connection.send(
          new JuteWriter()
            .int(xid)
            .long(2n ** 62n)
            .int(0)
            .finish(),
        ),
      /beyond 2\^53/,
    ],
  ];
  for (const [name, send, reason] of nonsense) {
    it(`that are ${name} break the connection and nothing else`, async () => {
      const scene = await sceneWith([{ asked: (connection, { xid }) => send(connection, xid) }]);
      const failure = await failureOf(scene.world, scene.session.get('/a'));
      assert.equal(failure.code, 'ConnectionLoss');
      const cause = failure.cause as Error;
      assert.match(`${cause.message} ${(cause.cause as Error | undefined)?.message ?? ''}`, reason);
      scene.servers[0]!.behaviour = { asked: (connection, { xid }) => connection.answer(xid, 1, 0, dataOf('x')) };
      assert.equal((await scene.world.run(scene.session.get('/a'))).data?.toString(), 'x');
      assert.deepEqual(scene.states, ['disconnected', 'connected']);
    });
  }

  it('that end in the middle are asked for again', async () => {
    const scene = await sceneWith([{}]);
    const [server] = scene.servers as [FakeServer];
    server.behaviour = {
      asked: (connection, { xid }) => {
        connection.sendRaw(Buffer.from([0, 0, 0, 50, 0, 0, 0, xid]));
        connection.close();
        server.behaviour = { asked: (next, request) => next.answer(request.xid, 1, 0, dataOf('x')) };
      },
    };
    assert.equal(String((await scene.world.run(scene.session.get('/a'))).data), 'x');
    assert.deepEqual(server.heard, ['connect 0x0', 'get', 'connect 0x5eed', 'get']);
  });

  const greetings: [name: string, greet: (connection: FakeConnection) => void][] = [
    ['another session', (connection) => connection.greet(1234n, timeoutMs)],
    [
      'another protocol',
      (connection) => connection.send(new JuteWriter().int(5).int(6000).long(0x5eedn).buffer(Buffer.alloc(16)).finish()),
    ],
    ['half a greeting', (connection) => connection.send(Buffer.from([0, 0, 0, 0, 0, 0]))],
    ['a page of HTML', (connection) => connection.sendRaw(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n<html></html>'))],
    ['nothing but its end', (connection) => connection.close()],
    ['nothing at all', () => undefined],
    [
      'a greeting and rubbish behind it',
      (connection) => {
        connection.greet(0x5eedn, timeoutMs);
        connection.sendRaw(Buffer.alloc(40, 0xff));
      },
    ],
  ];
  for (const [name, greet] of greetings) {
    it(`that greet with ${name} are passed over for those of another server`, async () => {
      const scene = await sceneWith([{}, {}]);
      const first = listening(scene);
      const strange = scene.servers.find((server) => server !== first)!;
      strange.behaviour = { connected: greet };
      first.connection.close();
      await scene.world.runUntil(() => first.greetings.length === 2 && scene.session.state === 'connected');
      assert.equal(strange.greetings.length, 1);
      assert.ok(!scene.states.includes('expired'));
      assert.equal(scene.session.sessionId, 0x5eedn);
    });
  }

  it('in the smallest pieces, over a slow network, are understood all the same', async () => {
    const scene = await sceneWith([{ asked: (connection, { xid, body }) => connection.answer(xid, 1, 0, dataOf(body.string())) }]);
    Object.assign(scene.world.simulatedNetwork.faults, { splitProbability: 1, maxDelayMs: 20 });
    const paths = Array.from({ length: 100 }, (_, i) => `/${i}`);
    const read = await scene.world.run(Promise.all(paths.map((path) => scene.session.get(path))));
    assert.deepEqual(
      read.map(({ data }) => data?.toString()),
      paths,
    );
  });

  it('to half of a multi are refused', async () => {
    const half = new JuteWriter()
      .int(13)
      .boolean(false)
      .int(0)
      .int(-1)
      .boolean(false)
      .int(-103)
      .int(-103)
      .int(-1)
      .boolean(true)
      .int(-1);
    const scene = await sceneWith([{ asked: (connection, { xid }) => connection.answer(xid, 1, 0, half.finish()) }]);
    const failure = await failureOf(
      scene.world,
      scene.session.multi([
        { type: 'check', path: '/a', version: 0 },
        { type: 'check', path: '/b', version: 0 },
      ]),
    );
    assert.equal(failure.code, 'ConnectionLoss');
  });

  const lists: [name: string, body: JuteWriter][] = [
    ['longer than the frame', new JuteWriter().int(0x7fff_ffff)],
    ['of a negative length', new JuteWriter().int(-5)],
    ['without its names', new JuteWriter().int(2).string('a').int(-1)],
  ];
  for (const [name, body] of lists) {
    it(`that are a list ${name} break the connection`, async () => {
      const scene = await sceneWith([{ asked: (connection, { xid }) => connection.answer(xid, 1, 0, body.finish()) }]);
      const failure = await failureOf(scene.world, scene.session.children('/a'));
      assert.equal(failure.code, 'ConnectionLoss');
      assert.match(failure.message, /cannot be understood/);
    });
  }

  it('on a session of all 64 bits are compared by all of them', async () => {
    const sessionId = -0x7edc_ba98_7654_3211n;
    const scene = await sceneWith([{ connected: (connection) => connection.greet(sessionId, timeoutMs) }]);
    assert.equal(scene.session.sessionId, sessionId);
    scene.servers[0]!.connection.close();
    await scene.world.runUntil(() => scene.states.includes('connected'));
    assert.equal(scene.servers[0]!.greetings[1]?.sessionId, sessionId);
  });
});

describe('authentication at a ZooKeeper server', () => {
  const auth = [
    { scheme: 'digest', auth: 'a:b' },
    { scheme: 'digest', auth: 'c:d' },
  ];

  it('comes before everything else, on every connection', async () => {
    const asked: FakeBehaviour['asked'] = (connection, { xid, opcode, body }) => {
      if (opcode === 100) connection.answer(xid, 1);
      else connection.answer(xid, 1, 0, opcode === 4 ? dataOf(body.string()) : undefined);
    };
    const scene = await sceneWith([{ asked }], { auth });
    await scene.world.run(scene.session.get('/a', () => undefined));
    scene.servers[0]!.connection.close();
    await scene.world.runUntil(() => scene.states.includes('disconnected'));
    await scene.world.run(scene.session.get('/b'));
    assert.deepEqual(scene.servers[0]!.heard, [
      'connect 0x0',
      'auth',
      'auth',
      'get',
      'connect 0x5eed',
      'auth',
      'auth',
      'setWatches',
      'get',
    ]);
  });

  it('that fails is told at once when the session is opened', async () => {
    const refusing: FakeBehaviour = { asked: (connection, { xid }) => connection.answer(xid, 1, -115) };
    const opening = sceneWith([refusing], { auth });
    await assert.rejects(opening, { code: 'AuthFailed' });
  });

  it('that fails later is tried again', async () => {
    const scene = await sceneWith([{}], { auth });
    const [server] = scene.servers as [FakeServer];
    server.behaviour = { asked: (connection, { xid }) => connection.answer(xid, 1, -115) };
    server.connection.close();
    await scene.world.advance(3000);
    assert.equal(scene.session.state, 'disconnected');
    server.behaviour = {};
    await scene.world.runUntil(() => scene.session.state === 'connected');
  });
});
