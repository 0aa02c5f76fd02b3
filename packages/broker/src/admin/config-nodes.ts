// One config node of the coordination tree: read with its version, and written together with the news of it, so that no broker
// misses a change. Entities below others (a client of a user) have their folders made when they are first needed.

import {
  type ConfigEntityType,
  type Coordination,
  configChangeNode,
  configNode,
  isCoordinationError,
  type Operation,
} from '@odradek/coordination';

export interface StoredConfigs {
  readonly configs: Map<string, string>;
  /** undefined: there is no node. */
  readonly version: number | undefined;
}

export interface ConfigEntity {
  readonly type: ConfigEntityType;
  /** Sanitised, and with slashes where entities nest. */
  readonly path: string;
}

export async function readConfigs(coordination: Coordination, { type, path: entity }: ConfigEntity): Promise<StoredConfigs> {
  const path = configNode.path(type, entity);
  try {
    const { data, stat } = await coordination.get(path);
    return { configs: configNode.decode(path, data), version: stat.version };
  } catch (error) {
    if (!isCoordinationError(error, 'NoNode')) throw error;
    return { configs: new Map(), version: undefined };
  }
}

/** The configs and the news of them in one transaction. False: something is not as it was when they were read, which has to be done again. */
export async function tryWriteConfigs(
  coordination: Coordination,
  { type, path: entity }: ConfigEntity,
  configs: ReadonlyMap<string, string>,
  version: number | undefined,
): Promise<boolean> {
  const path = configNode.path(type, entity);
  const data = configNode.encode(configs);
  const write: Operation = version === undefined ? { type: 'create', path, data } : { type: 'set', path, data, version };
  const notification: Operation = {
    type: 'create',
    path: `${notificationFolder(type)}/${configChangeNode.prefix}`,
    data: configChangeNode.encode(`${type}/${entity}`),
    sequential: true,
  };
  if (version === undefined) await ensureFolders(coordination, type, entity);
  try {
    await coordination.multi([write, notification]);
    return true;
  } catch (error) {
    if (isCoordinationError(error, 'NodeExists', 'BadVersion', 'NoNode')) return false;
    throw error;
  }
}

/** Apache Kafka 3.9 stumbles over changes of what it does not know. */
function notificationFolder(type: ConfigEntityType): string {
  return type === 'groups' || type === 'client-metrics' ? configChangeNode.otherFolder : configChangeNode.folder;
}

async function ensureFolders(coordination: Coordination, type: ConfigEntityType, entity: string): Promise<void> {
  for (let end = entity.indexOf('/'); end > 0; end = entity.indexOf('/', end + 1)) {
    try {
      await coordination.create(configNode.path(type, entity.slice(0, end)), null);
    } catch (error) {
      if (!isCoordinationError(error, 'NodeExists')) throw error;
    }
  }
}
