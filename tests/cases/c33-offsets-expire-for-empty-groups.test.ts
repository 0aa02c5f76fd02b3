// C33: offsets expire only when nobody can need them any more: not while a group is there that reads their topic, however idle it
// is, and otherwise not before their time has passed since the group became empty.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  buildRecordBatch,
  ListGroupsRequest,
  ListGroupsResponse,
  OffsetCommitRequest,
  OffsetCommitResponse,
  OffsetFetchRequest,
  OffsetFetchResponse,
} from '@odradek/protocol';
import type { Clock } from '@odradek/runtime';
import { type BrokerUnderTest, brokerUnderTest, InProcessBroker, type RawClient, uniqueName, until } from '@odradek/testing';
import { assertError, BrokerConversation, textRecords } from './broker-conversation.ts';
import { ConsumerMember } from './consumer-conversation.ts';
import { GroupMember } from './group-conversation.ts';

/** What the group has committed for partition 0; -1: nothing. */
async function committed(client: RawClient, groupId: string, topic: string): Promise<number> {
  const topics = [{ name: topic, partitionIndexes: [0] }];
  const answer = await client.send(OffsetFetchRequest, OffsetFetchResponse, 7, { groupId, topics });
  assertError(answer.errorCode, 'NONE');
  return answer.topics[0]?.partitions[0]?.committedOffset ?? Number.NaN;
}

async function joined(member: GroupMember): Promise<GroupMember> {
  assertError((await member.join()).errorCode, 'NONE');
  assertError((await member.sync({ [member.memberId]: 'all' })).errorCode, 'NONE');
  return member;
}

// Versions 2 to 4 of OffsetCommit say themselves how long an offset is to be kept, so nobody has to wait for days.
describe('C33 offsets that were to be kept for a millisecond', () => {
  let broker: BrokerUnderTest;
  let conversation: BrokerConversation;
  before(async () => {
    const properties = { 'offsets.retention.check.interval.ms': 50, 'group.initial.rebalance.delay.ms': 0 };
    broker = await brokerUnderTest({ properties });
    conversation = await BrokerConversation.open(broker);
  });
  after(async () => {
    await conversation?.close();
    await broker?.close();
  });

  async function commitForAMillisecond({ client, memberId, generationId, options }: GroupMember, topic: string): Promise<void> {
    const partitions = [{ partitionIndex: 0, committedOffset: 3, committedMetadata: '' }];
    const commit = { groupId: options.group, memberId, generationIdOrMemberEpoch: generationId, retentionTimeMs: 1 };
    const answer = await client.send(OffsetCommitRequest, OffsetCommitResponse, 2, {
      ...commit,
      topics: [{ name: topic, partitions }],
    });
    assertError(answer.topics[0]?.partitions[0]?.errorCode, 'NONE');
  }

  test('stay while the group reads their topic, and go when it has left', async () => {
    const [topic, other] = [await conversation.createTopic('c33'), await conversation.createTopic('c33-other')];
    await conversation.append(topic, buildRecordBatch({}, textRecords('a', 'b', 'c')));
    const group = uniqueName('c33');
    const { client } = conversation;
    {
      await using idle = await joined(await GroupMember.open(broker, { group, topic }));
      await commitForAMillisecond(idle, topic);
      await commitForAMillisecond(idle, other);
      // What the group does not read goes, so the others have been looked at as well.
      await until('the other offset has expired', async () => (await committed(client, group, other)) === -1);
      assert.equal(await committed(client, group, topic), 3);
      assertError(await idle.beat(), 'NONE');
      await idle.leave();
    }
    await until('the offset has expired', async () => (await committed(client, group, topic)) === -1);
    // Who comes back has no place, and both ends to begin at.
    await using restarted = await joined(await GroupMember.open(broker, { group, topic }));
    assert.equal(await restarted.committed(7), -1);
    assert.equal((await conversation.listOffset(topic, -2)).offset, 0);
    assert.equal((await conversation.listOffset(topic, -1)).offset, 3);
  });

  test('of a consumer that assigns partitions itself go without a group that could read them', async () => {
    const topic = await conversation.createTopic('c33');
    await using alone = await GroupMember.open(broker, { group: uniqueName('c33'), topic });
    await commitForAMillisecond(alone, topic);
    await until('the offset has expired', async () => (await alone.committed(7)) === -1);
    await until('the group is gone', async () => {
      const { groups } = await alone.client.send(ListGroupsRequest, ListGroupsResponse, 4, {});
      return !groups.some(({ groupId }) => groupId === alone.options.group);
    });
  });
});

/** The machine's clock, which can be put forward; what waits is not moved by that. */
class ForwardClock implements Clock {
  #aheadMs = 0;

  wallTimeMs(): number {
    return Date.now() + this.#aheadMs;
  }

  monotonicMs(): number {
    return performance.now();
  }

  putForward(minutes: number): void {
    this.#aheadMs += minutes * 60_000;
  }
}

describe('C33 offsets whose retention is that of the broker', () => {
  const clock = new ForwardClock();
  const properties = {
    'offsets.retention.minutes': 10,
    'offsets.retention.check.interval.ms': 20,
    'offsets.topic.num.partitions': 3,
    'group.initial.rebalance.delay.ms': 0,
    'group.min.session.timeout.ms': 100,
  };
  let dataDirectory: string;
  let broker: InProcessBroker;
  let underTest: BrokerUnderTest;
  before(async () => {
    dataDirectory = mkdtempSync(join(tmpdir(), 'odradek-c33-'));
    await start();
    await using conversation = await BrokerConversation.open(underTest);
    for (const name of ['read', 'unread']) await conversation.createTopicNamed(name);
  });
  after(async () => {
    await broker?.close();
    rmSync(dataDirectory, { recursive: true, force: true });
  });

  async function start(): Promise<void> {
    broker = await InProcessBroker.start({ properties, dataDirectory, clock });
    const { port } = broker;
    underTest = { host: '127.0.0.1', port, bootstrap: `127.0.0.1:${port}`, odradek: undefined, close: () => broker.close() };
  }

  /** A member of the classic protocol that has committed for both topics and subscribes to one. */
  async function member(group: string, sessionTimeoutMs = 30_000): Promise<GroupMember> {
    const opened = await joined(await GroupMember.open(underTest, { group, topic: 'read', sessionTimeoutMs }));
    assertError(await opened.commit(8, 5), 'NONE');
    return opened;
  }

  /** The groups that still have their place in the topic that is read. */
  async function groupsWithOffsets(...groups: readonly string[]): Promise<string[]> {
    const client = await broker.client();
    const kept: string[] = [];
    for (const group of groups) if ((await committed(client, group, 'read')) !== -1) kept.push(group);
    return kept;
  }

  test('expire when that has passed since nobody was there, and not before', async () => {
    const all = ['idle', 'idle-consumer', 'left', 'left-late', 'came-back', 'crashed', 'alone', 'left-consumer'];
    await using idle = await member('idle');
    await using idleConsumer = await ConsumerMember.open(underTest, { group: 'idle-consumer', topic: 'read' }, 'member');
    await using leftConsumer = await ConsumerMember.open(underTest, { group: 'left-consumer', topic: 'read' }, 'member');
    for (const consumer of [idleConsumer, leftConsumer]) {
      assertError((await consumer.join()).errorCode, 'NONE');
      assertError(await consumer.commit(5), 'NONE');
    }
    assertError(await idleConsumer.commit(5, 0, 'unread'), 'NONE');
    const { client } = await GroupMember.open(underTest, { group: 'idle', topic: 'unread' });
    await using alone = await GroupMember.open(underTest, { group: 'alone', topic: 'read' });
    assertError(await alone.commit(8, 5), 'NONE');
    await using left = await member('left');
    await left.leave();
    await using leftLate = await member('left-late');
    await using cameBack = await member('came-back');
    await cameBack.leave();
    await using crashed = await member('crashed', 100);
    await crashed.close();
    await until('the crashed member is missed', async () => (await stateOf(client, 'crashed')) === 'Empty');
    assert.deepEqual(await groupsWithOffsets(...all), all);

    clock.putForward(6);
    await leftLate.leave();
    assertError((await leftConsumer.beat({ memberEpoch: -1 })).errorCode, 'NONE');
    await using back = await joined(await GroupMember.open(underTest, { group: 'came-back', topic: 'read' }));
    assert.equal(await back.committed(7), 5);

    clock.putForward(5);
    // A consumer group does not know since when it is empty; what it committed counts from the commit. Each partition of
    // __consumer_offsets looks at its groups in its own time.
    await until(
      'who is not there has lost its place, and who does not read a topic its place there',
      async () =>
        (await groupsWithOffsets('alone', 'left', 'crashed', 'left-consumer')).length === 0 &&
        (await committed(client, 'idle-consumer', 'unread')) === -1,
    );
    assert.deepEqual(await groupsWithOffsets(...all), ['idle', 'idle-consumer', 'left-late', 'came-back']);
    assertError(await idle.beat(), 'NONE');

    clock.putForward(6);
    await until('who left later has lost its place', async () => (await groupsWithOffsets('left-late')).length === 0);
    clock.putForward(7 * 24 * 60);
    assertError((await idleConsumer.beat()).errorCode, 'NONE');
    assert.deepEqual(await groupsWithOffsets(...all), ['idle', 'idle-consumer', 'came-back']);
    assert.deepEqual(await listed(), ['came-back', 'idle', 'idle-consumer']);

    // Another coordinator comes to the same.
    await broker.close();
    await start();
    assert.deepEqual(await until('the groups are loaded', () => groupsWithOffsets(...all)), ['idle', 'idle-consumer', 'came-back']);
    assert.deepEqual(await listed(), ['came-back', 'idle', 'idle-consumer']);
  });

  async function listed(): Promise<string[]> {
    const client = await broker.client();
    const { groups } = await client.send(ListGroupsRequest, ListGroupsResponse, 4, {});
    return groups.map(({ groupId }) => groupId).sort();
  }

  async function stateOf(client: RawClient, group: string): Promise<string | undefined> {
    const { groups } = await client.send(ListGroupsRequest, ListGroupsResponse, 4, {});
    return groups.find(({ groupId }) => groupId === group)?.groupState;
  }
});
