// From a connection to an answer: the handlers, the router before them, the server of the sockets, and the listeners that it opens.

import { hostname } from 'node:os';
import type { BrokerConfig } from './broker-config.ts';
import type { BrokerDisk } from './broker-disk.ts';
import type { Assembly, Cluster, Services, State } from './broker-stages.ts';
import { type ListenerAddress, printListener } from './config/listeners.ts';
import { createHandlers } from './handlers/handlers.ts';
import type { BrokerEndpoint } from './metadata/metadata-cache.ts';
import { SocketServer } from './network/socket-server.ts';
import { socketServerLimits } from './network/socket-server-limits.ts';
import { startQuotas } from './quotas/start-quotas.ts';
import { FetchSessions } from './replication/fetch-sessions.ts';
import { RequestRouter } from './requests/request-router.ts';
import { guarded } from './security/guards/guards.ts';

/** How long a fetch session is safe from eviction: the value that Kafka has. */
const fetchSessionEvictionMs = 120_000;

export interface RequestHandling {
  readonly sockets: SocketServer;
}

/** From frames to answers: handlers, router, and the server of the sockets. */
export function buildRequestHandling(
  { config, world, loggers, stoppers }: Assembly,
  { logManager }: BrokerDisk,
  { membership, coordination, brokerId, isShared }: Cluster,
  state: State,
  services: Services,
): RequestHandling {
  const { clock, timer, random, network, fileSystem, metrics } = world;
  const { replicaManager } = state;
  const logger = loggers.root.child('requests');
  const brokerApis = new Set<number>();
  const isBrokerApi = (apiKey: number): boolean => brokerApis.has(apiKey);
  const quotas = startQuotas({ clock, metrics, config, clientQuotas: state.clientQuotas, isBrokerApi });
  stoppers.push(() => quotas.close());
  const handlers = createHandlers({
    brokerId,
    brokerEpoch: () => membership.epoch,
    // Brokers come in through their listener. Where clients use it, too, an authorizer must tell them apart.
    isFromBroker: ({ isPrivileged, listenerName }) => isPrivileged || (isShared && listenerName === config.interBrokerListenerName),
    clock,
    config,
    ...state,
    coordination,
    fetchSessions: new FetchSessions({
      slots: config.get('max.incremental.fetch.session.cache.slots'),
      evictionMs: fetchSessionEvictionMs,
      clock,
      random,
    }),
    logManager,
    ...services,
    ...quotas,
    controller: () => services.controller,
    loggers,
    logger,
    fileSystem,
  });
  for (const { api } of handlers.forBrokers) brokerApis.add(api.key);
  services.localChannel.serve(handlers.forBrokers);
  const { authorizer, metadataCache } = state;
  const isActiveController = (): boolean => services.controller.isActive;
  const autoCreatesTopics = (): boolean => config.get('auto.create.topics.enable');
  const all = [...handlers.forClients, ...handlers.forBrokers];
  const router = new RequestRouter({
    handlers:
      authorizer === undefined ? all : guarded(all, { brokerId, authorizer, metadataCache, isActiveController, autoCreatesTopics }),
    clock,
    logger,
    metrics,
    throttle: quotas.throttle,
  });
  const sockets = new SocketServer({
    network,
    clock,
    timer,
    logger: loggers.root.child('network'),
    requests: router,
    limits: () => socketServerLimits(config),
    interBrokerListenerName: config.interBrokerListenerName,
    turnAwayMs: (address) => quotas.addressRates.arrive(address),
  });
  stoppers.push(async () => {
    // Who waits for something is answered with what there is, and what was begun in this turn is still written.
    replicaManager.close();
    await new Promise<void>((resolve) => timer.afterThisTurn(resolve));
    sockets.closeConnections();
  });
  return { sockets };
}

export interface OpenListeners {
  /** What clients and other brokers are to be told now. */
  advertised(): readonly BrokerEndpoint[];
  /** Opens and closes listeners as the configuration has changed. Those that are in it still, by their names, stay as they are. */
  adapt(): Promise<void>;
}

/** Opens the listeners. Whoever connects before the broker is ready waits. */
export async function openListeners({ config, stoppers, logger }: Assembly, { sockets }: RequestHandling): Promise<OpenListeners> {
  stoppers.push(() => sockets.stopListening());
  for (const listener of config.listeners) await open(sockets, listener);
  return {
    advertised: () => advertisedEndpoints(config, sockets.listening),
    async adapt() {
      const wanted = config.listeners;
      for (const { name } of sockets.listening) {
        if (wanted.every((listener) => listener.name !== name)) await sockets.stopListeningOn(name);
      }
      for (const listener of wanted) {
        if (sockets.listening.some(({ name }) => name === listener.name)) continue;
        try {
          await open(sockets, listener);
        } catch (error) {
          logger.error('A listener that was added while the broker runs cannot be used', { error });
        }
      }
    },
  };
}

async function open(sockets: SocketServer, listener: ListenerAddress): Promise<void> {
  try {
    await sockets.listen(listener);
  } catch (error) {
    throw cannotOpen(listener, error);
  }
}

/** What the system means by its error, which stands behind it. */
const listenProblems: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there',
  EADDRNOTAVAIL: 'this machine does not have the address (clients can be told another one by advertised.listeners)',
  EACCES: 'the user of this process may not listen there',
  ENOTFOUND: 'nobody knows the host',
  EAI_AGAIN: 'the host cannot be looked up now',
};

/** Keeps the code of the system's error, for programs that look for it. */
function cannotOpen(listener: ListenerAddress, error: unknown): Error {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const [problem, message] = [listenProblems[code], error instanceof Error ? error.message : String(error)];
  const reason = problem === undefined ? message : `${problem} (${message})`;
  const failure = new Error(`The listener ${printListener(listener)} cannot be opened: ${reason}`, { cause: error });
  return code === '' ? failure : Object.assign(failure, { code });
}

/** What clients and brokers are told: this machine's name for every interface, and the port that was bound for port 0. */
function advertisedEndpoints(config: BrokerConfig, bound: readonly ListenerAddress[]): BrokerEndpoint[] {
  return config.advertisedListeners.flatMap(({ name, securityProtocol, host, port }) => {
    const listener = bound.find((each) => each.name === name);
    if (listener === undefined) return [];
    return [{ listener: name, securityProtocol, host: host === '' ? hostname() : host, port: port === 0 ? listener.port : port }];
  });
}
