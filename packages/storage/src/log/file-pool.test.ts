import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SimulatedDisk } from '@odradek/testing';
import { FilePool, RetiredFileError } from './file-pool.ts';

const names = ['/a', '/b', '/c', '/d'];

test('the least recently used is closed when too many are open, and opened again when it is used', () => {
  const pool = new FilePool(new SimulatedDisk(), 2);
  const files = names.map((name) => pool.file(name, 'readWrite'));
  const isOpen = (): boolean[] => files.map((file) => file.isOpen);
  files[0]!.use();
  files[1]!.use();
  files[0]!.use();
  files[2]!.use();
  assert.deepEqual(isOpen(), [true, false, true, false]);
  files[1]!.use().writeSync([Buffer.from('text')], 0);
  assert.deepEqual(isOpen(), [false, true, true, false]);
  assert.equal(pool.openCount, 2);
});

test('what the thread pool works on stays open, also beyond the limit, and is closed afterwards when it is retired', async () => {
  const pending: (() => void)[] = [];
  const disk = new SimulatedDisk({ complete: (action) => pending.push(action) });
  const pool = new FilePool(disk, 1);
  const [first, second] = names.map((name) => pool.file(name, 'readWrite'));
  const syncs = [first!.pinned((file) => file.sync()), first!.pinned((file) => file.sync())];
  second!.use();
  assert.equal(pool.openCount, 2);
  first!.retire();
  assert.equal(first!.isOpen, true);
  for (const complete of pending) complete();
  await Promise.all(syncs);
  assert.equal(first!.isOpen, false);
  assert.throws(() => first!.use(), RetiredFileError);
  await assert.rejects(
    first!.pinned((file) => file.sync()),
    RetiredFileError,
  );
});

test('a process that may have fewer files open than we thought is content with less', () => {
  const disk = new SimulatedDisk();
  const pool = new FilePool(disk, 100);
  const files = names.map((name) => pool.file(name, 'readWrite'));
  for (const file of files.slice(0, 3)) file.use();
  const { openSync } = disk;
  let isRefused = false;
  disk.openSync = (path, mode) => {
    if (pool.openCount < 2) return openSync.call(disk, path, mode);
    isRefused = true;
    throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE', syscall: 'open' });
  };
  files[3]!.use();
  assert.equal(isRefused, true);
  assert.equal(files[3]!.isOpen, true);
});
