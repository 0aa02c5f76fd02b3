// Puts together what replication consists of: the partitions, what fetches for those that other brokers lead, what takes changes of in-sync
// replicas to the controller, and the limits on what replication may cost.

import { BufferPool, type Logger, type World } from '@odradek/runtime';
import type { LogConfig, LogManager } from '@odradek/storage';
import type { BrokerConfig } from '../broker-config.ts';
import type { MetadataCache } from '../metadata/metadata-cache.ts';
import { AlterPartitionManager, type AskController } from './alter-partition-manager.ts';
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
  readonly askController: AskController;
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
  const { config, brokerId, brokerEpoch, logger, metadataCache, askController } = parts;
  const { clock, timer, random, network, metrics } = parts.world;
  const alterations = new AlterPartitionManager({ brokerId, brokerEpoch, timer, logger, ask: askController });
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
      await fetchers.close();
      stopMetrics();
    },
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
