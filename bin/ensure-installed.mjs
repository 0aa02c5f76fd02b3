// Runs before `npm start` and `npm test`, so that a fresh clone needs nothing else: installs what package-lock.json lists if any of
// it is missing, then makes sure that the scripts will run on Node 24. Plain JavaScript without dependencies, for Node 20 and newer.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const neededNodeVersion = 24;

const reason = reasonToInstall();
if (reason !== undefined) {
  install(reason);
}
checkNodeVersion();

/** Why `npm ci` must run, or undefined when what is installed is what the lockfile says. */
function reasonToInstall() {
  const wanted = readPackages('package-lock.json');
  if (!existsSync(join(root, 'node_modules', '.package-lock.json'))) {
    return 'nothing is installed yet';
  }
  const installed = readPackages(join('node_modules', '.package-lock.json'));
  for (const [path, entry] of Object.entries(wanted)) {
    if (!path.includes('node_modules/')) {
      continue; // The workspace's own packages are linked, and so are listed once more below node_modules.
    }
    const found = installed[path];
    if (found === undefined || !existsSync(join(root, path))) {
      if (entry.optional) {
        continue; // For another system or processor, most likely. Whether the Node among them is here is checked below.
      }
      return `${nameOf(path)} is missing`;
    }
    if (found.version !== entry.version || found.integrity !== entry.integrity) {
      return `${nameOf(path)} is ${found.version ?? 'another one'} and should be ${entry.version ?? 'another one'}`;
    }
  }
  return undefined;
}

function readPackages(lockfile) {
  return JSON.parse(readFileSync(join(root, lockfile), 'utf8')).packages;
}

function nameOf(path) {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

function install(why) {
  console.log(
    `Installing the packages that package-lock.json lists (npm ci), because ${why}. This needs a package registry, once.`,
  );
  const npm = process.env.npm_execpath === undefined ? ['npm'] : [process.execPath, process.env.npm_execpath];
  const args = [...npm.slice(1), 'ci', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status, error } = spawnSync(npm[0], args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) {
    fail([
      `npm ci failed${error === undefined ? '' : ` (${error.message})`}; what it said stands above.`,
      'Odradek needs its packages once. `npm ping` tells whether the registry can be reached from here;',
      'behind a proxy or with a mirror, set it with `npm config set registry ADDRESS` (or `proxy`), then try again.',
    ]);
  }
}

function checkNodeVersion() {
  // npm puts node_modules/.bin before everything else on the PATH of a script.
  const packaged = join(root, 'node_modules', '.bin', 'node');
  let version = process.versions.node;
  if (existsSync(packaged) && packaged !== process.execPath) {
    try {
      version = execFileSync(packaged, ['-p', 'process.versions.node'], { encoding: 'utf8' }).trim();
    } catch (error) {
      fail([`The Node in node_modules does not run on this machine (${error.message.split('\n')[0]}).`, ...howToGetNode()]);
    }
  }
  if (Number.parseInt(version, 10) < neededNodeVersion) {
    fail([`Odradek needs Node ${neededNodeVersion} or newer, and \`node\` is ${version} here.`, ...howToGetNode()]);
  }
}

function howToGetNode() {
  return [
    'On Linux with an x64 or arm64 processor it is an optional dependency: `npm ci --include=optional` brings it.',
    `Elsewhere, install Node ${neededNodeVersion} and put it first on the PATH.`,
  ];
}

function fail(lines) {
  console.error(`\n${lines.join('\n')}`);
  process.exit(1);
}
