// All quotas of the cluster, as this broker knows them: read from the coordination tree, read again when a change is announced, and
// changed by AlterClientQuotas. What follows from them for a client is in `limits`.

import {
  type ConfigEntityType,
  type Coordination,
  configEntitiesNode,
  configNode,
  isCoordinationError,
} from '@odradek/coordination';
import type { ProtocolError } from '@odradek/protocol';
import type { Logger } from '@odradek/runtime';
import type { EntityFollower } from '../admin/config-changes.ts';
import { readConfigs, tryWriteConfigs } from '../admin/config-nodes.ts';
import { coordinationFailure } from '../controller/coordination-failure.ts';
import { untilLapsed } from '../until-lapsed.ts';
import { plainAddress } from './quota-addresses.ts';
import { type EntityPart, entityAt, entityNode, invalid, type QuotaEntity, quotaEntity } from './quota-entities.ts';
import { type FilterComponent, quotaFilter } from './quota-filter.ts';
import { type EntityQuotas, QuotaLimits } from './quota-limits.ts';
import { quotaText, quotaType, quotaValues } from './quota-values.ts';

/** An entry of AlterClientQuotas, as decoded. */
export interface QuotaAlteration {
  readonly entity: readonly EntityPart[];
  readonly ops: readonly { readonly key: string; readonly value: number; readonly remove: boolean }[];
}

export interface ClientQuotasParts {
  readonly coordination: Coordination;
  readonly logger: Logger;
  /** The address of a host; undefined: nobody knows it. */
  readonly lookup: (host: string) => Promise<string | undefined>;
}

/** The quotas of one entity, with the address that its host had when they were read. */
interface KnownQuotas extends EntityQuotas {
  readonly address: string | undefined;
}

export class ClientQuotas implements EntityFollower {
  readonly #parts: ClientQuotasParts;
  /** By the path of the entity's node. */
  readonly #quotas = new Map<string, KnownQuotas>();
  #limits = new QuotaLimits();

  constructor(parts: ClientQuotasParts) {
    this.#parts = parts;
  }

  /** What holds now. */
  get limits(): QuotaLimits {
    return this.#limits;
  }

  /** Throws INVALID_REQUEST, or UNSUPPORTED_VERSION for kinds of entity that do not exist. */
  describe(components: readonly FilterComponent[], isStrict: boolean): EntityQuotas[] {
    const isWanted = quotaFilter(components, isStrict);
    return [...this.#quotas.values()].filter(({ entity }) => isWanted(entity));
  }

  /** One after the other, each with its own outcome: an error or undefined, in order. */
  async alter(alterations: readonly QuotaAlteration[], validateOnly: boolean): Promise<(ProtocolError | undefined)[]> {
    const errors: (ProtocolError | undefined)[] = [];
    for (const alteration of alterations) {
      try {
        await untilLapsed(this.#parts.coordination, () => this.#alterOne(alteration, validateOnly));
        errors.push(undefined);
      } catch (error) {
        errors.push(coordinationFailure(error));
      }
    }
    return errors;
  }

  /** Reads everything; also after a session was lost, when changes may have been missed. */
  async readAll(): Promise<void> {
    const found = new Set<string>();
    const read = async (type: ConfigEntityType, path: string): Promise<void> => {
      found.add(configNode.path(type, path));
      await this.#read(type, path);
    };
    const readUser = async (name: string): Promise<void> => {
      await read('users', name);
      const clients = await this.#namesIn(configNode.path('users', `${name}/clients`));
      await Promise.all(clients.map((client) => read('users', `${name}/clients/${client}`)));
    };
    const [users = [], clients = [], ips = []] = await Promise.all(
      (['users', 'clients', 'ips'] as const).map((type) => this.#namesIn(configEntitiesNode.path(type))),
    );
    await Promise.all([
      ...users.map(readUser),
      ...clients.map((name) => read('clients', name)),
      ...ips.map((name) => read('ips', name)),
    ]);
    for (const path of this.#quotas.keys()) if (!found.has(path)) this.#quotas.delete(path);
    this.#putIntoEffect();
  }

  /** The configs of an entity, a user's credentials perhaps, were announced to have changed. */
  async entityChanged(type: ConfigEntityType, path: string): Promise<void> {
    await this.#read(type, path);
    this.#putIntoEffect();
  }

  async #read(type: ConfigEntityType, path: string): Promise<void> {
    const { coordination, logger } = this.#parts;
    const node = configNode.path(type, path);
    try {
      const entity = entityAt(type, path);
      if (entity === undefined) return;
      const address = await this.#addressOf(entity);
      // Nothing is waited for after this: of two readings under way the later one must have the last word.
      const { configs } = await readConfigs(coordination, { type, path });
      const values = quotaValues(entity, configs);
      if (values.size === 0) this.#quotas.delete(node);
      else this.#quotas.set(node, { entity, values, address });
    } catch (error) {
      if (isCoordinationError(error)) throw error;
      this.#quotas.delete(node);
      logger.error('Quotas cannot be read and are left out', { path: node, error });
    }
  }

  #putIntoEffect(): void {
    this.#limits = new QuotaLimits(Array.from(this.#quotas.values(), inForce));
  }

  async #alterOne({ entity: parts, ops }: QuotaAlteration, validateOnly: boolean): Promise<void> {
    const { coordination } = this.#parts;
    const entity = quotaEntity(parts);
    if (typeof entity.ip === 'string' && (await this.#addressOf(entity)) === undefined) {
      throw invalid(`${entity.ip} is not a valid IP or resolvable host.`);
    }
    const changes = changesOf(entity, ops);
    if (validateOnly) return;
    const node = entityNode(entity);
    for (;;) {
      const { configs, version } = await readConfigs(coordination, node);
      let isChanged = false;
      for (const [key, text] of changes) {
        isChanged ||= configs.get(key) !== text;
        if (text === undefined) configs.delete(key);
        else configs.set(key, text);
      }
      if (!isChanged || (await tryWriteConfigs(coordination, node, configs, version))) break;
    }
    await this.entityChanged(node.type, node.path);
  }

  async #addressOf({ ip }: QuotaEntity): Promise<string | undefined> {
    return typeof ip === 'string' ? (plainAddress(ip) ?? (await this.#parts.lookup(ip))) : undefined;
  }

  async #namesIn(path: string): Promise<readonly string[]> {
    try {
      return (await this.#parts.coordination.children(path)).names;
    } catch (error) {
      if (isCoordinationError(error, 'NoNode')) return [];
      throw error;
    }
  }
}

/** The entity with its address. A host that has none stands for nobody. */
function inForce({ entity, values, address }: KnownQuotas): EntityQuotas {
  return { entity: typeof entity.ip === 'string' ? { ip: address ?? entity.ip } : entity, values };
}

/** The text that each quota shall have; undefined: none. What is no quota, as a user's credentials, cannot be taken away here. */
function changesOf(entity: QuotaEntity, ops: QuotaAlteration['ops']): ReadonlyMap<string, string | undefined> {
  const changes = new Map<string, string | undefined>();
  for (const { key, value, remove } of ops) {
    if (changes.has(key)) throw invalid(`Duplicate quota key ${key} given as quota alteration`);
    if (!remove) changes.set(key, quotaText(entity, key, value));
    else if (quotaType(entity, key) !== undefined) changes.set(key, undefined);
  }
  return changes;
}
