import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  DeleteRecordsRequest,
  DeleteRecordsResponse,
  DescribeProducersRequest,
  DescribeProducersResponse,
  errorCodes,
} from '@odradek/protocol';
import { InProcessBroker, type RawClient } from '@odradek/testing';
import { batchOf, batchWith, createTopic, fetchOne, produceOne } from './broker-requests.fixture.ts';

let broker: InProcessBroker;
let client: RawClient;

before(async () => {
  broker = await InProcessBroker.start();
  client = await broker.client();
  await createTopic(client, 'compacted', { configs: { 'cleanup.policy': 'compact' } });
  await createTopic(client, 'both', { configs: { 'cleanup.policy': 'compact,delete' } });
});
after(() => broker.close());

async function deleteBefore(
  name: string,
  offset: number,
  version = 2,
  partitionIndex = 0,
): Promise<[error: number, lowWatermark: number]> {
  const topics = [{ name, partitions: [{ partitionIndex, offset }] }];
  const answer = await client.send(DeleteRecordsRequest, DeleteRecordsResponse, version, { topics, timeoutMs: 10_000 });
  const partition = answer.topics[0]?.partitions[0] ?? assert.fail('the answer names no partition');
  return [partition.errorCode, partition.lowWatermark];
}

for (let version = 0; version <= 2; version++) {
  test(`version ${version} moves the start of the log, never backwards`, async () => {
    const topic = `shrinking-${version}`;
    await createTopic(client, topic);
    await produceOne(client, topic, batchOf('a', 'b', 'c', 'd'));
    assert.deepEqual(await deleteBefore(topic, 2, version), [errorCodes.NONE, 2]);
    assert.deepEqual(await deleteBefore(topic, 1, version), [errorCodes.NONE, 2]);
    assert.equal((await fetchOne(client, topic, 1)).errorCode, errorCodes.OFFSET_OUT_OF_RANGE);
    assert.deepEqual((await fetchOne(client, topic, 2)).values, ['c', 'd']);
    assert.deepEqual(await deleteBefore(topic, 5, version), [errorCodes.OFFSET_OUT_OF_RANGE, -1]);
    assert.deepEqual(await deleteBefore(topic, -2, version), [errorCodes.OFFSET_OUT_OF_RANGE, -1]);
    assert.deepEqual(await deleteBefore(topic, -1, version), [errorCodes.NONE, 4]);
    assert.equal((await fetchOne(client, topic, 4)).logStartOffset, 4);
  });
}

for (const { name, topic, partition, expected } of [
  { name: 'a missing topic', topic: 'nowhere', partition: 0, expected: 'UNKNOWN_TOPIC_OR_PARTITION' },
  { name: 'a missing partition', topic: 'both', partition: 1, expected: 'UNKNOWN_TOPIC_OR_PARTITION' },
  { name: 'a topic that is only compacted', topic: 'compacted', partition: 0, expected: 'POLICY_VIOLATION' },
  { name: 'a topic that is compacted and deleted', topic: 'both', partition: 0, expected: 'NONE' },
  { name: 'an internal topic', topic: '__consumer_offsets', partition: 0, expected: 'INVALID_TOPIC_EXCEPTION' },
] as const) {
  test(`deleting from ${name}: ${expected}`, async () => {
    assert.equal((await deleteBefore(topic, -1, 2, partition))[0], errorCodes[expected]);
  });
}

test('of a partition that is named more than once the last offset counts', async () => {
  await createTopic(client, 'named-twice', { partitions: 2 });
  await produceOne(client, 'named-twice', batchOf('a', 'b', 'c'));
  const topics = [
    { partitionIndex: 0, offset: 3 },
    { partitionIndex: 1, offset: 0 },
    { partitionIndex: 0, offset: 1 },
  ].map((partition) => ({ name: 'named-twice', partitions: [partition] }));
  const answer = await client.send(DeleteRecordsRequest, DeleteRecordsResponse, 2, { topics, timeoutMs: 10_000 });
  assert.deepEqual(
    answer.topics.map(({ name, partitions }) => [name, partitions.map((of) => [of.partitionIndex, of.lowWatermark])]),
    [
      [
        'named-twice',
        [
          [0, 1],
          [1, 0],
        ],
      ],
    ],
  );
});

test('the producers of a partition are told', async () => {
  await createTopic(client, 'watched');
  await produceOne(client, 'watched', batchWith({ producerId: 70, producerEpoch: 3, baseSequence: 0 }, 'a', 'b'));
  const describe = async (name: string, index: number) => {
    const topics = [{ name, partitionIndexes: [index] }];
    const answer = await client.send(DescribeProducersRequest, DescribeProducersResponse, 0, { topics });
    return answer.topics[0]?.partitions[0] ?? assert.fail('the answer names no partition');
  };
  const { errorCode, activeProducers } = await describe('watched', 0);
  assert.equal(errorCode, errorCodes.NONE);
  assert.deepEqual(activeProducers, [
    { producerId: 70, producerEpoch: 3, lastSequence: 1, lastTimestamp: 1_000, coordinatorEpoch: -1, currentTxnStartOffset: -1 },
  ]);
  assert.equal((await describe('watched', 1)).errorCode, errorCodes.UNKNOWN_TOPIC_OR_PARTITION);
  assert.equal((await describe('a/b', 0)).errorCode, errorCodes.INVALID_TOPIC_EXCEPTION);
});
