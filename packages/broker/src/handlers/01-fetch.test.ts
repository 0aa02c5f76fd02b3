import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  DeleteTopicsRequest,
  DeleteTopicsResponse,
  errorCodes,
  FetchRequest,
  FetchResponse,
  type Message,
  MetadataRequest,
  MetadataResponse,
  OffsetForLeaderEpochRequest,
  OffsetForLeaderEpochResponse,
} from '@odradek/protocol';
import { InProcessBroker, type RawClient } from '@odradek/testing';
import { batchOf, createTopic, type FetchOptions, fetchOne, produceOne } from './broker-requests.fixture.ts';

let broker: InProcessBroker;
let client: RawClient;
let topicId: string;

before(async () => {
  broker = await InProcessBroker.start();
  client = await broker.client();
  topicId = await createTopic(client, 'read', { partitions: 2 });
  await produceOne(client, 'read', batchOf('a', 'b', 'c'));
  await produceOne(client, 'read', batchOf('d'));
});
after(() => broker.close());

interface SessionFetch {
  readonly sessionId: number;
  readonly sessionEpoch: number;
  /** Partition to fetch offset. */
  readonly offsets?: Readonly<Record<number, number>>;
  readonly id?: string;
  readonly version?: number;
}

/** A fetch of the topic, by its id, within a session. */
function inSession({
  sessionId,
  sessionEpoch,
  offsets = {},
  id = topicId,
  version = 17,
}: SessionFetch): Promise<Message<typeof FetchResponse>> {
  const partitions = Object.entries(offsets).map(([partition, fetchOffset]) => ({
    partition: Number(partition),
    fetchOffset,
    partitionMaxBytes: 1_000_000,
  }));
  const topics = partitions.length === 0 ? [] : [version >= 13 ? { topicId: id, partitions } : { topic: 'read', partitions }];
  return client.send(FetchRequest, FetchResponse, version, { maxWaitMs: 0, minBytes: 1, sessionId, sessionEpoch, topics });
}

for (let version = 4; version <= 12; version++) {
  test(`version ${version} reads from the batch that has the offset on`, async () => {
    const { values, highWatermark, lastStableOffset, logStartOffset } = await fetchOne(client, 'read', 1, { version });
    assert.deepEqual(values, ['b', 'c', 'd']);
    assert.deepEqual([highWatermark, lastStableOffset, logStartOffset], [4, 4, version >= 5 ? 0 : -1]);
  });
}

for (const { name, offset, options, expected } of [
  { name: 'an offset beyond the end', offset: 5, expected: 'OFFSET_OUT_OF_RANGE' },
  { name: 'a negative offset', offset: -1, expected: 'OFFSET_OUT_OF_RANGE' },
  { name: 'a partition that does not exist', offset: 0, options: { partition: 2 }, expected: 'UNKNOWN_TOPIC_OR_PARTITION' },
  { name: 'a leader epoch that has not come yet', offset: 0, options: { currentLeaderEpoch: 1 }, expected: 'UNKNOWN_LEADER_EPOCH' },
  { name: 'a leader epoch before the first', offset: 0, options: { currentLeaderEpoch: -2 }, expected: 'FENCED_LEADER_EPOCH' },
  { name: 'a last epoch that the log has not seen', offset: 0, options: { lastFetchedEpoch: 9 }, expected: 'OFFSET_OUT_OF_RANGE' },
] as { name: string; offset: number; options?: FetchOptions; expected: keyof typeof errorCodes }[]) {
  test(`refused at once: ${name}`, async () => {
    const answer = await fetchOne(client, 'read', offset, { maxWaitMs: 60_000, ...options });
    assert.equal(answer.errorCode, errorCodes[expected]);
    assert.deepEqual([answer.highWatermark, answer.logStartOffset, answer.values.length], [-1, -1, 0]);
  });
}

test('a reader whose log goes on where ours ends in its epoch is told where they part', async () => {
  const answer = await fetchOne(client, 'read', 4, { lastFetchedEpoch: 0 });
  assert.equal(answer.errorCode, errorCodes.NONE);
  assert.deepEqual(answer.divergingEpoch, { epoch: -1, endOffset: -1 });
  await assert.doesNotReject(fetchOne(client, 'read', 4, { lastFetchedEpoch: 0 }));
});

test('the end of a leader epoch', async () => {
  const ask = async (version: number, leaderEpoch: number, currentLeaderEpoch = -1, partition = 0) => {
    const topics = [{ topic: 'read', partitions: [{ partition, leaderEpoch, currentLeaderEpoch }] }];
    const answer = await client.send(OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse, version, { topics });
    const { errorCode, endOffset, leaderEpoch: epoch } = answer.topics[0]?.partitions[0] ?? assert.fail('no partition');
    return { errorCode, endOffset, epoch };
  };
  for (let version = 0; version <= 4; version++) {
    assert.deepEqual(await ask(version, 0), { errorCode: errorCodes.NONE, endOffset: 4, epoch: version >= 1 ? 0 : -1 });
  }
  assert.deepEqual(await ask(4, 7), { errorCode: errorCodes.NONE, endOffset: -1, epoch: -1 });
  assert.equal((await ask(4, 0, 1)).errorCode, errorCodes.UNKNOWN_LEADER_EPOCH);
  assert.equal((await ask(4, 0, -1, 5)).errorCode, errorCodes.UNKNOWN_TOPIC_OR_PARTITION);
});

test('a fetch waits for as long as it may, and no longer', async () => {
  const answer = await fetchOne(client, 'read', 4, { maxWaitMs: 20 });
  assert.equal(answer.errorCode, errorCodes.NONE);
  assert.deepEqual(answer.values, []);
});

test('a fetch that waits is woken by an append, and does not hold up other connections', async () => {
  await createTopic(client, 'woken');
  const reader = await broker.client();
  const fetched = fetchOne(reader, 'woken', 0, { maxWaitMs: 60_000 });
  await client.send(MetadataRequest, MetadataResponse, 9, { topics: [] });
  await produceOne(client, 'woken', batchOf('now'));
  assert.deepEqual((await fetched).values, ['now']);
});

test('a fetch waits for minBytes, over several appends', async () => {
  await createTopic(client, 'gathered');
  const reader = await broker.client();
  const size = batchOf('12345').length;
  const fetched = fetchOne(reader, 'gathered', 0, { maxWaitMs: 60_000, minBytes: size * 3 });
  for (const value of ['12345', '67890', 'abcde']) await produceOne(client, 'gathered', batchOf(value));
  assert.deepEqual((await fetched).values, ['12345', '67890', 'abcde']);
});

test('a fetch that waits for a topic that is deleted is told so', async () => {
  await createTopic(client, 'doomed');
  const reader = await broker.client();
  const fetched = fetchOne(reader, 'doomed', 0, { maxWaitMs: 60_000 });
  await client.send(MetadataRequest, MetadataResponse, 9, { topics: [] });
  await client.send(DeleteTopicsRequest, DeleteTopicsResponse, 5, { topicNames: ['doomed'], timeoutMs: 10_000 });
  assert.notEqual((await fetched).errorCode, errorCodes.NONE);
});

test('a session carries on with what changed', async () => {
  await createTopic(client, 'unrelated');
  const opened = await inSession({ sessionId: 0, sessionEpoch: 0, offsets: { 0: 4, 1: 0 } });
  assert.ok(opened.sessionId > 0);
  assert.equal(opened.responses[0]?.partitions.length, 2);
  const { sessionId } = opened;
  assert.deepEqual((await inSession({ sessionId, sessionEpoch: 1 })).responses, []);
  await produceOne(client, 'read', batchOf('p1'), { partition: 1 });
  const next = await inSession({ sessionId, sessionEpoch: 2 });
  assert.deepEqual(
    next.responses.map((topic) => [topic.topicId, topic.partitions.map(({ partitionIndex }) => partitionIndex)]),
    [[topicId, [1]]],
  );
  assert.equal((await inSession({ sessionId, sessionEpoch: 2 })).errorCode, errorCodes.INVALID_FETCH_SESSION_EPOCH);
  assert.equal((await inSession({ sessionId, sessionEpoch: 3, version: 12 })).errorCode, errorCodes.FETCH_SESSION_TOPIC_ID_ERROR);
  assert.equal((await inSession({ sessionId, sessionEpoch: -1 })).sessionId, 0);
  assert.equal((await inSession({ sessionId, sessionEpoch: 3 })).errorCode, errorCodes.FETCH_SESSION_ID_NOT_FOUND);
});

test('an id of no topic is its partition’s error alone', async () => {
  const id = 'AAAAAAAAAAAAAAAAAAAAAQ';
  const answer = await inSession({ sessionId: 0, sessionEpoch: -1, offsets: { 0: 0 }, id });
  assert.equal(answer.errorCode, errorCodes.NONE);
  assert.deepEqual(
    answer.responses.map((topic) => [topic.topicId, topic.partitions[0]?.errorCode]),
    [[id, errorCodes.UNKNOWN_TOPIC_ID]],
  );
});

test('the limit of the whole answer is shared, and the first batch comes in any case', async () => {
  await createTopic(client, 'wide', { partitions: 3 });
  for (const partition of [0, 1, 2]) await produceOne(client, 'wide', batchOf('x'.repeat(1000)), { partition });
  const sizeOf = async (maxBytes: number): Promise<number[]> => {
    const partitions = [0, 1, 2].map((partition) => ({ partition, fetchOffset: 0, partitionMaxBytes: 10_000 }));
    const request = { maxWaitMs: 0, minBytes: 1, maxBytes, topics: [{ topic: 'wide', partitions }] };
    const { responses } = await client.send(FetchRequest, FetchResponse, 11, request);
    return responses[0]?.partitions.map(({ records }) => records?.length ?? -1) ?? [];
  };
  const [size = 0] = await sizeOf(100_000);
  assert.deepEqual(await sizeOf(100_000), [size, size, size]);
  assert.deepEqual(await sizeOf(size * 2), [size, size, 0]);
  assert.deepEqual(await sizeOf(1), [size, 0, 0]);
});

test('many readers at once get the same bytes, from memory and from disk', async () => {
  await createTopic(client, 'popular');
  const values = Array.from({ length: 60 }, (_, index) => `${index}`.padEnd(30_000, '.'));
  const readers = await Promise.all(Array.from({ length: 5 }, () => broker.client()));
  const readAll = async (reader: RawClient): Promise<string[]> => {
    const found: string[] = [];
    while (found.length < values.length)
      found.push(...(await fetchOne(reader, 'popular', found.length, { maxWaitMs: 10_000 })).values);
    return found;
  };
  const reading = readers.map(readAll);
  for (const value of values) await produceOne(client, 'popular', batchOf(value), { acks: 1 });
  for (const found of await Promise.all([...reading, ...readers.map(readAll)]))
    assert.ok(found.every((value, index) => value === values[index]));
});
