// Several brokers' replicas of a partition (and of a second one that only goes along), on simulated machines that talk over a simulated network, and a controller that knows only
// the rules that a leader relies on. No coordination, no clients: what is under test is replication alone.

import assert from 'node:assert/strict';
import {
  AlterPartitionRequest,
  decodeMessage,
  encodeToBuffer,
  errorCodes,
  iterateBatches,
  type LeaderAndIsrRequest,
} from '@odradek/protocol';
import type { Properties } from '@odradek/runtime';
import { defaultLogConfig, type LogConfig, LogManager } from '@odradek/storage';
import type { CrashLeaves, SimulatedMachine, SimulatedWorld } from '@odradek/testing';
import { BrokerConfig } from '../broker-config.ts';
import { fetchHandler } from '../handlers/01-fetch.ts';
import { listOffsetsHandler } from '../handlers/02-list-offsets.ts';
import { apiVersionsHandler } from '../handlers/18-api-versions.ts';
import { offsetForLeaderEpochHandler } from '../handlers/23-offset-for-leader-epoch.ts';
import { batchOf } from '../handlers/broker-requests.fixture.ts';
import { MetadataCache, type MetadataUpdate } from '../metadata/metadata-cache.ts';
import { SocketServer } from '../network/socket-server.ts';
import { socketServerLimits } from '../network/socket-server-limits.ts';
import { replicated } from '../purgatory/delayed-produce.ts';
import type { Handler } from '../requests/handler.ts';
import { RequestRouter } from '../requests/request-router.ts';
import { FetchSessions } from './fetch-sessions.ts';
import type { Partition } from './partition.ts';
import { type Replication, startReplication } from './start-replication.ts';

export const topic = 't';
export const topicId = 'AAAAAAAAAAAAAAAAAAAAAQ';
const port = 9092;

type PartitionUpdate = MetadataUpdate['topicStates'][number]['partitionStates'][number];

/** What the controller knows of the partition. */
export interface Leadership {
  readonly leader: number;
  readonly leaderEpoch: number;
  readonly isr: readonly number[];
  readonly partitionEpoch: number;
}

export interface ReplicaNodesOptions {
  readonly ids?: readonly number[];
  readonly logConfig?: Partial<LogConfig>;
  readonly properties?: Readonly<Record<string, string>>;
  /** The highest version of Fetch that all brokers serve. */
  readonly maxFetchVersion?: number;
  /** What was set for the topic, and for all brokers while they run. */
  readonly topicOverrides?: Readonly<Record<string, string>>;
  readonly dynamicProperties?: Readonly<Record<string, string>>;
  /** How long the controller takes at most until it has written a change, and as long again until the leader hears of it. */
  readonly alterDelayMs?: number;
}

/** One life of a broker. */
class ReplicaNode {
  readonly id: number;
  readonly epoch: number;
  readonly machine: SimulatedMachine;
  readonly logManager: LogManager;
  readonly metadataCache = new MetadataCache('cluster');
  readonly replication: Replication;
  readonly sockets: SocketServer;

  constructor(nodes: ReplicaNodes, id: number, epoch: number) {
    this.id = id;
    this.epoch = epoch;
    this.machine = nodes.world.machine(nameOf(id));
    const { clock, timer, network, metrics, logger } = this.machine;
    const config = new BrokerConfig(nodes.propertiesOf(id));
    config.setDynamic('dynamicBroker', nodes.dynamicProperties);
    const topicLogConfig = (): LogConfig => nodes.logConfig;
    this.logManager = LogManager.open({
      world: this.machine,
      directories: ['/data', '/data2'],
      topicLogConfig,
      onDirectoryOffline: (directory) => this.replication.replicaManager.takeDirectoryOffline(directory),
    });
    this.replication = startReplication({
      world: this.machine,
      logger,
      config,
      brokerId: id,
      brokerEpoch: () => epoch,
      logManager: this.logManager,
      metadataCache: this.metadataCache,
      loadTopicConfigs: async () => undefined,
      topicLogConfig,
      topicOverrides: () => nodes.topicOverrides,
      // Each broker takes itself for the controller's machine: the way there is as long as the network wants.
      askController: (request) =>
        new Promise((resolve) => {
          const { max: version } = AlterPartitionRequest.versions;
          const asked = encodeToBuffer(AlterPartitionRequest, version, request(version));
          const delayMs = (): number => nodes.world.random.nextInt(nodes.alterDelayMs);
          timer.schedule(delayMs(), () => {
            const answer = nodes.controller.alterPartition(decodeMessage(AlterPartitionRequest, version, asked));
            timer.schedule(delayMs(), () => resolve(answer));
          });
        }),
    });
    const handlers = this.#handlers(nodes.maxFetchVersion);
    const requests = new RequestRouter({ handlers, clock, logger, metrics });
    this.sockets = new SocketServer({
      network,
      clock,
      timer,
      logger,
      requests,
      limits: () => socketServerLimits(config),
      interBrokerListenerName: 'PLAINTEXT',
    });
  }

  async start(): Promise<void> {
    this.logManager.claim(this.id, 'cluster');
    await this.logManager.load();
    await this.sockets.listen({ name: 'PLAINTEXT', securityProtocol: 'PLAINTEXT', host: this.machine.name, port });
    this.sockets.serve();
  }

  async close(): Promise<void> {
    await this.sockets.stopListening();
    this.replication.replicaManager.close();
    this.sockets.closeConnections();
    await this.replication.close();
    await this.logManager.close();
  }

  get partition(): Partition | undefined {
    return this.replication.replicaManager.find(topic, 0);
  }

  #handlers(maxFetchVersion: number | undefined): Handler[] {
    const { clock, random, logger } = this.machine;
    const { replicaManager } = this.replication;
    const fetchSessions = new FetchSessions({ slots: 100, evictionMs: 120_000, clock, random });
    const parts = { replicaManager, metadataCache: this.metadataCache, logger, fetchSessions };
    const handlers = [
      fetchHandler({ ...parts, ...this.replication, maxBytes: () => 50_000_000, convertsDown: () => true }),
      listOffsetsHandler({ ...parts, clock }),
      offsetForLeaderEpochHandler(parts),
    ];
    const served = handlers.map(({ api }) =>
      api.name === 'Fetch' && maxFetchVersion !== undefined
        ? { ...api, stableVersions: { min: api.versions.min, max: maxFetchVersion } }
        : api,
    );
    return [...handlers, apiVersionsHandler({ ...parts, brokerId: this.id, servedApis: () => served })] as Handler[];
  }
}

/** What a leader may rely on of a controller: changes are conditional, each writes a new version, orders to one broker keep their order. */
class FakeController {
  readonly #nodes: ReplicaNodes;
  leadership: Leadership;
  /** What became of each reign: its leader. */
  readonly leaders = new Map<number, number>();

  constructor(nodes: ReplicaNodes, ids: readonly number[]) {
    this.#nodes = nodes;
    this.leadership = { leader: ids[0] ?? -1, leaderEpoch: 0, isr: ids, partitionEpoch: 0 };
  }

  alterPartition(request: {
    readonly topics: readonly {
      readonly partitions: readonly {
        readonly partitionIndex: number;
        readonly leaderEpoch: number;
        readonly partitionEpoch: number;
        readonly newIsrWithEpochs: readonly { readonly brokerId: number; readonly brokerEpoch: number }[];
      }[];
    }[];
  }) {
    const partitions = request.topics.flatMap((each) => each.partitions).map((wanted) => this.#alter(wanted));
    return {
      throttleTimeMs: 0,
      errorCode: errorCodes.NONE,
      topics: [{ topicName: topic, topicId, partitions }],
    };
  }

  #alter({
    partitionIndex,
    leaderEpoch,
    partitionEpoch,
    newIsrWithEpochs,
  }: Parameters<FakeController['alterPartition']>[0]['topics'][number]['partitions'][number]) {
    const now = this.leadership;
    const isr = newIsrWithEpochs.map(({ brokerId }) => brokerId);
    const isAlive = newIsrWithEpochs.every(({ brokerId, brokerEpoch }) => {
      const node = this.#nodes.running.get(brokerId);
      return node !== undefined && (brokerEpoch === -1 || brokerEpoch === node.epoch);
    });
    let errorCode: number = errorCodes.NONE;
    if (partitionIndex !== 0) errorCode = errorCodes.INELIGIBLE_REPLICA;
    else if (leaderEpoch !== now.leaderEpoch) errorCode = errorCodes.FENCED_LEADER_EPOCH;
    else if (partitionEpoch !== now.partitionEpoch) errorCode = errorCodes.INVALID_UPDATE_VERSION;
    else if (!isAlive) errorCode = errorCodes.INELIGIBLE_REPLICA;
    else this.leadership = { ...now, isr, partitionEpoch: now.partitionEpoch + 1 };
    const { leader: leaderId, ...state } = this.leadership;
    return { partitionIndex, errorCode, leaderId, leaderRecoveryState: 0, ...state, isr: [...state.isr] };
  }

  /** A broker is gone: it leaves the in-sync replicas unless it is the last, and the next of them leads. */
  lost(id: number): void {
    const { isr, leader } = this.leadership;
    const left = isr.length > 1 ? isr.filter((each) => each !== id) : isr;
    const next = leader === id ? (left.find((each) => this.#nodes.running.has(each)) ?? -1) : leader;
    this.write({ leader: next, isr: left });
  }

  returned(): void {
    const { leader, isr } = this.leadership;
    if (leader >= 0) return this.tell();
    const next = isr.find((each) => this.#nodes.running.has(each));
    if (next === undefined) this.tell();
    else this.write({ leader: next, isr });
  }

  /** Another leader, of the in-sync replicas or (an unclean election) not. */
  elect(leader: number): void {
    const { isr } = this.leadership;
    this.write({ leader, isr: isr.includes(leader) ? isr : [leader] });
  }

  write({ leader, isr }: { readonly leader: number; readonly isr: readonly number[] }): void {
    const { leaderEpoch, partitionEpoch } = this.leadership;
    this.leadership = { leader, isr, leaderEpoch: leaderEpoch + 1, partitionEpoch: partitionEpoch + 1 };
    this.tell();
  }

  tell(): void {
    for (const node of this.#nodes.running.values()) this.tellNode(node, this.leadership);
  }

  tellNode(node: ReplicaNode, leadership: Leadership): void {
    const delayMs = this.#nodes.orderDelayMs(node.id);
    node.machine.timer.schedule(delayMs, () => {
      node.metadataCache.update({
        controllerId: node.id,
        controllerEpoch: 1,
        topicStates: [{ topicName: topic, topicId, partitionStates: [this.#metadataOf(leadership)] }],
        ungroupedPartitionStates: [],
        liveBrokers: [...this.#nodes.running.keys()].map((id) => ({
          id,
          rack: `rack-${id}`,
          endpoints: [{ listener: 'PLAINTEXT', host: nameOf(id), port, securityProtocol: 0 }],
        })),
      });
      node.replication.replicaManager.becomeLeaderOrFollower(this.#order(leadership)).catch((error: unknown) => {
        throw new Error('an order failed', { cause: error });
      });
    });
  }

  #metadataOf({ leader, leaderEpoch, isr, partitionEpoch: zkVersion }: Leadership): PartitionUpdate {
    const { ids: replicas } = this.#nodes;
    return { partitionIndex: 0, controllerEpoch: 1, leader, leaderEpoch, isr, zkVersion, replicas, offlineReplicas: [] };
  }

  #order({ leader, leaderEpoch, isr, partitionEpoch }: Leadership): LeaderAndIsrRequest {
    const state = {
      topicName: '',
      controllerEpoch: 1,
      leader,
      leaderEpoch,
      isr: [...isr],
      partitionEpoch,
      replicas: [...this.#nodes.ids],
      addingReplicas: [],
      removingReplicas: [],
      isNew: true,
      leaderRecoveryState: 0,
    };
    return {
      controllerId: 9,
      isKRaftController: false,
      controllerEpoch: 1,
      brokerEpoch: -1,
      type: 1,
      ungroupedPartitionStates: [],
      topicStates: [{ topicName: topic, topicId, partitionStates: [0, 1].map((partitionIndex) => ({ ...state, partitionIndex })) }],
      liveLeaders: [],
    };
  }
}

export class ReplicaNodes {
  readonly world: SimulatedWorld;
  readonly ids: readonly number[];
  readonly logConfig: LogConfig;
  readonly maxFetchVersion: number | undefined;
  readonly alterDelayMs: number;
  readonly topicOverrides: Properties;
  readonly dynamicProperties: Properties;
  readonly running = new Map<number, ReplicaNode>();
  readonly controller: FakeController;
  /** Values that were acknowledged with acks=all, and where. */
  readonly acknowledged = new Map<number, string>();
  readonly #properties: Readonly<Record<string, string>>;
  #epoch = 0;
  /** Orders to one broker arrive in order. */
  readonly #lastOrderMs = new Map<number, number>();

  constructor(world: SimulatedWorld, options: ReplicaNodesOptions = {}) {
    this.world = world;
    this.ids = options.ids ?? [1, 2, 3];
    // The records of these tests are from 1970.
    this.logConfig = { ...defaultLogConfig, minInSyncReplicas: 2, retentionMs: -1, ...options.logConfig };
    this.maxFetchVersion = options.maxFetchVersion;
    this.alterDelayMs = options.alterDelayMs ?? 10;
    this.topicOverrides = new Map(Object.entries(options.topicOverrides ?? {}));
    this.dynamicProperties = new Map(Object.entries(options.dynamicProperties ?? {}));
    this.#properties = options.properties ?? {};
    this.controller = new FakeController(this, this.ids);
  }

  propertiesOf(id: number): Properties {
    return new Map(
      Object.entries({
        'broker.id': String(id),
        'log.dirs': '/data',
        'replica.lag.time.max.ms': '2000',
        'replica.fetch.backoff.ms': '100',
        'replica.socket.timeout.ms': '1500',
        ...this.#properties,
      }),
    );
  }

  async start(id: number): Promise<void> {
    this.#epoch += 1;
    const node = new ReplicaNode(this, id, this.#epoch);
    await this.world.run(node.start());
    this.running.set(id, node);
    this.controller.returned();
  }

  async startAll(): Promise<void> {
    for (const id of this.ids) await this.start(id);
  }

  crash(id: number, leaves: CrashLeaves): void {
    this.running.delete(id);
    this.world.crash(nameOf(id), leaves);
    this.controller.lost(id);
  }

  async stop(id: number): Promise<void> {
    const node = this.running.get(id);
    this.running.delete(id);
    this.controller.lost(id);
    if (node !== undefined) await this.world.run(node.close());
  }

  orderDelayMs(id: number): number {
    const nowMs = this.world.clock.monotonicMs();
    const atMs = Math.max(this.#lastOrderMs.get(id) ?? 0, nowMs + this.world.random.nextInt(30));
    this.#lastOrderMs.set(id, atMs + 1);
    return atMs - nowMs;
  }

  node(id: number): ReplicaNode {
    return this.running.get(id) ?? assert.fail(`broker ${id} is not running`);
  }

  partition(id: number): Partition {
    return this.node(id).partition ?? assert.fail(`broker ${id} has no replica`);
  }

  secondPartition(id: number): Partition {
    return this.node(id).replication.replicaManager.find(topic, 1) ?? assert.fail(`broker ${id} has no second replica`);
  }

  /** The replica that takes itself for the leader, in the controller's latest epoch. */
  get leader(): Partition | undefined {
    const { leader, leaderEpoch } = this.controller.leadership;
    const partition = this.running.get(leader)?.partition;
    return partition?.isLeader === true && partition.leaderEpoch === leaderEpoch ? partition : undefined;
  }

  async untilLed(): Promise<Partition> {
    await this.world.runUntil(() => this.leader !== undefined);
    return this.leader ?? assert.fail('nobody leads');
  }

  /** Sends one batch with acks=all to a broker that takes itself for the leader; what becomes of it is found in `acknowledged`. */
  produce(id: number, ...values: readonly string[]): void {
    const node = this.running.get(id);
    const partition = node?.partition;
    if (node === undefined || partition?.isLeader !== true) return;
    try {
      const info = partition.append(batchOf(...values), { origin: 'client', requiredAcks: -1 });
      const { leadingSinceEpoch } = partition;
      const acknowledge = async (): Promise<void> => {
        await info.written;
        partition.recordWritten();
        const append = {
          partition,
          requiredOffset: info.lastOffset + 1,
          leadingSinceEpoch,
          errorCode: undefined as number | undefined,
        };
        await replicated(node.replication.replicaManager, [append], 5_000);
        if (append.errorCode !== errorCodes.NONE) return;
        for (const [index, value] of values.entries()) this.acknowledged.set(info.firstOffset + index, value);
      };
      acknowledge().catch(() => 'not acknowledged');
    } catch {
      // Too few replicas in sync, or the broker has just ceased to lead.
    }
  }

  /** All records of a replica up to an offset, as `offset epoch value`. */
  async contents(id: number, endOffset: number): Promise<string[]> {
    const { log } = this.partition(id);
    const lines: string[] = [];
    for (let offset = log.logStartOffset; offset < endOffset; ) {
      const read = await this.world.run(
        Promise.resolve(log.read(offset, { maxBytes: 1 << 20, isolation: 'logEnd', minOneBatch: true })),
      );
      if (read.records.length === 0) break;
      for (const batch of iterateBatches(Buffer.concat(read.records))) {
        for (const record of batch.records()) {
          if (record.offset < offset || record.offset >= endOffset) continue;
          lines.push(`${record.offset} ${batch.partitionLeaderEpoch} ${String(record.value)}`);
        }
        offset = batch.lastOffset + 1;
      }
    }
    return lines;
  }

  /** Whether all replicas have all that the leader has, and know that it is committed. */
  get isLevel(): boolean {
    const leader = this.leader;
    if (leader === undefined || leader.inSyncReplicas.size !== this.ids.length) return false;
    const { logEndOffset } = leader.log;
    return this.ids.every((id) => {
      const partition = this.running.get(id)?.partition;
      return (
        partition?.hasLog === true && partition.log.logEndOffset === logEndOffset && partition.log.highWatermark === logEndOffset
      );
    });
  }
}

export function nameOf(id: number): string {
  return `broker-${id}`;
}
