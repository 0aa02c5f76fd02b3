// Kafka's own tools with a cluster of three brokers: topics, leaders, reassignments, configs and log directories.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type InProcessCluster, needed, skipWithout, startCluster, until } from '@odradek/testing';
import { ClusterView } from '../cluster/cluster-view.ts';
import { kafkaTools, runJava } from './java.ts';

const tools = await kafkaTools();
const skip = skipWithout(tools);
const topic = 'spread';
const directory = mkdtempSync(join(tmpdir(), 'odradek-tools-'));
let cluster: InProcessCluster;

before(async () => {
  if (skip === false) cluster = await startCluster({ brokers: 3, properties: () => ({ 'auto.leader.rebalance.enable': false }) });
});
after(async () => {
  await cluster?.close();
  rmSync(directory, { recursive: true, force: true });
});

const view = new ClusterView(() => cluster.brokerIds.map((id) => cluster.broker(id).address().port));

async function run(tool: string, ...args: string[]): Promise<string> {
  const bootstrap = cluster.brokerIds.map((id) => cluster.broker(id).bootstrap).join(',');
  const { stdout } = await runJava(needed(tools), tool, ['--bootstrap-server', bootstrap, ...args], { timeoutMs: 90_000 });
  return stdout.toString();
}

const topics = 'org.apache.kafka.tools.TopicCommand';
const leaders = 'org.apache.kafka.tools.LeaderElectionCommand';
const reassign = 'org.apache.kafka.tools.reassign.ReassignPartitionsCommand';
const configs = 'org.apache.kafka.tools.ConfigCommand';
const logDirs = 'org.apache.kafka.tools.LogDirsCommand';

test('kafka-topics creates with an assignment, and describes leaders and in-sync replicas', { skip }, async () => {
  await run(topics, '--create', '--topic', topic, '--replica-assignment', '0:1,1:2,2:0');
  await view.untilEach(topic, 'all are in sync', ({ isr }) => isr.length === 2);
  const described = await run(topics, '--describe', '--topic', topic);
  for (const [index, replicas] of [
    [0, '0,1'],
    [1, '1,2'],
    [2, '2,0'],
  ] as const) {
    assert.match(
      described,
      new RegExp(`Partition: ${index}\\s+Leader: ${replicas[0]}\\s+Replicas: ${replicas}\\s+Isr: ${replicas}`),
    );
  }
});

test('kafka-leader-election brings the preferred leader back', { skip }, async () => {
  await cluster.stopBroker(2);
  await view.untilEach(topic, 'broker 2 leads nothing', ({ leader }) => leader === 0 || leader === 1);
  await cluster.startBroker(2);
  await view.untilEach(topic, 'all are in sync', ({ isr }) => isr.length === 2);
  const said = await run(leaders, '--election-type', 'preferred', '--topic', topic, '--partition', '2');
  assert.match(said, /Successfully completed leader election.*spread-2/);
  assert.equal((await view.partitions(topic))[2]?.leader, 2);
});

test('kafka-reassign-partitions moves a partition under a throttle, and verifies it', { skip }, async () => {
  const plan = join(directory, 'plan.json');
  writeFileSync(plan, JSON.stringify({ version: 1, partitions: [{ topic, partition: 0, replicas: [2, 1] }] }));
  const files = ['--reassignment-json-file', plan];
  assert.match(
    await run(reassign, '--execute', '--throttle', '100000000', ...files),
    /Successfully started partition reassignment/,
  );
  await until('the partition is there', async () => (await view.partitions(topic))[0]?.isr.toSorted().join() === '1,2', {
    timeoutMs: 60_000,
  });
  const verified = await run(reassign, '--verify', ...files);
  assert.match(verified, /spread-0 is complete/);
  assert.match(verified, /Clearing topic-level throttles/);
});

test('kafka-log-dirs finds the replicas where they are now', { skip }, async () => {
  const line = (await run(logDirs, '--describe', '--topic-list', topic)).split('\n').find((each) => each.startsWith('{')) ?? '';
  const { brokers } = JSON.parse(line) as {
    brokers: { broker: number; logDirs: { error: string | null; partitions: { partition: string }[] }[] }[];
  };
  const found = Object.fromEntries(
    brokers.map((each) => [
      each.broker,
      each.logDirs.flatMap(({ partitions }) => partitions.map(({ partition }) => partition)).sort(),
    ]),
  );
  assert.deepEqual(found, {
    0: [`${topic}-2`],
    1: [`${topic}-0`, `${topic}-1`],
    2: [`${topic}-0`, `${topic}-1`, `${topic}-2`],
  });
});

test('kafka-configs sets what all brokers of the cluster share, and reads it from each', { skip }, async () => {
  const all = ['--entity-type', 'brokers', '--entity-default'];
  await run(configs, '--alter', ...all, '--add-config', 'log.cleaner.threads=2');
  assert.match(await run(configs, '--describe', ...all), /log\.cleaner\.threads=2/);
  assert.match(
    await run(configs, '--describe', '--all', '--entity-type', 'brokers', '--entity-name', '2'),
    /log\.cleaner\.threads=2 .*DYNAMIC_DEFAULT_BROKER_CONFIG/,
  );
});
