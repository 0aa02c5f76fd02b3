// Different names for one thing: broker settings that stand in for each other, and the broker settings that topics and groups fall
// back on. The order is that of precedence.

import type { SettingName } from '@odradek/runtime';
import type { BrokerSettingName } from './broker-settings.ts';
import type { topicSettings } from './topic-settings.ts';

export type TopicSettingName = SettingName<typeof topicSettings>;

const rollTime = ['log.roll.ms', 'log.roll.hours'];
const rollJitter = ['log.roll.jitter.ms', 'log.roll.jitter.hours'];
const retentionTime = ['log.retention.ms', 'log.retention.minutes', 'log.retention.hours'];

const brokerSynonymLists = new Map<string, readonly string[]>([
  ...rollTime.map((name) => [name, rollTime] as const),
  ...rollJitter.map((name) => [name, rollJitter] as const),
  ...retentionTime.map((name) => [name, retentionTime] as const),
  ['log.flush.interval.ms', ['log.flush.interval.ms', 'log.flush.scheduler.interval.ms']],
]);

/** These come with a SASL mechanism between the listener's name and their own. */
const mechanismSettings = [
  'sasl.jaas.config',
  'sasl.login.callback.handler.class',
  'sasl.login.class',
  'sasl.server.callback.handler.class',
  'connections.max.reauth.ms',
];

/** The setting that `listener.name.LISTENER.SETTING` is about; undefined when the name does not begin so. */
export function listenerSetting(name: string): string | undefined {
  const base = /^listener\.name\.[^.]*\.(.*)$/.exec(name)?.[1];
  return base === undefined ? undefined : (mechanismSettings.find((setting) => base.endsWith(setting)) ?? base);
}

/** The names under which a broker setting may be given, its own among them. */
export function brokerSynonyms(name: string): readonly string[] {
  const base = listenerSetting(name);
  return base === undefined ? (brokerSynonymLists.get(name) ?? [name]) : [name, base];
}

/** The broker setting that counts where a topic has none. Topic settings that are absent here have only their own default. */
export const topicSynonyms: Partial<Record<TopicSettingName, BrokerSettingName>> = {
  'cleanup.policy': 'log.cleanup.policy',
  'compression.type': 'compression.type',
  'compression.gzip.level': 'compression.gzip.level',
  'compression.lz4.level': 'compression.lz4.level',
  'compression.zstd.level': 'compression.zstd.level',
  'delete.retention.ms': 'log.cleaner.delete.retention.ms',
  'file.delete.delay.ms': 'log.segment.delete.delay.ms',
  'flush.messages': 'log.flush.interval.messages',
  'flush.ms': 'log.flush.interval.ms',
  'index.interval.bytes': 'log.index.interval.bytes',
  'local.retention.bytes': 'log.local.retention.bytes',
  'local.retention.ms': 'log.local.retention.ms',
  'max.compaction.lag.ms': 'log.cleaner.max.compaction.lag.ms',
  'max.decompressed.message.bytes': 'max.decompressed.message.bytes',
  'max.message.bytes': 'message.max.bytes',
  'message.downconversion.enable': 'log.message.downconversion.enable',
  'message.format.version': 'log.message.format.version',
  'message.timestamp.after.max.ms': 'log.message.timestamp.after.max.ms',
  'message.timestamp.before.max.ms': 'log.message.timestamp.before.max.ms',
  'message.timestamp.difference.max.ms': 'log.message.timestamp.difference.max.ms',
  'message.timestamp.type': 'log.message.timestamp.type',
  'min.cleanable.dirty.ratio': 'log.cleaner.min.cleanable.ratio',
  'min.compaction.lag.ms': 'log.cleaner.min.compaction.lag.ms',
  'min.insync.replicas': 'min.insync.replicas',
  preallocate: 'log.preallocate',
  'remote.copy.lag.bytes': 'log.remote.copy.lag.bytes',
  'remote.copy.lag.ms': 'log.remote.copy.lag.ms',
  'retention.bytes': 'log.retention.bytes',
  'retention.ms': 'log.retention.ms',
  'segment.bytes': 'log.segment.bytes',
  'segment.index.bytes': 'log.index.size.max.bytes',
  'segment.jitter.ms': 'log.roll.jitter.ms',
  'segment.ms': 'log.roll.ms',
  'unclean.leader.election.enable': 'unclean.leader.election.enable',
};
