// C18: max.message.bytes limits a batch as it comes over the wire, compressed as it is.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import {
  buildRecordBatch,
  IncrementalAlterConfigsRequest,
  IncrementalAlterConfigsResponse,
  ProduceRequest,
  ProduceResponse,
} from '@odradek/protocol';
import { type BrokerUnderTest, brokerUnderTest, until } from '@odradek/testing';
import { assertError, BrokerConversation, recordsOf } from './broker-conversation.ts';

const limit = 2000;

describe('C18 batch larger than max.message.bytes', () => {
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

  const timestamp = Date.now();
  const small = buildRecordBatch({}, [{ value: Buffer.alloc(100, 's'), timestamp }]);
  const large = buildRecordBatch({}, [{ value: Buffer.alloc(5000, 'l'), timestamp }]);
  const newTopic = (): Promise<string> => conversation.createTopic('c18', { configs: { 'max.message.bytes': String(limit) } });

  test('a batch of 5 KB is refused, small ones are not', async () => {
    const topic = await newTopic();
    const refused = await conversation.produce(topic, large);
    assertError(refused.errorCode, 'MESSAGE_TOO_LARGE');
    assert.deepEqual([refused.baseOffset, refused.logAppendTimeMs, refused.logStartOffset], [-1, -1, -1]);
    assert.equal(await conversation.endOffset(topic), 0);
    for (let offset = 0; offset < 3; offset++) {
      assert.equal(await conversation.append(topic, small), offset);
    }
    assertError((await conversation.produce(topic, large)).errorCode, 'MESSAGE_TOO_LARGE');
    assert.equal(recordsOf((await conversation.fetch(topic, 0)).records).length, 3);
  });

  for (const compression of ['gzip', 'zstd'] as const) {
    test(`a batch below the limit on the wire and of 1 MB inside is accepted, ${compression}`, async () => {
      const topic = await newTopic();
      const value = Buffer.alloc(1024 * 1024, 0);
      const batch = buildRecordBatch({ compression }, [{ value, timestamp }]);
      assert.ok(batch.length < limit, `${batch.length} bytes`);
      assert.equal(await conversation.append(topic, batch), 0);
      const [record] = recordsOf((await conversation.fetch(topic, 0)).records);
      assert.ok(record?.value?.equals(value));
    });
  }

  test('a batch that does not shrink is refused however it is compressed', async () => {
    const topic = await newTopic();
    const batch = buildRecordBatch({ compression: 'lz4' }, [{ value: randomBytes(limit), timestamp }]);
    assertError((await conversation.produce(topic, batch)).errorCode, 'MESSAGE_TOO_LARGE');
  });

  test('the limit itself is allowed, one byte more is not', async () => {
    const topic = await newTopic();
    const empty = buildRecordBatch({}, [{ value: Buffer.alloc(1000), timestamp }]).length - 1000;
    const ofSize = (size: number): Buffer => buildRecordBatch({}, [{ value: Buffer.alloc(size - empty), timestamp }]);
    assert.equal(ofSize(limit).length, limit);
    assertError((await conversation.produce(topic, ofSize(limit))).errorCode, 'NONE');
    assertError((await conversation.produce(topic, ofSize(limit + 1))).errorCode, 'MESSAGE_TOO_LARGE');
  });

  test('one partition’s refusal leaves the others alone', async () => {
    const topic = await conversation.createTopic('c18-partitions', {
      partitions: 3,
      configs: { 'max.message.bytes': String(limit) },
    });
    const partitionData = [small, large, small].map((records, index) => ({ index, records }));
    const request = { acks: -1, timeoutMs: 10_000, topicData: [{ name: topic, partitionData }] };
    const { responses } = await conversation.client.send(ProduceRequest, ProduceResponse, 9, request);
    const errors = new Map(responses[0]?.partitionResponses.map((partition) => [partition.index, partition.errorCode]));
    assertError(errors.get(0), 'NONE');
    assertError(errors.get(1), 'MESSAGE_TOO_LARGE');
    assertError(errors.get(2), 'NONE');
  });

  test('a changed limit counts at once', async () => {
    const topic = await newTopic();
    assertError((await conversation.produce(topic, large)).errorCode, 'MESSAGE_TOO_LARGE');
    const configs = [{ name: 'max.message.bytes', configOperation: 0, value: '6000' }];
    const resources = [{ resourceType: 2, resourceName: topic, configs }];
    const request = { resources, validateOnly: false };
    const answer = await conversation.client.send(IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse, 1, request);
    assertError(answer.responses[0]?.errorCode, 'NONE', answer.responses[0]?.errorMessage);
    await until('the new limit counts', async () => (await conversation.produce(topic, large)).errorCode === 0);
  });

  test('a batch larger than a segment is refused as such', async () => {
    const configs = { 'segment.bytes': '1048576', 'max.message.bytes': '3000000' };
    const topic = await conversation.createTopic('c18-segment', { configs });
    const batch = buildRecordBatch({}, [{ value: Buffer.alloc(1_100_000), timestamp }]);
    assertError((await conversation.produce(topic, batch)).errorCode, 'RECORD_LIST_TOO_LARGE');
    assert.equal(await conversation.append(topic, small), 0);
  });
});
