// Groups that are brought into the middle of a rebalance and stay there, because one of their members does not do what the others
// wait for: so a kill meets a rebalance and not the moment after it. Each says what it must find when the broker is back.

import assert from 'node:assert/strict';
import {
  ConsumerGroupDescribeRequest,
  ConsumerGroupDescribeResponse,
  DescribeGroupsRequest,
  DescribeGroupsResponse,
  type Message,
} from '@odradek/protocol';
import { type BrokerUnderTest, ConnectionClosedError, type RawClient, until } from '@odradek/testing';
import { assertError } from '../cases/broker-conversation.ts';
import { assignedPartitions, ConsumerMember } from '../cases/consumer-conversation.ts';
import { GroupMember } from '../cases/group-conversation.ts';
import { committedOffset } from './committing-members.ts';

export interface InterruptedRebalance {
  /** Throws unless the broker says that the group is in the middle. */
  assertIsInTheMiddle(): Promise<void>;
  /** After the restart: nothing was lost, nothing went back, and the group comes to rest. */
  assertGoesOn(): Promise<void>;
}

type Begin = (broker: BrokerUnderTest, topic: string, group: string) => Promise<InterruptedRebalance>;

/** The topic must have at least two partitions. */
export const rebalances: Readonly<Record<string, Begin>> = {
  'members are still joining': whileMembersJoin,
  'the leader has not sent the assignment': whileTheLeaderAssigns,
  'static members wait for the assignment': whileStaticMembersSync,
  'a member has not given up its partitions': whileAMemberRevokes,
  'a static member is away': whileAStaticMemberIsAway,
};

async function whileMembersJoin(broker: BrokerUnderTest, topic: string, group: string): Promise<InterruptedRebalance> {
  const a = await stableMember(broker, { group, topic, sessionTimeoutMs });
  const b = await GroupMember.open(broker, { group, topic, sessionTimeoutMs });
  const waiting = isCutOff(b.join());
  await until('the group rebalances', async () => (await stateOf(a.client, group)) === 'PreparingRebalance');
  // In its old generation a member may still commit.
  assertError(await a.commit(8, 20), 'NONE');
  return {
    assertIsInTheMiddle: async () => assert.equal(await stateOf(a.client, group), 'PreparingRebalance'),
    async assertGoesOn() {
      assert.ok(await waiting, 'the join was answered before the kill');
      await assertComesBack(broker, a, 20);
    },
  };
}

async function whileTheLeaderAssigns(broker: BrokerUnderTest, topic: string, group: string): Promise<InterruptedRebalance> {
  const a = await stableMember(broker, { group, topic, sessionTimeoutMs });
  const b = await GroupMember.open(broker, { group, topic, sessionTimeoutMs });
  const before = a.generationId;
  const joining = b.join();
  await until('the group rebalances', async () => (await a.beat()) === rebalanceInProgress);
  await Promise.all([joining, a.join()]);
  assert.ok(a.generationId > before);
  const waiting = isCutOff(b.sync());
  return {
    assertIsInTheMiddle: async () => assert.equal(await stateOf(a.client, group), 'CompletingRebalance'),
    async assertGoesOn() {
      assert.ok(await waiting, 'the sync was answered before the kill');
      // The generation whose assignment never came was never there.
      a.generationId = before;
      await assertComesBack(broker, a, 10);
    },
  };
}

async function whileStaticMembersSync(broker: BrokerUnderTest, topic: string, group: string): Promise<InterruptedRebalance> {
  const a = await stableMember(broker, { group, topic, instanceId: 'one', sessionTimeoutMs });
  const before = a.generationId;
  const b = await GroupMember.open(broker, { group, topic, instanceId: 'two', sessionTimeoutMs });
  const joining = b.join();
  await until('the group rebalances', async () => (await a.beat()) === rebalanceInProgress);
  await Promise.all([joining, a.join()]);
  const waiting = isCutOff(b.sync());
  return {
    assertIsInTheMiddle: async () => assert.equal(await stateOf(a.client, group), 'CompletingRebalance'),
    async assertGoesOn() {
      assert.ok(await waiting, 'the sync was answered before the kill');
      await using restarted = await GroupMember.open(broker, a.options);
      assert.equal(await restarted.committed(7), 10);
      const joined = await restarted.join();
      assertError(joined.errorCode, 'NONE');
      // It is the whole group, and a static leader that comes back makes no rebalance.
      assert.equal(joined.generationId, before);
      assert.equal((await restarted.sync()).assignment.toString(), 'everything');
      assertError(await restarted.commit(8, 30), 'NONE');
      await using fenced = await resumed(broker, a, before);
      assertError(await fenced.commit(8, 5), 'FENCED_INSTANCE_ID');
      assert.equal(await restarted.committed(7), 30);
    },
  };
}

async function whileAMemberRevokes(broker: BrokerUnderTest, topic: string, group: string): Promise<InterruptedRebalance> {
  const a = await ConsumerMember.open(broker, { group, topic }, 'member-a');
  const b = await ConsumerMember.open(broker, { group, topic }, 'member-b');
  assertError((await a.join()).errorCode, 'NONE');
  const all = await until('a has all partitions', async () => assignedPartitions(await a.beat(fullBeat(topic))) ?? undefined);
  assert.ok(all.length > 1);
  assertError(await a.commit(10), 'NONE');
  assertError((await b.join()).errorCode, 'NONE');
  const kept = await until('a is told to give up', async () => {
    const left = assignedPartitions(await a.beat());
    return left !== null && left.length < all.length ? left : undefined;
  });
  assertError(await a.commit(20), 'NONE');
  const before = await describedConsumers(a.client, group);
  const topicId = await topicIdOf(a);
  return {
    async assertIsInTheMiddle() {
      const { groupState, assignmentEpoch, members } = await describedConsumers(a.client, group);
      assert.equal(groupState, 'Reconciling');
      assert.ok(members.some(({ memberEpoch }) => memberEpoch < assignmentEpoch));
    },
    async assertGoesOn() {
      await using a2 = await ConsumerMember.open(broker, a.options, a.memberId);
      await using b2 = await ConsumerMember.open(broker, b.options, b.memberId);
      [a2.epoch, b2.epoch] = [a.epoch, b.epoch];
      assert.deepEqual(withoutHosts(await describedConsumers(a2.client, group)), withoutHosts(before));
      assert.equal(await committedOffset({ port: broker.port, group, topic, partition: 0 }), 20);
      assertError(await a2.commit(30), 'NONE');
      // It lets go, and the other one gets what it left.
      assertError((await a2.beat({ topicPartitions: [{ topicId, partitions: kept }] })).errorCode, 'NONE');
      assert.equal(a2.epoch, before.assignmentEpoch);
      const got = await until('b has its share', async () => assignedPartitions(await b2.beat()) ?? undefined);
      assert.deepEqual([...kept, ...got].sort(), all);
      const after = await describedConsumers(a2.client, group);
      assert.deepEqual([after.groupState, after.groupEpoch], ['Stable', before.groupEpoch]);
    },
  };
}

async function whileAStaticMemberIsAway(broker: BrokerUnderTest, topic: string, group: string): Promise<InterruptedRebalance> {
  const a = await ConsumerMember.open(broker, { group, topic, instanceId: 'one' }, 'static-a');
  assertError((await a.join()).errorCode, 'NONE');
  const all = await until('it has all partitions', async () => assignedPartitions(await a.beat(fullBeat(topic))) ?? undefined);
  assertError(await a.commit(10), 'NONE');
  const { epoch } = a;
  assertError((await a.beat({ memberEpoch: -2 })).errorCode, 'NONE');
  const isAway = async (client: RawClient): Promise<void> => {
    const { groupEpoch, members } = await describedConsumers(client, group);
    assert.deepEqual([groupEpoch, members.map((member) => [member.memberId, member.memberEpoch])], [epoch, [['static-a', -2]]]);
  };
  return {
    assertIsInTheMiddle: () => isAway(a.client),
    async assertGoesOn() {
      await using back = await ConsumerMember.open(broker, a.options, 'static-b');
      await isAway(back.client);
      assert.equal(await committedOffset({ port: broker.port, group, topic, partition: 0 }), 10);
      const joined = await back.join();
      assertError(joined.errorCode, 'NONE');
      assert.deepEqual([back.epoch, assignedPartitions(joined)], [epoch, all]);
      assertError(await back.commit(20), 'NONE');
      assert.equal(await committedOffset({ port: broker.port, group, topic, partition: 0 }), 20);
    },
  };
}

const rebalanceInProgress = 27;

/** However slow the machine is, no member is missed while its broker is away. */
const sessionTimeoutMs = 300_000;

/** The only member of its group, in its first generation, with offset 10 committed. */
async function stableMember(broker: BrokerUnderTest, options: GroupMember['options']): Promise<GroupMember> {
  const member = await GroupMember.open(broker, options);
  assertError((await member.join()).errorCode, 'NONE');
  assertError((await member.sync({ [member.memberId]: 'everything' })).errorCode, 'NONE');
  assertError(await member.commit(8, 10), 'NONE');
  return member;
}

/** The member finds its generation and its offset, commits, and joins the next generation. */
async function assertComesBack(broker: BrokerUnderTest, member: GroupMember, committed: number): Promise<void> {
  const { generationId } = member;
  await using again = await resumed(broker, member, generationId);
  assert.equal(await again.committed(7), committed);
  assertError(await again.beat(), 'NONE');
  assertError(await again.commit(8, committed + 1), 'NONE');
  assertError((await again.join()).errorCode, 'NONE');
  assert.ok(again.generationId > generationId, `generation ${again.generationId} after ${generationId}`);
  assertError((await again.sync({ [again.memberId]: 'everything' })).errorCode, 'NONE');
  assert.equal(await again.committed(7), committed + 1);
}

/** The same member over a new connection. */
async function resumed(broker: BrokerUnderTest, { options, memberId }: GroupMember, generationId: number): Promise<GroupMember> {
  const member = await GroupMember.open(broker, options);
  member.memberId = memberId;
  member.generationId = generationId;
  return member;
}

/** Whether the connection ended before an answer came. */
async function isCutOff(answer: Promise<unknown>): Promise<boolean> {
  try {
    await answer;
    return false;
  } catch (error) {
    if (!(error instanceof ConnectionClosedError)) throw error;
    return true;
  }
}

async function stateOf(client: RawClient, group: string): Promise<string | undefined> {
  const { groups } = await client.send(DescribeGroupsRequest, DescribeGroupsResponse, 5, { groups: [group] });
  return groups[0]?.groupState;
}

type DescribedConsumers = Message<typeof ConsumerGroupDescribeResponse>['groups'][number];

async function describedConsumers(client: RawClient, group: string): Promise<DescribedConsumers> {
  const request = { groupIds: [group] };
  const { groups } = await client.send(ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse, 1, request);
  assertError(groups[0]?.errorCode, 'NONE');
  return groups[0] as DescribedConsumers;
}

/** A member comes from another port after a restart; all else stays. */
function withoutHosts(group: DescribedConsumers): unknown {
  return { ...group, members: group.members.map((member) => ({ ...member, clientHost: '' })) };
}

async function topicIdOf(member: ConsumerMember): Promise<string> {
  const { members } = await describedConsumers(member.client, member.options.group);
  const { topicId } = members.flatMap(({ targetAssignment }) => targetAssignment.topicPartitions)[0] ?? {};
  assert.ok(topicId !== undefined);
  return topicId;
}

/** A heartbeat to which the answer always has the assignment. */
function fullBeat(topic: string) {
  return { rebalanceTimeoutMs: 60_000, subscribedTopicNames: [topic], topicPartitions: [] };
}
