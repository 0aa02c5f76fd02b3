// The configuration of each topic's logs. Most topics have no settings of their own: they share one object, so that ten thousand
// partitions do not mean ten thousand copies.

import type { LogConfig } from '@odradek/storage';
import type { BrokerConfig } from './broker-config.ts';
import { type BrokerSettingName, brokerSettings } from './config/broker-settings.ts';
import { topicLogConfig } from './topic-config.ts';

/** The broker's settings that are the defaults of topics. */
const defaultNames = (Object.keys(brokerSettings) as BrokerSettingName[]).filter((name) =>
  /^(log\.|compression\.|message\.max\.bytes|max\.decompressed|min\.insync|unclean\.leader|producer\.id\.expiration)/.test(name),
);

export class TopicLogConfigs {
  readonly #config: BrokerConfig;
  readonly #overridesOf: (topic: string) => ReadonlyMap<string, string>;
  #defaults: LogConfig | undefined;
  #listener: (() => void) | undefined;

  constructor(config: BrokerConfig, overridesOf: (topic: string) => ReadonlyMap<string, string>) {
    this.#config = config;
    this.#overridesOf = overridesOf;
    config.onChange(defaultNames, () => {
      this.#defaults = undefined;
      this.#listener?.();
    });
  }

  of(topic: string): LogConfig {
    const overrides = this.#overridesOf(topic);
    if (overrides.size > 0) return topicLogConfig(this.#config, overrides);
    this.#defaults ??= topicLogConfig(this.#config, overrides);
    return this.#defaults;
  }

  /** Calls the listener when the broker's own settings, and so every topic's, have changed. */
  onDefaultsChange(listener: () => void): void {
    this.#listener = listener;
  }
}
