// Three brokers of Apache Kafka 3.9 on ZooKeeper and three of Odradek under the same load, in turn in one run; a table with ratios.
//
//   npm run bench -- cluster [--only produce,elections,failover] [--reps 3] [--seconds 4] [--partitions 3] [--batches default,64k]
//     [--warm 200000] [--idle 0] [--many 3000] [--beside ROOT] [--profile]
//
//   produce    replication 3, acks=all, records of 1 KiB, into a topic of --partitions, beside --idle others
//   elections  --many partitions with three replicas each: the memory that a broker needs for them, and how long a third of them is
//              without a leader after a broker's kill -9, counted from the end of its session
//   failover   how long a partition takes no record after the kill -9 of its leader, with sessions of six seconds on both sides: of a broker
//              that does not control the cluster, and of one that does
//
// --beside measures another Odradek instead of Kafka: a copy of this repository, built. --profile has each Odradek broker write what it
// spent its time on. `npm run build` first: the emitted JavaScript is what is measured. Needs Java 17, Maven, Debian's zookeeper, and
// Apache Kafka's producer-perf-test in ~/.cache/kafka-ref (kafka-dist.sh of the comparison scripts) or where KAFKA_REF says.

import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { apacheKafka39, cacheDirectory, needed, uniqueName, zooKeeperJars } from '@odradek/testing';
import { BrokerCluster, type ClusterParts, kafkaCluster, odradekCluster } from './compare/clusters.ts';
import { failover } from './compare/failover.ts';
import { type LoadTools, produce } from './compare/load.ts';
import { residentMiB } from './compare/process-usage.ts';
import { RatioTable } from './compare/ratio-table.ts';
import { openSession, whenDeleted } from './compare/session-end.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: 'produce,elections,failover' },
    reps: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '4' },
    partitions: { type: 'string', default: '3' },
    batches: { type: 'string', default: 'default,64k' },
    warm: { type: 'string', default: '200000' },
    idle: { type: 'string', default: '0' },
    many: { type: 'string', default: '3000' },
    beside: { type: 'string' },
    profile: { type: 'boolean', default: false },
  },
});
const parts = new Set(values.only.split(','));
const reps = Number(values.reps);
const many = Number(values.many);
const table = new RatioTable();
const tools: LoadTools = { kafka: process.env['KAFKA_REF'] ?? join(homedir(), '.cache/kafka-ref'), probes: '', kcat: '' };

async function measureProduce(clusters: readonly BrokerCluster[]): Promise<void> {
  const partitions = Number(values.partitions);
  const records = Math.round(Number(values.seconds) * 30_000);
  const batches = values.batches.split(',').filter((batch) => batch === 'default' || batch === '64k');
  const idle = Number(values.idle);
  if (idle > 0) for (const cluster of clusters) await cluster.createTopic(uniqueName('idle'), idle);
  // The first load, of --warm records, is for the compilers and the page cache.
  for (const batch of [undefined, ...batches]) {
    for (let rep = 0; rep < (batch === undefined ? 1 : reps); rep++) {
      for (const cluster of clusters) {
        const topic = uniqueName('load');
        await cluster.createTopic(topic, partitions);
        const load = { topic, size: 1024, acks: 'all' } as const;
        if (batch === undefined) {
          await produce(tools, cluster, { ...load, records: Number(values.warm), batch: '64k' });
          continue;
        }
        const result = await produce(tools, cluster, { ...load, records, batch });
        const what = `1 KiB to three replicas, acks=all, batch ${batch}`;
        table.record(cluster, `throughput, ${what}`, 'records/s', 'at least 1.5', result.recordsPerSecond);
        table.record(cluster, `99th percentile latency, ${what}`, 'ms', '', result.p99Ms);
        table.record(cluster, `CPU of all brokers per million records, ${what}`, 's', 'at most 0.5', result.brokerCpuPerMillion);
      }
    }
  }
  for (const cluster of clusters) recordMemory(cluster, 'resident memory of a broker after producing', '');
}

/** The largest of the brokers'. */
function recordMemory(cluster: BrokerCluster, what: string, target: string): void {
  table.record(cluster, what, 'MiB', target, Math.max(...cluster.pids.map(residentMiB)));
}

async function measureElections(contender: ClusterParts): Promise<void> {
  const cluster = await BrokerCluster.start(contender);
  try {
    const topic = uniqueName('many');
    await cluster.createTopic(topic, many);
    await delay(10_000);
    recordMemory(cluster, `resident memory of a broker with ${many} partitions x 3 replicas`, 'below 150 MiB');
    for (let rep = 0; rep < reps; rep++) {
      if (rep > 0) await cluster.balance(topic, many);
      const ms = await timeWithoutLeaders(cluster, topic);
      table.record(cluster, `${Math.round(many / 3)} leaders elected after a kill -9, less the session`, 'ms', 'at most 1', ms);
    }
  } finally {
    await cluster.close();
  }
}

/** Kills a broker that does not control the cluster, and starts it again at the end; the time that only elections take. */
async function timeWithoutLeaders(cluster: BrokerCluster, topic: string): Promise<number> {
  const controller = await cluster.controller();
  const [victim, observer] = [(controller + 1) % 3, (controller + 2) % 3];
  const coordination = await openSession(cluster.zookeeperConnect);
  try {
    const isOver = whenDeleted(coordination, `/brokers/ids/${victim}`);
    await cluster.kill(victim);
    const overMs = await isOver;
    await cluster.untilAll(topic, many, ({ leaderId }) => leaderId >= 0 && leaderId !== victim, observer);
    return performance.now() - overMs;
  } finally {
    await coordination.close();
    await cluster.start(victim);
  }
}

/** Of both in turn: how busy the machine is matters less. */
async function measureFailovers(): Promise<void> {
  const clusters: BrokerCluster[] = [];
  try {
    // ZooKeeper looks once a tick which sessions are over.
    for (const contender of contenders) clusters.push(await BrokerCluster.start(contender, { tickTimeMs: 500 }));
    const topic = uniqueName('led');
    for (const cluster of clusters) await cluster.createTopic(topic, 3);
    for (let rep = 0; rep < reps; rep++) {
      for (const isController of [false, true]) {
        for (const cluster of clusters) {
          await cluster.balance(topic, 3);
          const controller = await cluster.controller();
          const victim = isController ? controller : (controller + 1) % 3;
          const { totalMs, afterSessionMs } = await failover(cluster, topic, victim, (controller + 2) % 3);
          const what = `a partition takes no records after the kill -9 of its leader${isController ? ' that is the controller' : ''}`;
          table.record(cluster, what, 'ms', 'at most 1', totalMs);
          table.record(cluster, `${what}, less the session`, 'ms', 'at most 1', afterSessionMs);
        }
      }
    }
  } finally {
    await Promise.all(clusters.map((cluster) => cluster.close()));
  }
}

// Who is told to stop takes the brokers along.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const kafkaJars = needed(await apacheKafka39());
const jars = needed(await zooKeeperJars());
const profiling = values.profile ? ['--cpu-prof', `--cpu-prof-dir=${cacheDirectory('profiles')}`] : [];
const contenders = [
  values.beside === undefined ? kafkaCluster(kafkaJars) : odradekCluster(jars, 'Odradek before', profiling, values.beside),
  odradekCluster(jars, 'Odradek', profiling),
];
console.log(`Node ${process.version}; ${reps} repetitions, medians.`);
try {
  if (parts.has('produce')) {
    const clusters: BrokerCluster[] = [];
    try {
      for (const contender of contenders) clusters.push(await BrokerCluster.start(contender));
      await measureProduce(clusters);
    } finally {
      await Promise.all(clusters.map((cluster) => cluster.close()));
    }
  }
  if (parts.has('elections')) for (const contender of contenders) await measureElections(contender);
  if (parts.has('failover')) await measureFailovers();
} finally {
  table.print(contenders[0]?.name, contenders[1]?.name);
}
if (values.profile) console.log(`Profiles are in ${cacheDirectory('profiles')}.`);
process.exit();
