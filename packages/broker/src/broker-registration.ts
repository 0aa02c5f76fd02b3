// This broker's place in the coordination tree: the folders, the cluster's id, and the ephemeral node that says it is alive.

import type { Coordination } from '@odradek/coordination';
import type { Clock, Logger, Random } from '@odradek/runtime';
import type { BrokerEndpoint } from './metadata/metadata-cache.ts';

/** Creates what folders are missing. To be called before anything else uses the tree. */
export async function createPersistentPaths(_coordination: Coordination): Promise<void> {
  throw new Error('not written yet');
}

/** The cluster's id: the one in the tree, or a new one. `expected` is that of meta.properties; throws when the two differ. */
export async function getOrCreateClusterId(
  _coordination: Coordination,
  _options: { readonly random: Random; readonly expected?: string },
): Promise<string> {
  throw new Error('not written yet');
}

/** A broker id that nobody has (broker.id.generation.enable): above `reserved.broker.max.id`. */
export async function generateBrokerId(_coordination: Coordination, _reservedMaxId: number): Promise<number> {
  throw new Error('not written yet');
}

/** Writes /brokers/ids/N; answers the broker's epoch. Waits for the node of an earlier session of this broker to expire. */
export async function registerBroker(
  _coordination: Coordination,
  _broker: { readonly id: number; readonly rack: string | null; readonly endpoints: readonly BrokerEndpoint[] },
  _parts: { readonly clock: Clock; readonly logger: Logger },
): Promise<number> {
  throw new Error('not written yet');
}
