// C02: the offset for a time is that of the first record whose timestamp is at least the time, however the records are
// packed and whatever order their timestamps are in.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { buildRecordBatch, type CompressionType } from '@odradek/protocol';
import { type BrokerUnderTest, brokerUnderTest } from '@odradek/testing';
import { assertError, BrokerConversation } from './broker-conversation.ts';

interface Case {
  readonly name: string;
  /** Timestamps, batch by batch. */
  readonly batches: readonly (readonly number[])[];
  /** [time asked, offset, timestamp] */
  readonly answers: readonly (readonly [number, number, number])[];
  readonly compression?: CompressionType;
  readonly configs?: Readonly<Record<string, string>>;
}

const even: Case['answers'] = [
  [1, 0, 2],
  [2, 0, 2],
  [3, 1, 4],
  [4, 1, 4],
  [5, 2, 6],
  [6, 2, 6],
  [7, 3, 8],
  [8, 3, 8],
  [9, -1, -1],
];

const unsorted: Case['answers'] = [
  [1, 0, 9],
  [3, 0, 9],
  [9, 0, 9],
  [10, -1, -1],
];

const cases: readonly Case[] = [
  { name: 'a batch each', batches: [[2], [4], [6], [8]], answers: even },
  { name: 'one batch', batches: [[2, 4, 6, 8]], answers: even },
  ...(['gzip', 'snappy', 'lz4', 'zstd'] as const).map((compression) => ({
    name: `one batch with ${compression}`,
    batches: [[2, 4, 6, 8]],
    answers: even,
    compression,
  })),
  {
    name: 'two batches with zstd',
    batches: [
      [2, 4],
      [6, 8],
    ],
    answers: even,
    compression: 'zstd',
  },
  { name: 'timestamps not sorted, a batch each', batches: [[9], [2], [7]], answers: unsorted },
  { name: 'timestamps not sorted, one batch', batches: [[9, 2, 7]], answers: unsorted },
  { name: 'timestamps not sorted, compressed', batches: [[9, 2, 7]], answers: unsorted, compression: 'gzip' },
  {
    name: 'a low timestamp first',
    batches: [[2, 9], [7]],
    answers: [
      [2, 0, 2],
      [3, 1, 9],
      [7, 1, 9],
      [9, 1, 9],
      [10, -1, -1],
    ],
  },
  {
    name: 'a segment each, an index entry each',
    batches: [[2], [4], [6], [8]],
    answers: even,
    configs: { 'segment.ms': '1', 'index.interval.bytes': '0', 'message.timestamp.type': 'CreateTime' },
  },
];

describe('C02 offset for a time between two records', () => {
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

  for (const { name, batches, answers, compression, configs } of cases) {
    test(name, async () => {
      const topic = await conversation.createTopic('c02', { configs: { 'retention.ms': '-1', ...configs } });
      for (const timestamps of batches) {
        const records = timestamps.map((timestamp) => ({ timestamp, value: Buffer.from(`at ${timestamp}`) }));
        await conversation.append(topic, buildRecordBatch({ compression }, records));
      }
      for (const [time, offset, timestamp] of answers) {
        const answer = await conversation.listOffset(topic, time);
        assertError(answer.errorCode, 'NONE');
        assert.deepEqual([answer.offset, answer.timestamp], [offset, timestamp], `time ${time}`);
      }
    });
  }

  test('many batches over many segments, asked for each time and the gaps between', async () => {
    const configs = { 'retention.ms': '-1', 'segment.bytes': '1048576', 'index.interval.bytes': '100' };
    const topic = await conversation.createTopic('c02-many', { configs });
    const value = Buffer.alloc(50_000, 'x');
    const count = 60;
    for (let index = 0; index < count; index++) {
      await conversation.append(topic, buildRecordBatch({}, [{ value, timestamp: 1000 + index * 10 }]));
    }
    for (let index = 0; index < count; index++) {
      for (const time of [1000 + index * 10, 1000 + index * 10 - 9]) {
        const answer = await conversation.listOffset(topic, time);
        assert.deepEqual([answer.offset, answer.timestamp], [index, 1000 + index * 10], `time ${time}`);
      }
    }
  });

  test('with LogAppendTime the broker’s clock counts', async () => {
    const topic = await conversation.createTopic('c02-append-time', { configs: { 'message.timestamp.type': 'LogAppendTime' } });
    const answer = await conversation.produce(topic, buildRecordBatch({}, [{ value: Buffer.from('old'), timestamp: 5 }]));
    assertError(answer.errorCode, 'NONE');
    assert.ok(answer.logAppendTimeMs > 1_600_000_000_000);
    const found = await conversation.listOffset(topic, 6);
    assert.deepEqual([found.offset, found.timestamp], [0, answer.logAppendTimeMs]);
    assert.equal((await conversation.listOffset(topic, answer.logAppendTimeMs + 1)).offset, -1);
  });
});
