// compression.type of a topic: whatever codec a producer sends with, the log has the topic's, and the records are the same. With
// LogAppendTime each batch has the broker's time, and no compressed one is opened for that.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  type Batch,
  buildRecordBatch,
  type CompressionType,
  compressionTypes,
  InitProducerIdRequest,
  InitProducerIdResponse,
  iterateBatches,
  RecordBatch,
} from '@odradek/protocol';
import { type BrokerUnderTest, brokerUnderTest, debianProgram, needed, runCommand, skipWithout } from '@odradek/testing';
import { assertError, BrokerConversation } from '../cases/broker-conversation.ts';

const kcat = await debianProgram('kcat', 'kcat');
const nameOf = (codec: CompressionType): string => (codec === 'none' ? 'uncompressed' : codec);

describe('recompression', () => {
  let broker: BrokerUnderTest;
  let conversation: BrokerConversation;
  let producerId: number;
  before(async () => {
    broker = await brokerUnderTest();
    conversation = await BrokerConversation.open(broker);
    const request = { transactionalId: null, transactionTimeoutMs: 60_000 };
    ({ producerId } = await conversation.client.send(InitProducerIdRequest, InitProducerIdResponse, 4, request));
  });
  after(async () => {
    await conversation?.close();
    await broker?.close();
  });

  async function batches(topic: string, from = 0): Promise<Batch[]> {
    return [...iterateBatches((await conversation.fetch(topic, from)).records ?? Buffer.alloc(0))];
  }

  const sent = Array.from({ length: 20 }, (_, index) => ({
    timestamp: Date.now() - 1000 + index,
    key: index % 3 === 0 ? null : Buffer.from(`key ${index}`),
    value: index % 5 === 0 ? null : Buffer.from(`value ${index} `.repeat(20)),
    headers: index % 4 === 0 ? [{ key: 'h', value: Buffer.from(String(index)) }] : [],
  }));

  for (const wanted of compressionTypes) {
    test(`to ${nameOf(wanted)}: all that a batch says stays, but for its codec`, async () => {
      for (const messageTimestampType of ['CreateTime', 'LogAppendTime']) {
        const topic = await conversation.createTopic(`re-${wanted}`, {
          configs: { 'compression.type': nameOf(wanted), 'message.timestamp.type': messageTimestampType },
        });
        let sequence = 0;
        for (const compression of compressionTypes) {
          const batch = buildRecordBatch({ compression, producerId, producerEpoch: 0, baseSequence: sequence }, sent);
          const answer = await conversation.produce(topic, batch);
          assertError(answer.errorCode, 'NONE', answer.errorMessage);
          assert.equal(answer.baseOffset, sequence);
          // The same again, which has another form by now, is known all the same.
          const again = buildRecordBatch({ compression, producerId, producerEpoch: 0, baseSequence: sequence }, sent);
          assert.equal(await conversation.append(topic, again), sequence);
          sequence += sent.length;
          assert.equal(await conversation.endOffset(topic), sequence);
          const [stored, ...more] = await batches(topic, answer.baseOffset);
          assert.ok(stored instanceof RecordBatch && stored.isCrcValid() && more.length === 0);
          assert.equal(stored.compression, wanted, `from ${compression}`);
          assert.deepEqual([stored.producerId, stored.baseSequence], [producerId, answer.baseOffset]);
          assert.equal(stored.timestampType, messageTimestampType);
          const times = messageTimestampType === 'CreateTime' ? sent.map(({ timestamp }) => timestamp) : undefined;
          const records = [...stored.records()];
          assert.deepEqual(
            records.map(({ key, value, headers }) => [key, value, headers.length]),
            sent.map(({ key, value, headers }) => [key, value, headers.length]),
          );
          assert.deepEqual(
            records.map(({ timestamp }) => timestamp),
            times ?? records.map(() => answer.logAppendTimeMs),
          );
        }
      }
    });
  }

  test('producer leaves the bytes as they came, also with LogAppendTime but for the time', async () => {
    const topic = await conversation.createTopic('re-producer', { configs: { 'message.timestamp.type': 'LogAppendTime' } });
    for (const compression of compressionTypes) {
      const batch = buildRecordBatch({ compression }, sent);
      const offset = await conversation.append(topic, Buffer.from(batch));
      const [stored] = await batches(topic, offset);
      assert.ok(stored instanceof RecordBatch);
      assert.ok(stored.bytes().subarray(61).equals(batch.subarray(61)), `the records as ${compression}`);
    }
  });

  test('the codec of a topic changes for what comes, and what is there stays', { skip: skipWithout(kcat) }, async () => {
    const topic = await conversation.createTopic('re-changes');
    const expected: string[] = [];
    for (const [index, wanted] of ['producer', 'gzip', 'uncompressed', 'zstd', 'snappy', 'lz4', 'producer'].entries()) {
      await conversation.alterTopic(topic, { 'compression.type': wanted });
      const line = `line ${index} `.repeat(50).trim();
      const args = ['-P', '-b', broker.bootstrap, '-t', topic, '-p', '0', '-z', 'snappy'];
      await runCommand(needed(kcat), args, { stdin: line });
      expected.push(wanted === 'producer' ? 'snappy' : wanted === 'uncompressed' ? 'none' : wanted);
    }
    assert.deepEqual(
      (await batches(topic)).map(({ compression }) => compression),
      expected,
    );
    const { stdout } = await runCommand(needed(kcat), ['-C', '-b', broker.bootstrap, '-t', topic, '-o', 'beginning', '-e', '-q']);
    assert.equal(stdout.toString().trim().split('\n').length, expected.length);
  });
});
