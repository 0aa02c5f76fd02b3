// Several brokers on simulated machines, with a simulated ZooKeeper, and everything that can be done to them.

import { type Broker, startBroker } from '@odradek/broker';
import { type CrashLeaves, type SimulatedWorld, SimulatedZooKeeper } from '@odradek/testing';
import type { BrokerAddress } from '../simulated-client.ts';

export const brokerPort = 9092;
export const sessionTimeoutMs = 6_000;
export const lagLimitMs = 5_000;

/** What holds for every broker of the simulation, whatever the seed. */
const properties = {
  'log.dirs': '/data',
  'zookeeper.session.timeout.ms': sessionTimeoutMs,
  'zookeeper.connection.timeout.ms': 60_000,
  'default.replication.factor': 3,
  'min.insync.replicas': 2,
  'offsets.topic.replication.factor': 3,
  'offsets.topic.num.partitions': 2,
  'replica.lag.time.max.ms': lagLimitMs,
  'controlled.shutdown.retry.backoff.ms': 500,
  'auto.leader.rebalance.enable': true,
  'leader.imbalance.check.interval.seconds': 20,
  // Short, so that crashes meet segments being rolled.
  'log.roll.ms': 3_000,
  // Clocks are set by hours.
  'log.message.timestamp.after.max.ms': Number.MAX_SAFE_INTEGER,
  'log.index.interval.bytes': 512,
  'group.initial.rebalance.delay.ms': 0,
};

export type NodeState = 'running' | 'paused' | 'starting' | 'stopping' | 'down';

/** One machine and the broker on it. */
export class SimulatedNode {
  readonly id: number;
  readonly name: string;
  state: NodeState = 'down';
  broker: Broker | undefined;
  /** Counts the lives of its program. */
  life = 0;

  constructor(id: number) {
    this.id = id;
    this.name = `broker-${id}`;
  }
}

export class SimulatedCluster {
  readonly world: SimulatedWorld;
  readonly zookeeper: SimulatedZooKeeper;
  readonly nodes: readonly SimulatedNode[];
  /** A broker that gave up for good: the reason. */
  readonly failures: Error[] = [];

  private constructor(world: SimulatedWorld, zookeeper: SimulatedZooKeeper, size: number) {
    this.world = world;
    this.zookeeper = zookeeper;
    this.nodes = Array.from({ length: size }, (_, id) => new SimulatedNode(id));
  }

  static async start(world: SimulatedWorld, size: number): Promise<SimulatedCluster> {
    const cluster = new SimulatedCluster(world, await SimulatedZooKeeper.start(world), size);
    await world.run(Promise.all(cluster.nodes.map((node) => cluster.startNode(node))));
    return cluster;
  }

  get addresses(): readonly BrokerAddress[] {
    return this.nodes.map(({ name }) => ({ host: name, port: brokerPort }));
  }

  node(id: number): SimulatedNode {
    const node = this.nodes[id];
    if (node === undefined) throw new Error(`There is no broker ${id}`);
    return node;
  }

  /** Settles when the broker is ready, or when its machine has crashed meanwhile. */
  async startNode(node: SimulatedNode): Promise<void> {
    const life = ++node.life;
    node.state = 'starting';
    try {
      const broker = await startBroker({
        world: this.world.machine(node.name),
        properties: {
          ...properties,
          'broker.id': node.id,
          listeners: `PLAINTEXT://${node.name}:${brokerPort}`,
          'zookeeper.connect': this.zookeeper.address,
        },
      });
      if (life !== node.life) return;
      node.broker = broker;
      node.state = 'running';
      void broker.failed.then((reason) => {
        // One that is being stopped on a full disk cannot write its checkpoints: it will recover when it starts again.
        if (life === node.life && node.state !== 'stopping') this.failures.push(reason);
      });
    } catch (error) {
      if (life !== node.life) return;
      node.state = 'down';
      throw error;
    }
  }

  /** A clean stop, with the leadership handed over first. */
  async stopNode(node: SimulatedNode): Promise<void> {
    const { life, broker } = node;
    if (broker === undefined) return;
    node.state = 'stopping';
    await broker.close();
    if (life !== node.life) return;
    this.crashNode(node, 'everything');
  }

  crashNode(node: SimulatedNode, leaves: CrashLeaves): void {
    node.life++;
    node.broker = undefined;
    node.state = 'down';
    this.world.crash(node.name, leaves);
  }

  pauseNode(node: SimulatedNode): void {
    node.state = 'paused';
    this.world.pause(node.name);
  }

  resumeNode(node: SimulatedNode): void {
    if (node.state !== 'paused') return;
    node.state = 'running';
    this.world.resume(node.name);
  }
}
