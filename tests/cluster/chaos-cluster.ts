// Three brokers and three ZooKeeper servers, each a process of its own, with everything that can be done to them; and foreign clients
// that write, read and commit all the while.

import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '@odradek/runtime';
import {
  needed,
  type OdradekProcess,
  startOdradekProcess,
  startZooKeeper,
  until,
  type ZooKeeperEnsemble,
  zooKeeperJars,
} from '@odradek/testing';
import { ClusterView } from './cluster-view.ts';
import { SteadyGroup } from './steady-group.ts';
import { SteadyLoad, type SteadyProgram } from './steady-load.ts';

export const jars = await zooKeeperJars();

export const topic = 'steady';
const partitions = 3;
const ids = [0, 1, 2];
export const sessionTimeoutMs = 6000;

/** A machine that has other work, too, takes its time. */
const patienceMs = 120_000;

const settings = {
  'zookeeper.session.timeout.ms': sessionTimeoutMs,
  'offsets.topic.replication.factor': 3,
  'offsets.topic.num.partitions': 3,
  'min.insync.replicas': 2,
  'replica.lag.time.max.ms': 5000,
  'controlled.shutdown.retry.backoff.ms': 500,
  'group.initial.rebalance.delay.ms': 0,
};

/** Besides those that are always there. */
export interface MoreClients {
  readonly producers: readonly SteadyProgram[];
  readonly members: readonly SteadyProgram[];
}

/** One thing that goes wrong and is right again in the end. */
export interface Fault {
  readonly name: string;
  /** What it did, for a person. */
  happen(cluster: ChaosCluster, random: Random): Promise<string>;
}

export class ChaosCluster {
  readonly view = new ClusterView(() =>
    [...this.brokers].filter(([id, { isRunning }]) => isRunning && !this.#paused.has(id)).map(([, { port }]) => port),
  );
  readonly zookeeper: ZooKeeperEnsemble;
  readonly brokers = new Map<number, OdradekProcess>();
  readonly #paused = new Set<number>();
  /** Where the brokers' logs are kept when somebody wants to read them. */
  readonly #logDirectory = process.env['ODRADEK_CHAOS_LOGS'];
  #load: SteadyLoad | undefined;
  #group: SteadyGroup | undefined;

  private constructor(zookeeper: ZooKeeperEnsemble) {
    this.zookeeper = zookeeper;
  }

  static async start(clients: MoreClients): Promise<ChaosCluster> {
    const cluster = new ChaosCluster(await startZooKeeper(needed(jars), { servers: 3, tickTimeMs: 500 }));
    try {
      await cluster.#start(clients);
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
    return cluster;
  }

  async #start({ producers, members }: MoreClients): Promise<void> {
    for (const id of ids) {
      const properties = { ...settings, 'broker.id': id, 'zookeeper.connect': this.zookeeper.connect };
      this.brokers.set(id, await startOdradekProcess({ properties }));
    }
    await until('all brokers are known', async () => (await this.view.metadata()).brokers.length === ids.length);
    const assignment = Array.from({ length: partitions }, (_, index) => ids.map((id) => (id + index) % ids.length));
    await this.view.createTopic(topic, assignment);
    await this.untilAllInSync();
    this.#load = new SteadyLoad({ bootstrap: this.bootstrap, topic, partitions, more: producers });
    this.#group = new SteadyGroup({ bootstrap: this.bootstrap, group: 'readers', topic, more: members });
    await this.progress();
    await this.groupProgress();
  }

  get bootstrap(): string {
    return [...this.brokers.values()].map(({ bootstrap }) => bootstrap).join(',');
  }

  broker(id: number): OdradekProcess {
    const broker = this.brokers.get(id);
    assert.ok(broker !== undefined, `there is a broker ${id}`);
    return broker;
  }

  async kill(id: number): Promise<void> {
    this.#keepLog(id);
    await this.broker(id).kill();
  }

  pause(id: number): void {
    this.#paused.add(id);
    this.broker(id).pause();
  }

  resume(id: number): void {
    this.broker(id).resume();
    this.#paused.delete(id);
  }

  /** Every partition takes records of every idempotent producer. */
  async progress(): Promise<void> {
    const load = this.#load;
    assert.ok(load !== undefined);
    const wanted = Array.from({ length: partitions }, (_, partition) => load.acknowledgedIn(partition) + 10);
    const before = load.describe();
    try {
      await until(
        'more records are acknowledged in every partition',
        () => wanted.every((count, partition) => load.acknowledgedIn(partition) >= count),
        { timeoutMs: patienceMs },
      );
    } catch (error) {
      throw new Error(`Not every producer goes on; before ${before}; now ${load.describe()}`, { cause: error });
    }
  }

  /** The group goes on: what is acknowledged now is seen, and something is committed. */
  async groupProgress(): Promise<void> {
    const [load, group] = [this.#load, this.#group];
    assert.ok(load !== undefined && group !== undefined);
    const before = group.progress;
    await group.untilSeen(load.values());
    await until('the group commits', () => group.progress > before, { timeoutMs: patienceMs });
  }

  /** Everything is as it should be again, and goes on. */
  async settle(): Promise<void> {
    await this.untilAllInSync();
    await this.progress();
    await this.groupProgress();
  }

  untilAllInSync(): Promise<unknown> {
    return this.view.untilEach(topic, 'all replicas are in sync', ({ isr, leader }) => leader >= 0 && isr.length === ids.length);
  }

  /** Ends the load and reads everything: nothing acknowledged is lost, nothing of the idempotent producer is there twice, the group saw it all. */
  async finish(): Promise<void> {
    const [load, group] = [this.#load, this.#group];
    assert.ok(load !== undefined && group !== undefined);
    await load.stop();
    await load.check(this.bootstrap);
    await group.untilSeen(load.values());
    await group.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#load?.abandon();
    this.#group?.abandon();
    for (const id of this.brokers.keys()) this.#keepLog(id);
    await Promise.all([...this.brokers.values()].map((broker) => broker.close()));
    await this.zookeeper.close();
  }

  #keepLog(id: number): void {
    if (this.#logDirectory !== undefined) appendFileSync(join(this.#logDirectory, `broker-${id}.log`), this.broker(id).output);
  }
}

/** Kills a broker, sees the others go on without it, and starts it again. */
async function killBroker(cluster: ChaosCluster, id: number): Promise<string> {
  const led = (await cluster.view.partitions(topic)).flatMap(({ leader }, index) => (leader === id ? [index] : []));
  const killedMs = performance.now();
  await cluster.kill(id);
  await cluster.view.untilEach(topic, `broker ${id} leads nothing`, ({ leader }) => leader !== id && leader >= 0);
  const withoutLeaderMs = Math.round(performance.now() - killedMs);
  await cluster.progress();
  await cluster.broker(id).start();
  const lead = led.length === 0 ? 'it led nothing' : `partitions ${led.join(', ')} without a leader for ${withoutLeaderMs} ms`;
  return `broker ${id}, ${lead}`;
}

async function roles(
  cluster: ChaosCluster,
): Promise<{ readonly leader: number; readonly controller: number; readonly follower: number }> {
  const [first] = await cluster.view.partitions(topic);
  const leader = first?.leader ?? 0;
  const controller = await cluster.view.someController();
  return { leader, controller, follower: ids.find((id) => id !== leader && id !== controller) ?? 0 };
}

/** ZooKeeper's leader or another of its servers. */
async function killZooKeeper(cluster: ChaosCluster, isLeader: boolean): Promise<string> {
  const leader = await cluster.zookeeper.leader();
  const server = isLeader ? leader : cluster.zookeeper.servers.find((each) => each !== leader);
  assert.ok(server !== undefined);
  await server.kill();
  await cluster.progress();
  await server.start();
  await cluster.zookeeper.untilReady();
  return `server at ${server.port}`;
}

/** Each once; the later ones only by chance, too. */
export const faults: readonly Fault[] = [
  { name: 'kill the leader of a partition', happen: async (cluster) => killBroker(cluster, (await roles(cluster)).leader) },
  { name: 'kill the controller', happen: async (cluster) => killBroker(cluster, (await roles(cluster)).controller) },
  { name: 'kill a follower', happen: async (cluster) => killBroker(cluster, (await roles(cluster)).follower) },
  { name: "kill ZooKeeper's leader", happen: (cluster) => killZooKeeper(cluster, true) },
  { name: "kill one of ZooKeeper's followers", happen: (cluster) => killZooKeeper(cluster, false) },
  {
    name: 'pause a leader past its session',
    happen: async (cluster) => {
      const { leader } = await roles(cluster);
      cluster.pause(leader);
      await cluster.view.untilGone(leader);
      await cluster.progress();
      cluster.resume(leader);
      return `broker ${leader}`;
    },
  },
];

export const moreFaults: readonly Fault[] = [
  ...faults,
  {
    name: 'kill a broker that is started again within its session',
    happen: async (cluster, random) => {
      const id = random.nextInt(ids.length);
      await cluster.kill(id);
      await cluster.broker(id).start();
      return `broker ${id}`;
    },
  },
  {
    name: 'pause a broker within its session',
    happen: async (cluster, random) => {
      const id = random.nextInt(ids.length);
      cluster.pause(id);
      await delay(random.nextInt(sessionTimeoutMs / 2));
      cluster.resume(id);
      return `broker ${id}`;
    },
  },
  {
    name: 'stop a broker in order',
    happen: async (cluster, random) => {
      const id = random.nextInt(ids.length);
      await cluster.broker(id).stop();
      await cluster.progress();
      await cluster.broker(id).start();
      return `broker ${id}`;
    },
  },
  {
    name: 'kill all of ZooKeeper',
    happen: async (cluster) => {
      const { servers } = cluster.zookeeper;
      await Promise.all(servers.map((server) => server.kill()));
      await cluster.progress();
      await Promise.all(servers.map((server) => server.start()));
      await cluster.zookeeper.untilReady();
      return `${servers.length} servers`;
    },
  },
  {
    name: "kill a broker and ZooKeeper's leader with it",
    happen: async (cluster, random) => {
      const leader = await cluster.zookeeper.leader();
      await leader.kill();
      const what = await killBroker(cluster, random.nextInt(ids.length));
      await leader.start();
      await cluster.zookeeper.untilReady();
      return what;
    },
  },
];
