// Guards of reading and writing records, and of where in the logs they lie.

import {
  DeleteRecordsRequest,
  DeleteRecordsResponse,
  DescribeProducersRequest,
  DescribeProducersResponse,
  FetchRequest,
  InitProducerIdRequest,
  InitProducerIdResponse,
  ListOffsetsRequest,
  ListOffsetsResponse,
  type MessageInit,
  OffsetForLeaderEpochRequest,
  OffsetForLeaderEpochResponse,
  ProduceRequest,
  ProduceResponse,
} from '@odradek/protocol';
import type { Answer } from '../../requests/handler.ts';
import { hasTransactionalRecords } from '../../requests/transactional-records.ts';
import { type Guard, guardOf, itemGuard, openTo, refusal, topicRefusal } from './guard.ts';

const produceGuard = guardOf(ProduceRequest, ProduceResponse, (request, context, { authorizer, handler, metadataCache }) => {
  if (hasTransactionalRecords(request)) {
    const id = request.transactionalId;
    if (id === null || !authorizer.may(context, 'WRITE', 'TransactionalId', id)) {
      throw refusal('TRANSACTIONAL_ID_AUTHORIZATION_FAILED');
    }
  }
  const metadata = metadataCache.current;
  const isAllowed = ({ name, topicId }: ProduceRequest['topicData'][number]): boolean => {
    const topic = context.apiVersion >= 13 ? metadata.topicName(topicId) : name;
    return topic === undefined || authorizer.may(context, 'WRITE', 'Topic', topic);
  };
  const { true: allowed = [], false: refused = [] } = Object.groupBy(request.topicData, (topic) => `${isAllowed(topic)}`);
  if (refused.length === 0) return handler.handle(request, context);
  const withRefused = (answer: Answer<typeof ProduceResponse>): MessageInit<typeof ProduceResponse> => {
    // With acks=0 there is no such answer, and the connection is closed.
    const failed = handler.errorResponse({ ...request, topicData: refused }, refusal('TOPIC_AUTHORIZATION_FAILED'), context);
    return { ...answer, responses: [...(answer?.responses ?? []), ...(failed.responses ?? [])] };
  };
  const answer = handler.handle({ ...request, topicData: allowed }, context);
  return answer instanceof Promise ? answer.then(withRefused) : withRefused(answer);
});

/** Who may write to some topic may have an id for doing it. */
const initProducerIdGuard = guardOf(InitProducerIdRequest, InitProducerIdResponse, (request, context, { authorizer, handler }) => {
  const { transactionalId } = request;
  if (transactionalId !== null) {
    if (!authorizer.may(context, 'WRITE', 'TransactionalId', transactionalId)) {
      throw refusal('TRANSACTIONAL_ID_AUTHORIZATION_FAILED');
    }
  } else if (
    !authorizer.mayOnCluster(context, 'IDEMPOTENT_WRITE', { quietly: true }) &&
    !authorizer.mayWithAny(context, 'WRITE', 'Topic')
  ) {
    throw refusal('CLUSTER_AUTHORIZATION_FAILED');
  }
  return handler.handle(request, context);
});

export const dataGuards: readonly Guard[] = [
  produceGuard,
  // It looks at each partition of its session, which the request need not name.
  openTo(FetchRequest),
  itemGuard(
    ListOffsetsRequest,
    ListOffsetsResponse,
    'topics',
    'topics',
    topicRefusal('DESCRIBE', ({ name }) => name),
  ),
  itemGuard(
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    'topics',
    'topics',
    topicRefusal('DELETE', ({ name }) => name),
  ),
  itemGuard(OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse, 'topics', 'topics', ({ topic }, context, { authorizer }) =>
    authorizer.mayOnCluster(context, 'CLUSTER_ACTION', { quietly: true }) || authorizer.may(context, 'DESCRIBE', 'Topic', topic)
      ? undefined
      : 'TOPIC_AUTHORIZATION_FAILED',
  ),
  itemGuard(
    DescribeProducersRequest,
    DescribeProducersResponse,
    'topics',
    'topics',
    topicRefusal('READ', ({ name }) => name),
  ),
  initProducerIdGuard,
];
