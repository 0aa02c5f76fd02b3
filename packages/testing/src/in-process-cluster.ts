// Several brokers in the process of the test, which meet in one coordination store in memory, each with its own session. Requests
// between them can be looked at, held, answered and dropped.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Broker, startBroker } from '@odradek/broker';
import { type Coordination, EmbeddedStore } from '@odradek/coordination';
import { MetadataRequest, MetadataResponse } from '@odradek/protocol';
import { createLogger, createSystemWorld, SystemTimer, systemClock, type Timer } from '@odradek/runtime';
import { type InterceptedRequest, InterceptingNetwork, type Interceptor } from './intercepting-network.ts';
import { RawClient, type RawClientOptions } from './raw-client.ts';
import { SimulatedDisk } from './simulated-disk.ts';
import { until } from './until.ts';

export interface InProcessClusterOptions {
  /** How many; their ids count from 0. */
  readonly brokers: number;
  /** For all brokers; a function where they differ. */
  readonly properties?: BrokerProperties | ((brokerId: number) => BrokerProperties);
}

/** A request from one broker to another. */
export interface PeerRequest extends InterceptedRequest {
  readonly from: number;
  /** undefined: to nobody of the cluster. */
  readonly to: number | undefined;
}

export type ClusterInterceptor = (request: PeerRequest) => void;

type BrokerProperties = Readonly<Record<string, string | number | boolean>>;

interface RunningBroker {
  readonly broker: Broker;
  readonly lines: string[];
  readonly sessions: bigint[];
  readonly timer: Timer;
  readonly network: InterceptingNetwork;
  isDead: boolean;
}

/** What a cluster of a real installation need not wait for. */
const testProperties: BrokerProperties = {
  'offsets.topic.num.partitions': 3,
  'offsets.topic.replication.factor': 1,
  'group.initial.rebalance.delay.ms': 0,
  'controlled.shutdown.max.retries': 1,
  'replica.fetch.wait.max.ms': 50,
  'replica.fetch.backoff.ms': 20,
};

export class InProcessCluster {
  readonly store: EmbeddedStore;
  /** A session of the test's own, to look at the tree. */
  readonly coordination: Coordination;
  readonly #options: InProcessClusterOptions;
  readonly #timer: SystemTimer;
  readonly #directory: string;
  readonly #brokers = new Map<number, RunningBroker>();
  readonly #interceptors = new Map<number, ClusterInterceptor>();
  readonly #idsByPort = new Map<number, number>();
  readonly #clients: RawClient[] = [];

  private constructor(options: InProcessClusterOptions, store: EmbeddedStore, coordination: Coordination, timer: SystemTimer) {
    this.#options = options;
    this.store = store;
    this.coordination = coordination;
    this.#timer = timer;
    this.#directory = mkdtempSync(join(tmpdir(), 'odradek-cluster-'));
  }

  static async start(options: InProcessClusterOptions): Promise<InProcessCluster> {
    const timer = new SystemTimer(systemClock);
    const logger = createLogger({ level: 'fatal' });
    const store = await EmbeddedStore.open({
      fileSystem: new SimulatedDisk(),
      timer,
      clock: systemClock,
      logger,
      directory: '/tree',
    });
    const cluster = new InProcessCluster(options, store, await store.openSession(), timer);
    try {
      for (let id = 0; id < options.brokers; id++) await cluster.startBroker(id);
      for (const id of cluster.brokerIds) await cluster.#untilEveryoneIsKnown(id);
    } catch (error) {
      await cluster.close();
      throw error;
    }
    return cluster;
  }

  /** The controller has told the broker of all others. */
  async #untilEveryoneIsKnown(id: number): Promise<void> {
    const { host, port } = this.broker(id).address();
    await using client = await RawClient.connect({ host, port });
    await until(`broker ${id} knows the cluster`, async () => {
      const { brokers, controllerId } = await client.send(MetadataRequest, MetadataResponse, 12, { topics: [] });
      return brokers.length === this.#brokers.size && this.#brokers.has(controllerId);
    });
  }

  /** Starts a broker, for the first time or again with the data that it had. */
  async startBroker(id: number): Promise<Broker> {
    const { properties = {} } = this.#options;
    const lines: string[] = [];
    const sessions: bigint[] = [];
    const life = { isDead: false };
    const world = createSystemWorld();
    const interceptorOf = (apiKey: number): Interceptor | undefined => {
      const interceptor = this.#interceptors.get(apiKey);
      if (interceptor === undefined) return undefined;
      return (request) => interceptor({ from: id, to: this.#idsByPort.get(request.port), ...request });
    };
    const network = new InterceptingNetwork(world.network, interceptorOf, (port) => void this.#idsByPort.set(port, id));
    const broker = await startBroker({
      properties: {
        ...testProperties,
        'broker.id': id,
        listeners: 'PLAINTEXT://127.0.0.1:0',
        'log.dirs': this.dataDirectory(id),
        ...(typeof properties === 'function' ? properties(id) : properties),
      },
      world: {
        ...world,
        network,
        logger: createLogger({ level: 'info', write: (text) => void lines.push(text) }),
      },
      coordination: {
        openSession: async () => {
          if (life.isDead) throw new Error('This broker is dead');
          const session = await this.store.openSession();
          sessions.push(session.sessionId);
          return session;
        },
      },
    });
    this.#brokers.set(id, Object.assign(life, { broker, lines, sessions, timer: world.timer, network }));
    return broker;
  }

  broker(id: number): Broker {
    return this.#running(id).broker;
  }

  /** Ids of the brokers that run. */
  get brokerIds(): number[] {
    return [...this.#brokers.keys()];
  }

  dataDirectory(id: number): string {
    return join(this.#directory, String(id));
  }

  /** All that the broker has logged. */
  log(id: number): string {
    return this.#running(id).lines.join('');
  }

  /** Stops a broker in order. */
  async stopBroker(id: number): Promise<void> {
    const { broker, timer } = this.#running(id);
    this.#brokers.delete(id);
    await broker.close();
    timer.close();
  }

  /** As kill -9 looks to the others, but for what the operating system keeps: nothing is heard of the broker from now on. */
  async killBroker(id: number): Promise<void> {
    const running = this.#running(id);
    running.isDead = true;
    running.network.cut();
    await this.expireSession(id);
    await this.stopBroker(id);
  }

  /** Ends a broker's session in the store, as if it had not been heard of for too long. It lives on. */
  async expireSession(id: number): Promise<void> {
    const sessionId = this.#running(id).sessions.at(-1);
    if (sessionId !== undefined) await this.store.expireSession(sessionId);
  }

  /**
   * Shows every request of this kind that one broker sends to another; what is to become of it is the interceptor's to say. What a broker
   * says to itself goes over no network. Returns how to stop.
   */
  intercept(apiKey: number, interceptor: ClusterInterceptor): () => void {
    this.#interceptors.set(apiKey, interceptor);
    return () => void this.#interceptors.delete(apiKey);
  }

  /** A client of one broker, closed with the cluster. */
  async client(id: number, options: Partial<RawClientOptions> = {}): Promise<RawClient> {
    const { host, port } = this.broker(id).address();
    const client = await RawClient.connect({ host, port, ...options });
    this.#clients.push(client);
    return client;
  }

  async close(): Promise<void> {
    this.#interceptors.clear();
    await Promise.all(this.#clients.map((client) => client.close()));
    // One after the other, so that each can hand over what it leads.
    for (const id of this.brokerIds) await this.stopBroker(id);
    await this.store.close();
    this.#timer.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #running(id: number): RunningBroker {
    const running = this.#brokers.get(id);
    if (running === undefined) throw new Error(`Broker ${id} does not run`);
    return running;
  }
}

export function startCluster(options: InProcessClusterOptions): Promise<InProcessCluster> {
  return InProcessCluster.start(options);
}
