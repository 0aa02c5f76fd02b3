// Apache Kafka's own command-line tools of 4.4.0 against the broker: all that need no consumer group.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type BrokerUnderTest, brokerUnderTest, needed, skipWithout, uniqueName } from '@odradek/testing';
import { kafkaTools, runJava } from './java.ts';
import { allCodecs } from './round-trip.ts';

const tools = await kafkaTools();

describe('Kafka 4.4 tools', { skip: skipWithout(tools) }, () => {
  let broker: BrokerUnderTest;
  before(async () => {
    broker = await brokerUnderTest();
  });
  after(() => broker?.close());

  /** Runs a tool with the broker's address; gives what it printed. */
  async function run(tool: string, args: readonly string[], stdin = ''): Promise<string> {
    const all = ['--bootstrap-server', broker.bootstrap, ...args];
    const { stdout } = await runJava(needed(tools), `org.apache.kafka.tools.${tool}`, all, { stdin, timeoutMs: 90_000 });
    return stdout.toString();
  }

  const consoleConsume = (topic: string, count: number, args: readonly string[] = []): Promise<string> => {
    const which = ['--topic', topic, '--partition', '0', '--offset', 'earliest', '--max-messages', String(count)];
    return run('consumer.ConsoleConsumer', [...which, '--timeout-ms', '30000', ...args]);
  };

  for (const codec of allCodecs) {
    test(`the console producer writes with ${codec}, the console consumer reads it`, async () => {
      const topic = uniqueName(`console-${codec}`);
      const lines = Array.from({ length: 500 }, (_, index) => `key ${index}\tline ${index} ${'of text '.repeat(index % 20)}`);
      const format = ['--reader-property', 'parse.key=true'];
      await run('ConsoleProducer', ['--topic', topic, '--compression-codec', codec, ...format], `${lines.join('\n')}\n`);
      const output = await consoleConsume(topic, lines.length, ['--formatter-property', 'print.key=true']);
      for (const [index, line] of output.split('\n').entries()) {
        assert.equal(line, lines[index] ?? '');
      }
    });
  }

  test('the console producer delivers a line with its defaults, which ask for a producer id', async () => {
    const topic = uniqueName('console-defaults');
    await run('ConsoleProducer', ['--topic', topic], 'one line\n');
    const show = ['print.offset=true', 'print.partition=true', 'print.timestamp=true'].flatMap((p) => ['--formatter-property', p]);
    assert.match(await consoleConsume(topic, 1, show), /^CreateTime:\d{13}\tPartition:0\tOffset:0\tone line\n$/);
  });

  test('kafka-topics creates, describes, widens, lists and deletes', async () => {
    const topic = uniqueName('tools-topic');
    const configs = ['--config', 'retention.ms=1000', '--config', 'cleanup.policy=compact,delete'];
    const created = await run('TopicCommand', ['--create', '--topic', topic, '--partitions', '3', ...configs]);
    assert.match(created, new RegExp(`Created topic ${topic}\\.`));
    await run('TopicCommand', ['--alter', '--topic', topic, '--partitions', '5']);
    const described = await run('TopicCommand', ['--describe', '--topic', topic]);
    assert.match(
      described,
      /PartitionCount: 5\tReplicationFactor: 1\tConfigs: .*cleanup\.policy=compact,delete.*retention\.ms=1000/s,
    );
    assert.match(described, /Partition: 4\tLeader: \d+\tReplicas: \d+\tIsr: \d+/);
    assert.match(described, /TopicId: [A-Za-z0-9_-]{22}\t/);
    assert.match(await run('TopicCommand', ['--list']), new RegExp(`^${topic}$`, 'm'));
    await run('TopicCommand', ['--delete', '--topic', topic]);
    assert.doesNotMatch(await run('TopicCommand', ['--list']), new RegExp(`^${topic}$`, 'm'));
  });

  test('kafka-configs changes and shows what belongs to a topic', async () => {
    const topic = uniqueName('tools-configs');
    const entity = ['--entity-type', 'topics', '--entity-name', topic];
    await run('TopicCommand', ['--create', '--topic', topic]);
    await run('ConfigCommand', ['--alter', ...entity, '--add-config', 'max.message.bytes=12345,cleanup.policy=[compact,delete]']);
    const described = await run('ConfigCommand', ['--describe', ...entity]);
    assert.match(described, /max\.message\.bytes=12345 sensitive=false synonyms=\{DYNAMIC_TOPIC_CONFIG:max\.message\.bytes=12345,/);
    assert.match(described, /cleanup\.policy=compact,delete /);
    await run('ConfigCommand', ['--alter', ...entity, '--delete-config', 'max.message.bytes']);
    assert.doesNotMatch(await run('ConfigCommand', ['--describe', ...entity]), /max\.message\.bytes/);
    const all = await run('ConfigCommand', ['--describe', ...entity, '--all']);
    assert.match(all, /max\.message\.bytes=1048588 sensitive=false synonyms=\{DEFAULT_CONFIG:message\.max\.bytes=1048588\}/);
  });

  test('kafka-configs shows and changes what belongs to brokers', async () => {
    const all = await run('ConfigCommand', ['--describe', '--entity-type', 'brokers', '--entity-default']);
    assert.match(all, /Default configs for brokers in the cluster are:/);
    const entity = ['--entity-type', 'brokers', '--entity-default'];
    await run('ConfigCommand', ['--alter', ...entity, '--add-config', 'log.cleaner.threads=2']);
    assert.match(await run('ConfigCommand', ['--describe', ...entity]), /log\.cleaner\.threads=2 sensitive=false/);
    await run('ConfigCommand', ['--alter', ...entity, '--delete-config', 'log.cleaner.threads']);
  });

  test('kafka-get-offsets and kafka-delete-records', async () => {
    const topic = uniqueName('tools-offsets');
    await run('ConsoleProducer', ['--topic', topic], 'a\nb\nc\nd\n');
    const offsets = (time: string): Promise<string> => run('GetOffsetShell', ['--topic', topic, '--time', time]);
    assert.equal(await offsets('latest'), `${topic}:0:4\n`);
    assert.equal(await offsets('earliest'), `${topic}:0:0\n`);
    assert.match(await offsets('max-timestamp'), /:0:[0-3]\n$/);
    const directory = mkdtempSync(join(tmpdir(), 'delete-records-'));
    try {
      const file = join(directory, 'offsets.json');
      writeFileSync(file, JSON.stringify({ partitions: [{ topic, partition: 0, offset: 3 }], version: 1 }));
      assert.match(
        await run('DeleteRecordsCommand', ['--offset-json-file', file]),
        new RegExp(`partition: ${topic}-0\tlow_watermark: 3`),
      );
    } finally {
      rmSync(directory, { recursive: true });
    }
    assert.equal(await offsets('earliest'), `${topic}:0:3\n`);
    assert.match(await consoleConsume(topic, 1), /^d$/m);
  });

  test('kafka-log-dirs tells the size and the lag of each partition', async () => {
    const topic = uniqueName('tools-log-dirs');
    await run('ConsoleProducer', ['--topic', topic], 'a line\n');
    const output = await run('LogDirsCommand', ['--describe', '--topic-list', topic]);
    const json = JSON.parse(output.slice(output.indexOf('{'))) as {
      brokers: { logDirs: { error: string | null; partitions: { partition: string; size: number; offsetLag: number }[] }[] }[];
    };
    const partitions = json.brokers.flatMap((one) => one.logDirs).flatMap((directory) => directory.partitions);
    assert.equal(partitions.length, 1);
    assert.equal(partitions[0]?.partition, `${topic}-0`);
    assert.equal(partitions[0]?.offsetLag, 0);
    assert.ok((partitions[0]?.size ?? 0) > 61);
  });

  test('kafka-producer-perf-test sends 20,000 records and gets all acknowledged', async () => {
    const topic = uniqueName('tools-perf');
    const load = ['--num-records', '20000', '--record-size', '200', '--throughput', '-1'];
    const output = await run('ProducerPerformance', [
      '--topic',
      topic,
      ...load,
      '--command-property',
      'acks=all',
      'compression.type=lz4',
    ]);
    assert.match(output, /^20000 records sent, /m);
    assert.equal(await run('GetOffsetShell', ['--topic', topic]), `${topic}:0:20000\n`);
  });

  test('kafka-consumer-perf-test reads them back', async (context) => {
    const versions = await run('BrokerApiVersionsCommand', []);
    if (!/JoinGroup\(11\): \d/.test(versions)) {
      context.skip('the tool joins a consumer group, which this broker does not offer yet');
      return;
    }
    const topic = uniqueName('tools-consumer-perf');
    const load = ['--num-records', '20000', '--record-size', '200', '--throughput', '-1'];
    await run('ProducerPerformance', ['--topic', topic, ...load]);
    const output = await run('ConsumerPerformance', [
      '--topic',
      topic,
      '--num-records',
      '20000',
      '--hide-header',
      '--timeout',
      '30000',
    ]);
    assert.match(output, /, 20\d\d\d, /);
  });

  test('kafka-broker-api-versions and kafka-cluster', async () => {
    const versions = await run('BrokerApiVersionsCommand', []);
    assert.match(versions, new RegExp(`^${broker.bootstrap} \\(id: \\d+ rack: `));
    assert.match(versions, /Produce\(0\): 0 to 13 \[usable: 13\]/);
    assert.match(versions, /Metadata\(3\): 0 to 13 \[usable: 13\]/);
    const all = ['cluster-id', '--bootstrap-server', broker.bootstrap];
    const { stdout } = await runJava(needed(tools), 'org.apache.kafka.tools.ClusterTool', all);
    assert.match(stdout.toString(), /^Cluster ID: [A-Za-z0-9_-]{22}$/m);
  });
});
