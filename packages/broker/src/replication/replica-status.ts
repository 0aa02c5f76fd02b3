// How the replicas on this broker stand, for people and for tests that watch a cluster.

import type { Partition } from './partition.ts';

export interface ReplicaStatus {
  readonly topic: string;
  readonly partition: number;
  readonly topicId: string;
  /** -1: nobody, as far as this broker was told. */
  readonly leader: number;
  readonly isLeader: boolean;
  readonly leaderEpoch: number;
  readonly assignedReplicas: readonly number[];
  readonly inSyncReplicas: readonly number[];
  readonly logStartOffset: number;
  readonly highWatermark: number;
  /** End of what is in the file. */
  readonly logEndOffset: number;
}

/** Those whose disk is online. */
export function replicaStatuses(partitions: Iterable<Partition>): ReplicaStatus[] {
  const statuses: ReplicaStatus[] = [];
  for (const partition of partitions) {
    if (!partition.hasLog) continue;
    const { topic, index, topicId, leader, isLeader, leaderEpoch, assignedReplicas, log } = partition;
    const { logStartOffset, highWatermark, writtenEndOffset } = log;
    statuses.push({
      topic,
      partition: index,
      topicId,
      leader,
      isLeader,
      leaderEpoch,
      assignedReplicas,
      inSyncReplicas: [...partition.inSyncReplicas],
      logStartOffset,
      highWatermark,
      logEndOffset: writtenEndOffset,
    });
  }
  return statuses;
}
