import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SeededRandom } from '@odradek/runtime';
import { SimulatedDisk } from './simulated-disk.ts';
import { sectorBytes } from './simulated-inodes.ts';
import { SimulatedWorld } from './simulated-world.ts';

function diskWith(files: Readonly<Record<string, string>>): SimulatedDisk {
  const disk = new SimulatedDisk();
  disk.makeDirectorySync('/data');
  for (const [name, content] of Object.entries(files)) {
    disk.replaceFileSync(`/data/${name}`, content);
  }
  return disk;
}

test('a crash loses what was not synced and keeps what was', () => {
  const disk = diskWith({ log: 'synced' });
  const file = disk.openSync('/data/log', 'readWrite');
  file.writeSync([Buffer.from(' and not')], 6);
  disk.openSync('/data/new', 'readWrite').writeSync([Buffer.from('x')], 0);
  disk.crash('nothing');
  assert.deepEqual(disk.listSync('/data'), ['log']);
  assert.equal(disk.readFileSync('/data/log').toString(), 'synced');
  assert.equal(disk.usedBytes, 6);
  assert.throws(() => file.writeSync([Buffer.from('x')], 0), { code: 'EBADF' });
});

test('when the process dies and the machine lives, nothing is lost', () => {
  const disk = diskWith({});
  disk.lockDirectorySync('/data');
  disk.openSync('/data/log', 'readWrite').writeSync([Buffer.from('abc')], 0);
  disk.crash('everything');
  assert.equal(disk.readFileSync('/data/log').toString(), 'abc');
  disk.lockDirectorySync('/data').release();
});

test('a file is durable once it is synced, its rename only once the directory is', () => {
  const disk = diskWith({ kept: 'old' });
  const file = disk.openSync('/data/new', 'readWrite');
  file.writeSync([Buffer.from('new')], 0);
  file.syncSync();
  disk.renameSync('/data/new', '/data/kept');
  disk.removeSync('/data/absent');
  assert.equal(disk.readFileSync('/data/kept').toString(), 'new');
  disk.crash('nothing');
  assert.deepEqual(disk.listSync('/data'), ['kept', 'new']);
  assert.equal(disk.readFileSync('/data/kept').toString(), 'old');
  disk.renameSync('/data/new', '/data/kept');
  disk.syncDirectorySync('/data');
  disk.crash('nothing');
  assert.deepEqual(disk.listSync('/data'), ['kept']);
  assert.equal(disk.readFileSync('/data/kept').toString(), 'new');
});

test('a removed directory comes back unless the one above it was synced', () => {
  const disk = diskWith({});
  disk.makeDirectorySync('/data/topic-0');
  disk.replaceFileSync('/data/topic-0/log', 'abc');
  disk.removeSync('/data/topic-0');
  disk.crash('nothing');
  assert.equal(disk.readFileSync('/data/topic-0/log').toString(), 'abc');
  disk.removeSync('/data/topic-0');
  disk.syncDirectorySync('/data');
  disk.crash('nothing');
  assert.deepEqual(disk.listSync('/data'), []);
});

test('a cut that was not synced is undone by a crash, with the bytes that were cut', () => {
  const disk = diskWith({ log: 'abcdef' });
  disk.openSync('/data/log', 'readWrite').truncateSync(2);
  disk.crash('nothing');
  assert.equal(disk.readFileSync('/data/log').toString(), 'abcdef');
});

test('a crash tears an unsynced tail at a sector, and never touches what was synced', () => {
  const outcomes = new Set<string>();
  for (let seed = 0; seed < 200; seed++) {
    const disk = new SimulatedDisk({ random: new SeededRandom(seed) });
    disk.makeDirectorySync('/data');
    disk.replaceFileSync('/data/log', Buffer.alloc(700, 'a'));
    disk.openSync('/data/log', 'readWrite').writeSync([Buffer.alloc(2_000, 'b')], 700);
    disk.crash();
    const content = disk.readFileSync('/data/log');
    assert.equal(content.subarray(0, 700).toString(), 'a'.repeat(700));
    assert.ok(content.byteLength >= 700 && content.byteLength <= 2_700);
    let shape = `${content.byteLength}:`;
    for (let start = 700; start < content.byteLength; ) {
      const end = Math.min((Math.floor(start / sectorBytes) + 1) * sectorBytes, content.byteLength);
      const sector = content.subarray(start, end);
      assert.ok(
        sector.every((byte) => byte === sector[0]),
        'a sector is written whole or not at all',
      );
      shape += sector[0] === 0 ? '0' : 'b';
      start = end;
    }
    outcomes.add(shape);
  }
  assert.ok(outcomes.has('700:'), 'all lost');
  assert.ok(outcomes.size > 20, [...outcomes].join(' '));
});

test('a full disk takes what fits and then says ENOSPC', () => {
  const disk = diskWith({ log: 'x'.repeat(100) });
  disk.capacityBytes = 150;
  const file = disk.openSync('/data/log', 'readWrite');
  assert.throws(() => file.writeSync([Buffer.alloc(20), Buffer.alloc(40)], 100), { code: 'ENOSPC' });
  assert.equal(file.sizeSync(), 150);
  assert.equal(disk.volumeSync('/data').usableBytes, 0);
  file.truncateSync(100);
  file.writeSync([Buffer.alloc(50)], 100);
  assert.throws(() => disk.replaceFileSync('/data/other', 'y'), { code: 'ENOSPC' });
  assert.deepEqual(disk.listSync('/data'), ['log']);
  disk.removeSync('/data/log');
  assert.equal(disk.usedBytes, 0);
});

test('chosen calls on chosen paths fail until the fault is taken away', async () => {
  const disk = diskWith({ good: 'x', bad: 'y' });
  const fault = { path: '/data/bad', operations: ['write', 'sync'] as const };
  disk.faults.add(fault);
  const file = disk.openSync('/data/bad', 'readWrite');
  assert.equal(disk.readFileSync('/data/bad').toString(), 'y');
  assert.throws(() => file.writeSync([Buffer.from('z')], 0), { code: 'EIO' });
  await assert.rejects(file.sync(), { code: 'EIO' });
  disk.openSync('/data/good', 'readWrite').writeSync([Buffer.from('z')], 0);
  disk.faults.delete(fault);
  file.writeSync([Buffer.from('z')], 0);
  disk.faults.add({ path: /\.timeindex$/, code: 'EACCES' });
  assert.throws(() => disk.openSync('/data/0.timeindex', 'readWrite'), { code: 'EACCES' });
});

test('a read-only disk refuses every change', async () => {
  const disk = diskWith({ log: 'x' });
  disk.isReadOnly = true;
  assert.equal(disk.readFileSync('/data/log').toString(), 'x');
  disk.openSync('/data/log', 'read').closeSync();
  disk.makeDirectorySync('/data');
  for (const change of [
    () => disk.openSync('/data/log', 'readWrite'),
    () => disk.openSync('/data/new', 'truncate'),
    () => disk.replaceFileSync('/data/log', 'y'),
    () => disk.makeDirectorySync('/data/new'),
    () => disk.renameSync('/data/log', '/data/other'),
    () => disk.removeSync('/data/log'),
    () => disk.lockDirectorySync('/data'),
  ]) {
    assert.throws(change, { code: 'EROFS' });
  }
  await assert.rejects(disk.replaceFile('/data/log', 'y'), { code: 'EROFS' });
});

test('a flipped bit stays flipped', () => {
  const disk = diskWith({ log: 'abc' });
  disk.flipBit('/data/log', 1, 0);
  assert.equal(disk.readFileSync('/data/log').toString(), 'acc');
  disk.crash('nothing');
  assert.equal(disk.readFileSync('/data/log').toString(), 'acc');
});

test('a call under way when the machine crashes never ends, and the next life works', async () => {
  const world = new SimulatedWorld({ seed: 1, diskDelayMs: { min: 5, max: 5 } });
  const disk = world.fileSystem;
  disk.makeDirectorySync('/data');
  const file = disk.openSync('/data/log', 'readWrite');
  file.writeSync([Buffer.from('abc')], 0);
  let outcome = 'none';
  file.sync().then(
    () => {
      outcome = 'done';
    },
    () => {
      outcome = 'failed';
    },
  );
  const replaced = disk.replaceFile('/data/state', 'x');
  replaced.catch(() => assert.fail('it never ends'));
  await world.advance(4);
  world.crash('127.0.0.1', 'everything');
  await world.advance(100);
  assert.equal(outcome, 'none');
  await world.run(world.fileSystem.replaceFile('/data/state', 'second life'));
  assert.equal(disk.readFileSync('/data/state').toString(), 'second life');
});

test('what the crashed program had set up does not run', async () => {
  const world = new SimulatedWorld({ seed: 2 });
  const ran: string[] = [];
  world.timer.schedule(10, () => ran.push('old'));
  world.crash();
  world.timer.schedule(10, () => ran.push('new'));
  await world.advance(20);
  assert.deepEqual(ran, ['new']);
});

test('a crash may come between two renames, and leaves them in their order', () => {
  const found = new Set<string>();
  for (let seed = 0; seed < 100; seed++) {
    const disk = new SimulatedDisk({ random: new SeededRandom(seed) });
    disk.makeDirectorySync('/data');
    for (const name of ['a', 'b']) {
      disk.openSync(`/data/${name}`, 'readWrite').syncSync();
    }
    disk.syncDirectorySync('/data');
    disk.renameSync('/data/a', '/data/a.old');
    disk.renameSync('/data/b', '/data/b.old');
    disk.openSync('/data/a', 'readWrite');
    disk.crash('something');
    found.add(disk.listSync('/data').join(' '));
  }
  assert.deepEqual([...found].sort(), ['a a.old b.old', 'a b', 'a.old b', 'a.old b.old']);
});

test('a file that was forced to the device has the name that it had then, whatever else is lost', () => {
  for (let seed = 0; seed < 50; seed++) {
    const disk = new SimulatedDisk({ random: new SeededRandom(seed) });
    disk.makeDirectorySync('/data');
    disk.openSync('/data/log', 'readWrite').syncSync();
    disk.syncDirectorySync('/data');
    disk.renameSync('/data/log', '/data/log.deleted');
    const file = disk.openSync('/data/log', 'readWrite');
    file.writeSync([Buffer.from('new')], 0);
    file.syncSync();
    disk.crash('something');
    assert.equal(disk.readFileSync('/data/log').toString(), 'new');
  }
});
