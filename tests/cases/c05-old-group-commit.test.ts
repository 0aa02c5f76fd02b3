// C05: consumers of librdkafka 0.11 join with JoinGroup 0, commit with OffsetCommit 1 and read back with OffsetFetch 1.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { OffsetCommitRequest, OffsetFetchRequest, OffsetFetchResponse } from '@odradek/protocol';
import { type BrokerUnderTest, brokerUnderTest, uniqueName } from '@odradek/testing';
import { assertError, BrokerConversation } from './broker-conversation.ts';
import { GroupMember } from './group-conversation.ts';

describe('C05 old group commit', () => {
  let broker: BrokerUnderTest;
  let conversation: BrokerConversation;
  before(async () => {
    broker = await brokerUnderTest({ properties: { 'group.initial.rebalance.delay.ms': 0 } });
    conversation = await BrokerConversation.open(broker);
  });
  after(async () => {
    await conversation?.close();
    await broker?.close();
  });

  test('is accepted, and the next start resumes there', async (context) => {
    if (!(await conversation.offers(OffsetCommitRequest, 1))) return context.skip('the broker does not offer OffsetCommit 1');
    const topic = await conversation.createTopic('c05');
    const group = uniqueName('c05');
    {
      await using member = await GroupMember.open(broker, { group, topic });
      assertError((await member.join(0)).errorCode, 'NONE');
      assertError((await member.sync({ [member.memberId]: 'all' })).errorCode, 'NONE');
      assertError(await member.commit(1, 42), 'NONE');
      assert.equal(await member.committed(1), 42);
    }
    await using restarted = await GroupMember.open(broker, { group, topic });
    assert.equal(await restarted.committed(1), 42);
    assert.equal(await restarted.committed(7), 42);
  });

  test('of version 0 is kept apart from the group, in the coordination tree', async (context) => {
    if (!(await conversation.offers(OffsetCommitRequest, 0))) return context.skip('the broker does not offer OffsetCommit 0');
    const topic = await conversation.createTopic('c05-zero');
    const group = uniqueName('c05');
    await using member = await GroupMember.open(broker, { group, topic });
    // Where there is no offset these clients are told of a partition that is not known, and begin where they like.
    const asked = { groupId: group, topics: [{ name: topic, partitionIndexes: [0] }] };
    const none = await member.client.send(OffsetFetchRequest, OffsetFetchResponse, 0, asked);
    assertError(none.topics[0]?.partitions[0]?.errorCode, 'UNKNOWN_TOPIC_OR_PARTITION');
    assert.equal(none.topics[0]?.partitions[0]?.committedOffset, -1);
    assertError(await member.commit(0, 7), 'NONE');
    assert.equal(await member.committed(0), 7);
    assert.equal(await member.committed(1), -1);
    assertError(await member.commit(0, 8), 'NONE');
    assert.equal(await member.committed(0), 8);
  });
});
