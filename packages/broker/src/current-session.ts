// The session of the moment: a Coordination that outlives single sessions. Whoever holds it need not know when a lost session is
// replaced, apart from setting its watches again: those went with the old one.

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

export class CurrentSession implements Coordination {
  readonly #listeners = new Set<(state: SessionState) => void>();
  #session: Coordination;
  #stopListening: () => void;

  constructor(session: Coordination) {
    this.#session = session;
    this.#stopListening = this.#listenTo(session);
  }

  /** What is asked from now on is asked in this session. */
  replace(session: Coordination): void {
    this.#stopListening();
    this.#session = session;
    this.#stopListening = this.#listenTo(session);
  }

  get sessionId(): bigint {
    return this.#session.sessionId;
  }

  /** `expired` is not final here. */
  get state(): SessionState {
    return this.#session.state;
  }

  onState(listener: (state: SessionState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  create(path: string, data: Uint8Array | null, options?: CreateOptions): Promise<{ path: string; stat: NodeStat }> {
    return this.#session.create(path, data, options);
  }

  get(path: string, watcher?: Watcher): Promise<{ data: NodeData; stat: NodeStat }> {
    return this.#session.get(path, watcher);
  }

  set(path: string, data: Uint8Array | null, version?: number): Promise<NodeStat> {
    return this.#session.set(path, data, version);
  }

  delete(path: string, version?: number): Promise<void> {
    return this.#session.delete(path, version);
  }

  exists(path: string, watcher?: Watcher): Promise<NodeStat | undefined> {
    return this.#session.exists(path, watcher);
  }

  children(path: string, watcher?: Watcher): Promise<{ names: string[]; stat: NodeStat }> {
    return this.#session.children(path, watcher);
  }

  multi(operations: readonly Operation[]): Promise<readonly OperationResult[]> {
    return this.#session.multi(operations);
  }

  sync(path: string): Promise<void> {
    return this.#session.sync(path);
  }

  close(): Promise<void> {
    return this.#session.close();
  }

  #listenTo(session: Coordination): () => void {
    return session.onState((state) => {
      for (const listener of [...this.#listeners]) listener(state);
    });
  }
}
