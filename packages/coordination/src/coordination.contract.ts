// The suite that every form of Coordination must pass. It says what ZooKeeper does, in the parts that brokers rely on.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import {
  type Coordination,
  CoordinationError,
  type CoordinationErrorCode,
  type Operation,
  type WatchEvent,
} from './coordination.ts';

export interface CoordinationFixture {
  /** A session of its own on an empty tree that all sessions of the fixture share. */
  openSession(): Promise<Coordination>;
  /** Ends a session as the store does when it has not heard from it for too long. */
  expire(session: Coordination): Promise<void>;
  close(): Promise<void>;
}

function text(data: Buffer | null): string | null {
  return data === null ? null : data.toString('utf8');
}

async function assertFails(promise: Promise<unknown>, code: CoordinationErrorCode, failedOperation?: number): Promise<void> {
  await assert.rejects(promise, (error) => {
    assert.ok(error instanceof CoordinationError, String(error));
    assert.equal(error.code, code);
    assert.equal(error.failedOperation, failedOperation);
    return true;
  });
}

export function describeCoordination(name: string, open: () => Promise<CoordinationFixture>): void {
  describe(`coordination: ${name}`, () => {
    let fixture: CoordinationFixture;
    let one: Coordination;
    let two: Coordination;

    beforeEach(async () => {
      fixture = await open();
      one = await fixture.openSession();
      two = await fixture.openSession();
      await one.create('/a', Buffer.from('A'));
    });
    afterEach(() => fixture.close());

    describe('nodes', () => {
      it('creates a node below one that exists, and reads it back in any session', async () => {
        const created = await one.create('/a/b', Buffer.from('B'));
        assert.equal(created.path, '/a/b');
        const { data, stat } = await two.get('/a/b');
        assert.equal(text(data), 'B');
        assert.deepEqual(
          { ...stat, czxid: 0, mzxid: 0, pzxid: 0, createdMs: 0, modifiedMs: 0 },
          {
            czxid: 0,
            mzxid: 0,
            pzxid: 0,
            createdMs: 0,
            modifiedMs: 0,
            version: 0,
            cversion: 0,
            aversion: 0,
            ephemeralOwner: 0n,
            dataSize: 1,
            numChildren: 0,
          },
        );
        assert.equal(stat.czxid, stat.mzxid);
        assert.deepEqual(created.stat, stat);
      });

      it('tells no data from empty data', async () => {
        await one.create('/null', null);
        await one.create('/empty', Buffer.alloc(0));
        assert.equal((await one.get('/null')).data, null);
        assert.equal(text((await one.get('/empty')).data), '');
      });

      const refusals: { name: string; run: () => Promise<unknown>; code: CoordinationErrorCode }[] = [
        { name: 'create without a parent', run: () => one.create('/no/b', null), code: 'NoNode' },
        { name: 'create what exists', run: () => one.create('/a', null), code: 'NodeExists' },
        { name: 'get what does not exist', run: () => one.get('/no'), code: 'NoNode' },
        { name: 'set what does not exist', run: () => one.set('/no', null), code: 'NoNode' },
        { name: 'delete what does not exist', run: () => one.delete('/no'), code: 'NoNode' },
        { name: 'children of what does not exist', run: () => one.children('/no'), code: 'NoNode' },
        { name: 'set with another version', run: () => one.set('/a', null, 1), code: 'BadVersion' },
        { name: 'delete with another version', run: () => one.delete('/a', 1), code: 'BadVersion' },
        { name: 'a path without its slash', run: () => one.create('b', null), code: 'BadArguments' },
        { name: 'a path with a slash at its end', run: () => one.create('/b/', null), code: 'BadArguments' },
        { name: 'a path with an empty name', run: () => one.create('/a//b', null), code: 'BadArguments' },
        { name: 'a path that goes up', run: () => one.get('/a/../a'), code: 'BadArguments' },
      ];
      for (const { name: what, run, code } of refusals) it(`refuses ${what}: ${code}`, () => assertFails(run(), code));

      it('counts the version up with each set, and compares it', async () => {
        assert.equal((await one.set('/a', Buffer.from('1'), 0)).version, 1);
        assert.equal((await one.set('/a', Buffer.from('2'))).version, 2);
        await assertFails(two.set('/a', Buffer.from('3'), 1), 'BadVersion');
        const { data, stat } = await two.get('/a');
        assert.equal(text(data), '2');
        assert.equal(stat.version, 2);
        assert.ok(stat.mzxid > stat.czxid);
      });

      it('keeps the bytes that it was given, whatever becomes of the buffer', async () => {
        const bytes = Buffer.from('before');
        const created = one.create('/kept', bytes);
        bytes.fill(0);
        await created;
        assert.equal(text((await one.get('/kept')).data), 'before');
      });

      it('deletes only what has no children', async () => {
        await one.create('/a/b', null);
        await assertFails(one.delete('/a'), 'NotEmpty');
        await one.delete('/a/b');
        await one.delete('/a');
        assert.equal(await one.exists('/a'), undefined);
      });

      it('counts creations and deletions of children in cversion', async () => {
        await one.create('/a/b', null);
        await one.create('/a/c', null);
        await one.delete('/a/b');
        const { names, stat } = await two.children('/a');
        assert.deepEqual(names, ['c']);
        assert.equal(stat.cversion, 3);
        assert.equal(stat.numChildren, 1);
        assert.equal(stat.version, 0);
      });

      it('numbers sequential nodes by the children that the parent ever had', async () => {
        assert.equal((await one.create('/a/n_', null, { sequential: true })).path, '/a/n_0000000000');
        assert.equal((await one.create('/a/n_', null, { sequential: true })).path, '/a/n_0000000001');
        await one.create('/a/plain', null);
        await one.delete('/a/n_0000000001');
        assert.equal((await two.create('/a/m_', null, { sequential: true })).path, '/a/m_0000000003');
      });

      it('sees in order what was asked for in order, without waiting in between', async () => {
        const asked = Array.from({ length: 200 }, (_, i) => one.create(`/a/${i}`, Buffer.from(String(i))));
        const children = one.children('/a');
        await Promise.all(asked);
        assert.equal((await children).names.length, 200);
      });
    });

    describe('multi', () => {
      it('does everything in one transaction, each step upon those before it', async () => {
        const results = await one.multi([
          { type: 'check', path: '/a', version: 0 },
          { type: 'create', path: '/a/b', data: null },
          { type: 'set', path: '/a/b', data: Buffer.from('x'), version: 0 },
          { type: 'create', path: '/a/n_', data: null, sequential: true },
          { type: 'delete', path: '/a/b', version: 1 },
        ]);
        assert.deepEqual(
          results.map((result) => (result.type === 'create' ? result.path : result.type)),
          ['check', '/a/b', 'set', '/a/n_0000000001', 'delete'],
        );
        assert.deepEqual((await two.children('/a')).names, ['n_0000000001']);
      });

      const failures: { name: string; operations: Operation[]; code: CoordinationErrorCode; failedOperation: number }[] = [
        {
          name: 'a check of another version',
          operations: [
            { type: 'check', path: '/a', version: 7 },
            { type: 'create', path: '/a/b', data: null },
          ],
          code: 'BadVersion',
          failedOperation: 0,
        },
        {
          name: 'a last step that cannot be',
          operations: [
            { type: 'create', path: '/a/b', data: null },
            { type: 'set', path: '/a', data: Buffer.from('changed'), version: 0 },
            { type: 'create', path: '/a/b', data: null },
          ],
          code: 'NodeExists',
          failedOperation: 2,
        },
        {
          name: 'the one step that there is',
          operations: [{ type: 'set', path: '/a', data: Buffer.from('changed'), version: 9 }],
          code: 'BadVersion',
          failedOperation: 0,
        },
        {
          name: 'a check of what does not exist',
          operations: [
            { type: 'set', path: '/a', data: null, version: -1 },
            { type: 'check', path: '/no', version: -1 },
          ],
          code: 'NoNode',
          failedOperation: 1,
        },
      ];
      for (const { name: what, operations, code, failedOperation } of failures) {
        it(`does nothing at all after ${what}`, async () => {
          const before = await one.get('/a');
          await assertFails(one.multi(operations), code, failedOperation);
          const after = await two.get('/a');
          assert.deepEqual(after, before);
        });
      }
    });

    describe('watches', () => {
      const recorder = (): { events: string[]; watcher: (event: WatchEvent) => void } => {
        const events: string[] = [];
        return { events, watcher: (event) => events.push(`${event.type} ${event.path}`) };
      };

      it('tell of a change of data once', async () => {
        const { events, watcher } = recorder();
        await one.get('/a', watcher);
        await two.set('/a', Buffer.from('1'));
        await two.set('/a', Buffer.from('2'));
        await one.sync('/a');
        assert.deepEqual(events, ['dataChanged /a']);
      });

      it('tell of a deletion, whatever they were set by, once', async () => {
        const { events, watcher } = recorder();
        await one.get('/a', watcher);
        await one.children('/a', watcher);
        await two.delete('/a');
        await one.sync('/a');
        assert.deepEqual(events, ['deleted /a']);
      });

      it('of existence tell of a creation', async () => {
        const { events, watcher } = recorder();
        assert.equal(await one.exists('/later', watcher), undefined);
        await two.create('/later', null);
        await one.sync('/later');
        assert.deepEqual(events, ['created /later']);
      });

      it('of children tell of creations and deletions below, not of data', async () => {
        const first = recorder();
        await one.children('/a', first.watcher);
        await two.set('/a', null);
        await two.create('/a/b', null);
        await one.sync('/a');
        assert.deepEqual(first.events, ['childrenChanged /a']);
        const second = recorder();
        await one.children('/a', second.watcher);
        await two.set('/a/b', null);
        await two.delete('/a/b');
        await one.sync('/a');
        assert.deepEqual(second.events, ['childrenChanged /a']);
      });

      it('are not left on a node that get or children did not find', async () => {
        const { events, watcher } = recorder();
        await assertFails(one.get('/later', watcher), 'NoNode');
        await assertFails(one.children('/later', watcher), 'NoNode');
        await two.create('/later', null);
        await one.sync('/later');
        assert.deepEqual(events, []);
      });

      it('set twice with the same function call it once', async () => {
        const { events, watcher } = recorder();
        await one.get('/a', watcher);
        await one.get('/a', watcher);
        await two.set('/a', null);
        await one.sync('/a');
        assert.deepEqual(events, ['dataChanged /a']);
      });

      it('come before the result of a later read that sees the change', async () => {
        const order: string[] = [];
        await one.get('/a', () => order.push('watch'));
        const changed = two.set('/a', Buffer.from('new'));
        const read = one.get('/a').then(({ data }) => order.push(`read ${text(data)}`));
        await Promise.all([changed, read]);
        // A store may answer the read from before the change; then the watch comes later.
        if (order.includes('read new')) assert.deepEqual(order, ['watch', 'read new']);
      });

      it('of a failed multi stay set', async () => {
        const { events, watcher } = recorder();
        await one.get('/a', watcher);
        await assertFails(
          two.multi([
            { type: 'set', path: '/a', data: null, version: -1 },
            { type: 'delete', path: '/no', version: -1 },
          ]),
          'NoNode',
          1,
        );
        await one.sync('/a');
        assert.deepEqual(events, []);
        await two.set('/a', null);
        await one.sync('/a');
        assert.deepEqual(events, ['dataChanged /a']);
      });
    });

    describe('sessions', () => {
      it('own their ephemeral nodes, which others see', async () => {
        await one.create('/mine', null, { ephemeral: true });
        const stat = await two.exists('/mine');
        assert.equal(stat?.ephemeralOwner, one.sessionId);
        assert.notEqual(one.sessionId, two.sessionId);
        await assertFails(one.create('/mine/child', null), 'NoChildrenForEphemerals');
      });

      it('take their ephemeral nodes along when they close, and others are told', async () => {
        await one.create('/mine', null, { ephemeral: true });
        const deleted = new Promise<WatchEvent>((resolve) => void two.exists('/mine', resolve));
        await two.sync('/mine');
        await one.close();
        assert.deepEqual(await deleted, { type: 'deleted', path: '/mine' });
        assert.equal(await two.exists('/mine'), undefined);
        assert.equal(one.state, 'closed');
        await assertFails(one.get('/a'), 'SessionExpired');
      });

      it('that expire lose nodes and watches, and learn of it', async () => {
        const states: string[] = [];
        one.onState((state) => states.push(state));
        await one.create('/mine', null, { ephemeral: true });
        await one.get('/a', () => assert.fail('the watch of an expired session'));
        await fixture.expire(one);
        assert.equal(await two.exists('/mine'), undefined);
        await two.set('/a', null);
        await two.sync('/a');
        await assertFails(one.get('/a'), 'SessionExpired');
        // A store that is reached over a network is lost before it is reached again.
        assert.deepEqual(states.slice(states.indexOf('expired')), ['expired']);
        assert.ok(!states.includes('connected'));
      });

      it('can elect one of themselves by an ephemeral node', async () => {
        const outcomes = await Promise.allSettled([
          one.create('/leader', Buffer.from('1'), { ephemeral: true }),
          two.create('/leader', Buffer.from('2'), { ephemeral: true }),
        ]);
        assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
      });
    });
  });
}
