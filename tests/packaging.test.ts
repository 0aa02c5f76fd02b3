// What a user gets: the packages as they would be published, installed by npm into an empty folder, and the command run from there.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ApiVersionsRequest, ApiVersionsResponse } from '@odradek/protocol';
import { freePort, RawClient, runCommand, until } from '@odradek/testing';

const repository = dirname(dirname(fileURLToPath(import.meta.url)));

describe('the published packages', () => {
  let folder = '';
  let tarballs: string[] = [];

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'odradek-packages-'));
    const packages = readdirSync(join(repository, 'packages')).filter((name) => !manifestOf(name).private);
    const workspaces = packages.map((name) => `--workspace=packages/${name}`);
    await npm(repository, ['pack', '--pack-destination', folder, ...workspaces]);
    tarballs = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
    assert.equal(tarballs.length, packages.length);
    writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
    await npm(folder, ['install', '--no-audit', '--no-fund', '--prefer-offline', ...tarballs.map((tarball) => `./${tarball}`)]);
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  test('hold what is needed to run, and neither sources nor tests', async () => {
    for (const tarball of tarballs) {
      const { stdout } = await runCommand('tar', ['-tzf', join(folder, tarball)]);
      const files = stdout.toString().trim().split('\n');
      assert.ok(files.includes('package/package.json') && files.includes('package/LICENSE'), tarball);
      assert.ok(files.includes('package/dist/index.js') && files.includes('package/dist/index.d.ts'), tarball);
      const strange = files.filter((file) => !/^package\/(package\.json|LICENSE|(dist|bin)\/.*\.(js|d\.ts|js\.map))$/.test(file));
      assert.deepEqual(
        strange.filter((file) => !file.endsWith('.md')),
        [],
      );
      assert.deepEqual(
        files.filter((file) => /\.(test|contract|fixture)\./.test(file)),
        [],
      );
    }
  });

  test('can each be imported by name', async () => {
    const names = tarballs.map((tarball) => tarball.replace(/-\d+\.\d+\.\d+.*$/, '').replace(/^odradek-/, '@odradek/'));
    const script = names
      .map((name) => `if (Object.keys(await import('${name}')).length === 0) throw new Error('${name} is empty');`)
      .join('\n');
    await runCommand(process.execPath, ['--input-type=module', '-e', script], { cwd: folder });
  });

  test('`npx odradek --version` says its version', async () => {
    const { stdout } = await npm(folder, ['exec', '--', 'odradek', '--version']);
    assert.match(stdout.toString(), new RegExp(`^odradek ${manifestOf('cli').version.replaceAll('.', '\\.')}\\b`));
  });

  test('`npx odradek start` brings up a broker, and SIGTERM stops it', async () => {
    const port = await freePort();
    const overrides = [`listeners=PLAINTEXT://127.0.0.1:${port}`, 'log.dirs=data'].flatMap((setting) => ['--override', setting]);
    const odradek = spawn(process.execPath, [join('node_modules', '.bin', 'odradek'), 'start', ...overrides], { cwd: folder });
    const exited = once(odradek, 'exit');
    let output = '';
    for (const stream of [odradek.stdout, odradek.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
      });
    }
    try {
      await until('the broker says that it is ready', () => {
        assert.equal(odradek.exitCode, null, output);
        return output.includes(`ready at 127.0.0.1:${port}`);
      });
      await using client = await RawClient.connect({ port });
      const { errorCode } = await client.send(ApiVersionsRequest, ApiVersionsResponse, 0, {});
      assert.equal(errorCode, 0);
      odradek.kill('SIGTERM');
      assert.deepEqual(await exited, [0, null], output);
    } finally {
      odradek.kill('SIGKILL');
    }
  });
});

function manifestOf(name: string): { readonly private?: boolean; readonly version: string } {
  return JSON.parse(readFileSync(join(repository, 'packages', name, 'package.json'), 'utf8'));
}

/** Runs npm as a user would, without what the npm that runs these tests has put into the environment. */
function npm(cwd: string, args: readonly string[]): ReturnType<typeof runCommand> {
  const unset = Object.keys(process.env).filter(
    (name) => /^npm_(config_|lifecycle_|package_)/.test(name) && name !== 'npm_config_registry',
  );
  return runCommand('env', [...unset.map((name) => `--unset=${name}`), 'npm', ...args], { cwd, timeoutMs: 300_000 });
}
