// The session of the moment: a Coordination that outlives single sessions. Whoever holds it need not know when a lost session is
// replaced, apart from setting its watches again: those went with the old one.

import type { Coordination, SessionState } from '@odradek/coordination';
import { ForwardedSession } from './forwarded-session.ts';

export class CurrentSession extends ForwardedSession {
  readonly #listeners = new Set<(state: SessionState) => void>();
  #session: Coordination;
  #stopListening: () => void;

  constructor(session: Coordination) {
    super();
    this.#session = session;
    this.#stopListening = this.#listenTo(session);
  }

  /** What is asked from now on is asked in this session. */
  replace(session: Coordination): void {
    this.#stopListening();
    this.#session = session;
    this.#stopListening = this.#listenTo(session);
  }

  /** Its state `expired` is not final here. */
  protected override get session(): Coordination {
    return this.#session;
  }

  /** Of this session and those that replace it. */
  override onState(listener: (state: SessionState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #listenTo(session: Coordination): () => void {
    return session.onState((state) => {
      for (const listener of [...this.#listeners]) listener(state);
    });
  }
}
