// What a new topic begins with, and how the broker's own topics are laid out.

import type { TopicDefaults } from '../admin/topic-changes.ts';
import type { BrokerConfig } from '../broker-config.ts';
import type { BrokerSettingName } from './broker-settings.ts';

/** `liveBrokerCount` is asked when an internal topic is made. */
export function topicDefaults(config: BrokerConfig, liveBrokerCount: () => number): TopicDefaults {
  return {
    get numPartitions() {
      return config.get('num.partitions');
    },
    get replicationFactor() {
      return config.get('default.replication.factor');
    },
    get isDeletionEnabled() {
      return config.get('delete.topic.enable');
    },
    internalTopic: (name) => internalTopic(config, name, liveBrokerCount()),
  };
}

function internalTopic(config: BrokerConfig, name: string, liveBrokers: number): ReturnType<TopicDefaults['internalTopic']> {
  switch (name) {
    case '__consumer_offsets':
      return {
        numPartitions: config.get('offsets.topic.num.partitions'),
        replicationFactor: orAtMost(config, 'offsets.topic.replication.factor', liveBrokers),
        configs: new Map([
          ['cleanup.policy', 'compact'],
          ['compression.type', 'producer'],
          ['segment.bytes', String(config.get('offsets.topic.segment.bytes'))],
        ]),
      };
    case '__transaction_state': {
      const replicationFactor = orAtMost(config, 'transaction.state.log.replication.factor', liveBrokers);
      return {
        numPartitions: config.get('transaction.state.log.num.partitions'),
        replicationFactor,
        configs: new Map([
          ['cleanup.policy', 'compact'],
          ['compression.type', 'uncompressed'],
          ['min.insync.replicas', String(orAtMost(config, 'transaction.state.log.min.isr', replicationFactor))],
          ['segment.bytes', String(config.get('transaction.state.log.segment.bytes'))],
          ['unclean.leader.election.enable', 'false'],
        ]),
      };
    }
    case '__share_group_state': {
      const replicationFactor = orAtMost(config, 'share.coordinator.state.topic.replication.factor', liveBrokers);
      return {
        numPartitions: config.get('share.coordinator.state.topic.num.partitions'),
        replicationFactor,
        configs: new Map([
          ['cleanup.policy', 'delete'],
          ['compression.type', 'producer'],
          ['min.insync.replicas', String(orAtMost(config, 'share.coordinator.state.topic.min.isr', replicationFactor))],
          ['retention.ms', '-1'],
          ['segment.bytes', String(config.get('share.coordinator.state.topic.segment.bytes'))],
        ]),
      };
    }
    default:
      return undefined;
  }
}

/**
 * The value that was set, whatever it is; the default only as far as it is possible. Kafka would refuse to make these topics on a
 * single broker until somebody has set them to 1.
 */
function orAtMost(
  config: BrokerConfig,
  name: Extract<BrokerSettingName, `${string}.replication.factor` | `${string}.min.isr`>,
  most: number,
): number {
  const value = config.get(name);
  return config.isSet(name) ? value : Math.max(1, Math.min(value, most));
}
