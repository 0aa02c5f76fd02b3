// C27: -1 for partitions and replicas means the broker's defaults. Clients may say so from CreateTopics 4 on, and the Java
// client refuses it before; but Apache Kafka's brokers (3.9, 4.4) take it in every version, and so do we.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { CreateTopicsRequest, CreateTopicsResponse } from '@odradek/protocol';
import { type BrokerUnderTest, brokerUnderTest, uniqueName } from '@odradek/testing';
import { assertError, BrokerConversation, type CreatedTopic } from './broker-conversation.ts';

interface Case {
  readonly name: string;
  readonly version?: number;
  readonly topic: {
    readonly name?: string;
    readonly numPartitions: number;
    readonly replicationFactor: number;
    readonly assignments?: readonly { partitionIndex: number; brokerIds: readonly number[] }[];
    readonly configs?: readonly { name: string; value: string | null }[];
  };
  readonly error: string;
}

const one = { numPartitions: 1, replicationFactor: 1 };
const unset = { numPartitions: -1, replicationFactor: -1 };

describe('C27 create with default partitions and replicas', () => {
  let broker: BrokerUnderTest;
  let conversation: BrokerConversation;
  let brokerId: number;
  before(async () => {
    broker = await brokerUnderTest({ properties: { 'num.partitions': 1 } });
    conversation = await BrokerConversation.open(broker);
    const topic = await conversation.createTopicNamed(uniqueName('c27-leader'));
    brokerId = topic.partitions[0]?.leaderId ?? -1;
  });
  after(async () => {
    await conversation?.close();
    await broker?.close();
  });

  async function create(version: number, topic: Case['topic']): Promise<CreatedTopic> {
    const request = { topics: [{ name: uniqueName('c27'), ...topic }], timeoutMs: 30_000 };
    const { topics } = await conversation.client.send(CreateTopicsRequest, CreateTopicsResponse, version, request);
    assert.equal(topics.length, 1);
    return topics[0] as CreatedTopic;
  }

  for (const version of [2, 3, 4, 5, 7]) {
    test(`version ${version} takes num.partitions and default.replication.factor`, async () => {
      const topic = await create(version, unset);
      assertError(topic.errorCode, 'NONE', topic.errorMessage);
      if (version >= 5) {
        assert.deepEqual([topic.numPartitions, topic.replicationFactor], [1, 1]);
      }
      assert.equal((await conversation.ledTopic(topic.name)).partitions.length, 1);
    });
  }

  const cases: readonly Case[] = [
    { name: 'no partition', topic: { numPartitions: 0, replicationFactor: 1 }, error: 'INVALID_PARTITIONS' },
    { name: 'a negative count of partitions', topic: { numPartitions: -2, replicationFactor: 1 }, error: 'INVALID_PARTITIONS' },
    { name: 'no replica', topic: { numPartitions: 1, replicationFactor: 0 }, error: 'INVALID_REPLICATION_FACTOR' },
    {
      name: 'a negative count of replicas',
      topic: { numPartitions: 1, replicationFactor: -2 },
      error: 'INVALID_REPLICATION_FACTOR',
    },
    { name: 'more replicas than brokers', topic: { numPartitions: 1, replicationFactor: 3 }, error: 'INVALID_REPLICATION_FACTOR' },
    { name: 'an empty name', topic: { name: '', ...one }, error: 'INVALID_TOPIC_EXCEPTION' },
    { name: 'the name "."', topic: { name: '.', ...one }, error: 'INVALID_TOPIC_EXCEPTION' },
    { name: 'the name ".."', topic: { name: '..', ...one }, error: 'INVALID_TOPIC_EXCEPTION' },
    { name: 'a name with a slash', topic: { name: 'a/b', ...one }, error: 'INVALID_TOPIC_EXCEPTION' },
    { name: 'a name of 250 letters', topic: { name: 'n'.repeat(250), ...one }, error: 'INVALID_TOPIC_EXCEPTION' },
    {
      name: 'an unknown config',
      topic: { ...one, configs: [{ name: 'no.such.config', value: '1' }] },
      error: 'INVALID_CONFIG',
    },
    {
      name: 'a config out of its range',
      topic: { ...one, configs: [{ name: 'segment.bytes', value: '-5' }] },
      error: 'INVALID_CONFIG',
    },
    {
      name: 'a config of another type',
      topic: { ...one, configs: [{ name: 'retention.ms', value: 'for ever' }] },
      error: 'INVALID_CONFIG',
    },
    {
      name: 'a config without a value',
      topic: { ...one, configs: [{ name: 'retention.ms', value: null }] },
      error: 'INVALID_CONFIG',
    },
    {
      name: 'an assignment together with counts',
      topic: { ...one, assignments: [{ partitionIndex: 0, brokerIds: [1] }] },
      error: 'INVALID_REQUEST',
    },
    {
      name: 'an assignment that begins at 1',
      topic: { ...unset, assignments: [{ partitionIndex: 1, brokerIds: [1] }] },
      error: 'INVALID_REPLICA_ASSIGNMENT',
    },
    {
      name: 'an assignment to a broker that is not there',
      topic: { ...unset, assignments: [{ partitionIndex: 0, brokerIds: [9999] }] },
      error: 'INVALID_REPLICA_ASSIGNMENT',
    },
    {
      name: 'an assignment to nobody',
      topic: { ...unset, assignments: [{ partitionIndex: 0, brokerIds: [] }] },
      error: 'INVALID_REPLICA_ASSIGNMENT',
    },
  ];
  for (const { name, version, topic, error } of cases) {
    test(`${name}: ${error}`, async () => {
      const answer = await create(version ?? 7, topic);
      assertError(answer.errorCode, error, answer.errorMessage);
      assert.ok((answer.errorMessage ?? '').length > 0, 'with a message');
    });
  }

  test('an assignment by hand, in every version', async () => {
    for (const version of [2, 4, 7]) {
      const assignments = [0, 1, 2].map((partitionIndex) => ({ partitionIndex, brokerIds: [brokerId] }));
      const topic = await create(version, { ...unset, assignments });
      assertError(topic.errorCode, 'NONE', topic.errorMessage);
      assert.equal((await conversation.ledTopic(topic.name)).partitions.length, 3);
    }
  });

  test('a name that is there, a name that is there twice in the request, and one that collides', async () => {
    const name = uniqueName('c27_exists');
    await conversation.createTopicNamed(name);
    assertError((await create(7, { ...one, name })).errorCode, 'TOPIC_ALREADY_EXISTS');
    // In metric names a period becomes an underscore, so Kafka refuses what differs in nothing else.
    assertError((await create(7, { ...one, name: name.replaceAll('_', '.') })).errorCode, 'INVALID_TOPIC_EXCEPTION');
    const twice = { name: uniqueName('c27-twice'), ...one };
    const other = { name: uniqueName('c27-other'), ...one };
    const request = { topics: [twice, other, twice], timeoutMs: 30_000 };
    const { topics } = await conversation.client.send(CreateTopicsRequest, CreateTopicsResponse, 7, request);
    const codes = new Map(topics.map((topic) => [topic.name, topic.errorCode]));
    assertError(codes.get(twice.name), 'INVALID_REQUEST');
    assertError(codes.get(other.name), 'NONE');
    assertError((await conversation.metadata(twice.name)).errorCode, 'UNKNOWN_TOPIC_OR_PARTITION');
  });
});
