// How many partitions clients may create and delete in a second (KIP-599): each topic of a request is paid for when it is about to be
// written. From certain versions on a topic is refused while the client is in debt; clients of older ones only have to wait afterwards.

import { errorCodes, ProtocolError } from '@odradek/protocol';
import type { Clock } from '@odradek/runtime';
import type { MutationBudget } from '../admin/mutation-budget.ts';
import type { RequestContext } from '../requests/request-context.ts';
import type { ClientQuotas } from './client-quotas.ts';
import { type Metered, Meters } from './meters.ts';
import { TokenBucket } from './token-bucket.ts';
import { WindowedRate } from './windowed-rate.ts';

export interface MutationQuotasParts {
  readonly clock: Clock;
  readonly quotas: Pick<ClientQuotas, 'limits'>;
  /** controller.quota.window.num and controller.quota.window.size.seconds */
  readonly windowCount: number;
  readonly windowMs: number;
}

export interface MutationMeter {
  readonly bucket: TokenBucket;
  readonly rate: WindowedRate;
  /** What the bucket is filled with, and what the last client was told to wait. */
  perSecond: number;
  throttledMs: number;
}

export class MutationQuotas {
  readonly #quotas: MutationQuotasParts['quotas'];
  readonly #meters: Meters<MutationMeter>;

  constructor({ clock, quotas, windowCount: count, windowMs: sizeMs }: MutationQuotasParts) {
    this.#quotas = quotas;
    this.#meters = new Meters(clock, () => ({
      bucket: new TokenBucket(clock, (count * sizeMs) / 1000),
      rate: new WindowedRate(clock, { count, sizeMs, atLeast: Math.max(1, count - 1) }),
      perSecond: 0,
      throttledMs: 0,
    }));
  }

  /**
   * For one request; undefined: the client may do what it wants. Topics are refused from `strictSince` on, the version of the API that
   * brought the error.
   */
  budget(context: RequestContext, strictSince: number): MutationBudget | undefined {
    const limit = this.#quotas.limits.ofClient('controller_mutation_rate', context.principal.name, context.clientId ?? '');
    if (limit === undefined) return undefined;
    const meter = this.#meters.of(limit);
    meter.perSecond = limit.perSecond;
    meter.throttledMs = 0;
    return new LimitedBudget(meter, context.apiVersion >= strictSince);
  }

  /** For metrics. */
  get meters(): Iterable<Metered<MutationMeter>> {
    return this.#meters;
  }
}

class LimitedBudget implements MutationBudget {
  readonly #meter: MutationMeter;
  readonly #isStrict: boolean;
  #throttleMs = 0;

  constructor(meter: MutationMeter, isStrict: boolean) {
    this.#meter = meter;
    this.#isStrict = isStrict;
  }

  get throttleMs(): number {
    return this.#throttleMs;
  }

  take(partitions: number): void {
    const { bucket, rate, perSecond } = this.#meter;
    if (this.#isStrict && this.#isInDebt()) throw new ProtocolError(errorCodes.THROTTLING_QUOTA_EXCEEDED);
    bucket.take(partitions, perSecond);
    rate.record(partitions);
    if (!this.#isStrict) this.#isInDebt();
  }

  /** The client has to wait until nothing is owed any more. */
  #isInDebt(): boolean {
    this.#throttleMs = Math.max(this.#throttleMs, this.#meter.bucket.waitMs(this.#meter.perSecond));
    this.#meter.throttledMs = this.#throttleMs;
    return this.#throttleMs > 0;
  }
}
