// What this broker knows of the cluster: brokers, topics, leaders. One immutable snapshot, replaced whole on each
// UpdateMetadata request of the controller; whoever needs a consistent view keeps `current` in a variable. Snapshots share
// the topics that did not change.

import { sharedList } from './replica-lists.ts';

/** Leader of a partition that has none. */
export const noLeader = -1;
/** Leader that the controller names when a partition is being deleted. */
const leaderDuringDelete = -2;

export interface PartitionMetadata {
  readonly index: number;
  /** Broker id, or -1. It may name a broker that is not alive. */
  readonly leader: number;
  readonly leaderEpoch: number;
  readonly replicas: readonly number[];
  readonly isr: readonly number[];
  /** Replicas whose broker or log directory is not there. */
  readonly offlineReplicas: readonly number[];
  readonly controllerEpoch: number;
  /** Version of the partition's node in the coordination tree. */
  readonly partitionEpoch: number;
}

export interface TopicMetadata {
  readonly name: string;
  /** The zero uuid: the controller told none. */
  readonly id: string;
  readonly isInternal: boolean;
  /** By index. While partitions are being created some may be missing, so `partitions[i].index` can exceed i. */
  readonly partitions: readonly PartitionMetadata[];
}

export interface BrokerEndpoint {
  readonly listener: string;
  readonly securityProtocol: string;
  readonly host: string;
  readonly port: number;
}

export interface BrokerMetadata {
  readonly id: number;
  readonly rack: string | null;
  readonly endpoints: readonly BrokerEndpoint[];
}

/** The part of a decoded UpdateMetadata request that is read here, in the shape of version 5 and later. */
export interface MetadataUpdate {
  readonly controllerId: number;
  readonly controllerEpoch: number;
  readonly topicStates: readonly {
    readonly topicName: string;
    readonly topicId: string;
    readonly partitionStates: readonly PartitionUpdate[];
  }[];
  readonly ungroupedPartitionStates: readonly (PartitionUpdate & { readonly topicName: string })[];
  readonly liveBrokers: readonly {
    readonly id: number;
    readonly rack: string | null;
    readonly endpoints: readonly {
      readonly listener: string;
      readonly host: string;
      readonly port: number;
      readonly securityProtocol: number;
    }[];
  }[];
}

interface PartitionUpdate {
  readonly partitionIndex: number;
  readonly controllerEpoch: number;
  readonly leader: number;
  readonly leaderEpoch: number;
  readonly isr: readonly number[];
  readonly zkVersion: number;
  readonly replicas: readonly number[];
  readonly offlineReplicas: readonly number[];
}

/** Kafka's numbers of the security protocols. */
export const securityProtocols: readonly string[] = ['PLAINTEXT', 'SSL', 'SASL_PLAINTEXT', 'SASL_SSL'];

const internalTopics: ReadonlySet<string> = new Set(['__consumer_offsets', '__transaction_state', '__share_group_state']);

/** Where Kafka without ZooKeeper keeps its state: nobody may create a topic of this name. */
export const clusterMetadataTopic = '__cluster_metadata';

export function isInternalTopic(topic: string): boolean {
  return internalTopics.has(topic);
}

const zeroTopicId = 'AAAAAAAAAAAAAAAAAAAAAA';

export class MetadataSnapshot {
  readonly clusterId: string;
  /** -1: not known. */
  readonly controllerId: number;
  readonly controllerEpoch: number;
  readonly #topics: ReadonlyMap<string, TopicMetadata>;
  readonly #namesById: ReadonlyMap<string, string>;
  readonly #brokers: ReadonlyMap<number, BrokerMetadata>;

  constructor(parts: {
    readonly clusterId: string;
    readonly controllerId: number;
    readonly controllerEpoch: number;
    readonly topics: ReadonlyMap<string, TopicMetadata>;
    readonly namesById: ReadonlyMap<string, string>;
    readonly brokers: ReadonlyMap<number, BrokerMetadata>;
  }) {
    this.clusterId = parts.clusterId;
    this.controllerId = parts.controllerId;
    this.controllerEpoch = parts.controllerEpoch;
    this.#topics = parts.topics;
    this.#namesById = parts.namesById;
    this.#brokers = parts.brokers;
  }

  topic(name: string): TopicMetadata | undefined {
    return this.#topics.get(name);
  }

  topicById(id: string): TopicMetadata | undefined {
    const name = this.#namesById.get(id);
    return name === undefined ? undefined : this.#topics.get(name);
  }

  topicName(id: string): string | undefined {
    return this.#namesById.get(id);
  }

  partition(topic: string, index: number): PartitionMetadata | undefined {
    const partitions = this.#topics.get(topic)?.partitions;
    const candidate = partitions?.[index];
    return candidate?.index === index ? candidate : partitions?.find((partition) => partition.index === index);
  }

  topics(): Iterable<TopicMetadata> {
    return this.#topics.values();
  }

  get topicCount(): number {
    return this.#topics.size;
  }

  /** Live brokers, by id. */
  brokers(): Iterable<BrokerMetadata> {
    return this.#brokers.values();
  }

  broker(id: number): BrokerMetadata | undefined {
    return this.#brokers.get(id);
  }

  /** Where clients that came over this listener reach the broker. */
  endpoint(brokerId: number, listener: string): BrokerEndpoint | undefined {
    return this.#brokers.get(brokerId)?.endpoints.find((endpoint) => endpoint.listener === listener);
  }

  /** The snapshot after the update, sharing what stays as it is. */
  updated(update: MetadataUpdate): MetadataSnapshot {
    const changes = partitionsByTopic(update);
    const topics = changes.size === 0 ? this.#topics : new Map(this.#topics);
    const namesById = changes.size === 0 ? this.#namesById : new Map(this.#namesById);
    for (const [name, { topicId, partitions }] of changes) {
      const topic = changeTopic(name, topicId, this.#topics.get(name), partitions);
      const previousId = this.#topics.get(name)?.id;
      if (previousId !== undefined && previousId !== topic?.id) (namesById as Map<string, string>).delete(previousId);
      if (topic === undefined) (topics as Map<string, TopicMetadata>).delete(name);
      else {
        (topics as Map<string, TopicMetadata>).set(name, topic);
        if (topic.id !== zeroTopicId) (namesById as Map<string, string>).set(topic.id, name);
      }
    }
    return new MetadataSnapshot({
      clusterId: this.clusterId,
      controllerId: update.controllerId,
      controllerEpoch: update.controllerEpoch,
      topics,
      namesById,
      brokers: new Map(
        update.liveBrokers
          .map(
            (broker): BrokerMetadata => ({
              id: broker.id,
              rack: broker.rack,
              endpoints: broker.endpoints.map(({ listener, host, port, securityProtocol }) => {
                const protocol = securityProtocols[securityProtocol] ?? 'PLAINTEXT';
                // Before version 3 a listener was called after its protocol.
                return { listener: listener === '' ? protocol : listener, securityProtocol: protocol, host, port };
              }),
            }),
          )
          .sort((a, b) => a.id - b.id)
          .map((broker) => [broker.id, broker]),
      ),
    });
  }
}

interface TopicChange {
  topicId: string;
  partitions: readonly PartitionUpdate[];
}

function partitionsByTopic(update: MetadataUpdate): Map<string, TopicChange> {
  const changes = new Map<string, TopicChange>();
  const add = (topic: string, topicId: string, partitions: readonly PartitionUpdate[]): void => {
    const change = changes.get(topic);
    if (change === undefined) changes.set(topic, { topicId, partitions });
    else change.partitions = [...change.partitions, ...partitions];
  };
  for (const state of update.topicStates) add(state.topicName, state.topicId, state.partitionStates);
  for (const partition of update.ungroupedPartitionStates) add(partition.topicName, zeroTopicId, [partition]);
  return changes;
}

/** undefined: nothing of the topic is left. */
function changeTopic(
  name: string,
  topicId: string,
  previous: TopicMetadata | undefined,
  updates: readonly PartitionUpdate[],
): TopicMetadata | undefined {
  // Another id under the same name: the topic was deleted and created again while this broker was not told.
  const isAnotherTopic =
    previous !== undefined && topicId !== zeroTopicId && previous.id !== zeroTopicId && previous.id !== topicId;
  const partitions = new Map((isAnotherTopic ? [] : (previous?.partitions ?? [])).map((partition) => [partition.index, partition]));
  for (const update of updates) {
    if (update.leader === leaderDuringDelete) partitions.delete(update.partitionIndex);
    else {
      partitions.set(update.partitionIndex, {
        index: update.partitionIndex,
        leader: update.leader,
        leaderEpoch: update.leaderEpoch,
        replicas: sharedList(update.replicas),
        isr: sharedList(update.isr),
        offlineReplicas: sharedList(update.offlineReplicas),
        controllerEpoch: update.controllerEpoch,
        partitionEpoch: update.zkVersion,
      });
    }
  }
  if (partitions.size === 0) return undefined;
  return {
    name,
    id: topicId === zeroTopicId ? (previous?.id ?? zeroTopicId) : topicId,
    isInternal: isInternalTopic(name),
    partitions: [...partitions.values()].sort((a, b) => a.index - b.index),
  };
}

/** `touched` are the topics that the update named; what became of them is in `current`. */
export type MetadataListener = (current: MetadataSnapshot, previous: MetadataSnapshot, touched: ReadonlySet<string>) => void;

export class MetadataCache {
  #current: MetadataSnapshot;
  readonly #listeners = new Set<MetadataListener>();

  constructor(clusterId: string) {
    this.#current = new MetadataSnapshot({
      clusterId,
      controllerId: -1,
      controllerEpoch: 0,
      topics: new Map(),
      namesById: new Map(),
      brokers: new Map(),
    });
  }

  get current(): MetadataSnapshot {
    return this.#current;
  }

  /**
   * Takes in an UpdateMetadata request and tells the listeners. False: it came from an earlier controller, and nothing was done
   * (the answer is STALE_CONTROLLER_EPOCH).
   */
  update(update: MetadataUpdate): boolean {
    const previous = this.#current;
    if (update.controllerEpoch < previous.controllerEpoch) return false;
    this.#current = previous.updated(update);
    const touched = new Set([...update.topicStates, ...update.ungroupedPartitionStates].map(({ topicName }) => topicName));
    for (const listener of [...this.#listeners]) listener(this.#current, previous, touched);
    return true;
  }

  /** Calls the listener after each update; returns how to stop that. */
  onUpdate(listener: MetadataListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
