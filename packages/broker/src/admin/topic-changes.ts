// Creating, deleting and growing topics: what CreateTopics, DeleteTopics, CreatePartitions and auto-creation share. The
// change is written to the coordination tree, where the controller finds it; then this waits until the metadata cache shows it.

import type { Coordination } from '@odradek/coordination';
import type { ProtocolError } from '@odradek/protocol';
import type { Logger, Random, Timer } from '@odradek/runtime';
import type { MetadataCache } from '../metadata/metadata-cache.ts';
import type { ConfigChanges, ConfigRules } from './config-changes.ts';

/** A topic of a CreateTopics request, as decoded. */
export interface TopicToCreate {
  readonly name: string;
  /** -1: the broker's default, or given by the assignments. */
  readonly numPartitions: number;
  readonly replicationFactor: number;
  readonly assignments: readonly { readonly partitionIndex: number; readonly brokerIds: readonly number[] }[];
  readonly configs: readonly { readonly name: string; readonly value: string | null }[];
}

export interface CreatedTopic {
  readonly name: string;
  /** undefined: done (or, with validateOnly, possible). */
  readonly error: ProtocolError | undefined;
  /** The zero uuid on error and with validateOnly. */
  readonly topicId: string;
  /** -1 on error. */
  readonly numPartitions: number;
  readonly replicationFactor: number;
  /** The overrides that the topic has (or would have). */
  readonly configs: ReadonlyMap<string, string>;
}

/** A topic of a DeleteTopics request: by name, or by id with name null. */
export interface TopicToDelete {
  readonly name: string | null;
  readonly topicId: string;
}

export interface DeletedTopic {
  readonly name: string | null;
  readonly topicId: string;
  readonly error: ProtocolError | undefined;
}

/** A topic of a CreatePartitions request, as decoded. */
export interface TopicToGrow {
  readonly name: string;
  /** How many partitions the topic shall have in all. */
  readonly count: number;
  readonly assignments: readonly { readonly brokerIds: readonly number[] }[] | null;
}

export interface GrownTopic {
  readonly name: string;
  readonly error: ProtocolError | undefined;
}

/** The broker configs that topics begin with; read at each use, since some change while the broker runs. */
export interface TopicDefaults {
  /** num.partitions */
  readonly numPartitions: number;
  /** default.replication.factor */
  readonly replicationFactor: number;
  /** delete.topic.enable */
  readonly isDeletionEnabled: boolean;
  /** Partitions, replication factor and configs of an internal topic (offsets.topic.…, transaction.state.log.…); undefined for others. */
  internalTopic(
    name: string,
  ):
    | { readonly numPartitions: number; readonly replicationFactor: number; readonly configs: ReadonlyMap<string, string> }
    | undefined;
}

export interface TopicChangesParts {
  readonly coordination: Coordination;
  readonly metadataCache: MetadataCache;
  readonly configChanges: ConfigChanges;
  readonly rules: ConfigRules;
  readonly defaults: TopicDefaults;
  /** Whether this broker is the active controller; the three admin requests answer NOT_CONTROLLER elsewhere. */
  readonly isActiveController: () => boolean;
  readonly timer: Timer;
  readonly random: Random;
  readonly logger: Logger;
}

export class TopicChanges {
  constructor(_parts: TopicChangesParts) {
    throw new Error('not written yet');
  }

  /** CreateTopics. Settles when all topics have leaders in the metadata cache, or after timeoutMs (REQUEST_TIMED_OUT for the rest). */
  async createTopics(
    _topics: readonly TopicToCreate[],
    _options: { readonly timeoutMs: number; readonly validateOnly: boolean },
  ): Promise<CreatedTopic[]> {
    throw new Error('not written yet');
  }

  /** DeleteTopics. Settles when the topics have left the metadata cache, or after timeoutMs. */
  async deleteTopics(_topics: readonly TopicToDelete[], _options: { readonly timeoutMs: number }): Promise<DeletedTopic[]> {
    throw new Error('not written yet');
  }

  /** CreatePartitions. */
  async createPartitions(
    _topics: readonly TopicToGrow[],
    _options: { readonly timeoutMs: number; readonly validateOnly: boolean },
  ): Promise<GrownTopic[]> {
    throw new Error('not written yet');
  }

  /**
   * Auto-creation, with the defaults (or those of internal topics). Does not wait: Metadata answers LEADER_NOT_AVAILABLE
   * until the leaders are there. Calls for a topic that is being created share that work. Answers the error per topic, or undefined.
   */
  async autoCreate(_topics: readonly string[]): Promise<Map<string, ProtocolError | undefined>> {
    throw new Error('not written yet');
  }
}
