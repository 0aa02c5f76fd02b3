// OffsetFetch (9): how far a group has read.
//
// Version 0 reads from the coordination tree, where OffsetCommit 0 writes. From version 2 on null topics ask for all, and an
// error of the group as a whole has its place. Version 5 adds the leader epoch, 7 can ask to wait out open transactions, 8 asks
// for several groups at once, 9 names the member that asks, 10 names topics by id.

import {
  errorCodes,
  type Message,
  type MessageInit,
  OffsetFetchRequest,
  OffsetFetchResponse,
  ProtocolError,
} from '@odradek/protocol';
import type { GroupCoordinator } from '../groups/group-coordinator.ts';
import type { LegacyOffsets } from '../groups/legacy-offsets.ts';
import type { FetchedOffsets } from '../groups/offset-fetches.ts';
import type { MetadataCache } from '../metadata/metadata-cache.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';
import type { RequestContext } from '../requests/request-context.ts';

type Request = Message<typeof OffsetFetchRequest>;
type Response = MessageInit<typeof OffsetFetchResponse>;
type FetchedGroup = NonNullable<Response['groups']>[number];
type FetchedTopic = FetchedOffsets['topics'][number];

interface OffsetFetchParts {
  readonly groups: GroupCoordinator;
  readonly metadataCache: MetadataCache;
  readonly legacyOffsets: LegacyOffsets;
}

export function offsetFetchHandler(parts: OffsetFetchParts): Handler<typeof OffsetFetchRequest, typeof OffsetFetchResponse> {
  return defineHandler(OffsetFetchRequest, OffsetFetchResponse, {
    async handle(request, context) {
      if (context.apiVersion >= 8) {
        return {
          groups: await Promise.all(request.groups.map((group) => fetchGroup(parts, group, request.requireStable, context))),
        };
      }
      const topics = request.topics?.map(({ name, partitionIndexes }) => ({ topic: name, partitions: partitionIndexes })) ?? null;
      const { groupId, requireStable } = request;
      const fetched =
        context.apiVersion === 0
          ? await parts.legacyOffsets.fetch(groupId, topics ?? [])
          : await parts.groups.fetchOffsets({ groupId, memberId: null, memberEpoch: -1, topics, requireStable });
      return {
        topics: fetched.topics.map((topic) => ({ name: topic.topic, partitions: partitionsOf(topic) })),
        errorCode: errorCodes.NONE,
      };
    },
    errorResponse: (request, error, context) => ({
      errorCode: error.code,
      // Before version 2 the error has no place but the partitions.
      topics: context.apiVersion < 2 ? failedTopics(request, error.code) : [],
      groups: request.groups.map(({ groupId }) => ({ groupId, errorCode: error.code })),
    }),
  });
}

async function fetchGroup(
  { groups, metadataCache }: OffsetFetchParts,
  group: Request['groups'][number],
  requireStable: boolean,
  context: RequestContext,
): Promise<FetchedGroup> {
  const metadata = metadataCache.current;
  const isById = context.apiVersion >= 10;
  const nameOf = (topic: { readonly name: string; readonly topicId: string }): string | undefined =>
    isById ? metadata.topicName(topic.topicId) : topic.name;
  try {
    const wanted =
      group.topics?.flatMap((topic) => {
        const name = nameOf(topic);
        return name === undefined ? [] : [{ topic: name, partitions: topic.partitionIndexes }];
      }) ?? null;
    const { groupId, memberId, memberEpoch } = group;
    const fetched = await groups.fetchOffsets({ groupId, memberId, memberEpoch, topics: wanted, requireStable });
    const topics = fetched.topics.flatMap((topic) => {
      const topicId = metadata.topic(topic.topic)?.id;
      // Of all offsets, those of a topic that is gone cannot be told by an id.
      if (isById && topicId === undefined) return [];
      return [{ name: topic.topic, topicId, partitions: partitionsOf(topic) }];
    });
    const unknown = (group.topics ?? [])
      .filter((topic) => nameOf(topic) === undefined)
      .map(({ topicId, partitionIndexes }) => ({
        topicId,
        partitions: partitionIndexes.map((partitionIndex) => failedPartition(partitionIndex, errorCodes.UNKNOWN_TOPIC_ID)),
      }));
    return { groupId, errorCode: errorCodes.NONE, topics: [...topics, ...unknown] };
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    return { groupId: group.groupId, errorCode: error.code, topics: [] };
  }
}

function partitionsOf(topic: FetchedTopic) {
  return topic.partitions.map(({ partition, offset, errorCode }) => ({
    partitionIndex: partition,
    committedOffset: offset?.offset ?? -1,
    committedLeaderEpoch: offset?.leaderEpoch ?? -1,
    metadata: offset?.metadata ?? '',
    errorCode,
  }));
}

function failedPartition(partitionIndex: number, errorCode: number) {
  return { partitionIndex, committedOffset: -1, committedLeaderEpoch: -1, metadata: '', errorCode };
}

function failedTopics(request: Request, errorCode: number): Response['topics'] {
  return (request.topics ?? []).map(({ name, partitionIndexes }) => ({
    name,
    partitions: partitionIndexes.map((partitionIndex) => failedPartition(partitionIndex, errorCode)),
  }));
}
