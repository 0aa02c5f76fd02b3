// The settings of the group coordinator, as they are now: an object whose properties change with the configuration.

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
