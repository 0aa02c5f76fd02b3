// C21: a static member that restarts within its session finds its place and its assignment; whoever had the place is fenced.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { JoinGroupRequest } from '@odradek/protocol';
import { type BrokerUnderTest, brokerUnderTest, uniqueName } from '@odradek/testing';
import { assertError, BrokerConversation } from './broker-conversation.ts';
import { GroupMember } from './group-conversation.ts';

describe('C21 static member restart', () => {
  let broker: BrokerUnderTest;
  let conversation: BrokerConversation;
  before(async () => {
    broker = await brokerUnderTest({ properties: { 'group.initial.rebalance.delay.ms': 200 } });
    conversation = await BrokerConversation.open(broker);
  });
  after(async () => {
    await conversation?.close();
    await broker?.close();
  });

  test('JoinGroup 5, which brought static members, is offered', async () => {
    assert.ok(await conversation.offers(JoinGroupRequest, 5));
  });

  test('no rebalance, the same assignment, and the old member is fenced', async () => {
    const topic = await conversation.createTopic('c21');
    const group = uniqueName('c21');
    await using one = await GroupMember.open(broker, { group, topic, instanceId: 'one' });
    await using two = await GroupMember.open(broker, { group, topic, instanceId: 'two' });
    const [joinedOne, joinedTwo] = await Promise.all([one.join(), two.join()]);
    // Without a delay, on a broker of somebody else's, they may not have met yet.
    if (joinedOne.generationId !== joinedTwo.generationId) await Promise.all([one.join(), two.join()]);
    const leader = joinedOne.leader === one.memberId ? one : two;
    const follower = leader === one ? two : one;
    const assignments = { [one.memberId]: 'part one', [two.memberId]: 'part two' };
    const [synced] = await Promise.all([follower.sync(), leader.sync(assignments)]);
    assertError(synced.errorCode, 'NONE');
    const part = synced.assignment.toString();

    await using restarted = await GroupMember.open(broker, { ...follower.options });
    const joined = await restarted.join();
    assertError(joined.errorCode, 'NONE');
    assert.equal(joined.generationId, leader.generationId);
    assert.notEqual(restarted.memberId, follower.memberId);
    assert.equal((await restarted.sync()).assignment.toString(), part);
    assertError(await leader.beat(), 'NONE');
    assertError(await restarted.beat(), 'NONE');
    assertError(await follower.beat(), 'FENCED_INSTANCE_ID');
    assertError((await follower.sync()).errorCode, 'FENCED_INSTANCE_ID');
    assertError(await follower.commit(7, 1), 'FENCED_INSTANCE_ID');
    assertError((await follower.join()).errorCode, 'FENCED_INSTANCE_ID');
    assertError(await restarted.commit(7, 1), 'NONE');
  });
});
