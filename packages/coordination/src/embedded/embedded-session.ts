// One session on the embedded store: the Coordination that a broker holds.

import type {
  Coordination,
  CreateOptions,
  NodeData,
  NodeStat,
  Operation,
  OperationResult,
  SessionState,
  Watcher,
} from '../coordination.ts';
import type { EmbeddedStore } from './embedded-store.ts';
import { statOf } from './tree.ts';
import type { Watches, WatchKind } from './watches.ts';

export class EmbeddedSession implements Coordination {
  readonly sessionId: bigint;
  readonly #store: EmbeddedStore;
  readonly #listeners = new Set<(state: SessionState) => void>();
  #state: SessionState = 'connected';

  constructor(sessionId: bigint, store: EmbeddedStore) {
    this.sessionId = sessionId;
    this.#store = store;
  }

  get state(): SessionState {
    return this.#state;
  }

  onState(listener: (state: SessionState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async create(path: string, data: Uint8Array | null, options: CreateOptions = {}): Promise<{ path: string; stat: NodeStat }> {
    const [result] = await this.#store.write(this, [{ type: 'create', path, data, ...options }]);
    return result as { path: string; stat: NodeStat };
  }

  get(path: string, watcher?: Watcher): Promise<{ data: NodeData; stat: NodeStat }> {
    return this.#store.read(this, path, (tree, watches) => {
      const node = tree.get(path);
      return { value: { data: node.data, stat: statOf(node) }, ...this.#watch(watches, 'data', path, watcher) };
    });
  }

  async set(path: string, data: Uint8Array | null, version = -1): Promise<NodeStat> {
    const [result] = await this.#store.write(this, [{ type: 'set', path, data, version }]);
    return (result as { stat: NodeStat }).stat;
  }

  async delete(path: string, version = -1): Promise<void> {
    await this.#store.write(this, [{ type: 'delete', path, version }]);
  }

  exists(path: string, watcher?: Watcher): Promise<NodeStat | undefined> {
    return this.#store.read(this, path, (tree, watches) => {
      const node = tree.find(path);
      return { value: node === undefined ? undefined : statOf(node), ...this.#watch(watches, 'data', path, watcher) };
    });
  }

  children(path: string, watcher?: Watcher): Promise<{ names: string[]; stat: NodeStat }> {
    return this.#store.read(this, path, (tree, watches) => {
      const node = tree.get(path);
      return {
        value: { names: [...(node.children?.keys() ?? [])], stat: statOf(node) },
        ...this.#watch(watches, 'children', path, watcher),
      };
    });
  }

  multi(operations: readonly Operation[]): Promise<readonly OperationResult[]> {
    return this.#store.write(this, operations, true);
  }

  sync(path: string): Promise<void> {
    return this.#store.read(this, path, () => ({ value: undefined }));
  }

  close(): Promise<void> {
    return this.#store.endSession(this.sessionId, 'closed');
  }

  /** For the store. */
  end(state: 'expired' | 'closed'): void {
    this.#become(state);
  }

  /** For the store: its journal has failed. */
  disconnect(): void {
    this.#become('disconnected');
  }

  #become(state: SessionState): void {
    if (this.#state === state || this.#state === 'expired' || this.#state === 'closed') return;
    this.#state = state;
    for (const listener of [...this.#listeners]) listener(state);
  }

  #watch(watches: Watches, kind: WatchKind, path: string, watcher: Watcher | undefined): { unwatch?: () => void } {
    return watcher === undefined ? {} : { unwatch: watches.add(kind, path, { sessionId: this.sessionId, watcher }) };
  }
}
