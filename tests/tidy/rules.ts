// What must hold for the sources as a whole. Each rule takes the tree and returns what is wrong, a line each.

import { posix } from 'node:path';
import type { SourceFile, SourceTree } from './source-tree.ts';

export type Rule = (tree: SourceTree) => string[];

/** The table of ARCHITECTURE.md: package → the packages, or parts of packages (`client/connection`), that it may import. */
export function allowedImports(tree: SourceTree): Map<string, Set<string>> {
  const rows = (tree.texts.get('ARCHITECTURE.md') ?? '').matchAll(/^\| `([a-z]+)` \|[^|]*\|([^|]*)\|$/gm);
  const table = new Map([...rows].map(([, name, allowed]) => [name!, new Set(allowed!.match(/[a-z]+(?:\/[a-z]+)?/g))]));
  for (const allowed of table.values()) {
    if (allowed.has('all')) {
      for (const name of table.keys()) {
        allowed.add(name);
      }
    }
  }
  return table;
}

/** What every test may import, wherever it is. */
const forTests = new Set(['testing', 'runtime']);

export const importsFollowTheTable: Rule = (tree) => {
  const table = allowedImports(tree);
  return eachImport(tree, (file, specifier, target) => {
    const imported = /^@odradek\/([^/]+)/.exec(specifier)?.[1];
    if (imported === undefined) {
      const leaves = target !== undefined && rootOf(target) !== rootOf(file.path) && !target.startsWith('tests/');
      return leaves && `reaches into ${target} past the package's index`;
    }
    const entry = specifier.slice('@odradek/'.length);
    if (entry !== imported && !isExportedPart(tree, imported, entry.slice(imported.length + 1))) {
      return `imports ${specifier} past the package's index`;
    }
    const allowed = file.packageName === undefined ? undefined : table.get(file.packageName);
    const isAllowed =
      file.packageName === undefined || allowed?.has(imported) || allowed?.has(entry) || (file.isTest && forTests.has(imported));
    return !isAllowed && `imports ${imported}, which ARCHITECTURE.md does not allow`;
  });
};

/** Whether a package offers the part under a name of its own. */
function isExportedPart(tree: SourceTree, packageName: string, part: string): boolean {
  const manifest = tree.texts.get(`packages/${packageName}/package.json`) ?? '{}';
  return (JSON.parse(manifest) as { exports?: Record<string, unknown> }).exports?.[`./${part}`] !== undefined;
}

export const importsAreDependencies: Rule = (tree) =>
  eachImport(tree, (file, specifier, target) => {
    if (target !== undefined || specifier.startsWith('node:') || file.packageName === undefined) {
      return false;
    }
    const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
    const manifests = [
      `packages/${file.packageName}/package.json`,
      ...(file.isTest ? ['package.json', 'packages/testing/package.json'] : []),
    ];
    const isDeclared = manifests.some((manifest) => tree.texts.get(manifest)?.includes(`"${name}":`));
    return !isDeclared && name !== '@odradek/testing' && `imports ${name}, which its package.json does not name`;
  });

/** Folders of one package, and files beside them as folders of their own, must not need each other in a circle; types may. */
export const foldersHaveNoCycles: Rule = (tree) => {
  const graph = new Map<string, Map<string, string>>();
  for (const file of tree.sources) {
    if (file.packageName === undefined || file.isTest || posix.basename(file.path) === 'index.ts') {
      continue;
    }
    const from = folderOf(file.path);
    const edges = graph.get(from) ?? new Map<string, string>();
    graph.set(from, edges);
    for (const { target, kind } of file.imports) {
      if (target !== undefined && kind === 'value' && rootOf(target) === rootOf(file.path) && folderOf(target) !== from) {
        edges.set(folderOf(target), `${file.path} imports ${target}`);
      }
    }
  }
  return cyclesOf(graph).map((cycle) => {
    const steps = cycle.map((folder, index) => `    ${graph.get(folder)!.get(cycle[(index + 1) % cycle.length]!)}`);
    return `folders in a circle: ${cycle.join(' -> ')}\n${steps.join('\n')}`;
  });
};

const worldPackages = new Set(['runtime', 'testing', 'cli', 'console']);
const worldModules = /^node:(fs|net|tls|dns|dgram|http|https|http2|child_process|worker_threads|cluster|timers|sqlite)(\/|$)/;
const worldCalls =
  /\b(Date\.now|new Date\(\)|performance\.now|process\.hrtime|set(Timeout|Interval|Immediate)\(|Math\.random|random(Bytes|UUID|Int)\(|console\.)/;

export const theWorldComesThroughConstructors: Rule = (tree) => {
  const within = (file: SourceFile): boolean =>
    file.packageName !== undefined && !file.isTest && !worldPackages.has(file.packageName);
  const modules = eachImport(tree, (file, specifier) => within(file) && worldModules.test(specifier) && `imports ${specifier}`);
  return [...modules, ...eachMatch(tree, within, worldCalls)].map((problem) => `${problem}: use the World`);
};

export const codeFromStringsIsMadeInOnePlace: Rule = (tree) =>
  eachMatch(tree, (file) => file.path !== 'packages/protocol/src/schema/compile.ts', /\bnew Function\b|\beval\(/);

/** Only what tests import is dead as well, except where tests are the purpose. */
export const everyFileIsUsed: Rule = (tree) => {
  const isStarted = (path: string): boolean =>
    [...tree.texts].some(
      ([name, text]) => (name.endsWith('package.json') || name.startsWith('bin/')) && text.includes(startedAs(path, name)),
    );
  const used = new Set(
    tree.sources.flatMap((file) =>
      file.imports.filter(({ target }) => !file.isTest || isForTests(target)).map(({ target }) => target),
    ),
  );
  return (
    tree.sources
      .filter(({ path }) => !/\.test\.ts$|\/src\/index\.ts$|^bench\//.test(path) && !used.has(path) && !isStarted(path))
      // A program that a test runs in a process of its own is named there.
      // A module that runs as a thread is named by its URL.
      .filter(
        ({ path }) =>
          !tree.sources.some(({ text }) => text.includes(`new URL('./${posix.basename(path, '.ts')}', import.meta.url)`)),
      )
      .filter(({ path }) => !isForTests(path) || !tree.sources.some(({ text }) => text.includes(`'${posix.basename(path)}'`)))
      .map(({ path }) => `${path}: nothing imports it`)
  );
};

export const everyFolderIsOnTheMap: Rule = (tree) => {
  const map = tree.texts.get('ARCHITECTURE.md') ?? '';
  const folders = tree.sources.flatMap(({ path }) => {
    const [, name, folder] = /^packages\/([^/]+)\/src\/(?:([^/]+)\/)?/.exec(path) ?? [];
    return folder === undefined || folder === 'testdata' ? [name ?? ''] : [name!, `${name}/${folder}`];
  });
  return [...new Set(folders)]
    .filter((folder) => folder !== '' && !map.includes(`\`${folder}\``) && !map.includes(`\`${folder}/`))
    .map((folder) => `${folder}: ARCHITECTURE.md does not say what it is`);
};

/** `places` are what must not occur: directories of this machine, hosts that only this machine needs. */
export function nothingIsOfThisMachine(places: readonly string[]): Rule {
  return (tree) =>
    [...tree.texts].flatMap(([path, text]) =>
      places.filter((place) => text.includes(place)).map((place) => `${path}: mentions ${place}`),
    );
}

/** `unserved` says of some API keys why no handler answers them. */
export function everyMessageHasAHandler(unserved: Readonly<Record<number, string>>): Rule {
  return (tree) => {
    const numbered = (folder: string): Map<string, string> =>
      new Map(
        tree.sources
          .map(({ path }) => new RegExp(`^${folder}/((\\d+)-[^/]*)\\.ts$`).exec(path))
          .filter((match) => match !== null && !match[1]!.includes('.'))
          .map((match) => [match![1]!, match![2]!]),
      );
    const messages = numbered('packages/protocol/src/messages');
    const handlers = numbered('packages/broker/src/handlers');
    const reasonFor = (key: string): string | undefined => unserved[Number(key)];
    return [
      ...[...messages]
        .filter(([name, key]) => !handlers.has(name) && reasonFor(key) === undefined)
        .map(([name]) => `${name}: no handler`),
      ...[...handlers].filter(([name]) => !messages.has(name)).map(([name]) => `${name}: a handler without messages`),
      ...[...messages]
        .filter(([name, key]) => handlers.has(name) && reasonFor(key))
        .map(([name]) => `${name}: served, and said not to be`),
    ];
  };
}

function eachImport(tree: SourceTree, check: (file: SourceFile, specifier: string, target?: string) => string | false): string[] {
  return tree.sources.flatMap((file) =>
    file.imports.flatMap(({ specifier, target, kind }) => {
      const problem = kind !== 'started' && check(file, specifier, target);
      return problem === false ? [] : [`${file.path}: ${problem}`];
    }),
  );
}

function eachMatch(tree: SourceTree, within: (file: SourceFile) => boolean, pattern: RegExp): string[] {
  return tree.sources.filter(within).flatMap((file) =>
    file.code.split('\n').flatMap((line, index) => {
      const [found] = pattern.exec(line) ?? [];
      return found === undefined ? [] : [`${file.path}:${index + 1}: ${found}`];
    }),
  );
}

/** `packages/broker` for what is in it, else the first folder. */
function rootOf(path: string): string {
  return /^packages\/[^/]+|^[^/]+/.exec(path)![0];
}

/** `broker/handlers`; a file directly in src stands for itself, as `broker/broker.ts`. */
function folderOf(path: string): string {
  const inside = path.replace(/^packages\/([^/]+)\/src\//, '$1/');
  return inside.split('/').length > 2 ? posix.dirname(inside) : inside;
}

function isForTests(target: string | undefined): boolean {
  return target !== undefined && (/\.(contract|fixture)\.ts$/.test(target) || /^(packages\/testing|tests|bench)\//.test(target));
}

function startedAs(path: string, from: string): string {
  const folder = /^(packages\/[^/]+)\//.exec(from)?.[1];
  return folder === undefined ? path : posix.relative(folder, path).replace(/^src\/(.*)\.ts$/, 'dist/$1.js');
}

/** One cycle for each knot of the graph, as short as can be found from its first member. */
function cyclesOf(graph: ReadonlyMap<string, ReadonlyMap<string, string>>): string[][] {
  const cycles: string[][] = [];
  const inCycle = new Set<string>();
  for (const start of graph.keys()) {
    const cycle = inCycle.has(start) ? undefined : shortestWay(graph, start, start);
    if (cycle !== undefined) {
      cycles.push(cycle);
      for (const folder of cycle) {
        inCycle.add(folder);
      }
    }
  }
  return cycles;
}

function shortestWay(graph: ReadonlyMap<string, ReadonlyMap<string, string>>, from: string, to: string): string[] | undefined {
  const ways = [[from]];
  const seen = new Set<string>();
  for (const way of ways) {
    for (const next of graph.get(way.at(-1)!)?.keys() ?? []) {
      if (next === to) {
        return way;
      }
      if (!seen.has(next)) {
        seen.add(next);
        ways.push([...way, next]);
      }
    }
  }
  return undefined;
}
