// A broker that is its own controller, without network and logs: what it is told goes to its metadata cache. For the tests
// of what admin requests do.

import { type BrokerRegistration, type Coordination, EmbeddedStore } from '@odradek/coordination';
import {
  errorCodes,
  LeaderAndIsrRequest,
  type Message,
  type MessageDefinition,
  ProtocolError,
  StopReplicaRequest,
  UpdateMetadataRequest,
} from '@odradek/protocol';
import { createLogger, type FileSystem, type Random, SeededRandom, SystemTimer, systemClock } from '@odradek/runtime';
import { SimulatedDisk } from '@odradek/testing';
import { createPersistentPaths, getOrCreateClusterId, registerBroker } from '../broker-registration.ts';
import type { BrokerChannel } from '../controller/broker-channel.ts';
import { Controller } from '../controller/controller.ts';
import { MetadataCache } from '../metadata/metadata-cache.ts';
import { randomUuid } from '../metadata/random-uuid.ts';
import { ConfigChanges, type ConfigRules, configResourceTypes } from './config-changes.ts';
import { TopicChanges } from './topic-changes.ts';

const logger = createLogger({ level: 'fatal' });

/** A few configs of each kind, enough to show what is checked. */
export const someRules: ConfigRules = {
  rule: (type, name) => {
    const isKnown = [
      'cleanup.policy',
      'retention.ms',
      'log.retention.ms',
      'broker.id',
      'consumer.session.timeout.ms',
      'interval.ms',
    ].includes(name);
    if (!isKnown) return undefined;
    return {
      isList: name === 'cleanup.policy',
      defaultValue: name === 'cleanup.policy' ? 'delete' : '1',
      updateMode: type === configResourceTypes.BROKER && name === 'broker.id' ? 'read-only' : 'cluster-wide',
    };
  },
  validate: ({ type }, overrides) => {
    for (const [name, value] of overrides) {
      const rule = someRules.rule(type, name);
      if (rule === undefined) throw new ProtocolError(errorCodes.INVALID_CONFIG, `Unknown config name: ${name}`);
      if (rule.updateMode === 'read-only')
        throw new ProtocolError(errorCodes.INVALID_REQUEST, `Cannot update these configs dynamically: [${name}]`);
      if (name.endsWith('.ms') && !/^-?\d+$/.test(value))
        throw new ProtocolError(errorCodes.INVALID_CONFIG, `Invalid value ${value} for ${name}`);
    }
  },
};

export interface OneBroker {
  readonly coordination: Coordination;
  readonly metadataCache: MetadataCache;
  readonly controller: Controller;
  readonly configChanges: ConfigChanges;
  readonly topicChanges: TopicChanges;
  /** What was sent to the brokers. */
  readonly requests: { readonly brokerId: number; readonly name: string; readonly body: unknown }[];
  /** While true the broker does not take in what it is told. */
  isDeaf: boolean;
  close(): Promise<void>;
}

export interface OneBrokerOptions {
  readonly fileSystem?: FileSystem;
  readonly random?: Random;
  readonly rack?: string;
  /** delete.topic.enable, default true. */
  readonly isDeletionEnabled?: boolean;
  /** Brokers that are registered as well, and take what they are told. */
  readonly others?: readonly { readonly id: number; readonly rack: string }[];
}

export async function startOneBroker(options: OneBrokerOptions = {}): Promise<OneBroker> {
  const timer = new SystemTimer(systemClock);
  const fileSystem = options.fileSystem ?? new SimulatedDisk();
  const store = await EmbeddedStore.open({ fileSystem, timer, clock: systemClock, logger, directory: '/data' });
  const coordination = await store.openSession();
  await createPersistentPaths(coordination);
  const random = options.random ?? new SeededRandom(1);
  const metadataCache = new MetadataCache(await getOrCreateClusterId(coordination, { random }));
  const endpoints = [{ listener: 'PLAINTEXT', securityProtocol: 'PLAINTEXT', host: '127.0.0.1', port: 9092 }];
  const parts = { clock: systemClock, timer, logger, sessionTimeoutMs: 1000 };
  await registerBroker(coordination, { id: 0, rack: options.rack ?? null, endpoints }, parts);
  for (const other of options.others ?? []) await registerBroker(await store.openSession(), { ...other, endpoints }, parts);
  const configChanges = await ConfigChanges.start({ coordination, metadataCache, rules: someRules, brokerId: 0, logger });
  const requests: OneBroker['requests'] = [];
  const broker = { isDeaf: false };
  const channel: BrokerChannel = {
    send: async <Q extends MessageDefinition, A extends MessageDefinition>(
      { id: brokerId }: BrokerRegistration,
      { request }: { readonly request: Q; readonly response: A },
      body: Message<Q>,
    ): Promise<Message<A>> => {
      requests.push({ brokerId, name: request.name, body });
      return answer(request, body, broker.isDeaf || brokerId !== 0 ? undefined : metadataCache) as Message<A>;
    },
    forget: () => undefined,
  };
  const controller = new Controller({
    brokerId: 0,
    interBrokerListenerName: 'PLAINTEXT',
    coordination,
    channel,
    clock: systemClock,
    timer,
    logger,
    isUncleanElectionEnabled: () => false,
    isTopicDeletionEnabled: () => true,
    loadTopicConfigs: (topics) => configChanges.loadTopics(topics),
    topicIdFor: () => randomUuid(random),
    leaderBalance: () => ({ isEnabled: false, checkIntervalMs: 300_000, maxImbalancePercent: 10 }),
  });
  await controller.start();
  const topicChanges = new TopicChanges({
    isCordoned: () => false,
    coordination,
    metadataCache,
    configChanges,
    rules: someRules,
    defaults: {
      numPartitions: 3,
      replicationFactor: 1,
      isDeletionEnabled: options.isDeletionEnabled ?? true,
      internalTopic: (name) =>
        name === '__consumer_offsets'
          ? { numPartitions: 5, replicationFactor: 1, configs: new Map([['cleanup.policy', 'compact']]) }
          : undefined,
    },
    isActiveController: () => controller.isActive,
    timer,
    random,
    logger,
  });
  return Object.assign(broker, {
    coordination,
    metadataCache,
    controller,
    configChanges,
    topicChanges,
    requests,
    close: async () => {
      configChanges.close();
      await controller.close();
      await store.close();
      timer.close();
    },
  });
}

/** As a broker without logs would answer. The definitions say what the body is. */
function answer(definition: MessageDefinition, body: unknown, metadataCache: MetadataCache | undefined): unknown {
  switch (definition) {
    case UpdateMetadataRequest:
      metadataCache?.update(body as UpdateMetadataRequest);
      return { errorCode: 0 };
    case LeaderAndIsrRequest:
      return { errorCode: 0, partitionErrors: [], topics: [] };
    case StopReplicaRequest:
      return {
        errorCode: 0,
        partitionErrors: (body as StopReplicaRequest).topicStates.flatMap(({ topicName, partitionStates }) =>
          partitionStates.map(({ partitionIndex }) => ({ topicName, partitionIndex, errorCode: 0 })),
        ),
      };
    default:
      throw new Error(`${definition.name} is not a request of the controller`);
  }
}
