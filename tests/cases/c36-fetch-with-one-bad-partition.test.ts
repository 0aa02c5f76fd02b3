// C36: the ranges that ApiVersions tells agree with each other, and in a fetch of several partitions the bad one spoils
// only itself.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  buildRecordBatch,
  FetchRequest,
  FetchResponse,
  MetadataRequest,
  OffsetCommitRequest,
  OffsetFetchRequest,
  ProduceRequest,
} from '@odradek/protocol';
import { type BrokerUnderTest, brokerUnderTest, RawClient, uniqueName, until } from '@odradek/testing';
import { assertError, BrokerConversation, textRecords, valuesOf } from './broker-conversation.ts';

const unknownId = 'AAAAAAAAAAAAAAAAAAAAEA';

describe('C36 several topics in one Fetch with one bad', () => {
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

  async function filledTopic(stem: string, value: string) {
    const topic = await conversation.createTopicNamed(uniqueName(stem), { partitions: 2 });
    await conversation.append(topic.name ?? '', buildRecordBatch({}, textRecords(value)), { partition: 0 });
    await conversation.append(topic.name ?? '', buildRecordBatch({}, textRecords(`${value} too`)), { partition: 1 });
    return { name: topic.name ?? '', topicId: topic.topicId };
  }

  const wanted = (partition: number, fetchOffset = 0, rest: { currentLeaderEpoch?: number } = {}) => ({
    partition,
    fetchOffset,
    partitionMaxBytes: 100_000,
    ...rest,
  });

  test('what needs topic ids is offered only with Metadata 10', async () => {
    const metadata = await conversation.offered(MetadataRequest);
    const pairs = [
      [FetchRequest, 12],
      [ProduceRequest, 12],
      [OffsetCommitRequest, 9],
      [OffsetFetchRequest, 9],
    ] as const;
    for (const [request, lastWithoutIds] of pairs) {
      const range = await conversation.offered(request);
      assert.ok((metadata?.max ?? 0) >= 10 || (range?.max ?? 0) <= lastWithoutIds, request.name);
    }
  });

  for (const version of [4, 11, 12]) {
    test(`version ${version}, by name`, async () => {
      const good = await filledTopic('c36-good', 'good');
      const other = await filledTopic('c36-other', 'other');
      const topics = [
        { topic: good.name, partitions: [wanted(0), wanted(7), wanted(1, 99)] },
        { topic: uniqueName('c36-missing'), partitions: [wanted(0)] },
        { topic: other.name, partitions: [wanted(1)] },
      ];
      const request = { maxWaitMs: 20_000, minBytes: 1, topics };
      const { responses } = await conversation.client.send(FetchRequest, FetchResponse, version, request);
      const answer = (topic: string | undefined, partition: number) =>
        responses
          .filter((one) => one.topic === topic)
          .flatMap((one) => one.partitions)
          .find((one) => one.partitionIndex === partition);
      assertError(answer(good.name, 0)?.errorCode, 'NONE');
      assert.deepEqual(valuesOf(answer(good.name, 0)?.records ?? null), ['good']);
      assertError(answer(good.name, 7)?.errorCode, 'UNKNOWN_TOPIC_OR_PARTITION');
      assertError(answer(good.name, 1)?.errorCode, 'OFFSET_OUT_OF_RANGE');
      assertError(answer(topics[1]?.topic, 0)?.errorCode, 'UNKNOWN_TOPIC_OR_PARTITION');
      assert.deepEqual(valuesOf(answer(other.name, 1)?.records ?? null), ['other too']);
    });
  }

  for (const version of [13, 15, 16, 17]) {
    test(`version ${version}, by id`, async (context) => {
      if (!(await conversation.offers(FetchRequest, version))) {
        context.skip('this broker does not offer that version');
        return;
      }
      const good = await filledTopic('c36-id', 'good');
      const topics = [
        { topicId: unknownId, partitions: [wanted(0)] },
        { topicId: good.topicId, partitions: [wanted(0), wanted(7), wanted(1, 0, { currentLeaderEpoch: 50 })] },
      ];
      const request = { maxWaitMs: 20_000, minBytes: 1, topics };
      const { errorCode, responses } = await conversation.client.send(FetchRequest, FetchResponse, version, request);
      assertError(errorCode, 'NONE');
      const answer = (topicId: string, partition: number) =>
        responses
          .filter((one) => one.topicId === topicId)
          .flatMap((one) => one.partitions)
          .find((one) => one.partitionIndex === partition);
      assert.deepEqual(valuesOf(answer(good.topicId, 0)?.records ?? null), ['good']);
      assertError(answer(good.topicId, 7)?.errorCode, 'UNKNOWN_TOPIC_OR_PARTITION');
      assertError(answer(good.topicId, 1)?.errorCode, 'UNKNOWN_LEADER_EPOCH');
      assertError(answer(unknownId, 0)?.errorCode, 'UNKNOWN_TOPIC_ID');
    });
  }

  test('a position out of range is answered at once, however long the fetch may wait', async () => {
    // An unknown partition is not enough for that: Kafka waits on the others and tells it at the end.
    const { name } = await conversation.createTopicNamed(uniqueName('c36-at-once'), { partitions: 2 });
    const topics = [{ topic: name ?? '', partitions: [wanted(0), wanted(1, 9), wanted(7)] }];
    const request = { maxWaitMs: 29_000, minBytes: 1_000_000, topics };
    const { responses } = await conversation.client.send(FetchRequest, FetchResponse, 12, request);
    const codes = responses.flatMap((topic) => topic.partitions.map((one) => [one.partitionIndex, one.errorCode] as const));
    assert.deepEqual(
      codes.sort(([one], [other]) => one - other),
      [
        [0, 0],
        [1, 1],
        [7, 3],
      ],
    );
  });

  test('a session tells a bad partition again and again, and the rest only when there is news', async () => {
    const good = await filledTopic('c36-session', 'good');
    const missing = uniqueName('c36-missing');
    const first = await conversation.client.send(FetchRequest, FetchResponse, 12, {
      maxWaitMs: 100,
      minBytes: 1,
      sessionId: 0,
      sessionEpoch: 0,
      topics: [
        { topic: good.name, partitions: [wanted(0), wanted(1)] },
        { topic: missing, partitions: [wanted(0)] },
      ],
    });
    assertError(first.errorCode, 'NONE');
    assert.notEqual(first.sessionId, 0);
    assert.equal(first.responses.flatMap((topic) => topic.partitions).length, 3);
    const next = async (sessionEpoch: number, topics: readonly object[]) =>
      conversation.client.send(FetchRequest, FetchResponse, 12, {
        maxWaitMs: 100,
        minBytes: 1,
        sessionId: first.sessionId,
        sessionEpoch,
        topics: topics as [],
      });
    const caughtUp = await next(1, [{ topic: good.name, partitions: [wanted(0, 1), wanted(1, 1)] }]);
    assertError(caughtUp.errorCode, 'NONE');
    assert.deepEqual(
      caughtUp.responses.map((topic) => [topic.topic, topic.partitions.map((one) => [one.partitionIndex, one.errorCode])]),
      [[missing, [[0, 3]]]],
    );
    await conversation.append(good.name, buildRecordBatch({}, textRecords('news')), { partition: 1 });
    const news = await next(2, []);
    const partition = news.responses.find((topic) => topic.topic === good.name)?.partitions;
    assert.deepEqual(
      partition?.map((one) => [one.partitionIndex, valuesOf(one.records)]),
      [[1, ['news']]],
    );
    assertError((await next(9, [])).errorCode, 'INVALID_FETCH_SESSION_EPOCH');
    const stranger = { maxWaitMs: 0, minBytes: 0, sessionId: first.sessionId + 12345, sessionEpoch: 1, topics: [] };
    const unknown = await conversation.client.send(FetchRequest, FetchResponse, 12, stranger);
    assertError(unknown.errorCode, 'FETCH_SESSION_ID_NOT_FOUND');
  });

  test('the response limit is shared: what does not fit comes with the next fetch', async () => {
    const names = await Promise.all(['a', 'b', 'c'].map((stem) => conversation.createTopic(`c36-limit-${stem}`)));
    const value = 'x'.repeat(10_000);
    for (const name of names) {
      await conversation.append(name, buildRecordBatch({}, textRecords(value)));
    }
    const topics = names.map((topic) => ({ topic, partitions: [wanted(0)] }));
    const request = { maxWaitMs: 0, minBytes: 0, maxBytes: 15_000, topics };
    const { responses } = await conversation.client.send(FetchRequest, FetchResponse, 12, request);
    const sizes = responses.flatMap((topic) => topic.partitions.map((one) => one.records?.length ?? 0));
    assert.equal(sizes.length, 3);
    assert.ok(Math.max(...sizes) > 10_000);
    assert.ok(sizes.reduce((sum, size) => sum + size, 0) < 20_500);
  });

  test('a fetch that waits does not hold up the connections beside it', async () => {
    const { name } = await conversation.createTopicNamed(uniqueName('c36-beside'));
    const waiters = await Promise.all(
      Array.from({ length: 20 }, () => RawClient.connect({ host: broker.host, port: broker.port })),
    );
    const answers = waiters.map((client) =>
      new BrokerConversation(broker, client).fetch(name ?? '', 0, { maxWaitMs: 25_000, minBytes: 1 }),
    );
    await until('the broker still answers', async () => (await conversation.endOffset(name ?? '')) === 0);
    await conversation.append(name ?? '', buildRecordBatch({}, textRecords('for all')));
    for (const answer of answers) {
      assert.deepEqual(valuesOf((await answer).records), ['for all']);
    }
    await Promise.all(waiters.map((client) => client.close()));
  });
});
