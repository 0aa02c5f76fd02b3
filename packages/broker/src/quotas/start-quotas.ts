// What holds clients to their quotas, put together: each kind of limit with its meters, and their metrics.

import type { Clock, MetricsRegistry } from '@odradek/runtime';
import type { BrokerConfig } from '../broker-config.ts';
import { AddressRates } from './address-rates.ts';
import type { ClientQuotas } from './client-quotas.ts';
import { ClientThrottle } from './client-throttle.ts';
import { MutationQuotas } from './mutation-quotas.ts';
import { quotaMetrics } from './quota-metrics.ts';

export interface QuotasParts {
  readonly clock: Clock;
  readonly metrics: MetricsRegistry;
  readonly config: BrokerConfig;
  readonly clientQuotas: ClientQuotas;
  /** APIs that brokers alone use. */
  readonly isBrokerApi: (apiKey: number) => boolean;
}

export interface Quotas {
  readonly throttle: ClientThrottle;
  readonly mutationQuotas: MutationQuotas;
  readonly addressRates: AddressRates;
  close(): void;
}

export function startQuotas({ clock, metrics, config, clientQuotas: quotas, isBrokerApi }: QuotasParts): Quotas {
  const windows = { windowCount: config.get('quota.window.num'), windowMs: config.get('quota.window.size.seconds') * 1000 };
  const throttle = new ClientThrottle({ clock, quotas, ...windows, isBrokerApi });
  const addressRates = new AddressRates({ clock, quotas, ...windows });
  const mutationQuotas = new MutationQuotas({
    clock,
    quotas,
    windowCount: config.get('controller.quota.window.num'),
    windowMs: config.get('controller.quota.window.size.seconds') * 1000,
  });
  const close = metrics.collect(() => quotaMetrics({ throttle, mutationQuotas, addressRates }));
  return { throttle, mutationQuotas, addressRates, close };
}
