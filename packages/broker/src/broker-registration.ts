// This broker's place in the coordination tree: the folders, the cluster's id, and the ephemeral node that says it is alive.

import {
  brokerIdNode,
  brokerSequenceNode,
  type Coordination,
  clusterIdNode,
  configChangeNode,
  configEntitiesNode,
  isCoordinationError,
  logDirEventNode,
  persistentPaths,
} from '@odradek/coordination';
import type { Clock, Logger, Random } from '@odradek/runtime';
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

/** The cluster's id: the one in the tree, or a new one. `expected` is that of meta.properties; throws when the two differ. */
export async function getOrCreateClusterId(
  coordination: Coordination,
  options: { readonly random: Random; readonly expected?: string },
): Promise<string> {
  await createUnlessThere(coordination, '/cluster', null);
  // A data directory that has lost its tree keeps its id.
  await createUnlessThere(coordination, clusterIdNode.path, clusterIdNode.encode(options.expected ?? randomUuid(options.random)));
  const { data } = await coordination.get(clusterIdNode.path);
  const clusterId = clusterIdNode.decode(data);
  if (options.expected !== undefined && options.expected !== clusterId) {
    throw new Error(`The data directories belong to cluster ${options.expected}, but this broker would join cluster ${clusterId}`);
  }
  return clusterId;
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

/** Writes /brokers/ids/N; answers the broker's epoch. Waits for the node of an earlier session of this broker to expire. */
export async function registerBroker(
  coordination: Coordination,
  broker: BrokerToRegister,
  parts: { readonly clock: Clock; readonly logger: Logger },
): Promise<number> {
  const path = brokerIdNode.path(broker.id);
  const data = brokerIdNode.encode({ ...broker, jmxPort: -1, timestamp: parts.clock.wallTimeMs(), features: new Map() });
  for (;;) {
    try {
      const [created] = await coordination.multi([
        { type: 'create', path, data: null, ephemeral: true },
        { type: 'set', path, data, version: 0 },
      ]);
      if (created?.type !== 'create') throw new Error('The coordination store did not answer the creation');
      return created.stat.czxid;
    } catch (error) {
      if (!isCoordinationError(error, 'NodeExists')) throw error;
    }
    const epoch = await waitUntilGone(coordination, path, parts.logger);
    if (epoch !== undefined) return epoch;
  }
}

/** Answers the epoch when the node turns out to be this session's own: a creation whose answer was lost. */
async function waitUntilGone(coordination: Coordination, path: string, logger: Logger): Promise<number | undefined> {
  const gone = Promise.withResolvers<void>();
  const stat = await coordination.exists(path, () => gone.resolve());
  if (stat === undefined) return undefined;
  if (stat.ephemeralOwner === coordination.sessionId) return stat.czxid;
  logger.info('Waiting for an earlier session of this broker to expire', { path });
  await gone.promise;
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
