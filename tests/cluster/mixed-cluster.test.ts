// Apache Kafka 3.9 and Odradek in one cluster on one ZooKeeper, under a load of foreign clients: whoever leads, follows or controls, the
// others cannot tell the difference, and nothing that was acknowledged is lost.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  apacheKafka39,
  type KafkaBroker,
  needed,
  type OdradekProcess,
  skipWithout,
  startKafkaBroker,
  startOdradekProcess,
  startZooKeeper,
  until,
  type ZooKeeperEnsemble,
} from '@odradek/testing';
import { ClusterView } from './cluster-view.ts';
import { loadTools, SteadyLoad } from './steady-load.ts';

const kafka = await apacheKafka39();
const skip = skipWithout(kafka, ...loadTools);

type Member = KafkaBroker | OdradekProcess;

const settings = {
  'zookeeper.session.timeout.ms': 6000,
  'offsets.topic.replication.factor': 3,
  'offsets.topic.num.partitions': 3,
  'min.insync.replicas': 2,
  'default.replication.factor': 3,
  'replica.lag.time.max.ms': 5000,
  'controlled.shutdown.retry.backoff.ms': 500,
  'auto.leader.rebalance.enable': false,
};
const topic = 'steady';

class MixedCluster {
  readonly zookeeper: ZooKeeperEnsemble;
  readonly members = new Map<number, Member>();
  readonly view = new ClusterView(() => [...this.members.values()].filter(({ isRunning }) => isRunning).map(({ port }) => port));
  load: SteadyLoad | undefined;

  private constructor(zookeeper: ZooKeeperEnsemble) {
    this.zookeeper = zookeeper;
  }

  static async start(): Promise<MixedCluster> {
    // The ZooKeeper that comes with Kafka.
    return new MixedCluster(await startZooKeeper(needed(kafka)));
  }

  get bootstrap(): string {
    return [...this.members.values()].map(({ bootstrap }) => bootstrap).join(',');
  }

  async addKafka(id: number): Promise<void> {
    this.members.set(id, await startKafkaBroker(needed(kafka), { properties: this.#properties(id) }));
  }

  async addOdradek(id: number): Promise<void> {
    this.members.set(id, await startOdradekProcess({ properties: this.#properties(id) }));
  }

  member(id: number): Member {
    const member = this.members.get(id);
    assert.ok(member !== undefined);
    return member;
  }

  /** Creates the topic of the load and begins it. */
  async startLoad(assignment: readonly (readonly number[])[]): Promise<SteadyLoad> {
    await this.view.createTopic(topic, assignment, { 'min.insync.replicas': '2' });
    await this.untilAllInSync();
    this.load = new SteadyLoad({ bootstrap: this.bootstrap, topic, partitions: assignment.length });
    await this.progress();
    return this.load;
  }

  /** The load goes on. */
  async progress(): Promise<void> {
    const { load } = this;
    assert.ok(load !== undefined);
    const wanted = load.acknowledged + 100;
    await until('more records are acknowledged', () => load.acknowledged >= wanted, { timeoutMs: 60_000 });
  }

  untilAllInSync(): Promise<unknown> {
    return this.view.untilEach(
      topic,
      'all replicas are in sync',
      ({ isr, replicas, leader }) => leader >= 0 && isr.length === replicas.length,
    );
  }

  async killAndRestart(id: number, whileGone: () => Promise<unknown>): Promise<void> {
    await this.member(id).kill();
    // Kafka does not start while its old session lives.
    await this.view.untilGone(id);
    await whileGone();
    await this.member(id).start();
    await this.untilAllInSync();
    await this.progress();
  }

  async finish(): Promise<void> {
    await this.load?.stop();
    await this.load?.check(this.bootstrap);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.load?.abandon();
    await Promise.all([...this.members.values()].map((member) => member.close()));
    await this.zookeeper.close();
  }

  #properties(id: number): Readonly<Record<string, string | number | boolean>> {
    return { ...settings, 'broker.id': id, 'zookeeper.connect': this.zookeeper.connect };
  }
}

test('an Odradek broker joins a cluster of Apache Kafka', { skip, timeout: 400_000 }, async (context) => {
  await using cluster = await MixedCluster.start();
  const [odradek, kafkas] = [2, [0, 1]] as const;
  await Promise.all(kafkas.map((id) => cluster.addKafka(id)));
  await cluster.addOdradek(odradek);
  // Odradek comes next wherever a Kafka broker leads first, and leads one of its own.
  await cluster.startLoad([
    [0, odradek, 1],
    [1, odradek, 0],
    [odradek, 0, 1],
  ]);

  await context.test('it follows, is in sync, and leads when the Kafka broker that led is killed', () =>
    cluster.killAndRestart(0, async () => {
      await cluster.view.untilEach(topic, 'the dead broker leads nothing', ({ leader }) => leader > 0);
      const [first] = await cluster.view.partitions(topic);
      assert.equal(first?.leader, odradek);
      assert.deepEqual([...(first?.isr ?? [])].sort(), [1, odradek], 'and the other Kafka broker follows it');
      await cluster.progress();
    }),
  );

  await context.test('it is killed itself, comes back and catches up', () =>
    cluster.killAndRestart(odradek, async () => {
      await cluster.view.untilEach(topic, 'Kafka leads', ({ leader }) => leader === 0 || leader === 1);
      await cluster.progress();
    }),
  );

  await context.test('it is controller for Kafka brokers', async () => {
    for (let id = await cluster.view.controller(); id !== odradek; id = await cluster.view.controller()) {
      await cluster.killAndRestart(id, async () => assert.notEqual(await cluster.view.someController(), id));
    }
    await cluster.view.untilController(odradek);
    await cluster.view.createTopic('moved', [
      [0, 1],
      [1, 0],
    ]);
    await cluster.view.untilEach(
      'moved',
      'Kafka brokers lead what Odradek created',
      ({ leader, isr }) => leader >= 0 && isr.length === 2,
    );
    await cluster.view.reassign('moved', [1, odradek]);
    await cluster.view.deleteTopic('moved');
    await cluster.killAndRestart(1, async () => {
      await cluster.view.untilEach(topic, 'Odradek elected leaders', ({ leader }) => leader === 0 || leader === odradek);
      await cluster.progress();
    });
    await cluster.view.electPreferred(topic);
  });

  await context.test('it hands everything back when it is stopped', async () => {
    await cluster.member(odradek).stop();
    await cluster.view.untilEach(topic, 'Kafka leads', ({ leader }) => leader === 0 || leader === 1);
    await until('a Kafka broker is the controller', async () => [0, 1].includes(await cluster.view.controller()));
    await cluster.progress();
  });

  await cluster.finish();
});

test('an Apache Kafka broker joins a cluster of Odradek', { skip, timeout: 400_000 }, async (context) => {
  await using cluster = await MixedCluster.start();
  const [kafkaId, odradeks] = [2, [0, 1]] as const;
  await Promise.all(odradeks.map((id) => cluster.addOdradek(id)));
  await cluster.addKafka(kafkaId);
  await cluster.startLoad([
    [0, kafkaId, 1],
    [1, kafkaId, 0],
    [kafkaId, 0, 1],
  ]);

  await context.test('it leads when the Odradek broker that led is killed, and Odradek follows it', () =>
    cluster.killAndRestart(0, async () => {
      await cluster.view.untilEach(topic, 'the dead broker leads nothing', ({ leader }) => leader > 0);
      const [first] = await cluster.view.partitions(topic);
      assert.equal(first?.leader, kafkaId);
      await cluster.progress();
    }),
  );

  await context.test('it is killed, comes back and catches up', () => cluster.killAndRestart(kafkaId, () => cluster.progress()));

  await cluster.finish();
});
