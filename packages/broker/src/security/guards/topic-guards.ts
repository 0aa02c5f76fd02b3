// Guards of topics: of what is told of them, and of making, growing and deleting them. The names that somebody may not see are refused
// whether there is such a topic or not, so that nobody learns which there are.

import {
  CreatePartitionsRequest,
  CreatePartitionsResponse,
  CreateTopicsRequest,
  CreateTopicsResponse,
  DeleteTopicsRequest,
  DeleteTopicsResponse,
  DescribeTopicPartitionsRequest,
  DescribeTopicPartitionsResponse,
  errorCodes,
  type Message,
  type MessageInit,
  MetadataRequest,
  MetadataResponse,
  zeroUuid,
} from '@odradek/protocol';
import { clusterMetadataTopic, isInternalTopic } from '../../metadata/metadata-cache.ts';
import { repeatedNames } from '../../requests/repeated-names.ts';
import type { RequestContext } from '../../requests/request-context.ts';
import { atController, type Guard, type GuardParts, guardOf, handleItems } from './guard.ts';

type Wanted = NonNullable<Message<typeof MetadataRequest>['topics']>[number];
type MetadataTopic = NonNullable<MessageInit<typeof MetadataResponse>['topics']>[number];

const metadataGuard = guardOf(MetadataRequest, MetadataResponse, async (request, context, guarded) => {
  const { authorizer, handler } = guarded;
  const { apiVersion } = context;
  const wantsAll = request.topics === null || (apiVersion === 0 && request.topics.length === 0);
  const mayDescribe = (topic: string): boolean => authorizer.may(context, 'DESCRIBE', 'Topic', topic, { quietly: wantsAll });
  const refused: MetadataTopic[] = [];
  let { topics } = request;
  if (!wantsAll && topics !== null) {
    topics = topics.filter((wanted) => {
      const answer = refusedMetadata(wanted, request, context, guarded, mayDescribe);
      if (answer !== undefined) refused.push(answer);
      return answer === undefined;
    });
  }
  // In version 0 an empty list would ask for all, of which none is to be told then.
  const isNothingLeft = !wantsAll && topics?.length === 0;
  const answer = await handler.handle({ ...request, topics }, context);
  const answered = isNothingLeft ? [] : (answer?.topics ?? []);
  const told = wantsAll ? answered.filter(({ name }) => mayDescribe(name ?? '')) : answered;
  const all = [...told, ...refused];
  return {
    ...answer,
    topics: request.includeTopicAuthorizedOperations ? all.map((topic) => withOperations(topic, context, guarded)) : all,
    clusterAuthorizedOperations: request.includeClusterAuthorizedOperations
      ? authorizer.mayOnCluster(context, 'DESCRIBE', { quietly: true })
        ? authorizer.operations(context, 'cluster', 'kafka-cluster')
        : 0
      : answer?.clusterAuthorizedOperations,
  };
});

/** undefined: the handler may answer. */
function refusedMetadata(
  { name, topicId }: Wanted,
  request: Message<typeof MetadataRequest>,
  context: RequestContext,
  { authorizer, metadataCache, autoCreatesTopics }: GuardParts,
  mayDescribe: (topic: string) => boolean,
): MetadataTopic | undefined {
  const metadata = metadataCache.current;
  const errorCode = errorCodes.TOPIC_AUTHORIZATION_FAILED;
  if (topicId !== zeroUuid) {
    const known = metadata.topicName(topicId);
    return known === undefined || mayDescribe(known) ? undefined : { errorCode, name: null, topicId, partitions: [] };
  }
  if (name === null) return undefined;
  const refused = { errorCode, name, isInternal: isInternalTopic(name), partitions: [] };
  if (!mayDescribe(name)) return refused;
  const wouldCreate =
    metadata.topic(name) === undefined && autoCreatesTopics() && (context.apiVersion < 4 || request.allowAutoTopicCreation);
  return wouldCreate && !mayCreate(name, context, { authorizer }) ? refused : undefined;
}

function withOperations<T extends MetadataTopic>(topic: T, context: RequestContext, { authorizer }: GuardParts): T {
  if ((topic.errorCode ?? 0) !== errorCodes.NONE) return topic;
  return { ...topic, topicAuthorizedOperations: authorizer.operations(context, 'topic', topic.name ?? '') };
}

function mayCreate(name: string, context: RequestContext, { authorizer }: Pick<GuardParts, 'authorizer'>): boolean {
  return authorizer.mayOnCluster(context, 'CREATE', { quietly: true }) || authorizer.may(context, 'CREATE', 'Topic', name);
}

const describeTopicPartitionsGuard = guardOf(
  DescribeTopicPartitionsRequest,
  DescribeTopicPartitionsResponse,
  async (request, context, guarded) => {
    const { authorizer, handler, metadataCache } = guarded;
    const isForAll = request.topics.length === 0;
    const names = isForAll
      ? Array.from(metadataCache.current.topics(), ({ name }) => name)
      : request.topics.map(({ name }) => name);
    const isAllowed = (name: string): boolean => authorizer.may(context, 'DESCRIBE', 'Topic', name, { quietly: isForAll });
    const allowed = new Set(names.filter(isAllowed));
    const refused = isForAll
      ? []
      : names
          .filter((name) => !allowed.has(name))
          .map((name) => ({
            errorCode: errorCodes.TOPIC_AUTHORIZATION_FAILED,
            name,
            topicId: zeroUuid,
            isInternal: isInternalTopic(name),
            partitions: [],
          }));
    // The topic of the cursor may be gone, or hidden meanwhile: the next one that may be seen comes in its place.
    const { cursor } = request;
    const start = cursor === null ? '' : cursor.topicName;
    const left = [...allowed].filter((name) => name >= start);
    // An empty list would ask for all.
    if (left.length === 0) return { topics: refused, nextCursor: null };
    const answer = await handler.handle(
      {
        ...request,
        topics: left.map((name) => ({ name })),
        cursor: cursor !== null && allowed.has(cursor.topicName) ? cursor : null,
      },
      context,
    );
    return {
      ...answer,
      topics: [
        ...refused,
        ...(answer?.topics ?? []).map((topic) => ({
          ...topic,
          topicAuthorizedOperations: authorizer.operations(context, 'topic', topic.name ?? ''),
        })),
      ],
    };
  },
);

/** Who may not see configs is not told those of the topics that it makes. What is wrong with the request itself is told to everybody. */
const createTopicsGuard = guardOf(CreateTopicsRequest, CreateTopicsResponse, async (request, context, guarded) => {
  const { authorizer } = guarded;
  const repeated = repeatedNames(request.topics);
  const answer = await handleItems(request, context, guarded, 'topics', 'topics', ({ name }) => {
    if (mayCreate(name, context, guarded)) return undefined;
    return repeated.has(name) || name === clusterMetadataTopic ? 'INVALID_REQUEST' : 'TOPIC_AUTHORIZATION_FAILED';
  });
  const maySee = (name: string): boolean =>
    name === clusterMetadataTopic || authorizer.may(context, 'DESCRIBE_CONFIGS', 'Topic', name, { quietly: true });
  return {
    ...answer,
    topics: (answer?.topics ?? []).map((topic) =>
      maySee(topic.name ?? '')
        ? topic
        : {
            ...topic,
            topicConfigErrorCode: errorCodes.TOPIC_AUTHORIZATION_FAILED,
            numPartitions: -1,
            replicationFactor: -1,
            configs: [],
          },
    ),
  };
});

const deleteTopicsGuard = guardOf(DeleteTopicsRequest, DeleteTopicsResponse, async (request, context, guarded) => {
  const { authorizer, handler, metadataCache } = guarded;
  const metadata = metadataCache.current;
  const mayDelete = (topic: string): boolean => authorizer.may(context, 'DELETE', 'Topic', topic);
  const mayDescribe = (topic: string): boolean => authorizer.may(context, 'DESCRIBE', 'Topic', topic, { quietly: true });
  const nameOf = ({ name, topicId }: { readonly name: string | null; readonly topicId: string }): string | undefined =>
    topicId === zeroUuid ? (name ?? undefined) : metadata.topicName(topicId);
  const isAllowed = (topic: string | undefined): boolean => topic === undefined || mayDelete(topic);
  const topics = request.topics.filter((topic) => isAllowed(nameOf(topic)));
  const topicNames = request.topicNames.filter(isAllowed);
  const answer = await handler.handle({ ...request, topics, topicNames }, context);
  const refused = [...request.topics, ...request.topicNames.map((name) => ({ name, topicId: zeroUuid }))]
    .filter((topic) => !topics.some((other) => other === topic) && !topicNames.some((name) => name === topic.name))
    .map((topic) => {
      const name = nameOf(topic) ?? null;
      // A name that was asked for by its id is told only to those who may see it.
      const isTold = topic.topicId === zeroUuid || (name !== null && mayDescribe(name));
      const { topicId } = topic;
      return { name: isTold ? name : null, topicId, errorCode: errorCodes.TOPIC_AUTHORIZATION_FAILED, errorMessage: null };
    });
  return { ...answer, responses: [...(answer?.responses ?? []), ...refused] };
});

const createPartitionsGuard = guardOf(CreatePartitionsRequest, CreatePartitionsResponse, (request, context, guarded) => {
  const repeated = repeatedNames(request.topics);
  return handleItems(request, context, guarded, 'topics', 'results', ({ name }) => {
    if (guarded.authorizer.may(context, 'ALTER', 'Topic', name)) return undefined;
    return repeated.has(name) ? 'INVALID_REQUEST' : 'TOPIC_AUTHORIZATION_FAILED';
  });
});

export const topicGuards: readonly Guard[] = [
  metadataGuard,
  describeTopicPartitionsGuard,
  atController(createTopicsGuard),
  atController(deleteTopicsGuard),
  atController(createPartitionsGuard),
];
