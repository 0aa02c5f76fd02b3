import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BrokerConfig } from '../broker-config.ts';
import { topicDefaults } from './topic-defaults.ts';

function defaultsOf(properties: Readonly<Record<string, string>>, liveBrokers: number) {
  return topicDefaults(new BrokerConfig(new Map(Object.entries(properties))), () => liveBrokers);
}

test('a single broker can make the internal topics as it comes', () => {
  const defaults = defaultsOf({}, 1);
  assert.deepEqual(defaults.internalTopic('__consumer_offsets'), {
    numPartitions: 50,
    replicationFactor: 1,
    configs: new Map([
      ['cleanup.policy', 'compact'],
      ['compression.type', 'producer'],
      ['segment.bytes', '104857600'],
    ]),
  });
  assert.equal(defaults.internalTopic('__transaction_state')?.configs.get('min.insync.replicas'), '1');
  assert.equal(defaults.internalTopic('__share_group_state')?.replicationFactor, 1);
});

test('with enough brokers the internal topics get Kafka’s three replicas', () => {
  const defaults = defaultsOf({}, 5);
  assert.equal(defaults.internalTopic('__consumer_offsets')?.replicationFactor, 3);
  assert.equal(defaults.internalTopic('__transaction_state')?.configs.get('min.insync.replicas'), '2');
});

test('a number that was set is kept, possible or not', () => {
  const defaults = defaultsOf({ 'offsets.topic.replication.factor': '3', 'transaction.state.log.min.isr': '2' }, 1);
  assert.equal(defaults.internalTopic('__consumer_offsets')?.replicationFactor, 3);
  assert.equal(defaults.internalTopic('__transaction_state')?.configs.get('min.insync.replicas'), '2');
});

test('other topics get num.partitions and default.replication.factor', () => {
  const defaults = defaultsOf({ 'num.partitions': '4', 'default.replication.factor': '2', 'delete.topic.enable': 'false' }, 1);
  assert.deepEqual([defaults.numPartitions, defaults.replicationFactor, defaults.isDeletionEnabled], [4, 2, false]);
  assert.equal(defaults.internalTopic('orders'), undefined);
});
