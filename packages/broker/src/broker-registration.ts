// This broker's place in the coordination tree: the folders, the cluster's id, and the ephemeral node that says it is alive.

import {
  brokerIdNode,
  brokerIdsNode,
  brokerSequenceNode,
  type Coordination,
  clusterIdNode,
  configChangeNode,
  configEntitiesNode,
  InvalidNodeError,
  isCoordinationError,
  logDirEventNode,
  persistentPaths,
} from '@odradek/coordination';
import type { Clock, Logger, Random, Timer } from '@odradek/runtime';
import type { BrokerEndpoint } from './metadata/metadata-cache.ts';
import { randomUuid } from './metadata/random-uuid.ts';

/** Folders that Apache Kafka 3.9 does not have. */
const ownPaths = [configEntitiesNode.path('groups'), configEntitiesNode.path('client-metrics'), configChangeNode.otherFolder];

/** Creates what folders are missing. To be called before anything else uses the tree. */
export async function createPersistentPaths(coordination: Coordination): Promise<void> {
  await Promise.all([...persistentPaths, ...ownPaths].map((path) => createUnlessThere(coordination, path, null)));
}

async function createUnlessThere(coordination: Coordination, path: string, data: Buffer | null): Promise<void> {
  try {
    await coordination.create(path, data);
  } catch (error) {
    if (!isCoordinationError(error, 'NodeExists')) throw error;
  }
}

/** The data directories are those of another cluster. */
export class InconsistentClusterIdError extends Error {
  override readonly name = 'InconsistentClusterIdError';
}

/** The data directories are those of another broker. */
export class InconsistentBrokerIdError extends Error {
  override readonly name = 'InconsistentBrokerIdError';
}

/** Another broker, or another life of this one that goes on, is registered under the id. */
export class BrokerIdInUseError extends Error {
  override readonly name = 'BrokerIdInUseError';
}

/** The cluster's id: the one in the tree, or a new one. `expected` is that of meta.properties; throws when the two differ. */
export async function getOrCreateClusterId(
  coordination: Coordination,
  options: { readonly random: Random; readonly expected?: string; readonly isElsewhere?: boolean },
): Promise<string> {
  if (options.isElsewhere === true && options.expected !== undefined) await ensureClusterIsThere(coordination, options.expected);
  await createUnlessThere(coordination, '/cluster', null);
  // A data directory that has lost its tree keeps its id.
  await createUnlessThere(coordination, clusterIdNode.path, clusterIdNode.encode(options.expected ?? randomUuid(options.random)));
  const { data } = await coordination.get(clusterIdNode.path);
  const clusterId = clusterIdNode.decode(data);
  if (options.expected !== undefined && options.expected !== clusterId) {
    throw new InconsistentClusterIdError(
      `The data directories belong to the cluster ${options.expected} by their meta.properties, but this broker would join the cluster ${clusterId}: zookeeper.connect may lead to the wrong cluster`,
    );
  }
  return clusterId;
}

/** In an ensemble that knows nothing of the cluster all logs would be strays. */
async function ensureClusterIsThere(coordination: Coordination, expected: string): Promise<void> {
  if ((await coordination.exists(clusterIdNode.path)) !== undefined) return;
  throw new InconsistentClusterIdError(
    `The data directories belong to the cluster ${expected} by their meta.properties, but where zookeeper.connect leads there is no cluster yet: it may lead to the wrong ensemble or chroot`,
  );
}

/** The id that is configured (-1: none) or that the data directories have, if the two agree; undefined: neither says one. */
export function knownBrokerId(configured: number, stored: number | undefined): number | undefined {
  if (configured < 0) return stored;
  if (stored !== undefined && stored !== configured) {
    throw new InconsistentBrokerIdError(
      `broker.id is ${configured}, but the data directories belong to broker ${stored} by their meta.properties: if the data was moved, set broker.id to ${stored}; a new broker needs directories of its own`,
    );
  }
  return configured;
}

/** A broker id that nobody has (broker.id.generation.enable): above `reserved.broker.max.id`. */
export async function generateBrokerId(coordination: Coordination, reservedMaxId: number): Promise<number> {
  const { version } = await coordination.set(brokerSequenceNode.path, null);
  return reservedMaxId + version;
}

export interface BrokerToRegister {
  readonly id: number;
  readonly rack: string | null;
  readonly endpoints: readonly BrokerEndpoint[];
}

/** Another broker is registered with an address of this one: clients would be sent to the wrong of the two. */
export class AddressInUseError extends Error {
  override readonly name = 'AddressInUseError';
}

/** To be asked before the first registration. Throws AddressInUseError. */
export async function ensureAddressesAreFree(coordination: Coordination, { id, endpoints }: BrokerToRegister): Promise<void> {
  const { names } = await coordination.children(brokerIdsNode.path);
  const addresses = new Set(endpoints.map(addressOf));
  await Promise.all(
    names.map(async (name) => {
      const other = Number(name);
      const taken = other === id ? [] : (await endpointsOf(coordination, other)).map(addressOf).filter((one) => addresses.has(one));
      if (taken.length === 0) return;
      throw new AddressInUseError(
        `Broker ${other} is registered with ${taken.join(', ')} already, which are advertised.listeners of this broker, ${id}, too: each broker needs addresses of its own`,
      );
    }),
  );
}

async function endpointsOf(coordination: Coordination, brokerId: number): Promise<readonly BrokerEndpoint[]> {
  try {
    return brokerIdNode.decode(brokerId, (await coordination.get(brokerIdNode.path(brokerId))).data).endpoints;
  } catch (error) {
    // Gone since the names were read; or what somebody wrote there is no registration.
    if (isCoordinationError(error, 'NoNode') || error instanceof InvalidNodeError) return [];
    throw error;
  }
}

function addressOf({ host, port }: BrokerEndpoint): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

export interface RegistrationParts {
  readonly clock: Clock;
  readonly timer: Timer;
  readonly logger: Logger;
  /** How long an earlier session of this broker may take to expire. */
  readonly sessionTimeoutMs: number;
}

/** An ensemble looks for sessions that are over only so often. */
const expirySlackMs = 4000;

/**
 * Writes /brokers/ids/N; answers the broker's epoch. Waits for the node of an earlier session of this broker to expire. Throws
 * BrokerIdInUseError when it does not: then it is another broker's.
 */
export async function registerBroker(
  coordination: Coordination,
  broker: BrokerToRegister,
  parts: RegistrationParts,
): Promise<number> {
  const path = brokerIdNode.path(broker.id);
  const data = brokerIdNode.encode({ ...broker, jmxPort: -1, timestamp: parts.clock.wallTimeMs(), features: new Map() });
  const deadlineMs = parts.clock.monotonicMs() + parts.sessionTimeoutMs + expirySlackMs;
  for (;;) {
    try {
      const [, written] = await coordination.multi([
        { type: 'create', path, data: null, ephemeral: true },
        { type: 'set', path, data, version: 0 },
      ]);
      if (written?.type !== 'set') throw new Error('The coordination store did not answer the registration');
      return written.stat.czxid;
    } catch (error) {
      if (!isCoordinationError(error, 'NodeExists')) throw error;
    }
    const epoch = await waitUntilGone(coordination, broker.id, deadlineMs, parts);
    if (epoch !== undefined) return epoch;
  }
}

/** Answers the epoch when the node turns out to be this session's own: a creation whose answer was lost. */
async function waitUntilGone(
  coordination: Coordination,
  brokerId: number,
  deadlineMs: number,
  { clock, timer, logger }: RegistrationParts,
): Promise<number | undefined> {
  const path = brokerIdNode.path(brokerId);
  const end = Promise.withResolvers<void>();
  const stat = await coordination.exists(path, () => end.resolve());
  if (stat === undefined) return undefined;
  if (stat.ephemeralOwner === coordination.sessionId) return stat.czxid;
  const leftMs = deadlineMs - clock.monotonicMs();
  if (leftMs <= 0) {
    throw new BrokerIdInUseError(
      `Another broker with the id ${brokerId} is alive: ${path} exists, and its owner ${stat.ephemeralOwner} is not this session, ${coordination.sessionId}. Give this broker another broker.id, or stop the other one`,
    );
  }
  logger.info('Waiting for an earlier session of this broker to expire', { path, session: String(stat.ephemeralOwner) });
  const task = timer.schedule(leftMs, () => end.resolve());
  await end.promise;
  task.cancel();
  return undefined;
}

/** Other endpoints for a broker that is registered. */
export async function updateRegistration(coordination: Coordination, broker: BrokerToRegister, clock: Clock): Promise<void> {
  const data = brokerIdNode.encode({ ...broker, jmxPort: -1, timestamp: clock.wallTimeMs(), features: new Map() });
  await coordination.set(brokerIdNode.path(broker.id), data);
}

/** Tells the controller that a log directory of this broker has failed. */
export async function announceLogDirectoryFailure(coordination: Coordination, brokerId: number): Promise<void> {
  await coordination.create(`${logDirEventNode.folder}/${logDirEventNode.prefix}`, logDirEventNode.encode(brokerId), {
    sequential: true,
  });
}
