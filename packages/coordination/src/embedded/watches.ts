// Who waits for what: one-shot watches on nodes, by kind and path. A data watch and an exists watch are the same once they are set.

import type { WatchEvent, Watcher } from '../coordination.ts';
import { splitPath } from '../node-path.ts';
import type { Change } from './tree.ts';

export type WatchKind = 'data' | 'children';

/** A session's watcher. Sessions may share a function; each gets its own call. */
interface Registration {
  readonly sessionId: bigint;
  readonly watcher: Watcher;
}

export interface FiredWatch extends Registration {
  readonly event: WatchEvent;
}

export class Watches {
  readonly #tables: Readonly<Record<WatchKind, Map<string, Registration[]>>> = { data: new Map(), children: new Map() };

  /** Returns how to take it back. */
  add(kind: WatchKind, path: string, registration: Registration): () => void {
    const table = this.#tables[kind];
    const registrations = table.get(path);
    if (registrations === undefined) table.set(path, [registration]);
    else if (registrations.some((other) => other.sessionId === registration.sessionId && other.watcher === registration.watcher)) {
      return () => undefined;
    } else registrations.push(registration);
    return () => this.#remove(kind, path, registration);
  }

  #remove(kind: WatchKind, path: string, registration: Registration): void {
    const left = this.#tables[kind].get(path)?.filter((other) => other !== registration) ?? [];
    if (left.length === 0) this.#tables[kind].delete(path);
    else this.#tables[kind].set(path, left);
  }

  removeSession(sessionId: bigint): void {
    for (const table of Object.values(this.#tables)) {
      for (const [path, registrations] of table) {
        const left = registrations.filter((registration) => registration.sessionId !== sessionId);
        if (left.length === 0) table.delete(path);
        else if (left.length < registrations.length) table.set(path, left);
      }
    }
  }

  /** Takes out the watches that the change sets off, in ZooKeeper's order. */
  fire(change: Change): { readonly fired: FiredWatch[]; readonly undo: () => void } {
    const { path } = change;
    const fired: FiredWatch[] = [];
    const undos: (() => void)[] = [];
    const take = (kind: WatchKind, at: string, type: WatchEvent['type']): void => {
      const registrations = this.#tables[kind].get(at);
      if (registrations === undefined) return;
      this.#tables[kind].delete(at);
      for (const registration of registrations) {
        // A watcher of both kinds hears of a deletion once.
        const isRepeated = fired.some(
          (other) =>
            other.sessionId === registration.sessionId && other.watcher === registration.watcher && other.event.path === at,
        );
        if (!isRepeated) fired.push({ ...registration, event: { type, path: at } });
        undos.push(() => this.add(kind, at, registration));
      }
    };
    if (change.type === 'set') take('data', path, 'dataChanged');
    else {
      take('data', path, change.type === 'create' ? 'created' : 'deleted');
      if (change.type === 'delete') take('children', path, 'deleted');
      take('children', splitPath(path).parentPath, 'childrenChanged');
    }
    return { fired, undo: () => undos.forEach((undo) => undo()) };
  }
}
