// How clients are held to their quotas (KIP-13, KIP-124, KIP-219): their requests are measured, and who is over a limit gets its answer at
// once, with the time for which it has to wait. For that long its connection is not read.
//
// A request is measured when it is answered. Of data that consumers fetch nothing is sent that would be too much: the answer is empty, and
// the client asks again after its wait. What brokers ask of each other is not measured.

import { FetchRequest, type Message, type MessageDefinition, ProduceRequest } from '@odradek/protocol';
import type { Clock } from '@odradek/runtime';
import type { AnswerThrottle, RequestCost } from '../requests/answer-throttle.ts';
import type { RequestContext } from '../requests/request-context.ts';
import type { ClientQuotas } from './client-quotas.ts';
import { type Metered, Meters } from './meters.ts';
import type { Limit } from './quota-limits.ts';
import type { ClientQuotaKey } from './quota-values.ts';
import { WindowedRate } from './windowed-rate.ts';

export interface ClientThrottleParts {
  readonly clock: Clock;
  readonly quotas: Pick<ClientQuotas, 'limits'>;
  /** quota.window.num and quota.window.size.seconds */
  readonly windowCount: number;
  readonly windowMs: number;
  /** APIs that brokers alone use. */
  readonly isBrokerApi: (apiKey: number) => boolean;
}

/** What clients that share a limit have done lately. */
export interface ClientRate {
  readonly rate: WindowedRate;
  /** What the last of them was told to wait. */
  throttledMs: number;
}

/** 1 ms in a second is 0.1 percent of it. */
const percentPerMs = 0.1;

export class ClientThrottle implements AnswerThrottle {
  readonly #parts: ClientThrottleParts;
  readonly #produced: Meters<ClientRate>;
  readonly #fetched: Meters<ClientRate>;
  readonly #requestTime: Meters<ClientRate>;

  constructor(parts: ClientThrottleParts) {
    this.#parts = parts;
    const { clock, windowCount: count, windowMs: sizeMs } = parts;
    const windows = { count, sizeMs, atLeast: Math.max(1, count - 1) };
    const make = (): ClientRate => ({ rate: new WindowedRate(clock, windows), throttledMs: 0 });
    this.#produced = new Meters(clock, make);
    this.#fetched = new Meters(clock, make);
    this.#requestTime = new Meters(clock, make);
  }

  get isActive(): boolean {
    return this.#parts.quotas.limits.limitsClients;
  }

  throttleMs(request: Message<MessageDefinition>, context: RequestContext, cost: RequestCost): number {
    if (this.#isExempt(request, context)) return 0;
    const { requestBytes, busyMs, isAnswered } = cost;
    const sentMs =
      context.apiKey === ProduceRequest.apiKey ? this.#record('producer_byte_rate', this.#produced, context, requestBytes) : 0;
    if (!isAnswered) return sentMs;
    const timeMs = this.#record('request_percentage', this.#requestTime, context, busyMs * percentPerMs, this.#parts.windowMs);
    return Math.max(sentMs, timeMs);
  }

  addTime(request: Message<MessageDefinition>, context: RequestContext, busyMs: number): void {
    const limit = this.#limitOf('request_percentage', context);
    if (limit === undefined || this.#isExempt(request, context)) return;
    this.#requestTime.of(limit).rate.record(busyMs * percentPerMs);
  }

  /** So much can be fetched without having to wait afterwards, by a client that comes after a pause. */
  maxFetchBytes(context: RequestContext): number {
    const limit = this.#limitOf('consumer_byte_rate', context);
    if (limit === undefined) return Number.MAX_SAFE_INTEGER;
    const { windowCount, windowMs } = this.#parts;
    return Math.floor(limit.perSecond * Math.max(1, windowCount - 1) * (windowMs / 1000));
  }

  /** Whether a consumer gets what was read for it: 0, or for how long it has to wait and then ask again. */
  fetchThrottleMs(context: RequestContext, bytes: number): number {
    const busyMs = this.#overdueMs(context);
    const limit = this.#limitOf('consumer_byte_rate', context);
    if (limit === undefined || busyMs > 0) return busyMs;
    const meter = this.#fetched.of(limit);
    meter.throttledMs = meter.rate.tryRecord(bytes, limit.perSecond);
    return meter.throttledMs;
  }

  /** For metrics, by the names that Kafka has for the managers of quotas. */
  get meters(): Readonly<Record<'produce' | 'fetch' | 'request', Iterable<Metered<ClientRate>>>> {
    return { produce: this.#produced, fetch: this.#fetched, request: this.#requestTime };
  }

  /** How long the client has to wait for what its earlier requests took. */
  #overdueMs(context: RequestContext): number {
    const limit = this.#limitOf('request_percentage', context);
    if (limit === undefined) return 0;
    return Math.min(this.#requestTime.of(limit).rate.throttleMs(limit.perSecond), this.#parts.windowMs);
  }

  #record(
    key: ClientQuotaKey,
    meters: Meters<ClientRate>,
    context: RequestContext,
    amount: number,
    maxMs = Number.MAX_SAFE_INTEGER,
  ): number {
    const limit = this.#limitOf(key, context);
    if (limit === undefined) return 0;
    const meter = meters.of(limit);
    meter.rate.record(amount);
    meter.throttledMs = Math.min(meter.rate.throttleMs(limit.perSecond), maxMs);
    return meter.throttledMs;
  }

  /** A listener for brokers only has no clients. */
  #limitOf(key: ClientQuotaKey, { principal, clientId, isPrivileged }: RequestContext): Limit | undefined {
    return isPrivileged ? undefined : this.#parts.quotas.limits.ofClient(key, principal.name, clientId ?? '');
  }

  /** Brokers that come in through the listener of clients are known by what they ask for. */
  #isExempt(request: Message<MessageDefinition>, { apiKey, apiVersion }: RequestContext): boolean {
    if (apiKey === FetchRequest.apiKey) return isFollowers(request as FetchRequest, apiVersion);
    return this.#parts.isBrokerApi(apiKey);
  }
}

function isFollowers({ replicaId, replicaState }: FetchRequest, apiVersion: number): boolean {
  return (apiVersion >= 15 ? replicaState.replicaId : replicaId) >= 0;
}
