import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
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
