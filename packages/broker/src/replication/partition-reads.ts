// Reads what a fetch wants from several partitions, one after the other, within the limits of the whole answer.

import { errorCodes, ProtocolError, zeroUuid } from '@odradek/protocol';
import type { FetchedRecords } from '@odradek/storage';
import type { FetchedPartition, FetchPartitionInit, WantedPartition } from './fetch-sessions.ts';
import type { FollowerState } from './follower-state.ts';
import type { Isolation, Partition } from './partition.ts';
import type { ReplicaManager } from './replica-manager.ts';
import type { RestingPartitions } from './resting-partitions.ts';

export interface ReadLimits {
  /** The broker id of a follower; below 0 a consumer. */
  readonly replicaId: number;
  /** The epoch of the follower's life; -1 when it does not say. */
  readonly replicaEpoch: number;
  /** Where a follower's partitions rest; undefined: in no session. */
  readonly resting?: RestingPartitions | undefined;
  /** Whether the reader gets nothing of the partition for the time being, because replication costs too much. */
  readonly isHeldBack: (partition: Partition) => boolean;
  /** The broker that the reader should rather ask; undefined: it may read here. */
  readonly betterReplica: (partition: Partition, fetchOffset: number) => number | undefined;
  /** Topics that the reader may not read; absent where there is no authorizer. */
  readonly isForbidden?: ((topic: string) => boolean) | undefined;
  readonly isolation: Isolation;
  readonly requiresLeader: boolean;
  readonly maxBytes: number;
  /** Whether the very first batch may be larger than the limits, so that the reader gets on. */
  readonly minOneBatch: boolean;
}

/** The outcome of those that have one, and whether something in it should be told without waiting for more. */
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
    if (outcome === undefined) continue;
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
  const { errorCode, divergingEpoch, preferredReadReplica } = fetched.data;
  if (errorCode !== errorCodes.NONE || divergingEpoch !== undefined || preferredReadReplica !== -1) reads.isUrgent = true;
}

/** Which of the wanted to read again: those that had something to tell at the first look, and those in which something has happened. */
export function wantedAgain(
  wanted: readonly WantedPartition[],
  first: PartitionReads,
  changed: ReadonlySet<WantedPartition>,
): readonly WantedPartition[] {
  const again = new Set(changed);
  for (const fetched of first.fetched) again.add(fetched.wanted);
  return again.size === wanted.length ? wanted : wanted.filter((partition) => again.has(partition));
}

/** undefined: there is nothing to tell. */
function readOne(
  replicaManager: ReplicaManager,
  limits: ReadLimits,
  wanted: WantedPartition,
  sizeBefore: number,
): FetchedPartition | Promise<FetchedPartition> | undefined {
  try {
    if (wanted.topic === undefined) throw new ProtocolError(errorCodes.UNKNOWN_TOPIC_ID);
    if (limits.isForbidden?.(wanted.topic) === true) throw new ProtocolError(errorCodes.TOPIC_AUTHORIZATION_FAILED);
    const partition = replicaManager.partition(wanted.topic, wanted.partition);
    if (wanted.topicId !== zeroUuid && partition.topicId !== zeroUuid && wanted.topicId !== partition.topicId) {
      throw new ProtocolError(errorCodes.INCONSISTENT_TOPIC_ID);
    }
    const { fetchOffset, currentLeaderEpoch, lastFetchedEpoch } = wanted;
    const { requiresLeader, isolation, replicaId } = limits;
    if (replicaId >= 0) {
      const level = levelFollower(partition, limits, wanted);
      if (level !== undefined) {
        limits.resting?.rest(partition, wanted, level);
        return undefined;
      }
    }
    partition.checkEpoch(currentLeaderEpoch);
    if (replicaId >= 0) partition.ensureFollower(replicaId, limits.replicaEpoch, currentLeaderEpoch);
    const elsewhere = limits.betterReplica(partition, fetchOffset);
    if (elsewhere !== undefined) return nothing(wanted, partition, { preferredReadReplica: elsewhere });
    const divergingEpoch = partition.divergence(fetchOffset, lastFetchedEpoch, currentLeaderEpoch, requiresLeader);
    // Where the logs part nothing is read, and what the follower has does not count: it must truncate first.
    if (divergingEpoch !== undefined) return nothing(wanted, partition, { divergingEpoch });
    const isHeldBack = limits.isHeldBack(partition);
    const records = partition.read(fetchOffset, {
      isolation,
      currentLeaderEpoch,
      requiresLeader,
      maxBytes: isHeldBack ? 0 : Math.min(wanted.maxBytes, Math.max(0, limits.maxBytes - sizeBefore)),
      minOneBatch: !isHeldBack && limits.minOneBatch && sizeBefore === 0,
    });
    if (replicaId >= 0) recordPosition(partition, limits, wanted);
    if (!(records instanceof Promise)) return success(wanted, records);
    return records.then(
      (late) => success(wanted, late),
      (error: unknown) => failed(wanted, error),
    );
  } catch (error) {
    return failed(wanted, error);
  }
}

/** Partitions that were not told of yet are none of these: what was told of them is -1. */
function levelFollower(
  partition: Partition,
  { replicaId, replicaEpoch }: ReadLimits,
  wanted: WantedPartition,
): FollowerState | undefined {
  const { fetchOffset, followerLogStartOffset: logStartOffset, currentLeaderEpoch: leaderEpoch, lastFetchedEpoch } = wanted;
  return partition.tryRecordLevelFetch(
    { brokerId: replicaId, brokerEpoch: replicaEpoch, fetchOffset, logStartOffset },
    { leaderEpoch, lastFetchedEpoch, highWatermark: wanted.toldHighWatermark, logStartOffset: wanted.toldLogStartOffset },
  );
}

function recordPosition(partition: Partition, { replicaId, replicaEpoch }: ReadLimits, wanted: WantedPartition): void {
  const { fetchOffset, followerLogStartOffset: logStartOffset } = wanted;
  partition.recordFollowerFetch({ brokerId: replicaId, brokerEpoch: replicaEpoch, fetchOffset, logStartOffset });
}

function success(wanted: WantedPartition, records: FetchedRecords): FetchedPartition {
  const data: FetchPartitionInit = {
    partitionIndex: wanted.partition,
    errorCode: errorCodes.NONE,
    highWatermark: records.highWatermark,
    lastStableOffset: records.lastStableOffset,
    logStartOffset: records.logStartOffset,
    divergingEpoch: undefined,
    currentLeader: undefined,
    snapshotId: undefined,
    abortedTransactions: records.abortedTransactions,
    preferredReadReplica: -1,
    records: records.records,
  };
  return { wanted, data, sizeBytes: records.sizeBytes, release: records.release };
}

/** What the reader gets instead of records. */
interface Instead {
  readonly divergingEpoch?: { readonly epoch: number; readonly endOffset: number };
  readonly preferredReadReplica?: number;
}

function nothing(
  wanted: WantedPartition,
  { log }: Partition,
  { divergingEpoch, preferredReadReplica = -1 }: Instead,
): FetchedPartition {
  const data: FetchPartitionInit = {
    partitionIndex: wanted.partition,
    errorCode: errorCodes.NONE,
    highWatermark: log.highWatermark,
    lastStableOffset: log.lastStableOffset,
    logStartOffset: log.logStartOffset,
    divergingEpoch,
    currentLeader: undefined,
    snapshotId: undefined,
    abortedTransactions: null,
    preferredReadReplica,
    records: [],
  };
  return { wanted, data, sizeBytes: 0, release: undefined };
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
