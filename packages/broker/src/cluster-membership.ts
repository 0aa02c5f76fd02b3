// This broker's membership of its cluster: the session in the coordination store and the registration that lives and dies with it.
// When the session is lost, another one is opened and the broker registers again, under a new epoch. Until then the broker goes on
// serving what it leads and follows, as Kafka does: whoever was told something newer by a controller does not listen to it.

import { type Coordination, type CoordinationStore, isCoordinationError, type SessionState } from '@odradek/coordination';
import type { Clock, Logger, Timer, TimerTask } from '@odradek/runtime';
import { type BrokerToRegister, registerBroker, updateRegistration } from './broker-registration.ts';
import { CurrentSession } from './current-session.ts';

/** Whoever did something in the name of the session. */
export interface MembershipFollower {
  /** The session is over, and its watches with it. Waited for before another one is opened. */
  sessionLost?(): void | Promise<void>;
  /** The broker is registered in a new session: watches are to be set again. */
  sessionRenewed?(): void | Promise<void>;
}

export interface ClusterMembershipParts {
  readonly store: CoordinationStore;
  /** zookeeper.session.timeout.ms */
  readonly sessionTimeoutMs: number;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly logger: Logger;
}

/** How long until a lost session is tried to be replaced again; Kafka's. */
const retryDelayMs = 1000;

export class ClusterMembership {
  readonly #parts: ClusterMembershipParts;
  readonly #session: CurrentSession;
  readonly #followers: MembershipFollower[] = [];
  readonly #stopListening: () => void;
  #registration: BrokerToRegister | undefined;
  /** The registration in the store is not that one yet. */
  #isOutdated = false;
  #epoch = -1;
  #renewal: Promise<void> | undefined;
  #pause: { readonly task: TimerTask; readonly end: () => void } | undefined;
  /** Nothing is worth waiting for the store any more. */
  #isLeaving = false;
  #isClosed = false;

  private constructor(parts: ClusterMembershipParts, session: Coordination) {
    this.#parts = parts;
    this.#session = new CurrentSession(session);
    this.#stopListening = this.#session.onState((state) => this.#stateChanged(state));
  }

  static async open(parts: ClusterMembershipParts): Promise<ClusterMembership> {
    return new ClusterMembership(parts, await parts.store.openSession({ timeoutMs: parts.sessionTimeoutMs }));
  }

  /** The session of the moment. */
  get coordination(): Coordination {
    return this.#session;
  }

  /** The epoch of the last registration; -1 before the first. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Registers the broker, now and in every session to come. Rejects when another broker has its id. */
  async register(registration: BrokerToRegister): Promise<void> {
    this.#registration = registration;
    try {
      await this.#registerNow(registration);
    } catch (error) {
      if (!isCoordinationError(error, 'SessionExpired')) throw error;
      // The next session is registered in by whoever replaces this one.
      await this.#renewal;
    }
  }

  /** Other endpoints for a broker that is registered. When the store goes away meanwhile, it is told once it is back. */
  async update(registration: BrokerToRegister): Promise<void> {
    this.#registration = registration;
    this.#isOutdated = true;
    await this.#updateNow(registration);
  }

  async #updateNow(registration: BrokerToRegister): Promise<void> {
    try {
      await updateRegistration(this.#session, registration, this.#parts.clock);
      if (this.#registration === registration) this.#isOutdated = false;
    } catch (error) {
      if (!isCoordinationError(error, 'ConnectionLoss', 'SessionExpired')) throw error;
      this.#parts.logger.warn('The registration of this broker could not be changed yet', { error });
    }
  }

  /** Followers are told in the order in which they came. */
  follow(follower: MembershipFollower): void {
    this.#followers.push(follower);
  }

  /**
   * The broker stops: what is still to be done happens in this session if the store can be reached, and is given up when it cannot, now
   * or later.
   */
  leave(): void {
    this.#isLeaving = true;
    if (this.#session.state !== 'connected') this.#endSession();
  }

  /** Ends the session, and with it the registration. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopListening();
    this.#endPause();
    // A renewal that is under way finds out when the store answers it, which may take long; nobody waits for that.
    await this.#session.close();
  }

  #stateChanged(state: SessionState): void {
    const { logger } = this.#parts;
    if (this.#isClosed) return;
    if (this.#isLeaving && state === 'disconnected') this.#endSession();
    if (state === 'disconnected') logger.warn('The coordination store cannot be reached');
    if (state === 'connected') logger.info('The coordination store can be reached again');
    if (state === 'connected' && this.#isOutdated && this.#registration !== undefined) {
      this.#updateNow(this.#registration).catch((error: unknown) =>
        logger.error('The registration of this broker could not be changed', { error }),
      );
    }
    // A session that is lost while its predecessor is being replaced is replaced by the same renewal.
    if (state === 'expired') this.#renewal ??= this.#renew();
  }

  /** Who waits for it hears so at once when it cannot be reached. */
  #endSession(): void {
    this.close().catch((error: unknown) => this.#parts.logger.error('The session could not be ended in order', { error }));
  }

  async #renew(): Promise<void> {
    const { logger } = this.#parts;
    try {
      while (!this.#isClosed && this.#session.state === 'expired') {
        logger.warn('The session in the coordination store is lost; this broker will register in a new one');
        for (const follower of this.#followers) await this.#tell(follower, 'sessionLost');
        while (!(await this.#tryReplace()) && !this.#isClosed) await this.#wait();
      }
    } finally {
      this.#renewal = undefined;
    }
  }

  /** False: not yet, or the new session is lost already. */
  async #tryReplace(): Promise<boolean> {
    const { store, sessionTimeoutMs, logger } = this.#parts;
    try {
      if (this.#session.state === 'expired') {
        const session = await store.openSession({ timeoutMs: sessionTimeoutMs });
        if (this.#isClosed) {
          await session.close();
          return false;
        }
        this.#session.replace(session);
      }
      if (this.#registration !== undefined) await this.#registerNow(this.#registration);
    } catch (error) {
      if (!this.#isClosed) logger.error('This broker could not register in a new session; trying again', { error });
      return false;
    }
    logger.info('This broker is registered in a new session', { epoch: this.#epoch });
    for (const follower of this.#followers) await this.#tell(follower, 'sessionRenewed');
    return true;
  }

  async #registerNow(registration: BrokerToRegister): Promise<void> {
    const { clock, timer, logger, sessionTimeoutMs } = this.#parts;
    this.#epoch = await registerBroker(this.#session, registration, { clock, timer, logger, sessionTimeoutMs });
    if (this.#registration === registration) this.#isOutdated = false;
  }

  async #tell(follower: MembershipFollower, what: keyof MembershipFollower): Promise<void> {
    try {
      await follower[what]?.();
    } catch (error) {
      // Another loss is told of again.
      if (!isCoordinationError(error, 'SessionExpired')) {
        this.#parts.logger.error('A part of the broker could not follow the change of sessions', { error });
      }
    }
  }

  #wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#pause = { task: this.#parts.timer.schedule(retryDelayMs, resolve), end: resolve };
    });
  }

  #endPause(): void {
    this.#pause?.task.cancel();
    this.#pause?.end();
  }
}
