// What is done with the offsets of a shard's groups: committing, fetching, deleting, expiring. Each kind of group has its own
// rules of who may.

import { errorCodes, ProtocolError, zeroUuid } from '@odradek/protocol';
import type { CoordinatorRecord, Outcome } from '../coordinator/coordinator-shard.ts';
import type { MetadataSnapshot } from '../metadata/metadata-cache.ts';
import { classicCommitProblem, classicOffsetExpiry } from './classic-offsets.ts';
import type { ClassicRebalance } from './classic-rebalance.ts';
import { checkConsumerCommit, checkConsumerFetch, consumerOffsetExpiry } from './consumer-offsets.ts';
import { consumerGroupTombstones } from './consumer-records.ts';
import type { Group } from './group-conversion.ts';
import type { GroupOffsets } from './group-offsets.ts';
import { encodeGroupRecord, groupMetadataTombstone } from './group-records.ts';
import type { GroupSettings } from './group-settings.ts';
import { commitOffsets, type OffsetCommit, type OffsetCommitAnswer } from './offset-commits.ts';
import { isExpired } from './offset-expiry.ts';
import { type FetchedOffsets, fetchOffsets, type OffsetQuery } from './offset-fetches.ts';

export interface GroupOffsetOperationsParts {
  readonly offsets: GroupOffsets;
  readonly groups: ReadonlyMap<string, Group>;
  readonly rebalance: ClassicRebalance;
  readonly settings: GroupSettings;
  readonly metadata: () => MetadataSnapshot;
  readonly nowMs: () => number;
}

export class GroupOffsetOperations {
  readonly #parts: GroupOffsetOperationsParts;

  constructor(parts: GroupOffsetOperationsParts) {
    this.#parts = parts;
  }

  /** Throws when the whole commit is refused. */
  commit(commit: OffsetCommit): Outcome<OffsetCommitAnswer> {
    const { groups, rebalance, settings, nowMs } = this.#parts;
    const group = groups.get(commit.groupId);
    if (group?.type === 'classic') {
      const problem = classicCommitProblem(group, commit);
      if (problem !== null) throw new ProtocolError(problem);
      const member = group.member(commit.memberId);
      // A commit shows as well as a heartbeat that the member is alive.
      if (member !== undefined) rebalance.beat(group, member);
    } else if (group !== undefined) checkConsumerCommit(group, commit);
    else if (commit.generationId >= 0) {
      // Only who commits without a generation, because it assigns partitions itself, needs no group.
      throw commit.apiVersion >= 9 ? unknownGroup(commit.groupId) : new ProtocolError(errorCodes.ILLEGAL_GENERATION);
    }
    return commitOffsets(commit, nowMs(), settings.offsetMetadataMaxBytes);
  }

  /** Throws when a member asks that is not where it thinks. */
  fetch(query: OffsetQuery): FetchedOffsets {
    const group = this.#parts.groups.get(query.groupId);
    if (group?.type === 'consumer') checkConsumerFetch(group, query);
    return fetchOffsets(this.#parts.offsets, query, this.#parts.metadata());
  }

  /** Answers an error for each partition. Throws when the group must keep its offsets, or is not there. */
  delete(
    groupId: string,
    topics: ReadonlyMap<string, readonly number[]>,
  ): Outcome<ReadonlyMap<string, ReadonlyMap<number, number>>> {
    const { groups, offsets } = this.#parts;
    const group = groups.get(groupId);
    if (group === undefined) throw unknownGroup(groupId);
    // What such a group reads only its members know.
    if (group.type === 'classic' && !group.isEmpty && !group.isConsumerGroup) throw new ProtocolError(errorCodes.NON_EMPTY_GROUP);
    const records: CoordinatorRecord[] = [];
    const results = new Map<string, ReadonlyMap<number, number>>();
    for (const [topic, partitions] of topics) {
      const isSubscribed = group.isSubscribedTo(topic);
      const errorCode = isSubscribed ? errorCodes.GROUP_SUBSCRIBED_TO_TOPIC : errorCodes.NONE;
      results.set(topic, new Map(partitions.map((partition) => [partition, errorCode])));
      if (isSubscribed) continue;
      for (const partition of partitions) {
        const isThere = offsets.get(groupId, topic, partition) !== undefined || offsets.hasPending(groupId, topic, partition);
        if (isThere) records.push(offsetTombstone(groupId, topic, partition));
      }
    }
    return { records, response: results };
  }

  /** Everything that the group has committed. */
  tombstonesOf(groupId: string): CoordinatorRecord[] {
    const partitions = [...this.#parts.offsets.partitionsOf(groupId)];
    return partitions.map(({ topic, partition }) => offsetTombstone(groupId, topic, partition));
  }

  /** The topics, by name and id, are gone, and so is what was committed for them; not for another one of the same name. */
  topicsDeleted(topics: ReadonlyMap<string, string>): Outcome<void> {
    const { offsets } = this.#parts;
    const records: CoordinatorRecord[] = [];
    for (const groupId of offsets.allGroupIds()) {
      for (const [topic, topicId] of topics) {
        for (const partition of offsets.partitionsOfTopic(groupId, topic)) {
          const committedId = offsets.get(groupId, topic, partition)?.topicId ?? zeroUuid;
          if (committedId === zeroUuid || committedId === topicId) records.push(offsetTombstone(groupId, topic, partition));
        }
      }
    }
    return { records, response: undefined, isDivisible: true };
  }

  /** Forgets what has expired, and groups of which nothing is left. */
  expire(): Outcome<void> {
    const records: CoordinatorRecord[] = [];
    for (const group of this.#parts.groups.values()) {
      if (this.#expireOffsets(group, records) || !group.isEmpty) continue;
      if (group.type === 'consumer') records.push(...consumerGroupTombstones(group));
      else if (group.pendingMembers.size === 0) records.push(groupMetadataTombstone(group.groupId));
    }
    return { records, response: undefined, isDivisible: true };
  }

  /** True: something of the group remains. */
  #expireOffsets(group: Group, records: CoordinatorRecord[]): boolean {
    const { offsets, settings, nowMs } = this.#parts;
    const { groupId } = group;
    const expiry = group.type === 'classic' ? classicOffsetExpiry(group) : consumerOffsetExpiry(group);
    let isUsed = offsets.hasPendingOfGroup(groupId);
    for (const [topic, partitions] of offsets.topics(groupId)) {
      for (const [partition, offset] of partitions) {
        const isGone =
          isExpired(expiry, topic, offset, nowMs(), settings.offsetsRetentionMs) && !offsets.hasPending(groupId, topic, partition);
        if (isGone) records.push(offsetTombstone(groupId, topic, partition));
        else isUsed = true;
      }
    }
    return isUsed;
  }
}

export function unknownGroup(groupId: string): ProtocolError {
  return new ProtocolError(errorCodes.GROUP_ID_NOT_FOUND, `Group ${groupId} not found.`);
}

function offsetTombstone(group: string, topic: string, partition: number): CoordinatorRecord {
  return encodeGroupRecord('offsetCommit', { group, topic, partition }, null);
}
