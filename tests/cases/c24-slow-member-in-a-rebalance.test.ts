// C24: a member is busy with its records while another joins. It is told of the rebalance, but does not come; when the rebalance
// time-out has passed the group goes on without it, once. Then it joins again, and both make progress.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type BrokerUnderTest, brokerUnderTest, uniqueName, until } from '@odradek/testing';
import kafkajs from 'kafkajs';
import { assertError, BrokerConversation } from './broker-conversation.ts';
import { GroupMember } from './group-conversation.ts';

describe('C24 a slow member in a rebalance', () => {
  let broker: BrokerUnderTest;
  let conversation: BrokerConversation;
  before(async () => {
    const properties = { 'group.initial.rebalance.delay.ms': 0, 'group.min.session.timeout.ms': 100 };
    broker = await brokerUnderTest({ properties });
    conversation = await BrokerConversation.open(broker);
  });
  after(async () => {
    await conversation?.close();
    await broker?.close();
  });

  test('hears of it with every heartbeat, is removed once, and comes back', async () => {
    const topic = await conversation.createTopic('c24');
    const group = uniqueName('c24');
    // A group waits as long as the most patient of its members.
    const options = { group, topic, sessionTimeoutMs: 60_000, rebalanceTimeoutMs: 1_000 };
    await using slow = await GroupMember.open(broker, options);
    await using other = await GroupMember.open(broker, options);
    assertError((await slow.join()).errorCode, 'NONE');
    assertError((await slow.sync({ [slow.memberId]: 'all' })).errorCode, 'NONE');

    let isJoined = false;
    const joining = other.join().then((joined) => {
      isJoined = true;
      return joined;
    });
    await until('the slow one hears of the rebalance', async () => (await slow.beat()) === rebalanceInProgress);
    while (!isJoined) assert.ok([rebalanceInProgress, unknownMember].includes(await slow.beat()));
    const joined = await joining;
    assertError(joined.errorCode, 'NONE');
    assert.deepEqual(
      joined.members.map(({ memberId }) => memberId),
      [other.memberId],
    );
    assertError((await other.sync({ [other.memberId]: 'all' })).errorCode, 'NONE');
    assertError(await slow.beat(), 'UNKNOWN_MEMBER_ID');
    assertError(await slow.commit(7, 5), 'UNKNOWN_MEMBER_ID');
    assertError(await other.commit(7, 3), 'NONE');

    await using back = await GroupMember.open(broker, { group, topic, sessionTimeoutMs: 60_000 });
    const again = back.join();
    await until('the other hears of it', async () => (await other.beat()) === rebalanceInProgress);
    const [rejoined, stayed] = await Promise.all([again, other.join()]);
    assert.equal(rejoined.generationId, stayed.generationId);
    await Promise.all([back.sync(), other.sync({ [back.memberId]: 'half', [other.memberId]: 'half' })]);
    for (const member of [back, other]) {
      assertError(await member.beat(), 'NONE');
      assertError(await member.commit(7, 6), 'NONE');
    }
  });

  test('of kafkajs leaves no record out, and both consumers go on', { timeout: 60_000 }, async () => {
    const topic = await conversation.createTopic('c24-kafkajs', { partitions: 2 });
    const kafka = new kafkajs.Kafka({
      brokers: [broker.bootstrap],
      logLevel: kafkajs.logLevel.NOTHING,
      retry: { initialRetryTime: 50 },
    });
    const producer = kafka.producer();
    await producer.connect();
    const produce = async (stem: string): Promise<string[]> => {
      const values = Array.from({ length: 100 }, (_, index) => `${stem}-${index}`);
      await producer.send({ topic, messages: values.map((value, index) => ({ value, partition: index % 2 })) });
      return values;
    };
    const groupId = uniqueName('c24');
    const release = Promise.withResolvers<void>();
    const joins = { slow: 0, other: 0 };
    const handled = { slow: [] as string[], other: [] as string[] };
    const start = async (name: 'slow' | 'other', whileHandling: () => Promise<void>): Promise<kafkajs.Consumer> => {
      const times = { sessionTimeout: 30_000, rebalanceTimeout: 1_000, heartbeatInterval: 100, maxWaitTimeInMs: 100 };
      const consumer = kafka.consumer({ groupId, ...times });
      consumer.on(consumer.events.GROUP_JOIN, () => {
        joins[name] += 1;
      });
      await consumer.connect();
      await consumer.subscribe({ topic, fromBeginning: true });
      await consumer.run({
        autoCommitThreshold: 1,
        eachMessage: async ({ message }) => {
          await whileHandling();
          handled[name].push(message.value?.toString() ?? '');
        },
      });
      return consumer;
    };

    const values = await produce('before');
    let hasBegun = false;
    const slow = await start('slow', () => {
      hasBegun = true;
      return release.promise;
    });
    await until('the slow one handles its first record', () => hasBegun);
    const other = await start('other', () => Promise.resolve());
    try {
      await until('the other has got everything', () => values.every((value) => handled.other.includes(value)));
      assert.deepEqual(handled.slow, []);
      release.resolve();
      await until('the slow one has joined again', () => joins.slow >= 2);
      const before = { ...joins };
      const later: string[] = [];
      for (let round = 0; !hasProgress(handled.slow, later) || !hasProgress(handled.other, later); round++) {
        assert.ok(round < 50, 'both handle some of what comes later');
        const more = await produce(`later-${round}`);
        later.push(...more);
        await until('all is handled', () => more.every((value) => handled.slow.includes(value) || handled.other.includes(value)));
      }
      // Nobody is thrown out again and again.
      assert.ok(joins.slow <= before.slow + 1 && joins.other <= before.other + 1, JSON.stringify([before, joins]));
    } finally {
      release.resolve();
      await Promise.all([slow.disconnect(), other.disconnect(), producer.disconnect()]);
    }
  });
});

const rebalanceInProgress = 27;
const unknownMember = 25;

function hasProgress(handled: readonly string[], values: readonly string[]): boolean {
  return values.some((value) => handled.includes(value));
}
