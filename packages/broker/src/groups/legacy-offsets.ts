// The offsets of OffsetCommit 0, which live in the coordination tree and not in a topic: `/consumers/GROUP/offsets/TOPIC/PARTITION`
// holds the offset as text. Clients of Kafka 0.8.1 and simple tools still write them.

import { type Coordination, CoordinationError } from '@odradek/coordination';
import { errorCodes, zeroUuid } from '@odradek/protocol';
import { UntilLapsedSession } from '../until-lapsed.ts';
import type { CommittedOffset } from './group-offsets.ts';
import { isTooLarge, type OffsetCommit, type OffsetCommitAnswer } from './offset-commits.ts';
import type { FetchedOffsets, OffsetQuery } from './offset-fetches.ts';

export class LegacyOffsets {
  readonly #coordination: Coordination;
  readonly #metadataMaxSize: () => number;

  constructor(coordination: Coordination, metadataMaxSize: () => number) {
    this.#coordination = new UntilLapsedSession(coordination);
    this.#metadataMaxSize = metadataMaxSize;
  }

  async commit(commit: OffsetCommit): Promise<OffsetCommitAnswer> {
    const topics = await Promise.all(
      commit.topics.map(async ({ topic, topicId, partitions }) => ({
        name: topic,
        topicId,
        partitions: await Promise.all(
          partitions.map(async ({ partition, offset, metadata }) => {
            if (isTooLarge(metadata, this.#metadataMaxSize())) {
              return { partitionIndex: partition, errorCode: errorCodes.OFFSET_METADATA_TOO_LARGE };
            }
            await this.#write(offsetPath(commit.groupId, topic, partition), String(offset));
            return { partitionIndex: partition, errorCode: errorCodes.NONE };
          }),
        ),
      })),
    );
    return { topics };
  }

  async fetch(groupId: string, topics: NonNullable<OffsetQuery['topics']>): Promise<FetchedOffsets> {
    const fetched = await Promise.all(
      topics.map(async ({ topic, partitions }) => ({
        topic,
        partitions: await Promise.all(
          partitions.map(async (partition) => {
            const offset = await this.#read(offsetPath(groupId, topic, partition));
            // That is how these clients are told that there is none.
            return { partition, offset, errorCode: offset === undefined ? errorCodes.UNKNOWN_TOPIC_OR_PARTITION : errorCodes.NONE };
          }),
        ),
      })),
    );
    return { topics: fetched };
  }

  async #read(path: string): Promise<CommittedOffset | undefined> {
    try {
      const { data } = await this.#coordination.get(path);
      const offset = Number(data?.toString() ?? '');
      if (!Number.isSafeInteger(offset)) return undefined;
      return {
        offset,
        leaderEpoch: -1,
        metadata: '',
        commitTimestampMs: -1,
        expireTimestampMs: null,
        topicId: zeroUuid,
        recordOffset: -1,
      };
    } catch (error) {
      if (isNoNode(error)) return undefined;
      throw error;
    }
  }

  /** Sets the node, or makes it with all that must be above it. */
  async #write(path: string, text: string): Promise<void> {
    const data = Buffer.from(text);
    try {
      await this.#coordination.set(path, data);
    } catch (error) {
      if (!isNoNode(error)) throw error;
      const names = path.split('/').slice(1);
      for (let depth = 1; depth < names.length; depth++) await this.#create(`/${names.slice(0, depth).join('/')}`, null);
      await this.#create(path, data);
      await this.#coordination.set(path, data);
    }
  }

  async #create(path: string, data: Buffer | null): Promise<void> {
    try {
      await this.#coordination.create(path, data);
    } catch (error) {
      if (!(error instanceof CoordinationError && error.code === 'NodeExists')) throw error;
    }
  }
}

function offsetPath(groupId: string, topic: string, partition: number): string {
  // A group id may hold what a path may not. Kafka refuses those; so does the tree, with an error that names the path.
  return `/consumers/${groupId}/offsets/${topic}/${partition}`;
}

function isNoNode(error: unknown): boolean {
  return error instanceof CoordinationError && error.code === 'NoNode';
}
