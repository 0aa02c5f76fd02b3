// OffsetCommit (8): a group remembers how far it has read.
//
// Version 0 keeps the offsets in the coordination tree, below /consumers. Version 1 brings them to `__consumer_offsets`, with
// a time of its own for each; 2 to 4 say how long to keep them instead, and from 5 on the broker decides. Version 6 adds the
// leader epoch, 7 static members, 9 groups of the consumer protocol, 10 topics by id.

import {
  errorCodes,
  type MessageInit,
  OffsetCommitRequest,
  OffsetCommitResponse,
  ProtocolError,
  zeroUuid,
} from '@odradek/protocol';
import type { GroupCoordinator } from '../groups/group-coordinator.ts';
import type { LegacyOffsets } from '../groups/legacy-offsets.ts';
import type { OffsetCommit } from '../groups/offset-commits.ts';
import type { MetadataCache } from '../metadata/metadata-cache.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';
import type { RequestContext } from '../requests/request-context.ts';

type TopicAnswer = NonNullable<MessageInit<typeof OffsetCommitResponse>['topics']>[number];

interface OffsetCommitParts {
  readonly groups: GroupCoordinator;
  readonly metadataCache: MetadataCache;
  readonly legacyOffsets: LegacyOffsets;
}

export function offsetCommitHandler(parts: OffsetCommitParts): Handler<typeof OffsetCommitRequest, typeof OffsetCommitResponse> {
  return defineHandler(OffsetCommitRequest, OffsetCommitResponse, {
    async handle(request, context) {
      const isById = context.apiVersion >= 10;
      const metadata = parts.metadataCache.current;
      /** One for each topic of the request, in its order: what was refused at once, then what the group said. */
      const answers: TopicAnswer[] = [];
      const accepted: { readonly answer: number; readonly topic: OffsetCommit['topics'][number] }[] = [];
      for (const { name, topicId, partitions } of request.topics) {
        const known = isById ? metadata.topicById(topicId) : metadata.topic(name);
        const isKnown = ({ partitionIndex }: Asked): boolean =>
          known !== undefined && metadata.partition(known.name, partitionIndex) !== undefined;
        const errorCode = isById && known === undefined ? errorCodes.UNKNOWN_TOPIC_ID : errorCodes.UNKNOWN_TOPIC_OR_PARTITION;
        const unknown = partitions.filter((partition) => !isKnown(partition));
        answers.push({ name, topicId, partitions: failed(unknown, errorCode) });
        if (known === undefined || unknown.length === partitions.length) continue;
        const topic = { topic: known.name, topicId: known.id ?? zeroUuid, partitions: partitions.filter(isKnown).map(toCommit) };
        accepted.push({ answer: answers.length - 1, topic });
      }
      if (accepted.length === 0) return { topics: answers };
      const topics = accepted.map(({ topic }) => topic);
      const committed = await commitTo(parts, request, topics, context);
      for (const [index, { answer }] of accepted.entries()) {
        const { name, topicId, partitions = [] } = answers[answer] ?? {};
        answers[answer] = { name, topicId, partitions: [...partitions, ...(committed[index]?.partitions ?? [])] };
      }
      return { topics: answers };
    },
    errorResponse: (request, error) => ({
      topics: request.topics.map(({ name, topicId, partitions }) => ({
        name,
        topicId,
        partitions: failed(partitions, error.code),
      })),
    }),
  });
}

type Asked = OffsetCommitRequest['topics'][number]['partitions'][number];

function toCommit(asked: Asked): OffsetCommit['topics'][number]['partitions'][number] {
  return {
    partition: asked.partitionIndex,
    offset: asked.committedOffset,
    leaderEpoch: asked.committedLeaderEpoch,
    metadata: asked.committedMetadata,
    timestampMs: asked.commitTimestamp,
  };
}

/** What became of each topic. What the group refuses as a whole concerns only what was passed on to it. */
async function commitTo(
  { groups, legacyOffsets }: OffsetCommitParts,
  request: OffsetCommitRequest,
  topics: OffsetCommit['topics'],
  { apiVersion }: RequestContext,
): Promise<readonly TopicAnswer[]> {
  const { groupId, memberId, groupInstanceId, generationIdOrMemberEpoch: generationId, retentionTimeMs } = request;
  const commit = { groupId, apiVersion, memberId, groupInstanceId, generationId, retentionTimeMs, topics };
  try {
    const committed = await (apiVersion === 0 ? legacyOffsets.commit(commit) : groups.commit(commit));
    return committed.topics ?? [];
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    return topics.map(({ partitions }) => ({
      partitions: partitions.map(({ partition }) => ({ partitionIndex: partition, errorCode: error.code })),
    }));
  }
}

function failed(partitions: readonly Asked[], errorCode: number): TopicAnswer['partitions'] {
  return partitions.map(({ partitionIndex }) => ({ partitionIndex, errorCode }));
}
