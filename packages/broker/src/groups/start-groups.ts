// Puts the group coordinator of a broker together, and tells it what happens around it: which partitions of
// `__consumer_offsets` this broker leads, and which topics are gone.

import type { CompressionType } from '@odradek/protocol';
import {
  type Clock,
  ConfigError,
  type Logger,
  type MetricSeries,
  type MetricsRegistry,
  type Random,
  type Timer,
} from '@odradek/runtime';
import { type ConfigChanges, configResourceTypes } from '../admin/config-changes.ts';
import type { TopicChanges } from '../admin/topic-changes.ts';
import type { BrokerConfig } from '../broker-config.ts';
import { CoordinatorLogs } from '../coordinator/coordinator-logs.ts';
import { InternalTopic } from '../coordinator/internal-topic.ts';
import type { MetadataCache } from '../metadata/metadata-cache.ts';
import { randomUuid } from '../metadata/random-uuid.ts';
import type { ReplicaManager } from '../replication/replica-manager.ts';
import { GroupCoordinator } from './group-coordinator.ts';
import { GroupLag } from './group-lag.ts';
import { groupSettingsOf } from './group-settings.ts';
import type { GroupShard } from './group-shard.ts';
import { watchTopics } from './topic-watch.ts';

export interface GroupsParts {
  readonly clock: Clock;
  readonly timer: Timer;
  readonly random: Random;
  readonly logger: Logger;
  readonly config: BrokerConfig;
  readonly replicaManager: ReplicaManager;
  readonly metadataCache: MetadataCache;
  readonly topicChanges: TopicChanges;
  readonly configChanges: ConfigChanges;
  readonly metrics: MetricsRegistry;
}

export interface Groups {
  readonly coordinator: GroupCoordinator;
  readonly lag: GroupLag;
  readonly topic: InternalTopic;
  close(): void;
}

/** Kafka's numbers of the codecs, as `offsets.topic.compression.codec` has them. */
const codecs: readonly CompressionType[] = ['none', 'gzip', 'snappy', 'lz4', 'zstd'];

export function startGroups(parts: GroupsParts): Groups {
  const { config, configChanges, replicaManager, metadataCache, topicChanges, clock, timer, random, logger, metrics } = parts;
  const topic = new InternalTopic({
    name: '__consumer_offsets',
    metadataCache,
    topicChanges,
    timer,
    partitionCount: () => config.get('offsets.topic.num.partitions'),
  });
  const compression = codecs[config.get('offsets.topic.compression.codec')];
  if (compression === undefined) throw new ConfigError('offsets.topic.compression.codec must be a number from 0 to 4');
  const coordinator = new GroupCoordinator({
    clock,
    timer,
    logger,
    partitions: new CoordinatorLogs({
      topic: topic.name,
      replicaManager,
      clock,
      timer,
      logger,
      partitionCount: () => topic.partitionCount,
      compression: () => compression,
      loadBytes: () => config.get('offsets.load.buffer.size'),
    }),
    settings: groupSettingsOf(config, (groupId) => configChanges.overrides({ type: configResourceTypes.GROUP, name: groupId })),
    metadata: () => metadataCache.current,
    uuid: () => randomUuidText(random),
    shortUuid: () => randomUuid(random),
  });
  const previousListener = replicaManager.onRoleChange;
  replicaManager.onRoleChange = (partition) => {
    previousListener(partition);
    if (partition.topic !== topic.name) return;
    if (partition.isLeader) void coordinator.onElection(partition.index, partition.leaderEpoch);
    else coordinator.onResignation(partition.index);
  };
  const stop = watchTopics(metadataCache, coordinator);
  const lag = new GroupLag({ clock, replicaManager, shards: () => coordinator.shards() });
  const stopMetrics = [metrics.collect(() => lag.series()), metrics.collect(() => groupSeries(coordinator.shards()))];
  coordinator.start();
  return {
    coordinator,
    lag,
    topic,
    close() {
      stop();
      for (const stopCollecting of stopMetrics) stopCollecting();
      coordinator.close();
    },
  };
}

/** A random uuid in its usual form, version 4. */
function randomUuidText(random: Random): string {
  const bytes = random.bytes(16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** How many groups there are of each type in each state, and how many offsets they have. */
function* groupSeries(shards: Iterable<GroupShard>): Iterable<MetricSeries> {
  const groups = new Map<string, { readonly type: string; readonly state: string; count: number }>();
  let offsets = 0;
  for (const shard of shards) {
    offsets += shard.offsets.count;
    for (const { type, state } of shard.groups.values()) {
      const key = `${type} ${state}`;
      const entry = groups.get(key);
      if (entry === undefined) groups.set(key, { type, state, count: 1 });
      else entry.count += 1;
    }
  }
  for (const { type, state, count } of groups.values())
    yield { kind: 'gauge', name: 'groups', labels: { type, state }, value: count };
  yield { kind: 'gauge', name: 'group_offsets', labels: {}, value: offsets };
}
