// The configuration of a topic: its own values over those of the broker. In text for answers to clients, as LogConfig for storage.

import { ConfigError, parseSetting, printSetting, type Setting, type SettingValue } from '@odradek/runtime';
import type { LogConfig } from '@odradek/storage';
import type { BrokerConfig } from './broker-config.ts';
import { type TopicSettingName, topicSynonyms } from './config/synonyms.ts';
import { topicSettings } from './config/topic-settings.ts';

type Overrides = ReadonlyMap<string, string>;
type TopicSettingValue<K extends TopicSettingName> = SettingValue<typeof topicSettings, K>;

export const topicSettingNames = Object.keys(topicSettings) as readonly TopicSettingName[];

/** What counts where a topic has no value of its own, as it prints; null: unset. */
export function topicDefaultText(config: BrokerConfig, name: TopicSettingName): string | null {
  switch (name) {
    case 'segment.ms':
      return config.text('log.roll.ms') ?? inMs(config.text('log.roll.hours'), hourMs);
    case 'segment.jitter.ms':
      return config.text('log.roll.jitter.ms') ?? inMs(config.text('log.roll.jitter.hours'), hourMs);
    case 'retention.ms':
      return (
        inMs(config.text('log.retention.ms'), 1n) ??
        inMs(config.text('log.retention.minutes'), minuteMs) ??
        inMs(config.text('log.retention.hours'), hourMs)
      );
    case 'flush.ms':
      return config.text('log.flush.interval.ms') ?? config.text('log.flush.scheduler.interval.ms');
    default: {
      const synonym = topicSynonyms[name];
      return synonym === undefined ? topicSettings[name].defaultText : config.text(synonym);
    }
  }
}

const minuteMs = 60_000n;
const hourMs = 60n * minuteMs;

/** A negative time span means no limit, in any unit. */
function inMs(text: string | null, unitMs: bigint): string | null {
  if (text === null) return null;
  return text.startsWith('-') ? '-1' : String(BigInt(text) * unitMs);
}

/** The value that counts for a topic, as it prints; null: unset. An override that cannot be read is passed over. */
export function topicText(config: BrokerConfig, overrides: Overrides, name: TopicSettingName): string | null {
  return overrideText(overrides, name) ?? topicDefaultText(config, name);
}

/** The value that counts for a topic. */
export function topicValue<K extends TopicSettingName>(config: BrokerConfig, overrides: Overrides, name: K): TopicSettingValue<K> {
  const setting: Setting = topicSettings[name];
  const text = topicText(config, overrides, name);
  return (text === null ? setting.defaultValue : parseSetting(name, setting, text)) as TopicSettingValue<K>;
}

/**
 * Values are checked before they are stored; but the store may have been written by another release, and a log that cannot be
 * opened for that would be worse than one with a default.
 */
function overrideText(overrides: Overrides, name: TopicSettingName): string | undefined {
  const text = overrides.get(name);
  if (text === undefined) return undefined;
  try {
    parseSetting(name, topicSettings[name] as Setting, text);
    return printSetting(topicSettings[name], text);
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

export function topicLogConfig(config: BrokerConfig, overrides: Overrides): LogConfig {
  const value = <K extends TopicSettingName>(name: K): TopicSettingValue<K> => topicValue(config, overrides, name);
  const compressionType = value('compression.type');
  return {
    segmentBytes: value('internal.segment.bytes') ?? value('segment.bytes'),
    segmentMs: value('segment.ms'),
    segmentJitterMs: Math.min(value('segment.jitter.ms'), value('segment.ms')),
    segmentIndexBytes: value('segment.index.bytes'),
    indexIntervalBytes: value('index.interval.bytes'),
    maxMessageBytes: value('max.message.bytes'),
    maxDecompressedMessageBytes: value('max.decompressed.message.bytes'),
    flushMessages: value('flush.messages'),
    flushMs: value('flush.ms'),
    retentionBytes: value('retention.bytes'),
    retentionMs: value('retention.ms'),
    cleanupPolicy: value('cleanup.policy') as LogConfig['cleanupPolicy'],
    compressionType: (compressionType === 'uncompressed' ? 'none' : compressionType) as LogConfig['compressionType'],
    compressionLevels: {
      gzip: value('compression.gzip.level'),
      lz4: value('compression.lz4.level'),
      zstd: value('compression.zstd.level'),
    },
    messageTimestampType: value('message.timestamp.type') as LogConfig['messageTimestampType'],
    ...timestampLimits(config, overrides),
    fileDeleteDelayMs: value('file.delete.delay.ms'),
    preallocate: value('preallocate'),
    deleteRetentionMs: value('delete.retention.ms'),
    minCompactionLagMs: value('min.compaction.lag.ms'),
    maxCompactionLagMs: value('max.compaction.lag.ms'),
    minCleanableDirtyRatio: value('min.cleanable.dirty.ratio'),
    minInSyncReplicas: value('min.insync.replicas'),
    uncleanLeaderElection: value('unclean.leader.election.enable'),
    producerIdExpirationMs: config.get('producer.id.expiration.ms'),
  };
}

/** One limit for both sides is what Kafka had before 3.6; each of the two that replaced it wins where it is set. */
function timestampLimits(
  config: BrokerConfig,
  overrides: Overrides,
): { readonly messageTimestampBeforeMaxMs: number; readonly messageTimestampAfterMaxMs: number } {
  const value = (name: 'message.timestamp.before.max.ms' | 'message.timestamp.after.max.ms') => {
    const broker = topicSynonyms[name];
    const oldIsNearer =
      overrides.has('message.timestamp.difference.max.ms') ||
      (config.isSet('log.message.timestamp.difference.max.ms') && broker !== undefined && !config.isSet(broker));
    return topicValue(config, overrides, !overrides.has(name) && oldIsNearer ? 'message.timestamp.difference.max.ms' : name);
  };
  return {
    messageTimestampBeforeMaxMs: value('message.timestamp.before.max.ms'),
    messageTimestampAfterMaxMs: value('message.timestamp.after.max.ms'),
  };
}
