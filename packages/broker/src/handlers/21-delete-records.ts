// DeleteRecords (21): moves the start of logs forward, and waits until every replica in sync has followed.

import { DeleteRecordsRequest, DeleteRecordsResponse, errorCodes, type MessageInit, ProtocolError } from '@odradek/protocol';
import type { Logger } from '@odradek/runtime';
import { isInternalTopic } from '../metadata/metadata-cache.ts';
import { type AwaitedDeletion, deletedEverywhere } from '../purgatory/delayed-delete-records.ts';
import type { ReplicaManager } from '../replication/replica-manager.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';

type TopicAnswer = NonNullable<MessageInit<typeof DeleteRecordsResponse>['topics']>[number];

export interface DeleteRecordsParts {
  readonly replicaManager: ReplicaManager;
  readonly logger: Logger;
}

/** One partition of the request: an outcome, or a wait for one. */
type Deletion = { readonly partitionIndex: number } & (
  | { readonly awaited: AwaitedDeletion }
  | { readonly awaited: undefined; readonly errorCode: number }
);

export function deleteRecordsHandler(
  parts: DeleteRecordsParts,
): Handler<typeof DeleteRecordsRequest, typeof DeleteRecordsResponse> {
  return defineHandler(DeleteRecordsRequest, DeleteRecordsResponse, {
    async handle(request) {
      const topics = Array.from(lastOfEach(request), ([name, offsets]) => ({
        name,
        deletions: Array.from(offsets, ([partitionIndex, offset]) => begin(parts, name, partitionIndex, offset)),
      }));
      const awaited = topics.flatMap(({ deletions }) => deletions.flatMap((deletion) => deletion.awaited ?? []));
      if (awaited.length > 0) await deletedEverywhere(parts.replicaManager, awaited, request.timeoutMs);
      return {
        topics: topics.map(
          ({ name, deletions }): TopicAnswer => ({
            name,
            partitions: deletions.map((deletion) =>
              deletion.awaited === undefined
                ? { partitionIndex: deletion.partitionIndex, lowWatermark: -1, errorCode: deletion.errorCode }
                : {
                    partitionIndex: deletion.partitionIndex,
                    lowWatermark: deletion.awaited.lowWatermark,
                    errorCode: deletion.awaited.errorCode ?? errorCodes.NONE,
                  },
            ),
          }),
        ),
      };
    },
    errorResponse: (request, error) => ({
      topics: request.topics.map(({ name, partitions }) => ({
        name,
        partitions: partitions.map(({ partitionIndex }) => ({ partitionIndex, lowWatermark: -1, errorCode: error.code })),
      })),
    }),
  });
}

/** By topic and partition. Of a partition that is named more than once the last offset counts, as in Kafka. */
function lastOfEach({ topics }: DeleteRecordsRequest): ReadonlyMap<string, ReadonlyMap<number, number>> {
  const byTopic = new Map<string, Map<number, number>>();
  for (const { name, partitions } of topics) {
    const offsets = byTopic.get(name) ?? new Map<number, number>();
    byTopic.set(name, offsets);
    for (const { partitionIndex, offset } of partitions) offsets.set(partitionIndex, offset);
  }
  return byTopic;
}

function begin(parts: DeleteRecordsParts, topic: string, partitionIndex: number, offset: number): Deletion {
  try {
    if (isInternalTopic(topic)) throw new ProtocolError(errorCodes.INVALID_TOPIC_EXCEPTION);
    const partition = parts.replicaManager.partition(topic, partitionIndex);
    checkCleanupPolicy(partition.log.config.cleanupPolicy);
    const requiredOffset = partition.deleteRecordsBefore(offset);
    return { partitionIndex, awaited: { partition, requiredOffset, lowWatermark: -1, errorCode: undefined } };
  } catch (error) {
    if (error instanceof ProtocolError) return { partitionIndex, awaited: undefined, errorCode: error.code };
    parts.logger.error('Deleting records failed unexpectedly', { topic, partition: partitionIndex, error });
    return { partitionIndex, awaited: undefined, errorCode: errorCodes.UNKNOWN_SERVER_ERROR };
  }
}

/** A topic that is only compacted keeps the last record of each key, and nothing may be deleted from it. */
function checkCleanupPolicy(policy: readonly string[]): void {
  if (policy.length > 0 && !policy.includes('delete')) {
    throw new ProtocolError(errorCodes.POLICY_VIOLATION, 'Records can be deleted only where cleanup.policy includes delete');
  }
}
