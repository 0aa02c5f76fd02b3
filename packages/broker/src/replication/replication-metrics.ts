// The figures of replication, by the names that Kafka's have in snake case.

import type { MetricSeries, MetricsRegistry } from '@odradek/runtime';
import type { ReplicaFetchers } from './replica-fetchers.ts';
import type { ReplicaManager } from './replica-manager.ts';

/** Answers how to stop telling them. */
export function replicationMetrics(
  metrics: MetricsRegistry,
  replicaManager: ReplicaManager,
  fetchers: ReplicaFetchers,
): () => void {
  return metrics.collect(() => [...replicaSeries(replicaManager), ...fetcherSeries(fetchers)]);
}

function replicaSeries(replicaManager: ReplicaManager): MetricSeries[] {
  let [partitions, leaders, underReplicated, underMinIsr, atMinIsr, offline] = [0, 0, 0, 0, 0, 0];
  for (const partition of replicaManager.partitions()) {
    partitions += 1;
    if (partition.isOffline) offline += 1;
    if (!partition.isLeader || !partition.hasLog) continue;
    leaders += 1;
    if (partition.isUnderReplicated) underReplicated += 1;
    if (!partition.hasEnoughInSyncReplicas()) underMinIsr += 1;
    if (partition.inSyncReplicas.size === Math.min(partition.log.config.minInSyncReplicas, partition.assignedReplicas.length))
      atMinIsr += 1;
  }
  const { grown, shrunk } = replicaManager.inSyncChanges;
  return [
    gauge('partition_count', partitions),
    gauge('leader_count', leaders),
    gauge('under_replicated_partitions', underReplicated),
    gauge('under_min_isr_partition_count', underMinIsr),
    gauge('at_min_isr_partition_count', atMinIsr),
    gauge('offline_replica_count', offline),
    counter('isr_expands_total', grown),
    counter('isr_shrinks_total', shrunk),
  ];
}

function fetcherSeries(fetchers: ReplicaFetchers): MetricSeries[] {
  return [
    gauge('replica_fetcher_max_lag', fetchers.maxLag),
    gauge('replica_fetcher_failed_partitions_count', fetchers.failedCount),
  ];
}

function gauge(name: string, value: number): MetricSeries {
  return { kind: 'gauge', name, labels: {}, value };
}

function counter(name: string, value: number): MetricSeries {
  return { kind: 'counter', name, labels: {}, value };
}
