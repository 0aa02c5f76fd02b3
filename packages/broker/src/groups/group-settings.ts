// The settings of the group coordinator, as they are now: an object whose properties change with the configuration.

import type { BrokerConfig } from '../broker-config.ts';
import { groupValue } from '../group-config.ts';

export interface GroupSettings {
  /** `group.initial.rebalance.delay.ms`. */
  readonly initialRebalanceDelayMs: number;
  /** `group.min.session.timeout.ms` and `group.max.session.timeout.ms`. */
  readonly minSessionTimeoutMs: number;
  readonly maxSessionTimeoutMs: number;
  /** `group.max.size`. */
  readonly maxSize: number;
  /** `offsets.retention.minutes`, in ms. */
  readonly offsetsRetentionMs: number;
  /** `offsets.retention.check.interval.ms`. */
  readonly offsetsRetentionCheckIntervalMs: number;
  /** `offset.metadata.max.bytes`. */
  readonly offsetMetadataMaxBytes: number;
  /** `offsets.commit.timeout.ms`. */
  readonly commitTimeoutMs: number;
  /** Whether `group.coordinator.rebalance.protocols` has the consumer protocol. */
  readonly hasConsumerProtocol: boolean;
  /** `group.consumer.max.size`. */
  readonly consumerMaxSize: number;
  /** `group.consumer.assignors` that are known, the default first. */
  readonly consumerAssignors: readonly string[];
  /** `group.consumer.migration.policy`. */
  readonly migrationPolicy: 'disabled' | 'upgrade' | 'downgrade' | 'bidirectional';
  /** `group.consumer.regex.refresh.interval.ms`. */
  readonly regexRefreshIntervalMs: number;
  /** `consumer.session.timeout.ms` of the group, and so on. */
  consumerSessionTimeoutMs(groupId: string): number;
  consumerHeartbeatIntervalMs(groupId: string): number;
  consumerAssignmentIntervalMs(groupId: string): number;
}

/** `overrides` are a group's own settings. */
export function groupSettingsOf(config: BrokerConfig, overrides: (groupId: string) => ReadonlyMap<string, string>): GroupSettings {
  return {
    get initialRebalanceDelayMs() {
      return config.get('group.initial.rebalance.delay.ms');
    },
    get minSessionTimeoutMs() {
      return config.get('group.min.session.timeout.ms');
    },
    get maxSessionTimeoutMs() {
      return config.get('group.max.session.timeout.ms');
    },
    get maxSize() {
      return config.get('group.max.size');
    },
    get offsetsRetentionMs() {
      return config.get('offsets.retention.minutes') * 60_000;
    },
    get offsetsRetentionCheckIntervalMs() {
      return config.get('offsets.retention.check.interval.ms');
    },
    get offsetMetadataMaxBytes() {
      return config.get('offset.metadata.max.bytes');
    },
    get commitTimeoutMs() {
      return config.get('offsets.commit.timeout.ms');
    },
    get hasConsumerProtocol() {
      return config.get('group.coordinator.rebalance.protocols').includes('consumer');
    },
    get consumerMaxSize() {
      return config.get('group.consumer.max.size');
    },
    get consumerAssignors() {
      return config.get('group.consumer.assignors');
    },
    get migrationPolicy() {
      return config.get('group.consumer.migration.policy').toLowerCase() as GroupSettings['migrationPolicy'];
    },
    get regexRefreshIntervalMs() {
      return config.get('group.consumer.regex.refresh.interval.ms');
    },
    consumerSessionTimeoutMs: (groupId) => groupValue(config, overrides(groupId), 'consumer.session.timeout.ms'),
    consumerHeartbeatIntervalMs: (groupId) => groupValue(config, overrides(groupId), 'consumer.heartbeat.interval.ms'),
    consumerAssignmentIntervalMs: (groupId) => groupValue(config, overrides(groupId), 'consumer.assignment.interval.ms'),
  };
}
