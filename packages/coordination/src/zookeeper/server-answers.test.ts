// What a server may say, from refusals to nonsense, and what becomes of calls, connection and session.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FakeBehaviour, FakeConnection, FakeServer } from './fake-server.fixture.ts';
import { JuteWriter } from './jute.ts';
import { dataOf, failureOf, listening, sceneWith, timeoutMs } from './session-scene.fixture.ts';

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
