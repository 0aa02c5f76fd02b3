// How quickly one address may open connections (KIP-612): `connection_creation_rate`. A connection that is too many does not count.

import type { Clock } from '@odradek/runtime';
import type { ClientQuotas } from './client-quotas.ts';
import { type Metered, Meters } from './meters.ts';
import { WindowedRate } from './windowed-rate.ts';

export interface AddressRatesParts {
  readonly clock: Clock;
  readonly quotas: Pick<ClientQuotas, 'limits'>;
  /** quota.window.num and quota.window.size.seconds */
  readonly windowCount: number;
  readonly windowMs: number;
}

export class AddressRates {
  readonly #parts: AddressRatesParts;
  /** By address, in place of a client id. */
  readonly #rates: Meters<WindowedRate>;

  constructor(parts: AddressRatesParts) {
    const { clock, windowCount: count, windowMs: sizeMs } = parts;
    this.#parts = parts;
    this.#rates = new Meters(clock, () => new WindowedRate(clock, { count, sizeMs, atLeast: Math.max(1, count - 1) }));
  }

  /** A connection has come: 0, or for how long its peer is to be kept waiting, at most a window, before it is sent away. */
  arrive(ip: string): number {
    const { limits } = this.#parts.quotas;
    if (!limits.limitsAddresses) return 0;
    const perSecond = limits.ofAddress(ip);
    if (perSecond === undefined) return 0;
    return Math.min(this.#rates.of({ user: '', clientId: ip }).tryRecord(1, perSecond), this.#parts.windowMs);
  }

  /** For metrics. */
  get meters(): Iterable<Metered<WindowedRate>> {
    return this.#rates;
  }
}
