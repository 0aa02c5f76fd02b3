// DescribeTopicPartitions (75): tells leaders and replicas of many topics in pages. The answer holds partitions up to a limit, and
// a cursor that says where the next request goes on.

import {
  DescribeTopicPartitionsRequest,
  DescribeTopicPartitionsResponse,
  errorCodes,
  type Message,
  type MessageInit,
  ProtocolError,
  zeroUuid,
} from '@odradek/protocol';
import type { BrokerConfig } from '../broker-config.ts';
import { topicNameProblem } from '../config/topic-name.ts';
import { isInternalTopic, type MetadataCache, type MetadataSnapshot, type PartitionMetadata } from '../metadata/metadata-cache.ts';
import { allOperations } from '../requests/authorized-operations.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';

type Request = Message<typeof DescribeTopicPartitionsRequest>;
type Response = MessageInit<typeof DescribeTopicPartitionsResponse>;
type TopicResponse = NonNullable<Response['topics']>[number];
type PartitionResponse = NonNullable<TopicResponse['partitions']>[number];

export function describeTopicPartitionsHandler(parts: {
  readonly metadataCache: Pick<MetadataCache, 'current'>;
  readonly config: Pick<BrokerConfig, 'get'>;
}): Handler<typeof DescribeTopicPartitionsRequest, typeof DescribeTopicPartitionsResponse> {
  return defineHandler(DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse, {
    handle(request, { listenerName }) {
      const metadata = parts.metadataCache.current;
      const limit = Math.min(parts.config.get('max.request.partition.size.limit'), request.responsePartitionLimit);
      return page(request, metadata, listenerName, Math.max(limit, 1));
    },
    errorResponse: ({ topics }, error) => ({ topics: topics.map(({ name }) => ({ ...failedTopic(name), errorCode: error.code })) }),
  });
}

function page(request: Request, metadata: MetadataSnapshot, listenerName: string, limit: number): Response {
  const isForAll = request.topics.length === 0;
  const topics: TopicResponse[] = [];
  let remaining = limit;
  for (const name of namesFromCursor(request, metadata)) {
    if (remaining === 0) return { topics, nextCursor: { topicName: name, partitionIndex: 0 } };
    const topic = metadata.topic(name);
    if (topic === undefined) {
      // A topic that vanished since it was listed is not worth an error.
      if (!isForAll) topics.push(failedTopic(name));
      continue;
    }
    const first = request.cursor?.topicName === name ? request.cursor.partitionIndex : 0;
    const left = topic.partitions.filter(({ index }) => index >= first);
    const partitions = left.slice(0, remaining).map((partition) => partitionResponse(partition, metadata, listenerName));
    topics.push({
      errorCode: errorCodes.NONE,
      name,
      topicId: topic.id,
      isInternal: topic.isInternal,
      partitions,
      topicAuthorizedOperations: allOperations('topic'),
    });
    const next = left[partitions.length];
    if (next !== undefined) return { topics, nextCursor: { topicName: name, partitionIndex: next.index } };
    remaining -= partitions.length;
  }
  return { topics, nextCursor: null };
}

/** In order of names, from the cursor's topic on. */
function namesFromCursor({ topics, cursor }: Request, metadata: MetadataSnapshot): string[] {
  const isForAll = topics.length === 0;
  const all = new Set(isForAll ? [...metadata.topics()].map(({ name }) => name) : topics.map(({ name }) => name));
  if (cursor === null) return [...all].sort();
  if (!isForAll && !all.has(cursor.topicName)) {
    throw new ProtocolError(
      errorCodes.INVALID_REQUEST,
      `The topics asked for must include that of the cursor: ${cursor.topicName}`,
    );
  }
  if (cursor.partitionIndex < 0) {
    throw new ProtocolError(
      errorCodes.INVALID_REQUEST,
      `The partition of the cursor must not be negative: ${cursor.partitionIndex}`,
    );
  }
  return [...all].filter((name) => name >= cursor.topicName).sort();
}

function failedTopic(name: string): TopicResponse {
  return {
    errorCode: topicNameProblem(name) === undefined ? errorCodes.UNKNOWN_TOPIC_OR_PARTITION : errorCodes.INVALID_TOPIC_EXCEPTION,
    name,
    topicId: zeroUuid,
    isInternal: isInternalTopic(name),
    partitions: [],
    topicAuthorizedOperations: allOperations('topic'),
  };
}

function partitionResponse(partition: PartitionMetadata, metadata: MetadataSnapshot, listenerName: string): PartitionResponse {
  const isReachable = metadata.endpoint(partition.leader, listenerName) !== undefined;
  const isAlive = metadata.broker(partition.leader) !== undefined;
  return {
    errorCode: isReachable ? errorCodes.NONE : isAlive ? errorCodes.LISTENER_NOT_FOUND : errorCodes.LEADER_NOT_AVAILABLE,
    partitionIndex: partition.index,
    leaderId: isReachable ? partition.leader : -1,
    leaderEpoch: partition.leaderEpoch,
    replicaNodes: partition.replicas,
    isrNodes: partition.isr,
    // Only a KRaft controller keeps these two; empty ones print as Kafka 4.4's do.
    eligibleLeaderReplicas: [],
    lastKnownElr: [],
    offlineReplicas: partition.offlineReplicas,
  };
}
