// C01: the offset for a time after the last record is "none" (-1), not the end of the log.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  buildRecordBatch,
  DeleteRecordsRequest,
  DeleteRecordsResponse,
  ListOffsetsRequest,
  ListOffsetsResponse,
} from '@odradek/protocol';
import { type BrokerUnderTest, brokerUnderTest } from '@odradek/testing';
import { assertError, BrokerConversation } from './broker-conversation.ts';

const special = { latest: -1, earliest: -2, maxTimestamp: -3, earliestLocal: -4, latestTiered: -5, earliestPendingUpload: -6 };

describe('C01 offset for a time after the last record', () => {
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

  async function topicWithThree(): Promise<string> {
    const topic = await conversation.createTopic('c01', { configs: { 'retention.ms': '-1' } });
    for (const timestamp of [100, 200, 300]) {
      await conversation.append(topic, buildRecordBatch({}, [{ value: Buffer.from(`at ${timestamp}`), timestamp }]));
    }
    return topic;
  }

  test('in every version', async () => {
    const topic = await topicWithThree();
    const range = await conversation.offered(ListOffsetsRequest);
    assert.ok(range !== undefined);
    for (let version = Math.max(1, range.min); version <= range.max; version++) {
      const afterLast = await conversation.listOffset(topic, 301, { version });
      assertError(afterLast.errorCode, 'NONE');
      assert.deepEqual([afterLast.offset, afterLast.timestamp, afterLast.leaderEpoch], [-1, -1, -1], `version ${version}`);
      const atLast = await conversation.listOffset(topic, 300, { version });
      assertError(atLast.errorCode, 'NONE');
      assert.deepEqual([atLast.offset, atLast.timestamp], [2, 300], `version ${version}`);
      assert.equal(atLast.leaderEpoch, version >= 4 ? 0 : -1);
    }
  });

  test('version 0 answers with a list of offsets', async (context) => {
    if (!(await conversation.offers(ListOffsetsRequest, 0))) {
      context.skip('this broker no longer offers ListOffsets 0');
      return;
    }
    const topic = await topicWithThree();
    const listed = async (timestamp: number, maxNumOffsets = 10): Promise<readonly number[]> => {
      const partitions = [{ partitionIndex: 0, timestamp, maxNumOffsets }];
      const { topics } = await conversation.client.send(ListOffsetsRequest, ListOffsetsResponse, 0, {
        replicaId: -1,
        topics: [{ name: topic, partitions }],
      });
      assertError(topics[0]?.partitions[0]?.errorCode, 'NONE');
      return topics[0]?.partitions[0]?.oldStyleOffsets ?? [];
    };
    assert.deepEqual(await listed(special.latest), [3, 0]);
    assert.deepEqual(await listed(special.latest, 1), [3]);
    assert.deepEqual(await listed(special.earliest), [0]);
    // The end of the log counts as begun when the request came.
    assert.deepEqual(await listed(Date.now() + 86_400_000), [3, 0]);
    assert.deepEqual(await listed(1), []);
  });

  test('after every record was removed', async () => {
    const topic = await topicWithThree();
    const partitions = [{ partitionIndex: 0, offset: -1 }];
    const removed = await conversation.client.send(DeleteRecordsRequest, DeleteRecordsResponse, 2, {
      timeoutMs: 10_000,
      topics: [{ name: topic, partitions }],
    });
    assertError(removed.topics[0]?.partitions[0]?.errorCode, 'NONE');
    assert.equal(removed.topics[0]?.partitions[0]?.lowWatermark, 3);
    for (const timestamp of [0, 100, 300, 301]) {
      const answer = await conversation.listOffset(topic, timestamp);
      assertError(answer.errorCode, 'NONE');
      assert.deepEqual([answer.offset, answer.timestamp], [-1, -1], `time ${timestamp}`);
    }
    for (const timestamp of [special.latest, special.earliest]) {
      assert.equal((await conversation.listOffset(topic, timestamp)).offset, 3);
    }
  });

  test('in a topic that never had a record', async () => {
    const topic = await conversation.createTopic('c01-empty');
    const cases = [
      { timestamp: 0, offset: -1 },
      { timestamp: Date.now(), offset: -1 },
      { timestamp: special.latest, offset: 0 },
      { timestamp: special.earliest, offset: 0 },
      { timestamp: special.maxTimestamp, offset: -1 },
      { timestamp: special.earliestLocal, offset: 0, version: 8 },
      { timestamp: special.latestTiered, offset: -1, version: 9 },
    ];
    for (const { timestamp, offset, version } of cases) {
      const answer = await conversation.listOffset(topic, timestamp, { version: version ?? 7 });
      assertError(answer.errorCode, 'NONE');
      assert.deepEqual([answer.offset, answer.timestamp], [offset, -1], `time ${timestamp}`);
    }
  });

  test('the record with the largest timestamp is told with its timestamp', async () => {
    const topic = await conversation.createTopic('c01-max', { configs: { 'retention.ms': '-1' } });
    const records = [900, 100, 900].map((timestamp) => ({ timestamp, value: Buffer.from('v') }));
    await conversation.append(topic, buildRecordBatch({}, [{ timestamp: 500, value: Buffer.from('v') }]));
    await conversation.append(topic, buildRecordBatch({}, records));
    const answer = await conversation.listOffset(topic, special.maxTimestamp);
    assert.deepEqual([answer.offset, answer.timestamp], [1, 900]);
  });

  test('an older version than a special time needs is refused', async () => {
    const topic = await topicWithThree();
    const cases = [
      { timestamp: special.maxTimestamp, version: 6 },
      { timestamp: special.earliestLocal, version: 7 },
      { timestamp: special.latestTiered, version: 8 },
      { timestamp: special.earliestPendingUpload, version: 10 },
      { timestamp: -7, version: 10 },
    ];
    const range = await conversation.offered(ListOffsetsRequest);
    for (const { timestamp, version } of cases.filter((one) => one.version <= (range?.max ?? -1))) {
      const answer = await conversation.listOffset(topic, timestamp, { version });
      assertError(answer.errorCode, 'UNSUPPORTED_VERSION', `time ${timestamp} in version ${version}`);
    }
  });

  test('partitions that are absent, named twice or asked in another epoch get their own errors', async () => {
    const topic = await topicWithThree();
    const ask = async (partitions: readonly { partitionIndex: number; timestamp: number; currentLeaderEpoch?: number }[]) => {
      const topics = [{ name: topic, partitions }];
      const answer = await conversation.client.send(ListOffsetsRequest, ListOffsetsResponse, 7, { replicaId: -1, topics });
      return answer.topics.flatMap((one) => one.partitions);
    };
    const latest = { partitionIndex: 0, timestamp: special.latest };
    const [absent] = await ask([{ partitionIndex: 9, timestamp: special.latest }]);
    assertError(absent?.errorCode, 'UNKNOWN_TOPIC_OR_PARTITION');
    const [newer] = await ask([{ ...latest, currentLeaderEpoch: 7 }]);
    assertError(newer?.errorCode, 'UNKNOWN_LEADER_EPOCH');
    const twice = await ask([latest, latest]);
    assertError(twice[0]?.errorCode, 'INVALID_REQUEST');
  });
});
