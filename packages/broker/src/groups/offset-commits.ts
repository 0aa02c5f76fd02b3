// Turns an OffsetCommit into records: one for each partition that is not refused.

import { errorCodes, type MessageInit, type OffsetCommitResponse } from '@odradek/protocol';
import type { CoordinatorRecord, Outcome } from '../coordinator/coordinator-shard.ts';
import type { Committer } from './classic-offsets.ts';
import { encodeGroupRecord } from './group-records.ts';

export interface OffsetCommit extends Committer {
  readonly groupId: string;
  readonly apiVersion: number;
  /** How long the offsets are to be kept, ms; -1: as the broker is set. OffsetCommit 2 to 4 could ask for it. */
  readonly retentionTimeMs: number;
  readonly topics: readonly {
    readonly topic: string;
    /** `zeroUuid` where it is not known. */
    readonly topicId: string;
    readonly partitions: readonly {
      readonly partition: number;
      readonly offset: number;
      readonly leaderEpoch: number;
      readonly metadata: string | null;
      /** The commit's own time, ms, in OffsetCommit 1; -1: now. */
      readonly timestampMs: number;
    }[];
  }[];
}

export type OffsetCommitAnswer = Pick<MessageInit<typeof OffsetCommitResponse>, 'topics'>;

export function commitOffsets(commit: OffsetCommit, nowMs: number, metadataMaxSize: number): Outcome<OffsetCommitAnswer> {
  const records: CoordinatorRecord[] = [];
  const expireTimestamp = commit.retentionTimeMs === -1 ? -1 : nowMs + commit.retentionTimeMs;
  const topics = commit.topics.map(({ topic, topicId, partitions }) => ({
    name: topic,
    topicId,
    partitions: partitions.map(({ partition, offset, leaderEpoch, metadata, timestampMs }) => {
      if (isTooLarge(metadata, metadataMaxSize)) {
        return { partitionIndex: partition, errorCode: errorCodes.OFFSET_METADATA_TOO_LARGE };
      }
      const value = {
        offset,
        leaderEpoch,
        metadata: metadata ?? '',
        commitTimestamp: timestampMs === -1 ? nowMs : timestampMs,
        expireTimestamp,
        topicId,
      };
      records.push(
        encodeGroupRecord('offsetCommit', { group: commit.groupId, topic, partition }, value, valueVersion(expireTimestamp)),
      );
      return { partitionIndex: partition, errorCode: errorCodes.NONE };
    }),
  }));
  return { records, response: { topics } };
}

/** As Kafka measures it: in characters, though the setting speaks of bytes. */
export function isTooLarge(metadata: string | null, metadataMaxSize: number): boolean {
  return metadata !== null && metadata.length > metadataMaxSize;
}

/** Only version 1 of the value has a time of expiry, and only version 4 the id of the topic. */
function valueVersion(expireTimestamp: number): number {
  return expireTimestamp === -1 ? 4 : 1;
}
