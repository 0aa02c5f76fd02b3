// Paths of nodes: what is one, and its parts.

import { CoordinationError } from './coordination.ts';

export function splitPath(path: string): { readonly parentPath: string; readonly name: string } {
  const slash = path.lastIndexOf('/');
  return { parentPath: slash <= 0 ? '/' : path.slice(0, slash), name: path.slice(slash + 1) };
}

/** Throws BadArguments for what ZooKeeper would not take as a path. */
export function checkPath(path: string): void {
  // Asked for every operation, so without cutting the path up.
  const isValid =
    path === '/' || (path.startsWith('/') && !path.endsWith('/') && !path.includes('//') && !/\0|\/\.{1,2}(\/|$)/.test(path));
  if (!isValid) throw new CoordinationError('BadArguments', path, { detail: 'that is not a path' });
}
