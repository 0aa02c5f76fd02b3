// The rules that no compiler knows: who may import whom, where the outside world may be touched, what must be on the map. The rules
// themselves are in tidy/rules.ts; each is first shown a small tree that breaks it.

import assert from 'node:assert/strict';
import { homedir, tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { longestFiles, longestFunctions } from './tidy/longest.ts';
import {
  allowedImports,
  codeFromStringsIsMadeInOnePlace,
  everyFileIsUsed,
  everyFolderIsOnTheMap,
  everyMessageHasAHandler,
  foldersHaveNoCycles,
  importsAreDependencies,
  importsFollowTheTable,
  nothingIsOfThisMachine,
  type Rule,
  theWorldComesThroughConstructors,
} from './tidy/rules.ts';
import { readTree, treeOf } from './tidy/source-tree.ts';
import { unservedMessages } from './tidy/unserved-messages.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const tree = readTree(root);

/** Directories of this machine, unless they are of every machine; and the host that npm's lockfile must not name. */
const placesOfThisMachine = [dirname(root), homedir()]
  .filter((path) => path !== '/' && path !== tmpdir())
  .map((path) => `${path}/`)
  .concat(['registry', 'npmjs', 'org'].join('.'));

const architecture = `
| \`low\` | Below. | — |
| \`high\` | Above. | low, side/part |
| \`side\` | Beside. | — |
| \`testing\` | Beside. | all |
`;

interface RuleCase {
  readonly name: string;
  readonly rule: Rule;
  /** Small trees that break the rule, and what it then says. */
  readonly broken: readonly { readonly files: Readonly<Record<string, string>>; readonly says: RegExp }[];
}

const rules: readonly RuleCase[] = [
  {
    name: 'a package imports only what ARCHITECTURE.md allows, and only by its index',
    rule: importsFollowTheTable,
    broken: [
      { files: { 'packages/low/src/a.ts': `import { x } from '@odradek/high';` }, says: /low\/src\/a\.ts: imports high, which/ },
      {
        files: { 'packages/high/src/a.ts': `import type {\n  x,\n} from '@odradek/low/src/b.ts';` },
        says: /imports @odradek\/low\/src\/b\.ts past/,
      },
      {
        files: {
          'packages/high/src/a.ts': `import { x } from '@odradek/side';\nimport { y } from '@odradek/side/part';`,
          'packages/side/package.json': '{ "exports": { "./part": "./src/part/index.ts" } }',
        },
        says: /imports side, which/,
      },
      {
        files: { 'tests/a.test.ts': `const x = await import('../packages/low/src/b.ts');` },
        says: /tests\/a\.test\.ts: reaches into packages\/low\/src\/b\.ts/,
      },
    ],
  },
  {
    name: 'a package names what it imports among its dependencies',
    rule: importsAreDependencies,
    broken: [
      {
        files: {
          'packages/low/src/a.ts': `export { x } from '@scope/strange/deep';`,
          'packages/low/package.json': '{ "dependencies": {} }',
        },
        says: /imports @scope\/strange, which/,
      },
    ],
  },
  {
    name: 'folders do not need each other in a circle',
    rule: foldersHaveNoCycles,
    broken: [
      {
        files: {
          'packages/low/src/one/a.ts': `import { b } from '../two/b.ts';`,
          'packages/low/src/two/b.ts': `import { c } from '../c.ts';`,
          'packages/low/src/c.ts': `import { d } from './one/d.ts';`,
        },
        says: /circle: low\/one -> low\/two -> low\/c\.ts\n.*one\/a\.ts imports .*two\/b\.ts/,
      },
    ],
  },
  {
    name: 'clock, timers, chance, disk, network and console are reached through the World',
    rule: theWorldComesThroughConstructors,
    broken: [
      {
        files: { 'packages/low/src/a.ts': `// Date.now() in a comment\nconst s = 'Math.random';\nconst now = Date.now();` },
        says: /^packages\/low\/src\/a\.ts:3: Date\.now: use the World$/,
      },
      { files: { 'packages/high/src/a.ts': `import { open } from 'node:fs/promises';` }, says: /imports node:fs\/promises/ },
    ],
  },
  {
    name: 'code is made from strings in one place',
    rule: codeFromStringsIsMadeInOnePlace,
    broken: [{ files: { 'tests/a.ts': 'const f = new Function();' }, says: /tests\/a\.ts:1: new F/ }],
  },
  {
    name: 'every file is imported, and not only by its test',
    rule: everyFileIsUsed,
    broken: [
      {
        files: { 'packages/low/src/dead.ts': '', 'packages/low/src/dead.test.ts': `import './dead.ts';` },
        says: /dead\.ts: nothing imports it/,
      },
    ],
  },
  {
    name: 'every package and every folder in it is explained in ARCHITECTURE.md',
    rule: everyFolderIsOnTheMap,
    broken: [{ files: { 'packages/low/src/cellar/a.ts': '' }, says: /low\/cellar: ARCHITECTURE\.md does not say/ }],
  },
  {
    name: 'nothing names a directory of this machine or a host that only it needs',
    rule: nothingIsOfThisMachine(placesOfThisMachine),
    broken: [{ files: { 'docs/a.md': `See ${placesOfThisMachine.at(-1)}.` }, says: /docs\/a\.md: mentions/ }],
  },
  {
    name: 'every message has a handler, or a reason why not',
    rule: everyMessageHasAHandler(unservedMessages),
    broken: [
      { files: { 'packages/protocol/src/messages/00-produce.ts': '' }, says: /00-produce: no handler/ },
      { files: { 'packages/broker/src/handlers/99-invented.ts': '' }, says: /99-invented: a handler without messages/ },
    ],
  },
];

for (const { name, rule, broken } of rules) {
  test(name, () => {
    for (const { files, says } of broken) {
      const found = rule(treeOf(new Map([['ARCHITECTURE.md', architecture], ...Object.entries(files)])));
      assert.ok(found.length > 0, `the rule does not see what breaks it: ${JSON.stringify(files)}`);
      assert.deepEqual(
        found.filter((line) => !says.test(line)),
        [],
      );
    }
    const problems = rule(tree);
    assert.ok(problems.length === 0, `\n${problems.join('\n')}\n`);
  });
}

test('the table of ARCHITECTURE.md lists every package', () => {
  const packages = new Set(tree.sources.map(({ packageName }) => packageName).filter((name) => name !== undefined));
  assert.deepEqual([...allowedImports(tree).keys()].sort(), [...packages].sort());
});

test('the longest files and functions, to look at', (context) => {
  for (const { where, lines } of [...longestFiles(tree, 10), ...longestFunctions(tree, 10)]) {
    context.diagnostic(`${String(lines).padStart(5)} ${where}`);
  }
});
