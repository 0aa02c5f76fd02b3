// C13: the Java producer is idempotent unless told otherwise, so its first request after Metadata is InitProducerId. The
// console producer itself is run by tests/interop/java-tools.test.ts; here is what it asks.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { buildRecordBatch, InitProducerIdRequest, InitProducerIdResponse } from '@odradek/protocol';
import { type BrokerUnderTest, brokerUnderTest } from '@odradek/testing';
import { assertError, BrokerConversation, textRecords } from './broker-conversation.ts';

describe('C13 Java producer with defaults', () => {
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

  test('InitProducerId is offered as Kafka offers it, and gives a new id in every version', async () => {
    const range = await conversation.offered(InitProducerIdRequest);
    assert.ok(range !== undefined && range.min === 0 && range.max >= 4);
    const seen = new Set<number>();
    for (let version = range.min; version <= range.max; version++) {
      const request = { transactionalId: null, transactionTimeoutMs: 2 ** 31 - 1, producerId: -1, producerEpoch: -1 };
      const answer = await conversation.client.send(InitProducerIdRequest, InitProducerIdResponse, version, request);
      assertError(answer.errorCode, 'NONE');
      assert.equal(answer.producerEpoch, 0);
      assert.ok(answer.producerId >= 0);
      seen.add(answer.producerId);
    }
    assert.equal(seen.size, range.max - range.min + 1);
  });

  test('many ids at once are all different', async () => {
    const request = { transactionalId: null, transactionTimeoutMs: 0, producerId: -1, producerEpoch: -1 };
    const ask = (): Promise<InitProducerIdResponse> =>
      conversation.client.send(InitProducerIdRequest, InitProducerIdResponse, 4, request);
    const seen = new Set<number>();
    for (let wanted = 2500; wanted > 0; ) {
      const answers = await Promise.all(Array.from({ length: wanted }, ask));
      for (const answer of answers) {
        if (answer.errorCode === 0) {
          assert.ok(!seen.has(answer.producerId), `producer id ${answer.producerId} was given twice`);
          seen.add(answer.producerId);
          wanted -= 1;
        } else {
          // Kafka says so while it fetches the next block of a thousand ids; clients try again.
          assertError(answer.errorCode, 'COORDINATOR_LOAD_IN_PROGRESS');
        }
      }
    }
  });

  test('an empty transactional id is an invalid request', async () => {
    const request = { transactionalId: '', transactionTimeoutMs: 1000, producerId: -1, producerEpoch: -1 };
    const answer = await conversation.client.send(InitProducerIdRequest, InitProducerIdResponse, 4, request);
    assertError(answer.errorCode, 'INVALID_REQUEST');
    assert.deepEqual([answer.producerId, answer.producerEpoch], [-1, -1]);
  });

  test('a record with that id is delivered', async () => {
    const topic = await conversation.createTopic('c13');
    const request = { transactionalId: null, transactionTimeoutMs: 60_000, producerId: -1, producerEpoch: -1 };
    const { producerId, producerEpoch } = await conversation.client.send(InitProducerIdRequest, InitProducerIdResponse, 4, request);
    const batch = buildRecordBatch({ producerId, producerEpoch, baseSequence: 0 }, textRecords('one line'));
    assert.equal(await conversation.append(topic, batch), 0);
  });
});
