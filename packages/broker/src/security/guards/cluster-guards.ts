// Guards of what concerns the cluster as a whole, its configs and its access lists, and of what brokers ask each other.

import {
  AllocateProducerIdsRequest,
  AllocateProducerIdsResponse,
  AlterClientQuotasRequest,
  AlterClientQuotasResponse,
  AlterConfigsRequest,
  AlterConfigsResponse,
  AlterPartitionReassignmentsRequest,
  AlterPartitionReassignmentsResponse,
  AlterPartitionRequest,
  AlterPartitionResponse,
  AlterReplicaLogDirsRequest,
  AlterReplicaLogDirsResponse,
  AlterUserScramCredentialsRequest,
  AlterUserScramCredentialsResponse,
  ApiVersionsRequest,
  ControlledShutdownRequest,
  ControlledShutdownResponse,
  CreateAclsRequest,
  CreateAclsResponse,
  DeleteAclsRequest,
  DeleteAclsResponse,
  DescribeAclsRequest,
  DescribeAclsResponse,
  DescribeClientQuotasRequest,
  DescribeClientQuotasResponse,
  DescribeClusterRequest,
  DescribeClusterResponse,
  DescribeConfigsRequest,
  DescribeConfigsResponse,
  DescribeLogDirsRequest,
  DescribeLogDirsResponse,
  DescribeUserScramCredentialsRequest,
  DescribeUserScramCredentialsResponse,
  ElectLeadersRequest,
  ElectLeadersResponse,
  IncrementalAlterConfigsRequest,
  IncrementalAlterConfigsResponse,
  LeaderAndIsrRequest,
  LeaderAndIsrResponse,
  ListConfigResourcesRequest,
  ListConfigResourcesResponse,
  ListPartitionReassignmentsRequest,
  ListPartitionReassignmentsResponse,
  SaslAuthenticateRequest,
  SaslHandshakeRequest,
  StopReplicaRequest,
  StopReplicaResponse,
  UpdateFeaturesRequest,
  UpdateFeaturesResponse,
  UpdateMetadataRequest,
  UpdateMetadataResponse,
} from '@odradek/protocol';
import { configResourceTypes } from '../../admin/config-changes.ts';
import { type AclOperation, clusterName } from '../acl.ts';
import { atController, clusterGuard, type Guard, guardOf, handleItems, itemGuard, openTo, type RefusalOf } from './guard.ts';

/** Configs of topics and groups go by those; all others by the cluster. */
function configRefusal(operation: AclOperation): RefusalOf<Resource> {
  return ({ resourceType, resourceName }, context, { authorizer }) => {
    switch (resourceType) {
      case configResourceTypes.TOPIC:
        return authorizer.may(context, operation, 'Topic', resourceName) ? undefined : 'TOPIC_AUTHORIZATION_FAILED';
      case configResourceTypes.GROUP:
        return authorizer.may(context, operation, 'Group', resourceName) ? undefined : 'GROUP_AUTHORIZATION_FAILED';
      default:
        return authorizer.mayOnCluster(context, operation) ? undefined : 'CLUSTER_AUTHORIZATION_FAILED';
    }
  };
}

type Resource = { readonly resourceType: number; readonly resourceName: string };

/** What is wrong with the request itself is told to everybody, before it is looked at who asks. */
function alterConfigsGuard(
  request: typeof AlterConfigsRequest | typeof IncrementalAlterConfigsRequest,
  response: typeof AlterConfigsResponse | typeof IncrementalAlterConfigsResponse,
): Guard {
  const refusalOf = configRefusal('ALTER_CONFIGS');
  return guardOf(request, response, (body, context, guarded) =>
    handleItems(body, context, guarded, 'resources', 'responses', (resource: Resource) => {
      const refused = refusalOf(resource, context, guarded);
      return refused !== undefined && isMistaken(resource, body.resources, guarded.brokerId) ? 'INVALID_REQUEST' : refused;
    }),
  );
}

function isMistaken({ resourceType, resourceName }: Resource, all: readonly Resource[], brokerId: number): boolean {
  const same = all.filter((other) => other.resourceType === resourceType && other.resourceName === resourceName);
  const isOfOtherBroker = resourceType === configResourceTypes.BROKER && !['', String(brokerId)].includes(resourceName);
  return same.length > 1 || isOfOtherBroker || !knownResourceTypes.has(resourceType);
}

const knownResourceTypes: ReadonlySet<number> = new Set(
  Object.values(configResourceTypes).filter((type) => type !== configResourceTypes.UNKNOWN),
);

const describeClusterGuard = guardOf(
  DescribeClusterRequest,
  DescribeClusterResponse,
  async (request, context, { authorizer, handler }) => {
    const answer = await handler.handle(request, context);
    if (!request.includeClusterAuthorizedOperations) return answer;
    const maySee = authorizer.mayOnCluster(context, 'DESCRIBE', { quietly: true });
    return { ...answer, clusterAuthorizedOperations: maySee ? authorizer.operations(context, 'cluster', clusterName) : 0 };
  },
);

export const clusterGuards: readonly Guard[] = [
  openTo(ApiVersionsRequest),
  openTo(SaslHandshakeRequest),
  openTo(SaslAuthenticateRequest),
  describeClusterGuard,
  clusterGuard(DescribeAclsRequest, DescribeAclsResponse, 'DESCRIBE'),
  clusterGuard(CreateAclsRequest, CreateAclsResponse, 'ALTER'),
  clusterGuard(DeleteAclsRequest, DeleteAclsResponse, 'ALTER'),
  itemGuard(DescribeConfigsRequest, DescribeConfigsResponse, 'resources', 'results', configRefusal('DESCRIBE_CONFIGS')),
  alterConfigsGuard(AlterConfigsRequest, AlterConfigsResponse),
  alterConfigsGuard(IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse),
  clusterGuard(ListConfigResourcesRequest, ListConfigResourcesResponse, 'DESCRIBE_CONFIGS'),
  clusterGuard(AlterReplicaLogDirsRequest, AlterReplicaLogDirsResponse, 'ALTER'),
  clusterGuard(DescribeLogDirsRequest, DescribeLogDirsResponse, 'DESCRIBE'),
  clusterGuard(ElectLeadersRequest, ElectLeadersResponse, 'ALTER'),
  clusterGuard(AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse, 'ALTER'),
  clusterGuard(ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse, 'DESCRIBE'),
  clusterGuard(DescribeClientQuotasRequest, DescribeClientQuotasResponse, 'DESCRIBE_CONFIGS'),
  clusterGuard(AlterClientQuotasRequest, AlterClientQuotasResponse, 'ALTER_CONFIGS'),
  clusterGuard(DescribeUserScramCredentialsRequest, DescribeUserScramCredentialsResponse, 'DESCRIBE'),
  atController(clusterGuard(AlterUserScramCredentialsRequest, AlterUserScramCredentialsResponse, 'ALTER')),
  clusterGuard(UpdateFeaturesRequest, UpdateFeaturesResponse, 'ALTER'),
  clusterGuard(LeaderAndIsrRequest, LeaderAndIsrResponse, 'CLUSTER_ACTION'),
  clusterGuard(StopReplicaRequest, StopReplicaResponse, 'CLUSTER_ACTION'),
  clusterGuard(UpdateMetadataRequest, UpdateMetadataResponse, 'CLUSTER_ACTION'),
  clusterGuard(ControlledShutdownRequest, ControlledShutdownResponse, 'CLUSTER_ACTION'),
  clusterGuard(AlterPartitionRequest, AlterPartitionResponse, 'CLUSTER_ACTION'),
  clusterGuard(AllocateProducerIdsRequest, AllocateProducerIdsResponse, 'CLUSTER_ACTION'),
];
