// What the controller tells brokers, in the versions that older brokers speak, and their answers in the form of the newest. The controller
// itself knows only the newest form.
//
//   LeaderAndIsr    0–1 name the topic with each partition; the answers of 0–4 name topics, those of 5 and later their ids
//   UpdateMetadata  0–4 name the topic with each partition; 0 tells one address of a broker, a plain-text one
//   StopReplica     0–2 delete all of the partitions or none, so there may be two requests; 1–2 group them by topic

import {
  LeaderAndIsrRequest,
  type LeaderAndIsrResponse,
  type Message,
  type MessageDefinition,
  StopReplicaRequest,
  type StopReplicaResponse,
  UpdateMetadataRequest,
} from '@odradek/protocol';

/** The requests that together say in this version what the one says in the newest. The definition tells which one it is. */
export function inVersion<Q extends MessageDefinition>(definition: Q, request: Message<Q>, version: number): Message<Q>[] {
  const body: unknown = request;
  return olderForms(definition, body, version) as Message<Q>[];
}

function olderForms(definition: MessageDefinition, body: unknown, version: number): unknown[] {
  switch (definition) {
    case LeaderAndIsrRequest:
      return [olderLeaderAndIsr(body as LeaderAndIsrRequest, version)];
    case UpdateMetadataRequest:
      return [olderUpdateMetadata(body as UpdateMetadataRequest, version)];
    case StopReplicaRequest:
      return olderStopReplicas(body as StopReplicaRequest, version);
    default:
      return [body];
  }
}

/** One answer in the newest form for those to `inVersion`. */
export function inNewestForm<A extends MessageDefinition>(
  definition: MessageDefinition,
  request: unknown,
  responses: readonly Message<A>[],
  version: number,
): Message<A> {
  return newestForm(definition, request, responses, version) as Message<A>;
}

function newestForm(definition: MessageDefinition, request: unknown, responses: readonly unknown[], version: number): unknown {
  switch (definition) {
    case LeaderAndIsrRequest:
      return newestLeaderAndIsrResponse(request as LeaderAndIsrRequest, responses[0] as LeaderAndIsrResponse, version);
    case StopReplicaRequest:
      return joinedStopReplicaResponse(responses as readonly StopReplicaResponse[]);
    default:
      return responses[0];
  }
}

function olderLeaderAndIsr(request: LeaderAndIsrRequest, version: number): LeaderAndIsrRequest {
  if (version >= 6) return request;
  // What these versions cannot say is left out: they know no recovery from unclean elections.
  const topicStates = request.topicStates.map((topic) => ({
    ...topic,
    partitionStates: topic.partitionStates.map((state) => ({ ...state, leaderRecoveryState: 0 })),
  }));
  if (version >= 2) return { ...request, topicStates };
  return { ...request, type: 0, topicStates: [], ungroupedPartitionStates: topicStates.flatMap(withTopicNames) };
}

function olderUpdateMetadata(request: UpdateMetadataRequest, version: number): UpdateMetadataRequest {
  if (version >= 5) return request;
  const ungrouped = { ...request, topicStates: [], ungroupedPartitionStates: request.topicStates.flatMap(withTopicNames) };
  if (version >= 1) return ungrouped;
  return {
    ...ungrouped,
    liveBrokers: request.liveBrokers.map((broker) => {
      const plain = broker.endpoints.find(({ securityProtocol }) => securityProtocol === 0) ?? broker.endpoints[0];
      return { ...broker, v0Host: plain?.host ?? '', v0Port: plain?.port ?? -1 };
    }),
  };
}

function olderStopReplicas(request: StopReplicaRequest, version: number): StopReplicaRequest[] {
  if (version >= 3) return [request];
  const said = [false, true].map((deletePartitions): StopReplicaRequest => {
    const topics = request.topicStates.flatMap(({ topicName, partitionStates }) => {
      const partitionIndexes = partitionStates
        .filter(({ deletePartition }) => deletePartition === deletePartitions)
        .map(({ partitionIndex }) => partitionIndex);
      return partitionIndexes.length === 0 ? [] : [{ name: topicName, partitionIndexes }];
    });
    const ungroupedPartitions = topics.flatMap(({ name, partitionIndexes }) =>
      partitionIndexes.map((partitionIndex) => ({ topicName: name, partitionIndex })),
    );
    return {
      ...request,
      deletePartitions,
      topicStates: [],
      topics: version === 0 ? [] : topics,
      ungroupedPartitions: version === 0 ? ungroupedPartitions : [],
    };
  });
  return said.filter(({ topics, ungroupedPartitions }) => topics.length + ungroupedPartitions.length > 0);
}

function newestLeaderAndIsrResponse(
  { topicStates }: LeaderAndIsrRequest,
  response: LeaderAndIsrResponse,
  version: number,
): LeaderAndIsrResponse {
  if (version >= 5) return response;
  const byTopic = Map.groupBy(response.partitionErrors, ({ topicName }) => topicName);
  return {
    ...response,
    partitionErrors: [],
    topics: topicStates.map(({ topicName, topicId }) => ({ topicId, partitionErrors: byTopic.get(topicName) ?? [] })),
  };
}

/** Of two, the first fault counts. */
function joinedStopReplicaResponse(responses: readonly StopReplicaResponse[]): StopReplicaResponse {
  return {
    errorCode: responses.find(({ errorCode }) => errorCode !== 0)?.errorCode ?? 0,
    partitionErrors: responses.flatMap(({ partitionErrors }) => partitionErrors),
  };
}

function withTopicNames<S extends { readonly topicName: string }>({
  topicName,
  partitionStates,
}: {
  readonly topicName: string;
  readonly partitionStates: readonly S[];
}): S[] {
  return partitionStates.map((state) => ({ ...state, topicName }));
}
