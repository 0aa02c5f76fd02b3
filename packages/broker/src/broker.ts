// The composition root: builds the parts of a broker in order and stops them in reverse. No logic. What belongs to one stage is
// put together in broker-disk.ts, broker-stages.ts and request-handling.ts.

import type { CoordinationStore } from '@odradek/coordination';
import { createLogger, createSystemWorld, type Logger, type LogLevel, type Properties, type World } from '@odradek/runtime';
import { BrokerConfig } from './broker-config.ts';
import { followDiskFailures, openBrokerDisk } from './broker-disk.ts';
import { type Assembly, buildServices, joinCluster, loadState, takePlace } from './broker-stages.ts';
import { PartLoggers } from './logging/part-loggers.ts';
import { type ReplicaStatus, replicaStatuses } from './replication/replica-status.ts';
import { buildRequestHandling, openListeners } from './request-handling.ts';

export interface BrokerOptions {
  /** As in server.properties. */
  readonly properties: Properties | Readonly<Record<string, string | number | boolean>>;
  /** The real one where left out; its timer is then closed with the broker. */
  readonly world?: World;
  /** Where several brokers meet, for brokers in one process; it is not closed with the broker. Without one: as the properties say. */
  readonly coordination?: CoordinationStore;
  /** Take precedence over odradek.log.format and odradek.log.level. */
  readonly log?: { readonly format?: string; readonly level?: string };
  /** Shown in the line that says that the broker is ready. */
  readonly version?: string;
  /** Aborted when the broker shall not be started any more: the start then ends with an error. For the start only. */
  readonly signal?: AbortSignal;
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
  /** How the replicas on this broker stand now. */
  replicas(): ReplicaStatus[];
  /** Settles with the reason when the broker cannot go on and wants to be closed. */
  readonly failed: Promise<Error>;
  /** Stops cleanly: the next start will not have to recover. */
  close(): Promise<void>;
}

/** Rejects with one clear error when something is in the way: a bad setting, a port or a directory in use. */
export async function startBroker(options: BrokerOptions): Promise<Broker> {
  ensureNodeVersion();
  const config = new BrokerConfig(propertiesOf(options));
  const { world, loggers } = worldOf(options, config);
  const startedMs = options.startedMs ?? world.clock.monotonicMs();
  const assembly: Assembly = {
    config,
    world,
    givenStore: options.coordination,
    signal: options.signal,
    loggers,
    logger: loggers.root.child('broker'),
    failed: Promise.withResolvers<Error>(),
    stoppers: options.world === undefined ? [() => world.timer.close()] : [],
  };
  try {
    return await build(options, assembly, startedMs);
  } catch (error) {
    await stopAll(assembly);
    throw error;
  }
}

/** As package.json says in `engines`; npm only warns of it. */
const neededNodeVersion = 24;

function ensureNodeVersion(): void {
  const { node } = process.versions;
  if (Number.parseInt(node, 10) < neededNodeVersion)
    throw new Error(`Odradek needs Node ${neededNodeVersion} or newer, and this is ${node}`);
}

/** Each stage builds upon those before it, and leaves behind what undoes it. */
async function build(options: BrokerOptions, assembly: Assembly, startedMs: number): Promise<Broker> {
  const { config, world, loggers, logger, failed, signal } = assembly;
  signal?.throwIfAborted();
  for (const warning of config.warnings) logger.warn(warning);

  // The directories first: whoever holds them is the only one who reads and writes what lies there.
  const disk = openBrokerDisk(assembly);
  const cluster = await joinCluster(assembly, disk);
  signal?.throwIfAborted();
  const state = await loadState(assembly, disk, cluster);
  signal?.throwIfAborted();
  followDiskFailures(assembly, disk, cluster, state);
  const services = buildServices(assembly, cluster, state);
  const handling = buildRequestHandling(assembly, disk, cluster, state, services);
  const listeners = await openListeners(assembly, handling);
  await takePlace(assembly, cluster, state, services, listeners);
  signal?.throwIfAborted();
  handling.sockets.serve();

  const bootstrap = bootstrapOf(listeners.advertised());
  const startedWith = handling.sockets.listening;
  const { brokerId, clusterId } = cluster;
  loggers.root.info(`Odradek ${options.version ?? ''} is ready at ${bootstrap}`.replace('  ', ' '), {
    broker: brokerId,
    cluster: clusterId,
    directories: config.logDirs.join(','),
    logs: disk.logManager.logCount,
    tookMs: Math.round(world.clock.monotonicMs() - startedMs),
  });
  let closing: Promise<void> | undefined;
  return {
    id: brokerId,
    clusterId,
    bootstrap,
    address(listener) {
      const bound = [...handling.sockets.listening, ...startedWith];
      const found = listener === undefined ? bound[0] : bound.find(({ name }) => name === listener);
      if (found === undefined) throw new Error(`There is no listener ${listener}`);
      return { host: found.host, port: found.port };
    },
    replicas: () => replicaStatuses(state.replicaManager.partitions()),
    failed: failed.promise,
    close() {
      closing ??= stop(assembly);
      return closing;
    },
  };
}

async function stop(assembly: Assembly): Promise<void> {
  const { loggers, world } = assembly;
  loggers.root.info('Stopping');
  const stopStartMs = world.clock.monotonicMs();
  await stopAll(assembly);
  loggers.root.info('Stopped', { tookMs: Math.round(world.clock.monotonicMs() - stopStartMs) });
}

async function stopAll({ stoppers, loggers }: Assembly): Promise<void> {
  for (const stopper of stoppers.splice(0).reverse()) {
    try {
      await stopper();
    } catch (error) {
      loggers.root.error('A part of the broker could not be stopped in order', { error });
    }
  }
}

function bootstrapOf([first]: readonly { readonly host: string; readonly port: number }[]): string {
  if (first === undefined) throw new Error('There is no listener');
  return `${first.host.includes(':') ? `[${first.host}]` : first.host}:${first.port}`;
}

/** What is said of the log takes the place of the settings, and is checked with them. */
function propertiesOf({ properties, log = {} }: BrokerOptions): Properties {
  const given = properties instanceof Map ? properties : Object.entries(properties);
  const logs = [
    ['odradek.log.format', log.format],
    ['odradek.log.level', log.level],
  ] as const;
  const all = new Map<string, string>();
  // From programs without types, undefined is what is not set.
  for (const [name, value] of [...given, ...logs]) if (value !== undefined && value !== null) all.set(name, String(value));
  return all;
}

/** The world with the logger that the configuration asks for. */
function worldOf(options: BrokerOptions, config: BrokerConfig): { readonly world: World; readonly loggers: PartLoggers } {
  const level = config.get('odradek.log.level') as LogLevel;
  if (options.world !== undefined) {
    const loggers = new PartLoggers(options.world.logger, level);
    return { world: { ...options.world, logger: loggers.root }, loggers };
  }
  const format = config.get('odradek.log.format');
  const root: Logger = createLogger({ format: format === 'json' ? 'json' : 'text', level: 'trace' });
  const loggers = new PartLoggers(root, level);
  return { world: { ...createSystemWorld(), logger: loggers.root }, loggers };
}
