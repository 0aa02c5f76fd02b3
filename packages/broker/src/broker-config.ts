// The configuration of a broker: what its file says, over it what was set for all brokers, and over that what was set for this one
// while it runs. Values are checked before they are used; `get` never fails.

import { ConfigError, type Properties, parseSetting, printSetting, type Setting, type SettingScalar } from '@odradek/runtime';
import { checkBrokerValues, checkThreadChanges } from './config/broker-checks.ts';
import { type BrokerSettingName, type BrokerSettingValue, brokerSettings } from './config/broker-settings.ts';
import { type DynamicQuotaName, dynamicQuotaSettings } from './config/dynamic-quota-settings.ts';
import { kraftSettings } from './config/kraft-settings.ts';
import { type ListenerAddress, parseListeners, parseProtocolMap } from './config/listeners.ts';
import { nearestName } from './config/nearest-name.ts';
import { listenerSetting } from './config/synonyms.ts';

/** Where a value of a setting comes from, the strongest first. */
export type ConfigLevel = 'dynamicBroker' | 'dynamicDefault' | 'static' | 'default';

/** One value that was given to a setting under one of its names. */
export interface ConfigOrigin {
  readonly level: ConfigLevel;
  readonly name: string;
  readonly text: string;
}

const nothing: Properties = new Map();
const allSettings: Readonly<Record<string, Setting>> = brokerSettings;

/**
 * What a broker starts with when it is given no file. It listens on the loopback address alone: it asks nobody for a password, so
 * it must not be open to the network before somebody has said so.
 */
export const builtInProperties: Properties = new Map([
  ['broker.id', '0'],
  ['listeners', 'PLAINTEXT://127.0.0.1:9092'],
  ['log.dirs', './data'],
]);

export class BrokerConfig {
  /** Things worth a line in the log at the start: keys that nobody knows, settings that have no effect here. */
  readonly warnings: readonly string[];
  /** The listener that brokers use among themselves. */
  readonly interBrokerListenerName: string;
  readonly #static: Properties;
  #dynamicDefault: Properties = nothing;
  #dynamicBroker: Properties = nothing;
  #values: ReadonlyMap<string, SettingScalar | null>;
  #open: OpenListeners;
  readonly #listeners = new Set<{ readonly names: ReadonlySet<string>; readonly listener: () => void }>();

  /** Throws ConfigError with one line that says what is wrong. */
  constructor(properties: Properties) {
    this.#static = withNodeId(properties);
    for (const [name, text] of this.#static) checkText(name, text);
    this.#values = this.#merge(nothing, nothing);
    checkBrokerValues((name) => this.get(name));
    this.#open = readListeners(this, (name) => this.get(name));
    this.interBrokerListenerName = this.#open.interBrokerListenerName;
    this.warnings = collectWarnings(this.#static, this.#open);
  }

  get<K extends BrokerSettingName>(name: K): BrokerSettingValue<K> {
    return this.#values.get(name) as BrokerSettingValue<K>;
  }

  /** A limit that exists only as a dynamic configuration of this broker; without one it is larger than anything. */
  quota(name: DynamicQuotaName): number {
    return this.#values.get(name) as number;
  }

  /** The value for one listener: `listener.name.LISTENER.NAME` where that is set, else as for all. */
  forListener<K extends BrokerSettingName>(listener: string, name: K): BrokerSettingValue<K> {
    return this.ofListenerAlone(listener, name) ?? this.get(name);
  }

  /** The value of `listener.name.LISTENER.NAME`; undefined where that is not set. */
  ofListenerAlone<K extends BrokerSettingName>(listener: string, name: K): BrokerSettingValue<K> | undefined {
    const own = `listener.name.${listener.toLowerCase()}.${name}`;
    const text = this.#dynamicBroker.get(own) ?? this.#dynamicDefault.get(own) ?? this.#static.get(own);
    if (text === undefined) return undefined;
    return parseSetting(own, allSettings[name] as Setting, text) as BrokerSettingValue<K>;
  }

  /** What is to be listened on now. KRaft's controller listeners are not among them. */
  get listeners(): readonly ListenerAddress[] {
    return this.#open.listeners;
  }

  /** What others are told now; an empty host stands for the machine's name, port 0 for the port that was bound. */
  get advertisedListeners(): readonly ListenerAddress[] {
    return this.#open.advertisedListeners;
  }

  /** The number given by node.id or broker.id; -1: to be generated. */
  get brokerId(): number {
    return this.get('broker.id');
  }

  get logDirs(): readonly string[] {
    return this.get('log.dirs') ?? this.get('log.dir');
  }

  /** Whether a value was given, in the file or later, and is not merely the default. */
  isSet(name: BrokerSettingName): boolean {
    return this.origins([name]).some(({ level }) => level !== 'default');
  }

  /** The value as it prints; null: unset. All digits are kept. */
  text(name: BrokerSettingName): string | null {
    const setting = allSettings[name] as Setting;
    const given = this.#dynamicBroker.get(name) ?? this.#dynamicDefault.get(name) ?? this.#static.get(name);
    return given === undefined ? setting.defaultText : printSetting(setting, given);
  }

  /** What was given under these names, the strongest first: by level, then in the order of the names. */
  origins(names: readonly string[]): ConfigOrigin[] {
    const levels: readonly (readonly [ConfigLevel, (name: string) => string | null | undefined])[] = [
      ['dynamicBroker', (name) => this.#dynamicBroker.get(name)],
      ['dynamicDefault', (name) => this.#dynamicDefault.get(name)],
      ['static', (name) => this.#static.get(name)],
      ['default', (name) => allSettings[name]?.defaultText],
    ];
    return levels.flatMap(([level, read]) =>
      names.flatMap((name) => {
        const text = read(name);
        return text === undefined || text === null ? [] : [{ level, name, text }];
      }),
    );
  }

  /** Everything that was given, by name, the strongest value of each; keys that nobody knows included. */
  given(): Properties {
    return new Map([...this.#static, ...this.#dynamicDefault, ...this.#dynamicBroker]);
  }

  /** What was set for all brokers while they run. */
  get dynamicDefaults(): Properties {
    return this.#dynamicDefault;
  }

  /**
   * Takes what the coordination store holds for this broker, or for all. Values that cannot be used are left out, and a line says
   * so: they were checked when they were set, by a broker that may have been another release.
   */
  setDynamic(level: 'dynamicBroker' | 'dynamicDefault', configs: Properties): string[] {
    const problems: string[] = [];
    const usable = new Map(
      [...configs].filter(([name, text]) => {
        try {
          checkText(name, text);
          return true;
        } catch (error) {
          if (!(error instanceof ConfigError)) throw error;
          problems.push(error.message);
          return false;
        }
      }),
    );
    const before = this.#values;
    if (level === 'dynamicBroker') this.#dynamicBroker = usable;
    else this.#dynamicDefault = usable;
    this.#values = this.#merge(this.#dynamicDefault, this.#dynamicBroker);
    try {
      this.#open = readListeners(this, (name) => this.get(name));
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(error.message);
    }
    this.#tell(before);
    return problems;
  }

  /**
   * Throws ConfigError when the configuration would not hold together with these in place of what the level has, or may not become
   * that at once.
   */
  checkDynamic(level: 'dynamicBroker' | 'dynamicDefault', configs: Properties): void {
    for (const [name, text] of configs) checkText(name, text);
    const values =
      level === 'dynamicBroker' ? this.#merge(this.#dynamicDefault, configs) : this.#merge(configs, this.#dynamicBroker);
    const after: typeof this.get = (name) => values.get(name) as never;
    checkBrokerValues(after);
    checkThreadChanges((name) => this.get(name), after);
    // What was stored by somebody else, and cannot be used here, is in the way of nothing else.
    if (listenerSettings.some((name) => String(this.get(name)) !== String(after(name)))) readListeners(this, after);
  }

  /** Calls the listener after the value of one of the settings has changed. Returns what ends it. */
  onChange(names: readonly (BrokerSettingName | DynamicQuotaName)[], listener: () => void): () => void {
    const entry = { names: new Set<string>(names), listener };
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  #tell(before: ReadonlyMap<string, SettingScalar | null>): void {
    const changed = [...this.#values].filter(([name, value]) => String(before.get(name)) !== String(value)).map(([name]) => name);
    for (const { names, listener } of this.#listeners) {
      if (changed.some((name) => names.has(name))) listener();
    }
  }

  #merge(dynamicDefault: Properties, dynamicBroker: Properties): Map<string, SettingScalar | null> {
    const values = new Map<string, SettingScalar | null>();
    for (const [name, setting] of Object.entries(allSettings)) {
      const text = dynamicBroker.get(name) ?? dynamicDefault.get(name) ?? this.#static.get(name);
      values.set(name, text === undefined ? setting.defaultValue : parseSetting(name, setting, text));
    }
    for (const [name, setting] of Object.entries<Setting>(dynamicQuotaSettings)) {
      const text = dynamicBroker.get(name);
      values.set(name, text === undefined ? setting.defaultValue : parseSetting(name, setting, text));
    }
    return values;
  }
}

/** node.id and broker.id are two names of one number. */
function withNodeId(properties: Properties): Map<string, string> {
  const all = new Map(properties);
  const [nodeId, brokerId] = [all.get('node.id')?.trim(), all.get('broker.id')?.trim()];
  if (nodeId !== undefined && brokerId !== undefined && nodeId !== brokerId) {
    throw new ConfigError(`node.id and broker.id are both set and differ: ${nodeId} and ${brokerId}`);
  }
  const id = nodeId ?? brokerId;
  if (id !== undefined) all.set('node.id', id).set('broker.id', id);
  return all;
}

/** Checks the text of a setting that is known, alone or for one listener. Other keys may be anything. */
function checkText(name: string, text: string): void {
  const base = listenerSetting(name) ?? name;
  const setting = allSettings[base] ?? (dynamicQuotaSettings as Readonly<Record<string, Setting>>)[base];
  if (setting !== undefined) parseSetting(name, setting, text);
}

/** What says where the broker listens and what others are told of that. */
export const listenerSettings = ['listeners', 'advertised.listeners', 'listener.security.protocol.map'] as const;

interface OpenListeners {
  readonly listeners: readonly ListenerAddress[];
  readonly advertisedListeners: readonly ListenerAddress[];
  readonly interBrokerListenerName: string;
  /** KRaft's controller listeners. */
  readonly unopened: readonly string[];
}

/** Throws ConfigError. */
function readListeners(config: BrokerConfig, get: BrokerConfig['get']): OpenListeners {
  const protocols = parseProtocolMap(get('listener.security.protocol.map'));
  const controllerNames = (config.get('controller.listener.names') ?? []).map((name) => name.toUpperCase());
  const isController = (entry: string) => controllerNames.includes((entry.split('://')[0] ?? '').toUpperCase());
  const entries = get('listeners').filter((entry) => !isController(entry));
  const listeners = parseListeners('listeners', entries, protocols);
  if (listeners.length === 0)
    throw new ConfigError('listeners names nothing but listeners of a KRaft controller, so no client could connect');
  const told = get('advertised.listeners')?.filter((entry) => !isController(entry));
  const advertisedListeners = told === undefined ? listeners : parseListeners('advertised.listeners', told, protocols);
  const interBrokerListenerName = nameInterBrokerListener(config, protocols);
  checkAdvertised(config, listeners, advertisedListeners, interBrokerListenerName);
  return { listeners, advertisedListeners, interBrokerListenerName, unopened: get('listeners').filter(isController) };
}

function nameInterBrokerListener(config: BrokerConfig, protocols: ReadonlyMap<string, string>): string {
  const name = config.get('inter.broker.listener.name')?.toUpperCase();
  if (name === undefined) return config.get('security.inter.broker.protocol');
  if (config.isSet('security.inter.broker.protocol')) {
    throw new ConfigError('Only one of inter.broker.listener.name and security.inter.broker.protocol may be set');
  }
  if (!protocols.has(name)) {
    throw new ConfigError(
      `inter.broker.listener.name: the listener ${name} has no security protocol in listener.security.protocol.map`,
    );
  }
  return name;
}

function checkAdvertised(
  config: BrokerConfig,
  listeners: readonly ListenerAddress[],
  advertised: readonly ListenerAddress[],
  interBrokerListenerName: string,
): void {
  const opened = listeners.map(({ name }) => name);
  const names = advertised.map(({ name }) => name);
  if (names.length === 0) throw new ConfigError('advertised.listeners must name at least one listener that clients can use');
  const stray = names.find((name) => !opened.includes(name));
  if (stray !== undefined) {
    throw new ConfigError(`advertised.listeners names ${stray}, which is not one of listeners: ${opened.join(', ')}`);
  }
  if (!names.includes(interBrokerListenerName)) {
    throw new ConfigError(
      `The listener for other brokers, ${interBrokerListenerName} (inter.broker.listener.name or security.inter.broker.protocol), is not one of advertised.listeners: ${names.join(', ')}`,
    );
  }
  const everywhere = advertised.find(({ host }) => host === '0.0.0.0');
  if (everywhere !== undefined) {
    const source = advertised === listeners ? 'advertised.listeners is not set, and listeners' : 'advertised.listeners';
    throw new ConfigError(
      `${source} would tell clients to connect to 0.0.0.0, which is no address: set advertised.listeners to one that they can reach, as ${everywhere.name}://HOST:${everywhere.port}`,
    );
  }
  const controlPlane = config.get('control.plane.listener.name')?.toUpperCase();
  if (controlPlane !== undefined && !names.includes(controlPlane)) {
    throw new ConfigError(`control.plane.listener.name: ${controlPlane} is not one of advertised.listeners: ${names.join(', ')}`);
  }
  if (controlPlane === interBrokerListenerName) {
    throw new ConfigError(`control.plane.listener.name must not be the listener for other brokers, ${interBrokerListenerName}`);
  }
  const secured = listeners.find(({ securityProtocol }) => securityProtocol !== 'PLAINTEXT');
  if (secured !== undefined) {
    throw new ConfigError(`The listener ${secured.name} needs ${secured.securityProtocol}, which this build does not offer yet`);
  }
}

/** Nodes of one quorum would each be a cluster, and clients that know them all would find this or that. */
function aloneInstead(given: Properties): string {
  if (given.has('zookeeper.connect')) return '';
  return '; this broker is a cluster of its own, and several are one with zookeeper.connect';
}

function meantInstead(name: string): string {
  const near = nearestName(name, Object.keys(allSettings));
  return near === undefined ? '' : `; ${near} is a setting`;
}

/** Prefixes of keys that belong to plug-ins. */
const pluginPrefixes = ['rsm.config.', 'rlmm.config.', 'config.providers.'];

function collectWarnings(given: Properties, { advertisedListeners, unopened }: OpenListeners): string[] {
  const names = [...given.keys()];
  const unknown = names.filter(
    (name) => allSettings[listenerSetting(name) ?? name] === undefined && !pluginPrefixes.some((prefix) => name.startsWith(prefix)),
  );
  if (names.length > 0 && unknown.length === names.length) {
    throw new ConfigError(`Nothing of what is given is a setting of a broker: ${unknown.slice(0, 3).join(', ').slice(0, 100)}`);
  }
  const kraft = names.filter((name) => name in kraftSettings);
  return [
    ...unknown.map((name) => `Unknown configuration ${name} is ignored${meantInstead(name)}`),
    ...(kraft.length === 0 ? [] : [`Odradek has no KRaft quorum and ignores ${kraft.join(', ')}${aloneInstead(given)}`]),
    ...(/(^|,)\s*~/.test(given.get('log.dirs') ?? given.get('log.dir') ?? '')
      ? ['log.dirs begins with ~, which stands for a folder of that name here, and not for the home of anybody']
      : []),
    ...(advertisedListeners.some(({ host }) => host === '::')
      ? ['Clients are told to connect to [::], which reaches no other machine: advertised.listeners can name an address that does']
      : []),
    ...unopened.map((entry) => `The listener ${entry} is for a KRaft controller and is not opened`),
  ];
}
