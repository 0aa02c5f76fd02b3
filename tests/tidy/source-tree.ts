// The repository as the tidy rules see it: the text of every file, and what each source imports.

import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

export interface SourceFile {
  /** From the root of the repository, with `/`. */
  readonly path: string;
  readonly text: string;
  /** The text with comments and the insides of strings blanked out; lines stay where they are. */
  readonly code: string;
  readonly imports: readonly Import[];
  /** `broker` for packages/broker/src/…; undefined outside the packages' sources. */
  readonly packageName: string | undefined;
  /** Tests, contract suites, fixtures, and what only they use: packages/testing, tests, bench. */
  readonly isTest: boolean;
}

export interface Import {
  readonly specifier: string;
  /** The path of the file that a relative specifier means. */
  readonly target: string | undefined;
  /** `type` leaves nothing behind when it runs; `started` is a program that is run, not a module that is loaded. */
  readonly kind: 'value' | 'type' | 'started';
}

export interface SourceTree {
  /** Every text file. */
  readonly texts: ReadonlyMap<string, string>;
  /** The TypeScript among them. */
  readonly sources: readonly SourceFile[];
}

const ignored = new Set(['node_modules', 'dist', '.git', 'data', 'logs', 'coverage', '.cache']);

export function readTree(root: string): SourceTree {
  const texts = new Map<string, string>();
  const walk = (directory: string): void => {
    for (const entry of readdirSync(join(root, directory), { withFileTypes: true })) {
      const path = posix.join(directory, entry.name);
      if (entry.isDirectory() && !ignored.has(entry.name)) {
        walk(path);
      } else if (entry.isFile()) {
        texts.set(path, readFileSync(join(root, path), 'utf8'));
      }
    }
  };
  walk('');
  return treeOf(texts);
}

export function treeOf(texts: ReadonlyMap<string, string>): SourceTree {
  const sources = [...texts]
    .filter(([path]) => path.endsWith('.ts'))
    .map(([path, text]) => ({
      path,
      text,
      code: blank(text, comments, strings, templates),
      imports: importsOf(path, text),
      packageName: /^packages\/([^/]+)\/src\//.exec(path)?.[1],
      isTest: /\.(test|contract|fixture)\.ts$/.test(path) || !path.startsWith('packages/') || path.startsWith('packages/testing/'),
    }));
  return { texts, sources };
}

/** Static and dynamic imports, and the files that are named by a relative path in order to be started. */
function importsOf(path: string, text: string): Import[] {
  const code = blank(text, comments, templates);
  const loaded = [
    ...code.matchAll(/^(?:import|export)\s(?!type\s)[\w\s{},*$]*?\bfrom\s*'([^']+)'/gm),
    ...code.matchAll(/^import\s*'([^']+)'/gm),
    ...code.matchAll(/\bimport\(\s*'([^']+)'/g),
  ];
  const types = code.matchAll(/^(?:import|export) type\s[\w\s{},*$]*?\bfrom\s*'([^']+)'/gm);
  const named = code.matchAll(/'(\.{1,2}\/[^'\s]+\.(?:ts|mjs))'/g);
  const imports = new Map<string, Import>();
  for (const [kind, matches] of [
    ['started', named],
    ['type', types],
    ['value', loaded],
  ] as const) {
    for (const [, specifier] of matches) {
      const target = specifier!.startsWith('.') ? posix.join(posix.dirname(path), specifier!) : undefined;
      imports.set(specifier!, { specifier: specifier!, target, kind });
    }
  }
  return [...imports.values()];
}

const comments = String.raw`\/\*[\s\S]*?\*\/|\/\/.*`;
const strings = String.raw`'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"`;
const templates = '`(?:\\\\[\\s\\S]|[^`\\\\])*`';

/** Puts spaces for what may hide code. Found in one pass, as each may hold what looks like another; lines stay where they are. */
function blank(text: string, ...what: readonly string[]): string {
  const isBlanked = new RegExp(`^(?:${what.join('|')})$`);
  return text.replace(new RegExp([comments, strings, templates].join('|'), 'g'), (found) =>
    isBlanked.test(found) ? found.replace(/[^\n]/g, ' ') : found,
  );
}
