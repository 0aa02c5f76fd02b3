import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLogger, type FileSystem, SeededRandom, SystemTimer, systemClock } from '@odradek/runtime';
import { SimulatedDisk } from '@odradek/testing';
import { describeCoordination } from '../coordination.contract.ts';
import { type Coordination, isCoordinationError } from '../coordination.ts';
import { EmbeddedStore, type EmbeddedStoreParts, journalFileName } from './embedded-store.ts';
import { CorruptJournalError } from './write-ahead-file.ts';

const logger = createLogger({ level: 'fatal' });

function storeOn(disk: FileSystem, options: Partial<EmbeddedStoreParts> = {}): Promise<EmbeddedStore> {
  return EmbeddedStore.open({
    fileSystem: disk,
    timer: new SystemTimer(systemClock),
    clock: systemClock,
    logger,
    directory: '/data',
    ...options,
  });
}

describeCoordination('embedded', async () => {
  const store = await storeOn(new SimulatedDisk());
  return {
    openSession: () => store.openSession(),
    expire: (session) => store.expireSession(session.sessionId),
    close: () => store.close(),
  };
});

const journal = `/data/${journalFileName}`;

/** The disk as one process sees it: after its end it can do nothing more. */
function seenByProcess(disk: SimulatedDisk): { readonly fileSystem: FileSystem; readonly kill: () => void } {
  let isAlive = true;
  const fileSystem = new Proxy<FileSystem>(disk, {
    get: (_, name: keyof FileSystem) => {
      if (!isAlive) throw new Error('the process has died');
      return (disk[name] as (...parameters: unknown[]) => unknown).bind(disk);
    },
  });
  return {
    fileSystem,
    kill: () => {
      isAlive = false;
    },
  };
}

/** Everything that the tree holds, for comparison. */
async function dump(session: Coordination, path = '/'): Promise<string[]> {
  const { data, stat } = await session.get(path);
  const lines = [`${path} ${data} v${stat.version} c${stat.cversion} z${stat.czxid} m${stat.mzxid} p${stat.pzxid}`];
  const { names } = await session.children(path);
  for (const name of names.sort()) lines.push(...(await dump(session, path === '/' ? `/${name}` : `${path}/${name}`)));
  return lines;
}

describe('the embedded store', () => {
  it('has after a restart what it had before, with all versions and numbers', async () => {
    const disk = new SimulatedDisk();
    let store = await storeOn(disk);
    let session = await store.openSession();
    await session.create('/a', Buffer.from('1'));
    await session.create('/a/n_', null, { sequential: true });
    await session.set('/a', Buffer.from('2'));
    await session.delete('/a/n_0000000000');
    const before = await dump(session);
    disk.crash('nothing');
    store = await storeOn(disk);
    session = await store.openSession();
    assert.deepEqual(await dump(session), before);
    assert.equal((await session.create('/a/n_', null, { sequential: true })).path, '/a/n_0000000001');
    await store.close();
  });

  it('forgets ephemeral nodes when the process starts again', async () => {
    const disk = new SimulatedDisk();
    const session = await (await storeOn(disk)).openSession();
    await session.create('/ids', null);
    const { stat } = await session.create('/ids/0', Buffer.from('me'), { ephemeral: true });
    disk.crash('everything');
    const again = await (await storeOn(disk)).openSession();
    assert.deepEqual((await again.children('/ids')).names, []);
    const registered = await again.create('/ids/0', Buffer.from('me'), { ephemeral: true });
    assert.ok(registered.stat.czxid > stat.czxid, 'the broker epoch only grows');
    assert.notEqual(again.sessionId, session.sessionId);
  });

  it('writes a thousand requests of one turn with one sync', async () => {
    let syncs = 0;
    const disk = new SimulatedDisk({
      complete: (action) => {
        syncs++;
        queueMicrotask(action);
      },
    });
    const session = await (await storeOn(disk)).openSession();
    await session.create('/topics', null);
    syncs = 0;
    await Promise.all(Array.from({ length: 1000 }, (_, i) => session.create(`/topics/${i}`, Buffer.from('{}'))));
    assert.equal(syncs, 1);
  });

  it('replaces a long journal by a snapshot, with nothing lost', async () => {
    const disk = new SimulatedDisk();
    const store = await storeOn(disk, { compactAboveBytes: 2000 });
    const session = await store.openSession();
    await session.create('/a', null);
    for (let i = 0; i < 200; i++) {
      await session.set('/a', Buffer.from(`value ${i}`));
      if (i % 10 === 0) await session.create(`/a/${i}`, null);
    }
    assert.ok(disk.readFileSync(journal).length < 8000, 'the journal stays short');
    const before = await dump(session);
    disk.crash('nothing');
    assert.deepEqual(await dump(await (await storeOn(disk)).openSession()), before);
  });

  it('refuses what a full disk cannot take, keeps what it had, and goes on when there is room', async () => {
    const disk = new SimulatedDisk();
    const store = await storeOn(disk);
    const session = await store.openSession();
    await session.create('/a', Buffer.from('1'));
    const events: string[] = [];
    await session.get('/a', ({ type }) => events.push(type));
    const before = await dump(session);
    disk.capacityBytes = disk.usedBytes + 5;
    const refused = await Promise.allSettled([
      session.set('/a', Buffer.from('2')),
      session.create('/a/b', null),
      session.get('/a'),
    ]);
    for (const outcome of refused) {
      assert.ok(outcome.status === 'rejected' && isCoordinationError(outcome.reason, 'ConnectionLoss'));
    }
    assert.deepEqual(await dump(session), before);
    assert.deepEqual(events, []);
    disk.capacityBytes = Number.MAX_SAFE_INTEGER;
    await session.set('/a', Buffer.from('3'));
    assert.deepEqual(events, ['dataChanged']);
    disk.crash('nothing');
    const { data } = await (await (await storeOn(disk)).openSession()).get('/a');
    assert.equal(data?.toString(), '3');
  });

  it('promises nothing more once a sync has failed', async () => {
    const disk = new SimulatedDisk();
    const failures: unknown[] = [];
    const store = await storeOn(disk, { onFailure: (error) => failures.push(error) });
    const session = await store.openSession();
    await session.create('/a', null);
    const states: string[] = [];
    session.onState((state) => states.push(state));
    const fault = { path: journal, operations: ['sync'] as const };
    disk.faults.add(fault);
    await assert.rejects(session.create('/b', null), (error) => isCoordinationError(error, 'ConnectionLoss'));
    disk.faults.delete(fault);
    await assert.rejects(session.create('/b', null), (error) => isCoordinationError(error, 'ConnectionLoss'));
    assert.deepEqual(states, ['disconnected']);
    assert.equal(failures.length, 1, 'whoever relies on the tree is told, once');
  });

  it('tells damage in the middle from a torn tail', async () => {
    const disk = new SimulatedDisk();
    const session = await (await storeOn(disk)).openSession();
    await session.create('/a', Buffer.from('1'));
    const firstEnd = disk.readFileSync(journal).length;
    await session.create('/b', Buffer.from('2'));
    disk.crash('nothing');
    disk.flipBit(journal, firstEnd - 1);
    await assert.rejects(storeOn(disk), CorruptJournalError);
    disk.flipBit(journal, firstEnd - 1);
    disk.flipBit(journal, firstEnd + 20);
    const survived = await (await storeOn(disk)).openSession();
    assert.deepEqual((await survived.children('/')).names, ['a']);
  });

  it('says so when the file is something else', async () => {
    const disk = new SimulatedDisk();
    disk.makeDirectorySync('/data');
    disk.replaceFileSync(journal, 'something else altogether');
    await assert.rejects(storeOn(disk), /not a journal/);
  });
});

describe('the embedded store under crashes', () => {
  // Whatever was acknowledged is there; of what was under way a beginning may be there; and nothing else.
  for (let seed = 1; seed <= 60; seed++) {
    it(`keeps every acknowledged write, seed ${seed}`, async () => {
      const random = new SeededRandom(seed);
      const disk = new SimulatedDisk({ random });
      /** Values that each key may have: the acknowledged one, and those asked for since. */
      const acknowledged = new Map<string, number>();
      for (let life = 0; life < 4; life++) {
        const { fileSystem, kill } = seenByProcess(disk);
        const store = await storeOn(fileSystem, { compactAboveBytes: 1500 });
        const session = await store.openSession();
        const asked = new Map<string, number>();
        const writes = 20 + random.nextInt(60);
        for (let i = 0; i < writes; i++) {
          const key = `/k${random.nextInt(8)}`;
          const value = life * 1000 + i;
          const data = Buffer.from(String(value).padEnd(random.nextInt(700)));
          const exists = asked.has(key) || acknowledged.has(key);
          asked.set(key, value);
          const write = exists ? session.set(key, data) : session.create(key, data);
          const settled = write.then(() => acknowledged.set(key, Math.max(value, acknowledged.get(key) ?? -1)));
          settled.catch(() => undefined);
          if (random.nextInt(3) === 0) await settled;
        }
        // Some of the last group is perhaps in the file, perhaps not.
        if (random.nextInt(2) === 0) await new Promise((resolve) => setImmediate(resolve));
        const durable = new Map(acknowledged);
        kill();
        disk.crash('something');
        const survivor = await storeOn(disk);
        const reader = await survivor.openSession();
        for (const [key, value] of durable) {
          const { data } = await reader.get(key);
          const found = Number(data?.toString());
          assert.ok(
            found >= value && found <= Math.max(value, asked.get(key) ?? value),
            `${key} is ${found}, acknowledged ${value}`,
          );
        }
        acknowledged.clear();
        for (const name of (await reader.children('/')).names) {
          acknowledged.set(`/${name}`, Number((await reader.get(`/${name}`)).data?.toString()));
        }
        await survivor.close();
      }
    });
  }

  it('opens ten thousand partitions quickly from what it wrote', async () => {
    const disk = new SimulatedDisk();
    const store: EmbeddedStore = await storeOn(disk);
    const session = await store.openSession();
    await session.create('/t', null);
    await Promise.all(
      Array.from({ length: 10_000 }, (_, i) =>
        session.multi([
          { type: 'create', path: `/t/${i}`, data: null },
          {
            type: 'create',
            path: `/t/${i}/state`,
            data: Buffer.from('{"controller_epoch":1,"leader":0,"version":1,"leader_epoch":0,"isr":[0]}'),
          },
        ]),
      ),
    );
    await store.close();
    const again = await (await storeOn(disk)).openSession();
    assert.equal((await again.children('/t')).names.length, 10_000);
  });
});
