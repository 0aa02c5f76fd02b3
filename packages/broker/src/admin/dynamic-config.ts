// Keeps a broker's configuration in step with what the coordination store holds for it.

import type { Logger } from '@odradek/runtime';
import type { BrokerConfig } from '../broker-config.ts';
import { type ConfigChanges, configResourceTypes } from './config-changes.ts';

/** Takes over what is set now, and every change from now on. Returns what ends it. */
export function followDynamicConfig(
  config: BrokerConfig,
  brokerId: number,
  changes: Pick<ConfigChanges, 'overrides' | 'onChange'>,
  logger: Logger,
): () => void {
  const take = (name: string, configs: ReadonlyMap<string, string>): void => {
    const level = name === '' ? 'dynamicDefault' : 'dynamicBroker';
    for (const problem of config.setDynamic(level, configs)) logger.error(`A stored configuration is left out: ${problem}`);
  };
  const names = ['', String(brokerId)];
  for (const name of names) take(name, changes.overrides({ type: configResourceTypes.BROKER, name }));
  return changes.onChange(({ type, name }, configs) => {
    if (type === configResourceTypes.BROKER && names.includes(name)) take(name, configs);
  });
}
