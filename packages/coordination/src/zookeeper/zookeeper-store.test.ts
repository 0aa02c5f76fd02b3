// The store against one real server.

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { needed, skipWithout, startZooKeeper, until, type ZooKeeperEnsemble, zooKeeperJars } from '@odradek/testing';
import { describeCoordination } from '../coordination.contract.ts';
import { type Coordination, isCoordinationError } from '../coordination.ts';
import { CuttableNetwork, closeSessions, connectStore, openSession, reached } from './store.fixture.ts';

const jars = await zooKeeperJars();
const skip = skipWithout(jars);

describe('a ZooKeeper server', { skip }, () => {
  let ensemble: ZooKeeperEnsemble;
  let roots = 0;
  before(async () => {
    ensemble = await startZooKeeper(needed(jars));
  });
  after(() => ensemble?.close());
  afterEach(closeSessions);

  /** A tree of its own for each test. */
  const newRoot = (): string => `${ensemble.connect}/tests/${roots++}`;

  describeCoordination('ZooKeeper', async () => {
    const connect = newRoot();
    const sessions = new Map<Coordination, CuttableNetwork>();
    return {
      async openSession() {
        const network = new CuttableNetwork();
        const session = await openSession(connect, { network });
        sessions.set(session, network);
        return session;
      },
      async expire(session) {
        const network = sessions.get(session)!;
        const observer = await openSession(connect);
        await session.create('/probe', null, { ephemeral: true });
        const gone = new Promise((resolve) => void observer.exists('/probe', resolve));
        await observer.sync('/probe');
        network.cut();
        await gone;
        network.isCut = false;
        await until('the session knows of its end', () => session.state === 'expired');
      },
      close: closeSessions,
    };
  });

  describe('with a chroot', () => {
    it('keeps several trees apart, and creates the folders above them', async () => {
      const [one, two, whole] = await Promise.all([
        openSession(`${ensemble.connect}/chroots/one/deep`),
        openSession(`${ensemble.connect}/chroots/two`),
        openSession(ensemble.connect),
      ]);
      await one.create('/a', Buffer.from('1'));
      await two.create('/a', Buffer.from('2'));
      assert.equal((await whole.get('/chroots/one/deep/a')).data?.toString(), '1');
      assert.equal((await whole.get('/chroots/two/a')).data?.toString(), '2');
      assert.deepEqual((await one.children('/')).names, ['a']);
      assert.equal((await one.get('/')).stat.numChildren, 1);
    });

    it('speaks of paths in answers, news and errors as its own', async () => {
      const session = await openSession(`${ensemble.connect}/chroots/own`);
      assert.equal((await session.create('/n_', null, { sequential: true })).path, '/n_0000000000');
      const [created] = await session.multi([{ type: 'create', path: '/n_', data: null, sequential: true }]);
      assert.deepEqual(created, { type: 'create', path: '/n_0000000001' });
      const events: string[] = [];
      await session.children('/', ({ type, path }) => events.push(`${type} ${path}`));
      await session.create('/b', null);
      await session.sync('/');
      assert.deepEqual(events, ['childrenChanged /']);
      await assert.rejects(session.get('/no'), { code: 'NoNode', path: '/no' });
      const failing = session.multi([
        { type: 'check', path: '/b', version: 0 },
        { type: 'delete', path: '/no', version: -1 },
      ]);
      await assert.rejects(failing, { code: 'NoNode', path: '/no', failedOperation: 1 });
    });
  });

  describe('with access lists', () => {
    const digest = (auth: string) => ({ setAcl: true, auth: [{ scheme: 'digest', auth }] });

    it('lets others read and not write what a named creator has made, and not read what is sensitive', async () => {
      const connect = newRoot();
      const [alice, again, bob, nobody] = await Promise.all([
        openSession(connect, digest('alice:secret')),
        openSession(connect, digest('alice:secret')),
        openSession(connect, digest('bob:secret')),
        openSession(connect),
      ]);
      await alice.create('/config', Buffer.from('c'));
      await alice.multi([{ type: 'create', path: '/config/users', data: Buffer.from('u') }]);
      await alice.create('/consumers', null);
      assert.equal((await again.set('/config', Buffer.from('d'))).version, 1);
      for (const other of [bob, nobody]) {
        assert.equal((await other.get('/config')).data?.toString(), 'd');
        await assert.rejects(other.set('/config', null), { code: 'NoAuth', path: '/config' });
        await assert.rejects(other.create('/config/topics', null), { code: 'NoAuth', path: '/config/topics' });
        await assert.rejects(other.get('/config/users'), { code: 'NoAuth', path: '/config/users' });
        await assert.rejects(other.delete('/config/users'), { code: 'NoAuth' });
        const multi = other.multi([
          { type: 'check', path: '/consumers', version: 0 },
          { type: 'set', path: '/config', data: null, version: -1 },
        ]);
        await assert.rejects(multi, { code: 'NoAuth', path: '/config', failedOperation: 1 });
      }
      await nobody.create('/consumers/group', null);
      assert.equal((await again.get('/config/users')).data?.toString(), 'u');
    });

    it('proves the name again on each connection', async () => {
      const network = new CuttableNetwork();
      const connect = newRoot();
      const session = await openSession(connect, { ...digest('alice:secret'), network });
      await session.create('/config', null);
      await session.create('/config/users', Buffer.from('u'));
      const lost = reached(session, 'disconnected');
      network.cut();
      await lost;
      network.isCut = false;
      assert.equal((await session.get('/config/users')).data?.toString(), 'u');
    });

    it('says so when a name is needed and none was proved', async () => {
      await assert.rejects(connectStore(newRoot(), { setAcl: true }), { code: 'InvalidAcl' });
    });

    it('gives up at once when the server does not know the way of proving', async () => {
      const auth = [{ scheme: 'handshake', auth: 'x' }];
      await assert.rejects(openSession(ensemble.connect, { auth }), { code: 'AuthFailed' });
    });
  });

  describe('with large data', () => {
    it('takes a node of nearly a megabyte, and refuses what the server would not take', async () => {
      const session = await openSession(newRoot());
      await session.create('/large', null);
      const data = Buffer.alloc(1_048_500, 'x');
      await session.set('/large', data);
      assert.deepEqual((await session.get('/large')).data, data);
      await assert.rejects(session.set('/large', Buffer.alloc(1_048_576)), { code: 'TooLarge', path: '/large' });
      assert.equal((await session.exists('/large'))?.version, 1);
    });

    it('fails the one call whose answer is too large, and none of the others', async () => {
      const connect = newRoot();
      const writer = await openSession(connect);
      const session = await openSession(connect, { maxAnswerBytes: 10_000 });
      await writer.create('/large', Buffer.alloc(9000));
      await writer.create('/larger', Buffer.alloc(500_000));
      const reads = await Promise.allSettled([session.get('/large'), session.get('/larger'), session.get('/large')]);
      assert.deepEqual(
        reads.map((read) => (read.status === 'fulfilled' ? read.value.data?.byteLength : (read.reason as { code: string }).code)),
        [9000, 'TooLarge', 9000],
      );
      assert.equal(session.state, 'connected');
    });
  });

  it('does nothing for a multi of nothing', async () => {
    const session = await openSession(newRoot());
    assert.deepEqual(await session.multi([]), []);
  });

  it('answers thousands of calls in their order, few at a time', async () => {
    const session = await openSession(newRoot(), { maxInFlightRequests: 3 });
    const order: number[] = [];
    const calls = Array.from({ length: 2000 }, (_, i) =>
      (i % 2 === 0 ? session.create('/n_', null, { sequential: true }) : session.exists('/')).then(() => order.push(i)),
    );
    await Promise.all(calls);
    assert.deepEqual(order, [...order.keys()]);
    assert.equal((await session.children('/')).names.length, 1000);
  });

  it('asks again for what was under way when the cable is pulled, and keeps session, ephemeral nodes and watches', async () => {
    const network = new CuttableNetwork();
    const connect = newRoot();
    const session = await openSession(connect, { network, maxInFlightRequests: 2 });
    const other = await openSession(connect);
    const states: string[] = [];
    session.onState((state) => states.push(state));
    const { sessionId } = session;
    await session.create('/mine', null, { ephemeral: true });
    const events: string[] = [];
    await session.get('/mine', ({ type }) => events.push(`data ${type}`));
    await session.exists('/later', ({ type }) => events.push(`exists ${type}`));
    await session.children('/', ({ type }) => events.push(`children ${type}`));
    await session.get('/', ({ type }) => events.push(`root ${type}`));

    const underWay = [session.create('/one', null), session.create('/two', null), session.create('/three', null)];
    await Promise.resolve();
    network.cut();
    await other.create('/later', null);
    await other.set('/mine', null);
    network.isCut = false;
    assert.deepEqual(
      (await Promise.all(underWay)).map(({ path }) => path),
      ['/one', '/two', '/three'],
    );
    await session.sync('/');
    assert.deepEqual(states, ['disconnected', 'connected']);
    assert.equal(session.sessionId, sessionId);
    assert.equal((await other.exists('/mine'))?.ephemeralOwner, sessionId);
    assert.deepEqual(events.sort(), ['children childrenChanged', 'data dataChanged', 'exists created']);
    await other.set('/', Buffer.from('changed'));
    await session.sync('/');
    assert.equal(events.at(-1), 'root dataChanged');
  });

  it('cannot be reached where nobody listens, and says so in time', async () => {
    const startedMs = performance.now();
    await assert.rejects(openSession('127.0.0.1:1', { connectionTimeoutMs: 500 }), (error) => {
      assert.ok(isCoordinationError(error, 'ConnectionLoss'));
      assert.match(error.message, /127\.0\.0\.1:1 has answered within 500 ms/);
      assert.match(String(error.cause), /ECONNREFUSED/);
      return true;
    });
    assert.ok(performance.now() - startedMs < 5000);
  });
});
