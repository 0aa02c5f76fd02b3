// Who a session is for its servers, proved on every connection before anything else.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FakeBehaviour, FakeServer } from './fake-server.fixture.ts';
import { dataOf, sceneWith } from './session-scene.fixture.ts';

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
