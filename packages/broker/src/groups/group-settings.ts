// The settings of the group coordinator, as they are now: an object whose properties change with the configuration.

import type { BrokerConfig } from '../broker-config.ts';

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
}

export function groupSettingsOf(config: BrokerConfig): GroupSettings {
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
  };
}
