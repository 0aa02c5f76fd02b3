// Reads what a fetch wants from several partitions, one after the other, within the limits of the whole answer.

import { errorCodes, ProtocolError, zeroUuid } from '@odradek/protocol';
import type { FetchedRecords } from '@odradek/storage';
import type { FetchedPartition, FetchPartitionInit, WantedPartition } from './fetch-sessions.ts';
import type { Isolation } from './partition.ts';
import type { ReplicaManager } from './replica-manager.ts';

export interface ReadLimits {
  /** The broker id of a follower; below 0 a consumer. */
  readonly replicaId: number;
  readonly isolation: Isolation;
  readonly requiresLeader: boolean;
  readonly maxBytes: number;
  /** Whether the very first batch may be larger than the limits, so that the reader gets on. */
  readonly minOneBatch: boolean;
}

/** The outcome of all, and whether something in it should be told without waiting for more. */
export interface PartitionReads {
  readonly fetched: FetchedPartition[];
  sizeBytes: number;
  isUrgent: boolean;
}

/** At once when all bytes are at hand. Never throws for a single partition: its error is in its part of the outcome. */
export function readPartitions(
  replicaManager: ReplicaManager,
  limits: ReadLimits,
  wanted: readonly WantedPartition[],
): PartitionReads | Promise<PartitionReads> {
  return readFrom(0, { fetched: [], sizeBytes: 0, isUrgent: false }, replicaManager, limits, wanted);
}

function readFrom(
  start: number,
  reads: PartitionReads,
  replicaManager: ReplicaManager,
  limits: ReadLimits,
  wanted: readonly WantedPartition[],
): PartitionReads | Promise<PartitionReads> {
  for (let i = start; i < wanted.length; i++) {
    const partition = wanted[i] as WantedPartition;
    const outcome = readOne(replicaManager, limits, partition, reads.sizeBytes);
    if (outcome instanceof Promise) {
      return outcome.then((fetched) => {
        add(reads, fetched);
        return readFrom(i + 1, reads, replicaManager, limits, wanted);
      });
    }
    add(reads, outcome);
  }
  return reads;
}

function add(reads: PartitionReads, fetched: FetchedPartition): void {
  reads.fetched.push(fetched);
  reads.sizeBytes += fetched.sizeBytes;
  if (fetched.data.errorCode !== errorCodes.NONE || fetched.data.divergingEpoch !== undefined) reads.isUrgent = true;
}

function readOne(
  replicaManager: ReplicaManager,
  limits: ReadLimits,
  wanted: WantedPartition,
  sizeBefore: number,
): FetchedPartition | Promise<FetchedPartition> {
  try {
    if (wanted.topic === undefined) throw new ProtocolError(errorCodes.UNKNOWN_TOPIC_ID);
    const partition = replicaManager.partition(wanted.topic, wanted.partition);
    if (wanted.topicId !== zeroUuid && partition.topicId !== zeroUuid && wanted.topicId !== partition.topicId) {
      throw new ProtocolError(errorCodes.INCONSISTENT_TOPIC_ID);
    }
    const { requiresLeader, isolation, maxBytes, minOneBatch } = limits;
    const { fetchOffset, currentLeaderEpoch } = wanted;
    const divergingEpoch = partition.divergence(fetchOffset, wanted.lastFetchedEpoch, currentLeaderEpoch, requiresLeader);
    const records = partition.read(fetchOffset, {
      isolation,
      currentLeaderEpoch,
      requiresLeader,
      // Where the logs part nothing is read: the reader must truncate first.
      maxBytes: divergingEpoch === undefined ? Math.min(wanted.maxBytes, Math.max(0, maxBytes - sizeBefore)) : 0,
      minOneBatch: divergingEpoch === undefined && minOneBatch && sizeBefore === 0,
    });
    if (limits.replicaId >= 0) partition.recordFollowerFetch(limits.replicaId, fetchOffset, wanted.followerLogStartOffset);
    if (!(records instanceof Promise)) return success(wanted, records, divergingEpoch);
    return records.then(
      (late) => success(wanted, late, divergingEpoch),
      (error: unknown) => failed(wanted, error),
    );
  } catch (error) {
    return failed(wanted, error);
  }
}

function success(
  wanted: WantedPartition,
  records: FetchedRecords,
  divergingEpoch: { readonly epoch: number; readonly endOffset: number } | undefined,
): FetchedPartition {
  const data: FetchPartitionInit = {
    partitionIndex: wanted.partition,
    errorCode: errorCodes.NONE,
    highWatermark: records.highWatermark,
    lastStableOffset: records.lastStableOffset,
    logStartOffset: records.logStartOffset,
    divergingEpoch,
    currentLeader: undefined,
    snapshotId: undefined,
    abortedTransactions: records.abortedTransactions,
    preferredReadReplica: -1,
    records: records.records,
  };
  return { wanted, data, sizeBytes: records.sizeBytes, release: records.release };
}

function failed(wanted: WantedPartition, error: unknown): FetchedPartition {
  if (!(error instanceof ProtocolError)) throw error;
  return refusedPartition(wanted, error.code);
}

/** A partition's part of the answer when it gets nothing but an error. */
export function refusedPartition(wanted: WantedPartition, errorCode: number): FetchedPartition {
  const data: FetchPartitionInit = {
    partitionIndex: wanted.partition,
    errorCode,
    highWatermark: -1,
    lastStableOffset: -1,
    logStartOffset: -1,
    divergingEpoch: undefined,
    currentLeader: undefined,
    snapshotId: undefined,
    abortedTransactions: null,
    preferredReadReplica: -1,
    records: [],
  };
  return { wanted, data, sizeBytes: 0, release: undefined };
}
