// OffsetDelete (47): forgets what a group has committed for partitions of topics that none of its members reads.

import { errorCodes, OffsetDeleteRequest, OffsetDeleteResponse } from '@odradek/protocol';
import type { GroupCoordinator } from '../groups/group-coordinator.ts';
import type { MetadataCache } from '../metadata/metadata-cache.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';

export function offsetDeleteHandler(parts: {
  readonly groups: GroupCoordinator;
  readonly metadataCache: MetadataCache;
}): Handler<typeof OffsetDeleteRequest, typeof OffsetDeleteResponse> {
  return defineHandler(OffsetDeleteRequest, OffsetDeleteResponse, {
    async handle(request) {
      const metadata = parts.metadataCache.current;
      const existing = new Map<string, number[]>();
      for (const { name, partitions } of request.topics) {
        const indexes = partitions.map(({ partitionIndex }) => partitionIndex);
        const found = indexes.filter((index) => metadata.partition(name, index) !== undefined);
        existing.set(name, [...(existing.get(name) ?? []), ...found]);
      }
      const results = await parts.groups.deleteOffsets(request.groupId, existing);
      const topics = request.topics.map(({ name, partitions }) => ({
        name,
        partitions: partitions.map(({ partitionIndex }) => ({
          partitionIndex,
          errorCode: results.get(name)?.get(partitionIndex) ?? errorCodes.UNKNOWN_TOPIC_OR_PARTITION,
        })),
      }));
      return { topics };
    },
  });
}
