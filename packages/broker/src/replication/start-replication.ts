// Puts together what replication consists of: the partitions, what fetches for those that other brokers lead, the way to the controller
// for changes of in-sync replicas, and the limits on what replication may cost.

import { BrokerPool, ConnectionError } from '@odradek/client/connection';
import { type AlterPartitionRequest, type AlterPartitionResponse, decodeMessage, encodeToBuffer } from '@odradek/protocol';
import { BufferPool, type Logger, type World } from '@odradek/runtime';
import type { LogConfig, LogManager } from '@odradek/storage';
import type { BrokerConfig } from '../broker-config.ts';
import type { MetadataCache } from '../metadata/metadata-cache.ts';
import { AlterPartitionManager, type AskController, alterPartition } from './alter-partition-manager.ts';
import { ConsumerReplicas } from './consumer-replicas.ts';
import { ReplicaFetchers } from './replica-fetchers.ts';
import { ReplicaManager } from './replica-manager.ts';
import { replicaSelector } from './replica-selector.ts';
import { replicationMetrics } from './replication-metrics.ts';
import { ReplicationQuota } from './replication-quota.ts';

export interface ReplicationParts {
  readonly world: World;
  readonly logger: Logger;
  readonly config: BrokerConfig;
  readonly brokerId: number;
  readonly brokerEpoch: () => number;
  readonly logManager: LogManager;
  readonly metadataCache: MetadataCache;
  readonly loadTopicConfigs: (topics: Iterable<string>) => Promise<void>;
  readonly topicLogConfig: (topic: string) => LogConfig;
  /** What was set for a topic. */
  readonly topicOverrides: (topic: string) => ReadonlyMap<string, string>;
  /** For the time in which this broker itself is the controller. */
  readonly askOwnController: (request: AlterPartitionRequest) => Promise<AlterPartitionResponse>;
}

export interface Replication {
  readonly replicaManager: ReplicaManager;
  /** For what this broker sends to throttled followers. */
  readonly leaderQuota: ReplicationQuota;
  /** Where consumers should read; undefined: always from the leader. */
  readonly consumerReplicas: ConsumerReplicas | undefined;
  /** Follows nobody any more, and asks the controller for nothing. To be done before the partitions' logs are closed. */
  close(): Promise<void>;
}

export function startReplication(parts: ReplicationParts): Replication {
  const { config, brokerId, brokerEpoch, logger, metadataCache } = parts;
  const { clock, timer, random, network, metrics } = parts.world;
  const peers = new BrokerPool({ network, timer, clock, random, logger }, { clientId: `broker-${brokerId}-alter-partition` });
  const alterations = new AlterPartitionManager({ brokerId, brokerEpoch, timer, logger, ask: controllerOf(parts, peers) });
  const fetchers = new ReplicaFetchers({
    brokerId,
    brokerEpoch,
    clock,
    timer,
    random,
    network,
    logger,
    framePool: new BufferPool({ largestBytes: 16 * 1024 * 1024, maxIdleBytes: 32 * 1024 * 1024 }),
    settings: () => ({
      minBytes: config.get('replica.fetch.min.bytes'),
      partitionMaxBytes: config.get('replica.fetch.max.bytes'),
      responseMaxBytes: config.get('replica.fetch.response.max.bytes'),
      maxWaitMs: config.get('replica.fetch.wait.max.ms'),
      backoffMs: config.get('replica.fetch.backoff.ms'),
      timeoutMs: config.get('replica.socket.timeout.ms'),
    }),
    quota: quotaOf(parts, 'follower'),
    addressOf: (id) => metadataCache.current.endpoint(id, config.interBrokerListenerName),
    fetchersPerBroker: () => config.get('num.replica.fetchers'),
    fetchedBytes: metrics.counter('replication_bytes_in_total'),
  });
  const replicaManager = new ReplicaManager({
    ...parts,
    clock,
    timer,
    maxReplicaLagMs: () => config.get('replica.lag.time.max.ms'),
    proposeInSync: (proposal) => alterations.propose(proposal),
    fetchers,
  });
  const stopMetrics = replicationMetrics(metrics, replicaManager, fetchers);
  const stopResizing = config.onChange(['num.replica.fetchers'], () => fetchers.resize());
  const select = replicaSelector(config.get('replica.selector.class'));
  return {
    replicaManager,
    leaderQuota: quotaOf(parts, 'leader'),
    consumerReplicas: select === undefined ? undefined : new ConsumerReplicas({ brokerId, metadataCache, select }),
    async close() {
      stopResizing();
      alterations.close();
      peers.close();
      await fetchers.close();
      stopMetrics();
    },
  };
}

/** Asks whoever is the controller as far as this broker was told; if that is wrong, the answer says so, and it is asked again. */
function controllerOf({ brokerId, config, metadataCache, askOwnController }: ReplicationParts, peers: BrokerPool): AskController {
  return async (request, options) => {
    const { controllerId } = metadataCache.current;
    if (controllerId === brokerId) {
      const { max: version } = alterPartition.request.versions;
      const bytes = encodeToBuffer(alterPartition.request, version, request(version));
      return askOwnController(decodeMessage(alterPartition.request, version, bytes));
    }
    const address = metadataCache.current.endpoint(controllerId, config.interBrokerListenerName);
    if (address === undefined) throw new ConnectionError('unreachable', 'No controller is known that could be reached');
    peers.setNode(controllerId, address);
    const timeoutMs = config.get('controller.socket.timeout.ms');
    return (await peers.connection(controllerId)).send(alterPartition, request, { ...options, timeoutMs });
  };
}

function quotaOf({ config, brokerId, topicOverrides, world }: ReplicationParts, side: 'leader' | 'follower'): ReplicationQuota {
  const rate = `${side}.replication.throttled.rate` as const;
  const replicas = `${side}.replication.throttled.replicas`;
  return new ReplicationQuota({
    brokerId,
    clock: world.clock,
    limit: () => config.quota(rate),
    throttledReplicas: (topic) => topicOverrides(topic).get(replicas),
    windowCount: config.get('replication.quota.window.num'),
    windowMs: config.get('replication.quota.window.size.seconds') * 1000,
  });
}
