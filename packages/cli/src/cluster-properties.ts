// The settings of each broker of `odradek cluster`: those that the user gave, with numbers, ports and directories of its own, and with
// the replication that so many brokers can offer.

import { ConfigError, type Properties } from '@odradek/runtime';

export interface ClusterBroker {
  readonly id: number;
  /** All that the broker starts with. */
  readonly properties: Properties;
  /** Of these what the user did not give: what tells the broker from the others, and the defaults of a cluster. */
  readonly own: Properties;
}

export interface ClusterPlan {
  readonly brokers: readonly ClusterBroker[];
  /** The directory under which everything lies; the first where several were named. */
  readonly directory: string;
}

const firstPort = 9092;

/**
 * Brokers count on from the number that was given (else from 0), their listeners from the ports that were given (else from 9092), and each
 * has a directory that is named by its number within every one that was given (else ./data). Throws ConfigError.
 */
export function planCluster(given: Properties, count: number): ClusterPlan {
  const firstId = firstBrokerId(given);
  const directories = listOf(given.get('log.dirs') ?? given.get('log.dir') ?? './data');
  const listeners = listOf(given.get('listeners') ?? `PLAINTEXT://127.0.0.1:${firstPort}`);
  const advertised = listOf(given.get('advertised.listeners') ?? '');
  const [directory] = directories;
  if (directory === undefined) throw new ConfigError('log.dirs must name at least one directory');
  const brokers = Array.from({ length: count }, (_, index) => {
    const id = firstId + index;
    const own = new Map(replicationDefaults(count).filter(([name]) => !given.has(name)));
    for (const name of ['node.id', 'broker.id']) own.set(name, String(id));
    own.set('log.dirs', directories.map((path) => `${path.replace(/\/+$/, '')}/${id}`).join(','));
    own.set('listeners', movedPorts(listeners, index));
    if (advertised.length > 0) own.set('advertised.listeners', movedPorts(advertised, index));
    return { id, own, properties: new Map([...given, ...own]) };
  });
  checkPorts(brokers);
  return { brokers, directory };
}

/** Where the brokers of one process meet: what they share lies in this folder beside their directories. */
export function coordinationFolder(directory: string): string {
  return `${directory}/coordination`;
}

/** Internal topics, and those for which nobody says otherwise, are replicated as far as there are brokers, up to three times. */
function replicationDefaults(count: number): [name: string, value: string][] {
  const replicas = Math.min(3, count);
  const inSync = Math.max(1, replicas - 1);
  return [
    ['default.replication.factor', String(replicas)],
    ['offsets.topic.replication.factor', String(replicas)],
    ['transaction.state.log.replication.factor', String(replicas)],
    ['transaction.state.log.min.isr', String(inSync)],
    ['share.coordinator.state.topic.replication.factor', String(replicas)],
    ['share.coordinator.state.topic.min.isr', String(inSync)],
    // All stop together, and then the last ones have nobody to hand over to; that need not take the seconds that it does in Kafka.
    ['controlled.shutdown.retry.backoff.ms', '500'],
  ];
}

function firstBrokerId(given: Properties): number {
  const text = given.get('node.id') ?? given.get('broker.id') ?? '0';
  const id = Number(text);
  if (!Number.isInteger(id) || id < 0) {
    throw new ConfigError(`broker.id must be the number of the first broker, 0 or more, but is ${text}`);
  }
  return id;
}

/** A broker with several listeners takes as many ports, one after the other. */
function movedPorts(listeners: readonly string[], index: number): string {
  return listeners
    .map((listener) =>
      listener.replace(/:(\d+)$/, (_, port: string) => `:${port === '0' ? port : Number(port) + index * listeners.length}`),
    )
    .join(',');
}

function checkPorts(brokers: readonly ClusterBroker[]): void {
  const owners = new Map<string, number>();
  for (const { id, properties } of brokers) {
    for (const listener of listOf(properties.get('listeners') ?? '')) {
      const port = /:(\d+)$/.exec(listener)?.[1] ?? '0';
      const owner = owners.get(port);
      if (port !== '0' && owner !== undefined && owner !== id) {
        throw new ConfigError(
          `Brokers ${owner} and ${id} would both listen on port ${port}: leave more room between the listeners`,
        );
      }
      owners.set(port, id);
    }
  }
}

function listOf(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}
