// C25: a topic deleted and created again under its name is another topic, and nothing of the old one answers for it.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  buildRecordBatch,
  DeleteTopicsRequest,
  DeleteTopicsResponse,
  FetchRequest,
  FetchResponse,
  MetadataRequest,
  MetadataResponse,
  ProduceRequest,
  ProduceResponse,
  zeroUuid,
} from '@odradek/protocol';
import { type BrokerUnderTest, brokerUnderTest, uniqueName, until } from '@odradek/testing';
import { assertError, BrokerConversation, textRecords, valuesOf } from './broker-conversation.ts';

const unknownId = 'AAAAAAAAAAAAAAAAAAAAEA';

describe('C25 delete and recreate a topic', () => {
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

  async function deleteTopic(topic: { name: string } | { topicId: string }): Promise<void> {
    const byId = 'topicId' in topic;
    const request = byId ? { topics: [{ name: null, ...topic }] } : { topics: [topic] };
    const answer = await conversation.client.send(DeleteTopicsRequest, DeleteTopicsResponse, 6, { ...request, timeoutMs: 30_000 });
    assertError(answer.responses[0]?.errorCode, 'NONE', answer.responses[0]?.errorMessage);
  }

  /** Kafka deletes in the background: creation works as soon as the name is free. */
  async function recreate(name: string): Promise<string> {
    await until(`${name} is gone`, async () => (await conversation.metadata(name)).errorCode === 3);
    return until(`${name} can be created again`, async () => (await conversation.createTopicNamed(name)).topicId);
  }

  async function fetchById(
    topicId: string,
    fetchOffset: number,
    session: { sessionId: number; sessionEpoch: number } = { sessionId: 0, sessionEpoch: -1 },
    isNamed = true,
  ) {
    const partitions = [{ partition: 0, fetchOffset, partitionMaxBytes: 1_000_000 }];
    const topics = isNamed ? [{ topicId, partitions }] : [];
    const request = { maxWaitMs: 100, minBytes: 1, maxBytes: 1_000_000, ...session, topics };
    return conversation.client.send(FetchRequest, FetchResponse, 13, request);
  }

  for (const how of ['name', 'id'] as const) {
    test(`deleted by ${how}: the new topic has another id and begins empty`, async () => {
      const name = uniqueName('c25');
      const first = await conversation.createTopicNamed(name);
      for (let count = 0; count < 10; count++) {
        await conversation.append(name, buildRecordBatch({}, textRecords(`old ${count}`)));
      }
      await deleteTopic(how === 'name' ? { name } : { topicId: first.topicId });
      const secondId = await recreate(name);
      assert.notEqual(secondId, first.topicId);
      assert.equal(await conversation.endOffset(name), 0);
      await conversation.append(name, buildRecordBatch({}, textRecords('new 0', 'new 1', 'new 2')));

      const stale = (await fetchById(first.topicId, 0)).responses[0]?.partitions[0];
      assertError(stale?.errorCode, 'UNKNOWN_TOPIC_ID');
      const fresh = (await fetchById(secondId, 0)).responses[0]?.partitions[0];
      assertError(fresh?.errorCode, 'NONE');
      assert.deepEqual(valuesOf(fresh?.records ?? null), ['new 0', 'new 1', 'new 2']);
      // The old reader's position does not exist in the new topic.
      assertError((await conversation.fetch(name, 10)).errorCode, 'OFFSET_OUT_OF_RANGE');
    });
  }

  test('a fetch session by id that outlives its topic says so', async () => {
    const name = uniqueName('c25-session');
    const { topicId } = await conversation.createTopicNamed(name);
    await conversation.append(name, buildRecordBatch({}, textRecords('a')));
    const opened = await fetchById(topicId, 0, { sessionId: 0, sessionEpoch: 0 });
    assertError(opened.errorCode, 'NONE');
    assert.ok(opened.sessionId > 0);
    assert.deepEqual(valuesOf(opened.responses[0]?.partitions[0]?.records ?? null), ['a']);
    await deleteTopic({ name });
    await recreate(name);
    await conversation.append(name, buildRecordBatch({}, textRecords('new')));
    // The session still wants the partition of the old id. It is told that the id is unknown, in the partition or for the
    // session as a whole; by no means is it given the new topic's records.
    const answer = await fetchById(topicId, 0, { sessionId: opened.sessionId, sessionEpoch: 1 }, false);
    const codes = [answer.errorCode, ...answer.responses.flatMap((topic) => topic.partitions.map((one) => one.errorCode))];
    assert.ok(
      codes.some((code) => code === 100 || code === 103),
      `codes ${codes.join(', ')}`,
    );
    assert.deepEqual(
      answer.responses.flatMap((topic) => topic.partitions.flatMap((one) => valuesOf(one.records))),
      [],
    );
  });

  test('an id that never was is unknown in Fetch, Metadata and DeleteTopics', async () => {
    const fetched = (await fetchById(unknownId, 0)).responses[0];
    assert.equal(fetched?.topicId, unknownId);
    assertError(fetched?.partitions[0]?.errorCode, 'UNKNOWN_TOPIC_ID');
    const asked = { topics: [{ topicId: unknownId, name: null }], allowAutoTopicCreation: false };
    const { topics } = await conversation.client.send(MetadataRequest, MetadataResponse, 12, asked);
    assertError(topics[0]?.errorCode, 'UNKNOWN_TOPIC_ID');
    assert.equal(topics[0]?.topicId, unknownId);
    const removal = { topics: [{ topicId: unknownId, name: null }], timeoutMs: 1000 };
    const { responses } = await conversation.client.send(DeleteTopicsRequest, DeleteTopicsResponse, 6, removal);
    assertError(responses[0]?.errorCode, 'UNKNOWN_TOPIC_ID');
  });

  test('Produce 13 goes by id', async (context) => {
    if (!(await conversation.offers(ProduceRequest, 13))) {
      context.skip('this broker does not offer Produce 13');
      return;
    }
    const name = uniqueName('c25-produce');
    const { topicId } = await conversation.createTopicNamed(name);
    const records = buildRecordBatch({}, textRecords('x'));
    const produce = async (id: string) => {
      const topicData = [{ topicId: id, partitionData: [{ index: 0, records }] }];
      const request = { acks: -1, timeoutMs: 1000, topicData };
      const { responses } = await conversation.client.send(ProduceRequest, ProduceResponse, 13, request);
      assert.equal(responses[0]?.topicId, id);
      return responses[0]?.partitionResponses[0];
    };
    assertError((await produce(topicId))?.errorCode, 'NONE');
    assertError((await produce(unknownId))?.errorCode, 'UNKNOWN_TOPIC_ID');
    await deleteTopic({ name });
    await recreate(name);
    assertError((await produce(topicId))?.errorCode, 'UNKNOWN_TOPIC_ID');
    assert.equal(await conversation.endOffset(name), 0);
  });

  test('deleting what is not there, and naming one topic twice', async () => {
    const send = async (topics: readonly { name: string | null; topicId?: string }[]) => {
      const answer = await conversation.client.send(DeleteTopicsRequest, DeleteTopicsResponse, 6, { topics, timeoutMs: 5000 });
      return answer.responses;
    };
    const absent = uniqueName('c25-absent');
    assertError((await send([{ name: absent }]))[0]?.errorCode, 'UNKNOWN_TOPIC_OR_PARTITION');
    const name = uniqueName('c25-twice');
    const { topicId } = await conversation.createTopicNamed(name);
    // As Kafka 4.4 has it; 3.9 on ZooKeeper deletes the topic once.
    assertError((await send([{ name }, { name }]))[0]?.errorCode, 'INVALID_REQUEST');
    assertError((await send([{ name, topicId }]))[0]?.errorCode, 'INVALID_REQUEST');
    assertError((await send([{ name: null, topicId: zeroUuid }]))[0]?.errorCode, 'INVALID_REQUEST');
    assert.equal((await conversation.metadata(name)).errorCode, 0);
  });
});
