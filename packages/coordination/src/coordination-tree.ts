// Every path of the tree and the JSON in it, as Apache Kafka 3.9 writes them: names, order of keys, versions. What a node
// is for and when it changes stands in docs/formats/coordination-tree.md. The order of keys means nothing to a reader; it
// is kept so that trees can be compared byte for byte.

import {
  asArray,
  asInteger,
  asIntegers,
  asIntegerText,
  asObject,
  asReplicaMap,
  asString,
  asStringMap,
  desanitizeName,
  inPropertiesOrder,
  parseObject,
  sanitizeName,
  toNode,
} from './node-json.ts';

/** Folders that a broker creates when it starts, parents first. */
export const persistentPaths: readonly string[] = [
  '/consumers',
  '/brokers',
  '/brokers/ids',
  '/brokers/topics',
  '/config',
  '/config/changes',
  '/admin',
  '/admin/delete_topics',
  '/brokers/seqid',
  '/isr_change_notification',
  '/latest_producer_id_block',
  '/log_dir_event_notification',
  '/config/topics',
  '/config/clients',
  '/config/users',
  '/config/brokers',
  '/config/ips',
];

// ---- Brokers ----

export interface RegisteredEndpoint {
  readonly listener: string;
  readonly securityProtocol: string;
  readonly host: string;
  readonly port: number;
}

export interface BrokerRegistration {
  readonly id: number;
  readonly endpoints: readonly RegisteredEndpoint[];
  readonly rack: string | null;
  /** -1: none. */
  readonly jmxPort: number;
  /** When the broker started, wall time in ms. */
  readonly timestamp: number;
  readonly features: ReadonlyMap<string, { readonly minVersion: number; readonly maxVersion: number }>;
}

export const brokerIdsNode = { path: '/brokers/ids' } as const;

/** Ephemeral; created without data and set in the same transaction, so that its version is 1. */
export const brokerIdNode = {
  path: (id: number) => `/brokers/ids/${id}`,
  encode(broker: BrokerRegistration): Buffer {
    // Clients from before listeners existed read host and port; they could only speak plain text.
    const plaintext = broker.endpoints.find((endpoint) => endpoint.securityProtocol === 'PLAINTEXT');
    return toNode({
      features: Object.fromEntries(
        [...broker.features].map(([name, range]) => [name, { min_version: range.minVersion, max_version: range.maxVersion }]),
      ),
      listener_security_protocol_map: Object.fromEntries(
        broker.endpoints.map(({ listener, securityProtocol }) => [listener, securityProtocol]),
      ),
      endpoints: broker.endpoints.map(formatEndpoint),
      ...(broker.rack === null ? {} : { rack: broker.rack }),
      jmx_port: broker.jmxPort,
      port: plaintext?.port ?? -1,
      host: plaintext?.host ?? null,
      version: 5,
      timestamp: String(broker.timestamp),
    });
  },
  decode(id: number, data: Uint8Array | null): BrokerRegistration {
    const what = `broker ${id}`;
    const json = parseObject(data, what);
    const version = asInteger(json['version'], `${what}.version`);
    const protocols =
      json['listener_security_protocol_map'] === undefined ? undefined : asStringMap(json['listener_security_protocol_map'], what);
    return {
      id,
      endpoints:
        version < 2
          ? [
              {
                listener: 'PLAINTEXT',
                securityProtocol: 'PLAINTEXT',
                host: asString(json['host'], what),
                port: asInteger(json['port'], what),
              },
            ]
          : asArray(json['endpoints'], what).map((endpoint) => parseEndpoint(asString(endpoint, what), protocols)),
      rack: typeof json['rack'] === 'string' ? json['rack'] : null,
      jmxPort: json['jmx_port'] === undefined ? -1 : asInteger(json['jmx_port'], what),
      timestamp: json['timestamp'] === undefined ? -1 : asIntegerText(json['timestamp'], what),
      features: new Map(
        Object.entries(asObject(json['features'] ?? {}, what)).map(([name, range]) => {
          const { min_version, max_version } = asObject(range, what);
          return [name, { minVersion: asInteger(min_version, what), maxVersion: asInteger(max_version, what) }];
        }),
      ),
    };
  },
} as const;

function formatEndpoint({ listener, host, port }: RegisteredEndpoint): string {
  return `${listener}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function parseEndpoint(text: string, protocols: ReadonlyMap<string, string> | undefined): RegisteredEndpoint {
  const parts = /^(.*):\/\/\[?([^[\]]*)\]?:(-?\d+)$/.exec(text);
  const listener = asString(parts?.[1], `endpoint ${text}`).toUpperCase();
  return {
    listener,
    // Before version 4 a listener was called after its protocol.
    securityProtocol: protocols?.get(listener) ?? listener,
    host: asString(parts?.[2], `endpoint ${text}`),
    port: Number(parts?.[3]),
  };
}

/** Its data is never read: setting it yields a version, which is a broker id that nobody has. */
export const brokerSequenceNode = { path: '/brokers/seqid' } as const;

// ---- Topics and partitions ----

export interface TopicAssignment {
  /** undefined: from before topics had ids. */
  readonly topicId: string | undefined;
  readonly replicas: ReadonlyMap<number, readonly number[]>;
  /** Only partitions in reassignment are in these two. */
  readonly addingReplicas: ReadonlyMap<number, readonly number[]>;
  readonly removingReplicas: ReadonlyMap<number, readonly number[]>;
}

export const topicsNode = { path: '/brokers/topics' } as const;

export const topicNode = {
  path: (topic: string) => `/brokers/topics/${topic}`,
  encode(topic: TopicAssignment): Buffer {
    return toNode({
      partitions: Object.fromEntries(topic.replicas),
      ...(topic.topicId === undefined ? {} : { topic_id: topic.topicId }),
      adding_replicas: Object.fromEntries(topic.addingReplicas),
      removing_replicas: Object.fromEntries(topic.removingReplicas),
      version: topic.topicId === undefined ? 2 : 3,
    });
  },
  decode(topic: string, data: Uint8Array | null): TopicAssignment {
    const what = `topic ${topic}`;
    const json = parseObject(data, what);
    return {
      topicId: json['topic_id'] === undefined ? undefined : asString(json['topic_id'], what),
      replicas: asReplicaMap(json['partitions'], what),
      addingReplicas: asReplicaMap(json['adding_replicas'] ?? {}, what),
      removingReplicas: asReplicaMap(json['removing_replicas'] ?? {}, what),
    };
  },
} as const;

export const partitionsNode = { path: (topic: string) => `/brokers/topics/${topic}/partitions` } as const;
export const partitionNode = {
  path: (topic: string, partition: number) => `/brokers/topics/${topic}/partitions/${partition}`,
} as const;

export interface PartitionState {
  readonly controllerEpoch: number;
  /** -1: none. */
  readonly leader: number;
  readonly leaderEpoch: number;
  readonly isr: readonly number[];
  /** The leader came from outside the in-sync replicas and has not finished recovering. */
  readonly isLeaderRecovering: boolean;
}

/** The node's version is the partition epoch. */
export const partitionStateNode = {
  path: (topic: string, partition: number) => `/brokers/topics/${topic}/partitions/${partition}/state`,
  encode(state: PartitionState): Buffer {
    return toNode({
      controller_epoch: state.controllerEpoch,
      leader: state.leader,
      version: 1,
      leader_epoch: state.leaderEpoch,
      isr: state.isr,
      ...(state.isLeaderRecovering ? { leader_recovery_state: 1 } : {}),
    });
  },
  decode(what: string, data: Uint8Array | null): PartitionState {
    const json = parseObject(data, what);
    return {
      controllerEpoch: asInteger(json['controller_epoch'], what),
      leader: asInteger(json['leader'], what),
      leaderEpoch: asInteger(json['leader_epoch'], what),
      isr: asIntegers(json['isr'], what),
      isLeaderRecovering: json['leader_recovery_state'] === 1,
    };
  },
} as const;

// ---- Controller and cluster ----

export const controllerNode = {
  path: '/controller',
  encode: (controller: { readonly brokerId: number; readonly timestamp: number }): Buffer =>
    toNode({ version: 2, brokerid: controller.brokerId, timestamp: String(controller.timestamp), kraftControllerEpoch: -1 }),
  decode(data: Uint8Array | null): { readonly brokerId: number; readonly timestamp: number } {
    const json = parseObject(data, 'controller');
    return { brokerId: asInteger(json['brokerid'], 'controller'), timestamp: asIntegerText(json['timestamp'] ?? -1, 'controller') };
  },
} as const;

/** The first controller's epoch is 1; the node begins at 0. Its version guards every write of a controller. */
export const controllerEpochNode = {
  path: '/controller_epoch',
  encode: (epoch: number): Buffer => Buffer.from(String(epoch), 'utf8'),
  decode: (data: Uint8Array | null): number =>
    asIntegerText(data === null ? null : Buffer.from(data).toString('utf8'), 'controller epoch'),
} as const;

export const clusterIdNode = {
  path: '/cluster/id',
  encode: (clusterId: string): Buffer => toNode({ version: '1', id: clusterId }),
  decode: (data: Uint8Array | null): string => asString(parseObject(data, 'cluster id')['id'], 'cluster id'),
} as const;

export interface FinalizedFeatures {
  readonly features: ReadonlyMap<string, { readonly minVersionLevel: number; readonly maxVersionLevel: number }>;
  readonly isEnabled: boolean;
}

export const featureNode = {
  path: '/feature',
  encode: (feature: FinalizedFeatures): Buffer =>
    toNode({
      features: Object.fromEntries(
        [...feature.features].map(([name, range]) => [
          name,
          { min_version_level: range.minVersionLevel, max_version_level: range.maxVersionLevel },
        ]),
      ),
      version: 2,
      status: feature.isEnabled ? 1 : 0,
    }),
  decode(data: Uint8Array | null): FinalizedFeatures {
    const json = parseObject(data, 'feature');
    return {
      features: new Map(
        Object.entries(asObject(json['features'], 'feature')).map(([name, range]) => {
          const { min_version_level, max_version_level } = asObject(range, `feature ${name}`);
          return [
            name,
            {
              minVersionLevel: asInteger(min_version_level ?? 0, `feature ${name}`),
              maxVersionLevel: asInteger(max_version_level, `feature ${name}`),
            },
          ];
        }),
      ),
      isEnabled: json['status'] === 1,
    };
  },
} as const;

export interface ProducerIdBlock {
  /** The broker that it was given to. */
  readonly brokerId: number;
  readonly first: number;
  /** Inclusive. */
  readonly last: number;
}

/** Without data until the first block is taken. */
export const producerIdBlockNode = {
  path: '/latest_producer_id_block',
  encode: (block: ProducerIdBlock): Buffer =>
    toNode({ version: 1, broker: block.brokerId, block_start: String(block.first), block_end: String(block.last) }),
  decode(data: Uint8Array | null): ProducerIdBlock | undefined {
    if (data === null || data.length === 0) return undefined;
    const what = 'producer id block';
    const json = parseObject(data, what);
    return {
      brokerId: asInteger(json['broker'], what),
      first: asIntegerText(json['block_start'], what),
      last: asIntegerText(json['block_end'], what),
    };
  },
} as const;

// ---- Configs ----

/**
 * Folders below /config. Kafka 3.9 keeps the first five here; `groups` and `client-metrics` are ours, since with Kafka they live
 * only in KRaft.
 */
export type ConfigEntityType = 'topics' | 'brokers' | 'clients' | 'users' | 'ips' | 'groups' | 'client-metrics';

/** The entity that stands for all that have no configs of their own. */
export const defaultEntityName = '<default>';

export const configEntitiesNode = { path: (type: ConfigEntityType) => `/config/${type}` } as const;

/** Names of users, clients, groups and client-metrics are sanitised by the caller, since their paths may nest. */
export const configNode = {
  path: (type: ConfigEntityType, entity: string) => `/config/${type}/${entity}`,
  encode: (configs: ReadonlyMap<string, string>): Buffer => toNode({ version: 1, config: inPropertiesOrder(configs) }),
  /** A node without data is a folder on the way to another: it has no configs. */
  decode(what: string, data: Uint8Array | null): Map<string, string> {
    return data === null || data.length === 0 ? new Map() : asStringMap(parseObject(data, what)['config'], what);
  },
} as const;

/** Persistent sequential nodes tell every broker which entity's configs to read again. They are removed after 15 minutes. */
export const configChangeNode = {
  folder: '/config/changes',
  /** Ours: changes of entities that Apache Kafka 3.9 does not know, and would stumble over. */
  otherFolder: '/config/other_changes',
  prefix: 'config_change_',
  encode: (entityPath: string): Buffer => toNode({ version: 2, entity_path: entityPath }),
  /** The path below /config. */
  decode(data: Uint8Array | null): string {
    const json = parseObject(data, 'config change');
    return json['version'] === 1
      ? `${asString(json['entity_type'], 'config change')}/${asString(json['entity_name'], 'config change')}`
      : asString(json['entity_path'], 'config change');
  },
} as const;

// ---- Requests to the controller and notifications ----

export const deleteTopicsNode = { path: '/admin/delete_topics' } as const;
export const deleteTopicNode = { path: (topic: string) => `/admin/delete_topics/${topic}` } as const;

export interface PartitionName {
  readonly topic: string;
  readonly partition: number;
}

export const reassignPartitionsNode = {
  path: '/admin/reassign_partitions',
  encode: (partitions: readonly (PartitionName & { readonly replicas: readonly number[] })[]): Buffer =>
    toNode({ version: 1, partitions: partitions.map(({ topic, partition, replicas }) => ({ topic, partition, replicas })) }),
  decode(data: Uint8Array | null): (PartitionName & { readonly replicas: readonly number[] })[] {
    const what = 'reassignment';
    return asArray(parseObject(data, what)['partitions'], what).map((entry) => {
      const json = asObject(entry, what);
      return { ...partitionName(json, what), replicas: asIntegers(json['replicas'], what) };
    });
  },
} as const;

export const preferredReplicaElectionNode = {
  path: '/admin/preferred_replica_election',
  encode: encodePartitionNames,
  decode: (data: Uint8Array | null): PartitionName[] => decodePartitionNames(data, 'preferred replica election'),
} as const;

/** Written by leaders of brokers that do not speak AlterPartition. */
export const isrChangeNode = {
  folder: '/isr_change_notification',
  prefix: 'isr_change_',
  encode: encodePartitionNames,
  decode: (data: Uint8Array | null): PartitionName[] => decodePartitionNames(data, 'ISR change'),
} as const;

function encodePartitionNames(partitions: readonly PartitionName[]): Buffer {
  return toNode({ version: 1, partitions: partitions.map(({ topic, partition }) => ({ topic, partition })) });
}

function decodePartitionNames(data: Uint8Array | null, what: string): PartitionName[] {
  return asArray(parseObject(data, what)['partitions'], what).map((entry) => partitionName(asObject(entry, what), what));
}

function partitionName(json: { readonly [key: string]: unknown }, what: string): PartitionName {
  return { topic: asString(json['topic'], what), partition: asInteger(json['partition'], what) };
}

/** A broker tells that one of its log directories failed. */
export const logDirEventNode = {
  folder: '/log_dir_event_notification',
  prefix: 'log_dir_event_',
  encode: (brokerId: number): Buffer => toNode({ version: 1, broker: brokerId, event: 1 }),
  decode: (data: Uint8Array | null): number => asInteger(parseObject(data, 'log directory event')['broker'], 'log directory event'),
} as const;

// ---- Old consumers and delegation tokens: paths only ----

export const consumersNode = { path: '/consumers' } as const;

export const delegationTokenNodes = {
  root: '/delegation_token',
  changes: '/delegation_token/token_changes',
  tokens: '/delegation_token/tokens',
  token: (tokenId: string) => `/delegation_token/tokens/${tokenId}`,
} as const;

/** The number at the end of a sequential node's name. */
export function sequenceNumber(name: string): number {
  return asIntegerText(/\d{10}$/.exec(name)?.[0], `number of ${name}`);
}

export { desanitizeName, sanitizeName };
