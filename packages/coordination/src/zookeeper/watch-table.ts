// The watches of one session: one-shot, by node and kind. The server forgets them with the connection, so what stands here is set
// again on the next one. Paths are the server's.

import type { Watcher } from '../coordination.ts';
import type { Notification, StandingWatches } from './requests.ts';

/** `exists` waits for a node that is not there; once a node is there, its data is watched, whichever way the watch was set. */
export type WatchKind = keyof StandingWatches;

const kindsOf: Readonly<Record<Notification['type'], readonly WatchKind[]>> = {
  created: ['exists', 'data'],
  dataChanged: ['data', 'exists'],
  deleted: ['data', 'exists', 'children'],
  childrenChanged: ['children'],
};

/** So much of paths is set again in one request: a server takes a megabyte at most. */
const batchBytes = 128 * 1024;

export class WatchTable {
  readonly #tables: Readonly<Record<WatchKind, Map<string, Set<Watcher>>>> = {
    data: new Map(),
    exists: new Map(),
    children: new Map(),
  };

  add(kind: WatchKind, path: string, watcher: Watcher): void {
    const watchers = this.#tables[kind].get(path);
    if (watchers === undefined) this.#tables[kind].set(path, new Set([watcher]));
    else watchers.add(watcher);
  }

  /** Those whom the news concerns, each once; they are not called again. */
  take({ type, path }: Notification): Iterable<Watcher> {
    const taken = new Set<Watcher>();
    for (const kind of kindsOf[type]) {
      for (const watcher of this.#tables[kind].get(path) ?? []) taken.add(watcher);
      this.#tables[kind].delete(path);
    }
    return taken;
  }

  clear(): void {
    for (const table of Object.values(this.#tables)) table.clear();
  }

  /** All that stands, in pieces that fit into a request. */
  standing(): StandingWatches[] {
    const batches: Record<WatchKind, string[]>[] = [];
    let bytes = batchBytes;
    for (const kind of ['data', 'exists', 'children'] as const) {
      for (const path of this.#tables[kind].keys()) {
        const size = Buffer.byteLength(path) + 4;
        if (bytes + size > batchBytes) {
          batches.push({ data: [], exists: [], children: [] });
          bytes = 0;
        }
        batches.at(-1)![kind].push(path);
        bytes += size;
      }
    }
    return batches;
  }
}
