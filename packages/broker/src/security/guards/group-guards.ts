// Guards of groups: of their members, their offsets and their descriptions.

import {
  ConsumerGroupDescribeRequest,
  ConsumerGroupDescribeResponse,
  ConsumerGroupHeartbeatRequest,
  ConsumerGroupHeartbeatResponse,
  DeleteGroupsRequest,
  DeleteGroupsResponse,
  DescribeGroupsRequest,
  DescribeGroupsResponse,
  errorCodes,
  FindCoordinatorRequest,
  FindCoordinatorResponse,
  HeartbeatRequest,
  HeartbeatResponse,
  JoinGroupRequest,
  JoinGroupResponse,
  LeaveGroupRequest,
  LeaveGroupResponse,
  ListGroupsRequest,
  ListGroupsResponse,
  OffsetCommitRequest,
  OffsetCommitResponse,
  OffsetDeleteRequest,
  OffsetDeleteResponse,
  SyncGroupRequest,
  SyncGroupResponse,
} from '@odradek/protocol';
import type { RequestContext } from '../../requests/request-context.ts';
import type { AclOperation } from '../acl.ts';
import {
  checkGroup,
  type Guard,
  type GuardParts,
  groupGuard,
  guardOf,
  handleItems,
  itemGuard,
  type RefusalOf,
  refusal,
} from './guard.ts';
import { offsetFetchGuard } from './offset-fetch-guard.ts';

function groupRefusal(operation: AclOperation): RefusalOf<string> {
  return (groupId, context, { authorizer }) =>
    authorizer.may(context, operation, 'Group', groupId) ? undefined : 'GROUP_AUTHORIZATION_FAILED';
}

/** What is looked up, by its type: a group, a transactional id, or a share group, which only brokers look up. */
function coordinatorRefusal(keyType: number): RefusalOf<string> {
  return (key, context, { authorizer }) => {
    if (keyType === 0) return authorizer.may(context, 'DESCRIBE', 'Group', key) ? undefined : 'GROUP_AUTHORIZATION_FAILED';
    if (keyType === 1) {
      const isAllowed = authorizer.may(context, 'DESCRIBE', 'TransactionalId', key);
      return isAllowed ? undefined : 'TRANSACTIONAL_ID_AUTHORIZATION_FAILED';
    }
    if (keyType === 2) return authorizer.mayOnCluster(context, 'CLUSTER_ACTION') ? undefined : 'CLUSTER_AUTHORIZATION_FAILED';
    return undefined;
  };
}

const findCoordinatorGuard = guardOf(FindCoordinatorRequest, FindCoordinatorResponse, (request, context, guarded) => {
  const refusalOf = coordinatorRefusal(request.keyType);
  if (context.apiVersion >= 4) return handleItems(request, context, guarded, 'coordinatorKeys', 'coordinators', refusalOf);
  const code = refusalOf(request.key, context, guarded);
  if (code !== undefined) throw refusal(code);
  return guarded.handler.handle(request, context);
});

const offsetCommitGuard = guardOf(OffsetCommitRequest, OffsetCommitResponse, (request, context, guarded) => {
  checkGroup(guarded.authorizer, context, 'READ', request.groupId);
  const metadata = guarded.metadataCache.current;
  return handleItems(request, context, guarded, 'topics', 'topics', ({ name, topicId }) => {
    const topic = context.apiVersion >= 10 ? metadata.topicName(topicId) : name;
    return topic === undefined || guarded.authorizer.may(context, 'READ', 'Topic', topic)
      ? undefined
      : 'TOPIC_AUTHORIZATION_FAILED';
  });
});

const offsetDeleteGuard = guardOf(OffsetDeleteRequest, OffsetDeleteResponse, async (request, context, { authorizer, handler }) => {
  checkGroup(authorizer, context, 'DELETE', request.groupId);
  const mayRead = new Set(request.topics.filter(({ name }) => authorizer.may(context, 'READ', 'Topic', name)));
  const answer = await handler.handle({ ...request, topics: request.topics.filter((topic) => mayRead.has(topic)) }, context);
  const refused = request.topics
    .filter((topic) => !mayRead.has(topic))
    .map(({ name, partitions }) => ({
      name,
      partitions: partitions.map(({ partitionIndex }) => ({
        partitionIndex,
        errorCode: errorCodes.TOPIC_AUTHORIZATION_FAILED,
      })),
    }));
  return { ...answer, topics: [...(answer?.topics ?? []), ...refused] };
});

/** Who may not look at the cluster sees the groups that it may look at. */
const listGroupsGuard = guardOf(ListGroupsRequest, ListGroupsResponse, async (request, context, { authorizer, handler }) => {
  const answer = await handler.handle(request, context);
  if (authorizer.mayOnCluster(context, 'DESCRIBE', { quietly: true })) return answer;
  const mayDescribe = (groupId: string): boolean => authorizer.may(context, 'DESCRIBE', 'Group', groupId, { quietly: true });
  return { ...answer, groups: (answer?.groups ?? []).filter(({ groupId }) => mayDescribe(groupId ?? '')) };
});

const describeGroupsGuard = guardOf(DescribeGroupsRequest, DescribeGroupsResponse, async (request, context, guarded) => {
  const answer = await handleItems(request, context, guarded, 'groups', 'groups', groupRefusal('DESCRIBE'));
  if (!request.includeAuthorizedOperations) return answer;
  const groups = answer?.groups ?? [];
  return { ...answer, groups: groups.map((group) => withOperations(group, context, guarded)) };
});

const consumerGroupDescribeGuard = guardOf(
  ConsumerGroupDescribeRequest,
  ConsumerGroupDescribeResponse,
  async (request, context, guarded) => {
    const answer = await handleItems(request, context, guarded, 'groupIds', 'groups', groupRefusal('DESCRIBE'));
    const mayDescribe = (topic: string): boolean => guarded.authorizer.may(context, 'DESCRIBE', 'Topic', topic, { quietly: true });
    return {
      ...answer,
      groups: (answer?.groups ?? []).map((group) => {
        const topics = (group.members ?? []).flatMap(({ assignment, targetAssignment }) =>
          [...(assignment?.topicPartitions ?? []), ...(targetAssignment?.topicPartitions ?? [])].map(({ topicName }) => topicName),
        );
        if (topics.every((topic) => mayDescribe(topic ?? ''))) {
          return request.includeAuthorizedOperations ? withOperations(group, context, guarded) : group;
        }
        return {
          groupId: group.groupId,
          errorCode: errorCodes.TOPIC_AUTHORIZATION_FAILED,
          errorMessage: 'The group has described topic(s) that the client is not authorized to describe.',
          members: [],
        };
      }),
    };
  },
);

function withOperations<T extends { readonly groupId?: string | undefined; readonly errorCode?: number | undefined }>(
  group: T,
  context: RequestContext,
  { authorizer }: GuardParts,
): T {
  if ((group.errorCode ?? 0) !== errorCodes.NONE) return group;
  return { ...group, authorizedOperations: authorizer.operations(context, 'group', group.groupId ?? '') };
}

const consumerGroupHeartbeatGuard = guardOf(
  ConsumerGroupHeartbeatRequest,
  ConsumerGroupHeartbeatResponse,
  (request, context, { authorizer, handler }) => {
    checkGroup(authorizer, context, 'READ', request.groupId);
    for (const topic of request.subscribedTopicNames ?? []) {
      if (!authorizer.may(context, 'DESCRIBE', 'Topic', topic)) throw refusal('TOPIC_AUTHORIZATION_FAILED');
    }
    return handler.handle(request, context);
  },
);

export const groupGuards: readonly Guard[] = [
  findCoordinatorGuard,
  offsetCommitGuard,
  offsetFetchGuard,
  groupGuard(JoinGroupRequest, JoinGroupResponse, 'READ'),
  groupGuard(HeartbeatRequest, HeartbeatResponse, 'READ'),
  groupGuard(LeaveGroupRequest, LeaveGroupResponse, 'READ'),
  groupGuard(SyncGroupRequest, SyncGroupResponse, 'READ'),
  describeGroupsGuard,
  listGroupsGuard,
  itemGuard(DeleteGroupsRequest, DeleteGroupsResponse, 'groupsNames', 'results', groupRefusal('DELETE')),
  offsetDeleteGuard,
  consumerGroupHeartbeatGuard,
  consumerGroupDescribeGuard,
];
