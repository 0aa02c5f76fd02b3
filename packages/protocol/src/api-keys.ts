// THE table of APIs: what belongs to each key. Versions, names and header versions follow from the definitions in messages/.

import { ProduceRequest, ProduceResponse } from './messages/00-produce.ts';
import { FetchRequest, FetchResponse } from './messages/01-fetch.ts';
import { ListOffsetsRequest, ListOffsetsResponse } from './messages/02-list-offsets.ts';
import { MetadataRequest, MetadataResponse } from './messages/03-metadata.ts';
import { LeaderAndIsrRequest, LeaderAndIsrResponse } from './messages/04-leader-and-isr.ts';
import { StopReplicaRequest, StopReplicaResponse } from './messages/05-stop-replica.ts';
import { UpdateMetadataRequest, UpdateMetadataResponse } from './messages/06-update-metadata.ts';
import { ControlledShutdownRequest, ControlledShutdownResponse } from './messages/07-controlled-shutdown.ts';
import { OffsetCommitRequest, OffsetCommitResponse } from './messages/08-offset-commit.ts';
import { OffsetFetchRequest, OffsetFetchResponse } from './messages/09-offset-fetch.ts';
import { FindCoordinatorRequest, FindCoordinatorResponse } from './messages/10-find-coordinator.ts';
import { JoinGroupRequest, JoinGroupResponse } from './messages/11-join-group.ts';
import { HeartbeatRequest, HeartbeatResponse } from './messages/12-heartbeat.ts';
import { LeaveGroupRequest, LeaveGroupResponse } from './messages/13-leave-group.ts';
import { SyncGroupRequest, SyncGroupResponse } from './messages/14-sync-group.ts';
import { DescribeGroupsRequest, DescribeGroupsResponse } from './messages/15-describe-groups.ts';
import { ListGroupsRequest, ListGroupsResponse } from './messages/16-list-groups.ts';
import { SaslHandshakeRequest, SaslHandshakeResponse } from './messages/17-sasl-handshake.ts';
import { ApiVersionsRequest, ApiVersionsResponse } from './messages/18-api-versions.ts';
import { CreateTopicsRequest, CreateTopicsResponse } from './messages/19-create-topics.ts';
import { DeleteTopicsRequest, DeleteTopicsResponse } from './messages/20-delete-topics.ts';
import { DeleteRecordsRequest, DeleteRecordsResponse } from './messages/21-delete-records.ts';
import { InitProducerIdRequest, InitProducerIdResponse } from './messages/22-init-producer-id.ts';
import { OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse } from './messages/23-offset-for-leader-epoch.ts';
import { AddPartitionsToTxnRequest, AddPartitionsToTxnResponse } from './messages/24-add-partitions-to-txn.ts';
import { AddOffsetsToTxnRequest, AddOffsetsToTxnResponse } from './messages/25-add-offsets-to-txn.ts';
import { EndTxnRequest, EndTxnResponse } from './messages/26-end-txn.ts';
import { WriteTxnMarkersRequest, WriteTxnMarkersResponse } from './messages/27-write-txn-markers.ts';
import { TxnOffsetCommitRequest, TxnOffsetCommitResponse } from './messages/28-txn-offset-commit.ts';
import { DescribeAclsRequest, DescribeAclsResponse } from './messages/29-describe-acls.ts';
import { CreateAclsRequest, CreateAclsResponse } from './messages/30-create-acls.ts';
import { DeleteAclsRequest, DeleteAclsResponse } from './messages/31-delete-acls.ts';
import { DescribeConfigsRequest, DescribeConfigsResponse } from './messages/32-describe-configs.ts';
import { AlterConfigsRequest, AlterConfigsResponse } from './messages/33-alter-configs.ts';
import { AlterReplicaLogDirsRequest, AlterReplicaLogDirsResponse } from './messages/34-alter-replica-log-dirs.ts';
import { DescribeLogDirsRequest, DescribeLogDirsResponse } from './messages/35-describe-log-dirs.ts';
import { SaslAuthenticateRequest, SaslAuthenticateResponse } from './messages/36-sasl-authenticate.ts';
import { CreatePartitionsRequest, CreatePartitionsResponse } from './messages/37-create-partitions.ts';
import { CreateDelegationTokenRequest, CreateDelegationTokenResponse } from './messages/38-create-delegation-token.ts';
import { RenewDelegationTokenRequest, RenewDelegationTokenResponse } from './messages/39-renew-delegation-token.ts';
import { ExpireDelegationTokenRequest, ExpireDelegationTokenResponse } from './messages/40-expire-delegation-token.ts';
import { DescribeDelegationTokenRequest, DescribeDelegationTokenResponse } from './messages/41-describe-delegation-token.ts';
import { DeleteGroupsRequest, DeleteGroupsResponse } from './messages/42-delete-groups.ts';
import { ElectLeadersRequest, ElectLeadersResponse } from './messages/43-elect-leaders.ts';
import { IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse } from './messages/44-incremental-alter-configs.ts';
import {
  AlterPartitionReassignmentsRequest,
  AlterPartitionReassignmentsResponse,
} from './messages/45-alter-partition-reassignments.ts';
import {
  ListPartitionReassignmentsRequest,
  ListPartitionReassignmentsResponse,
} from './messages/46-list-partition-reassignments.ts';
import { OffsetDeleteRequest, OffsetDeleteResponse } from './messages/47-offset-delete.ts';
import { DescribeClientQuotasRequest, DescribeClientQuotasResponse } from './messages/48-describe-client-quotas.ts';
import { AlterClientQuotasRequest, AlterClientQuotasResponse } from './messages/49-alter-client-quotas.ts';
import {
  DescribeUserScramCredentialsRequest,
  DescribeUserScramCredentialsResponse,
} from './messages/50-describe-user-scram-credentials.ts';
import { AlterUserScramCredentialsRequest, AlterUserScramCredentialsResponse } from './messages/51-alter-user-scram-credentials.ts';
import { AlterPartitionRequest, AlterPartitionResponse } from './messages/56-alter-partition.ts';
import { UpdateFeaturesRequest, UpdateFeaturesResponse } from './messages/57-update-features.ts';
import { EnvelopeRequest, EnvelopeResponse } from './messages/58-envelope.ts';
import { DescribeClusterRequest, DescribeClusterResponse } from './messages/60-describe-cluster.ts';
import { DescribeProducersRequest, DescribeProducersResponse } from './messages/61-describe-producers.ts';
import { DescribeTransactionsRequest, DescribeTransactionsResponse } from './messages/65-describe-transactions.ts';
import { ListTransactionsRequest, ListTransactionsResponse } from './messages/66-list-transactions.ts';
import { AllocateProducerIdsRequest, AllocateProducerIdsResponse } from './messages/67-allocate-producer-ids.ts';
import { ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse } from './messages/68-consumer-group-heartbeat.ts';
import { ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse } from './messages/69-consumer-group-describe.ts';
import { GetTelemetrySubscriptionsRequest, GetTelemetrySubscriptionsResponse } from './messages/71-get-telemetry-subscriptions.ts';
import { PushTelemetryRequest, PushTelemetryResponse } from './messages/72-push-telemetry.ts';
import { ListConfigResourcesRequest, ListConfigResourcesResponse } from './messages/74-list-config-resources.ts';
import { DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse } from './messages/75-describe-topic-partitions.ts';
import { ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse } from './messages/76-share-group-heartbeat.ts';
import { ShareGroupDescribeRequest, ShareGroupDescribeResponse } from './messages/77-share-group-describe.ts';
import { ShareFetchRequest, ShareFetchResponse } from './messages/78-share-fetch.ts';
import { ShareAcknowledgeRequest, ShareAcknowledgeResponse } from './messages/79-share-acknowledge.ts';
import { InitializeShareGroupStateRequest, InitializeShareGroupStateResponse } from './messages/83-initialize-share-group-state.ts';
import { ReadShareGroupStateRequest, ReadShareGroupStateResponse } from './messages/84-read-share-group-state.ts';
import { WriteShareGroupStateRequest, WriteShareGroupStateResponse } from './messages/85-write-share-group-state.ts';
import { DeleteShareGroupStateRequest, DeleteShareGroupStateResponse } from './messages/86-delete-share-group-state.ts';
import {
  ReadShareGroupStateSummaryRequest,
  ReadShareGroupStateSummaryResponse,
} from './messages/87-read-share-group-state-summary.ts';
import { StreamsGroupHeartbeatRequest, StreamsGroupHeartbeatResponse } from './messages/88-streams-group-heartbeat.ts';
import { StreamsGroupDescribeRequest, StreamsGroupDescribeResponse } from './messages/89-streams-group-describe.ts';
import { DescribeShareGroupOffsetsRequest, DescribeShareGroupOffsetsResponse } from './messages/90-describe-share-group-offsets.ts';
import { AlterShareGroupOffsetsRequest, AlterShareGroupOffsetsResponse } from './messages/91-alter-share-group-offsets.ts';
import { DeleteShareGroupOffsetsRequest, DeleteShareGroupOffsetsResponse } from './messages/92-delete-share-group-offsets.ts';
import {
  StreamsGroupTopologyDescriptionUpdateRequest,
  StreamsGroupTopologyDescriptionUpdateResponse,
} from './messages/93-streams-group-topology-description-update.ts';
import { UnregisterControllerRequest, UnregisterControllerResponse } from './messages/94-unregister-controller.ts';
import type { MessageDefinition } from './schema/define.ts';
import { noVersions, type VersionRange, versionsContain } from './schema/versions.ts';

export interface Api {
  readonly key: number;
  /** Without "Request" or "Response". */
  readonly name: string;
  readonly request: MessageDefinition;
  readonly response: MessageDefinition;
  /** All that are defined: from the lowest of Apache Kafka 3.9 to the highest of 4.4. */
  readonly versions: VersionRange;
  /** What may be advertised: `versions` without those that the releases keep back as unstable. */
  readonly stableVersions: VersionRange;
  /** The first version with compact lengths and tagged fields; Infinity where there is none. */
  readonly flexibleFrom: number;
  requestHeaderVersion(version: number): number;
  responseHeaderVersion(version: number): number;
}

interface Exceptions {
  /** Where it differs from `versions`: Kafka 4.4 does not announce InitProducerId 6 yet, and nobody released version 0 of the share groups. */
  readonly stableVersions?: VersionRange;
  /** The version of the request header by the version of the request. */
  readonly requestHeaderVersion?: (version: number) => number;
  readonly responseHeaderVersion?: (version: number) => number;
}

function api(request: MessageDefinition, response: MessageDefinition, exceptions: Exceptions = {}): Api {
  if (request.apiKey === undefined) throw new Error(`${request.name} has no API key`);
  const { versions, flexible } = request;
  return {
    key: request.apiKey,
    name: request.name.slice(0, -'Request'.length),
    request,
    response,
    versions,
    stableVersions: exceptions.stableVersions ?? versions,
    flexibleFrom: flexible === noVersions ? Number.POSITIVE_INFINITY : flexible.min,
    requestHeaderVersion: exceptions.requestHeaderVersion ?? ((version) => (versionsContain(flexible, version) ? 2 : 1)),
    responseHeaderVersion: exceptions.responseHeaderVersion ?? ((version) => (versionsContain(flexible, version) ? 1 : 0)),
  };
}

export const apis: readonly Api[] = [
  api(ProduceRequest, ProduceResponse),
  api(FetchRequest, FetchResponse),
  api(ListOffsetsRequest, ListOffsetsResponse),
  api(MetadataRequest, MetadataResponse),
  api(LeaderAndIsrRequest, LeaderAndIsrResponse),
  api(StopReplicaRequest, StopReplicaResponse),
  api(UpdateMetadataRequest, UpdateMetadataResponse),
  api(ControlledShutdownRequest, ControlledShutdownResponse, {
    // Version 0 had a request header of its own, without the client id.
    requestHeaderVersion: (version) => (version === 0 ? 0 : version >= ControlledShutdownRequest.flexible.min ? 2 : 1),
  }),
  api(OffsetCommitRequest, OffsetCommitResponse),
  api(OffsetFetchRequest, OffsetFetchResponse),
  api(FindCoordinatorRequest, FindCoordinatorResponse),
  api(JoinGroupRequest, JoinGroupResponse),
  api(HeartbeatRequest, HeartbeatResponse),
  api(LeaveGroupRequest, LeaveGroupResponse),
  api(SyncGroupRequest, SyncGroupResponse),
  api(DescribeGroupsRequest, DescribeGroupsResponse),
  api(ListGroupsRequest, ListGroupsResponse),
  api(SaslHandshakeRequest, SaslHandshakeResponse),
  api(ApiVersionsRequest, ApiVersionsResponse, {
    // Who asks does not know yet whether the broker has flexible versions, so the header of the answer never is.
    responseHeaderVersion: () => 0,
  }),
  api(CreateTopicsRequest, CreateTopicsResponse),
  api(DeleteTopicsRequest, DeleteTopicsResponse),
  api(DeleteRecordsRequest, DeleteRecordsResponse),
  api(InitProducerIdRequest, InitProducerIdResponse, { stableVersions: { min: 0, max: 5 } }),
  api(OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse),
  api(AddPartitionsToTxnRequest, AddPartitionsToTxnResponse),
  api(AddOffsetsToTxnRequest, AddOffsetsToTxnResponse),
  api(EndTxnRequest, EndTxnResponse),
  api(WriteTxnMarkersRequest, WriteTxnMarkersResponse),
  api(TxnOffsetCommitRequest, TxnOffsetCommitResponse),
  api(DescribeAclsRequest, DescribeAclsResponse),
  api(CreateAclsRequest, CreateAclsResponse),
  api(DeleteAclsRequest, DeleteAclsResponse),
  api(DescribeConfigsRequest, DescribeConfigsResponse),
  api(AlterConfigsRequest, AlterConfigsResponse),
  api(AlterReplicaLogDirsRequest, AlterReplicaLogDirsResponse),
  api(DescribeLogDirsRequest, DescribeLogDirsResponse),
  api(SaslAuthenticateRequest, SaslAuthenticateResponse),
  api(CreatePartitionsRequest, CreatePartitionsResponse),
  api(CreateDelegationTokenRequest, CreateDelegationTokenResponse),
  api(RenewDelegationTokenRequest, RenewDelegationTokenResponse),
  api(ExpireDelegationTokenRequest, ExpireDelegationTokenResponse),
  api(DescribeDelegationTokenRequest, DescribeDelegationTokenResponse),
  api(DeleteGroupsRequest, DeleteGroupsResponse),
  api(ElectLeadersRequest, ElectLeadersResponse),
  api(IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse),
  api(AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse),
  api(ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse),
  api(OffsetDeleteRequest, OffsetDeleteResponse),
  api(DescribeClientQuotasRequest, DescribeClientQuotasResponse),
  api(AlterClientQuotasRequest, AlterClientQuotasResponse),
  api(DescribeUserScramCredentialsRequest, DescribeUserScramCredentialsResponse),
  api(AlterUserScramCredentialsRequest, AlterUserScramCredentialsResponse),
  api(AlterPartitionRequest, AlterPartitionResponse),
  api(UpdateFeaturesRequest, UpdateFeaturesResponse),
  api(EnvelopeRequest, EnvelopeResponse),
  api(DescribeClusterRequest, DescribeClusterResponse),
  api(DescribeProducersRequest, DescribeProducersResponse),
  api(DescribeTransactionsRequest, DescribeTransactionsResponse),
  api(ListTransactionsRequest, ListTransactionsResponse),
  api(AllocateProducerIdsRequest, AllocateProducerIdsResponse),
  api(ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse),
  api(ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse),
  api(GetTelemetrySubscriptionsRequest, GetTelemetrySubscriptionsResponse),
  api(PushTelemetryRequest, PushTelemetryResponse),
  api(ListConfigResourcesRequest, ListConfigResourcesResponse),
  api(DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse),
  api(ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse, { stableVersions: { min: 1, max: 1 } }),
  api(ShareGroupDescribeRequest, ShareGroupDescribeResponse, { stableVersions: { min: 1, max: 1 } }),
  api(ShareFetchRequest, ShareFetchResponse, { stableVersions: { min: 1, max: 2 } }),
  api(ShareAcknowledgeRequest, ShareAcknowledgeResponse, { stableVersions: { min: 1, max: 2 } }),
  api(InitializeShareGroupStateRequest, InitializeShareGroupStateResponse),
  api(ReadShareGroupStateRequest, ReadShareGroupStateResponse),
  api(WriteShareGroupStateRequest, WriteShareGroupStateResponse),
  api(DeleteShareGroupStateRequest, DeleteShareGroupStateResponse),
  api(ReadShareGroupStateSummaryRequest, ReadShareGroupStateSummaryResponse),
  api(StreamsGroupHeartbeatRequest, StreamsGroupHeartbeatResponse),
  api(StreamsGroupDescribeRequest, StreamsGroupDescribeResponse),
  api(DescribeShareGroupOffsetsRequest, DescribeShareGroupOffsetsResponse),
  api(AlterShareGroupOffsetsRequest, AlterShareGroupOffsetsResponse),
  api(DeleteShareGroupOffsetsRequest, DeleteShareGroupOffsetsResponse),
  api(StreamsGroupTopologyDescriptionUpdateRequest, StreamsGroupTopologyDescriptionUpdateResponse),
  api(UnregisterControllerRequest, UnregisterControllerResponse),
];

const byKey: (Api | undefined)[] = [];
for (const entry of apis) byKey[entry.key] = entry;

export function apiByKey(key: number): Api | undefined {
  return byKey[key];
}
