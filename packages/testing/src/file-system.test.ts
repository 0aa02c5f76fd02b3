import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { NodeFileSystem } from '@odradek/runtime';
import { fileSystemContract } from './file-system.contract.ts';
import { SimulatedDisk } from './simulated-disk.ts';

const temporary = mkdtempSync(join(tmpdir(), 'odradek-files-'));
after(() => rmSync(temporary, { recursive: true, force: true }));

fileSystemContract('node', () => ({ fileSystem: new NodeFileSystem(), directory: mkdtempSync(join(temporary, 'case-')) }));

fileSystemContract('simulated', () => {
  const fileSystem = new SimulatedDisk();
  fileSystem.makeDirectorySync('/data');
  return { fileSystem, directory: '/data' };
});

test('making a directory where none can be made ends with the error of the system', () => {
  const fileSystem = new NodeFileSystem();
  symlinkSync('nowhere', join(temporary, 'dangling'));
  assert.throws(() => fileSystem.makeDirectorySync(join(temporary, 'dangling')), { code: 'EEXIST' });
  if (existsSync('/proc/self')) assert.throws(() => fileSystem.makeDirectorySync('/proc/data/0'), { code: 'ENOENT' });
});
