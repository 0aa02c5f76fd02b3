// What OffsetFetch finds among the offsets of a shard.

import { errorCodes, zeroUuid } from '@odradek/protocol';
import type { MetadataSnapshot } from '../metadata/metadata-cache.ts';
import type { CommittedOffset, GroupOffsets } from './group-offsets.ts';

/** What an OffsetFetch asks about one group. */
export interface OffsetQuery {
  readonly groupId: string;
  /** Who asks, which members of consumer groups say; null: an administrator, or a client that does not say. */
  readonly memberId: string | null;
  readonly memberEpoch: number;
  /** null: everything that the group has. */
  readonly topics: readonly { readonly topic: string; readonly partitions: readonly number[] }[] | null;
  /** Offsets that an open transaction may change are refused. */
  readonly requireStable: boolean;
}

export interface FetchedOffsets {
  readonly topics: readonly {
    readonly topic: string;
    readonly partitions: readonly {
      readonly partition: number;
      /** undefined: there is none. */
      readonly offset: CommittedOffset | undefined;
      readonly errorCode: number;
    }[];
  }[];
}

export function fetchOffsets(
  offsets: GroupOffsets,
  { groupId, topics, requireStable }: OffsetQuery,
  metadata: MetadataSnapshot,
): FetchedOffsets {
  const wanted =
    topics ?? [...offsets.topics(groupId)].map(([topic, partitions]) => ({ topic, partitions: [...partitions.keys()] }));
  return {
    topics: wanted.map(({ topic, partitions }) => ({
      topic,
      partitions: partitions.map((partition) => {
        if (requireStable && offsets.hasPending(groupId, topic, partition)) {
          return { partition, offset: undefined, errorCode: errorCodes.UNSTABLE_OFFSET_COMMIT };
        }
        const offset = offsets.get(groupId, topic, partition);
        return { partition, offset: isOfFormerTopic(offset, topic, metadata) ? undefined : offset, errorCode: errorCodes.NONE };
      }),
    })),
  };
}

/** The topic was deleted while nobody here could see it, and there is another one of that name now. */
function isOfFormerTopic(offset: CommittedOffset | undefined, topic: string, metadata: MetadataSnapshot): boolean {
  const topicId = metadata.topic(topic)?.id ?? zeroUuid;
  return offset !== undefined && offset.topicId !== zeroUuid && topicId !== zeroUuid && offset.topicId !== topicId;
}
