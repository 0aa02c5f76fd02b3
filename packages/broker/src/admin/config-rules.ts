// What may be set on a topic, a broker, a group or a subscription to client metrics: names, values, and what must hold between them.

import { errorCodes, ProtocolError } from '@odradek/protocol';
import { ConfigError, parseSetting, type Setting, type Settings } from '@odradek/runtime';
import type { BrokerConfig } from '../broker-config.ts';
import { brokerSettings } from '../config/broker-settings.ts';
import { clientMetricsSettings } from '../config/client-metrics-settings.ts';
import { dynamicQuotaSettings } from '../config/dynamic-quota-settings.ts';
import { perGroupSettings } from '../config/per-group-settings.ts';
import type { sslSettings } from '../config/ssl-settings.ts';
import { listenerSetting } from '../config/synonyms.ts';
import { topicSettings } from '../config/topic-settings.ts';
import { checkGroupOverrides } from '../group-config.ts';
import { topicValue } from '../topic-config.ts';
import {
  type ConfigResource,
  type ConfigResourceType,
  type ConfigRule,
  type ConfigRules,
  configResourceTypes,
} from './config-changes.ts';

type Overrides = ReadonlyMap<string, string>;

const settingsByType: ReadonlyMap<number, Settings> = new Map<number, Settings>([
  [configResourceTypes.TOPIC, topicSettings],
  [configResourceTypes.BROKER, { ...brokerSettings, ...dynamicQuotaSettings }],
  [configResourceTypes.GROUP, perGroupSettings],
  [configResourceTypes.CLIENT_METRICS, clientMetricsSettings],
]);

/** The setting of that name for a kind of resource; of a broker also for one of its listeners. */
export function settingOf(type: number, name: string): Setting | undefined {
  const settings = settingsByType.get(type);
  if (settings === undefined) return undefined;
  const base = type === configResourceTypes.BROKER ? (listenerSetting(name) ?? name) : name;
  return Object.hasOwn(settings, base) ? settings[base] : undefined;
}

export function configRules(config: BrokerConfig): ConfigRules {
  return {
    rule: (type: ConfigResourceType, name: string): ConfigRule | undefined => {
      const setting = settingOf(type, name);
      return (
        setting && {
          isList: setting.type === 'LIST',
          defaultValue: setting.defaultText,
          updateMode: type === configResourceTypes.BROKER ? setting.update : 'cluster-wide',
        }
      );
    },
    validate: (resource: ConfigResource, overrides: Overrides): void => {
      switch (resource.type) {
        case configResourceTypes.TOPIC:
          return failingWith(errorCodes.INVALID_CONFIG, () => checkTopic(config, overrides));
        case configResourceTypes.BROKER:
          return failingWith(errorCodes.INVALID_REQUEST, () => checkBroker(config, resource.name !== '', overrides));
        case configResourceTypes.GROUP:
          return failingWith(errorCodes.INVALID_CONFIG, () => {
            checkNames('Unknown group config name', resource.type, overrides);
            checkGroupOverrides(config, overrides);
          });
        case configResourceTypes.CLIENT_METRICS:
          return failingWith(errorCodes.INVALID_REQUEST, () => {
            checkNames('Unknown client metrics configuration', resource.type, overrides);
            checkValues(clientMetricsSettings, overrides);
          });
      }
    },
  };
}

/** A value that cannot be used is the client's fault here, not that of whoever started the broker. */
function failingWith(code: number, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (error instanceof ConfigError) throw new ProtocolError(code, error.message, { cause: error });
    throw error;
  }
}

function checkNames(message: string, type: ConfigResourceType, overrides: Overrides): void {
  for (const name of overrides.keys()) {
    if (settingOf(type, name) === undefined) throw new ConfigError(`${message}: ${name}`);
  }
}

function checkValues(settings: Settings, overrides: Overrides): void {
  for (const [name, text] of overrides) {
    const setting = settings[name];
    if (setting !== undefined) parseSetting(name, setting, text);
  }
}

function checkTopic(config: BrokerConfig, overrides: Overrides): void {
  checkNames('Unknown topic config name', configResourceTypes.TOPIC, overrides);
  checkValues(topicSettings, overrides);
  const minLag = topicValue(config, overrides, 'min.compaction.lag.ms');
  const maxLag = topicValue(config, overrides, 'max.compaction.lag.ms');
  if (minLag > maxLag) {
    throw new ConfigError(`min.compaction.lag.ms (${minLag}) must not be above max.compaction.lag.ms (${maxLag})`);
  }
  if (topicValue(config, overrides, 'remote.storage.enable')) {
    throw new ConfigError('remote.storage.enable cannot be true: there is no tiered storage');
  }
}

/** Their keys would be shared by all listeners, so a change must say which listener it is for. */
const keyMaterial: readonly string[] = [
  'ssl.keystore.type',
  'ssl.keystore.location',
  'ssl.keystore.password',
  'ssl.keystore.key',
  'ssl.keystore.certificate.chain',
  'ssl.key.password',
  'ssl.truststore.type',
  'ssl.truststore.location',
  'ssl.truststore.password',
  'ssl.truststore.certificates',
] satisfies readonly (keyof typeof sslSettings)[];

/** Per listener, but for all brokers. */
const clusterWideListenerSettings = ['max.connections', 'max.connection.creation.rate', 'num.network.threads'];

function checkBroker(config: BrokerConfig, isOneBroker: boolean, overrides: Overrides): void {
  const names = [...overrides.keys()];
  const updateMode = (name: string) => settingOf(configResourceTypes.BROKER, name)?.update;
  refuse(
    'Cannot update these configs dynamically',
    names.filter((name) => listenerSetting(name) === undefined && updateMode(name) === 'read-only'),
  );
  refuse(
    'These security configs can be updated only for one listener, as listener.name.LISTENER.CONFIG',
    names.filter((name) => keyMaterial.includes(name)),
  );
  config.checkDynamic(isOneBroker ? 'dynamicBroker' : 'dynamicDefault', overrides);
  if (!isOneBroker) {
    refuse(
      'Cannot update these configs for all brokers, a broker id must be given',
      names.filter((name) => {
        const base = listenerSetting(name);
        if (base !== undefined) return !clusterWideListenerSettings.includes(base);
        return Object.hasOwn(brokerSettings, name) && updateMode(name) === 'per-broker';
      }),
    );
  }
}

function refuse(message: string, names: readonly string[]): void {
  if (names.length > 0) throw new ConfigError(`${message}: [${names.join(', ')}]`);
}
