// Reading and altering the configs that live in the coordination tree: those of topics, brokers, groups and client-metrics.
// Every broker keeps them in memory, and reads an entity's again when a node under /config/changes tells of a change.

import {
  type ConfigEntityType,
  type Coordination,
  configChangeNode,
  configEntitiesNode,
  configNode,
  defaultEntityName,
  desanitizeName,
  isCoordinationError,
  sanitizeName,
} from '@odradek/coordination';
import { errorCodes, ProtocolError } from '@odradek/protocol';
import type { Logger } from '@odradek/runtime';
import { ChangeNotifications } from '../change-notifications.ts';
import { topicNameProblem } from '../config/topic-name.ts';
import { coordinationFailure } from '../controller/coordination-failure.ts';
import type { MetadataCache, TopicMetadata } from '../metadata/metadata-cache.ts';
import { untilLapsed } from '../until-lapsed.ts';
import { type ConfigEntity, readConfigs, tryWriteConfigs } from './config-nodes.ts';

/** Kafka's numbers of the kinds of resource. */
export const configResourceTypes = { UNKNOWN: 0, TOPIC: 2, BROKER: 4, BROKER_LOGGER: 8, CLIENT_METRICS: 16, GROUP: 32 } as const;

/** The kinds whose configs live in the tree. */
export type ConfigResourceType = 2 | 4 | 16 | 32;

export interface ConfigResource {
  readonly type: ConfigResourceType;
  /** Of a broker its id; '' is the default of all brokers. */
  readonly name: string;
}

export interface ConfigRule {
  /** APPEND and SUBTRACT are for lists only. */
  readonly isList: boolean;
  /** Where APPEND and SUBTRACT begin when there is no override. */
  readonly defaultValue: string | null;
  /** Of a broker's config; topics, groups and client-metrics take any time. */
  readonly updateMode: 'read-only' | 'per-broker' | 'cluster-wide';
}

/** What the config definitions say; implemented beside them. */
export interface ConfigRules {
  /** undefined: no such config for this kind of resource. */
  rule(type: ConfigResourceType, name: string): ConfigRule | undefined;
  /**
   * Checks names, values, and what must hold between them, of the overrides that the resource is going to have. Throws a
   * ProtocolError: INVALID_CONFIG, or INVALID_REQUEST for what a broker cannot take while it runs.
   */
  validate(resource: ConfigResource, overrides: ReadonlyMap<string, string>): void;
}

/** What IncrementalAlterConfigs does with a value. */
export const configOperations = { SET: 0, DELETE: 1, APPEND: 2, SUBTRACT: 3 } as const;

export interface ConfigAlteration {
  /** As in the request: not yet known to be one of ConfigResourceType. */
  readonly resourceType: number;
  readonly resourceName: string;
  readonly configs: readonly { readonly name: string; readonly value: string | null; readonly configOperation?: number }[];
}

/** The overrides are those that hold from now on. A promise is waited for before the next change is told. */
export type ConfigListener = (resource: ConfigResource, overrides: ReadonlyMap<string, string>) => void | Promise<void>;

/** Whoever keeps the configs of other entities: users, clients and addresses, whose changes are announced in the same place. */
export interface EntityFollower {
  /** Changes may have been missed. */
  readAll(): Promise<void>;
  /** `path` is that below the folder of the type. */
  entityChanged(type: ConfigEntityType, path: string): Promise<void>;
}

export interface ConfigChangesParts {
  readonly coordination: Coordination;
  readonly metadataCache: MetadataCache;
  readonly rules: ConfigRules;
  readonly brokerId: number;
  readonly logger: Logger;
  readonly otherEntities?: EntityFollower;
}

const noOverrides: ReadonlyMap<string, string> = new Map();

export class ConfigChanges {
  readonly #parts: ConfigChangesParts;
  readonly #overrides: Readonly<Record<ConfigResourceType, Map<string, ReadonlyMap<string, string>>>> = {
    [configResourceTypes.TOPIC]: new Map(),
    [configResourceTypes.BROKER]: new Map(),
    [configResourceTypes.CLIENT_METRICS]: new Map(),
    [configResourceTypes.GROUP]: new Map(),
  };
  readonly #listeners = new Set<ConfigListener>();
  readonly #stopListening: () => void;
  readonly #notifications: ChangeNotifications<string>;

  private constructor(parts: ConfigChangesParts) {
    this.#parts = parts;
    this.#stopListening = parts.metadataCache.onUpdate((current, previous, touched) => {
      for (const name of touched) this.#topicTold(name, current.topic(name), previous.topic(name));
    });
    const { folder, otherFolder, decode } = configChangeNode;
    this.#notifications = new ChangeNotifications({
      ...parts,
      what: 'configs',
      folders: new Map([folder, otherFolder].map((each) => [each, decode])),
      readAll: () => this.#readAll(),
      take: async (entityPaths) => {
        for (const entityPath of new Set(entityPaths)) await this.#entityChanged(entityPath);
      },
    });
  }

  /** Reads all configs and begins to watch for changes. */
  static async start(parts: ConfigChangesParts): Promise<ConfigChanges> {
    const changes = new ConfigChanges(parts);
    await changes.#notifications.begin();
    return changes;
  }

  /** The configs set on the resource itself. Of a topic only once it is loaded, which it is when this broker created it or found it at the start. */
  overrides({ type, name }: ConfigResource): ReadonlyMap<string, string> {
    return this.#overrides[type].get(name) ?? noOverrides;
  }

  /** Reads the configs of topics that this broker has not seen yet; to be awaited before their logs are made. */
  async loadTopics(topics: Iterable<string>): Promise<void> {
    const known = this.#overrides[configResourceTypes.TOPIC];
    const unknown = [...topics].filter((name) => !known.has(name));
    await Promise.all(unknown.map((name) => this.#load({ type: configResourceTypes.TOPIC, name })));
  }

  /** For TopicChanges: a topic has just been written with these configs. */
  topicCreated(name: string, overrides: ReadonlyMap<string, string>): void {
    this.#overrides[configResourceTypes.TOPIC].set(name, overrides);
  }

  /** Resources of a kind that have overrides. */
  names(type: ConfigResourceType): string[] {
    return [...this.#overrides[type]].filter(([, overrides]) => overrides.size > 0).map(([name]) => name);
  }

  /** Called, in order, for each change, also of this broker's own making; `alter…` returns after the listeners are done. */
  onChange(listener: ConfigListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** AlterConfigs: the configs given become all that the resource has. Answers an error or undefined for each resource, in order. */
  alter(
    alterations: readonly ConfigAlteration[],
    options: { readonly validateOnly: boolean },
  ): Promise<(ProtocolError | undefined)[]> {
    return this.#alterAll(alterations, options, ({ configs }) => new Map(configs.map(({ name, value }) => [name, value ?? ''])));
  }

  /** IncrementalAlterConfigs. */
  incrementalAlter(
    alterations: readonly ConfigAlteration[],
    options: { readonly validateOnly: boolean },
  ): Promise<(ProtocolError | undefined)[]> {
    return this.#alterAll(alterations, options, ({ configs }, type, before) => {
      const after = new Map(before);
      for (const change of configs) applyOperation(after, change, this.#parts.rules.rule(type, change.name));
      return after;
    });
  }

  /** Settles when all that was announced before this call is known here; rejects when the session may be over. */
  catchUp(): Promise<void> {
    return untilLapsed(this.#parts.coordination, () => this.#notifications.catchUp());
  }

  /** The watches went with the lost session: everything is read again, and what others have changed meanwhile is told. */
  sessionRenewed(): Promise<void> {
    return this.#notifications.begin();
  }

  close(): void {
    this.#notifications.close();
    this.#stopListening();
    this.#listeners.clear();
  }

  async #alterAll(
    alterations: readonly ConfigAlteration[],
    { validateOnly }: { readonly validateOnly: boolean },
    next: NextOverrides,
  ): Promise<(ProtocolError | undefined)[]> {
    const errors = await Promise.all(
      alterations.map(async (alteration) => {
        try {
          const resource = this.#checkAlteration(alteration, alterations);
          await untilLapsed(this.#parts.coordination, () => this.#alterOne(resource, alteration, next, validateOnly));
          return undefined;
        } catch (error) {
          return coordinationFailure(error);
        }
      }),
    );
    if (!validateOnly && errors.includes(undefined)) await this.#hearOfOwnChanges();
    return errors;
  }

  /** So that they hold here when they are answered, unless the store goes away in between. */
  async #hearOfOwnChanges(): Promise<void> {
    try {
      await untilLapsed(this.#parts.coordination, () => this.#notifications.catchUp());
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
    }
  }

  /** What must hold whatever the definitions of the configs say. */
  #checkAlteration(alteration: ConfigAlteration, all: readonly ConfigAlteration[]): ConfigResource {
    const { resourceType, resourceName, configs } = alteration;
    const same = all.filter((other) => other.resourceType === resourceType && other.resourceName === resourceName);
    if (same.length > 1) throw invalidRequest('Each resource must appear at most once.');
    const names = configs.map(({ name }) => name);
    const repeated = new Set(names.filter((name, index) => names.indexOf(name) !== index));
    if (repeated.size > 0) throw invalidRequest(`Error due to duplicate config keys : ${[...repeated].join(',')}`);
    const empty = configs.filter(({ value, configOperation }) => value === null && configOperation !== configOperations.DELETE);
    if (empty.length > 0) throw invalidRequest(`Null value not supported for : ${empty.map(({ name }) => name).join(',')}`);
    return this.#checkResource(resourceType, resourceName);
  }

  #checkResource(type: number, name: string): ConfigResource {
    switch (type) {
      case configResourceTypes.TOPIC: {
        if (name === '') throw invalidRequest('Default topic resources are not allowed.');
        const problem = topicNameProblem(name);
        if (problem !== undefined) throw new ProtocolError(errorCodes.INVALID_TOPIC_EXCEPTION, problem);
        if (this.#parts.metadataCache.current.topic(name) === undefined) {
          throw new ProtocolError(errorCodes.UNKNOWN_TOPIC_OR_PARTITION, `The topic '${name}' does not exist.`);
        }
        return { type, name };
      }
      case configResourceTypes.BROKER: {
        if (name === '') return { type, name };
        if (!/^[+-]?\d+$/.test(name)) throw invalidRequest(`Node id must be an integer, but it is: ${name}`);
        const { brokerId } = this.#parts;
        if (Number(name) !== brokerId) {
          throw invalidRequest(`Unexpected broker id, expected ${brokerId} or an empty string, but received ${name}`);
        }
        return { type, name: String(brokerId) };
      }
      case configResourceTypes.GROUP:
        if (name === '') throw invalidRequest('Default group resources are not allowed.');
        return { type, name };
      case configResourceTypes.CLIENT_METRICS:
        if (name === '') throw invalidRequest('Default client metrics resources are not allowed.');
        return { type, name };
      default:
        throw invalidRequest(`Configs of resources of type ${type} cannot be altered.`);
    }
  }

  async #alterOne(
    resource: ConfigResource,
    alteration: ConfigAlteration,
    next: NextOverrides,
    validateOnly: boolean,
  ): Promise<void> {
    for (;;) {
      const { coordination, rules } = this.#parts;
      const node = nodeOf(resource);
      const before = await readConfigs(coordination, node);
      const after = next(alteration, resource.type, before.configs);
      rules.validate(resource, after);
      if (validateOnly || (await tryWriteConfigs(coordination, node, after, before.version))) return;
    }
  }

  /** Tells of what is not as it was. */
  async #readAll(): Promise<void> {
    const { coordination } = this.#parts;
    for (const [type, entityType] of entityTypes) {
      const { names } = await coordination.children(configEntitiesNode.path(entityType));
      const present = names.map((entity) => resourceOf(type, entity).name);
      await Promise.all([...new Set([...present, ...this.#overrides[type].keys()])].map((name) => this.#readAgain({ type, name })));
    }
    await this.#parts.otherEntities?.readAll();
  }

  async #readAgain(resource: ConfigResource): Promise<void> {
    const before = this.overrides(resource);
    await this.#load(resource);
    const after = this.overrides(resource);
    const isSame = before.size === after.size && [...before].every(([name, value]) => after.get(name) === value);
    if (!isSame) await this.#tell(resource);
  }

  async #load(resource: ConfigResource): Promise<void> {
    try {
      const { configs } = await readConfigs(this.#parts.coordination, nodeOf(resource));
      this.#overrides[resource.type].set(resource.name, configs);
    } catch (error) {
      if (isCoordinationError(error)) throw error;
      this.#parts.logger.error('Configs cannot be read and are left out', { path: pathOf(resource), error });
    }
  }

  async #entityChanged(entityPath: string): Promise<void> {
    const [entityType = '', ...rest] = entityPath.split('/');
    const path = rest.join('/');
    const type = entityTypes.find(([, name]) => name === entityType)?.[0];
    if (type === undefined) {
      const other = otherEntityTypes.find((name) => name === entityType);
      if (other !== undefined) await this.#parts.otherEntities?.entityChanged(other, path);
      return;
    }
    const resource = resourceOf(type, path);
    if (type === configResourceTypes.TOPIC) await this.#topicChanged(path);
    else await this.#load(resource);
    await this.#tell(resource);
  }

  /** Of a topic that is gone there are none, which would be taken for those of the next one of its name. */
  async #topicChanged(name: string): Promise<void> {
    const { metadataCache } = this.#parts;
    const known = this.#overrides[configResourceTypes.TOPIC];
    const isThere = metadataCache.current.topic(name) !== undefined;
    if (!isThere && !known.has(name)) return;
    await this.#load({ type: configResourceTypes.TOPIC, name });
    if (isThere && metadataCache.current.topic(name) === undefined) known.delete(name);
  }

  /** A topic may be made anew under the name of one that is gone, with other configs; this broker need not have heard that it was. */
  #topicTold(name: string, current: TopicMetadata | undefined, previous: TopicMetadata | undefined): void {
    if (current === undefined) this.#overrides[configResourceTypes.TOPIC].delete(name);
    else if (previous !== undefined && previous.id !== current.id) {
      this.#readAgain({ type: configResourceTypes.TOPIC, name }).catch((error: unknown) =>
        this.#parts.logger.error('The configs of a topic that has been made anew could not be read', { topic: name, error }),
      );
    }
  }

  async #tell(resource: ConfigResource): Promise<void> {
    for (const listener of [...this.#listeners]) {
      try {
        await listener(resource, this.overrides(resource));
      } catch (error) {
        this.#parts.logger.error('A change of configs could not be put into effect', { entity: pathOf(resource), error });
      }
    }
  }
}

type NextOverrides = (
  alteration: ConfigAlteration,
  type: ConfigResourceType,
  before: ReadonlyMap<string, string>,
) => ReadonlyMap<string, string>;

/** Changes one value as SET, DELETE, APPEND or SUBTRACT says. */
function applyOperation(
  configs: Map<string, string>,
  change: ConfigAlteration['configs'][number],
  rule: ConfigRule | undefined,
): void {
  const { name, value, configOperation } = change;
  switch (configOperation) {
    case configOperations.SET:
      configs.set(name, value ?? '');
      return;
    case configOperations.DELETE:
      configs.delete(name);
      return;
    case configOperations.APPEND:
    case configOperations.SUBTRACT: {
      const verb = configOperation === configOperations.APPEND ? 'append' : 'subtract';
      if (rule?.isList !== true)
        throw new ProtocolError(errorCodes.INVALID_CONFIG, `Config value ${verb} is not allowed for config key: ${name}`);
      const before = listOf(configs.get(name) ?? rule.defaultValue ?? '');
      const given = listOf(value ?? '');
      const after = verb === 'append' ? [...new Set([...before, ...given])] : before.filter((element) => !given.includes(element));
      configs.set(name, after.join(','));
      return;
    }
    default:
      throw invalidRequest(`Unknown operation ${configOperation} for the config ${name}.`);
  }
}

function listOf(text: string): string[] {
  return text
    .split(',')
    .map((element) => element.trim())
    .filter((element) => element !== '');
}

function invalidRequest(message: string): ProtocolError {
  return new ProtocolError(errorCodes.INVALID_REQUEST, message);
}

// ---- Resources and their places in the tree ----

const entityTypes: readonly (readonly [ConfigResourceType, ConfigEntityType])[] = [
  [configResourceTypes.TOPIC, 'topics'],
  [configResourceTypes.BROKER, 'brokers'],
  [configResourceTypes.GROUP, 'groups'],
  [configResourceTypes.CLIENT_METRICS, 'client-metrics'],
];

/** Kept by the follower of other entities: quotas, and the credentials of users. */
const otherEntityTypes: readonly ConfigEntityType[] = ['users', 'clients', 'ips'];

function entityTypeOf(type: ConfigResourceType): ConfigEntityType {
  return entityTypes.find(([candidate]) => candidate === type)?.[1] ?? 'topics';
}

/** Groups and subscriptions to client-metrics may be called anything. */
function isSanitized(type: ConfigResourceType): boolean {
  return type === configResourceTypes.GROUP || type === configResourceTypes.CLIENT_METRICS;
}

function entityOf({ type, name }: ConfigResource): string {
  if (type === configResourceTypes.BROKER && name === '') return defaultEntityName;
  return isSanitized(type) ? sanitizeName(name) : name;
}

function resourceOf(type: ConfigResourceType, entity: string): ConfigResource {
  if (type === configResourceTypes.BROKER && entity === defaultEntityName) return { type, name: '' };
  return { type, name: isSanitized(type) ? desanitizeName(entity) : entity };
}

function nodeOf(resource: ConfigResource): ConfigEntity {
  return { type: entityTypeOf(resource.type), path: entityOf(resource) };
}

function pathOf(resource: ConfigResource): string {
  return configNode.path(entityTypeOf(resource.type), entityOf(resource));
}
