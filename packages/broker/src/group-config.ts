// The configuration of one group: its own values over those of the broker, kept within the broker's limits.

import { ConfigError, parseSetting, printSetting, type Setting, type SettingName, type SettingValue } from '@odradek/runtime';
import type { BrokerConfig } from './broker-config.ts';
import { type BrokerSettingName, brokerSettings } from './config/broker-settings.ts';
import { perGroupSettings } from './config/per-group-settings.ts';

type Overrides = ReadonlyMap<string, string>;
export type GroupSettingName = SettingName<typeof perGroupSettings>;
type GroupSettingValue<K extends GroupSettingName> = SettingValue<typeof perGroupSettings, K>;

export const groupSettingNames = Object.keys(perGroupSettings) as readonly GroupSettingName[];

/** The broker setting that counts where a group has none; undefined: there is none. */
export function groupSynonym(name: string): BrokerSettingName | undefined {
  const broker = `group.${name}`;
  return broker in brokerSettings ? (broker as BrokerSettingName) : undefined;
}

/** What counts where a group has no value of its own, as it prints; null: unset. */
export function groupDefaultText(config: BrokerConfig, name: GroupSettingName): string | null {
  const synonym = groupSynonym(name);
  return synonym === undefined ? perGroupSettings[name].defaultText : config.text(synonym);
}

/** The value that counts for a group, as it prints; null: unset. An override that cannot be read is passed over. */
export function groupText(config: BrokerConfig, overrides: Overrides, name: GroupSettingName): string | null {
  const text = overrides.get(name);
  if (text !== undefined && readable(name, text)) return printSetting(perGroupSettings[name], text);
  return groupDefaultText(config, name);
}

/** The value that counts for a group, within the limits that the broker has now; they may have been others when it was set. */
export function groupValue<K extends GroupSettingName>(config: BrokerConfig, overrides: Overrides, name: K): GroupSettingValue<K> {
  const setting: Setting = perGroupSettings[name];
  const text = groupText(config, overrides, name);
  const value = text === null ? setting.defaultValue : parseSetting(name, setting, text);
  if (typeof value !== 'number') return value as GroupSettingValue<K>;
  const { min, max } = groupLimits(config, name);
  return Math.min(Math.max(value, min), max) as GroupSettingValue<K>;
}

/** Throws ConfigError when the values are beyond the broker's limits or do not go together. */
export function checkGroupOverrides(config: BrokerConfig, overrides: Overrides): void {
  for (const name of groupSettingNames) {
    const text = overrides.get(name);
    if (text === undefined) continue;
    const value = parseSetting(name, perGroupSettings[name] as Setting, text);
    if (typeof value !== 'number') continue;
    const { min, minName, max, maxName } = groupLimits(config, name);
    if (value < min) throw new ConfigError(`${name} must be at least ${min}, which is ${minName}`);
    if (value > max) throw new ConfigError(`${name} must be no more than ${max}, which is ${maxName}`);
  }
  for (const kind of ['consumer', 'share', 'streams'] as const) {
    const heartbeat = groupValue(config, overrides, `${kind}.heartbeat.interval.ms`);
    if (heartbeat >= groupValue(config, overrides, `${kind}.session.timeout.ms`)) {
      throw new ConfigError(`${kind}.heartbeat.interval.ms must be below ${kind}.session.timeout.ms`);
    }
  }
}

interface GroupLimits {
  readonly min: number;
  readonly minName: string;
  readonly max: number;
  readonly maxName: string;
}

/** The broker's limits on a group's value are called as the value, with min or max before the last part: group.consumer.min.session.timeout.ms. */
function groupLimits(config: BrokerConfig, name: GroupSettingName): GroupLimits {
  const [kind = '', ...rest] = name.split('.');
  const what = rest[0] === 'num' ? rest.slice(1).join('.') : rest.join('.');
  const limit = (side: 'min' | 'max', none: number): number => {
    const setting = `group.${kind}.${side}.${what}`;
    return setting in brokerSettings ? (config.get(setting as BrokerSettingName) as number) : none;
  };
  return {
    min: limit('min', Number.MIN_SAFE_INTEGER),
    minName: `group.${kind}.min.${what}`,
    max: limit('max', Number.MAX_SAFE_INTEGER),
    maxName: `group.${kind}.max.${what}`,
  };
}

function readable(name: GroupSettingName, text: string): boolean {
  try {
    parseSetting(name, perGroupSettings[name] as Setting, text);
    return true;
  } catch (error) {
    if (error instanceof ConfigError) return false;
    throw error;
  }
}
