// What every FileSystem does, real or simulated.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { FileSystem, OpenFile } from '@odradek/runtime';

export interface FileSystemUnderTest {
  readonly fileSystem: FileSystem;
  /** An empty directory to work in. */
  readonly directory: string;
}

export function fileSystemContract(name: string, create: () => FileSystemUnderTest): void {
  const text = (file: OpenFile): string => {
    const target = Buffer.alloc(file.sizeSync());
    assert.equal(file.readSync(target, 0, target.byteLength, 0), target.byteLength);
    return target.toString();
  };

  describe(`file system: ${name}`, () => {
    test('open: `read` needs the file, `readWrite` keeps it, `truncate` empties it', () => {
      const { fileSystem, directory } = create();
      const path = `${directory}/f`;
      assert.throws(() => fileSystem.openSync(path, 'read'), { code: 'ENOENT' });
      assert.throws(() => fileSystem.openSync(`${directory}/absent/f`, 'readWrite'), { code: 'ENOENT' });
      const created = fileSystem.openSync(path, 'readWrite');
      created.writeSync([Buffer.from('abc')], 0);
      created.closeSync();
      const again = fileSystem.openSync(path, 'readWrite');
      assert.equal(text(again), 'abc');
      again.closeSync();
      const emptied = fileSystem.openSync(path, 'truncate');
      assert.equal(emptied.sizeSync(), 0);
      emptied.writeSync([Buffer.from('x')], 0);
      assert.equal(text(emptied), 'x');
      emptied.closeSync();
      emptied.closeSync();
      const readOnly = fileSystem.openSync(path, 'read');
      assert.throws(() => readOnly.writeSync([Buffer.from('y')], 0), { code: 'EBADF' });
      readOnly.closeSync();
    });

    test('writes chunks one behind the other, over what is there and past the end', () => {
      const { fileSystem, directory } = create();
      const file = fileSystem.openSync(`${directory}/f`, 'readWrite');
      file.writeSync([], 0);
      file.writeSync([Buffer.from('hello '), Buffer.alloc(0), Buffer.from('world')], 0);
      file.writeSync([Buffer.from('W')], 6);
      file.writeSync([Buffer.from('!')], 13);
      assert.equal(text(file), 'hello World\0\0!');
      const many = Array.from({ length: 3_000 }, (_, index) => Buffer.from(`${index},`));
      file.writeSync(many, 0);
      assert.equal(text(file), Buffer.concat(many).toString());
      file.closeSync();
    });

    test('reads from a position into a part of the target, fewer bytes only at the end', async () => {
      const { fileSystem, directory } = create();
      const file = fileSystem.openSync(`${directory}/f`, 'readWrite');
      file.writeSync([Buffer.from('0123456789')], 0);
      const target = Buffer.from('..........');
      assert.equal(file.readSync(target, 2, 3, 4), 3);
      assert.equal(target.toString(), '..456.....');
      assert.equal(await file.read(target, 6, 4, 8), 2);
      assert.equal(target.toString(), '..456.89..');
      assert.equal(file.readSync(target, 0, 4, 10), 0);
      assert.equal(await file.read(target, 0, 4, 500), 0);
      assert.equal(await file.read(target, 0, 0, 0), 0);
      file.closeSync();
    });

    test('truncate cuts, and lengthens with zeros', () => {
      const { fileSystem, directory } = create();
      const file = fileSystem.openSync(`${directory}/f`, 'readWrite');
      file.writeSync([Buffer.from('abcdef')], 0);
      file.truncateSync(2);
      file.truncateSync(4);
      assert.equal(text(file), 'ab\0\0');
      file.syncSync();
      file.closeSync();
    });

    test('sync ends when the data is on the device', async () => {
      const { fileSystem, directory } = create();
      const file = fileSystem.openSync(`${directory}/f`, 'readWrite');
      file.writeSync([Buffer.from('abc')], 0);
      await file.sync();
      fileSystem.syncDirectorySync(directory);
      await fileSystem.syncDirectory(directory);
      file.closeSync();
    });

    test('stat and list tell what is there', () => {
      const { fileSystem, directory } = create();
      assert.deepEqual(fileSystem.listSync(directory), []);
      fileSystem.makeDirectorySync(`${directory}/b/c/d`);
      fileSystem.makeDirectorySync(`${directory}/b/c`);
      fileSystem.replaceFileSync(`${directory}/a`, 'four');
      fileSystem.replaceFileSync(`${directory}/B`, 'x');
      assert.deepEqual(fileSystem.listSync(directory), ['B', 'a', 'b']);
      const { modifiedMs, ...file } = fileSystem.statSync(`${directory}/a`)!;
      assert.deepEqual(file, { isDirectory: false, size: 4 });
      assert.ok(Number.isInteger(modifiedMs));
      for (const each of [1_700_000_000_001, 1_700_000_000_999]) {
        fileSystem.setModifiedSync(`${directory}/a`, each);
        assert.equal(fileSystem.statSync(`${directory}/a`)?.modifiedMs, each);
      }
      assert.deepEqual({ ...fileSystem.statSync(`${directory}/b`), modifiedMs: 0 }, { isDirectory: true, size: 0, modifiedMs: 0 });
      assert.equal(fileSystem.statSync(`${directory}/absent`), undefined);
      assert.equal(fileSystem.statSync(`${directory}/absent/below`), undefined);
      assert.throws(() => fileSystem.listSync(`${directory}/absent`), { code: 'ENOENT' });
      assert.throws(() => fileSystem.listSync(`${directory}/a`), { code: 'ENOTDIR' });
      assert.throws(() => fileSystem.readFileSync(`${directory}/absent`), { code: 'ENOENT' });
      assert.throws(() => fileSystem.makeDirectorySync(`${directory}/a`), { code: 'EEXIST' });
    });

    test('replaceFile replaces whole, in order, and leaves nothing beside it', async () => {
      const { fileSystem, directory } = create();
      const path = `${directory}/f`;
      fileSystem.replaceFileSync(path, 'first, which is long');
      assert.equal(fileSystem.readFileSync(path).toString(), 'first, which is long');
      const replacements = Array.from({ length: 10 }, (_, index) => fileSystem.replaceFile(path, Buffer.from(`number ${index}`)));
      await Promise.all(replacements);
      assert.equal(fileSystem.readFileSync(path).toString(), 'number 9');
      assert.deepEqual(fileSystem.listSync(directory), ['f']);
      assert.throws(() => fileSystem.replaceFileSync(`${directory}/absent/f`, ''), { code: 'ENOENT' });
      await fileSystem.replaceFile(path, 'not wanted any more', () => false);
      assert.equal(fileSystem.readFileSync(path).toString(), 'number 9');
      await fileSystem.replaceFile(path, 'wanted', () => true);
      assert.equal(fileSystem.readFileSync(path).toString(), 'wanted');
      assert.deepEqual(fileSystem.listSync(directory), ['f']);
      const failed = fileSystem.replaceFile(`${directory}/absent/f`, '');
      await assert.rejects(failed, { code: 'ENOENT' });
    });

    test('rename moves a file over another, or a directory with what is in it; open files stay open', () => {
      const { fileSystem, directory } = create();
      const file = fileSystem.openSync(`${directory}/old`, 'readWrite');
      file.writeSync([Buffer.from('kept')], 0);
      fileSystem.replaceFileSync(`${directory}/new`, 'replaced');
      fileSystem.renameSync(`${directory}/old`, `${directory}/new`);
      file.writeSync([Buffer.from('!')], 4);
      file.closeSync();
      assert.equal(fileSystem.readFileSync(`${directory}/new`).toString(), 'kept!');
      fileSystem.makeDirectorySync(`${directory}/topic-0`);
      fileSystem.renameSync(`${directory}/new`, `${directory}/topic-0/log`);
      fileSystem.renameSync(`${directory}/topic-0`, `${directory}/topic-0-delete`);
      assert.equal(fileSystem.readFileSync(`${directory}/topic-0-delete/log`).toString(), 'kept!');
      assert.deepEqual(fileSystem.listSync(directory), ['topic-0-delete']);
      assert.throws(() => fileSystem.renameSync(`${directory}/absent`, `${directory}/x`), { code: 'ENOENT' });
    });

    test('remove takes a directory with all that is in it, and does nothing where there is nothing', async () => {
      const { fileSystem, directory } = create();
      fileSystem.makeDirectorySync(`${directory}/a/b`);
      fileSystem.replaceFileSync(`${directory}/a/b/f`, 'x');
      fileSystem.removeSync(`${directory}/a/b`);
      assert.deepEqual(fileSystem.listSync(`${directory}/a`), []);
      fileSystem.replaceFileSync(`${directory}/a/f`, 'x');
      fileSystem.removeSync(`${directory}/a/f`);
      await fileSystem.remove(`${directory}/a`);
      assert.deepEqual(fileSystem.listSync(directory), []);
      fileSystem.removeSync(`${directory}/a`);
      await fileSystem.remove(`${directory}/a`);
    });

    test('an open file that was removed can still be read', () => {
      const { fileSystem, directory } = create();
      const file = fileSystem.openSync(`${directory}/f`, 'readWrite');
      file.writeSync([Buffer.from('still here')], 0);
      fileSystem.removeSync(`${directory}/f`);
      assert.equal(text(file), 'still here');
      file.closeSync();
      assert.equal(fileSystem.statSync(`${directory}/f`), undefined);
    });

    test('a volume has bytes in all and bytes to use', () => {
      const { fileSystem, directory } = create();
      const { totalBytes, usableBytes } = fileSystem.volumeSync(directory);
      assert.ok(totalBytes >= usableBytes && usableBytes > 0);
    });

    test('a directory is locked once, until it is released; the lock is an empty file', () => {
      const { fileSystem, directory } = create();
      const lock = fileSystem.lockDirectorySync(directory);
      assert.throws(
        () => fileSystem.lockDirectorySync(`${directory}/`),
        (error: Error) => error.message.includes(directory),
      );
      assert.deepEqual(fileSystem.listSync(directory), ['.lock']);
      assert.equal(fileSystem.statSync(`${directory}/.lock`)?.size, 0);
      lock.release();
      const second = fileSystem.lockDirectorySync(directory);
      lock.release();
      assert.throws(() => fileSystem.lockDirectorySync(directory), /is locked/);
      second.release();
    });
  });
}
