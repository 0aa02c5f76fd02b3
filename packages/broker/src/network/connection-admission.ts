// Who may come in: how many connections there may be, and how quickly new ones may come (KIP-402, KIP-612).
//
// `max.connections` and `max.connection.creation.rate` count for the whole broker, and as listener.name.NAME.… for one listener as
// well. Brokers among themselves always get in: when their listener goes over the broker's limit, a client has to go for it.

import type { Clock } from '@odradek/runtime';

export interface ListenerLimits {
  readonly maxConnections: number;
  /** New connections a second. */
  readonly maxCreationRate: number;
}

export interface ConnectionLimits extends ListenerLimits {
  readonly maxConnectionsPerIp: number;
  readonly maxConnectionsPerIpOverrides: ReadonlyMap<string, number>;
  /** For how many seconds at the full rate connections may come at once, after a time without any. */
  readonly creationBurstSeconds: number;
  /** What is set for the one listener alone; undefined: nothing. */
  readonly ofListener: (name: string) => Partial<ListenerLimits>;
}

export class ConnectionAdmission {
  readonly #clock: Clock;
  readonly #limits: () => ConnectionLimits;
  /** The listener that goes before others; undefined where clients use it too. */
  readonly #isPrivilegedListener: (name: string) => boolean;
  readonly #admittedByListener = new Map<string, number>();
  #admitted = 0;
  readonly #byIp = new Map<string, number>();
  readonly #pace: CreationPace;
  readonly #paceByListener = new Map<string, CreationPace>();

  constructor(clock: Clock, limits: () => ConnectionLimits, isPrivilegedListener: (name: string) => boolean) {
    this.#clock = clock;
    this.#limits = limits;
    this.#isPrivilegedListener = isPrivilegedListener;
    this.#pace = new CreationPace(clock.monotonicMs());
  }

  /** Counts a connection of the address; the limit when there are too many now. `leave` must be called for it in any case. */
  arrive(ip: string): number | undefined {
    const count = (this.#byIp.get(ip) ?? 0) + 1;
    this.#byIp.set(ip, count);
    const { maxConnectionsPerIp, maxConnectionsPerIpOverrides } = this.#limits();
    const limit = maxConnectionsPerIpOverrides.get(ip) ?? maxConnectionsPerIp;
    return count > limit ? limit : undefined;
  }

  leave(ip: string): void {
    const left = (this.#byIp.get(ip) ?? 1) - 1;
    if (left > 0) this.#byIp.set(ip, left);
    else this.#byIp.delete(ip);
  }

  /** Counts a connection as admitted: 'admitted'; or says to wait for another to go ('full'), or for how many ms. */
  admit(listener: string): 'admitted' | 'full' | number {
    const limits = this.#limits();
    const own = limits.ofListener(listener);
    const ofListener = this.#admittedByListener.get(listener) ?? 0;
    if (ofListener >= (own.maxConnections ?? Number.MAX_SAFE_INTEGER)) return 'full';
    if (this.#admitted >= limits.maxConnections && !this.#isPrivilegedListener(listener)) return 'full';
    const nowMs = this.#clock.monotonicMs();
    const listenerRate = own.maxCreationRate ?? Number.MAX_SAFE_INTEGER;
    const listenerPace = this.#paceOf(listener, nowMs);
    const waitMs = Math.max(
      this.#pace.waitMs(nowMs, limits.maxCreationRate, limits.creationBurstSeconds),
      listenerPace.waitMs(nowMs, listenerRate, limits.creationBurstSeconds),
    );
    if (waitMs > 0) return waitMs;
    this.#pace.take();
    listenerPace.take();
    this.#admitted += 1;
    this.#admittedByListener.set(listener, ofListener + 1);
    return 'admitted';
  }

  release(listener: string): void {
    this.#admitted -= 1;
    this.#admittedByListener.set(listener, (this.#admittedByListener.get(listener) ?? 1) - 1);
  }

  /** Whether a client has to go, because brokers came in beyond the limit. */
  get isOverfull(): boolean {
    return this.#admitted > this.#limits().maxConnections;
  }

  #paceOf(listener: string, nowMs: number): CreationPace {
    const existing = this.#paceByListener.get(listener);
    if (existing !== undefined) return existing;
    const pace = new CreationPace(nowMs);
    this.#paceByListener.set(listener, pace);
    return pace;
  }
}

/** A bucket that a rate fills: a connection takes one from it, and has to wait while there is none. */
class CreationPace {
  /** How many have been taken and not been filled up again. */
  #missing = 0;
  #filledMs: number;

  constructor(nowMs: number) {
    this.#filledMs = nowMs;
  }

  /** 0 when one may be taken now. A rate of 0 lets nobody in until it is changed: whoever waits asks again each second. */
  waitMs(nowMs: number, ratePerSecond: number, burstSeconds: number): number {
    this.#missing = Math.max(0, this.#missing - ((nowMs - this.#filledMs) / 1000) * ratePerSecond);
    this.#filledMs = nowMs;
    if (ratePerSecond <= 0) return 1000;
    const excess = this.#missing + 1 - Math.max(1, ratePerSecond * burstSeconds);
    return excess <= 0 ? 0 : Math.max(1, Math.ceil((excess / ratePerSecond) * 1000));
  }

  take(): void {
    this.#missing += 1;
  }
}
