// C04: a fetch from the middle of a batch gets that whole batch; the client drops what it did not ask for.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { buildRecordBatch, compressionTypes, FetchRequest, iterateBatches } from '@odradek/protocol';
import { type BrokerUnderTest, brokerUnderTest, RawClient } from '@odradek/testing';
import { assertError, BrokerConversation, recordsOf, textRecords, valuesOf } from './broker-conversation.ts';

describe('C04 fetch starting inside a batch', () => {
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

  for (const compression of compressionTypes) {
    test(`every offset of two batches, ${compression}`, async () => {
      const topic = await conversation.createTopic(`c04-${compression}`);
      await conversation.append(topic, buildRecordBatch({ compression }, textRecords('a0', 'a1')));
      await conversation.append(topic, buildRecordBatch({ compression }, textRecords('b2', 'b3')));
      const expected = [
        { from: 0, values: ['a0', 'a1', 'b2', 'b3'] },
        { from: 1, values: ['a0', 'a1', 'b2', 'b3'] },
        { from: 2, values: ['b2', 'b3'] },
        { from: 3, values: ['b2', 'b3'] },
        { from: 4, values: [] },
      ];
      for (const { from, values } of expected) {
        const answer = await conversation.fetch(topic, from);
        assertError(answer.errorCode, 'NONE');
        assert.equal(answer.highWatermark, 4);
        assert.deepEqual(valuesOf(answer.records), values, `from ${from}`);
        assert.deepEqual(
          recordsOf(answer.records).map((record) => record.offset),
          values.map((_, index) => 4 - values.length + index),
        );
      }
      for (const from of [5, -1]) {
        assertError((await conversation.fetch(topic, from)).errorCode, 'OFFSET_OUT_OF_RANGE');
      }
    });
  }

  test('in every version', async () => {
    const topic = await conversation.createTopic('c04-versions');
    await conversation.append(topic, buildRecordBatch({}, textRecords('a0', 'a1')));
    await conversation.append(topic, buildRecordBatch({}, textRecords('b2', 'b3')));
    const range = await conversation.offered(FetchRequest);
    assert.ok(range !== undefined);
    for (let version = range.min; version <= Math.min(12, range.max); version++) {
      const answer = await conversation.fetch(topic, 3, { version });
      assertError(answer.errorCode, 'NONE');
      assert.equal(valuesOf(answer.records).at(-1), 'b3', `version ${version}`);
      const fromOne = (await conversation.fetch(topic, 1, { version })).records;
      const wanted = recordsOf(fromOne).filter((record) => record.offset >= 1);
      assert.deepEqual(
        wanted.map((record) => record.value?.toString()),
        ['a1', 'b2', 'b3'],
        `version ${version}`,
      );
    }
  });

  test('at the end it waits, and an append wakes it', async () => {
    const topic = await conversation.createTopic('c04-wait');
    await conversation.append(topic, buildRecordBatch({}, textRecords('a0', 'a1')));
    await using waiting = await RawClient.connect({ host: broker.host, port: broker.port });
    const answer = new BrokerConversation(broker, waiting).fetch(topic, 2, { maxWaitMs: 25_000, minBytes: 1 });
    // The fetch of another client is answered while that one waits.
    assert.deepEqual(valuesOf((await conversation.fetch(topic, 2, { maxWaitMs: 50, minBytes: 1 })).records), []);
    await conversation.append(topic, buildRecordBatch({}, textRecords('b2')));
    assert.deepEqual(valuesOf((await answer).records), ['b2']);
  });

  test('it waits for as many bytes as were asked for', async () => {
    const topic = await conversation.createTopic('c04-min-bytes');
    const batch = buildRecordBatch({}, textRecords('x'.repeat(100)));
    await using waiting = await RawClient.connect({ host: broker.host, port: broker.port });
    const minBytes = batch.length * 2 + 1;
    const answer = new BrokerConversation(broker, waiting).fetch(topic, 0, { maxWaitMs: 25_000, minBytes });
    for (let count = 0; count < 3; count++) {
      await conversation.append(topic, batch);
    }
    assert.equal((await answer).records?.length, batch.length * 3);
  });

  test('a batch larger than every limit is given whole when it is the first', async () => {
    const topic = await conversation.createTopic('c04-large');
    const large = 'l'.repeat(50_000);
    await conversation.append(topic, buildRecordBatch({}, textRecords(large)));
    await conversation.append(topic, buildRecordBatch({}, textRecords('small')));
    const first = await conversation.fetch(topic, 0, { partitionMaxBytes: 1, maxBytes: 1 });
    assert.deepEqual(valuesOf(first.records), [large]);
    const second = await conversation.fetch(topic, 1, { partitionMaxBytes: 1, maxBytes: 1 });
    assert.deepEqual(valuesOf(second.records), ['small']);
  });

  test('within the limit only whole batches count; a cut one may follow and clients ignore it', async () => {
    const topic = await conversation.createTopic('c04-limit');
    const batch = buildRecordBatch({}, textRecords('x'.repeat(1000)));
    for (let count = 0; count < 5; count++) {
      await conversation.append(topic, batch);
    }
    const { records } = await conversation.fetch(topic, 0, { partitionMaxBytes: batch.length * 2 + 100 });
    assert.ok(records !== null);
    assert.equal([...iterateBatches(records)].length, 2);
    assert.ok(records.length <= batch.length * 2 + 100);
  });

  test('across segments', async () => {
    const topic = await conversation.createTopic('c04-segments', { configs: { 'segment.bytes': '1048576' } });
    const values = Array.from({ length: 24 }, (_, index) => `${index}`.padEnd(100_000, '.'));
    for (let index = 0; index < values.length; index += 2) {
      await conversation.append(topic, buildRecordBatch({}, textRecords(values[index] ?? '', values[index + 1] ?? '')));
    }
    for (let offset = 0; offset < values.length; offset++) {
      const { records } = await conversation.fetch(topic, offset, { partitionMaxBytes: 1000 });
      const found = recordsOf(records).find((record) => record.offset === offset);
      assert.ok(found?.value?.equals(Buffer.from(values[offset] ?? '')), `offset ${offset}`);
    }
  });
});
