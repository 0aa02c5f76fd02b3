// OffsetCommit (8): a group remembers how far it has read.
//
// Version 0 keeps the offsets in the coordination tree, below /consumers. Version 1 brings them to `__consumer_offsets`, with
// a time of its own for each; 2 to 4 say how long to keep them instead, and from 5 on the broker decides. Version 6 adds the
// leader epoch, 7 static members, 9 groups of the consumer protocol, 10 topics by id.

import { errorCodes, type MessageInit, OffsetCommitRequest, OffsetCommitResponse, zeroUuid } from '@odradek/protocol';
import type { GroupCoordinator } from '../groups/group-coordinator.ts';
import type { LegacyOffsets } from '../groups/legacy-offsets.ts';
import type { MetadataCache } from '../metadata/metadata-cache.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';

type Topics = NonNullable<MessageInit<typeof OffsetCommitResponse>['topics']>;

export function offsetCommitHandler(parts: {
  readonly groups: GroupCoordinator;
  readonly metadataCache: MetadataCache;
  readonly legacyOffsets: LegacyOffsets;
}): Handler<typeof OffsetCommitRequest, typeof OffsetCommitResponse> {
  return defineHandler(OffsetCommitRequest, OffsetCommitResponse, {
    async handle(request, context) {
      const metadata = parts.metadataCache.current;
      const refused: Topics[number][] = [];
      const accepted = [];
      for (const topic of request.topics) {
        const isById = context.apiVersion >= 10;
        const known = isById ? metadata.topicById(topic.topicId) : metadata.topic(topic.name);
        const unknown = topic.partitions.filter(
          ({ partitionIndex }) => known === undefined || metadata.partition(known.name, partitionIndex) === undefined,
        );
        if (unknown.length > 0) {
          const errorCode = isById && known === undefined ? errorCodes.UNKNOWN_TOPIC_ID : errorCodes.UNKNOWN_TOPIC_OR_PARTITION;
          refused.push({
            name: topic.name,
            topicId: topic.topicId,
            partitions: unknown.map(({ partitionIndex }) => ({ partitionIndex, errorCode })),
          });
        }
        if (known === undefined || unknown.length === topic.partitions.length) continue;
        accepted.push({
          topic: known.name,
          topicId: known.id ?? zeroUuid,
          partitions: topic.partitions
            .filter((partition) => !unknown.includes(partition))
            .map((partition) => ({
              partition: partition.partitionIndex,
              offset: partition.committedOffset,
              leaderEpoch: partition.committedLeaderEpoch,
              metadata: partition.committedMetadata,
              timestampMs: partition.commitTimestamp,
            })),
        });
      }
      if (accepted.length === 0) return { topics: refused };
      const commit = {
        groupId: request.groupId,
        apiVersion: context.apiVersion,
        memberId: request.memberId,
        groupInstanceId: request.groupInstanceId,
        generationId: request.generationIdOrMemberEpoch,
        retentionTimeMs: request.retentionTimeMs,
        topics: accepted,
      };
      const committed = context.apiVersion === 0 ? await parts.legacyOffsets.commit(commit) : await parts.groups.commit(commit);
      return { topics: merged(request.topics, [...refused, ...(committed.topics ?? [])]) };
    },
    errorResponse: (request, error) => ({
      topics: request.topics.map(({ name, topicId, partitions }) => ({
        name,
        topicId,
        partitions: partitions.map(({ partitionIndex }) => ({ partitionIndex, errorCode: error.code })),
      })),
    }),
  });
}

/** One entry a topic, in the order in which they were asked, whatever became of its partitions. */
function merged(asked: OffsetCommitRequest['topics'], answers: Topics): Topics {
  return asked.map(({ name, topicId }) => ({
    name,
    topicId,
    partitions: answers
      .filter((topic) => (topicId === zeroUuid ? topic.name === name : topic.topicId === topicId))
      .flatMap(({ partitions }) => partitions ?? []),
  }));
}
