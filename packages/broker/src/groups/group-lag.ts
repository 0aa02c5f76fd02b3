// How far groups are behind: for each partition that a group has committed an offset for, how many records it has not read, and
// for how long the oldest of them has been waiting.
//
//   lag            highWatermark - committed offset: what a consumer could read now
//   lastStableLag  lastStableOffset - committed offset: what one that reads committed transactions only could
//   lagMs          now - timestamp of the record at the committed offset; 0 when there is none
//
// Timestamps are read from the log when they are asked for, and kept until the group commits the next offset. Partitions that
// this broker has no replica of are left out: their own brokers know.

import { iterateBatches } from '@odradek/protocol';
import type { Clock, MetricSeries } from '@odradek/runtime';
import type { PartitionLog } from '@odradek/storage';
import type { ReplicaManager } from '../replication/replica-manager.ts';
import type { CommittedOffset } from './group-offsets.ts';
import type { GroupShard } from './group-shard.ts';

export interface PartitionLag {
  readonly groupId: string;
  readonly topic: string;
  readonly partition: number;
  readonly committedOffset: number;
  readonly logEndOffset: number;
  readonly lastStableOffset: number;
  readonly lag: number;
  readonly lastStableLag: number;
  /** undefined: it is not known yet. */
  readonly lagMs: number | undefined;
}

interface KeptTime {
  readonly offset: number;
  /** undefined: it is being read, or could not be. */
  readonly timestampMs: number | undefined;
}

export interface GroupLagParts {
  readonly clock: Clock;
  readonly replicaManager: ReplicaManager;
  /** The shards that this broker has loaded. */
  readonly shards: () => Iterable<GroupShard>;
}

export class GroupLag {
  readonly #parts: GroupLagParts;
  /** By group, topic and partition; only where a group is behind. */
  #times = new Map<string, KeptTime>();

  constructor(parts: GroupLagParts) {
    this.#parts = parts;
  }

  /** Of one group, with all times. */
  async of(groupId: string): Promise<PartitionLag[]> {
    const lags: PartitionLag[] = [];
    for (const shard of this.#parts.shards()) {
      for (const [topic, partitions] of shard.offsets.topics(groupId)) {
        for (const [partition, offset] of partitions) {
          await this.#readTime(groupId, topic, partition, offset.offset);
          const lag = this.#lagOf(groupId, topic, partition, offset);
          if (lag !== undefined) lags.push(lag);
        }
      }
    }
    return lags;
  }

  /** Of all groups, as metrics. Times that are not known yet are read meanwhile, for the next time. */
  *series(): Iterable<MetricSeries> {
    const stillBehind = new Map<string, KeptTime>();
    for (const shard of this.#parts.shards()) {
      for (const groupId of shard.offsets.groupIds()) {
        for (const [topic, partitions] of shard.offsets.topics(groupId)) {
          for (const [partition, offset] of partitions) {
            const lag = this.#lagOf(groupId, topic, partition, offset);
            if (lag === undefined) continue;
            const labels = { group: groupId, topic, partition: String(partition) };
            yield { kind: 'gauge', name: 'group_lag', labels, value: lag.lag };
            if (lag.lagMs === undefined) void this.#readTime(groupId, topic, partition, offset.offset);
            else yield { kind: 'gauge', name: 'group_lag_ms', labels, value: lag.lagMs };
            const kept = this.#times.get(keyOf(groupId, topic, partition));
            if (kept !== undefined && lag.lag > 0) stillBehind.set(keyOf(groupId, topic, partition), kept);
          }
        }
      }
    }
    this.#times = stillBehind;
  }

  #lagOf(groupId: string, topic: string, partition: number, { offset }: CommittedOffset): PartitionLag | undefined {
    const replica = this.#parts.replicaManager.find(topic, partition);
    if (replica?.hasLog !== true) return undefined;
    const { highWatermark, lastStableOffset, logStartOffset } = replica.log;
    // What was deleted before it was read cannot be read any more, and is no lag.
    const from = Math.max(offset, logStartOffset);
    const lag = Math.max(0, highWatermark - from);
    const kept = this.#times.get(keyOf(groupId, topic, partition));
    const isKnown = kept !== undefined && kept.offset === offset && kept.timestampMs !== undefined;
    const sinceMs = isKnown ? Math.max(0, this.#parts.clock.wallTimeMs() - (kept.timestampMs ?? 0)) : undefined;
    return {
      groupId,
      topic,
      partition,
      committedOffset: offset,
      logEndOffset: highWatermark,
      lastStableOffset,
      lag,
      lastStableLag: Math.max(0, lastStableOffset - from),
      lagMs: lag === 0 ? 0 : sinceMs,
    };
  }

  /** Keeps the timestamp of the first record that the group has not read, if there is one and it is not kept already. */
  async #readTime(groupId: string, topic: string, partition: number, offset: number): Promise<void> {
    const key = keyOf(groupId, topic, partition);
    const replica = this.#parts.replicaManager.find(topic, partition);
    if (replica?.hasLog !== true || this.#times.get(key)?.offset === offset) return;
    const { log } = replica;
    const from = Math.max(offset, log.logStartOffset);
    if (from >= log.highWatermark) return;
    this.#times.set(key, { offset, timestampMs: undefined });
    try {
      const timestampMs = await timestampFrom(log, from);
      this.#times.set(key, { offset, timestampMs });
    } catch {
      // The log was cut or deleted under the read. Whoever asks next begins anew.
      this.#times.delete(key);
    }
  }
}

/** Of the first record at or after the offset; undefined: there is none, or it has no time. */
async function timestampFrom(log: PartitionLog, offset: number): Promise<number | undefined> {
  const { records, release } = await log.read(offset, { maxBytes: 1, isolation: 'highWatermark', minOneBatch: true });
  try {
    for (const piece of records) {
      for (const batch of iterateBatches(piece)) {
        for (const record of batch.records()) {
          if (record.offset >= offset) return record.timestamp < 0 ? undefined : record.timestamp;
        }
      }
    }
    return undefined;
  } finally {
    release?.();
  }
}

function keyOf(groupId: string, topic: string, partition: number): string {
  return JSON.stringify([groupId, topic, partition]);
}
