import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type CommandResult, freePort, runCommand } from '@odradek/testing';

const main = fileURLToPath(new URL('main.ts', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'odradek-test-'));
after(() => rmSync(directory, { recursive: true, force: true }));

function odradek(...args: string[]): Promise<CommandResult> {
  return runCommand(process.execPath, ['--conditions=odradek-source', main, ...args], { mayFail: true, cwd: directory });
}

function propertiesFile(name: string, properties: Readonly<Record<string, string | number>>): string {
  const path = join(directory, name);
  writeFileSync(
    path,
    Object.entries(properties)
      .map(([key, value]) => `${key}=${value}\n`)
      .join(''),
  );
  return path;
}

test('--version tells the version, --help the commands', async () => {
  const version = await odradek('--version');
  assert.equal(version.exitCode, 0);
  assert.match(version.stdout.toString(), /^odradek \d+\.\d+\.\d+ \(node 24\./);
  const help = await odradek('--help');
  assert.equal(help.exitCode, 0);
  assert.match(help.stdout.toString(), /start \[options\] \[file\]/);
});

for (const { name, args, expected } of [
  { name: 'no command', args: [], expected: /Usage: odradek/ },
  { name: 'an unknown command', args: ['strat'], expected: /unknown command 'strat'/ },
  { name: 'an unknown option', args: ['start', '--daemon'], expected: /unknown option '--daemon'/ },
  { name: 'two files', args: ['start', 'a', 'b'], expected: /too many arguments/ },
  { name: 'an override without a value', args: ['start', '--override'], expected: /argument missing/ },
  { name: 'a cluster of nobody', args: ['cluster', '--brokers', '0'], expected: /from 1 to 100/ },
]) {
  test(`${name} is a mistake, and help is near`, async () => {
    const { exitCode, stderr } = await odradek(...args);
    assert.equal(exitCode, 1);
    assert.match(stderr, expected);
  });
}

for (const { name, args, expected } of [
  { name: 'a file that is not there', args: ['nowhere.properties'], expected: /nowhere\.properties cannot be read/ },
  { name: 'a setting in place of a file', args: ['log.dirs=./x'], expected: /cannot be read: .* with --override log\.dirs=\.\/x/ },
  { name: 'an override that is none', args: ['--override', 'broker.id'], expected: /key=value/ },
  { name: 'a bad value', args: ['--override', 'num.partitions=none'], expected: /num\.partitions/ },
  {
    name: 'a listener with TLS',
    args: ['--override', 'listeners=SSL://:9093', '--override', 'security.inter.broker.protocol=SSL'],
    expected: /SSL/,
  },
]) {
  test(`start with ${name} fails with one clear line`, async () => {
    const { exitCode, stdout, stderr } = await odradek('start', ...args);
    assert.equal(exitCode, 1);
    assert.match(stderr, expected);
    assert.match(stderr, /^odradek: [^\n]*\n$/);
    assert.equal(stdout.toString(), '');
  });
}

test('the published command says so where nothing has been built', async () => {
  mkdirSync(join(directory, 'unbuilt', 'bin'), { recursive: true });
  const copy = join(directory, 'unbuilt', 'bin', 'odradek.mjs');
  copyFileSync(new URL('../bin/odradek.js', import.meta.url), copy);
  const { exitCode, stderr } = await runCommand(process.execPath, [copy, 'start'], { mayFail: true });
  assert.equal(exitCode, 1);
  assert.match(stderr, /^odradek: this is a clone that has not been built; [^\n]*\n$/);
});

test('a cluster keeps away from the data of a single broker', async () => {
  mkdirSync(join(directory, 'single'));
  writeFileSync(join(directory, 'single', 'meta.properties'), 'version=0\nbroker.id=0\n');
  const { exitCode, stderr } = await odradek('cluster', '--override', `log.dirs=${join(directory, 'single')}`);
  assert.equal(exitCode, 1);
  assert.match(stderr, /^odradek: [^\n]*single holds the data of a single broker[^\n]*\n$/);
});

test('a single broker keeps away from the data of a cluster', async () => {
  mkdirSync(join(directory, 'several', 'coordination'), { recursive: true });
  const { exitCode, stderr } = await odradek('start', '--override', 'log.dirs=several');
  assert.equal(exitCode, 1);
  assert.match(stderr, /^odradek: several holds the data of a cluster: [^\n]*\n$/);
});

test('start on a port that is taken says so in one line', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const listeners = `listeners=PLAINTEXT://127.0.0.1:${port}`;
  const { exitCode, stderr } = await odradek(
    'start',
    '--override',
    listeners,
    '--override',
    `log.dirs=${join(directory, 'taken')}`,
  );
  server.close();
  assert.equal(exitCode, 1);
  assert.match(
    stderr,
    /^odradek: The listener PLAINTEXT:\/\/127\.0\.0\.1:\d+ cannot be opened: another program listens there \([^\n]*EADDRINUSE[^\n]*\n$/,
  );
});

test('start takes a file, then overrides; a signal stops it in order', async () => {
  const [port, overridden] = [await freePort(), await freePort()];
  const file = propertiesFile('server.properties', {
    listeners: `PLAINTEXT://127.0.0.1:${port}`,
    'log.dirs': join(directory, 'data'),
    'broker.id': 3,
  });
  for (const [signal, format] of [
    ['SIGTERM', 'text'],
    ['SIGINT', 'json'],
  ] as const) {
    const args = ['--conditions=odradek-source', main, 'start', file, `--override=listeners=PLAINTEXT://127.0.0.1:${overridden}`];
    const child = spawn(process.execPath, args, { env: { ...process.env, ODRADEK_LOG_FORMAT: format } });
    let output = '';
    const ready = new Promise<void>((resolve) => {
      child.stdout.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        if (output.includes('is ready')) resolve();
      });
    });
    await ready;
    assert.match(output, new RegExp(`127\\.0\\.0\\.1:${overridden}`));
    child.kill(signal);
    const [exitCode] = (await once(child, 'close')) as [number | null];
    assert.equal(exitCode, 0, output);
    assert.match(output, /Stopped/);
    const lines = output.trim().split('\n');
    if (format === 'json') for (const line of lines) assert.doesNotThrow(() => JSON.parse(line), line);
    else assert.match(lines[0] ?? '', /^\d{4}-\d\d-\d\d /);
  }
});

/** Odradek as it runs in the foreground; `heard` settles when it has said that. */
function foreground(...overrides: readonly string[]) {
  const settings = ['listeners=PLAINTEXT://127.0.0.1:0', ...overrides].flatMap((setting) => ['--override', setting]);
  const child = spawn(process.execPath, ['--conditions=odradek-source', main, 'start', ...settings], { cwd: directory });
  let output = '';
  const heard = (text: string): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (output.includes(text)) resolve();
      };
      child.stdout.on('data', look);
      look();
    });
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const ended = once(child, 'close').then(([exitCode]) => exitCode as number | null);
  return { child, heard, ended };
}

test('a signal that comes twice, as npm makes it at Ctrl-C, is one wish to stop', async () => {
  const { child, heard, ended } = foreground('log.dirs=twice');
  await heard('is ready');
  child.kill('SIGINT');
  await heard('Stopping');
  child.kill('SIGINT');
  assert.equal(await ended, 0);
  assert.ok(existsSync(join(directory, 'twice', '.kafka_cleanshutdown')));
});

test('a broker that has no terminal goes on when one is closed, as nohup wants it', async () => {
  const { child, heard, ended } = foreground('log.dirs=hangup');
  await heard('is ready');
  child.kill('SIGHUP');
  child.kill('SIGTERM');
  assert.equal(await ended, 0);
});
