// A topic of the broker's own, in which a coordinator keeps its state. It is made when the first client asks for a coordinator.

import { errorCodes, ProtocolError } from '@odradek/protocol';
import type { Timer } from '@odradek/runtime';
import type { TopicChanges } from '../admin/topic-changes.ts';
import type { MetadataCache } from '../metadata/metadata-cache.ts';
import { coordinatorPartition } from './coordinator-partition.ts';

export interface InternalTopicParts {
  readonly name: string;
  readonly metadataCache: MetadataCache;
  readonly topicChanges: TopicChanges;
  readonly timer: Timer;
  /** How many partitions the topic gets, if it is not there yet. */
  readonly partitionCount: () => number;
}

/** So long the first client that asks waits for leaders; after that it asks again. On a single broker they are there at once. */
const creationWaitMs = 1_000;

export class InternalTopic {
  readonly #parts: InternalTopicParts;

  constructor(parts: InternalTopicParts) {
    this.#parts = parts;
  }

  get name(): string {
    return this.#parts.name;
  }

  get partitionCount(): number {
    return this.#parts.metadataCache.current.topic(this.name)?.partitions.length ?? this.#parts.partitionCount();
  }

  partitionOf(key: string): number {
    return coordinatorPartition(key, this.partitionCount);
  }

  /** Throws COORDINATOR_NOT_AVAILABLE when the topic cannot be made. */
  async create(): Promise<void> {
    const outcomes = await this.#parts.topicChanges.autoCreate([this.name]);
    const error = outcomes.get(this.name);
    if (error !== undefined) throw new ProtocolError(errorCodes.COORDINATOR_NOT_AVAILABLE, error.message, { cause: error });
    await this.#led();
  }

  /** Settles when the topic is in the metadata, or when that takes too long. */
  #led(): Promise<void> {
    const { metadataCache, timer } = this.#parts;
    const isThere = (): boolean => metadataCache.current.topic(this.name) !== undefined;
    if (isThere()) return Promise.resolve();
    return new Promise((resolve) => {
      const settle = (): void => {
        stop();
        task.cancel();
        resolve();
      };
      const stop = metadataCache.onUpdate(() => {
        if (isThere()) settle();
      });
      const task = timer.schedule(creationWaitMs, settle);
    });
  }
}
