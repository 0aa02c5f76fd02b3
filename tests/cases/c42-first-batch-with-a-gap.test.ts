// C42: a producer that the partition has never seen may begin at any sequence, and what lies before is then refused with
// OUT_OF_ORDER_SEQUENCE_NUMBER, as in Apache Kafka. A producer that sends in order never gets there; one that does not must
// take a new epoch, which begins at 0 again.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { buildRecordBatch, InitProducerIdRequest, InitProducerIdResponse } from '@odradek/protocol';
import { type BrokerUnderTest, brokerUnderTest, uniqueName } from '@odradek/testing';
import kafkajs from 'kafkajs';
import { assertError, BrokerConversation, type ProducedPartition, valuesOf } from './broker-conversation.ts';

describe('C42 first batch with a gap, then the missing one', () => {
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

  async function initProducerId(producerId = -1, producerEpoch = -1) {
    const request = { transactionalId: null, transactionTimeoutMs: 60_000, producerId, producerEpoch };
    return conversation.client.send(InitProducerIdRequest, InitProducerIdResponse, 4, request);
  }

  function send(topic: string, producerId: number, producerEpoch: number, baseSequence: number): Promise<ProducedPartition> {
    const records = [{ value: Buffer.from(`${producerEpoch}:${baseSequence}`), timestamp: Date.now() }];
    return conversation.produce(topic, buildRecordBatch({ producerId, producerEpoch, baseSequence }, records));
  }

  test('1 is stored, 0 is refused every time, 2 goes on', async () => {
    const topic = await conversation.createTopic('c42');
    const { producerId } = await initProducerId();
    assertError((await send(topic, producerId, 0, 1)).errorCode, 'NONE');
    for (let time = 0; time < 3; time++) {
      const refused = await send(topic, producerId, 0, 0);
      assertError(refused.errorCode, 'OUT_OF_ORDER_SEQUENCE_NUMBER');
      assert.equal(refused.baseOffset, -1);
    }
    assertError((await send(topic, producerId, 0, 1)).errorCode, 'NONE');
    assertError((await send(topic, producerId, 0, 2)).errorCode, 'NONE');
    assert.deepEqual(valuesOf((await conversation.fetch(topic, 0)).records), ['0:1', '0:2']);
  });

  test('a new epoch is the way out', async () => {
    const topic = await conversation.createTopic('c42-epoch');
    const { producerId } = await initProducerId();
    assertError((await send(topic, producerId, 0, 1)).errorCode, 'NONE');
    assertError((await send(topic, producerId, 0, 0)).errorCode, 'OUT_OF_ORDER_SEQUENCE_NUMBER');
    assertError((await send(topic, producerId, 1, 0)).errorCode, 'NONE');
    assertError((await send(topic, producerId, 1, 1)).errorCode, 'NONE');
    assert.deepEqual(valuesOf((await conversation.fetch(topic, 0)).records), ['0:1', '1:0', '1:1']);
  });

  test('a producer without a transactional id that asks again gets another id', async () => {
    const first = await initProducerId();
    const again = await initProducerId(first.producerId, first.producerEpoch);
    assertError(again.errorCode, 'NONE');
    assert.notEqual(again.producerId, first.producerId);
    assert.equal(again.producerEpoch, 0);
  });

  test('kafkajs: fifty sends at once, one request in flight, all of them and each once', async () => {
    const topic = await conversation.createTopic(uniqueName('c42-kafkajs'));
    const kafka = new kafkajs.Kafka({ brokers: [broker.bootstrap], logLevel: kafkajs.logLevel.NOTHING });
    const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1 });
    await producer.connect();
    try {
      const sends = Array.from({ length: 50 }, (_, index) =>
        producer.send({ topic, messages: [{ partition: 0, value: `message ${index}` }] }),
      );
      await Promise.all(sends);
    } finally {
      await producer.disconnect();
    }
    // When kafkajs itself tries a send again it may come after a later one, so here only "all" and "once" are asked for.
    const values = valuesOf((await conversation.fetch(topic, 0)).records);
    assert.deepEqual(values.toSorted(), Array.from({ length: 50 }, (_, index) => `message ${index}`).toSorted());
  });
});
