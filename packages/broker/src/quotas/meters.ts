// What clients are measured with: one meter for all that share a limit, made when it is first needed. Client ids are the client's
// choice, so there are never more than so many: the one that was longest not needed goes, and begins anew when it is needed again.

import type { Clock } from '@odradek/runtime';

/** With 11 windows each about 3 MB, and as much again for the names where these are short. */
const maxMeters = 10_000;

/** How long a meter stays, and its metrics with it, that nobody needs; Kafka's. */
const idleLifeMs = 3_600_000;

export interface Metered<T> {
  /** '' where the limit is for any of them. */
  readonly user: string;
  readonly clientId: string;
  readonly meter: T;
}

interface Entry<T> extends Metered<T> {
  usedMs: number;
}

export class Meters<T> implements Iterable<Metered<T>> {
  readonly #clock: Clock;
  readonly #make: () => T;
  readonly #max: number;
  /** By user and client id, the longest not used first. */
  readonly #entries = new Map<string, Entry<T>>();

  constructor(clock: Clock, make: () => T, max = maxMeters) {
    this.#clock = clock;
    this.#make = make;
    this.#max = max;
  }

  get size(): number {
    return this.#entries.size;
  }

  of({ user, clientId }: { readonly user: string; readonly clientId: string }): T {
    const key = `${user.length} ${user}${clientId}`;
    const nowMs = this.#clock.monotonicMs();
    let entry = this.#entries.get(key);
    if (entry !== undefined) {
      this.#entries.delete(key);
      entry.usedMs = nowMs;
    } else {
      entry = { user, clientId, meter: this.#make(), usedMs: nowMs };
    }
    this.#entries.set(key, entry);
    this.#forgetSome(nowMs);
    return entry.meter;
  }

  [Symbol.iterator](): Iterator<Metered<T>> {
    return this.#entries.values();
  }

  #forgetSome(nowMs: number): void {
    for (const [key, { usedMs }] of this.#entries) {
      if (this.#entries.size <= this.#max && nowMs - usedMs < idleLifeMs) return;
      this.#entries.delete(key);
    }
  }
}
