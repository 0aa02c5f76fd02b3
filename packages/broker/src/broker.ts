// The composition root: builds the parts of a broker in order and stops them in reverse. No logic.

import { hostname } from 'node:os';
import { type Coordination, EmbeddedStore, journalFileName } from '@odradek/coordination';
import {
  createLogger,
  createSystemWorld,
  type FileSystem,
  type Logger,
  type LogLevel,
  NodeFileSystem,
  type Properties,
  type World,
} from '@odradek/runtime';
import { type LogDirectory, LogManager } from '@odradek/storage';
import { ConfigChanges, configResourceTypes } from './admin/config-changes.ts';
import { configRules } from './admin/config-rules.ts';
import { followDynamicConfig } from './admin/dynamic-config.ts';
import { TopicChanges } from './admin/topic-changes.ts';
import { BrokerConfig } from './broker-config.ts';
import {
  announceLogDirectoryFailure,
  createPersistentPaths,
  generateBrokerId,
  getOrCreateClusterId,
  registerBroker,
} from './broker-registration.ts';
import { cleanerSettings, followCleanerSettings } from './cleaner-settings.ts';
import type { ListenerAddress } from './config/listeners.ts';
import { topicDefaults } from './config/topic-defaults.ts';
import { Controller } from './controller/controller.ts';
import { LocalChannel } from './controller/local-channel.ts';
import { ProducerIds } from './controller/producer-ids.ts';
import { startGroups } from './groups/start-groups.ts';
import { createHandlers } from './handlers/handlers.ts';
import { PartLoggers } from './logging/part-loggers.ts';
import { MetadataCache } from './metadata/metadata-cache.ts';
import { SocketServer } from './network/socket-server.ts';
import { socketServerLimits } from './network/socket-server-limits.ts';
import { FetchSessions } from './replication/fetch-sessions.ts';
import { ReplicaManager } from './replication/replica-manager.ts';
import { RequestRouter } from './requests/request-router.ts';
import { TopicLogConfigs } from './topic-log-configs.ts';

/** How long a fetch session is safe from eviction: the value that Kafka has. */
const fetchSessionEvictionMs = 120_000;

export interface BrokerOptions {
  /** As in server.properties. */
  readonly properties: Properties | Readonly<Record<string, string | number | boolean>>;
  /** The real one where left out; its timer is then closed with the broker. */
  readonly world?: World;
  /** Take precedence over odradek.log.format and odradek.log.level. */
  readonly log?: { readonly format?: string; readonly level?: string };
  /** Shown in the line that says that the broker is ready. */
  readonly version?: string;
  /** When the start began, on the world's monotonic clock; the moment of the call where left out. */
  readonly startedMs?: number;
}

export interface Broker {
  readonly id: number;
  readonly clusterId: string;
  /** `host:port` of the first listener, for clients to bootstrap from. */
  readonly bootstrap: string;
  /** Where a listener is bound; the first one where no name is given. */
  address(listener?: string): { readonly host: string; readonly port: number };
  /** Settles with the reason when the broker cannot go on and wants to be closed. */
  readonly failed: Promise<Error>;
  /** Stops cleanly: the next start will not have to recover. */
  close(): Promise<void>;
}

/** Undoes one step of the start. */
type Stopper = () => unknown;

/** Rejects with one clear error when something is in the way: a bad setting, a port or a directory in use. */
export async function startBroker(options: BrokerOptions): Promise<Broker> {
  const config = new BrokerConfig(toProperties(options.properties));
  const { world, loggers } = worldOf(options, config);
  const startedMs = options.startedMs ?? world.clock.monotonicMs();
  const stoppers: Stopper[] = options.world === undefined ? [() => world.timer.close()] : [];
  try {
    return await build(options, config, world, loggers, startedMs, stoppers);
  } catch (error) {
    await stopAll(stoppers, loggers.root);
    throw error;
  }
}

async function build(
  options: BrokerOptions,
  config: BrokerConfig,
  world: World,
  loggers: PartLoggers,
  startedMs: number,
  stoppers: Stopper[],
): Promise<Broker> {
  const { clock, timer, random, network, fileSystem, metrics } = world;
  const logger = loggers.root.child('broker');
  for (const warning of config.warnings) logger.warn(warning);
  const failed = Promise.withResolvers<Error>();

  // The directories first: whoever holds them is the only one who reads and writes what lies there.
  let onDirectoryOffline: ((directory: LogDirectory) => void) | undefined;
  const logManager = LogManager.open({
    world,
    directories: config.logDirs,
    topicLogConfig: (topic) => logConfigs.of(topic),
    tailCacheBytes: config.get('odradek.tail.cache.bytes'),
    maxOpenFiles: config.get('odradek.max.open.files'),
    intervals: maintenanceIntervals(config),
    // A simulated disk is in the memory of this thread only.
    cleaner: { settings: cleanerSettings(config), runIn: fileSystem instanceof NodeFileSystem ? 'thread' : 'turns' },
    onDirectoryOffline: (directory) => onDirectoryOffline?.(directory),
  });
  stoppers.push(() => logManager.close());

  const { coordination, coordinationDirectory, clusterId, brokerId } = await joinCluster(config, world, logManager, stoppers);
  const metadataCache = new MetadataCache(clusterId);
  const rules = configRules(config);
  const configChanges = await ConfigChanges.start({
    coordination,
    metadataCache,
    rules,
    brokerId,
    logger: loggers.root.child('admin'),
  });
  stoppers.push(() => configChanges.close());
  stoppers.push(followCleanerSettings(config, logManager));
  stoppers.push(followDynamicConfig(config, brokerId, configChanges, loggers.root.child('admin')));
  const logConfigs = new TopicLogConfigs(config, (topic) =>
    configChanges.overrides({ type: configResourceTypes.TOPIC, name: topic }),
  );
  await logManager.load();
  reportRecovery(logManager, loggers.root);

  const replicaManager = new ReplicaManager({
    brokerId,
    clock,
    timer,
    logger: loggers.root.child('replication'),
    logManager,
    metadataCache,
    loadTopicConfigs: (topics) => configChanges.loadTopics(topics),
    topicLogConfig: (topic) => logConfigs.of(topic),
    maxReplicaLagMs: () => config.get('replica.lag.time.max.ms'),
  });
  configChanges.onChange(({ type, name }) => {
    if (type === configResourceTypes.TOPIC) replicaManager.updateLogConfigs(name);
  });
  logConfigs.onDefaultsChange(() => replicaManager.updateAllLogConfigs());
  onDirectoryOffline = (directory) => {
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

  let brokerEpoch = -1;
  let controller: Controller | undefined;
  const topicChanges = new TopicChanges({
    coordination,
    metadataCache,
    configChanges,
    rules,
    defaults: topicDefaults(config, () => [...metadataCache.current.brokers()].length),
    isActiveController: () => controller?.isActive ?? false,
    timer,
    random,
    logger: loggers.root.child('admin'),
  });
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
  const handlers = createHandlers({
    brokerId,
    brokerEpoch: () => brokerEpoch,
    config,
    configChanges,
    topicChanges,
    metadataCache,
    replicaManager,
    groups,
    coordination,
    fetchSessions: new FetchSessions({
      slots: config.get('max.incremental.fetch.session.cache.slots'),
      evictionMs: fetchSessionEvictionMs,
      clock,
      random,
    }),
    logManager,
    producerIds: new ProducerIds(() => activeController().allocateProducerIds(brokerId, brokerEpoch)),
    controller: () => activeController(),
    loggers,
    logger: loggers.root.child('requests'),
    fileSystem,
  });
  const router = new RequestRouter({
    handlers: [...handlers.forClients, ...handlers.forController],
    clock,
    logger: loggers.root.child('requests'),
    metrics,
  });
  const sockets = new SocketServer({
    network,
    clock,
    timer,
    logger: loggers.root.child('network'),
    requests: router,
    limits: () => socketServerLimits(config),
    interBrokerListenerName: config.interBrokerListenerName,
  });
  stoppers.push(async () => {
    // Who waits for something is answered with what there is, and what was begun in this turn is still written.
    replicaManager.close();
    await new Promise<void>((resolve) => timer.afterThisTurn(resolve));
    sockets.closeConnections();
  });
  const bound: ListenerAddress[] = [];
  stoppers.push(() => sockets.stopListening());
  for (const listener of config.listeners) bound.push(await sockets.listen(listener));

  const endpoints = advertised(config, bound).map(({ name, securityProtocol, host, port }) => ({
    listener: name,
    securityProtocol,
    host,
    port,
  }));
  brokerEpoch = await registerBroker(coordination, { id: brokerId, rack: config.get('broker.rack'), endpoints }, { clock, logger });
  controller = new Controller({
    brokerId,
    coordination,
    channel: new LocalChannel(brokerId, handlers.forController),
    clock,
    timer,
    logger: loggers.root.child('controller'),
    isUncleanElectionEnabled: (topic) => logConfigs.of(topic).uncleanLeaderElection,
    isTopicDeletionEnabled: () => config.get('delete.topic.enable'),
  });
  const activeController = (): Controller => controller as Controller;
  stoppers.push(() => activeController().close());
  await controller.start();
  sockets.serve();

  const bootstrapAt = endpoints[0] as (typeof endpoints)[number];
  const bootstrap = `${bootstrapAt.host.includes(':') ? `[${bootstrapAt.host}]` : bootstrapAt.host}:${bootstrapAt.port}`;
  loggers.root.info(`Odradek ${options.version ?? ''} is ready at ${bootstrap}`.replace('  ', ' '), {
    broker: brokerId,
    cluster: clusterId,
    directories: config.logDirs.join(','),
    logs: logManager.logCount,
    tookMs: Math.round(clock.monotonicMs() - startedMs),
  });
  let closing: Promise<void> | undefined;
  return {
    id: brokerId,
    clusterId,
    bootstrap,
    address(listener) {
      const found = listener === undefined ? bound[0] : bound.find(({ name }) => name === listener);
      if (found === undefined) throw new Error(`There is no listener ${listener}`);
      return { host: found.host, port: found.port };
    },
    failed: failed.promise,
    close() {
      closing ??= stop();
      return closing;
    },
  };

  async function stop(): Promise<void> {
    loggers.root.info('Stopping');
    const stopStartMs = clock.monotonicMs();
    await stopAll(stoppers, loggers.root);
    loggers.root.info('Stopped', { tookMs: Math.round(clock.monotonicMs() - stopStartMs) });
  }
}

interface Membership {
  readonly coordination: Coordination;
  readonly coordinationDirectory: string;
  readonly clusterId: string;
  readonly brokerId: number;
}

/** Opens the coordination tree, and finds out which broker of which cluster this is. The log directories must agree. */
async function joinCluster(config: BrokerConfig, world: World, logManager: LogManager, stoppers: Stopper[]): Promise<Membership> {
  const { clock, timer, random, fileSystem } = world;
  const coordinationDirectory = directoryOfJournal(logManager, fileSystem).path;
  const logger = world.logger.child('coordination');
  const store = await EmbeddedStore.open({ fileSystem, timer, clock, logger, directory: coordinationDirectory });
  stoppers.push(() => store.close());
  const coordination = await store.openSession();
  await createPersistentPaths(coordination);
  const owner = ownerOf(logManager);
  const clusterId = await getOrCreateClusterId(coordination, {
    random,
    ...(owner?.clusterId === undefined ? {} : { expected: owner.clusterId }),
  });
  let { brokerId } = config;
  if (brokerId < 0) brokerId = owner?.brokerId ?? (await generateBrokerId(coordination, config.get('reserved.broker.max.id')));
  logManager.claim(brokerId, clusterId);
  return { coordination, coordinationDirectory, clusterId, brokerId };
}

/** After an unclean stop a person wants to know what was looked through, and whether anything was cut off. */
function reportRecovery({ startReport }: LogManager, logger: Logger): void {
  const { isClean, scannedSegments, scannedBytes, truncatedBytes } = startReport;
  if (!isClean) logger.info('Recovered the logs after an unclean stop', { scannedSegments, scannedBytes, truncatedBytes });
}

async function stopAll(stoppers: Stopper[], logger: Logger): Promise<void> {
  for (const stopper of stoppers.splice(0).reverse()) {
    try {
      await stopper();
    } catch (error) {
      logger.error('A part of the broker could not be stopped in order', { error });
    }
  }
}

function toProperties(properties: BrokerOptions['properties']): Properties {
  if (properties instanceof Map) return properties;
  return new Map(Object.entries(properties).map(([name, value]) => [name, String(value)]));
}

/** The world with the logger that the configuration asks for. */
function worldOf(options: BrokerOptions, config: BrokerConfig): { readonly world: World; readonly loggers: PartLoggers } {
  const level = (options.log?.level ?? config.get('odradek.log.level')) as LogLevel;
  if (options.world !== undefined) {
    const loggers = new PartLoggers(options.world.logger, level);
    return { world: { ...options.world, logger: loggers.root }, loggers };
  }
  const format = options.log?.format ?? config.get('odradek.log.format');
  const loggers = new PartLoggers(createLogger({ format: format === 'json' ? 'json' : 'text', level: 'trace' }), level);
  return { world: { ...createSystemWorld(), logger: loggers.root }, loggers };
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

/**
 * Where the coordination tree is kept: where it was kept before, else in the first directory. Throws when it may lie in a directory
 * that cannot be used now: to begin with an empty tree would be to forget every topic.
 */
function directoryOfJournal(logManager: LogManager, fileSystem: FileSystem): LogDirectory {
  const online = logManager.directories.filter(({ isOnline }) => isOnline);
  const holder = online.find(({ path }) => fileSystem.statSync(`${path}/${journalFileName}`) !== undefined);
  if (holder !== undefined) return holder;
  const [first] = online;
  if (first === undefined) throw new Error('No log directory can be used');
  const offline = logManager.directories.find(({ isOnline }) => !isOnline);
  if (offline !== undefined && ownerOf(logManager) !== undefined) {
    throw new Error(`The log directory ${offline.path} cannot be used, and the coordination journal may be there`);
  }
  return first;
}

/** Whom the first directory that says so belongs to. */
function ownerOf(logManager: LogManager): ReturnType<LogDirectory['readOwner']> {
  for (const directory of logManager.directories) {
    const owner = directory.isOnline ? directory.readOwner() : undefined;
    if (owner !== undefined) return owner;
  }
  return undefined;
}

/** What clients and brokers are told: this machine's name for every interface, and the port that was bound for port 0. */
function advertised(config: BrokerConfig, bound: readonly ListenerAddress[]): ListenerAddress[] {
  return config.advertisedListeners.map((address) => ({
    ...address,
    host: address.host === '' ? hostname() : address.host,
    port: address.port === 0 ? (bound.find(({ name }) => name === address.name)?.port ?? 0) : address.port,
  }));
}
