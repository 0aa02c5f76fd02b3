// Three brokers on a ZooKeeper of their own: Apache Kafka 3.9's, and Odradek's, with the same settings on both sides.

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateTopicsRequest,
  CreateTopicsResponse,
  ElectLeadersRequest,
  ElectLeadersResponse,
  errorByCode,
  type Message,
  MetadataRequest,
  MetadataResponse,
} from '@odradek/protocol';
import { freePort, KafkaBroker, RawClient, startZooKeeper, until, type ZooKeeperEnsemble } from '@odradek/testing';
import { Odradek } from './contenders.ts';

/** The memory and the collector that Kafka's own scripts give its brokers. */
const kafkaJava = [
  '-Xmx1G',
  '-Xms1G',
  '-server',
  '-XX:+UseG1GC',
  '-XX:MaxGCPauseMillis=20',
  '-XX:InitiatingHeapOccupancyPercent=35',
  '-XX:+ExplicitGCInvokesConcurrent',
];

const settings = {
  'zookeeper.session.timeout.ms': 6000,
  'offsets.topic.replication.factor': 3,
  'auto.create.topics.enable': false,
} as const;

type Properties = Readonly<Record<string, string | number | boolean>>;
type TopicPartitions = Message<typeof MetadataResponse>['topics'][number]['partitions'];

/** One broker of a cluster. */
interface Member {
  readonly pid: number;
  readonly isRunning: boolean;
  /** What it has printed. */
  readonly output: string;
  start(): Promise<void>;
  kill(): Promise<void>;
  close(): Promise<void>;
}

export interface ClusterParts {
  readonly name: string;
  readonly jars: string;
  /** Makes a broker that does not run yet. */
  readonly member: (port: number, properties: Properties) => Member;
}

export class BrokerCluster {
  readonly name: string;
  readonly #zookeeper: ZooKeeperEnsemble;
  readonly #members: readonly { readonly port: number; readonly member: Member }[];

  private constructor(name: string, zookeeper: ZooKeeperEnsemble, members: BrokerCluster['members']) {
    this.name = name;
    this.#zookeeper = zookeeper;
    this.#members = members;
  }

  static async start({ name, jars, member }: ClusterParts, { tickTimeMs = 2000 } = {}): Promise<BrokerCluster> {
    const zookeeper = await startZooKeeper(jars, { tickTimeMs });
    const members: { port: number; member: Member }[] = [];
    for (let id = 0; id < 3; id++) {
      const port = await freePort();
      const properties = { ...settings, 'broker.id': id, 'zookeeper.connect': zookeeper.connect };
      members.push({ port, member: member(port, properties) });
    }
    const cluster = new BrokerCluster(name, zookeeper, members);
    for (const each of members) await each.member.start();
    await until(`${name} is complete`, async () => {
      const { brokers, controllerId } = await cluster.metadata();
      return brokers.length === members.length && controllerId >= 0;
    });
    return cluster;
  }

  get members(): readonly { readonly port: number; readonly member: Member }[] {
    return this.#members;
  }

  get zookeeperConnect(): string {
    return this.#zookeeper.connect;
  }

  get bootstrap(): string {
    return this.#members.map(({ port }) => `127.0.0.1:${port}`).join(',');
  }

  /** Throws when a broker has ended by itself. */
  get pids(): readonly number[] {
    for (const { member } of this.#members)
      if (!member.isRunning) throw new Error(`a broker of ${this.name} has ended:\n${member.output.slice(-4000)}`);
    return this.#members.map(({ member }) => member.pid);
  }

  start(id: number): Promise<void> {
    return this.#memberOf(id).member.start();
  }

  kill(id: number): Promise<void> {
    return this.#memberOf(id).member.kill();
  }

  connect(id: number): Promise<RawClient> {
    return RawClient.connect({ port: this.#memberOf(id).port, timeoutMs: 120_000 });
  }

  async metadata(): Promise<Message<typeof MetadataResponse>> {
    await using client = await this.connect(0);
    return await client.send(MetadataRequest, MetadataResponse, 8, { topics: [] });
  }

  async controller(): Promise<number> {
    return (await this.metadata()).controllerId;
  }

  /** Three replicas of each partition, the leaders in turn; waits until all of them are in sync. */
  async createTopic(name: string, partitions: number): Promise<void> {
    await using client = await this.connect(await this.controller());
    const assignments = Array.from({ length: partitions }, (_, i) => ({
      partitionIndex: i,
      brokerIds: [i % 3, (i + 1) % 3, (i + 2) % 3],
    }));
    const topics = [{ name, numPartitions: -1, replicationFactor: -1, assignments }];
    const answer = await client.send(CreateTopicsRequest, CreateTopicsResponse, 5, { topics, timeoutMs: 60_000 });
    const errorCode = answer.topics[0]?.errorCode ?? -1;
    if (errorCode !== 0) throw new Error(`${this.name} would not create ${name}: ${errorByCode(errorCode).name}`);
    await this.untilAll(name, partitions, ({ leaderId, isrNodes }, index) => leaderId === index % 3 && isrNodes.length === 3);
  }

  /** Gives each partition back to the broker that is to lead it, once all replicas are in sync again. */
  async balance(name: string, partitions: number): Promise<void> {
    await this.untilAll(name, partitions, ({ isrNodes }) => isrNodes.length === 3);
    await using client = await this.connect(await this.controller());
    await client.send(ElectLeadersRequest, ElectLeadersResponse, 1, { electionType: 0, topicPartitions: null });
    await this.untilAll(name, partitions, ({ leaderId }, index) => leaderId === index % 3);
  }

  /** Asks a broker again and again until it says so of each partition of the topic. */
  async untilAll(
    name: string,
    count: number,
    condition: (partition: TopicPartitions[number], index: number) => boolean,
    from = 0,
  ): Promise<void> {
    await using client = await this.connect(from);
    const isSo = async (): Promise<boolean> => {
      const answer = await client.send(MetadataRequest, MetadataResponse, 8, { topics: [{ name }] });
      const partitions = answer.topics[0]?.partitions ?? [];
      return partitions.length === count && partitions.every((each) => condition(each, each.partitionIndex));
    };
    await until(`${this.name}: every partition of ${name} is as wanted`, isSo, { timeoutMs: 120_000, everyMs: 10 });
  }

  async close(): Promise<void> {
    await Promise.all(this.#members.map(({ member }) => member.close()));
    await this.#zookeeper.close();
  }

  #memberOf(id: number): { readonly port: number; readonly member: Member } {
    const found = this.#members[id];
    if (found === undefined) throw new Error(`there is no broker ${id}`);
    return found;
  }
}

export function kafkaCluster(jars: string): ClusterParts {
  return {
    name: 'Kafka 3.9',
    jars,
    member: (port, properties) => {
      const directory = mkdtempSync(join(tmpdir(), 'odradek-kafka-'));
      const dataDirectory = join(directory, 'data');
      return new KafkaBroker(jars, { properties, javaArguments: kafkaJava }, port, dataDirectory, directory);
    },
  };
}

/** `root`: of the repository whose emitted JavaScript is measured; this one when left out. */
export function odradekCluster(jars: string, name: string, nodeArguments: readonly string[], root?: string): ClusterParts {
  return {
    name,
    jars,
    member: (port, properties) => {
      const broker = new Odradek(port, nodeArguments, { 'offsets.topic.replication.factor': 3, ...properties }, root);
      return {
        get pid() {
          return broker.pid;
        },
        get isRunning() {
          return existsSync(`/proc/${broker.pid}`);
        },
        get output() {
          return broker.output;
        },
        start: () => broker.start(),
        kill: () => broker.kill(),
        close: async () => {
          await broker.wipe();
          if (nodeArguments.length === 0) rmSync(broker.directory, { recursive: true, force: true });
        },
      };
    },
  };
}
