// Where a broker's coordination tree is: with a ZooKeeper ensemble, or in a journal in one of its own log directories.

import { type CoordinationStore, EmbeddedStore, isCoordinationError, journalFileName, ZooKeeperStore } from '@odradek/coordination';
import { type FileSystem, TlsConnector } from '@odradek/runtime';
import type { LogDirectory, LogManager } from '@odradek/storage';
import type { BrokerConfig } from './broker-config.ts';
import type { Assembly } from './broker-stages.ts';
import { zookeeperIdentity } from './config/zookeeper-identity.ts';
import { zookeeperTls } from './config/zookeeper-tls.ts';

/** The ensemble of zookeeper.connect, or the broker's own tree in the directory. */
export async function openCoordinationStore(assembly: Assembly, directory: string | undefined): Promise<CoordinationStore> {
  const { config, world, loggers, failed, stoppers } = assembly;
  const { network, clock, timer, random, fileSystem } = world;
  const logger = world.logger.child('coordination');
  if (directory !== undefined) {
    const onFailure = (error: unknown): void => {
      loggers.root.fatal('The broker stops: the journal of its coordination tree has failed', { directory, error });
      failed.resolve(new Error(`The coordination journal in ${directory} has failed`, { cause: error }));
    };
    const store = await EmbeddedStore.open({ fileSystem, timer, clock, logger, directory, onFailure }).catch((cause: unknown) => {
      // What the store itself has against the journal names it.
      if (!(cause instanceof Error && 'syscall' in cause)) throw cause;
      throw new Error(`The coordination journal in ${directory} cannot be opened: ${cause.message}`, { cause });
    });
    stoppers.push(() => store.close());
    return store;
  }
  const get = config.get.bind(config);
  return ZooKeeperStore.connect({
    network: config.get('zookeeper.ssl.client.enable') ? new TlsConnector(zookeeperTls(get, fileSystem)) : network,
    timer,
    clock,
    random,
    logger,
    connect: config.get('zookeeper.connect') ?? '',
    sessionTimeoutMs: config.get('zookeeper.session.timeout.ms'),
    connectionTimeoutMs: connectionTimeoutMs(config),
    maxInFlightRequests: config.get('zookeeper.max.in.flight.requests'),
    setAcl: config.get('zookeeper.set.acl'),
    ...zookeeperIdentity(get),
  });
}

function connectionTimeoutMs(config: BrokerConfig): number {
  return config.get('zookeeper.connection.timeout.ms') ?? config.get('zookeeper.session.timeout.ms');
}

/** Says in one line what is in the way when the ensemble does not answer. */
export async function reachingZooKeeper<T>(config: BrokerConfig, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (!isCoordinationError(error, 'ConnectionLoss') || config.get('zookeeper.connect') === null) throw error;
    throw new Error(
      `No ZooKeeper server of zookeeper.connect, ${config.get('zookeeper.connect')}, could be reached within ${connectionTimeoutMs(config)} ms (zookeeper.connection.timeout.ms)`,
      { cause: error },
    );
  }
}

/**
 * Where the coordination tree is kept: where it was kept before, else in the first directory. Throws when it may lie in a directory
 * that cannot be used now: to begin with an empty tree would be to forget every topic.
 */
export function directoryOfJournal(logManager: LogManager, fileSystem: FileSystem): LogDirectory {
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
export function ownerOf(logManager: LogManager): ReturnType<LogDirectory['readOwner']> {
  for (const directory of logManager.directories) {
    const owner = directory.isOnline ? directory.readOwner() : undefined;
    if (owner !== undefined) return owner;
  }
  return undefined;
}
