// The longest files and functions, for people to look at. Nothing fails because of them.

import type { SourceTree } from './source-tree.ts';

export interface Length {
  readonly where: string;
  readonly lines: number;
}

export function longestFiles(tree: SourceTree, count: number): Length[] {
  return longest(
    tree.sources.map(({ path, text }) => ({ where: path, lines: text.split('\n').length - 1 })),
    count,
  );
}

export function longestFunctions(tree: SourceTree, count: number): Length[] {
  const functions = tree.sources
    .filter(({ path }) => !/\.(test|contract|fixture)\.ts$/.test(path))
    .flatMap(({ path, code }) => functionsOf(code).map(({ name, lines }) => ({ where: `${path} ${name}`, lines })));
  return longest(functions, count);
}

/** Read off the layout, which the formatter settles: a head that ends in `{`, and a `}` with the same indentation. */
function functionsOf(code: string): { name: string; lines: number }[] {
  const lines = code.split('\n');
  return lines.flatMap((line, start) => {
    // A head of several lines ends in `): Type {`; its name is on the line above with the same indentation.
    const indentation = /^ *(?=\))/.exec(line)?.[0];
    const first =
      indentation === undefined
        ? line
        : (lines.slice(0, start).findLast((above) => above.search(/\S/) === indentation.length) ?? '');
    const head = /^( *)(?:export )?(?:(?:static|async|get|set|override|protected|function\*?) |\*)*([#\w]+)(?:<.*>)?\(/.exec(first);
    if (head === null || !/\)(?:: .*)? \{$/.test(line) || /^(if|for|while|switch|catch|return)$/.test(head[2]!)) {
      return [];
    }
    const end = lines.findIndex((other, index) => index > start && other.startsWith(`${head[1]}}`));
    return [{ name: head[2]!, lines: end - start + 1 }];
  });
}

function longest(lengths: readonly Length[], count: number): Length[] {
  return lengths.toSorted((a, b) => b.lines - a.lines).slice(0, count);
}
