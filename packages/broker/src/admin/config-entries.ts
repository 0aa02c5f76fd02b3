// Configurations as DescribeConfigs and CreateTopics tell them: each value with where it comes from, and what else was given for it.

import { printSetting, type Setting, type Settings, type SettingType } from '@odradek/runtime';
import type { BrokerConfig, ConfigLevel, ConfigOrigin } from '../broker-config.ts';
import { type BrokerSettingName, brokerSettings } from '../config/broker-settings.ts';
import { clientMetricsSettings } from '../config/client-metrics-settings.ts';
import { perGroupSettings } from '../config/per-group-settings.ts';
import { brokerSynonyms, listenerSetting, type TopicSettingName, topicSynonyms } from '../config/synonyms.ts';
import { topicSettings } from '../config/topic-settings.ts';
import { type GroupSettingName, groupSettingNames, groupSynonym, groupText } from '../group-config.ts';
import { topicSettingNames, topicText } from '../topic-config.ts';
import { configResourceTypes } from './config-changes.ts';
import { settingOf } from './config-rules.ts';

type Overrides = ReadonlyMap<string, string>;

/** Kafka's numbers of the places that a value comes from. */
export const configSources = {
  DYNAMIC_TOPIC_CONFIG: 1,
  DYNAMIC_BROKER_CONFIG: 2,
  DYNAMIC_DEFAULT_BROKER_CONFIG: 3,
  STATIC_BROKER_CONFIG: 4,
  DEFAULT_CONFIG: 5,
  DYNAMIC_BROKER_LOGGER_CONFIG: 6,
  CLIENT_METRICS_CONFIG: 7,
  GROUP_CONFIG: 8,
} as const;

/** Kafka's numbers of the types; 0 is a type that is not known. */
const typeNumbers: Readonly<Record<SettingType, number>> = {
  BOOLEAN: 1,
  STRING: 2,
  INT: 3,
  SHORT: 4,
  LONG: 5,
  DOUBLE: 6,
  LIST: 7,
  CLASS: 8,
  PASSWORD: 9,
};

export interface ConfigSynonym {
  readonly name: string;
  readonly value: string | null;
  readonly source: number;
}

export interface ConfigEntry {
  readonly name: string;
  /** null: unset, or a secret. */
  readonly value: string | null;
  readonly readOnly: boolean;
  readonly configSource: number;
  readonly isSensitive: boolean;
  /** All values given, the strongest first: the one that counts, then those it hides. */
  readonly synonyms: readonly ConfigSynonym[];
  readonly configType: number;
  readonly documentation: string | null;
}

/** What is not known could be a secret. */
function isSecret(setting: Setting | undefined): boolean {
  return setting === undefined || setting.type === 'PASSWORD';
}

export function topicEntries(config: BrokerConfig, overrides: Overrides): ConfigEntry[] {
  return visibleNames(topicSettings, topicSettingNames, overrides).map((name) => {
    const value = topicText(config, overrides, name as TopicSettingName);
    const synonym = topicSynonyms[name as TopicSettingName];
    return entry(topicSettings[name as TopicSettingName], name, value, [
      ...own(overrides, name, value, configSources.DYNAMIC_TOPIC_CONFIG),
      ...(synonym === undefined ? [] : brokerOrigins(config, synonym)),
    ]);
  });
}

export function groupEntries(config: BrokerConfig, overrides: Overrides): ConfigEntry[] {
  return visibleNames(perGroupSettings, groupSettingNames, overrides).map((name) => {
    const setting = perGroupSettings[name as GroupSettingName];
    const value = groupText(config, overrides, name as GroupSettingName);
    const synonym = groupSynonym(name);
    return entry(setting, name, value, [
      ...own(overrides, name, value, configSources.GROUP_CONFIG),
      ...(synonym === undefined ? defaultOf(name, setting) : brokerOrigins(config, synonym)),
    ]);
  });
}

export function clientMetricsEntries(overrides: Overrides): ConfigEntry[] {
  return Object.entries<Setting>(clientMetricsSettings).map(([name, setting]) => {
    const text = overrides.get(name);
    const value = text === undefined ? setting.defaultText : printSetting(setting, text);
    return entry(setting, name, value, own(overrides, name, value, configSources.CLIENT_METRICS_CONFIG));
  });
}

/** Everything that this broker runs with. */
export function brokerEntries(config: BrokerConfig): ConfigEntry[] {
  const given = config.given();
  const names = new Set([...visibleNames(brokerSettings, Object.keys(brokerSettings), given), ...given.keys()]);
  return [...names].map((name) => {
    const value = Object.hasOwn(brokerSettings, name) ? config.text(name as BrokerSettingName) : (given.get(name) ?? null);
    return brokerEntry(name, value, brokerOrigins(config, name));
  });
}

/** What was set for all brokers while they run. */
export function brokerDefaultEntries(config: BrokerConfig): ConfigEntry[] {
  return [...config.dynamicDefaults].map(([name, value]) => {
    const synonyms = brokerOrigins(config, name).filter(({ source }) => source === configSources.DYNAMIC_DEFAULT_BROKER_CONFIG);
    return brokerEntry(name, value, synonyms);
  });
}

export function loggerEntries(levels: ReadonlyMap<string, string>): ConfigEntry[] {
  return [...levels].map(([name, level]) => ({
    name,
    value: level,
    readOnly: false,
    configSource: configSources.DYNAMIC_BROKER_LOGGER_CONFIG,
    isSensitive: false,
    synonyms: [],
    configType: 0,
    documentation: null,
  }));
}

function brokerEntry(name: string, value: string | null, synonyms: readonly ConfigSynonym[]): ConfigEntry {
  const setting = settingOf(configResourceTypes.BROKER, name);
  // Kafka calls a listener's own values read-only, although some can be set.
  const readOnly = setting === undefined || setting.update === 'read-only' || listenerSetting(name) !== undefined;
  return entry(setting, name, value, synonyms, readOnly);
}

function entry(
  setting: Setting | undefined,
  name: string,
  value: string | null,
  synonyms: readonly ConfigSynonym[],
  readOnly = false,
): ConfigEntry {
  const isSensitive = isSecret(setting);
  return {
    name,
    value: isSensitive ? null : value,
    readOnly,
    configSource: synonyms[0]?.source ?? configSources.DEFAULT_CONFIG,
    isSensitive,
    synonyms: isSensitive ? synonyms.map((synonym) => ({ ...synonym, value: null })) : synonyms,
    configType: setting === undefined ? 0 : typeNumbers[setting.type],
    documentation: setting?.documentation ?? null,
  };
}

/** Internal settings show only where somebody has set them. */
function visibleNames(settings: Settings, names: readonly string[], given: Overrides): string[] {
  return names.filter((name) => settings[name]?.isInternal !== true || given.has(name));
}

function own(overrides: Overrides, name: string, value: string | null, source: number): ConfigSynonym[] {
  return overrides.has(name) ? [{ name, value, source }] : [];
}

function defaultOf(name: string, setting: Setting): ConfigSynonym[] {
  return setting.defaultText === null ? [] : [{ name, value: setting.defaultText, source: configSources.DEFAULT_CONFIG }];
}

const sourceOfLevel: Readonly<Record<ConfigLevel, number>> = {
  dynamicBroker: configSources.DYNAMIC_BROKER_CONFIG,
  dynamicDefault: configSources.DYNAMIC_DEFAULT_BROKER_CONFIG,
  static: configSources.STATIC_BROKER_CONFIG,
  default: configSources.DEFAULT_CONFIG,
};

/**
 * What was given for a broker setting, from the first time under its own name. Values under other names come after that or not
 * at all: a retention of 168 hours does not show as a synonym of log.retention.ms that nobody has set.
 */
function brokerOrigins(config: BrokerConfig, name: string): ConfigSynonym[] {
  const origins = config.origins(brokerSynonyms(name));
  const first = origins.findIndex((origin) => origin.name === name);
  return first < 0 ? [] : origins.slice(first).map(synonymOf);
}

function synonymOf({ level, name, text }: ConfigOrigin): ConfigSynonym {
  return { name, value: text, source: sourceOfLevel[level] };
}
