// The figures of clients that have quotas, by the names that Kafka's have in snake case. Clients without a quota have none.

import type { MetricSeries } from '@odradek/runtime';
import type { AddressRates } from './address-rates.ts';
import type { ClientRate, ClientThrottle } from './client-throttle.ts';
import type { Metered } from './meters.ts';
import type { MutationMeter, MutationQuotas } from './mutation-quotas.ts';

export interface QuotaMeters {
  readonly throttle: Pick<ClientThrottle, 'meters'>;
  readonly mutationQuotas: Pick<MutationQuotas, 'meters'>;
  readonly addressRates: Pick<AddressRates, 'meters'>;
}

export function* quotaMetrics({ throttle, mutationQuotas, addressRates }: QuotaMeters): Iterable<MetricSeries> {
  const { produce, fetch, request } = throttle.meters;
  yield* clientRates('produce', 'byte_rate', produce);
  yield* clientRates('fetch', 'byte_rate', fetch);
  yield* clientRates('request', 'request_time', request);
  for (const entry of mutationQuotas.meters) yield* mutationSeries(entry);
  for (const { clientId: ip, meter } of addressRates.meters) yield gauge('connection_creation_rate', { ip }, meter.perSecond);
}

function* clientRates(kind: string, what: string, meters: Iterable<Metered<ClientRate>>): Iterable<MetricSeries> {
  for (const { user, clientId, meter } of meters) {
    const labels = { user, client_id: clientId };
    yield gauge(`${kind}_${what}`, labels, meter.rate.perSecond);
    yield gauge(`${kind}_throttle_time`, labels, meter.throttledMs);
  }
}

function* mutationSeries({ user, clientId, meter }: Metered<MutationMeter>): Iterable<MetricSeries> {
  const labels = { user, client_id: clientId };
  yield gauge('controller_mutation_rate', labels, meter.rate.perSecond);
  yield gauge('controller_mutation_tokens', labels, meter.bucket.tokens(meter.perSecond));
  yield gauge('controller_mutation_throttle_time', labels, meter.throttledMs);
}

function gauge(name: string, labels: Readonly<Record<string, string>>, value: number): MetricSeries {
  return { kind: 'gauge', name, labels, value };
}
