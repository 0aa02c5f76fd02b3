// A session that is another one with something added: everything asked of it is asked of that one, through one place.

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

export abstract class ForwardedSession implements Coordination {
  /** Whom to ask now. */
  protected abstract get session(): Coordination;

  /** Asks it. */
  protected ask<T>(operation: () => Promise<T>): Promise<T> {
    return operation();
  }

  /** The watcher that is set for the one that is wanted. */
  protected watching(watcher: Watcher | undefined): Watcher | undefined {
    return watcher;
  }

  get sessionId(): bigint {
    return this.session.sessionId;
  }

  get state(): SessionState {
    return this.session.state;
  }

  onState(listener: (state: SessionState) => void): () => void {
    return this.session.onState(listener);
  }

  create(path: string, data: Uint8Array | null, options?: CreateOptions): Promise<{ path: string; stat: NodeStat }> {
    return this.ask(() => this.session.create(path, data, options));
  }

  get(path: string, watcher?: Watcher): Promise<{ data: NodeData; stat: NodeStat }> {
    return this.ask(() => this.session.get(path, this.watching(watcher)));
  }

  set(path: string, data: Uint8Array | null, version?: number): Promise<NodeStat> {
    return this.ask(() => this.session.set(path, data, version));
  }

  delete(path: string, version?: number): Promise<void> {
    return this.ask(() => this.session.delete(path, version));
  }

  exists(path: string, watcher?: Watcher): Promise<NodeStat | undefined> {
    return this.ask(() => this.session.exists(path, this.watching(watcher)));
  }

  children(path: string, watcher?: Watcher): Promise<{ names: string[]; stat: NodeStat }> {
    return this.ask(() => this.session.children(path, this.watching(watcher)));
  }

  multi(operations: readonly Operation[]): Promise<readonly OperationResult[]> {
    return this.ask(() => this.session.multi(operations));
  }

  sync(path: string): Promise<void> {
    return this.ask(() => this.session.sync(path));
  }

  close(): Promise<void> {
    return this.session.close();
  }
}
