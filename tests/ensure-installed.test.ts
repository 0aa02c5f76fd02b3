// bin/ensure-installed.mjs, in small repositories of its own and with an npm that only says that it was called.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('../bin/ensure-installed.mjs', import.meta.url));
const temporary = mkdtempSync(join(tmpdir(), 'odradek-installed-'));
after(() => rmSync(temporary, { recursive: true, force: true }));

interface Entry {
  readonly version: string;
  readonly integrity?: string;
  readonly optional?: boolean;
}

interface Installation {
  readonly name: string;
  readonly wanted: Readonly<Record<string, Entry>>;
  /** What npm last said it installed; undefined before the first time. */
  readonly installed?: Readonly<Record<string, Entry>>;
  /** Installed packages whose folders someone removed. */
  readonly removed?: readonly string[];
  /** What the Node among the packages says of itself; undefined when there is none. */
  readonly packagedNode?: string;
  readonly npmFails?: boolean;
  readonly says: RegExp;
  readonly status: number;
}

const left = { version: '1.3.0', integrity: 'sha512-a' };

const cases: readonly Installation[] = [
  { name: 'says nothing when all is there', wanted: { left }, installed: { left }, says: /^$/, status: 0 },
  {
    name: 'installs on a fresh clone',
    wanted: { left },
    says: /^Installing .*nothing is installed yet.*\nnpm ci --no-audit/,
    status: 0,
  },
  {
    name: 'installs when a package is missing',
    wanted: { left, right: left },
    installed: { left },
    says: /right is missing.*\nnpm ci/,
    status: 0,
  },
  {
    name: 'installs when the folder of a package is gone',
    wanted: { left },
    installed: { left },
    removed: ['left'],
    says: /left is missing.*\nnpm ci/,
    status: 0,
  },
  {
    name: 'installs when the lockfile names another version',
    wanted: { left: { ...left, version: '1.4.0' } },
    installed: { left },
    says: /left is 1\.3\.0 and should be 1\.4\.0.*\nnpm ci/,
    status: 0,
  },
  {
    name: 'does not miss packages for other machines',
    wanted: { left, elsewhere: { version: '1.0.0', optional: true } },
    installed: { left },
    says: /^$/,
    status: 0,
  },
  {
    name: 'says what to do when npm fails',
    wanted: { left },
    npmFails: true,
    says: /npm ci failed.*\n.*npm ping.*\n.*npm config set registry/,
    status: 1,
  },
  {
    name: 'says which Node is needed where the one among the packages is old',
    wanted: { left },
    installed: { left },
    packagedNode: '20.1.0',
    says: /needs Node 24 or newer, and `node` is 20\.1\.0 here/,
    status: 1,
  },
  {
    name: 'takes the Node among the packages',
    wanted: { left },
    installed: { left },
    packagedNode: '24.0.0',
    says: /^$/,
    status: 0,
  },
];

for (const installation of cases) {
  test(installation.name, () => {
    const root = mkdtempSync(join(temporary, 'case-'));
    const npm = lay(root, installation);
    const env = { ...process.env, npm_execpath: npm };
    const { stdout, stderr, status } = spawnSync(process.execPath, [join(root, 'bin', 'ensure-installed.mjs')], {
      env,
      encoding: 'utf8',
    });
    assert.match(stdout + stderr, installation.says);
    assert.equal(status, installation.status);
  });
}

/** Makes the small repository; returns the path of its npm. */
function lay(root: string, { wanted, installed, removed = [], packagedNode, npmFails }: Installation): string {
  mkdirSync(join(root, 'bin'));
  copyFileSync(script, join(root, 'bin', 'ensure-installed.mjs'));
  writeFileSync(join(root, 'package-lock.json'), lockfile(wanted));
  if (installed !== undefined) {
    for (const name of Object.keys(installed).filter((name) => !removed.includes(name))) {
      mkdirSync(join(root, 'node_modules', name), { recursive: true });
    }
    mkdirSync(join(root, 'node_modules', '.bin'), { recursive: true });
    writeFileSync(join(root, 'node_modules', '.package-lock.json'), lockfile(installed));
  }
  if (packagedNode !== undefined) {
    const path = join(root, 'node_modules', '.bin', 'node');
    writeFileSync(path, `#!/bin/sh\necho ${packagedNode}\n`);
    chmodSync(path, 0o755);
  }
  const npm = join(root, 'npm.mjs');
  writeFileSync(npm, `console.log('npm', ...process.argv.slice(2)); process.exit(${npmFails === true ? 1 : 0});`);
  return npm;
}

function lockfile(packages: Readonly<Record<string, Entry>>): string {
  return JSON.stringify({
    packages: Object.fromEntries(Object.entries(packages).map(([name, entry]) => [`node_modules/${name}`, entry])),
  });
}
