import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTopicPartition, topicPartitionKey } from './topic-partition.ts';

test('a folder is called by topic and partition, and nothing else is taken for one', () => {
  for (const topic of ['orders', 'a-b-1', '__consumer_offsets', 'with.dot_and-dash']) {
    assert.deepEqual(parseTopicPartition(topicPartitionKey({ topic, partition: 12 })), { topic, partition: 12 });
  }
  const others = [
    'orders',
    'orders-',
    '-1',
    'orders-x1',
    'orders-007',
    'orders-2147483648',
    '..-1',
    'my orders-1',
    `${'o'.repeat(250)}-1`,
    'meta.properties',
    'orders-0.0123456789abcdef0123456789abcdef-delete',
    'orders-0.0123456789abcdef0123456789abcdef-future',
    'orders-0.0123456789abcdef0123456789abcdef-stray',
  ];
  for (const name of others) assert.equal(parseTopicPartition(name), undefined, name);
});
