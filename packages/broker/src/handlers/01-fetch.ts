// Fetch (1): reads record batches; also how followers replicate.
//
// With less than minBytes at hand the request waits, up to maxWaitMs. Versions 0 and 1 get magic 0, 2 and 3 magic 1. From 3 on the
// first batch comes whole even if it is too large, 4 brings isolation, 7 sessions, 9 leader epochs, 10 zstd, 11 reading from followers,
// 12 divergence by epoch, 13 topic ids, 15 the epoch of a follower's life, 16 the current leader's address.

import {
  convertRecords,
  errorCodes,
  FetchRequest,
  FetchResponse,
  type MessageInit,
  needsConversion,
  ProtocolError,
} from '@odradek/protocol';
import type { MetadataCache } from '../metadata/metadata-cache.ts';
import { enoughToFetch } from '../purgatory/delayed-fetch.ts';
import type { ClientThrottle } from '../quotas/client-throttle.ts';
import type { ConsumerReplicas } from '../replication/consumer-replicas.ts';
import {
  type FetchContext,
  type FetchedPartition,
  type FetchPartitionInit,
  type FetchSessions,
  replicaOf,
} from '../replication/fetch-sessions.ts';
import type { Partition } from '../replication/partition.ts';
import {
  type PartitionReads,
  type ReadLimits,
  readPartitions,
  refusedPartition,
  wantedAgain,
} from '../replication/partition-reads.ts';
import type { ReplicaManager } from '../replication/replica-manager.ts';
import type { ReplicationQuota } from '../replication/replication-quota.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';
import type { RequestContext } from '../requests/request-context.ts';
import type { Authorizer } from '../security/authorizer.ts';
import { LeaderHints } from './leader-hints.ts';

export interface FetchParts {
  readonly replicaManager: ReplicaManager;
  readonly metadataCache: MetadataCache;
  readonly fetchSessions: FetchSessions;
  /** fetch.max.bytes */
  readonly maxBytes: () => number;
  /** message.downconversion.enable of a topic */
  readonly convertsDown: (topic: string) => boolean;
  /** Where consumers should read; undefined: always from the leader. */
  readonly consumerReplicas: ConsumerReplicas | undefined;
  /** Absent: everybody may read everything. */
  readonly authorizer?: Authorizer | undefined;
  /** For what this broker sends to throttled followers. */
  readonly leaderQuota: ReplicationQuota;
  /** For what consumers read. Absent: they may read as much as they can. */
  readonly throttle?: ClientThrottle;
}

type FetchAnswer = MessageInit<typeof FetchResponse>;

/** What one fetch goes by while it is read, waits, and is read again. */
interface Fetch {
  readonly request: FetchRequest;
  readonly context: RequestContext;
  readonly session: FetchContext;
  readonly limits: ReadLimits;
  readonly minBytes: number;
}

export function fetchHandler(parts: FetchParts): Handler<typeof FetchRequest, typeof FetchResponse> {
  return defineHandler(FetchRequest, FetchResponse, {
    handle: (request, context) => fetch(parts, request, context),
    errorResponse: (request, error, context) => refused(request, error, context),
  });
}

function fetch(parts: FetchParts, request: FetchRequest, context: RequestContext): FetchAnswer | Promise<FetchAnswer> {
  const { apiVersion } = context;
  const { replicaId, replicaEpoch } = replicaOf(request, apiVersion);
  const isFollower = replicaId >= 0;
  const names = parts.metadataCache.current;
  const nameOf = (topicId: string): string | undefined => names.topicName(topicId) ?? parts.replicaManager.topicName(topicId);
  const session = parts.fetchSessions.begin(request, apiVersion, isFollower, nameOf);
  if (session.errorCode !== errorCodes.NONE) return answer(parts, context, session, []);
  const maxBytes = isFollower ? request.maxBytes : consumerMaxBytes(parts, request, context);
  const { consumerReplicas, leaderQuota } = parts;
  const isForbidden = parts.authorizer && forbiddenReads(parts.authorizer, context, isFollower);
  // Who may follow no more is told so of each partition.
  if (isFollower && isForbidden?.('') === true) session.resting?.wakeAll();
  const maySendElsewhere = !isFollower && apiVersion >= 11 && request.rackId !== '' && consumerReplicas !== undefined;
  const fetching: Fetch = {
    request,
    context,
    session,
    limits: {
      replicaId,
      replicaEpoch,
      resting: session.resting,
      isHeldBack: isFollower ? (partition) => isHeldBack(leaderQuota, partition, replicaId) : never,
      betterReplica: maySendElsewhere
        ? (partition, fetchOffset) => consumerReplicas.betterFor(request.rackId, partition, fetchOffset, context.listenerName)
        : nowhere,
      isForbidden,
      isolation: isFollower ? 'logEnd' : request.isolationLevel === 1 ? 'lastStable' : 'highWatermark',
      // Consumers that tell their rack may read from followers.
      requiresLeader: isFollower || apiVersion < 11,
      maxBytes,
      minOneBatch: apiVersion >= 3,
    },
    minBytes: Math.min(request.minBytes, maxBytes),
  };
  const reads = readPartitions(parts.replicaManager, fetching.limits, session.wanted);
  if (reads instanceof Promise || mustWait(fetching, reads)) return fetchLater(parts, fetching, reads);
  return finish(parts, fetching, reads);
}

function consumerMaxBytes({ maxBytes, throttle }: FetchParts, request: FetchRequest, context: RequestContext): number {
  const largest = Math.min(request.maxBytes, maxBytes());
  return throttle?.isActive === true ? Math.min(largest, throttle.maxFetchBytes(context)) : largest;
}

/** Followers act for the cluster, and may read all of it or nothing. */
function forbiddenReads(authorizer: Authorizer, context: RequestContext, isFollower: boolean): (topic: string) => boolean {
  if (!isFollower) return (topic) => !authorizer.may(context, 'READ', 'Topic', topic);
  const isAllowed = authorizer.mayOnCluster(context, 'CLUSTER_ACTION');
  return () => !isAllowed;
}

const never = (): boolean => false;
const nowhere = (): undefined => undefined;

/** Followers in sync are never held back: that would only make them fall out. */
function isHeldBack(quota: ReplicationQuota, partition: Partition, followerId: number): boolean {
  return quota.isThrottled(partition.topic, partition.index) && quota.isExceeded && !partition.inSyncReplicas.has(followerId);
}

async function fetchLater(
  parts: FetchParts,
  fetching: Fetch,
  first: PartitionReads | Promise<PartitionReads>,
): Promise<FetchAnswer> {
  const reads = await first;
  if (!mustWait(fetching, reads)) return finish(parts, fetching, reads);
  for (const { release } of reads.fetched) release?.();
  const { session } = fetching;
  const { isolation, isHeldBack, replicaId } = fetching.limits;
  const changed = await enoughToFetch(parts.replicaManager, {
    wanted: session.wanted,
    resting: session.resting,
    isolation,
    replicaId,
    isHeldBack,
    minBytes: fetching.minBytes,
    sizeBytes: reads.sizeBytes,
    maxWaitMs: fetching.request.maxWaitMs,
  });
  // While bytes came from the disk nobody watched what else happened.
  const again = changed === undefined || first instanceof Promise ? session.wanted : wantedAgain(session.wanted, reads, changed);
  return finish(parts, fetching, await readPartitions(parts.replicaManager, fetching.limits, again));
}

function mustWait({ request, session, minBytes }: Fetch, reads: PartitionReads): boolean {
  return request.maxWaitMs > 0 && !session.isEmpty && reads.sizeBytes < minBytes && !reads.isUrgent;
}

function finish(parts: FetchParts, { request, context, session, limits }: Fetch, reads: PartitionReads): FetchAnswer {
  const { apiVersion, frame } = context;
  if (limits.replicaId >= 0) recordThrottled(parts.leaderQuota, reads.fetched);
  else if (parts.throttle?.isActive === true) {
    const throttleTimeMs = parts.throttle.fetchThrottleMs(context, reads.sizeBytes);
    if (throttleTimeMs > 0) return nothingNow(request, session, reads, throttleTimeMs);
  }
  if (frame !== undefined) frame.onSent = releaseOf(reads.fetched);
  const fetched = apiVersion >= 10 ? reads.fetched : reads.fetched.map((partition) => adapt(parts, apiVersion, partition));
  return answer(parts, context, session, fetched);
}

/** Who reads more than it may has to ask again: its session stays where it is, and a new one is not begun. */
function nothingNow(
  { sessionEpoch }: FetchRequest,
  session: FetchContext,
  reads: PartitionReads,
  throttleTimeMs: number,
): FetchAnswer {
  for (const { release } of reads.fetched) release?.();
  const { errorCode, sessionId, responses } =
    sessionEpoch > 0 ? session.answer([]) : { errorCode: errorCodes.NONE, sessionId: 0, responses: [] };
  return { throttleTimeMs, errorCode, sessionId, responses };
}

function recordThrottled(quota: ReplicationQuota, fetched: readonly FetchedPartition[]): void {
  for (const { wanted, sizeBytes } of fetched) {
    if (sizeBytes > 0 && quota.isThrottled(wanted.topic ?? '', wanted.partition)) quota.record(sizeBytes);
  }
}

/** Gives back all buffers of an answer; undefined when there is none to give back. */
function releaseOf(fetched: readonly FetchedPartition[]): (() => void) | undefined {
  const releases: (() => void)[] = [];
  for (const { release } of fetched) if (release !== undefined) releases.push(release);
  if (releases.length <= 1) return releases[0];
  return () => {
    for (const release of releases) release();
  };
}

function answer(
  parts: FetchParts,
  context: RequestContext,
  session: FetchContext,
  fetched: readonly FetchedPartition[],
): FetchAnswer {
  let hints: LeaderHints | undefined;
  if (context.apiVersion >= 16) {
    for (const { wanted, data } of fetched) {
      if (data.errorCode !== errorCodes.NOT_LEADER_OR_FOLLOWER && data.errorCode !== errorCodes.FENCED_LEADER_EPOCH) continue;
      hints ??= new LeaderHints(parts, context.listenerName);
      (data as Writable<FetchPartitionInit>).currentLeader = hints.currentLeader(wanted.topic ?? '', wanted.partition);
    }
  }
  const { errorCode, sessionId, responses } = session.answer(fetched);
  return { throttleTimeMs: 0, errorCode, sessionId, responses, nodeEndpoints: hints?.nodeEndpoints };
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** What a client of before version 10 can read. */
function adapt(parts: FetchParts, apiVersion: number, fetched: FetchedPartition): FetchedPartition {
  const { wanted, data, sizeBytes } = fetched;
  if (data.errorCode !== errorCodes.NONE || wanted.topic === undefined) return fetched;
  const { log } = parts.replicaManager.partition(wanted.topic, wanted.partition);
  if (log.config.compressionType === 'zstd') return refusedPartition(wanted, errorCodes.UNSUPPORTED_COMPRESSION_TYPE);
  if (apiVersion >= 4) return fetched;
  const magic = apiVersion <= 1 ? 0 : 1;
  let { records } = data;
  if (sizeBytes === 0) {
    if (apiVersion >= 3 || wanted.maxBytes <= 0) return fetched;
    records = firstBatch(log, wanted.fetchOffset);
    if (records.length === 0) return fetched;
  }
  const batches = joined(records);
  if (!parts.convertsDown(wanted.topic) && needsConversion(batches, magic)) {
    return refusedPartition(wanted, errorCodes.UNSUPPORTED_VERSION);
  }
  try {
    const old = convertRecords(batches, magic, wanted.fetchOffset);
    // Before version 3 a batch that is larger than the limit is cut off: the client sees that it must ask for more.
    const cut = apiVersion < 3 && sizeBytes === 0 ? old.subarray(0, wanted.maxBytes) : old;
    return { wanted, data: { ...data, records: cut }, sizeBytes: cut.length, release: undefined };
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    return refusedPartition(wanted, error.code);
  }
}

/** The batch at the offset whatever its size, when it is at hand. */
function firstBatch(log: ReturnType<ReplicaManager['partition']>['log'], fetchOffset: number): readonly Buffer[] {
  const read = log.read(fetchOffset, { maxBytes: 1, isolation: 'highWatermark', minOneBatch: true });
  return read instanceof Promise ? [] : read.records;
}

function joined(records: FetchPartitionInit['records']): Buffer {
  if (records === null || records === undefined) return Buffer.alloc(0);
  if (records instanceof Uint8Array) return Buffer.from(records.buffer, records.byteOffset, records.byteLength);
  const [only] = records;
  return only !== undefined && records.length === 1
    ? Buffer.from(only.buffer, only.byteOffset, only.byteLength)
    : Buffer.concat(records);
}

/** The whole request failed: every partition gets the error, and from version 7 on the answer itself. */
function refused(request: FetchRequest, error: ProtocolError, context: RequestContext): FetchAnswer {
  if (context.apiVersion >= 7) return { errorCode: error.code };
  return {
    responses: request.topics.map(({ topic, topicId, partitions }) => ({
      topic,
      topicId,
      partitions: partitions.map(({ partition }) => ({
        partitionIndex: partition,
        errorCode: error.code,
        highWatermark: -1,
        records: [],
      })),
    })),
  };
}
