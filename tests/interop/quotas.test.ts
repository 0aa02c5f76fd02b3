// Quotas as an operator sets them with kafka-configs, and what Kafka's own clients tell of them: how long the broker made them wait.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type BrokerUnderTest, brokerUnderTest, needed, skipWithout, uniqueName } from '@odradek/testing';
import { kafkaTools, runJava } from './java.ts';

const tools = await kafkaTools();

describe('quotas with Kafka 4.4 tools', { skip: skipWithout(tools) }, () => {
  let broker: BrokerUnderTest;
  before(async () => {
    broker = await brokerUnderTest();
  });
  after(() => broker?.close());

  async function run(tool: string, args: readonly string[]): Promise<string> {
    const all = ['--bootstrap-server', broker.bootstrap, ...args];
    const { stdout } = await runJava(needed(tools), `org.apache.kafka.tools.${tool}`, all, { timeoutMs: 90_000 });
    return stdout.toString();
  }
  const configs = (...args: string[]): Promise<string> => run('ConfigCommand', args);

  test('kafka-configs sets, tells and takes away quotas of users, clients and addresses', async () => {
    const user = uniqueName('alice');
    const client = uniqueName('app');
    assert.equal(
      await configs('--alter', '--user', user, '--add-config', 'producer_byte_rate=1024,consumer_byte_rate=2048'),
      `Completed updating config for user ${user}.\n`,
    );
    await configs('--alter', '--user', user, '--add-config', 'SCRAM-SHA-256=[iterations=8192,password=secret]');
    await configs('--alter', '--user', user, '--client', client, '--add-config', 'request_percentage=150');
    await configs('--alter', '--ip', '127.0.0.7', '--add-config', 'connection_creation_rate=10');
    await configs('--alter', '--user', user, '--delete-config', 'producer_byte_rate');
    assert.equal(
      await configs('--describe', '--user', user),
      `Quota configs for user-principal '${user}' are consumer_byte_rate=2048.0\n` +
        `SCRAM credential configs for user-principal '${user}' are SCRAM-SHA-256=iterations=8192\n`,
    );
    assert.equal(
      await configs('--describe', '--user', user, '--client', client),
      `Quota configs for user-principal '${user}', client-id '${client}' are request_percentage=150.0\n`,
    );
    assert.equal(
      await configs('--describe', '--entity-type', 'ips'),
      "Quota configs for ip '127.0.0.7' are connection_creation_rate=10.0\n",
    );
  });

  test('a producer and a consumer are told to wait, and every record is written and read nevertheless', async () => {
    const topic = uniqueName('throttled');
    const client = uniqueName('client');
    const entity = ['--entity-type', 'clients', '--entity-name', client];
    await configs('--alter', ...entity, '--add-config', 'producer_byte_rate=100000,consumer_byte_rate=100000');
    const tool = ['--topic', topic, '--num-records', '110', '--print-metrics', '--command-property', `client.id=${client}`];
    const produced = await run('ProducerPerformance', [...tool, '--record-size', '10000', '--throughput', '-1']);
    assert.match(produced, /^110 records sent, /m);
    const producerMs = gaugeIn(produced, 'producer-metrics:produce-throttle-time-max');
    assert.ok(producerMs > 500, `1,100,000 bytes where 1,000,000 may come at once: ${producerMs} ms`);
    const consumed = await run('ConsumerPerformance', [...tool, '--timeout', '30000', '--hide-header']);
    assert.match(consumed, /, 1\.049\d, [\d.]+, 110, /);
    const consumerMs = gaugeIn(consumed, 'consumer-fetch-manager-metrics:fetch-throttle-time-max');
    assert.ok(consumerMs > 0, `1,100,000 bytes where 1,000,000 may come at once: ${consumerMs} ms`);
  });
});

/** The value of a metric of the client's, as the tools print it. */
function gaugeIn(output: string, name: string): number {
  return Number(new RegExp(`^${name}:\\{client-id=[^},]*\\}\\s*:\\s*([\\d.]+)$`, 'm').exec(output)?.[1]);
}
