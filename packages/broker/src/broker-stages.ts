// The stages of a broker's start, in their order; but its disk, before them all, and its requests, before the last, have files of their own.
// Each takes what the stages before it have built, puts its own parts together by hand, and leaves on the assembly what stops them.

import { BrokerPool } from '@odradek/client/connection';
import type { Coordination, CoordinationStore } from '@odradek/coordination';
import { zeroUuid } from '@odradek/protocol';
import type { Logger, World } from '@odradek/runtime';
import type { FoundPartition } from '@odradek/storage';
import { ConfigChanges, type ConfigRules, configResourceTypes } from './admin/config-changes.ts';
import { configRules } from './admin/config-rules.ts';
import { followDynamicConfig } from './admin/dynamic-config.ts';
import { TopicChanges } from './admin/topic-changes.ts';
import { type BrokerConfig, listenerSettings } from './broker-config.ts';
import { type BrokerDisk, loadLogs } from './broker-disk.ts';
import {
  type BrokerToRegister,
  createPersistentPaths,
  ensureAddressesAreFree,
  generateBrokerId,
  getOrCreateClusterId,
  knownBrokerId,
} from './broker-registration.ts';
import { followCleanerSettings } from './cleaner-settings.ts';
import { ClusterMembership } from './cluster-membership.ts';
import { topicDefaults } from './config/topic-defaults.ts';
import { handOver } from './controlled-shutdown.ts';
import { ClusterChannel } from './controller/cluster-channel.ts';
import { Controller } from './controller/controller.ts';
import { ControllerClient } from './controller/controller-client.ts';
import { LocalChannel } from './controller/local-channel.ts';
import { ProducerIds, requestProducerIds } from './controller/producer-ids.ts';
import { directoryOfJournal, openCoordinationStore, ownerOf, reachingZooKeeper } from './coordination-store.ts';
import { adoptLeaderships, adoptTopics, isUntouched, putStraysAside } from './found-logs.ts';
import { type Groups, startGroups } from './groups/start-groups.ts';
import { followMoveSettings, isBrokerCordoned } from './log-dir-settings.ts';
import type { PartLoggers } from './logging/part-loggers.ts';
import { type BrokerEndpoint, MetadataCache } from './metadata/metadata-cache.ts';
import { randomUuid } from './metadata/random-uuid.ts';
import { ClientQuotas } from './quotas/client-quotas.ts';
import { alterPartition } from './replication/alter-partition-manager.ts';
import { type Replication, startReplication } from './replication/start-replication.ts';
import type { Authorizer } from './security/authorizer.ts';
import { startAuthorizer } from './security/start-authorizer.ts';
import { StrayReplicas } from './stray-replicas.ts';
import { TopicLogConfigs } from './topic-log-configs.ts';

/** Undoes one step of the start. */
export type Stopper = () => unknown;

/** What every stage has at hand. */
export interface Assembly {
  readonly config: BrokerConfig;
  readonly world: World;
  /** One that somebody else has opened and closes. */
  readonly givenStore: CoordinationStore | undefined;
  /** Aborted when the broker shall not be started any more. */
  readonly signal: AbortSignal | undefined;
  readonly loggers: PartLoggers;
  readonly logger: Logger;
  /** Resolved when the broker cannot go on. */
  readonly failed: PromiseWithResolvers<Error>;
  /** Called in reverse order. */
  readonly stoppers: Stopper[];
}

// ---- The cluster ----

export interface Cluster {
  readonly membership: ClusterMembership;
  /** The session of the moment. */
  readonly coordination: Coordination;
  /** Where the coordination tree lies, if this broker keeps it itself. */
  readonly coordinationDirectory: string | undefined;
  /** There may be other brokers. */
  readonly isShared: boolean;
  readonly clusterId: string;
  readonly brokerId: number;
  /** The logs that are taken over; undefined: the tree is shared, or has had a controller, and knows which logs there should be. */
  readonly adopted: readonly FoundPartition[] | undefined;
}

/** Opens the coordination tree, and finds out which broker of which cluster this is. The log directories must agree. */
export async function joinCluster(assembly: Assembly, { logManager }: BrokerDisk): Promise<Cluster> {
  const { config, world, givenStore, signal, stoppers } = assembly;
  const { clock, timer, random } = world;
  const logger = world.logger.child('coordination');
  const isShared = givenStore !== undefined || config.get('zookeeper.connect') !== null;
  const owner = ownerOf(logManager);
  const configuredId = knownBrokerId(config.brokerId, owner?.brokerId);
  const coordinationDirectory = isShared ? undefined : directoryOfJournal(logManager, world.fileSystem).path;
  const sessionTimeoutMs = config.get('zookeeper.session.timeout.ms');
  const membership = await reachingZooKeeper(config, async () => {
    const store = givenStore ?? (await openCoordinationStore(assembly, coordinationDirectory));
    return ClusterMembership.open({ store, sessionTimeoutMs, clock, timer, logger });
  });
  stoppers.push(() => membership.close());
  if (signal?.aborted === true) membership.leave();
  else signal?.addEventListener('abort', () => membership.leave(), { once: true });
  const { coordination } = membership;
  await createPersistentPaths(coordination);
  const expected = owner?.clusterId === undefined ? {} : { expected: owner.clusterId };
  const isElsewhere = config.get('zookeeper.connect') !== null;
  const clusterId = await getOrCreateClusterId(coordination, { random, isElsewhere, ...expected });
  const brokerId = configuredId ?? (await generateBrokerId(coordination, config.get('reserved.broker.max.id')));
  logManager.claim(brokerId, clusterId);
  const adopted = !isShared && (await isUntouched(coordination)) ? logManager.findPartitions() : undefined;
  if (adopted !== undefined) {
    const { internalTopic } = topicDefaults(config, () => 1);
    const internalConfigs = (topic: string): ReadonlyMap<string, string> | undefined => internalTopic(topic)?.configs;
    await adoptTopics(adopted, { coordination, brokerId, random, logger: assembly.logger, internalConfigs });
  }
  return { membership, coordination, coordinationDirectory, isShared, clusterId, brokerId, adopted };
}

// ---- Configs, logs and what is known of the cluster ----

export interface State extends Omit<Replication, 'close'> {
  readonly metadataCache: MetadataCache;
  readonly rules: ConfigRules;
  readonly configChanges: ConfigChanges;
  readonly clientQuotas: ClientQuotas;
  readonly logConfigs: TopicLogConfigs;
  /** undefined: everybody may do everything. */
  readonly authorizer: Authorizer | undefined;
  /** From this broker to itself; it serves once the handlers are there. */
  readonly localChannel: LocalChannel;
}

/** Reads the configs, and then the logs, which may take long after an unclean stop. */
export async function loadState(
  assembly: Assembly,
  disk: BrokerDisk,
  { membership, coordination, clusterId, brokerId, adopted }: Cluster,
): Promise<State> {
  const { config, world, loggers, stoppers } = assembly;
  const { logManager } = disk;
  const metadataCache = new MetadataCache(clusterId);
  const rules = configRules(config);
  const logger = loggers.root.child('admin');
  const lookup = async (host: string): Promise<string | undefined> => world.network.lookup?.(host);
  const clientQuotas = new ClientQuotas({ coordination, logger: loggers.root.child('quotas'), lookup });
  const otherEntities = clientQuotas;
  const configChanges = await ConfigChanges.start({ coordination, metadataCache, rules, brokerId, logger, otherEntities });
  stoppers.push(() => configChanges.close());
  membership.follow(configChanges);
  stoppers.push(followCleanerSettings(config, logManager));
  stoppers.push(followMoveSettings(config, logManager));
  stoppers.push(followDynamicConfig(config, brokerId, configChanges, logger));
  const authorizer = await startAuthorizer({ config, coordination, logger: loggers.root.child('authorizer') });
  stoppers.push(() => authorizer?.acls.close());
  if (authorizer !== undefined) membership.follow(authorizer.acls);
  const logConfigs = new TopicLogConfigs(config, (topic) =>
    configChanges.overrides({ type: configResourceTypes.TOPIC, name: topic }),
  );
  disk.later.topicLogConfig = (topic) => logConfigs.of(topic);
  await loadLogs(disk, loggers.root);
  if (adopted !== undefined) await adoptLeaderships(logManager.logs(), adopted, { coordination, brokerId });
  else await putStraysAside(logManager, coordination, brokerId, assembly.logger);
  const localChannel = new LocalChannel(brokerId);
  const controllerClient = wayToController(assembly, localChannel, metadataCache);
  const replication = startReplication({
    world,
    logger: loggers.root.child('replication'),
    config,
    brokerId,
    brokerEpoch: () => membership.epoch,
    logManager,
    metadataCache,
    loadTopicConfigs: (topics) => configChanges.loadTopics(topics),
    topicLogConfig: (topic) => logConfigs.of(topic),
    topicOverrides: (name) => configChanges.overrides({ type: configResourceTypes.TOPIC, name }),
    askController: (request, options) => controllerClient.ask(alterPartition, request, options),
  });
  stoppers.push(() => replication.close());
  const { replicaManager } = replication;
  configChanges.onChange(({ type, name }) => {
    if (type === configResourceTypes.TOPIC) replicaManager.updateLogConfigs(name);
  });
  logConfigs.onDefaultsChange(() => replicaManager.updateAllLogConfigs());
  const { timer } = world;
  const strays = new StrayReplicas({ brokerId, coordination, metadataCache, replicaManager, timer, logger: assembly.logger });
  stoppers.push(() => strays.close());
  return { metadataCache, rules, configChanges, clientQuotas, logConfigs, authorizer, localChannel, ...replication };
}

// ---- What the broker does ----

export interface Services {
  readonly localChannel: LocalChannel;
  readonly controller: Controller;
  /** To the active controller, whoever that is. */
  readonly controllerClient: ControllerClient;
  readonly topicChanges: TopicChanges;
  readonly producerIds: ProducerIds;
  readonly groups: Groups;
}

/** The controller, which does not stand for election yet; administration and coordinators. */
export function buildServices(
  assembly: Assembly,
  { membership, coordination, brokerId }: Cluster,
  { metadataCache, rules, configChanges, logConfigs, localChannel, replicaManager }: State,
): Services {
  const { config, world, loggers, stoppers } = assembly;
  const { clock, timer, random, metrics } = world;
  const { interBrokerListenerName } = config;
  const timeoutMs = (): number => config.get('controller.socket.timeout.ms');
  const controller = new Controller({
    brokerId,
    interBrokerListenerName,
    coordination,
    channel: new ClusterChannel({ local: localChannel, pool: peerPool(assembly, brokerId), interBrokerListenerName, timeoutMs }),
    clock,
    timer,
    logger: loggers.root.child('controller'),
    isUncleanElectionEnabled: (topic) => logConfigs.of(topic).uncleanLeaderElection,
    isTopicDeletionEnabled: () => config.get('delete.topic.enable'),
    loadTopicConfigs: (topics) => configChanges.loadTopics(topics),
    topicIdFor: (topic, partitions) => knownTopicId(topic, partitions, { metadataCache, replicaManager }) ?? randomUuid(random),
    leaderBalance: () => ({
      isEnabled: config.get('auto.leader.rebalance.enable'),
      checkIntervalMs: config.get('leader.imbalance.check.interval.seconds') * 1000,
      maxImbalancePercent: config.get('leader.imbalance.per.broker.percentage'),
    }),
  });
  const controllerClient = wayToController(assembly, localChannel, metadataCache);
  const topicChanges = new TopicChanges({
    coordination,
    metadataCache,
    configChanges,
    rules,
    defaults: topicDefaults(config, () => [...metadataCache.current.brokers()].length),
    isCordoned: (id) =>
      isBrokerCordoned(id === brokerId ? config : configChanges.overrides({ type: configResourceTypes.BROKER, name: String(id) })),
    isActiveController: () => controller.isActive,
    timer,
    random,
    logger: loggers.root.child('admin'),
  });
  const producerIds = new ProducerIds(() =>
    requestProducerIds(controllerClient, { brokerId, brokerEpoch: membership.epoch }, config.get('request.timeout.ms')),
  );
  const groups = startGroups({
    clock,
    timer,
    random,
    logger: loggers.root.child('groups'),
    config,
    replicaManager,
    metadataCache,
    topicChanges,
    configChanges,
    metrics,
  });
  stoppers.push(() => groups.close());
  return { localChannel, controller, controllerClient, topicChanges, producerIds, groups };
}

/** What other controllers have told of the topic, or else the logs of it here say; undefined: it has had no id, as far as is known. */
function knownTopicId(
  topic: string,
  partitions: Iterable<number>,
  { metadataCache, replicaManager }: Pick<State, 'metadataCache' | 'replicaManager'>,
): string | undefined {
  const told = metadataCache.current.topic(topic)?.id ?? zeroUuid;
  if (told !== zeroUuid) return told;
  for (const partition of partitions) {
    const topicId = replicaManager.foundLog(topic, partition)?.topicId ?? zeroUuid;
    if (topicId !== zeroUuid) return topicId;
  }
  return undefined;
}

/** Over connections of its own, so that nobody else's requests are in the way. */
function wayToController(assembly: Assembly, local: LocalChannel, metadataCache: MetadataCache): ControllerClient {
  const { config, world, stoppers } = assembly;
  const { clock, timer } = world;
  const client = new ControllerClient({
    local,
    metadataCache,
    pool: peerPool(assembly, local.brokerId),
    interBrokerListenerName: config.interBrokerListenerName,
    timeoutMs: () => config.get('controller.socket.timeout.ms'),
    clock,
    timer,
  });
  stoppers.push(() => client.close());
  return client;
}

/** Connections to the other brokers for one purpose, over the listener that brokers use among themselves. */
function peerPool({ config, world, loggers, stoppers }: Assembly, brokerId: number): BrokerPool {
  const { network, timer, clock, random } = world;
  const pool = new BrokerPool(
    { network, timer, clock, random, logger: loggers.root.child('network') },
    { clientId: String(brokerId), connectTimeoutMs: config.get('controller.socket.timeout.ms') },
  );
  stoppers.push(() => pool.close());
  return pool;
}

// ---- The broker's place in the cluster ----

/** Registers the broker under the endpoints that others are to be told, and stands for election as the controller. */
export async function takePlace(
  { config, world, logger, stoppers }: Assembly,
  { membership, brokerId, isShared }: Cluster,
  { configChanges }: State,
  { controller, controllerClient }: Services,
  listeners: { advertised(): readonly BrokerEndpoint[]; adapt(): Promise<void> },
): Promise<void> {
  membership.follow(controller);
  const registration = () => ({ id: brokerId, rack: config.get('broker.rack'), endpoints: listeners.advertised() });
  await ensureAddressesAreFree(membership.coordination, registration());
  await membership.register(registration());
  stoppers.push(followListeners(config, membership, { registration, adapt: () => listeners.adapt(), logger }));
  stoppers.push(() => controller.close());
  stoppers.push(followUncleanElection(config, configChanges, controller));
  await controller.start();
  stoppers.push(() => membership.leave());
  // The first thing when the broker stops, while everything else still goes on. A broker on its own has nobody to hand over to.
  if (!isShared || !config.get('controlled.shutdown.enable')) return;
  stoppers.push(() =>
    handOver({
      controller: controllerClient,
      brokerId,
      brokerEpoch: membership.epoch,
      attempts: config.get('controlled.shutdown.max.retries'),
      backoffMs: config.get('controlled.shutdown.retry.backoff.ms'),
      timer: world.timer,
      logger,
    }),
  );
}

/** Listens elsewhere when the listeners change, and registers the broker under other addresses. Answers how to stop that. */
function followListeners(
  config: BrokerConfig,
  membership: ClusterMembership,
  parts: { readonly registration: () => BrokerToRegister; readonly adapt: () => Promise<void>; readonly logger: Logger },
): () => void {
  const { registration, adapt, logger } = parts;
  let last: Promise<void> = Promise.resolve();
  const move = async (): Promise<void> => {
    try {
      await adapt();
      await ensureAddressesAreFree(membership.coordination, registration());
      await membership.update(registration());
      const endpoints = registration().endpoints.map(({ listener, host, port }) => `${listener}://${host}:${port}`);
      logger.info('This broker is to be reached elsewhere', { endpoints: endpoints.join(',') });
    } catch (error) {
      logger.error('The addresses of this broker stay as they are', { error });
    }
  };
  return config.onChange(listenerSettings, () => {
    last = last.then(move);
  });
}

/** Where unclean elections become allowed, partitions without a leader may have one now. Answers how to stop that. */
function followUncleanElection(config: BrokerConfig, configChanges: ConfigChanges, controller: Controller): () => void {
  const name = 'unclean.leader.election.enable';
  const stopForAll = config.onChange([name], () => {
    if (config.get(name)) controller.electUncleanly();
  });
  const stopForTopics = configChanges.onChange((resource, overrides) => {
    if (resource.type === configResourceTypes.TOPIC && overrides.get(name) === 'true') controller.electUncleanly(resource.name);
  });
  return () => {
    stopForAll();
    stopForTopics();
  };
}
