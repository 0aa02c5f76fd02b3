// Watches over connections that come and go, and among answers.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type FakeBehaviour, type FakeConnection, type FakeServer, statBytes } from './fake-server.fixture.ts';
import { JuteWriter } from './jute.ts';
import { dataOf, sceneWith } from './session-scene.fixture.ts';

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
