// Kafka's own tools move a partition between the log directories of a broker: kafka-reassign-partitions.sh with a throttle, and
// kafka-log-dirs.sh, which sees it on its way.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { buildRecordBatch, DescribeLogDirsRequest, DescribeLogDirsResponse } from '@odradek/protocol';
import { needed, skipWithout, startOdradekProcess, until } from '@odradek/testing';
import { BrokerConversation, recordsOf } from '../cases/broker-conversation.ts';
import { kafkaTools, runJava } from './java.ts';

const tools = await kafkaTools();
const topic = 'moved';

interface DescribedLogDirs {
  readonly brokers: readonly {
    readonly broker: number;
    readonly logDirs: readonly {
      readonly logDir: string;
      readonly error: string | null;
      readonly partitions: readonly {
        readonly partition: string;
        readonly size: number;
        readonly offsetLag: number;
        readonly isFuture: boolean;
      }[];
    }[];
  }[];
}

test('Kafka’s tools move a partition to another log directory', { skip: skipWithout(tools), timeout: 180_000 }, async () => {
  const root = mkdtempSync(join(tmpdir(), 'odradek-log-dirs-'));
  const dataDirectories = [join(root, 'one'), join(root, 'two')];
  await using odradek = await startOdradekProcess({ dataDirectories, properties: { 'broker.id': 0, 'num.partitions': 1 } });
  const { host, port, bootstrap } = odradek;
  await using conversation = await BrokerConversation.open({ host, port, bootstrap, odradek, close: async () => undefined });
  await conversation.createTopicNamed(topic);
  const value = Buffer.alloc(200_000, 'x');
  for (let count = 0; count < 20; count++)
    await conversation.append(topic, buildRecordBatch({}, [{ value, timestamp: Date.now() }]));

  const run = async (tool: string, args: readonly string[]): Promise<string> => {
    const all = ['--bootstrap-server', bootstrap, ...args];
    const { stdout } = await runJava(needed(tools), `org.apache.kafka.tools.${tool}`, all, { timeoutMs: 60_000 });
    return stdout.toString();
  };
  const describe = async (): Promise<DescribedLogDirs['brokers'][number]['logDirs']> => {
    const text = await run('LogDirsCommand', ['--describe', '--topic-list', topic]);
    const json = text.split('\n').find((line) => line.startsWith('{')) ?? '';
    return (JSON.parse(json) as DescribedLogDirs).brokers[0]?.logDirs ?? [];
  };
  const before = await describe();
  assert.ok(before.every(({ error }) => error === null));
  const from = before.find(({ partitions }) => partitions.length > 0)?.logDir ?? '';
  const to = dataDirectories.find((directory) => directory !== from) ?? '';
  assert.ok(dataDirectories.includes(from));
  assert.ok((before.find(({ logDir }) => logDir === from)?.partitions[0]?.size ?? 0) > 4_000_000);

  const plan = join(root, 'plan.json');
  writeFileSync(plan, JSON.stringify({ version: 1, partitions: [{ topic, partition: 0, replicas: [0], log_dirs: [to] }] }));
  const files = ['--reassignment-json-file', plan];
  const reassign = 'reassign.ReassignPartitionsCommand';
  const executed = await run(reassign, ['--execute', '--replica-alter-log-dirs-throttle', '400000', ...files]);
  assert.match(
    executed,
    /Successfully started moving log directory to .*two for replica moved-0 with broker 0|Successfully started moving log directory to .*one for replica/,
  );
  const underWay = (await describe()).find(({ logDir }) => logDir === to)?.partitions[0];
  assert.ok(underWay?.isFuture === true && underWay.offsetLag > 0 && underWay.offsetLag < 20, JSON.stringify(underWay));
  // Meanwhile it is written to and read, of course.
  await conversation.append(topic, buildRecordBatch({}, [{ value, timestamp: Date.now() }]));

  await run(reassign, ['--execute', '--additional', '--replica-alter-log-dirs-throttle', '999999999', ...files]);
  await until('the partition lies there', async () => {
    const { results } = await conversation.client.send(DescribeLogDirsRequest, DescribeLogDirsResponse, 4, { topics: null });
    const found = results.find(({ logDir }) => logDir === to)?.topics.find(({ name }) => name === topic);
    return found?.partitions[0]?.isFutureKey === false;
  });
  assert.match(await run(reassign, ['--verify', ...files]), /replica moved-0.*complete/i);
  assert.deepEqual((await describe()).find(({ logDir }) => logDir === from)?.partitions, []);
  let read = 0;
  while (read < 21) read += recordsOf((await conversation.fetch(topic, read)).records).length;
  assert.equal(await conversation.endOffset(topic), 21);
  rmSync(root, { recursive: true, force: true });
});
