// Consumers of every client in groups: they join, share the partitions, leave, crash, come back, and every record is handled at
// least once, and none twice unless somebody crashed.

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { type BrokerUnderTest, brokerUnderTest, skipWithout, uniqueName, until } from '@odradek/testing';
import kafkajs from 'kafkajs';
import { type GroupClient, groupClients } from './clients.ts';
import { GroupConsumer, type GroupConsumerOptions } from './group-consumer.ts';

const partitionCount = 4;
const properties = {
  'num.partitions': partitionCount,
  'offsets.topic.num.partitions': 3,
  'group.initial.rebalance.delay.ms': 0,
  'group.min.session.timeout.ms': 500,
  'group.consumer.heartbeat.interval.ms': 200,
  'group.consumer.min.heartbeat.interval.ms': 100,
  'group.consumer.session.timeout.ms': 2000,
  'group.consumer.min.session.timeout.ms': 500,
  'group.consumer.assignment.interval.ms': 100,
};

describe('consumers in groups', () => {
  let broker: BrokerUnderTest;
  let producer: kafkajs.Producer;
  let running: GroupConsumer[] = [];
  before(async () => {
    broker = await brokerUnderTest({ properties });
    const kafka = new kafkajs.Kafka({ brokers: [broker.bootstrap], logLevel: kafkajs.logLevel.NOTHING });
    producer = kafka.producer();
    await producer.connect();
  });
  afterEach(async () => {
    await Promise.all(running.map((consumer) => consumer.kill()));
    running = [];
  });
  after(async () => {
    await producer?.disconnect();
    await broker?.close();
  });

  /** Produces so many records, spread over the partitions, and returns their values. */
  async function produce(topic: string, stem: string, count: number): Promise<string[]> {
    const values = Array.from({ length: count }, (_, index) => `${stem}-${index}`);
    await producer.send({
      topic,
      messages: values.map((value, index) => ({ partition: index % partitionCount, value })),
    });
    return values;
  }

  function start(client: GroupClient, options: Omit<GroupConsumerOptions, 'bootstrap'>): GroupConsumer {
    const consumer = new GroupConsumer(client.consumer({ bootstrap: broker.bootstrap, ...options }));
    running.push(consumer);
    return consumer;
  }

  /** Produces a few records at a time until the consumer has handled one: then it has its share. */
  async function produceUntilHandled(topic: string, stem: string, consumer: GroupConsumer): Promise<string[]> {
    const values: string[] = [];
    const first = consumer.records.length;
    for (let round = 0; round < 600; round++) {
      values.push(...(await produce(topic, `${stem}-${round}`, partitionCount)));
      try {
        await consumer.until('it handles a record', ({ records }) => records.length > first, 100);
        return values;
      } catch {
        // Not yet.
      }
    }
    throw new Error('the consumer got no share');
  }

  async function allHandled(values: readonly string[], ...consumers: GroupConsumer[]): Promise<void> {
    const isMissing = (value: string): boolean => !consumers.some((consumer) => consumer.values.includes(value));
    try {
      await until(`${values.length} records are handled`, () => !values.some(isMissing), { everyMs: 10, timeoutMs: 60_000 });
    } catch (cause) {
      const said = consumers.map(({ output }) => output.slice(-2000)).join('\n---\n');
      throw new Error(`${values.filter(isMissing).length} records were not handled. The consumers said:\n${said}`, { cause });
    }
  }

  function assertOnce(...consumers: GroupConsumer[]): void {
    const handled = consumers.flatMap(({ values }) => values);
    const twice = handled.filter((value, index) => handled.indexOf(value) !== index);
    assert.deepEqual(twice, [], 'no record is handled twice');
  }

  for (const client of groupClients) {
    describe(client.name, { skip: skipWithout(...client.tools) }, () => {
      const protocols = client.hasConsumerProtocol ? (['classic', 'consumer'] as const) : (['classic'] as const);
      for (const protocol of protocols) {
        test(`${protocol}: joins, shares, leaves, crashes, resumes`, async () => {
          const topic = uniqueName('shared');
          const group = uniqueName('group');
          const beginning = await produce(topic, 'beginning', 40);
          const a = start(client, { group, topic, protocol });
          await allHandled(beginning, a);

          const b = start(client, { group, topic, protocol });
          const shared = await produceUntilHandled(topic, 'shared', b);
          shared.push(...(await produce(topic, 'both', 40)));
          await allHandled(shared, a, b);
          assert.ok(a.records.length > 0 && b.records.length > 0);
          if (client.handlesOnce) assertOnce(a, b);

          // b leaves, and a has everything again.
          await b.stop();
          const alone = await produce(topic, 'alone', 40);
          await allHandled(alone, a);
          if (client.handlesOnce) assertOnce(a, b);

          // a dies in the middle of its work; who comes after goes on where it has committed.
          const unlucky = await produce(topic, 'unlucky', 200);
          await a.until('it has begun', ({ values }) => values.some((value) => value.startsWith('unlucky')));
          await a.kill();
          const c = start(client, { group, topic, protocol });
          await allHandled(unlucky, a, c);
          assert.ok(!c.values.some((value) => value.startsWith('beginning')), 'what was committed stays committed');

          // Everything was committed: the next one begins with what is new.
          await c.stop();
          const late = await produce(topic, 'late', partitionCount);
          const d = start(client, { group, topic, protocol });
          await allHandled(late, d);
          if (client.handlesOnce) assert.deepEqual([...d.values].sort(), [...late].sort());
          assert.ok(!d.values.some((value) => value.startsWith('beginning')));
          await d.stop();
        });
      }

      if (client.canBeStatic && client.tellsAssignment) {
        test('a static member restarts without a rebalance', async () => {
          const topic = uniqueName('static');
          const group = uniqueName('group');
          const first = await produce(topic, 'first', 40);
          const a = start(client, { group, topic, instanceId: 'one' });
          await allHandled(first, a);
          const b = start(client, { group, topic, instanceId: 'two' });
          await produceUntilHandled(topic, 'shared', b);
          await a.until('it has half', ({ partitions }) => partitions.length === partitionCount / 2);
          const rebalances = a.rebalances.length;
          await b.kill();
          const restarted = start(client, { group, topic, instanceId: 'two' });
          await produceUntilHandled(topic, 'again', restarted);
          assert.deepEqual(restarted.partitions, b.partitions);
          assert.equal(a.rebalances.length, rebalances);
        });
      }

      if (client.canCooperate && client.tellsAssignment) {
        test('a cooperative rebalance takes away only what moves', async () => {
          const topic = uniqueName('cooperative');
          const group = uniqueName('group');
          const first = await produce(topic, 'first', 40);
          const a = start(client, { group, topic, assignor: 'cooperative' });
          await allHandled(first, a);
          const b = start(client, { group, topic, assignor: 'cooperative' });
          const shared = await produceUntilHandled(topic, 'shared', b);
          await allHandled(shared, a, b);
          await a.until('it has half', ({ partitions }) => partitions.length === partitionCount / 2);
          const revoked = a.rebalances.filter(({ kind }) => kind === 'revoked').flatMap(({ partitions }) => partitions);
          assert.equal(revoked.length, partitionCount / 2);
        });
      }
    });
  }
});
