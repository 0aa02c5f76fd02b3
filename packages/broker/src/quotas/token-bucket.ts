// A bucket that a rate fills, for what is rare and costs much (KIP-599). Whoever finds anything in it may take as much as it wants, and
// leave the bucket in debt; the next one waits until that is paid.

import type { Clock } from '@odradek/runtime';
import { longestWaitMs } from './windowed-rate.ts';

export class TokenBucket {
  readonly #clock: Clock;
  /** For how long at the full rate the bucket holds tokens. */
  readonly #burstSeconds: number;
  /** How many tokens there are less than a full bucket has, so that a change of the rate does not empty or fill it. */
  #missing = 0;
  #filledMs: number;

  constructor(clock: Clock, burstSeconds: number) {
    this.#clock = clock;
    this.#burstSeconds = burstSeconds;
    this.#filledMs = clock.monotonicMs();
  }

  /** Below 0: the bucket is in debt. */
  tokens(perSecond: number): number {
    this.#fill(perSecond);
    return this.#burstSeconds * perSecond - this.#missing;
  }

  take(count: number, perSecond: number): void {
    this.#fill(perSecond);
    this.#missing += count;
  }

  /** How long until the debt is paid. */
  waitMs(perSecond: number): number {
    const tokens = this.tokens(perSecond);
    return tokens < 0 ? Math.min(Math.max(1, Math.round((-tokens / perSecond) * 1000)), longestWaitMs) : 0;
  }

  #fill(perSecond: number): void {
    const nowMs = this.#clock.monotonicMs();
    this.#missing = Math.max(0, this.#missing - ((nowMs - this.#filledMs) / 1000) * perSecond);
    this.#filledMs = nowMs;
  }
}
