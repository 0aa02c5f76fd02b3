// C07: librdkafka up to 2.10 looks for exact versions and drops compression without a word where they are missing.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { FetchRequest, iterateBatches, ProduceRequest } from '@odradek/protocol';
import {
  type BrokerUnderTest,
  brokerUnderTest,
  debianProgram,
  needed,
  runCommand,
  skipWithout,
  uniqueName,
} from '@odradek/testing';
import { assertError, BrokerConversation } from './broker-conversation.ts';

const kcat = await debianProgram('kcat', 'kcat');

describe('C07 compression with older librdkafka', () => {
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

  test('Produce is offered from version 0 and includes 7, Fetch includes 10', async () => {
    const produce = await conversation.offered(ProduceRequest);
    assert.equal(produce?.min, 0);
    assert.ok(produce.max >= 7);
    assert.ok(await conversation.offers(FetchRequest, 10));
    assert.ok(await conversation.offers(FetchRequest, 4));
  });

  for (const codec of ['gzip', 'snappy', 'lz4', 'zstd'] as const) {
    test(`a message of 500 KB is stored with ${codec}`, { skip: skipWithout(kcat) }, async () => {
      const topic = uniqueName(`c07-${codec}`);
      const value = 'all work and no play makes odradek a dull spool. '.repeat(10_240).slice(0, 500_000);
      const { stderr } = await runCommand(needed(kcat), ['-P', '-b', broker.bootstrap, '-t', topic, '-p', '0', '-z', codec], {
        stdin: value,
      });
      assert.doesNotMatch(stderr, /does not support compression/);
      const answer = await conversation.fetch(topic, 0);
      assertError(answer.errorCode, 'NONE');
      assert.ok(answer.records !== null && answer.records.length < value.length / 4);
      const [batch, ...more] = iterateBatches(answer.records);
      assert.equal(batch?.compression, codec);
      assert.equal(more.length, 0);
      assert.equal([...(batch?.records() ?? [])][0]?.value?.toString(), value);
    });
  }
});
