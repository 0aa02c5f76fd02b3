// What OffsetFetch finds among the offsets of a shard.

import { errorCodes } from '@odradek/protocol';
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

export function fetchOffsets(offsets: GroupOffsets, { groupId, topics, requireStable }: OffsetQuery): FetchedOffsets {
  const wanted =
    topics ?? [...offsets.topics(groupId)].map(([topic, partitions]) => ({ topic, partitions: [...partitions.keys()] }));
  return {
    topics: wanted.map(({ topic, partitions }) => ({
      topic,
      partitions: partitions.map((partition) =>
        requireStable && offsets.hasPending(groupId, topic, partition)
          ? { partition, offset: undefined, errorCode: errorCodes.UNSTABLE_OFFSET_COMMIT }
          : { partition, offset: offsets.get(groupId, topic, partition), errorCode: errorCodes.NONE },
      ),
    })),
  };
}
