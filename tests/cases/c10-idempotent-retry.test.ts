// C10: the batch of an idempotent producer that is sent again is acknowledged again with the old offset, and stored once.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { buildRecordBatch, compressionTypes, InitProducerIdRequest, InitProducerIdResponse } from '@odradek/protocol';
import { type BrokerUnderTest, brokerUnderTest } from '@odradek/testing';
import { assertError, BrokerConversation, type ProducedPartition, valuesOf } from './broker-conversation.ts';

const largestSequence = 0x7fffffff;

describe('C10 retry of an idempotent batch', () => {
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

  async function newProducerId(): Promise<number> {
    const request = { transactionalId: null, transactionTimeoutMs: 0 };
    const answer = await conversation.client.send(InitProducerIdRequest, InitProducerIdResponse, 4, request);
    assertError(answer.errorCode, 'NONE');
    assert.equal(answer.producerEpoch, 0);
    return answer.producerId;
  }

  interface Sent {
    readonly producerId: number;
    readonly epoch?: number;
    readonly sequence: number;
    readonly count?: number;
  }

  function batchOf({ producerId, epoch = 0, sequence, count = 1 }: Sent): Buffer {
    const records = Array.from({ length: count }, (_, index) => ({
      value: Buffer.from(`${epoch}:${sequence + index}`),
      timestamp: Date.now(),
    }));
    return buildRecordBatch({ producerId, producerEpoch: epoch, baseSequence: sequence }, records);
  }

  const send = (topic: string, sent: Sent): Promise<ProducedPartition> => conversation.produce(topic, batchOf(sent));

  async function expect(topic: string, sent: Sent, error: string, baseOffset?: number): Promise<void> {
    const answer = await send(topic, sent);
    assertError(answer.errorCode, error, JSON.stringify(sent));
    if (baseOffset !== undefined) {
      assert.equal(answer.baseOffset, baseOffset, JSON.stringify(sent));
    }
  }

  async function stored(topic: string): Promise<(string | null)[]> {
    return valuesOf((await conversation.fetch(topic, 0)).records);
  }

  for (const compression of compressionTypes) {
    test(`the last batch again, ${compression}`, async () => {
      const topic = await conversation.createTopic('c10');
      const producerId = await newProducerId();
      const records = [0, 1, 2].map((n) => ({ value: Buffer.from(`v${n}`), timestamp: Date.now() }));
      const batch = buildRecordBatch({ producerId, producerEpoch: 0, baseSequence: 0, compression }, records);
      for (let time = 0; time < 3; time++) {
        const answer = await conversation.produce(topic, batch);
        assertError(answer.errorCode, 'NONE');
        assert.equal(answer.baseOffset, 0);
      }
      assert.deepEqual(await stored(topic), ['v0', 'v1', 'v2']);
    });
  }

  test('the answer is lost with the connection, the batch comes again on another', async () => {
    const topic = await conversation.createTopic('c10-lost');
    const producerId = await newProducerId();
    await using first = await BrokerConversation.open(broker);
    const lost = first.produce(topic, batchOf({ producerId, sequence: 0, count: 3 }));
    const outcome = Promise.allSettled([lost]);
    first.client.socket.end();
    await outcome;
    await expect(topic, { producerId, sequence: 0, count: 3 }, 'NONE', 0);
    await expect(topic, { producerId, sequence: 3 }, 'NONE', 3);
    assert.deepEqual(await stored(topic), ['0:0', '0:1', '0:2', '0:3']);
  });

  test('the fifth-last batch is still known, an older one no longer', async () => {
    const topic = await conversation.createTopic('c10-five');
    const producerId = await newProducerId();
    for (let index = 0; index < 7; index++) {
      await expect(topic, { producerId, sequence: index * 3, count: 3 }, 'NONE', index * 3);
    }
    for (let index = 2; index < 7; index++) {
      await expect(topic, { producerId, sequence: index * 3, count: 3 }, 'NONE', index * 3);
    }
    // Kafka 4.4 and 3.9 call an older one out of order; DUPLICATE_SEQUENCE_NUMBER is of before.
    await expect(topic, { producerId, sequence: 3, count: 3 }, 'OUT_OF_ORDER_SEQUENCE_NUMBER');
    await expect(topic, { producerId, sequence: 0, count: 3 }, 'OUT_OF_ORDER_SEQUENCE_NUMBER');
    assert.equal(await conversation.endOffset(topic), 21);
    await expect(topic, { producerId, sequence: 21 }, 'NONE', 21);
  });

  test('the same sequence with another count is no duplicate', async () => {
    const topic = await conversation.createTopic('c10-other-count');
    const producerId = await newProducerId();
    await expect(topic, { producerId, sequence: 0, count: 3 }, 'NONE', 0);
    await expect(topic, { producerId, sequence: 0, count: 2 }, 'OUT_OF_ORDER_SEQUENCE_NUMBER');
    await expect(topic, { producerId, sequence: 1, count: 2 }, 'OUT_OF_ORDER_SEQUENCE_NUMBER');
    assert.equal(await conversation.endOffset(topic), 3);
  });

  test('a gap is refused and can be filled', async () => {
    const topic = await conversation.createTopic('c10-gap');
    const producerId = await newProducerId();
    await expect(topic, { producerId, sequence: 0 }, 'NONE', 0);
    await expect(topic, { producerId, sequence: 2 }, 'OUT_OF_ORDER_SEQUENCE_NUMBER', -1);
    await expect(topic, { producerId, sequence: 1 }, 'NONE', 1);
    await expect(topic, { producerId, sequence: 2 }, 'NONE', 2);
    assert.deepEqual(await stored(topic), ['0:0', '0:1', '0:2']);
  });

  test('a newer epoch begins at 0 and shuts the older one out', async () => {
    const topic = await conversation.createTopic('c10-epoch');
    const producerId = await newProducerId();
    await expect(topic, { producerId, sequence: 0 }, 'NONE', 0);
    await expect(topic, { producerId, epoch: 1, sequence: 5 }, 'OUT_OF_ORDER_SEQUENCE_NUMBER');
    await expect(topic, { producerId, epoch: 1, sequence: 0 }, 'NONE', 1);
    await expect(topic, { producerId, epoch: 0, sequence: 1 }, 'INVALID_PRODUCER_EPOCH');
    await expect(topic, { producerId, epoch: 1, sequence: 1 }, 'NONE', 2);
    assert.deepEqual(await stored(topic), ['0:0', '1:0', '1:1']);
  });

  test('the sequence goes on at 0 after the largest', async () => {
    const topic = await conversation.createTopic('c10-wrap');
    const producerId = await newProducerId();
    await expect(topic, { producerId, sequence: largestSequence - 1, count: 2 }, 'NONE', 0);
    await expect(topic, { producerId, sequence: 0 }, 'NONE', 2);
    const other = await newProducerId();
    await expect(topic, { producerId: other, sequence: largestSequence - 1, count: 4 }, 'NONE', 3);
    await expect(topic, { producerId: other, sequence: largestSequence - 1, count: 4 }, 'NONE', 3);
    await expect(topic, { producerId: other, sequence: 2 }, 'NONE', 7);
    assert.equal(await conversation.endOffset(topic), 8);
  });

  test('partitions and producers do not know of each other', async () => {
    const topic = await conversation.createTopic('c10-partitions', { partitions: 2 });
    const [one, two] = [await newProducerId(), await newProducerId()];
    assert.notEqual(one, two);
    for (const producerId of [one, two]) {
      for (const partition of [0, 1]) {
        const answer = await conversation.produce(topic, batchOf({ producerId, sequence: 0 }), { partition });
        assertError(answer.errorCode, 'NONE');
      }
    }
    assert.equal(await conversation.endOffset(topic, 0), 2);
    assert.equal(await conversation.endOffset(topic, 1), 2);
  });

  test('five batches in flight are answered in order, and all of them again', async () => {
    const topic = await conversation.createTopic('c10-in-flight');
    const producerId = await newProducerId();
    const sequences = [0, 2, 4, 6, 8];
    for (let time = 0; time < 2; time++) {
      const answers = await Promise.all(sequences.map((sequence) => send(topic, { producerId, sequence, count: 2 })));
      assert.deepEqual(
        answers.map((answer) => [answer.errorCode, answer.baseOffset]),
        sequences.map((sequence) => [0, sequence]),
      );
    }
    assert.equal(await conversation.endOffset(topic), 10);
  });

  test('what is known of a producer survives a restart, clean or not', async (context) => {
    const { odradek } = broker;
    if (odradek === undefined) {
      context.skip('the broker is not ours to restart');
      return;
    }
    const topic = await conversation.createTopic('c10-restart');
    const producerId = await newProducerId();
    let next = 0;
    for (const end of ['stop', 'kill'] as const) {
      await expect(topic, { producerId, sequence: next, count: 2 }, 'NONE', next);
      await odradek[end]();
      await odradek.start();
      conversation = await BrokerConversation.open(broker);
      await conversation.ledTopic(topic);
      await expect(topic, { producerId, sequence: next, count: 2 }, 'NONE', next);
      next += 2;
      await expect(topic, { producerId, sequence: next + 1 }, 'OUT_OF_ORDER_SEQUENCE_NUMBER');
      assert.ok((await newProducerId()) !== producerId, 'a producer id is never given twice');
    }
    await expect(topic, { producerId, sequence: next }, 'NONE', next);
    assert.equal(await conversation.endOffset(topic), next + 1);
  });
});
