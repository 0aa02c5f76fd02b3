// Writes whose connection breaks before they are answered: the simulated server has done them, and the session finds out.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SimulatedWorld, SimulatedZooKeeper } from '@odradek/testing';
import { type Coordination, CoordinationError, isCoordinationError, type Operation } from '../coordination.ts';
import { ownSuccess } from './lost-answers.ts';
import { ZooKeeperStore } from './zookeeper-store.ts';

const timeoutMs = 6000;

interface Scene {
  readonly world: SimulatedWorld;
  readonly session: Coordination;
  readonly other: Coordination;
}

async function open(): Promise<Scene> {
  const world = new SimulatedWorld({ seed: 1, logLevel: 'fatal' });
  const server = await SimulatedZooKeeper.start(world);
  const session = async (name: string): Promise<Coordination> => {
    const store = await ZooKeeperStore.connect({ ...world.machine(name), connect: server.address, sessionTimeoutMs: timeoutMs });
    return world.run(store.openSession());
  };
  const scene = { world, session: await session('broker'), other: await session('other') };
  for (const path of ['/there', '/old']) await world.run(scene.other.create(path, Buffer.from('first')));
  return scene;
}

/** Asks while requests arrive and answers do not; `meanwhile` happens when the request has been carried out. */
async function withLostAnswer<T>(
  { world, session }: Scene,
  ask: () => Promise<T>,
  meanwhile: () => Promise<unknown> = async () => undefined,
): Promise<T | CoordinationError> {
  world.simulatedNetwork.cutOneWay('zookeeper', 'broker');
  const outcome = ask().catch((error: unknown) => {
    assert.ok(isCoordinationError(error), `${error}`);
    return error;
  });
  await world.advance(100);
  await world.run(meanwhile());
  // Nothing was heard for two thirds of the timeout: the connection is given up.
  await world.runUntil(() => session.state === 'disconnected');
  world.simulatedNetwork.heal();
  return world.run(outcome);
}

const text = async (scene: Scene, path: string): Promise<string> => String((await scene.world.run(scene.other.get(path))).data);

describe('a write whose answer is lost', () => {
  it('has created its node, and answers so', async () => {
    const scene = await open();
    const created = await withLostAnswer(scene, () => scene.session.create('/a', Buffer.from('x')));
    assert.ok(!(created instanceof CoordinationError));
    const { stat } = await scene.world.run(scene.other.get('/a'));
    assert.deepEqual(created, { path: '/a', stat });
    assert.equal(stat.version, 0);
  });

  it('has created an ephemeral node of this session', async () => {
    const scene = await open();
    const created = await withLostAnswer(scene, () => scene.session.create('/a', null, { ephemeral: true }));
    assert.ok(!(created instanceof CoordinationError));
    assert.equal(created.stat.ephemeralOwner, scene.session.sessionId);
  });

  it('has set the data, and answers with the stat that it left', async () => {
    const scene = await open();
    const set = await withLostAnswer(scene, () => scene.session.set('/there', Buffer.from('second'), 0));
    assert.ok(!(set instanceof CoordinationError));
    assert.equal(set.version, 1);
    assert.equal((await scene.world.run(scene.other.get('/there'))).stat.version, 1, 'written once');
  });

  it('has deleted the node', async () => {
    const scene = await open();
    assert.equal(await withLostAnswer(scene, () => scene.session.delete('/old', 0)), undefined);
  });

  it('has done all of a multi, as a registration is one', async () => {
    const scene = await open();
    const operations: Operation[] = [
      { type: 'check', path: '/there', version: 0 },
      { type: 'create', path: '/a', data: null, ephemeral: true },
      { type: 'set', path: '/a', data: Buffer.from('x'), version: 0 },
      { type: 'delete', path: '/old', version: -1 },
    ];
    const done = await withLostAnswer(scene, () => scene.session.multi(operations));
    assert.ok(!(done instanceof CoordinationError));
    const { stat } = await scene.world.run(scene.other.get('/a'));
    assert.deepEqual(done, [{ type: 'check' }, { type: 'create', path: '/a' }, { type: 'set', stat }, { type: 'delete' }]);
  });

  it('has done what came before it first: a parent and its child', async () => {
    const scene = await open();
    const both = () => Promise.all([scene.session.create('/a', null), scene.session.create('/a/b', null)]);
    assert.ok(!((await withLostAnswer(scene, both)) instanceof CoordinationError));
  });

  it('is refused when somebody has written on top of it', async () => {
    const scene = await open();
    const set = await withLostAnswer(
      scene,
      () => scene.session.set('/there', Buffer.from('mine'), 0),
      () => scene.other.set('/there', Buffer.from('theirs'), 1),
    );
    assert.ok(isCoordinationError(set, 'BadVersion'));
    assert.equal(await text(scene, '/there'), 'theirs');
  });

  it('may have made a second node where nodes are numbered', async () => {
    const scene = await open();
    const created = await withLostAnswer(scene, () => scene.session.create('/n_', null, { sequential: true }));
    assert.ok(!(created instanceof CoordinationError));
    const { names } = await scene.world.run(scene.other.children('/'));
    const numbered = names.filter((name) => name.startsWith('n_')).sort();
    assert.equal(numbered.length, 2);
    assert.equal(created.path, `/${numbered[1]}`, 'the answer is that of the last');
  });

  it('that wrote a node and a numbered one is told from the first', async () => {
    const scene = await open();
    const done = await withLostAnswer(scene, () =>
      scene.session.multi([
        { type: 'set', path: '/there', data: Buffer.from('second'), version: 0 },
        { type: 'create', path: '/n_', data: null, sequential: true },
      ]),
    );
    assert.ok(!(done instanceof CoordinationError));
    const { names } = await scene.world.run(scene.other.children('/'));
    assert.equal(names.filter((name) => name.startsWith('n_')).length, 1);
  });
});

describe('a write that was sent before its connection broke, and not carried out', () => {
  /** Nothing arrives until the connection is given up; then others are first. */
  async function withLostRequest<T>(
    { world, session }: Scene,
    ask: () => Promise<T>,
    meanwhile: () => Promise<unknown>,
  ): Promise<T | CoordinationError> {
    world.simulatedNetwork.partition(['broker'], ['zookeeper']);
    const outcome = ask().catch((error: unknown) => {
      assert.ok(isCoordinationError(error), `${error}`);
      return error;
    });
    await world.run(meanwhile());
    await world.runUntil(() => session.state === 'disconnected');
    world.simulatedNetwork.heal();
    return world.run(outcome);
  }

  it('finds the node of another', async () => {
    const scene = await open();
    const { session, other } = scene;
    const create = () => session.create('/a', Buffer.from('mine'), { ephemeral: true });
    const created = await withLostRequest(scene, create, () => other.create('/a', Buffer.from('mine'), { ephemeral: true }));
    assert.ok(isCoordinationError(created, 'NodeExists'), 'though the data is the same');
  });

  it('finds other data', async () => {
    const scene = await open();
    const { session, other } = scene;
    const set = () => session.set('/there', Buffer.from('mine'), 0);
    assert.ok(
      isCoordinationError(await withLostRequest(scene, set, () => other.set('/there', Buffer.from('theirs'), 0)), 'BadVersion'),
    );
    assert.equal(await text(scene, '/there'), 'theirs');
  });

  it('fails with its condition: a controller that has been succeeded', async () => {
    const scene = await open();
    const { session, other } = scene;
    const write = () =>
      session.multi([
        { type: 'check', path: '/there', version: 0 },
        { type: 'delete', path: '/old', version: -1 },
      ]);
    const refused = await withLostRequest(scene, write, () => other.set('/there', Buffer.from('another'), 0));
    assert.ok(isCoordinationError(refused, 'BadVersion') && refused.failedOperation === 0);
    assert.equal(await text(scene, '/old'), 'first');
  });
});

const noStat = {
  czxid: 1,
  mzxid: 1,
  pzxid: 1,
  createdMs: 0,
  modifiedMs: 0,
  version: 0,
  cversion: 0,
  aversion: 0,
  ephemeralOwner: 0n,
  dataSize: 0,
  numChildren: 0,
};
const path = '/a';
const remove: Operation = { type: 'delete', path, version: -1 };
const check: Operation = { type: 'check', path: '/c', version: 3 };
const create: Operation = { type: 'create', path, data: null };
const numbered: Operation = { type: 'create', path, data: null, sequential: true };

describe('the nodes tell whether a write has taken effect', () => {
  const done = { version: 1, ephemeralOwner: 0n };
  for (const { name, operations, code, at, found, expected } of [
    { name: 'by their version', operations: [set('x', 0)], code: 'BadVersion', found: { data: 'x', ...done }, expected: true },
    {
      name: 'not by the data alone',
      operations: [set('x', 0)],
      code: 'BadVersion',
      found: { data: 'x', ...done, version: 2 },
      expected: false,
    },
    {
      name: 'not by the version alone',
      operations: [set('x', 0)],
      code: 'BadVersion',
      found: { data: 'y', ...done },
      expected: false,
    },
    {
      name: 'that no data is not empty data',
      operations: [set(null, 0)],
      code: 'BadVersion',
      found: { data: '', ...done },
      expected: false,
    },
    { name: 'by their absence', operations: [remove], code: 'NoNode', found: undefined, expected: true },
    { name: 'that it is there again', operations: [remove], code: 'BadVersion', found: { data: 'x', ...done }, expected: false },
    { name: 'nothing of a refusal for another reason', operations: [remove], code: 'NoAuth', found: undefined, expected: false },
    {
      name: 'nothing where a condition fails',
      operations: [check, remove],
      code: 'BadVersion',
      at: 0,
      found: undefined,
      expected: false,
    },
    { name: 'nothing of numbered nodes alone', operations: [numbered], code: 'NoNode', found: undefined, expected: false },
    {
      name: 'by what the last operation left',
      operations: [create, set('x', -1)],
      code: 'NodeExists',
      found: { data: 'x', ...done },
      expected: true,
    },
  ] as const) {
    it(name, async () => {
      const get = async () => {
        if (found === undefined) throw new CoordinationError('NoNode', '/a');
        const { data, version, ephemeralOwner } = found;
        return { data: Buffer.from(data), stat: { ...noStat, version, ephemeralOwner } };
      };
      const refusal = new CoordinationError(code, '/a', at === undefined ? {} : { failedOperation: at });
      const success = await ownSuccess({ get, sessionId: 7n }, operations, refusal);
      assert.equal(success !== undefined, expected);
    });
  }
});

function set(data: string | null, version: number): Operation {
  return { type: 'set', path, data: data === null ? null : Buffer.from(data), version };
}
