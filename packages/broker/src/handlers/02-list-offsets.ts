// ListOffsets (2): the offset of a time, or of the start or the end of a log.
//
// Version 0 answers a list of offsets, newest first. From 1 on one offset with its timestamp, 2 brings isolation, 4 leader epochs, 7
// the largest timestamp, 8 to 11 the boundaries of tiered storage, which this broker does not have: they are told as unknown.

import { errorCodes, ListOffsetsRequest, ListOffsetsResponse, type MessageInit, ProtocolError } from '@odradek/protocol';
import type { Clock, Logger } from '@odradek/runtime';
import type { Isolation, Partition } from '../replication/partition.ts';
import type { ReplicaManager } from '../replication/replica-manager.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';
import type { RequestContext } from '../requests/request-context.ts';

/** What stands in a request in the place of a timestamp. */
const specialTimestamps = {
  latest: -1,
  earliest: -2,
  maxTimestamp: -3,
  earliestLocal: -4,
  latestTiered: -5,
  earliestPendingUpload: -6,
} as const;

/** The version from which on each of them may be asked for. */
const minVersions: ReadonlyMap<number, number> = new Map([
  [specialTimestamps.latest, 0],
  [specialTimestamps.earliest, 0],
  [specialTimestamps.maxTimestamp, 7],
  [specialTimestamps.earliestLocal, 8],
  [specialTimestamps.latestTiered, 9],
  [specialTimestamps.earliestPendingUpload, 11],
]);

/** Replica ids of clients that may read like a follower: tools for debugging. */
const debuggingReplicaId = -2;

export interface ListOffsetsParts {
  readonly clock: Clock;
  readonly replicaManager: ReplicaManager;
  readonly logger: Logger;
}

type Asked = ListOffsetsRequest['topics'][number]['partitions'][number];
type TopicAnswer = NonNullable<MessageInit<typeof ListOffsetsResponse>['topics']>[number];
type PartitionAnswer = NonNullable<TopicAnswer['partitions']>[number];

export function listOffsetsHandler(parts: ListOffsetsParts): Handler<typeof ListOffsetsRequest, typeof ListOffsetsResponse> {
  return defineHandler(ListOffsetsRequest, ListOffsetsResponse, {
    async handle(request, context) {
      const isTwice = duplicatesIn(request);
      const topics: TopicAnswer[] = [];
      for (const { name, partitions } of request.topics) {
        const answers: PartitionAnswer[] = [];
        for (const asked of partitions) {
          answers.push(
            isTwice(name, asked.partitionIndex)
              ? refused(asked.partitionIndex, errorCodes.INVALID_REQUEST)
              : await answerFor(parts, request, context, name, asked),
          );
        }
        topics.push({ name, partitions: answers });
      }
      return { topics };
    },
    errorResponse: (request, error) => ({
      topics: request.topics.map(({ name, partitions }) => ({
        name,
        partitions: partitions.map(({ partitionIndex }) => refused(partitionIndex, error.code)),
      })),
    }),
  });
}

function duplicatesIn(request: ListOffsetsRequest): (topic: string, partition: number) => boolean {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const { name, partitions } of request.topics) {
    for (const { partitionIndex } of partitions) {
      const key = `${name}/${partitionIndex}`;
      if (seen.has(key)) twice.add(key);
      seen.add(key);
    }
  }
  return (topic, partition) => twice.size > 0 && twice.has(`${topic}/${partition}`);
}

async function answerFor(
  parts: ListOffsetsParts,
  request: ListOffsetsRequest,
  context: RequestContext,
  topic: string,
  asked: Asked,
): Promise<PartitionAnswer> {
  const { partitionIndex, timestamp, currentLeaderEpoch } = asked;
  const { apiVersion } = context;
  try {
    if (timestamp < 0 && apiVersion < (minVersions.get(timestamp) ?? Number.POSITIVE_INFINITY)) {
      return refused(partitionIndex, errorCodes.UNSUPPORTED_VERSION);
    }
    const partition = parts.replicaManager.partition(topic, partitionIndex);
    const requiresLeader = request.replicaId !== debuggingReplicaId;
    partition.logForOffsets(currentLeaderEpoch, requiresLeader);
    const isolation = isolationOf(request);
    if (apiVersion === 0)
      return {
        partitionIndex,
        errorCode: errorCodes.NONE,
        oldStyleOffsets: offsetsBefore(partition, asked, isolation, parts.clock.wallTimeMs()),
      };
    const found = await find(partition, timestamp, isolation, apiVersion);
    const leaderEpoch = apiVersion >= 4 ? found.leaderEpoch : -1;
    return { partitionIndex, errorCode: errorCodes.NONE, timestamp: found.timestamp, offset: found.offset, leaderEpoch };
  } catch (error) {
    if (error instanceof ProtocolError) return refused(partitionIndex, error.code);
    parts.logger.error('Looking up an offset failed unexpectedly', { topic, partition: partitionIndex, error });
    return refused(partitionIndex, errorCodes.UNKNOWN_SERVER_ERROR);
  }
}

/** How far the asker may see: consumers to what is committed, replicas to the end. */
function isolationOf({ replicaId, isolationLevel }: ListOffsetsRequest): Isolation {
  if (replicaId !== -1) return 'logEnd';
  return isolationLevel === 1 ? 'lastStable' : 'highWatermark';
}

type Found = { readonly timestamp: number; readonly offset: number; readonly leaderEpoch: number };
const nothing: Found = { timestamp: -1, offset: -1, leaderEpoch: -1 };

async function find(partition: Partition, timestamp: number, isolation: Isolation, apiVersion: number): Promise<Found> {
  const { log } = partition;
  switch (timestamp) {
    case specialTimestamps.latest:
      if (isolation !== 'logEnd') ensureEndIsKnown(partition, apiVersion);
      return { timestamp: -1, offset: partition.readableEnd(isolation), leaderEpoch: partition.leaderEpoch };
    case specialTimestamps.earliest:
    case specialTimestamps.earliestLocal:
      return { timestamp: -1, offset: log.logStartOffset, leaderEpoch: log.epochForOffset(log.logStartOffset) };
    case specialTimestamps.latestTiered:
    case specialTimestamps.earliestPendingUpload:
      return nothing;
    default: {
      const found = await (timestamp === specialTimestamps.maxTimestamp
        ? log.offsetOfMaxTimestamp()
        : log.offsetForTimestamp(timestamp));
      if (found !== undefined && found.offset < partition.readableEnd(isolation)) return found;
      // What lies beyond may become visible as soon as the new leader knows the high watermark.
      if (isolation !== 'logEnd') ensureEndIsKnown(partition, apiVersion);
      return nothing;
    }
  }
}

function ensureEndIsKnown(partition: Partition, apiVersion: number): void {
  if (partition.isEndKnown) return;
  throw new ProtocolError(apiVersion >= 5 ? errorCodes.OFFSET_NOT_AVAILABLE : errorCodes.LEADER_NOT_AVAILABLE);
}

/**
 * What version 0 is told: the first offsets of segments that were begun before the time, newest first, and before them the end of
 * the log, which counts as begun now. A consumer gets the high watermark in place of all that lies beyond it.
 */
function offsetsBefore(partition: Partition, { timestamp, maxNumOffsets }: Asked, isolation: Isolation, nowMs: number): number[] {
  const { log } = partition;
  const boundaries = log.segments.all().map((segment) => ({
    offset: Math.max(segment.baseOffset, log.logStartOffset),
    timestamp: segment.maxTimestamp.timestamp,
  }));
  if (log.segments.active.sizeBytes > 0) boundaries.push({ offset: log.logEndOffset, timestamp: nowMs });
  let last = boundaries.length - 1;
  if (timestamp === specialTimestamps.earliest) last = 0;
  else if (timestamp !== specialTimestamps.latest) last = boundaries.findLastIndex((boundary) => boundary.timestamp <= timestamp);
  const offsets = boundaries.slice(Math.max(0, last + 1 - Math.max(0, maxNumOffsets)), last + 1).map(({ offset }) => offset);
  offsets.reverse();
  const end = partition.readableEnd(isolation);
  const visible = offsets.filter((offset) => offset <= end);
  return visible.length < offsets.length ? [end, ...visible] : offsets;
}

function refused(partitionIndex: number, errorCode: number): PartitionAnswer {
  return { partitionIndex, errorCode, timestamp: -1, offset: -1, leaderEpoch: -1 };
}
