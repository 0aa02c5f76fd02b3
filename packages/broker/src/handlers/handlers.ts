// The list of what this broker serves. The router and ApiVersions read it.

import type { Coordination } from '@odradek/coordination';
import type { Api } from '@odradek/protocol';
import type { Clock, FileSystem, Logger } from '@odradek/runtime';
import type { LogManager } from '@odradek/storage';
import { type ConfigChanges, configResourceTypes } from '../admin/config-changes.ts';
import type { TopicChanges } from '../admin/topic-changes.ts';
import type { BrokerConfig } from '../broker-config.ts';
import type { Controller } from '../controller/controller.ts';
import type { ProducerIds } from '../controller/producer-ids.ts';
import { LegacyOffsets } from '../groups/legacy-offsets.ts';
import type { Groups } from '../groups/start-groups.ts';
import { isCordoned } from '../log-dir-settings.ts';
import type { PartLoggers } from '../logging/part-loggers.ts';
import type { MetadataCache } from '../metadata/metadata-cache.ts';
import type { ClientQuotas } from '../quotas/client-quotas.ts';
import type { Quotas } from '../quotas/start-quotas.ts';
import type { FetchSessions } from '../replication/fetch-sessions.ts';
import type { ReplicaManager } from '../replication/replica-manager.ts';
import type { Replication } from '../replication/start-replication.ts';
import type { Handler } from '../requests/handler.ts';
import type { RequestContext } from '../requests/request-context.ts';
import type { Authorizer } from '../security/authorizer.ts';
import { ScramCredentials } from '../security/scram-credentials.ts';
import { topicValue } from '../topic-config.ts';
import { produceHandler } from './00-produce.ts';
import { fetchHandler } from './01-fetch.ts';
import { listOffsetsHandler } from './02-list-offsets.ts';
import { metadataHandler } from './03-metadata.ts';
import { leaderAndIsrHandler } from './04-leader-and-isr.ts';
import { stopReplicaHandler } from './05-stop-replica.ts';
import { updateMetadataHandler } from './06-update-metadata.ts';
import { controlledShutdownHandler } from './07-controlled-shutdown.ts';
import { offsetCommitHandler } from './08-offset-commit.ts';
import { offsetFetchHandler } from './09-offset-fetch.ts';
import { findCoordinatorHandler } from './10-find-coordinator.ts';
import { joinGroupHandler } from './11-join-group.ts';
import { heartbeatHandler } from './12-heartbeat.ts';
import { leaveGroupHandler } from './13-leave-group.ts';
import { syncGroupHandler } from './14-sync-group.ts';
import { describeGroupsHandler } from './15-describe-groups.ts';
import { listGroupsHandler } from './16-list-groups.ts';
import { saslHandshakeHandler } from './17-sasl-handshake.ts';
import { apiVersionsHandler } from './18-api-versions.ts';
import { createTopicsHandler } from './19-create-topics.ts';
import { deleteTopicsHandler } from './20-delete-topics.ts';
import { deleteRecordsHandler } from './21-delete-records.ts';
import { initProducerIdHandler } from './22-init-producer-id.ts';
import { offsetForLeaderEpochHandler } from './23-offset-for-leader-epoch.ts';
import { describeAclsHandler } from './29-describe-acls.ts';
import { createAclsHandler } from './30-create-acls.ts';
import { deleteAclsHandler } from './31-delete-acls.ts';
import { describeConfigsHandler } from './32-describe-configs.ts';
import { alterConfigsHandler } from './33-alter-configs.ts';
import { alterReplicaLogDirsHandler } from './34-alter-replica-log-dirs.ts';
import { describeLogDirsHandler } from './35-describe-log-dirs.ts';
import { saslAuthenticateHandler } from './36-sasl-authenticate.ts';
import { createPartitionsHandler } from './37-create-partitions.ts';
import { deleteGroupsHandler } from './42-delete-groups.ts';
import { electLeadersHandler } from './43-elect-leaders.ts';
import { incrementalAlterConfigsHandler } from './44-incremental-alter-configs.ts';
import { alterPartitionReassignmentsHandler } from './45-alter-partition-reassignments.ts';
import { listPartitionReassignmentsHandler } from './46-list-partition-reassignments.ts';
import { offsetDeleteHandler } from './47-offset-delete.ts';
import { describeClientQuotasHandler } from './48-describe-client-quotas.ts';
import { alterClientQuotasHandler } from './49-alter-client-quotas.ts';
import { describeUserScramCredentialsHandler } from './50-describe-user-scram-credentials.ts';
import { alterUserScramCredentialsHandler } from './51-alter-user-scram-credentials.ts';
import { alterPartitionHandler } from './56-alter-partition.ts';
import { updateFeaturesHandler } from './57-update-features.ts';
import { describeClusterHandler } from './60-describe-cluster.ts';
import { describeProducersHandler } from './61-describe-producers.ts';
import { allocateProducerIdsHandler } from './67-allocate-producer-ids.ts';
import { consumerGroupHeartbeatHandler } from './68-consumer-group-heartbeat.ts';
import { consumerGroupDescribeHandler } from './69-consumer-group-describe.ts';
import { listConfigResourcesHandler } from './74-list-config-resources.ts';
import { describeTopicPartitionsHandler } from './75-describe-topic-partitions.ts';

/** Everything that a handler may need; each takes its own. */
export interface HandlerParts
  extends Pick<Replication, 'leaderQuota' | 'consumerReplicas'>,
    Pick<Quotas, 'throttle' | 'mutationQuotas'> {
  readonly brokerId: number;
  readonly brokerEpoch: () => number;
  /** Whether a request may have come from another broker of the cluster. */
  readonly isFromBroker: (context: RequestContext) => boolean;
  readonly clock: Clock;
  readonly config: BrokerConfig;
  readonly configChanges: ConfigChanges;
  readonly clientQuotas: ClientQuotas;
  readonly topicChanges: TopicChanges;
  readonly metadataCache: MetadataCache;
  readonly replicaManager: ReplicaManager;
  readonly groups: Groups;
  readonly coordination: Coordination;
  readonly fetchSessions: FetchSessions;
  readonly logManager: LogManager;
  readonly producerIds: ProducerIds;
  /** This broker's own, which may be the active one or not. */
  readonly controller: () => Controller;
  readonly loggers: PartLoggers;
  readonly logger: Logger;
  readonly fileSystem: FileSystem;
  /** undefined: everybody may do everything. */
  readonly authorizer: Authorizer | undefined;
}

/** Handlers of clients' requests and of those that brokers send each other. ApiVersions offers the latter to brokers only. */
export interface Handlers {
  readonly forClients: readonly Handler[];
  readonly forBrokers: readonly Handler[];
}

export function createHandlers(parts: HandlerParts): Handlers {
  const { config } = parts;
  const overridesOf = (topic: string): ReadonlyMap<string, string> =>
    parts.configChanges.overrides({ type: configResourceTypes.TOPIC, name: topic });
  const scramCredentials = new ScramCredentials(parts.coordination);
  const forClients: Handler[] = [
    produceHandler({ ...parts, verifiesTransactions: () => config.get('transaction.partition.verification.enable') }),
    fetchHandler({
      ...parts,
      maxBytes: () => config.get('fetch.max.bytes'),
      convertsDown: (topic) => topicValue(config, overridesOf(topic), 'message.downconversion.enable'),
    }),
    listOffsetsHandler(parts),
    metadataHandler({ ...parts, autoCreatesTopics: () => config.get('auto.create.topics.enable') }),
    ...groupHandlers(parts),
    saslHandshakeHandler(),
    apiVersionsHandler({ ...parts, servedApis: (context) => (parts.isFromBroker(context) ? allApis : clientApis) }),
    createTopicsHandler(parts),
    deleteTopicsHandler(parts),
    deleteRecordsHandler(parts),
    initProducerIdHandler(parts),
    offsetForLeaderEpochHandler(parts),
    describeAclsHandler(parts),
    createAclsHandler(parts),
    deleteAclsHandler(parts),
    describeConfigsHandler(parts),
    alterConfigsHandler(parts),
    alterReplicaLogDirsHandler({ ...parts, isCordoned: (path) => isCordoned(config, path) }),
    describeLogDirsHandler(parts),
    saslAuthenticateHandler(),
    createPartitionsHandler(parts),
    electLeadersHandler(parts),
    incrementalAlterConfigsHandler(parts),
    alterPartitionReassignmentsHandler(parts),
    listPartitionReassignmentsHandler(parts),
    describeClientQuotasHandler(parts),
    alterClientQuotasHandler(parts),
    describeUserScramCredentialsHandler({ scramCredentials }),
    alterUserScramCredentialsHandler({ ...parts, scramCredentials }),
    updateFeaturesHandler(parts),
    describeClusterHandler(parts),
    describeProducersHandler(parts),
    listConfigResourcesHandler(parts),
    describeTopicPartitionsHandler(parts),
  ];
  const forBrokers: Handler[] = [
    leaderAndIsrHandler(parts),
    stopReplicaHandler(parts),
    updateMetadataHandler(parts),
    controlledShutdownHandler(parts),
    alterPartitionHandler(parts),
    allocateProducerIdsHandler(parts),
  ];
  const clientApis = apisOf(forClients);
  const allApis = apisOf([...forClients, ...forBrokers]);
  return { forClients, forBrokers };
}

function apisOf(handlers: readonly Handler[]): Api[] {
  return handlers.map(({ api }) => api).sort((a, b) => a.key - b.key);
}

function groupHandlers({ authorizer, config, coordination, groups, metadataCache }: HandlerParts): Handler[] {
  const { coordinator } = groups;
  const legacyOffsets = new LegacyOffsets(coordination, () => config.get('offset.metadata.max.bytes'));
  const offsets = { groups: coordinator, metadataCache, legacyOffsets };
  return [
    offsetCommitHandler(offsets),
    offsetFetchHandler(offsets),
    findCoordinatorHandler({ metadataCache, topics: new Map([[0, groups.topic]]) }),
    joinGroupHandler(coordinator),
    heartbeatHandler(coordinator),
    leaveGroupHandler(coordinator),
    syncGroupHandler(coordinator),
    describeGroupsHandler(coordinator),
    listGroupsHandler(coordinator),
    deleteGroupsHandler(coordinator),
    offsetDeleteHandler(offsets),
    consumerGroupHeartbeatHandler(coordinator, authorizer),
    consumerGroupDescribeHandler(coordinator),
  ];
}
