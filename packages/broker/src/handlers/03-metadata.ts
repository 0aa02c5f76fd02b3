// Metadata (3): which brokers there are, which topics, and who leads their partitions.
//
// Version 0 asks for all topics with an empty list, later ones with null. From 4 on the client says whether a missing topic may be
// created, 8 asks for authorized operations (10 moves those of the cluster to DescribeCluster), 10 tells topic ids, 12 takes them.

import { errorCodes, type MessageInit, MetadataRequest, MetadataResponse, ProtocolError, zeroUuid } from '@odradek/protocol';
import type { TopicChanges } from '../admin/topic-changes.ts';
import { topicNameProblem } from '../config/topic-name.ts';
import {
  isInternalTopic,
  type MetadataCache,
  type MetadataSnapshot,
  noLeader,
  type PartitionMetadata,
  type TopicMetadata,
} from '../metadata/metadata-cache.ts';
import type { MutationQuotas } from '../quotas/mutation-quotas.ts';
import { allOperations } from '../requests/authorized-operations.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';
import type { RequestContext } from '../requests/request-context.ts';

export interface MetadataParts {
  readonly metadataCache: MetadataCache;
  readonly topicChanges: TopicChanges;
  /** auto.create.topics.enable */
  readonly autoCreatesTopics: () => boolean;
  readonly mutationQuotas?: Pick<MutationQuotas, 'budget'>;
}

/** A topic that is created on demand is paid for, and never refused. */
const neverStrict = Number.MAX_SAFE_INTEGER;

type TopicAnswer = NonNullable<MessageInit<typeof MetadataResponse>['topics']>[number];
type PartitionAnswer = NonNullable<TopicAnswer['partitions']>[number];

/** What the answers for single topics depend on. */
interface View {
  readonly snapshot: MetadataSnapshot;
  readonly listener: string;
  readonly apiVersion: number;
  readonly withOperations: boolean;
}

export function metadataHandler(parts: MetadataParts): Handler<typeof MetadataRequest, typeof MetadataResponse> {
  return defineHandler(MetadataRequest, MetadataResponse, {
    handle: (request, context) => metadata(parts, request, context),
    errorResponse: (request, error) => ({
      errorCode: error.code,
      topics: (request.topics ?? []).map(({ name, topicId }) => ({ errorCode: error.code, name: name ?? '', topicId })),
    }),
  });
}

async function metadata(
  parts: MetadataParts,
  request: MetadataRequest,
  context: RequestContext,
): Promise<MessageInit<typeof MetadataResponse>> {
  const { apiVersion } = context;
  checkTopicIds(request, apiVersion);
  const wantsAll = request.topics === null || (apiVersion === 0 && request.topics.length === 0);
  const mayCreate = parts.autoCreatesTopics() && (apiVersion < 4 || request.allowAutoTopicCreation);
  const creations = wantsAll || !mayCreate ? undefined : await createMissing(parts, request.topics ?? [], context);
  const view: View = {
    snapshot: parts.metadataCache.current,
    listener: context.listenerName,
    apiVersion,
    withOperations: request.includeTopicAuthorizedOperations,
  };
  const topics: TopicAnswer[] = [];
  if (wantsAll) for (const topic of view.snapshot.topics()) topics.push(known(view, topic));
  else for (const wanted of withoutRepetition(request.topics ?? [])) topics.push(answerFor(view, wanted, creations));
  return {
    throttleTimeMs: 0,
    brokers: brokersOf(view),
    clusterId: view.snapshot.clusterId,
    controllerId: view.snapshot.controllerId,
    topics,
    clusterAuthorizedOperations: request.includeClusterAuthorizedOperations ? allOperations('cluster') : undefined,
  };
}

/** Each topic once, however often it is named. */
function withoutRepetition(wanted: NonNullable<MetadataRequest['topics']>): NonNullable<MetadataRequest['topics']> {
  if (wanted.length < 2) return wanted;
  return [...new Map(wanted.map((topic) => [`${topic.topicId} ${topic.name}`, topic])).values()];
}

/** Versions 10 and 11 have the field but not the meaning. */
function checkTopicIds(request: MetadataRequest, apiVersion: number): void {
  if (apiVersion >= 12) return;
  for (const { name, topicId } of request.topics ?? []) {
    if (name === null || topicId !== zeroUuid) {
      throw new ProtocolError(errorCodes.INVALID_REQUEST, `Metadata version ${apiVersion} does not take topic ids`);
    }
  }
}

/** Creates the topics that are named and missing; the errors by name. */
async function createMissing(
  { metadataCache, topicChanges, mutationQuotas }: MetadataParts,
  wanted: NonNullable<MetadataRequest['topics']>,
  context: RequestContext,
): Promise<ReadonlyMap<string, ProtocolError | undefined> | undefined> {
  const missing = new Set<string>();
  for (const { name, topicId } of wanted) {
    if (name === null || topicId !== zeroUuid || topicNameProblem(name) !== undefined) continue;
    if (metadataCache.current.topic(name) === undefined) missing.add(name);
  }
  if (missing.size === 0) return undefined;
  return await topicChanges.autoCreate([...missing], mutationQuotas?.budget(context, neverStrict));
}

function answerFor(
  view: View,
  { name, topicId }: NonNullable<MetadataRequest['topics']>[number],
  creations: ReadonlyMap<string, ProtocolError | undefined> | undefined,
): TopicAnswer {
  if (topicId !== zeroUuid) {
    const topic = view.snapshot.topicById(topicId);
    return topic === undefined ? { errorCode: errorCodes.UNKNOWN_TOPIC_ID, name: null, topicId } : known(view, topic);
  }
  if (name === null) return { errorCode: errorCodes.UNKNOWN_TOPIC_ID, name: null, topicId };
  const topic = view.snapshot.topic(name);
  if (topic !== undefined) return known(view, topic);
  return { errorCode: absence(name, creations), name, isInternal: isInternalTopic(name), partitions: [] };
}

function absence(name: string, creations: ReadonlyMap<string, ProtocolError | undefined> | undefined): number {
  if (topicNameProblem(name) !== undefined) return errorCodes.INVALID_TOPIC_EXCEPTION;
  if (creations === undefined || !creations.has(name)) return errorCodes.UNKNOWN_TOPIC_OR_PARTITION;
  // Created, or about to be: the client asks again until there are leaders.
  const error = creations.get(name);
  return error === undefined || error.code === errorCodes.TOPIC_ALREADY_EXISTS ? errorCodes.LEADER_NOT_AVAILABLE : error.code;
}

function known(view: View, topic: TopicMetadata): TopicAnswer {
  return {
    errorCode: errorCodes.NONE,
    name: topic.name,
    topicId: topic.id,
    isInternal: topic.isInternal,
    partitions: topic.partitions.map((partition) => partitionAnswer(view, partition)),
    topicAuthorizedOperations: view.withOperations ? allOperations('topic') : undefined,
  };
}

function partitionAnswer(view: View, partition: PartitionMetadata): PartitionAnswer {
  const { snapshot, listener, apiVersion } = view;
  let errorCode: number = errorCodes.NONE;
  let leaderId = partition.leader;
  let replicaNodes = partition.replicas;
  let isrNodes = partition.isr;
  if (partition.leader === noLeader || snapshot.broker(partition.leader) === undefined) {
    errorCode = errorCodes.LEADER_NOT_AVAILABLE;
    leaderId = noLeader;
  } else if (snapshot.endpoint(partition.leader, listener) === undefined) {
    errorCode = apiVersion >= 6 ? errorCodes.LISTENER_NOT_FOUND : errorCodes.LEADER_NOT_AVAILABLE;
    leaderId = noLeader;
  }
  if (apiVersion === 0) {
    // The first clients look up every replica among the brokers of the answer.
    const isReachable = (id: number): boolean => snapshot.endpoint(id, listener) !== undefined;
    replicaNodes = partition.replicas.filter(isReachable);
    isrNodes = partition.isr.filter(isReachable);
    const isIncomplete = replicaNodes.length < partition.replicas.length || isrNodes.length < partition.isr.length;
    if (errorCode === errorCodes.NONE && isIncomplete) errorCode = errorCodes.REPLICA_NOT_AVAILABLE;
  }
  return {
    errorCode,
    partitionIndex: partition.index,
    leaderId,
    leaderEpoch: partition.leaderEpoch,
    replicaNodes,
    isrNodes,
    offlineReplicas: partition.offlineReplicas,
  };
}

function brokersOf({ snapshot, listener }: View): NonNullable<MessageInit<typeof MetadataResponse>['brokers']> {
  const brokers: { nodeId: number; host: string; port: number; rack: string | null }[] = [];
  for (const { id, rack } of snapshot.brokers()) {
    const endpoint = snapshot.endpoint(id, listener);
    if (endpoint !== undefined) brokers.push({ nodeId: id, host: endpoint.host, port: endpoint.port, rack });
  }
  return brokers;
}
