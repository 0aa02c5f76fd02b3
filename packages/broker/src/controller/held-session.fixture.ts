// A session with a store that can be out of reach: what is asked of it meanwhile waits, as it does in a session with ZooKeeper.

import type {
  Coordination,
  CreateOptions,
  NodeData,
  NodeStat,
  Operation,
  OperationResult,
  SessionState,
  Watcher,
} from '@odradek/coordination';

export class HeldSession implements Coordination {
  readonly #session: Coordination;
  readonly #listeners = new Set<(state: SessionState) => void>();
  #reachable = Promise.resolve();
  #open: () => void = () => undefined;
  state: SessionState = 'connected';

  constructor(session: Coordination) {
    this.#session = session;
  }

  get sessionId(): bigint {
    return this.#session.sessionId;
  }

  become(state: 'connected' | 'disconnected' | 'lapsed'): void {
    if (this.state === 'connected') {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#reachable = promise;
      this.#open = resolve;
    }
    this.state = state;
    if (state === 'connected') this.#open();
    for (const listener of [...this.#listeners]) listener(state);
  }

  onState(listener: (state: SessionState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  create(path: string, data: Uint8Array | null, options?: CreateOptions): Promise<{ path: string; stat: NodeStat }> {
    return this.#ask(() => this.#session.create(path, data, options));
  }

  get(path: string, watcher?: Watcher): Promise<{ data: NodeData; stat: NodeStat }> {
    return this.#ask(() => this.#session.get(path, this.#held(watcher)));
  }

  set(path: string, data: Uint8Array | null, version?: number): Promise<NodeStat> {
    return this.#ask(() => this.#session.set(path, data, version));
  }

  delete(path: string, version?: number): Promise<void> {
    return this.#ask(() => this.#session.delete(path, version));
  }

  exists(path: string, watcher?: Watcher): Promise<NodeStat | undefined> {
    return this.#ask(() => this.#session.exists(path, this.#held(watcher)));
  }

  children(path: string, watcher?: Watcher): Promise<{ names: string[]; stat: NodeStat }> {
    return this.#ask(() => this.#session.children(path, this.#held(watcher)));
  }

  multi(operations: readonly Operation[]): Promise<readonly OperationResult[]> {
    return this.#ask(() => this.#session.multi(operations));
  }

  sync(path: string): Promise<void> {
    return this.#ask(() => this.#session.sync(path));
  }

  close(): Promise<void> {
    return this.#session.close();
  }

  /** At once while the store can be reached, so that the order is that of the session. */
  #ask<T>(ask: () => Promise<T>): Promise<T> {
    return this.state === 'connected' ? ask() : this.#reachable.then(ask);
  }

  /** News wait, too. */
  #held(watcher: Watcher | undefined): Watcher | undefined {
    if (watcher === undefined) return undefined;
    return (event) => {
      if (this.state === 'connected') watcher(event);
      else void this.#reachable.then(() => watcher(event));
    };
  }
}
