// C30: Metadata creates a missing topic when both the client and the broker allow it, and never one with a bad name.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { buildRecordBatch, MetadataRequest, MetadataResponse } from '@odradek/protocol';
import { type BrokerUnderTest, brokerUnderTest, uniqueName, until } from '@odradek/testing';
import { assertError, BrokerConversation, type DescribedTopic, textRecords, valuesOf } from './broker-conversation.ts';

describe('C30 auto-creation through Metadata', () => {
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

  async function ask(
    version: number,
    names: readonly string[],
    allowAutoTopicCreation: boolean,
  ): Promise<readonly DescribedTopic[]> {
    const request = { topics: names.map((name) => ({ name })), allowAutoTopicCreation };
    const answer = await conversation.client.send(MetadataRequest, MetadataResponse, version, request);
    return answer.topics;
  }

  test('allowed: created, and a produce right after goes through', async () => {
    const range = await conversation.offered(MetadataRequest);
    assert.ok(range !== undefined);
    for (let version = Math.max(4, range.min); version <= range.max; version++) {
      const name = uniqueName(`c30-allowed-${version}`);
      const [first] = await ask(version, [name], true);
      assert.ok([0, 3, 5].includes(first?.errorCode ?? -1), `first answer ${first?.errorCode}`);
      assert.equal(first?.name, name);
      await until('it has a leader', async () => {
        const [topic] = await ask(version, [name], true);
        return topic?.errorCode === 0 && topic.partitions[0]?.errorCode === 0;
      });
      await until('it takes records', async () => {
        const answer = await conversation.produce(name, buildRecordBatch({}, textRecords('first')));
        return answer.errorCode === 0;
      });
      assert.deepEqual(valuesOf((await conversation.fetch(name, 0)).records), ['first']);
    }
  });

  test('before version 4 there is no choice: created', async () => {
    const range = await conversation.offered(MetadataRequest);
    for (const version of [0, 1, 2, 3].filter((one) => one >= (range?.min ?? 0))) {
      const name = uniqueName(`c30-old-${version}`);
      await until('it is there', async () => {
        const answer = await conversation.client.send(MetadataRequest, MetadataResponse, version, { topics: [{ name }] });
        return answer.topics[0]?.errorCode === 0;
      });
    }
  });

  test('not allowed: unknown and not created', async () => {
    const name = uniqueName('c30-refused');
    for (const version of [4, 8, 9, 12]) {
      const [topic] = await ask(version, [name], false);
      assertError(topic?.errorCode, 'UNKNOWN_TOPIC_OR_PARTITION');
      assert.equal(topic?.name, name);
      assert.deepEqual(topic?.partitions, []);
    }
    const all = await conversation.client.send(MetadataRequest, MetadataResponse, 12, {
      topics: null,
      allowAutoTopicCreation: true,
    });
    assert.ok(!all.topics.some((topic) => topic.name === name));
  });

  for (const name of ['a/b', '.', '..', 'sp ace', 'n'.repeat(250), 'ünïcode', '']) {
    test(`the bad name "${name.slice(0, 20)}" is invalid and not created`, async () => {
      const [topic] = await ask(9, [name], true);
      assertError(topic?.errorCode, 'INVALID_TOPIC_EXCEPTION');
      assert.equal(topic?.name, name);
      const all = await conversation.client.send(MetadataRequest, MetadataResponse, 12, { topics: null });
      assert.ok(!all.topics.some((one) => one.name === name));
    });
  }

  test('a good and a bad name in one request', async () => {
    const good = uniqueName('c30-good');
    const topics = new Map((await ask(12, [good, 'b/ad'], true)).map((topic) => [topic.name, topic.errorCode]));
    assertError(topics.get('b/ad'), 'INVALID_TOPIC_EXCEPTION');
    assert.ok([0, 3, 5].includes(topics.get(good) ?? -1));
    await conversation.ledTopic(good);
  });

  test('producing to a topic that is missing creates nothing', async () => {
    const name = uniqueName('c30-produce');
    const answer = await conversation.produce(name, buildRecordBatch({}, textRecords('x')));
    assertError(answer.errorCode, 'UNKNOWN_TOPIC_OR_PARTITION');
    assertError((await conversation.fetch(name, 0)).errorCode, 'UNKNOWN_TOPIC_OR_PARTITION');
    assertError((await conversation.metadata(name)).errorCode, 'UNKNOWN_TOPIC_OR_PARTITION');
  });

  test('many clients at once ask for one missing topic: one is created', async () => {
    const name = uniqueName('c30-race');
    const asking = Array.from({ length: 8 }, async () => {
      await using other = await BrokerConversation.open(broker);
      await other.client.send(MetadataRequest, MetadataResponse, 12, { topics: [{ name }], allowAutoTopicCreation: true });
      return (await other.ledTopic(name)).topicId;
    });
    const ids = new Set(await Promise.all(asking));
    assert.equal(ids.size, 1);
  });

  test('a broker that does not allow it creates nothing', async (context) => {
    if (broker.odradek === undefined) {
      context.skip('the settings of this broker are not ours');
      return;
    }
    const strict = await brokerUnderTest({ properties: { 'auto.create.topics.enable': false } });
    try {
      await using other = await BrokerConversation.open(strict);
      const request = { topics: [{ name: 'missing' }], allowAutoTopicCreation: true };
      const { topics } = await other.client.send(MetadataRequest, MetadataResponse, 12, request);
      assertError(topics[0]?.errorCode, 'UNKNOWN_TOPIC_OR_PARTITION');
      assertError((await other.metadata('missing')).errorCode, 'UNKNOWN_TOPIC_OR_PARTITION');
    } finally {
      await strict.close();
    }
  });
});
