// The session for what clients ask for: they do not wait longer for the coordination store than this broker can be sure of its session.
// What the broker needs itself waits as long as it takes.

import type { Coordination } from '@odradek/coordination';
import { errorCodes, ProtocolError } from '@odradek/protocol';
import { ForwardedSession } from './forwarded-session.ts';

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
export class UntilLapsedSession extends ForwardedSession {
  protected override readonly session: Coordination;

  constructor(session: Coordination) {
    super();
    this.session = session;
  }

  protected override ask<T>(operation: () => Promise<T>): Promise<T> {
    return untilLapsed(this.session, operation);
  }
}
