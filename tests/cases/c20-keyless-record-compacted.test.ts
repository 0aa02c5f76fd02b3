// C20: a compacted topic takes no record without a key, and a batch with one such record is refused whole.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  buildLegacyBatch,
  buildRecordBatch,
  compressionTypes,
  FetchRequest,
  IncrementalAlterConfigsRequest,
  IncrementalAlterConfigsResponse,
} from '@odradek/protocol';
import { type BrokerUnderTest, brokerUnderTest, until } from '@odradek/testing';
import { assertError, BrokerConversation, valuesOf } from './broker-conversation.ts';

/** Records with values a, b, c, …; a null among the keys makes a keyless one. */
function records(...keys: readonly (string | null)[]): { key: Buffer | null; value: Buffer; timestamp: number }[] {
  return keys.map((key, index) => ({
    key: key === null ? null : Buffer.from(key),
    value: Buffer.from(String.fromCharCode(97 + index)),
    timestamp: Date.now(),
  }));
}

describe('C20 keyless record on a compacted topic', () => {
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

  for (const policy of ['compact', 'compact,delete']) {
    for (const compression of compressionTypes) {
      test(`the second of three, cleanup.policy=${policy}, ${compression}`, async () => {
        const topic = await conversation.createTopic('c20', { configs: { 'cleanup.policy': policy } });
        const refused = await conversation.produce(topic, buildRecordBatch({ compression }, records('x', null, 'z')));
        assertError(refused.errorCode, 'INVALID_RECORD');
        assert.equal(refused.baseOffset, -1);
        assert.deepEqual(
          refused.recordErrors.map((error) => error.batchIndex),
          [1],
        );
        assert.match(refused.recordErrors[0]?.batchIndexErrorMessage ?? '', /key/i);
        assert.ok((refused.errorMessage ?? '').length > 0);
        assert.equal(await conversation.endOffset(topic), 0);
        assert.equal(await conversation.append(topic, buildRecordBatch({ compression }, records('x', 'y', 'z'))), 0);
        assert.deepEqual(valuesOf((await conversation.fetch(topic, 0)).records), ['a', 'b', 'c']);
      });
    }
  }

  test('each keyless record is named', async () => {
    const topic = await conversation.createTopic('c20-many', { configs: { 'cleanup.policy': 'compact' } });
    const refused = await conversation.produce(topic, buildRecordBatch({}, records(null, 'y', null, 'w', null)));
    assert.deepEqual(
      refused.recordErrors.map((error) => error.batchIndex),
      [0, 2, 4],
    );
  });

  test('an empty key is a key, and a tombstone is welcome', async () => {
    const topic = await conversation.createTopic('c20-empty', { configs: { 'cleanup.policy': 'compact' } });
    const batch = buildRecordBatch({}, [
      { key: Buffer.alloc(0), value: Buffer.from('v'), timestamp: Date.now() },
      { key: Buffer.from('k'), value: null, timestamp: Date.now() },
    ]);
    assert.equal(await conversation.append(topic, batch), 0);
  });

  test('before version 8 only the code tells', async () => {
    const topic = await conversation.createTopic('c20-old', { configs: { 'cleanup.policy': 'compact' } });
    const refused = await conversation.produce(topic, buildRecordBatch({}, records('x', null)), { version: 7 });
    assertError(refused.errorCode, 'INVALID_RECORD');
    assert.deepEqual(refused.recordErrors, []);
  });

  test('a topic that becomes compacted refuses them from then on', async () => {
    const topic = await conversation.createTopic('c20-altered');
    assert.equal(await conversation.append(topic, buildRecordBatch({}, records(null))), 0);
    const configs = [{ name: 'cleanup.policy', configOperation: 2, value: 'compact' }];
    const request = { resources: [{ resourceType: 2, resourceName: topic, configs }], validateOnly: false };
    const answer = await conversation.client.send(IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse, 1, request);
    assertError(answer.responses[0]?.errorCode, 'NONE', answer.responses[0]?.errorMessage);
    await until(
      'the policy counts',
      async () => (await conversation.produce(topic, buildRecordBatch({}, records(null)))).errorCode === 87,
    );
  });

  test('old formats are held to it as well', async (context) => {
    // Apache Kafka 4 still names Produce 2 and does not serve it; what it offers of Fetch tells the truth.
    if (!(await conversation.offers(FetchRequest, 0))) {
      context.skip('this broker no longer serves clients of before 2017');
      return;
    }
    const topic = await conversation.createTopic('c20-legacy', { configs: { 'cleanup.policy': 'compact' } });
    for (const magic of [0, 1] as const) {
      const refused = await conversation.produce(topic, buildLegacyBatch({ magic, compression: 'gzip' }, records('x', null)), {
        version: 2,
      });
      assertError(refused.errorCode, 'INVALID_RECORD');
    }
    assert.equal(await conversation.endOffset(topic), 0);
  });
});
