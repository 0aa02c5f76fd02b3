// bin/kafka-server-start.sh and bin/kafka-server-stop.sh, under the names and with the words of Kafka's. What runs on this machine is made
// up, by a `ps` that comes before the system's: no broker of anybody else is stopped.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type CommandResult, runCommand } from '@odradek/testing';

const bin = fileURLToPath(new URL('../bin', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'odradek-test-'));
after(() => rmSync(directory, { recursive: true, force: true }));
writeFileSync(join(directory, 'two.properties'), 'broker.id = 2\n');

function script(name: string, ...args: readonly string[]): Promise<CommandResult> {
  const env = { PATH: `${directory}:${process.env['PATH']}` };
  return runCommand(join(bin, name), args, { mayFail: true, cwd: directory, env });
}

/** Processes that end when they are asked to, and seem to be started with these arguments. */
function pretend(...commands: readonly string[]): ChildProcess[] {
  const children = commands.map(() => spawn(process.execPath, ['-e', 'process.stdin.resume()'], { cwd: directory }));
  const lines = commands.map((command, index) => `echo '  ${children[index]?.pid} ${command}'`);
  writeFileSync(join(directory, 'ps'), `#!/bin/sh\n${lines.join('\n')}\n`);
  chmodSync(join(directory, 'ps'), 0o755);
  return children;
}

const main = 'node --conditions=odradek-source packages/cli/src/main.ts';
const commands = [
  `${main} start`,
  `${main} start ${directory}/two.properties`,
  `${main} start two.properties --override log.dirs=x --override node.id=3`,
  'node /usr/lib/node_modules/odradek/bin/odradek.js cluster --brokers 3',
];

for (const { args, stopped } of [
  { args: [], stopped: [0, 1, 2, 3] },
  { args: ['--process-role=broker', '--node-id=2'], stopped: [1] },
  { args: ['--node-id=3'], stopped: [2] },
]) {
  test(`stop ${args.join(' ')} stops ${stopped.length} of four`, async () => {
    const children = pretend(...commands, `${main} dump-log start`);
    try {
      const ends = stopped.map((index) => once(children[index] as ChildProcess, 'exit'));
      assert.equal((await script('kafka-server-stop.sh', ...args)).exitCode, 0);
      for (const [, signal] of await Promise.all(ends)) assert.equal(signal, 'SIGTERM');
      const left = children.filter((_, index) => !stopped.includes(index));
      assert.ok(left.every(({ signalCode }) => signalCode === null));
    } finally {
      for (const child of children) child.kill('SIGKILL');
    }
  });
}

test('stop says when there is nothing to stop, and stops nothing at words that it does not know', async () => {
  const [child] = pretend(`${main} start`);
  for (const args of [['--node-id=7'], ['--process-role=controller']]) {
    const { exitCode, stdout } = await script('kafka-server-stop.sh', ...args);
    assert.deepEqual([exitCode, stdout.toString()], [1, 'No kafka server to stop\n']);
  }
  const { exitCode, stderr } = await script('kafka-server-stop.sh', '--node-id', '0');
  assert.equal(exitCode, 1);
  assert.match(stderr, /^USAGE: /);
  assert.equal(child?.signalCode, null);
  child?.kill('SIGKILL');
});

test('start needs a file, in the background too', async () => {
  for (const args of [[], ['-daemon']]) {
    const { exitCode, stderr } = await script('kafka-server-start.sh', ...args);
    assert.equal(exitCode, 1);
    assert.match(stderr, /^USAGE: .*kafka-server-start\.sh \[-daemon\] server\.properties/);
  }
});
