// C09: clients of 2015 speak first in old versions and never ask for others. Apache Kafka 4 no longer serves them, so what
// is right here was checked against Apache Kafka 3.9; a broker without these versions skips.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  type Batch,
  buildLegacyBatch,
  buildRecordBatch,
  compressionTypes,
  FetchRequest,
  iterateBatches,
  MetadataRequest,
  MetadataResponse,
  ProduceRequest,
} from '@odradek/protocol';
import { brokerUnderTest, uniqueName, until } from '@odradek/testing';
import { assertError, BrokerConversation, recordsOf, valuesOf } from './broker-conversation.ts';

const legacyCodecs = ['none', 'gzip', 'snappy', 'lz4'] as const;
const texts = ['alpha', 'beta', 'gamma'];
const records = texts.map((text, index) => ({ key: Buffer.from(`k${index}`), value: Buffer.from(text), timestamp: 1000 + index }));

/**
 * All batches up to an end. Down-converted bytes may outgrow the fetch that they answer, so Kafka cuts them and the client
 * asks again from where they end.
 */
async function readBatches(conversation: BrokerConversation, topic: string, endOffset: number, version: number): Promise<Batch[]> {
  const batches: Batch[] = [];
  for (let next = 0; next < endOffset; ) {
    const answer = await conversation.fetch(topic, next, { version });
    assertError(answer.errorCode, 'NONE');
    assert.equal(answer.highWatermark, endOffset);
    const fetched = [...iterateBatches(answer.records ?? Buffer.alloc(0))];
    assert.ok(fetched.length > 0, `nothing at offset ${next}`);
    batches.push(...fetched);
    next = fetched.at(-1)?.nextOffset ?? next;
  }
  return batches;
}

const broker = await brokerUnderTest();
const servesThem = await (async (): Promise<boolean> => {
  // Apache Kafka 4 still names Produce 0 and Metadata 0; what it offers of Fetch tells the truth.
  await using conversation = await BrokerConversation.open(broker);
  return await conversation.offers(FetchRequest, 0);
})();
const skip = servesThem ? false : 'this broker no longer serves clients of before 2017';

describe('C09 client that never asks ApiVersions', { skip }, () => {
  let conversation: BrokerConversation;
  before(async () => {
    conversation = await BrokerConversation.open(broker);
  });
  after(() => conversation?.close());

  for (const compression of legacyCodecs) {
    test(`Metadata 0, Produce 1 with magic 0 and ${compression}, Fetch 1, ListOffsets 0 from the first byte on`, async () => {
      await using old = await BrokerConversation.open(broker);
      const topic = uniqueName(`c09-${compression}`);
      // Metadata 0 creates the topic; its first answer may say that there is no leader yet.
      await until('Metadata 0 names a leader', async () => {
        const answer = await old.client.send(MetadataRequest, MetadataResponse, 0, { topics: [{ name: topic }] });
        assert.equal(answer.brokers.length, 1);
        return answer.topics[0]?.errorCode === 0 && answer.topics[0].partitions[0]?.errorCode === 0;
      });
      const bytes = buildLegacyBatch({ magic: 0, compression }, records);
      assert.equal(await old.append(topic, bytes, { version: 1 }), 0);
      assert.equal(await old.append(topic, bytes, { version: 0 }), 3);

      const batches = await readBatches(old, topic, 6, 1);
      assert.ok(batches.every((batch) => batch.magic === 0));
      assert.deepEqual(
        batches
          .flatMap((batch) => [...batch.records()])
          .map((record) => [record.offset, record.key?.toString(), record.value?.toString(), record.timestamp]),
        [...records, ...records].map((record, index) => [index, record.key.toString(), record.value.toString(), -1]),
      );
      const latest = await old.listOffset(topic, -1, { version: 0 });
      assert.deepEqual(latest.oldStyleOffsets, [6]);
    });
  }

  for (const magic of [0, 1] as const) {
    for (const compression of compressionTypes.filter((type) => type !== 'zstd')) {
      test(`a batch of today with ${compression} is given in magic ${magic}, without headers`, async () => {
        const topic = await conversation.createTopic(`c09-down-${magic}-${compression}`, { configs: { 'retention.ms': '-1' } });
        const headers = [{ key: 'h', value: Buffer.from('lost') }];
        const batch = buildRecordBatch(
          { compression },
          records.map((record) => ({ ...record, headers })),
        );
        await conversation.append(topic, batch);
        await conversation.append(topic, batch);
        for (const version of magic === 0 ? [0, 1] : [2, 3]) {
          const batches = await readBatches(conversation, topic, 6, version);
          assert.ok(batches.every((one) => one.magic === magic && one.compression === compression && one.isCrcValid()));
          assert.deepEqual(
            batches
              .flatMap((one) => [...one.records()])
              .map((record) => [record.offset, record.value?.toString(), record.timestamp]),
            [...records, ...records].map((record, index) => [index, record.value.toString(), magic === 0 ? -1 : record.timestamp]),
          );
        }
        // From inside the second batch: what was asked for is there.
        const wanted = recordsOf((await conversation.fetch(topic, 4, { version: magic * 2 })).records).filter((r) => r.offset >= 4);
        assert.deepEqual(
          wanted.map((record) => record.value?.toString()),
          ['beta', 'gamma'],
        );
        // A version that knows magic 2 gets the batch as it was stored.
        const modern = (await conversation.fetch(topic, 0, { version: 4 })).records;
        assert.ok(modern !== null && [...iterateBatches(modern)].every((one) => one.magic === 2));
      });
    }
  }

  test('zstd cannot be converted, and where the topic asks for it even readers of magic 2 must know it', async () => {
    const unsupported = 'UNSUPPORTED_COMPRESSION_TYPE';
    for (const { configs, fromVersion4 } of [
      { configs: {}, fromVersion4: 'NONE' },
      { configs: { 'compression.type': 'zstd' }, fromVersion4: unsupported },
    ]) {
      const topic = await conversation.createTopic('c09-zstd', { configs });
      await conversation.append(
        topic,
        buildRecordBatch({ compression: 'zstd' }, [{ value: Buffer.from('z'), timestamp: Date.now() }]),
      );
      for (const version of [0, 1, 2, 3, 4, 9]) {
        const { errorCode } = await conversation.fetch(topic, 0, { version });
        assertError(errorCode, version < 4 ? unsupported : fromVersion4, `version ${version}`);
      }
      assert.deepEqual(valuesOf((await conversation.fetch(topic, 0, { version: 10 })).records), ['z']);
    }
  });

  for (const compression of legacyCodecs) {
    test(`magic 1 with ${compression} through Produce 2 keeps its timestamps`, async () => {
      const topic = await conversation.createTopic(`c09-magic1-${compression}`, { configs: { 'retention.ms': '-1' } });
      await conversation.append(topic, buildLegacyBatch({ magic: 1, compression }, records), { version: 2 });
      const answer = await conversation.fetch(topic, 0, { version: 10 });
      assert.ok(answer.records !== null);
      assert.deepEqual(
        recordsOf(answer.records).map((record) => [record.offset, record.value?.toString(), record.timestamp]),
        records.map((record, index) => [index, record.value.toString(), record.timestamp]),
      );
      // Kafka since 3.0 stores magic 2 whatever it is given.
      assert.ok([...iterateBatches(answer.records)].every((batch) => batch.magic === 2 && batch.compression === compression));
      const found = await conversation.listOffset(topic, 1001, { version: 1 });
      assert.deepEqual([found.offset, found.timestamp], [1, 1001]);
    });
  }
});

describe('C09 the formats that each Produce takes', () => {
  let conversation: BrokerConversation;
  let topic: string;
  before(async () => {
    conversation = await BrokerConversation.open(broker);
    topic = await conversation.createTopic('c09-formats', { configs: { 'retention.ms': '-1' } });
  });
  after(async () => {
    await conversation?.close();
    await broker.close();
  });

  const batch = buildRecordBatch({}, records);
  const zstd = buildRecordBatch({ compression: 'zstd' }, records);
  for (const { name, version, bytes, error } of [
    { name: 'magic 0', version: 3, bytes: buildLegacyBatch({ magic: 0 }, records.slice(0, 1)), error: 'INVALID_RECORD' },
    { name: 'magic 1', version: 7, bytes: buildLegacyBatch({ magic: 1 }, records.slice(0, 1)), error: 'INVALID_RECORD' },
    { name: 'two batches', version: 3, bytes: Buffer.concat([batch, batch]), error: 'INVALID_RECORD' },
    { name: 'two batches', version: 9, bytes: Buffer.concat([batch, batch]), error: 'INVALID_RECORD' },
    { name: 'no batch at all', version: 9, bytes: Buffer.alloc(0), error: 'INVALID_RECORD' },
    { name: 'zstd', version: 6, bytes: zstd, error: 'UNSUPPORTED_COMPRESSION_TYPE' },
    { name: 'zstd', version: 7, bytes: zstd, error: 'NONE' },
  ]) {
    test(`${name} through Produce ${version}: ${error}`, async (context) => {
      if (!(await conversation.offers(ProduceRequest, version))) {
        context.skip('this broker does not offer that version');
        return;
      }
      assertError((await conversation.produce(topic, bytes, { version })).errorCode, error);
      // The connection goes on, and nothing was stored but what was accepted.
      assert.equal(await conversation.endOffset(topic), error === 'NONE' ? records.length : 0);
    });
  }
});
