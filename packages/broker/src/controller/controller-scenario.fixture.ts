// Controllers and brokers in memory, for the golden scripts in testdata. Brokers are registrations that answer every request
// and write down what they were told.

import {
  type BrokerRegistration,
  brokerIdNode,
  type Coordination,
  CoordinationError,
  configNode,
  deleteTopicNode,
  EmbeddedStore,
  type PartitionName,
  partitionStateNode,
  preferredReplicaElectionNode,
  reassignPartitionsNode,
  topicNode,
} from '@odradek/coordination';
import {
  errorByCode,
  errorCodes,
  LeaderAndIsrRequest,
  type Message,
  type MessageDefinition,
  ProtocolError,
  StopReplicaRequest,
  UpdateMetadataRequest,
} from '@odradek/protocol';
import { createLogger, SystemTimer, systemClock } from '@odradek/runtime';
import { SimulatedDisk, SimulatedWorld } from '@odradek/testing';
import { createPersistentPaths, registerBroker } from '../broker-registration.ts';
import { CurrentSession } from '../current-session.ts';
import type { BrokerChannel } from './broker-channel.ts';
import { Controller, type WantedMove } from './controller.ts';
import { HeldSession } from './held-session.fixture.ts';

const logger = createLogger({ level: 'fatal' });

interface ScenarioBroker {
  readonly session: Coordination;
  /** The same, to be put out of reach. */
  readonly held: HeldSession;
  /** What the controller holds: the session, or, while it is cut off, none. */
  readonly current: CurrentSession;
  controller?: Controller;
}

export class ControllerScenario {
  readonly #timer = new SystemTimer(systemClock);
  readonly #store: EmbeddedStore;
  /** Writes topics and wishes as admin tools do, and looks at the tree. */
  readonly #admin: Coordination;
  readonly #brokers = new Map<number, ScenarioBroker>();
  /** Partitions that a broker has lost, as `broker/topic-partition`. */
  readonly #failedLogs = new Set<string>();
  readonly #uncleanTopics = new Set<string>();
  /** For the controller's own time, which stands still unless a script waits. */
  readonly #world = new SimulatedWorld({ seed: 1 });
  #isBalanced = false;
  #lastActive: Controller | undefined;
  readonly #unanswered: Promise<void>[] = [];
  #output: string[] = [];
  #tree = new Map<string, string>();
  #activity = 0;

  private constructor(store: EmbeddedStore, admin: Coordination) {
    this.#store = store;
    this.#admin = admin;
  }

  static async open(): Promise<ControllerScenario> {
    const timer = new SystemTimer(systemClock);
    const store = await EmbeddedStore.open({
      fileSystem: new SimulatedDisk(),
      timer,
      clock: systemClock,
      logger,
      directory: '/data',
    });
    const admin = await store.openSession();
    await createPersistentPaths(admin);
    const scenario = new ControllerScenario(store, admin);
    scenario.#tree = await scenario.#readTree();
    return scenario;
  }

  async close(): Promise<void> {
    await Promise.all(this.#unanswered);
    for (const { controller } of this.#brokers.values()) await controller?.close();
    await this.#store.close();
    this.#timer.close();
  }

  /** Carries out the commands, and tells all that came of them. */
  async run(commands: readonly string[]): Promise<string> {
    for (const command of commands) {
      const [verb = '', ...parameters] = command.split(/\s+/);
      await this.#carryOut(verb, parameters);
      await this.#quiet();
    }
    const after = await this.#readTree();
    const changes = treeChanges(this.#tree, after);
    this.#tree = after;
    return [...this.#output.splice(0), ...changes].join('\n') || 'nothing';
  }

  async #carryOut(verb: string, [first = '', ...rest]: readonly string[]): Promise<void> {
    switch (verb) {
      case 'broker':
        return this.#startBroker(Number(first), rest[0] ?? null);
      case 'controller':
        return this.#startController(Number(first));
      case 'die':
        return this.#die(Number(first));
      case 'create':
        return void (await this.#admin.multi([
          { type: 'create', path: configNode.path('topics', first), data: configNode.encode(new Map()) },
          { type: 'create', path: topicNode.path(first), data: topicNode.encode(assignment(first, rest)) },
        ]));
      case 'create-without-id':
        return void (await this.#admin.create(
          topicNode.path(first),
          topicNode.encode({ ...assignment(first, rest), topicId: undefined }),
        ));
      case 'grow':
      case 'grow-without-id': {
        const { data } = await this.#admin.get(topicNode.path(first));
        const before = topicNode.decode(first, data);
        const replicas = new Map([...before.replicas, ...assignment(first, rest).replicas]);
        const topicId = verb === 'grow' ? before.topicId : undefined;
        return void (await this.#admin.set(topicNode.path(first), topicNode.encode({ ...before, replicas, topicId })));
      }
      case 'move': {
        const { topic, partition } = partitionOf(first);
        const brokers = (sign: string) => rest.filter((word) => word.startsWith(sign)).map((word) => Number(word.slice(1)));
        const { data } = await this.#admin.get(topicNode.path(topic));
        const before = topicNode.decode(topic, data);
        const moved = {
          addingReplicas: new Map([[partition, brokers('+')]]),
          removingReplicas: new Map([[partition, brokers('-')]]),
        };
        return void (await this.#admin.set(topicNode.path(topic), topicNode.encode({ ...before, ...moved })));
      }
      case 'moves':
        for (const { topic, partition, ...move } of await this.#active().reassignments()) {
          const { replicas, addingReplicas, removingReplicas } = move;
          this.#say(`moving ${topic}-${partition}: [${replicas}], adding [${addingReplicas}], removing [${removingReplicas}]`);
        }
        return;
      case 'delete':
        return void (await this.#admin.create(deleteTopicNode.path(first), null));
      case 'unclean':
        this.#uncleanTopics.add(first);
        return;
      case 'isr': {
        const [topic = '', partition = ''] = first.split(/-(?=\d+$)/);
        const path = partitionStateNode.path(topic, Number(partition));
        const { data } = await this.#admin.get(path);
        const isr = (rest[0] ?? '').split(',').map(Number);
        return void (await this.#admin.set(path, partitionStateNode.encode({ ...partitionStateNode.decode(path, data), isr })));
      }
      case 'elect': {
        const outcomes = await this.#active().electLeaders(
          first === 'unclean' ? 'unclean' : 'preferred',
          rest.length === 0 ? null : rest.map(partitionOf),
        );
        for (const { topic, partition, error } of outcomes)
          this.#say(`elected ${topic}-${partition}: ${error?.codeName ?? 'done'}`);
        return;
      }
      case 'shutdown': {
        const stat = await this.#admin.exists(brokerIdNode.path(Number(first)));
        const remaining = await this.#active().shutDownBroker(Number(first), stat?.czxid ?? -1);
        this.#say(
          `broker ${first} still leads: ${remaining.map(({ topic, partition }) => `${topic}-${partition}`).join(' ') || 'nothing'}`,
        );
        return;
      }
      case 'bounce':
        // Both before the controller gets to look.
        for (const id of [first, ...rest]) await this.#store.expireSession(this.#broker(Number(id)).session.sessionId);
        for (const id of [first, ...rest]) await this.#startBroker(Number(id), null);
        return;
      case 'cut':
        return this.#broker(Number(first)).current.replace(cutOff(this.#broker(Number(first)).session.sessionId));
      case 'mend':
        return this.#broker(Number(first)).current.replace(this.#broker(Number(first)).session);
      case 'out-of-reach':
        return this.#broker(Number(first)).held.become('disconnected');
      case 'lapse':
        return this.#broker(Number(first)).held.become('lapsed');
      case 'back':
        return this.#broker(Number(first)).held.become('connected');
      case 'asking':
        // Nobody waits for the answer, which comes when it comes.
        this.#unanswered.push(this.#carryOut(first, rest));
        return;
      case 'balanced':
        this.#isBalanced = true;
        return;
      case 'wait':
        return this.#world.advance(Number(first));
      case 'reassign':
      case 'cancel':
        return this.#reassign([{ ...partitionOf(first), target: verb === 'cancel' ? undefined : idsIn(rest[0]) }]);
      case 'sync':
        return this.#sync(partitionOf(first), idsIn(rest[0]), new Map(rest.slice(1).map((word) => splitAt(word, '='))));
      case 'request-move': {
        const moves = [first, ...rest].map((word) => splitAt(word, '='));
        const wanted = moves.map(([name, ids]) => ({ ...partitionOf(name), replicas: idsIn(ids) }));
        return void (await this.#admin.create(reassignPartitionsNode.path, reassignPartitionsNode.encode(wanted)));
      }
      case 'request-election': {
        const wanted = preferredReplicaElectionNode.encode([first, ...rest].map(partitionOf));
        return void (await this.#admin.create(preferredReplicaElectionNode.path, wanted));
      }
      case 'lose':
        for (const partition of rest) this.#failedLogs.add(`${first}/${partition}`);
        return this.#announceFailure(first);
      case 'regain': {
        // The topic is to be deleted at that very moment.
        const [partition, topic] = rest;
        this.#failedLogs.delete(`${first}/${partition}`);
        const announced = this.#announceFailure(first);
        if (topic !== undefined) await this.#admin.create(deleteTopicNode.path(topic), null);
        return announced;
      }
      default:
        throw new Error(`unknown command ${verb}`);
    }
  }

  async #announceFailure(brokerId: string): Promise<void> {
    const event = Buffer.from(`{"version":1,"broker":${brokerId},"event":1}`);
    await this.#admin.create('/log_dir_event_notification/log_dir_event_', event, { sequential: true });
  }

  async #reassign(moves: readonly WantedMove[]): Promise<void> {
    try {
      const outcomes = await this.#active().alterReassignments(moves, { mayChangeReplicationFactor: true });
      for (const { topic, partition, error } of outcomes) {
        this.#say(`${topic}-${partition}: ${error === undefined ? 'begun' : `${error.codeName}: ${error.message}`}`);
      }
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.#say(`no move: ${error.codeName}`);
    }
  }

  /** The leader asks for these in-sync replicas. `by`, `leader-epoch`, `partition-epoch`, `broker-epoch` and `recovering` say otherwise than it would. */
  async #sync({ topic, partition }: PartitionName, isr: readonly number[], said: ReadonlyMap<string, string>): Promise<void> {
    const { data, stat } = await this.#admin.get(partitionStateNode.path(topic, partition));
    const { leader, leaderEpoch } = partitionStateNode.decode(topic, data);
    const number = (name: string, otherwise: number): number => Number(said.get(name) ?? otherwise);
    const brokerId = number('by', leader);
    const registered = await this.#admin.exists(brokerIdNode.path(brokerId));
    const wanted = {
      topic: { name: topic },
      partition,
      leader: brokerId,
      leaderEpoch: number('leader-epoch', leaderEpoch),
      isr,
      brokerEpochs: new Map(isr.map((replica) => [replica, number('replica-epoch', -1)])),
      isLeaderRecovering: said.has('recovering'),
      partitionEpoch: number('partition-epoch', stat.version),
    };
    const asking = { brokerId, brokerEpoch: number('broker-epoch', registered?.czxid ?? -1) };
    try {
      const [outcome] = await this.#active().alterPartitions(asking, [wanted], { ineligibleCode: errorCodes.INELIGIBLE_REPLICA });
      const name = outcome?.leadership === undefined ? errorByCode(outcome?.errorCode ?? -1).name : 'done';
      this.#say(`${topic}-${partition} in sync ${list(isr)}: ${name}`);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.#say(`${topic}-${partition} in sync ${list(isr)}: ${error.codeName}`);
    }
  }

  #broker(id: number): ScenarioBroker {
    const broker = this.#brokers.get(id);
    if (broker === undefined) throw new Error(`there is no broker ${id}`);
    return broker;
  }

  async #startBroker(id: number, rack: string | null): Promise<void> {
    const session = await this.#store.openSession();
    const held = new HeldSession(session);
    this.#brokers.set(id, { session: held, held, current: new CurrentSession(held) });
    const endpoints = [{ listener: 'PLAINTEXT', securityProtocol: 'PLAINTEXT', host: `b${id}`, port: 9092 }];
    await registerBroker(
      session,
      { id, rack, endpoints },
      { clock: systemClock, timer: this.#timer, logger, sessionTimeoutMs: 1000 },
    );
  }

  async #startController(id: number): Promise<void> {
    const broker = this.#broker(id);
    broker.controller = new Controller({
      brokerId: id,
      interBrokerListenerName: 'PLAINTEXT',
      coordination: broker.current,
      channel: this.#channel(),
      clock: systemClock,
      timer: this.#world.timer,
      logger,
      isUncleanElectionEnabled: (topic) => this.#uncleanTopics.has(topic),
      isTopicDeletionEnabled: () => true,
      loadTopicConfigs: async () => undefined,
      topicIdFor: (topic) => `new-id-of-${topic}`.padEnd(22, 'A'),
      leaderBalance: () => ({ isEnabled: this.#isBalanced, checkIntervalMs: 300_000, maxImbalancePercent: 10 }),
    });
    await broker.controller.start();
  }

  async #die(id: number): Promise<void> {
    const { session } = this.#broker(id);
    this.#brokers.delete(id);
    await this.#store.expireSession(session.sessionId);
  }

  /** Or the one that was last seen so. */
  #active(): Controller {
    const controller = [...this.#brokers.values()].find((broker) => broker.controller?.isActive === true)?.controller;
    this.#lastActive = controller ?? this.#lastActive;
    if (this.#lastActive === undefined) throw new Error('there is no active controller');
    return this.#lastActive;
  }

  #channel(): BrokerChannel {
    return {
      send: async <Q extends MessageDefinition, A extends MessageDefinition>(
        { id: brokerId }: BrokerRegistration,
        { request }: { readonly request: Q; readonly response: A },
        body: Message<Q>,
      ): Promise<Message<A>> => {
        if (!this.#brokers.has(brokerId)) throw new Error(`broker ${brokerId} is gone`);
        const answer = this.#take(brokerId, request, body);
        return answer as Message<A>;
      },
      forget: () => undefined,
    };
  }

  /** The definitions tell which request it is; the cast follows them. */
  #take(brokerId: number, definition: MessageDefinition, body: unknown): unknown {
    switch (definition) {
      case LeaderAndIsrRequest: {
        const request = body as LeaderAndIsrRequest;
        for (const line of describeLeaderAndIsr(request)) this.#say(`→ ${brokerId} LeaderAndIsr ${line}`);
        return {
          errorCode: 0,
          partitionErrors: [],
          topics: request.topicStates.map(({ topicId, topicName, partitionStates }) => ({
            topicId,
            partitionErrors: partitionStates.map(({ partitionIndex }) => ({
              topicName: '',
              partitionIndex,
              errorCode: this.#failedLogs.has(`${brokerId}/${topicName}-${partitionIndex}`) ? errorCodes.KAFKA_STORAGE_ERROR : 0,
            })),
          })),
        };
      }
      case UpdateMetadataRequest:
        this.#say(`→ ${brokerId} UpdateMetadata ${describeMetadata(body as UpdateMetadataRequest)}`);
        return { errorCode: 0 };
      case StopReplicaRequest: {
        const request = body as StopReplicaRequest;
        for (const line of describeStopReplica(request)) this.#say(`→ ${brokerId} StopReplica ${line}`);
        return {
          errorCode: 0,
          partitionErrors: request.topicStates.flatMap(({ topicName, partitionStates }) =>
            partitionStates.map(({ partitionIndex }) => ({ topicName, partitionIndex, errorCode: 0 })),
          ),
        };
      }
      default:
        throw new Error(`${definition.name} is not a request of the controller`);
    }
  }

  #say(line: string): void {
    this.#activity++;
    this.#output.push(line);
  }

  /** Until nothing has happened for some turns of the event loop. */
  async #quiet(): Promise<void> {
    for (let idle = 0, seen = -1; idle < 20; ) {
      await new Promise((resolve) => setImmediate(resolve));
      const { czxid } = (await this.#admin.create('/turn_', null, { sequential: true, ephemeral: true })).stat;
      // Each look is a transaction itself.
      const activity = this.#activity + czxid;
      idle = activity === seen + 1 ? idle + 1 : 0;
      seen = activity;
    }
  }

  async #readTree(): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    const look = async (path: string): Promise<void> => {
      const { data } = await this.#admin.get(path);
      found.set(path, data === null ? '' : data.toString());
      const { names } = await this.#admin.children(path);
      await Promise.all(
        names.filter((name) => !name.startsWith('turn_')).map((name) => look(path === '/' ? `/${name}` : `${path}/${name}`)),
      );
    };
    await look('/');
    return found;
  }
}

function partitionOf(text: string): { topic: string; partition: number } {
  const [topic = '', partition = ''] = text.split(/-(?=\d+$)/);
  return { topic, partition: Number(partition) };
}

/** A session whose store cannot be reached. */
function cutOff(sessionId: bigint): Coordination {
  const fail = (path: string): Promise<never> => Promise.reject(new CoordinationError('ConnectionLoss', path));
  return {
    sessionId,
    state: 'disconnected',
    onState: () => () => undefined,
    create: fail,
    get: fail,
    set: fail,
    delete: fail,
    exists: fail,
    children: fail,
    multi: () => fail('/'),
    sync: fail,
    close: () => fail('/'),
  };
}

function idsIn(text = ''): number[] {
  return text
    .split(',')
    .filter((id) => id !== '')
    .map(Number);
}

function splitAt(text: string, separator: string): [string, string] {
  const [first = '', second = ''] = text.split(separator);
  return [first, second];
}

/** `0=1,2 1=2,1` */
function assignment(topic: string, parameters: readonly string[]): Parameters<typeof topicNode.encode>[0] {
  const replicas = new Map(
    parameters.map((parameter) => {
      const [index, ids = ''] = parameter.split('=');
      return [Number(index), ids.split(',').map(Number)];
    }),
  );
  return { topicId: `id-of-${topic}`.padEnd(22, 'A'), replicas, addingReplicas: new Map(), removingReplicas: new Map() };
}

function list(ids: readonly number[]): string {
  return `[${ids.join(',')}]`;
}

function describeLeaderAndIsr(request: LeaderAndIsrRequest): string[] {
  return request.topicStates.flatMap(({ topicName, partitionStates }) =>
    partitionStates.map((state) => {
      const flags = [state.isNew ? ' new' : '', state.leaderRecoveryState === 1 ? ' recovering' : ''].join('');
      return `${topicName}-${state.partitionIndex} leader ${state.leader} epoch ${state.leaderEpoch} isr ${list(state.isr)} of ${list(state.replicas)}${flags} (controller ${request.controllerId}, epoch ${request.controllerEpoch})`;
    }),
  );
}

function describeMetadata(request: UpdateMetadataRequest): string {
  const partitions = request.topicStates.flatMap(({ topicName, partitionStates }) =>
    partitionStates.map((state) => {
      const offline = state.offlineReplicas.length > 0 ? ` offline ${list(state.offlineReplicas)}` : '';
      return `${topicName}-${state.partitionIndex} leader ${state.leader} isr ${list(state.isr)}${offline}`;
    }),
  );
  return [`brokers ${list(request.liveBrokers.map(({ id }) => id))}`, ...partitions].join('; ');
}

function describeStopReplica(request: StopReplicaRequest): string[] {
  return request.topicStates.flatMap(({ topicName, partitionStates }) =>
    partitionStates.map(
      (state) => `${topicName}-${state.partitionIndex} epoch ${state.leaderEpoch}${state.deletePartition ? ' delete' : ''}`,
    ),
  );
}

/** Created, changed and deleted nodes, in the order of their paths. Times are left out. */
function treeChanges(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
  return paths.flatMap((path) => {
    const [was, is] = [before.get(path), after.get(path)].map((data) => data?.replace(/"timestamp":"\d+"/, '"timestamp":"…"'));
    if (was === is && before.get(path) === after.get(path)) return [];
    if (is === undefined) return [`- ${path}`];
    return [`${was === undefined ? '+' : '±'} ${path}${is === '' ? '' : ` ${is}`}`];
  });
}
