// C32: records whose producers count in seconds are from 1970, and go at the next look of retention; those from the future are refused,
// or keep their segment and all behind it. Against another broker, that must look after its logs as often as the one started here.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { buildRecordBatch } from '@odradek/protocol';
import { type BrokerUnderTest, brokerUnderTest, until } from '@odradek/testing';
import { assertError, BrokerConversation, type ProducedPartition } from './broker-conversation.ts';

const dayMs = 24 * 3600 * 1000;
const yearMs = 365 * dayMs;
const inSeconds = (): number => Math.floor(Date.now() / 1000);
/** How retention must be set up; Kafka has the same settings. */
const properties = { 'log.retention.check.interval.ms': 200, 'log.initial.task.delay.ms': 100 };

describe('C32 timestamps in seconds, or in the future', () => {
  let broker: BrokerUnderTest;
  let conversation: BrokerConversation;
  before(async () => {
    broker = await brokerUnderTest({ properties });
    conversation = await BrokerConversation.open(broker);
  });
  after(async () => {
    await conversation?.close();
    await broker?.close();
  });

  const send = (topic: string, timestamps: readonly number[], bytes = 1): Promise<ProducedPartition> =>
    conversation.produce(
      topic,
      buildRecordBatch(
        {},
        timestamps.map((timestamp) => ({ timestamp, value: Buffer.alloc(bytes, 'x') })),
      ),
    );
  const earliest = async (topic: string): Promise<number> => (await conversation.listOffset(topic, -2)).offset;

  test('in seconds: taken, and gone at the next look, which says from when they were', async () => {
    const topic = await conversation.createTopic('c32-seconds', { configs: { 'retention.ms': String(7 * dayMs) } });
    assertError((await send(topic, [inSeconds(), inSeconds()])).errorCode, 'NONE');
    await until('they are gone', async () => (await earliest(topic)) === 2);
    if (broker.odradek !== undefined) {
      const { odradek } = broker;
      const line = await until('the broker tells of it', () =>
        odradek.output.split('\n').find((each) => each.includes('Deleted old segments') && each.includes(topic)),
      );
      assert.match(line, /lastRecordTime=1970-01-/);
    }
    // The topic takes more, and keeps what is of today.
    assertError((await send(topic, [Date.now()])).errorCode, 'NONE');
    assert.deepEqual([await earliest(topic), await conversation.endOffset(topic)], [2, 3]);
  });

  test('in seconds, where the topic says how old a record may be: refused, and each record at fault is named', async () => {
    const configs = { 'message.timestamp.before.max.ms': String(dayMs) };
    const topic = await conversation.createTopic('c32-before', { configs });
    const answer = await send(topic, [Date.now(), inSeconds(), Date.now() - dayMs - 60_000]);
    assertError(answer.errorCode, 'INVALID_TIMESTAMP');
    assert.deepEqual(
      answer.recordErrors.map(({ batchIndex }) => batchIndex),
      [1, 2],
    );
    assert.equal(await conversation.endOffset(topic), 0);
    assertError((await send(topic, [Date.now() - dayMs + 60_000])).errorCode, 'NONE');
  });

  test('a year ahead, and in microseconds: refused by default, an hour ahead being allowed', async () => {
    const topic = await conversation.createTopic('c32-after');
    for (const timestamp of [Date.now() + yearMs, Date.now() * 1000, Date.now() + 3_700_000]) {
      const answer = await send(topic, [Date.now(), timestamp]);
      assertError(answer.errorCode, 'INVALID_TIMESTAMP');
      assert.deepEqual(
        answer.recordErrors.map(({ batchIndex }) => batchIndex),
        [1],
      );
    }
    assertError((await send(topic, [Date.now() + 3_500_000])).errorCode, 'NONE');
    assert.equal(await conversation.endOffset(topic), 1);
  });

  test('a year ahead where that is allowed: the segment stays, and all behind it', async () => {
    const configs = { 'segment.bytes': '1048576', 'retention.ms': '1000', 'message.timestamp.after.max.ms': String(2 * yearMs) };
    const blocked = await conversation.createTopic('c32-blocked', { configs });
    const free = await conversation.createTopic('c32-free', { configs });
    const past = Date.now() - 10_000;
    // Each batch fills more than half of a segment, so each begins one.
    for (const [topic, times] of [
      [blocked, [past, Date.now() + yearMs, past, past]],
      [free, [past, past, past, past]],
    ] as const) {
      for (const time of times) assertError((await send(topic, [time], 600_000)).errorCode, 'NONE');
    }
    await until('what is old is gone where nothing blocks', async () => (await earliest(free)) === 4);
    await until('and before what blocks', async () => (await earliest(blocked)) === 1);
    // Retention has looked at both again by then.
    assertError((await send(free, [past])).errorCode, 'NONE');
    await until('the next look has been', async () => (await earliest(free)) === 5);
    assert.equal(await earliest(blocked), 1);
    if (broker.odradek !== undefined) assert.match(broker.odradek.output, /A segment has a record from the future/);
    // By size it goes: that asks for no time.
    await conversation.alterTopic(blocked, { 'retention.bytes': '700000' });
    await until('it is gone by size', async () => (await earliest(blocked)) >= 2);
  });

  test('with LogAppendTime a record has the time of the broker, whatever its producer says', async () => {
    const topic = await conversation.createTopic('c32-append', {
      configs: { 'message.timestamp.type': 'LogAppendTime', 'retention.ms': String(dayMs) },
    });
    const before = Date.now();
    const answer = await send(topic, [inSeconds(), Date.now() + yearMs]);
    assertError(answer.errorCode, 'NONE');
    assert.ok(answer.logAppendTimeMs >= before - 1000);
    const found = await conversation.listOffset(topic, answer.logAppendTimeMs);
    assert.deepEqual([found.offset, found.timestamp], [0, answer.logAppendTimeMs]);
  });

  test('a record without a time is taken, and is as old as its segment', async () => {
    const topic = await conversation.createTopic('c32-none', { configs: { 'retention.ms': String(dayMs) } });
    assertError((await send(topic, [-1])).errorCode, 'NONE');
    assert.deepEqual([await earliest(topic), await conversation.endOffset(topic)], [0, 1]);
  });
});
