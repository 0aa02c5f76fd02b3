// The committed offsets of the groups of one shard. Offsets that a transaction commits are kept apart until its marker comes.

import { type OffsetCommitKey, type OffsetCommitValue, zeroUuid } from '@odradek/protocol';

export interface CommittedOffset {
  readonly offset: number;
  /** -1 where the committer did not know it. */
  readonly leaderEpoch: number;
  readonly metadata: string;
  readonly commitTimestampMs: number;
  /** A time of its own, which OffsetCommit 2 to 4 could ask for; null: `offsets.retention.minutes` decides. */
  readonly expireTimestampMs: number | null;
  /** `zeroUuid` where it was committed by name alone. */
  readonly topicId: string;
  /** Where its record stands in `__consumer_offsets`: of two commits the later one counts, whenever its transaction ended. */
  readonly recordOffset: number;
}

type PartitionOffsets = ReadonlyMap<number, CommittedOffset>;
const nothing: ReadonlyMap<string, PartitionOffsets> = new Map();

export class GroupOffsets {
  readonly #committed = new OffsetTable();
  /** By producer id. */
  readonly #pending = new Map<number, OffsetTable>();
  /** The producers that have pending offsets for a group. */
  readonly #openProducers = new Map<string, Set<number>>();

  /** All offsets of the shard, for the metrics. */
  get count(): number {
    return this.#committed.count;
  }

  get(groupId: string, topic: string, partition: number): CommittedOffset | undefined {
    return this.#committed.get(groupId, topic, partition);
  }

  topics(groupId: string): ReadonlyMap<string, PartitionOffsets> {
    return this.#committed.topics(groupId);
  }

  groupIds(): Iterable<string> {
    return this.#committed.groupIds();
  }

  /** A transaction that is still open has committed an offset for the partition, so what `get` says may soon be old. */
  hasPending(groupId: string, topic: string, partition: number): boolean {
    for (const producerId of this.#openProducers.get(groupId) ?? []) {
      if (this.#pending.get(producerId)?.get(groupId, topic, partition) !== undefined) return true;
    }
    return false;
  }

  hasPendingOfGroup(groupId: string): boolean {
    return this.#openProducers.has(groupId);
  }

  /** Every partition of which something is known, committed or pending. */
  *partitionsOf(groupId: string): Iterable<{ readonly topic: string; readonly partition: number }> {
    const tables = [this.#committed];
    for (const producerId of this.#openProducers.get(groupId) ?? []) {
      const table = this.#pending.get(producerId);
      if (table !== undefined) tables.push(table);
    }
    const seen = new Set<string>();
    for (const table of tables) {
      for (const [topic, partitions] of table.topics(groupId)) {
        for (const partition of partitions.keys()) {
          const name = `${topic}-${partition}`;
          if (seen.has(name)) continue;
          seen.add(name);
          yield { topic, partition };
        }
      }
    }
  }

  /** Those of one topic. */
  partitionsOfTopic(groupId: string, topic: string): ReadonlySet<number> {
    const partitions = new Set(this.#committed.topics(groupId).get(topic)?.keys());
    for (const producerId of this.#openProducers.get(groupId) ?? []) {
      for (const partition of this.#pending.get(producerId)?.topics(groupId).get(topic)?.keys() ?? []) partitions.add(partition);
    }
    return partitions;
  }

  /** Groups with anything committed or pending. */
  allGroupIds(): ReadonlySet<string> {
    return new Set([...this.#committed.groupIds(), ...this.#openProducers.keys()]);
  }

  /** Applies a record. `producerId` is that of the transaction that wrote it, -1 outside of one. */
  replay(key: OffsetCommitKey, value: OffsetCommitValue | null, recordOffset: number, producerId: number): void {
    const { group, topic, partition } = key;
    if (value === null) {
      this.#committed.remove(group, topic, partition);
      // What was to be forgotten must not come back when a transaction ends.
      for (const open of this.#openProducers.get(group) ?? []) this.#pending.get(open)?.remove(group, topic, partition);
      return;
    }
    const offset = offsetOf(value, recordOffset);
    if (producerId === -1) {
      this.#committed.set(group, topic, partition, offset);
      return;
    }
    let table = this.#pending.get(producerId);
    if (table === undefined) this.#pending.set(producerId, (table = new OffsetTable()));
    table.set(group, topic, partition, offset);
    const producers = this.#openProducers.get(group);
    if (producers === undefined) this.#openProducers.set(group, new Set([producerId]));
    else producers.add(producerId);
  }

  /** A transaction has ended: what it committed counts now, or never. */
  endTransaction(producerId: number, isCommitted: boolean): void {
    const table = this.#pending.get(producerId);
    if (table === undefined) return;
    this.#pending.delete(producerId);
    for (const [groupId, producers] of this.#openProducers) {
      if (producers.delete(producerId) && producers.size === 0) this.#openProducers.delete(groupId);
    }
    if (!isCommitted) return;
    for (const groupId of table.groupIds()) {
      for (const [topic, partitions] of table.topics(groupId)) {
        for (const [partition, offset] of partitions) {
          const current = this.#committed.get(groupId, topic, partition);
          if (current === undefined || current.recordOffset < offset.recordOffset) {
            this.#committed.set(groupId, topic, partition, offset);
          }
        }
      }
    }
  }
}

/** group → topic → partition → offset. */
class OffsetTable {
  readonly #groups = new Map<string, Map<string, Map<number, CommittedOffset>>>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  groupIds(): Iterable<string> {
    return this.#groups.keys();
  }

  topics(groupId: string): ReadonlyMap<string, PartitionOffsets> {
    return this.#groups.get(groupId) ?? nothing;
  }

  get(groupId: string, topic: string, partition: number): CommittedOffset | undefined {
    return this.#groups.get(groupId)?.get(topic)?.get(partition);
  }

  set(groupId: string, topic: string, partition: number, offset: CommittedOffset): void {
    let topics = this.#groups.get(groupId);
    if (topics === undefined) this.#groups.set(groupId, (topics = new Map()));
    let partitions = topics.get(topic);
    if (partitions === undefined) topics.set(topic, (partitions = new Map()));
    if (!partitions.has(partition)) this.#count += 1;
    partitions.set(partition, offset);
  }

  remove(groupId: string, topic: string, partition: number): void {
    const topics = this.#groups.get(groupId);
    const partitions = topics?.get(topic);
    if (topics === undefined || partitions === undefined || !partitions.delete(partition)) return;
    this.#count -= 1;
    if (partitions.size === 0) topics.delete(topic);
    if (topics.size === 0) this.#groups.delete(groupId);
  }
}

function offsetOf(value: OffsetCommitValue, recordOffset: number): CommittedOffset {
  return {
    offset: value.offset,
    leaderEpoch: value.leaderEpoch,
    metadata: value.metadata,
    commitTimestampMs: value.commitTimestamp,
    expireTimestampMs: value.expireTimestamp === -1 ? null : value.expireTimestamp,
    topicId: value.topicId ?? zeroUuid,
    recordOffset,
  };
}
