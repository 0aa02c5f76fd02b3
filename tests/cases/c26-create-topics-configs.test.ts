// C26: CreateTopics from version 5 on tells everything about the topic it made: counts, id, and every config with its source.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  CreateTopicsRequest,
  CreateTopicsResponse,
  DescribeConfigsRequest,
  DescribeConfigsResponse,
  zeroUuid,
} from '@odradek/protocol';
import { type BrokerUnderTest, brokerUnderTest, uniqueName } from '@odradek/testing';
import { assertError, BrokerConversation, type CreatedTopic } from './broker-conversation.ts';

const source = { dynamicTopic: 1, dynamicBroker: 2, dynamicDefaultBroker: 3, staticBroker: 4, default: 5 };

// What Kafka 4.4 answers, apart from remote storage, whose settings it lists as well.
const expectedConfigs = [
  'cleanup.policy',
  'compression.gzip.level',
  'compression.lz4.level',
  'compression.type',
  'compression.zstd.level',
  'delete.retention.ms',
  'file.delete.delay.ms',
  'flush.messages',
  'flush.ms',
  'follower.replication.throttled.replicas',
  'index.interval.bytes',
  'leader.replication.throttled.replicas',
  'max.compaction.lag.ms',
  'max.message.bytes',
  'message.timestamp.after.max.ms',
  'message.timestamp.before.max.ms',
  'message.timestamp.type',
  'min.cleanable.dirty.ratio',
  'min.compaction.lag.ms',
  'min.insync.replicas',
  'preallocate',
  'retention.bytes',
  'retention.ms',
  'segment.bytes',
  'segment.index.bytes',
  'segment.jitter.ms',
  'segment.ms',
  'unclean.leader.election.enable',
];

describe('C26 CreateTopics returns all configs', () => {
  let broker: BrokerUnderTest;
  let conversation: BrokerConversation;
  before(async () => {
    broker = await brokerUnderTest();
    conversation = await BrokerConversation.open(broker);
  });
  after(async () => {
    await conversation?.close();
    await broker?.close();
  });

  async function create(version: number, name: string, validateOnly = false): Promise<CreatedTopic> {
    const configs = [{ name: 'retention.ms', value: '1000' }];
    const request = { topics: [{ name, numPartitions: 2, replicationFactor: 1, configs }], timeoutMs: 30_000, validateOnly };
    const { topics } = await conversation.client.send(CreateTopicsRequest, CreateTopicsResponse, version, request);
    assert.ok(topics[0] !== undefined);
    assertError(topics[0].errorCode, 'NONE', topics[0].errorMessage);
    return topics[0];
  }

  for (const { version, validateOnly } of [
    { version: 5, validateOnly: false },
    { version: 6, validateOnly: true },
    { version: 7, validateOnly: false },
    { version: 7, validateOnly: true },
  ]) {
    test(`version ${version}${validateOnly ? ', only validated' : ''}`, async () => {
      const name = uniqueName('c26');
      const topic = await create(version, name, validateOnly);
      assert.deepEqual([topic.numPartitions, topic.replicationFactor, topic.topicConfigErrorCode], [2, 1, 0]);
      const byName = new Map(topic.configs?.map((config) => [config.name, config]));
      assert.deepEqual(
        expectedConfigs.filter((config) => !byName.has(config)),
        [],
        'no config is missing',
      );
      const retention = byName.get('retention.ms');
      assert.deepEqual([retention?.value, retention?.configSource], ['1000', source.dynamicTopic]);
      for (const config of topic.configs ?? []) {
        assert.equal(config.readOnly, false, config.name);
        assert.equal(config.isSensitive, false, config.name);
        assert.notEqual(config.value, null, config.name);
        if (config.name !== 'retention.ms') {
          assert.ok(config.configSource >= source.dynamicBroker && config.configSource <= source.default, config.name);
        }
      }
      assert.deepEqual(
        [byName.get('max.message.bytes')?.value, byName.get('max.message.bytes')?.configSource],
        ['1048588', source.default],
      );
      assert.equal(byName.get('cleanup.policy')?.value, 'delete');
      // Kafka 4.4 gives an id even to a topic that is only validated, 3.9 none; neither means anything.
      if (version < 7) {
        assert.equal(topic.topicId, zeroUuid);
      } else if (!validateOnly) {
        assert.equal(topic.topicId, (await conversation.ledTopic(name)).topicId);
      }
      assert.equal((await conversation.metadata(name)).errorCode, validateOnly ? 3 : 0);
    });
  }

  test('the same that DescribeConfigs tells', async () => {
    const name = uniqueName('c26-described');
    const topic = await create(7, name);
    await conversation.ledTopic(name);
    const resources = [{ resourceType: 2, resourceName: name, configurationKeys: null }];
    const request = { resources, includeSynonyms: true, includeDocumentation: true };
    const { results } = await conversation.client.send(DescribeConfigsRequest, DescribeConfigsResponse, 4, request);
    assertError(results[0]?.errorCode, 'NONE');
    const told = (results[0]?.configs ?? []).map(({ name, value, configSource }) => ({ name, value, configSource }));
    const created = (topic.configs ?? []).map(({ name, value, configSource }) => ({ name, value, configSource }));
    const order = (one: { name: string }, other: { name: string }): number => (one.name < other.name ? -1 : 1);
    assert.deepEqual(told.sort(order), created.sort(order));
    const retention = results[0]?.configs.find((config) => config.name === 'retention.ms');
    const [own] = retention?.synonyms ?? [];
    assert.deepEqual([own?.name, own?.value, own?.source], ['retention.ms', '1000', source.dynamicTopic]);
    const size = results[0]?.configs.find((config) => config.name === 'max.message.bytes');
    assert.deepEqual(
      size?.synonyms.map((synonym) => [synonym.name, synonym.value, synonym.source]),
      [['message.max.bytes', '1048588', source.default]],
    );
    assert.equal(retention?.configType, 5, 'retention.ms is a long');
    assert.ok((retention?.documentation ?? '').length > 10);
  });

  test('before version 5 there are none', async () => {
    const topic = await create(4, uniqueName('c26-old'));
    assert.deepEqual([topic.numPartitions, topic.configs?.length ?? 0], [-1, 0]);
  });

  test('a refused topic has no counts and no configs', async () => {
    const topics = [
      { name: uniqueName('c26-refused'), numPartitions: 1, replicationFactor: 1, configs: [{ name: 'no.such', value: '1' }] },
    ];
    const answer = await conversation.client.send(CreateTopicsRequest, CreateTopicsResponse, 7, { topics });
    const [topic] = answer.topics;
    assertError(topic?.errorCode, 'INVALID_CONFIG');
    assert.match(topic?.errorMessage ?? '', /no\.such/);
    assert.deepEqual([topic?.numPartitions, topic?.replicationFactor, topic?.topicId], [-1, -1, zeroUuid]);
  });
});
