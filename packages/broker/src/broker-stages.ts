// The stages of a broker's start, in their order. Each takes what the stages before it have built, puts its own parts together by
// hand, and leaves on the assembly what stops them.

import { hostname } from 'node:os';
import { BrokerPool } from '@odradek/client/connection';
import type { Coordination, CoordinationStore } from '@odradek/coordination';
import { type Logger, NodeFileSystem, type World } from '@odradek/runtime';
import { type FoundPartition, type LogConfig, type LogDirectory, LogManager } from '@odradek/storage';
import { ConfigChanges, type ConfigRules, configResourceTypes } from './admin/config-changes.ts';
import { configRules } from './admin/config-rules.ts';
import { followDynamicConfig } from './admin/dynamic-config.ts';
import { TopicChanges } from './admin/topic-changes.ts';
import type { BrokerConfig } from './broker-config.ts';
import {
  announceLogDirectoryFailure,
  createPersistentPaths,
  generateBrokerId,
  getOrCreateClusterId,
  knownBrokerId,
} from './broker-registration.ts';
import { cleanerSettings, followCleanerSettings } from './cleaner-settings.ts';
import { ClusterMembership } from './cluster-membership.ts';
import type { ListenerAddress } from './config/listeners.ts';
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
import { createHandlers } from './handlers/handlers.ts';
import { absoluteLogDirs, followMoveSettings, isBrokerCordoned, isCordoned, moveSettings } from './log-dir-settings.ts';
import type { PartLoggers } from './logging/part-loggers.ts';
import { type BrokerEndpoint, MetadataCache } from './metadata/metadata-cache.ts';
import { SocketServer } from './network/socket-server.ts';
import { socketServerLimits } from './network/socket-server-limits.ts';
import { ClientQuotas } from './quotas/client-quotas.ts';
import { startQuotas } from './quotas/start-quotas.ts';
import { alterPartition } from './replication/alter-partition-manager.ts';
import { FetchSessions } from './replication/fetch-sessions.ts';
import { type Replication, startReplication } from './replication/start-replication.ts';
import { RequestRouter } from './requests/request-router.ts';
import type { Authorizer } from './security/authorizer.ts';
import { guarded } from './security/guards/guards.ts';
import { startAuthorizer } from './security/start-authorizer.ts';
import { StrayReplicas } from './stray-replicas.ts';
import { TopicLogConfigs } from './topic-log-configs.ts';

/** How long a fetch session is safe from eviction: the value that Kafka has. */
const fetchSessionEvictionMs = 120_000;

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

// ---- 1. The log directories ----

export interface Disk {
  readonly logManager: LogManager;
  /** What later stages add: logs are opened and directories watched only when these are there. */
  readonly later: {
    topicLogConfig: (topic: string) => LogConfig;
    onDirectoryOffline: (directory: LogDirectory) => void;
  };
}

/** Takes the log directories; no log is opened yet. */
export function openDirectories({ config, world, stoppers }: Assembly): Disk {
  const later: Disk['later'] = {
    topicLogConfig: (topic) => {
      throw new Error(`The configs of ${topic} are not known yet`);
    },
    onDirectoryOffline: () => undefined,
  };
  const logManager = LogManager.open({
    world,
    directories: absoluteLogDirs(config),
    isCordoned: (path) => isCordoned(config, path),
    moves: moveSettings(config),
    recoveryThreads: () => config.get('num.recovery.threads.per.data.dir'),
    topicLogConfig: (topic) => later.topicLogConfig(topic),
    tailCacheBytes: config.get('odradek.tail.cache.bytes'),
    maxOpenFiles: config.get('odradek.max.open.files'),
    intervals: maintenanceIntervals(config),
    // A simulated disk is in the memory of this thread only.
    cleaner: { settings: cleanerSettings(config), runIn: world.fileSystem instanceof NodeFileSystem ? 'thread' : 'turns' },
    onDirectoryOffline: (directory) => later.onDirectoryOffline(directory),
  });
  stoppers.push(() => logManager.close());
  return { logManager, later };
}

// ---- 2. The cluster ----

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
export async function joinCluster(assembly: Assembly, { logManager }: Disk): Promise<Cluster> {
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
  const clusterId = await getOrCreateClusterId(coordination, { random, ...expected });
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

// ---- 3. Configs, logs and what is known of the cluster ----

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
  disk: Disk,
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
  await logManager.load();
  reportRecovery(logManager, loggers.root);
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

/** How long a partition that a full disk has refused waits for being tried again. */
const fullDiskRetryMs = 5000;

/** A directory that fails takes its partitions along; without the last one, or the one with the journal, the broker stops. */
export function followDirectoryFailures(
  { world, loggers, logger, failed }: Assembly,
  { logManager, later }: Disk,
  { coordination, coordinationDirectory, brokerId }: Cluster,
  { replicaManager }: State,
): void {
  later.onDirectoryOffline = (directory) => {
    replicaManager.takeDirectoryOffline(directory);
    if (directory.path === coordinationDirectory || !logManager.directories.some(({ isOnline }) => isOnline)) {
      loggers.root.fatal('The broker stops: the disk that it cannot do without has failed', { directory: directory.path });
      failed.resolve(new Error(`The log directory ${directory.path} has failed`));
      return;
    }
    announceLogDirectoryFailure(coordination, brokerId).catch((error: unknown) => {
      logger.error('The controller could not be told of a failed log directory', { directory: directory.path, error });
    });
  };
  let isRetryDue = false;
  replicaManager.onDiskFull = () => {
    if (isRetryDue) return;
    isRetryDue = true;
    world.timer.schedule(fullDiskRetryMs, () => {
      isRetryDue = false;
      // The controller orders all partitions of this broker again. Its store may be on the same disk.
      announceLogDirectoryFailure(coordination, brokerId).catch(() => replicaManager.onDiskFull());
    });
  };
}

// ---- 4. What the broker does ----

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

// ---- 5. Requests ----

export interface RequestHandling {
  readonly sockets: SocketServer;
}

/** From frames to answers: handlers, router, and the server of the sockets. */
export function buildRequestHandling(
  { config, world, loggers, stoppers }: Assembly,
  { logManager }: Disk,
  { membership, coordination, brokerId, isShared }: Cluster,
  state: State,
  services: Services,
): RequestHandling {
  const { clock, timer, random, network, fileSystem, metrics } = world;
  const { replicaManager } = state;
  const logger = loggers.root.child('requests');
  const brokerApis = new Set<number>();
  const isBrokerApi = (apiKey: number): boolean => brokerApis.has(apiKey);
  const quotas = startQuotas({ clock, metrics, config, clientQuotas: state.clientQuotas, isBrokerApi });
  stoppers.push(() => quotas.close());
  const handlers = createHandlers({
    brokerId,
    brokerEpoch: () => membership.epoch,
    // Brokers come in through their listener. Where clients use it, too, an authorizer must tell them apart.
    isFromBroker: ({ isPrivileged, listenerName }) => isPrivileged || (isShared && listenerName === config.interBrokerListenerName),
    config,
    ...state,
    coordination,
    fetchSessions: new FetchSessions({
      slots: config.get('max.incremental.fetch.session.cache.slots'),
      evictionMs: fetchSessionEvictionMs,
      clock,
      random,
    }),
    logManager,
    ...services,
    ...quotas,
    controller: () => services.controller,
    loggers,
    logger,
    fileSystem,
  });
  for (const { api } of handlers.forBrokers) brokerApis.add(api.key);
  services.localChannel.serve(handlers.forBrokers);
  const { authorizer, metadataCache } = state;
  const autoCreatesTopics = (): boolean => config.get('auto.create.topics.enable');
  const all = [...handlers.forClients, ...handlers.forBrokers];
  const router = new RequestRouter({
    handlers: authorizer === undefined ? all : guarded(all, { authorizer, metadataCache, autoCreatesTopics }),
    clock,
    logger,
    metrics,
    throttle: quotas.throttle,
  });
  const sockets = new SocketServer({
    network,
    clock,
    timer,
    logger: loggers.root.child('network'),
    requests: router,
    limits: () => socketServerLimits(config),
    interBrokerListenerName: config.interBrokerListenerName,
    turnAwayMs: (address) => quotas.addressRates.arrive(address),
  });
  stoppers.push(async () => {
    // Who waits for something is answered with what there is, and what was begun in this turn is still written.
    replicaManager.close();
    await new Promise<void>((resolve) => timer.afterThisTurn(resolve));
    sockets.closeConnections();
  });
  return { sockets };
}

export interface OpenListeners {
  readonly bound: readonly ListenerAddress[];
  /** What clients and other brokers are told. */
  readonly advertised: readonly BrokerEndpoint[];
}

/** Opens the listeners. Whoever connects before the broker is ready waits. */
export async function openListeners({ config, stoppers }: Assembly, { sockets }: RequestHandling): Promise<OpenListeners> {
  const bound: ListenerAddress[] = [];
  stoppers.push(() => sockets.stopListening());
  for (const listener of config.listeners) bound.push(await sockets.listen(listener));
  return { bound, advertised: advertisedEndpoints(config, bound) };
}

// ---- 6. The broker's place in the cluster ----

/** Registers the broker under the endpoints, and stands for election as the controller. */
export async function takePlace(
  { config, world, logger, stoppers }: Assembly,
  { membership, brokerId, isShared }: Cluster,
  { configChanges }: State,
  { controller, controllerClient }: Services,
  endpoints: readonly BrokerEndpoint[],
): Promise<void> {
  membership.follow(controller);
  await membership.register({ id: brokerId, rack: config.get('broker.rack'), endpoints });
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

// ---- What the stages need ----

/** After an unclean stop a person wants to know what was looked through, and whether anything was cut off. */
function reportRecovery({ startReport }: LogManager, logger: Logger): void {
  const { isClean, scannedSegments, scannedBytes, truncatedBytes } = startReport;
  if (!isClean) logger.info('Recovered the logs after an unclean stop', { scannedSegments, scannedBytes, truncatedBytes });
}

function maintenanceIntervals(config: BrokerConfig): NonNullable<Parameters<typeof LogManager.open>[0]['intervals']> {
  return {
    highWatermarkCheckpointMs: config.get('replica.high.watermark.checkpoint.interval.ms'),
    recoveryPointCheckpointMs: config.get('log.flush.offset.checkpoint.interval.ms'),
    logStartOffsetCheckpointMs: config.get('log.flush.start.offset.checkpoint.interval.ms'),
    flushCheckMs: config.get('log.flush.scheduler.interval.ms'),
    retentionCheckMs: config.get('log.retention.check.interval.ms'),
    firstRetentionCheckMs: config.get('log.initial.task.delay.ms'),
    producerExpiryCheckMs: config.get('producer.id.expiration.check.interval.ms'),
  };
}

/** What clients and brokers are told: this machine's name for every interface, and the port that was bound for port 0. */
function advertisedEndpoints(config: BrokerConfig, bound: readonly ListenerAddress[]): BrokerEndpoint[] {
  return config.advertisedListeners.map(({ name, securityProtocol, host, port }) => ({
    listener: name,
    securityProtocol,
    host: host === '' ? hostname() : host,
    port: port === 0 ? (bound.find((listener) => listener.name === name)?.port ?? 0) : port,
  }));
}
