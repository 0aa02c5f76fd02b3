// The command on directories that brokers of Apache Kafka left behind: in order, killed, damaged, and in use.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { NodeFileSystem } from '@odradek/runtime';
import { verifyLogDirectories } from '@odradek/storage';
import { type CommandResult, goldenDirectory, readArchive, runCommand, unpack } from '@odradek/testing';

const golden = goldenDirectory();
const main = fileURLToPath(new URL('../main.ts', import.meta.url));
const made: string[] = [];

function unpacked(name: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'odradek-verify-'));
  made.push(directory);
  unpack(readArchive(join(golden!, `log/${name}.tar.gz`)), directory);
  return directory;
}

function verify(...args: string[]): Promise<CommandResult> {
  return runCommand(process.execPath, ['--conditions=odradek-source', main, 'storage', 'verify', ...args], { mayFail: true });
}

function flip(path: string, position: number): void {
  const bytes = readFileSync(path);
  bytes[position]! ^= 1;
  writeFileSync(path, bytes);
}

describe('storage verify', { skip: golden === undefined && 'the golden facts are absent' }, () => {
  after(() => {
    for (const directory of made) rmSync(directory, { recursive: true });
  });

  for (const name of [
    'kafka-3.9-zk-clean',
    'kafka-3.9-zk-oldformat',
    'kafka-3.9-zk-killed',
    'kafka-4.4-kraft-clean',
    'kafka-4.4-kraft-killed',
  ]) {
    test(`there is nothing against ${name}`, () => {
      const { logs, findings } = verifyLogDirectories({ fileSystem: new NodeFileSystem(), directories: [unpacked(name)] });
      assert.deepEqual(findings, []);
      assert.ok(logs >= 4);
    });
  }

  test('names the file, the position and the rule, a line each; the directories may come from a properties file', async () => {
    const directory = unpacked('kafka-3.9-zk-clean');
    flip(join(directory, 'segs-0/00000000000000000061.log'), 80);
    flip(join(directory, 'txns-0/00000000000000000005.txnindex'), 9);
    const properties = join(directory, 'server.properties');
    writeFileSync(properties, `log.dirs=${directory}\n`);
    const { stdout, exitCode } = await verify(properties);
    const lines = stdout.toString().trimEnd().split('\n');
    assert.equal(exitCode, 1);
    assert.match(lines[0]!, /segs-0\/00000000000000000061\.log:0: batch-crc: /);
    assert.match(lines[1]!, /txns-0\/00000000000000000005\.txnindex:0: transaction-index: /);
    assert.match(lines[2]!, /: 2 findings, 0 of which the next start mends$/);
    assert.equal(lines.length, 3);

    const alone = await verify('--data-dir', directory, '--topic', 'txns', '--json');
    const [finding, summary] = alone.stdout
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual([finding.rule, finding.position, finding.isMended], ['transaction-index', 0, false]);
    assert.deepEqual(summary, { directories: [directory], logs: 1, segments: 2, batches: 20, findings: 1, mended: 0 });
    assert.equal(alone.exitCode, 1);
    const other = await verify('--data-dir', directory, '--topic', 'codecs');
    assert.match(other.stdout.toString(), /^1 logs, 1 segments, 5 batches: nothing was found\n$/);
    assert.deepEqual([other.stderr, other.exitCode], ['', 0]);
    const none = await verify('--data-dir', directory, '--topic', 'codec');
    assert.match(none.stderr, /^odradek: there is no log of codec in .*\n$/);
    assert.equal(none.exitCode, 1);
  });

  test('ends without a word when nobody reads on', async () => {
    const directory = unpacked('kafka-3.9-zk-clean');
    const args = ['--conditions=odradek-source', main, 'storage', 'verify', '--data-dir', directory];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.destroy();
    const said = await child.stderr.setEncoding('utf8').toArray();
    assert.equal(said.join(''), '');
  });

  test('says what the next start mends', async () => {
    const directory = unpacked('kafka-3.9-zk-killed');
    const path = join(directory, 'codecs-0/00000000000000000000.log');
    writeFileSync(path, readFileSync(path).subarray(0, -5));
    const { stdout, exitCode } = await verify('--data-dir', directory);
    const [torn] = stdout.toString().split('\n');
    assert.match(torn!, /codecs-0\/00000000000000000000\.log:\d+: batch-size: .* \(mended\)$/);
    assert.equal(exitCode, 1);
  });

  test('looks at no directory that a broker is using', async () => {
    const directory = unpacked('kafka-3.9-zk-clean');
    const lock = new NodeFileSystem().lockDirectorySync(directory);
    const { stdout, stderr, exitCode } = await verify('--data-dir', directory);
    lock.release();
    assert.deepEqual([stdout.toString(), exitCode], ['', 1]);
    assert.match(stderr, /^odradek: The directory .* is locked: another broker .*\n$/);
  });

  for (const [what, args] of [
    ['a directory', ['--data-dir', '/nowhere']],
    ['a properties file', ['/nowhere.properties']],
  ] as const) {
    test(`says that ${what} is not there`, async () => {
      const { stdout, stderr, exitCode } = await verify(...args);
      assert.deepEqual([stdout.toString(), exitCode], ['', 1]);
      assert.match(stderr, /^odradek: ENOENT.*\/nowhere.*\n$/);
    });
  }
});
