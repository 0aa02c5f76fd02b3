// For tests: quotas of one broker, altered and described as clients do it, through the bytes of a version.

import type { Coordination } from '@odradek/coordination';
import { errorByCode } from '@odradek/protocol';
import { createLogger } from '@odradek/runtime';
import { ConfigChanges } from '../admin/config-changes.ts';
import { type OneBroker, someRules, startOneBroker } from '../admin/one-broker.fixture.ts';
import { describeClientQuotasHandler } from '../handlers/48-describe-client-quotas.ts';
import { alterClientQuotasHandler } from '../handlers/49-alter-client-quotas.ts';
import { callHandler } from '../requests/call-handler.fixture.ts';
import { ClientQuotas } from './client-quotas.ts';

/** By kind of entity; null is the default. */
export type Names = Readonly<Record<string, string | null>>;

/** A value of null takes the quota away. */
export type Ops = Readonly<Record<string, number | null>>;

export type Component = readonly [entityType: string, matchType: number, match: string | null];

export const hosts: Readonly<Record<string, string>> = { 'host.example': '10.0.0.9' };

export class QuotaBroker {
  readonly clientQuotas: ClientQuotas;
  readonly configChanges: ConfigChanges;
  readonly #version: number;

  private constructor(clientQuotas: ClientQuotas, configChanges: ConfigChanges, version: number) {
    this.clientQuotas = clientQuotas;
    this.configChanges = configChanges;
    this.#version = version;
  }

  static async start(coordination: Coordination, { metadataCache }: OneBroker, version = 1): Promise<QuotaBroker> {
    const logger = createLogger({ level: 'fatal' });
    const lookup = async (host: string) => hosts[host];
    const otherEntities = new ClientQuotas({ coordination, logger, lookup });
    const parts = { coordination, metadataCache, rules: someRules, brokerId: 0, logger, otherEntities };
    return new QuotaBroker(otherEntities, await ConfigChanges.start(parts), version);
  }

  /** The outcome: NONE, or the error's name and message. */
  async alter(names: Names, ops: Ops, validateOnly = false): Promise<string> {
    const entity = Object.entries(names).map(([entityType, entityName]) => ({ entityType, entityName }));
    const { entries } = await callHandler(alterClientQuotasHandler(this), this.#version, {
      entries: [{ entity, ops: Object.entries(ops).map(([key, value]) => ({ key, value: value ?? 0, remove: value === null })) }],
      validateOnly,
    });
    const [outcome] = entries;
    return outcome?.errorCode === 0 ? 'NONE' : `${errorByCode(outcome?.errorCode ?? -1).name} ${outcome?.errorMessage}`;
  }

  /** One line for each entity, sorted; or the error. */
  async tell(components: readonly Component[] = [], strict = false): Promise<string[]> {
    const { entries, errorCode, errorMessage } = await callHandler(describeClientQuotasHandler(this), this.#version, {
      components: components.map(([entityType, matchType, match]) => ({ entityType, matchType, match })),
      strict,
    });
    if (errorCode !== 0) return [`${errorByCode(errorCode).name} ${errorMessage}`];
    return (entries ?? [])
      .map(({ entity, values }) =>
        [
          ...entity.map(({ entityType, entityName }) => `${entityType}=${entityName ?? '*'}`),
          ...values.map(({ key, value }) => `${key}=${value}`).sort(),
        ].join(' '),
      )
      .sort();
  }

  close(): void {
    this.configChanges.close();
  }
}

/** Alone on its cluster. */
export async function startQuotaBroker(
  version?: number,
): Promise<QuotaBroker & { readonly coordination: Coordination; stop(): Promise<void> }> {
  const one = await startOneBroker();
  const broker = await QuotaBroker.start(one.coordination, one, version);
  return Object.assign(broker, {
    coordination: one.coordination,
    stop: async () => {
      broker.close();
      await one.close();
    },
  });
}
