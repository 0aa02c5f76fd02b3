// The session for what clients ask for: they do not wait longer for the coordination store than this broker can be sure of its session.
// What the broker needs itself waits as long as it takes.

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
import { errorCodes, ProtocolError } from '@odradek/protocol';

/** The action's outcome; REQUEST_TIMED_OUT as soon as the session may be over. What the action has asked of the store may be done later. */
export async function untilLapsed<T>(coordination: Coordination, action: () => Promise<T>): Promise<T> {
  const tooLong = (): ProtocolError =>
    new ProtocolError(errorCodes.REQUEST_TIMED_OUT, 'The coordination store cannot be reached: it may be done or not.');
  if (coordination.state === 'lapsed') throw tooLong();
  const lapse = Promise.withResolvers<never>();
  const stopListening = coordination.onState((state) => {
    if (state === 'lapsed') lapse.reject(tooLong());
  });
  try {
    return await Promise.race([action(), lapse.promise]);
  } finally {
    stopListening();
  }
}

/** The same session, each of whose operations is given up when the session may be over. */
export class UntilLapsedSession implements Coordination {
  readonly #session: Coordination;

  constructor(session: Coordination) {
    this.#session = session;
  }

  get sessionId(): bigint {
    return this.#session.sessionId;
  }

  get state(): SessionState {
    return this.#session.state;
  }

  onState(listener: (state: SessionState) => void): () => void {
    return this.#session.onState(listener);
  }

  create(path: string, data: Uint8Array | null, options?: CreateOptions): Promise<{ path: string; stat: NodeStat }> {
    return untilLapsed(this.#session, () => this.#session.create(path, data, options));
  }

  get(path: string, watcher?: Watcher): Promise<{ data: NodeData; stat: NodeStat }> {
    return untilLapsed(this.#session, () => this.#session.get(path, watcher));
  }

  set(path: string, data: Uint8Array | null, version?: number): Promise<NodeStat> {
    return untilLapsed(this.#session, () => this.#session.set(path, data, version));
  }

  delete(path: string, version?: number): Promise<void> {
    return untilLapsed(this.#session, () => this.#session.delete(path, version));
  }

  exists(path: string, watcher?: Watcher): Promise<NodeStat | undefined> {
    return untilLapsed(this.#session, () => this.#session.exists(path, watcher));
  }

  children(path: string, watcher?: Watcher): Promise<{ names: string[]; stat: NodeStat }> {
    return untilLapsed(this.#session, () => this.#session.children(path, watcher));
  }

  multi(operations: readonly Operation[]): Promise<readonly OperationResult[]> {
    return untilLapsed(this.#session, () => this.#session.multi(operations));
  }

  sync(path: string): Promise<void> {
    return untilLapsed(this.#session, () => this.#session.sync(path));
  }

  close(): Promise<void> {
    return this.#session.close();
  }
}
