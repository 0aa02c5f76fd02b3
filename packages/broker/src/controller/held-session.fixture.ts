// A session with a store that can be out of reach: what is asked of it meanwhile waits, as it does in a session with ZooKeeper.

import type { Coordination, SessionState, Watcher } from '@odradek/coordination';
import { ForwardedSession } from '../forwarded-session.ts';

export class HeldSession extends ForwardedSession {
  protected override readonly session: Coordination;
  readonly #listeners = new Set<(state: SessionState) => void>();
  #reachable = Promise.resolve();
  #open: () => void = () => undefined;
  #state: SessionState = 'connected';

  constructor(session: Coordination) {
    super();
    this.session = session;
  }

  override get state(): SessionState {
    return this.#state;
  }

  become(state: 'connected' | 'disconnected' | 'lapsed'): void {
    if (this.#state === 'connected') {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#reachable = promise;
      this.#open = resolve;
    }
    this.#state = state;
    if (state === 'connected') this.#open();
    for (const listener of [...this.#listeners]) listener(state);
  }

  override onState(listener: (state: SessionState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** At once while the store can be reached, so that the order is that of the session. */
  protected override ask<T>(operation: () => Promise<T>): Promise<T> {
    return this.state === 'connected' ? operation() : this.#reachable.then(operation);
  }

  /** News wait, too. */
  protected override watching(watcher: Watcher | undefined): Watcher | undefined {
    if (watcher === undefined) return undefined;
    return (event) => {
      if (this.state === 'connected') watcher(event);
      else void this.#reachable.then(() => watcher(event));
    };
  }
}
