// Apache Kafka's dump-log, with its decoder of group records, reads the `__consumer_offsets` that Odradek wrote, and what its
// lines come to is what the broker says of its groups, members and offsets.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import {
  ConsumerGroupDescribeRequest,
  ConsumerGroupDescribeResponse,
  DeleteGroupsRequest,
  DeleteGroupsResponse,
  DescribeGroupsRequest,
  DescribeGroupsResponse,
  ListGroupsRequest,
  ListGroupsResponse,
  OffsetFetchRequest,
  OffsetFetchResponse,
} from '@odradek/protocol';
import { type BrokerUnderTest, needed, RawClient, skipWithout, startOdradekProcess, until } from '@odradek/testing';
import { assertError, BrokerConversation } from '../cases/broker-conversation.ts';
import { ConsumerMember } from '../cases/consumer-conversation.ts';
import { GroupMember } from '../cases/group-conversation.ts';
import { kafkaTools, runJava } from './java.ts';

const tools = await kafkaTools();
const complaint = /^.*(mismatch|out of order|missing|corrupt|non-consecutive|exception|unknown|could not|isvalid: false).*$/gim;

interface DumpedRecord {
  readonly type: string;
  readonly key: Readonly<Record<string, unknown>>;
  /** null: a tombstone. */
  readonly value: { readonly version: string; readonly data: Readonly<Record<string, unknown>> } | null;
}

/** What a broker tells of all its groups: a line for each group, member and offset. */
type Told = readonly string[];

describe('kafka-dump-log --offsets-decoder on what Odradek wrote', { skip: skipWithout(tools) }, () => {
  let records: readonly DumpedRecord[];
  let told: Told;

  before(async () => {
    await using odradek = await startOdradekProcess({
      properties: {
        'offsets.topic.num.partitions': 3,
        'group.initial.rebalance.delay.ms': 0,
        'group.consumer.assignment.interval.ms': 0,
      },
    });
    const { host, port, bootstrap } = odradek;
    const broker: BrokerUnderTest = { host, port, bootstrap, odradek, close: () => Promise.resolve() };
    await fill(broker);
    told = await tellAll(broker);
    await odradek.stop();
    const [dataDirectory = ''] = odradek.dataDirectories;
    const logs = readdirSync(dataDirectory)
      .filter((name) => name.startsWith('__consumer_offsets-'))
      .flatMap((name) => readdirSync(join(dataDirectory, name)).map((file) => join(dataDirectory, name, file)))
      .filter((file) => file.endsWith('.log'));
    const args = ['--offsets-decoder', '--files', logs.join(',')];
    const { stdout, stderr } = await runJava(needed(tools), 'org.apache.kafka.tools.DumpLogSegments', args, { timeoutMs: 90_000 });
    assert.deepEqual(`${stdout}${stderr}`.match(complaint)?.slice(0, 10) ?? [], []);
    records = stdout.toString().split('\n').flatMap(parseLine);
  });

  test('it knows every kind of record, with and without a value', () => {
    const kinds = new Set(records.map(({ type, value }) => `${type}${value === null ? ' tombstone' : ''}`));
    const both = [
      offsetCommit,
      classicGroup,
      consumerGroup,
      consumerMember,
      targetAssignment,
      targetMember,
      currentAssignment,
      regex,
    ];
    for (const type of both) {
      assert.ok(kinds.has(type), `there is a record of type ${type}`);
      assert.ok(kinds.has(`${type} tombstone`), `there is a tombstone of type ${type}`);
    }
    assert.deepEqual(new Set(kinds), new Set(both.flatMap((type) => [type, `${type} tombstone`])));
  });

  test('what it reads comes to the groups, members and offsets that the broker tells of', () => {
    assert.ok(told.length > 10, told.join('\n'));
    assert.deepEqual(replay(records), told);
  });
});

const offsetCommit = '1';
const classicGroup = '2';
const consumerGroup = '3';
const consumerMember = '5';
const targetAssignment = '6';
const targetMember = '7';
const currentAssignment = '8';
const regex = '16';

/** Groups of both protocols that live, have lived and are forgotten. */
async function fill(broker: BrokerUnderTest): Promise<void> {
  await using conversation = await BrokerConversation.open(broker);
  for (const name of ['topic', 'other']) await conversation.createTopicNamed(name, { partitions: 2 });

  // Classic: a static and a dynamic member, one that has left, a group that is deleted, and one of offsets alone.
  const one = await GroupMember.open(broker, { group: 'classic', topic: 'topic', instanceId: 'one' });
  await one.join();
  assertError((await one.sync({ [one.memberId]: 'all of it' })).errorCode, 'NONE');
  assertError(await one.commit(8, 11, 0), 'NONE');
  assertError(await one.commit(8, 12, 1), 'NONE');
  // A time of its own for the expiry, which only older versions of the record have room for.
  assertError(await one.commit(4, 13, 1), 'NONE');
  for (const group of ['offsets-alone', 'deleted']) {
    const nobody = await GroupMember.open(broker, { group, topic: 'other' });
    assertError(await nobody.commit(7, 5), 'NONE');
    await nobody.close();
  }

  // Consumer: two members of names, one of them with an assignor, one of an expression, one that leaves, a group that is deleted.
  const members = new Map<string, ConsumerMember>();
  for (const id of ['a', 'b', 'leaving'])
    members.set(id, await ConsumerMember.open(broker, { group: 'consumer', topic: 'topic' }, id));
  for (const member of members.values())
    assertError((await member.join({ serverAssignor: 'range', rackId: 'rack' })).errorCode, 'NONE');
  assertError(await members.get('a')?.commit(21, 0), 'NONE');
  assertError((await members.get('leaving')?.beat({ memberEpoch: -1 }))?.errorCode, 'NONE');
  await until('a has come to the newest epoch', async () => {
    const heard = await members.get('a')?.beat({ topicPartitions: [] });
    return heard?.errorCode === 0 && heard.memberEpoch === (await members.get('b')?.beat({ topicPartitions: [] }))?.memberEpoch;
  });
  const byRegex = { subscribedTopicNames: [], subscribedTopicRegex: 'o.*r' };
  for (const group of ['consumer-regex', 'consumer-deleted']) {
    const member = await ConsumerMember.open(broker, { group, topic: 'other', instanceId: 'place' }, 'regex-member');
    assertError((await member.join(byRegex)).errorCode, 'NONE');
    await until('the expression has been looked up', async () => {
      const { assignment } = await member.beat();
      return assignment !== null && assignment.topicPartitions.length > 0;
    });
    assertError(await member.commit(31, 1), 'NONE');
    if (group === 'consumer-deleted') assertError((await member.beat({ memberEpoch: -1 })).errorCode, 'NONE');
  }
  await using client = await RawClient.connect(broker);
  const groupsNames = ['deleted', 'consumer-deleted'];
  const { results } = await client.send(DeleteGroupsRequest, DeleteGroupsResponse, 2, { groupsNames });
  for (const { errorCode } of results) assertError(errorCode, 'NONE');
}

async function tellAll(broker: BrokerUnderTest): Promise<Told> {
  await using client = await RawClient.connect(broker);
  const { groups } = await client.send(ListGroupsRequest, ListGroupsResponse, 5, {});
  const lines: string[] = [];
  for (const { groupId, groupType } of groups) {
    if (groupType === 'classic') {
      const described = await client.send(DescribeGroupsRequest, DescribeGroupsResponse, 5, { groups: [groupId] });
      const { protocolType, members } = described.groups[0] ?? { protocolType: '', members: [] };
      if (protocolType !== '') lines.push(`${groupId}: ${protocolType}`);
      for (const member of members) {
        const { memberId, groupInstanceId, clientId, clientHost, memberAssignment } = member;
        lines.push(
          `${groupId}: ${[memberId, groupInstanceId, clientId, clientHost, memberAssignment.toString('base64')].join(' ')}`,
        );
      }
    } else {
      const request = { groupIds: [groupId] };
      const described = await client.send(ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse, 1, request);
      for (const { groupEpoch, assignmentEpoch, members } of described.groups) {
        lines.push(`${groupId}: epoch ${groupEpoch}, assigned ${assignmentEpoch}`);
        for (const member of members) {
          const { memberId, instanceId, rackId, clientId, clientHost, memberEpoch, subscribedTopicNames, assignment } = member;
          const facts = [memberId, instanceId, rackId, clientId, clientHost, memberEpoch, subscribedTopicNames.join(',')];
          const partitions = assignment.topicPartitions.map((each) => `${each.topicId}[${each.partitions.join(' ')}]`);
          const target = member.targetAssignment.topicPartitions.map((each) => `${each.topicId}[${each.partitions.join(' ')}]`);
          lines.push(`${groupId}: ${[...facts, member.subscribedTopicRegex ?? '', partitions.join(), target.join()].join(' ')}`);
        }
      }
    }
    const asked = { groups: [{ groupId, topics: null }] };
    const fetched = await client.send(OffsetFetchRequest, OffsetFetchResponse, 8, asked);
    for (const { name, partitions } of fetched.groups[0]?.topics ?? []) {
      for (const { partitionIndex, committedOffset, committedLeaderEpoch, metadata } of partitions) {
        lines.push(`${groupId}: ${name}-${partitionIndex} ${committedOffset} ${committedLeaderEpoch} ${metadata}`);
      }
    }
  }
  return lines.sort();
}

/** `| offset: 3 … key: {"type":"1","data":{…}} payload: {"version":"3","data":{…}}`, or `payload: <DELETE>`. */
function parseLine(line: string): DumpedRecord[] {
  const [, key, payload] = /^\| offset: \d+ .*? key: (\{.*?\}) payload: (.*)$/.exec(line) ?? [];
  if (key === undefined || payload === undefined) return [];
  const { type, data } = JSON.parse(key) as { readonly type: string; readonly data: DumpedRecord['key'] };
  return [{ type, key: data, value: payload === '<DELETE>' ? null : (JSON.parse(payload) as NonNullable<DumpedRecord['value']>) }];
}

interface DumpedTopic {
  readonly topicId: string;
  readonly partitions: readonly number[];
}

/** The last value of each key, in the plainest way, in the words of `tellAll`. */
function replay(records: readonly DumpedRecord[]): Told {
  const last = new Map<string, DumpedRecord>();
  for (const record of records) {
    const name = `${record.type} ${JSON.stringify(record.key)}`;
    last.delete(name);
    if (record.value !== null) last.set(name, record);
  }
  const of = (type: string): [DumpedRecord['key'], Readonly<Record<string, unknown>>][] =>
    [...last.values()].flatMap(({ type: each, key, value }) => (each === type && value !== null ? [[key, value.data]] : []));
  const valueOf = (type: string, wanted: DumpedRecord['key']): Readonly<Record<string, unknown>> =>
    of(type).find(([key]) => Object.entries(wanted).every(([name, value]) => key[name] === value))?.[1] ?? {};
  const print = (topics: unknown): string =>
    ((topics ?? []) as readonly DumpedTopic[]).map(({ topicId, partitions }) => `${topicId}[${partitions.join(' ')}]`).join();
  return [
    ...of(offsetCommit).map(
      ([{ group, topic, partition }, { offset, leaderEpoch, metadata }]) =>
        `${group}: ${topic}-${partition} ${offset} ${leaderEpoch ?? -1} ${metadata}`,
    ),
    ...of(classicGroup).flatMap(([{ group }, { protocolType, members }]) => [
      ...(protocolType === '' ? [] : [`${group}: ${protocolType}`]),
      ...(members as readonly Record<string, string | null>[]).map(
        ({ memberId, groupInstanceId, clientId, clientHost, assignment }) =>
          `${group}: ${[memberId, groupInstanceId, clientId, clientHost, assignment].join(' ')}`,
      ),
    ]),
    ...of(consumerGroup).map(([{ groupId }, { epoch }]) => {
      const { assignmentEpoch } = valueOf(targetAssignment, { groupId });
      return `${groupId}: epoch ${epoch}, assigned ${assignmentEpoch}`;
    }),
    ...of(consumerMember).map(([{ groupId, memberId }, member]) => {
      const { instanceId, rackId, clientId, clientHost, subscribedTopicNames, subscribedTopicRegex } = member;
      const { memberEpoch, assignedPartitions } = valueOf(currentAssignment, { groupId, memberId });
      const { topicPartitions } = valueOf(targetMember, { groupId, memberId });
      const names = (subscribedTopicNames as readonly string[]).join(',');
      const facts = [memberId, instanceId, rackId, clientId, clientHost, memberEpoch, names, subscribedTopicRegex ?? ''];
      return `${groupId}: ${[...facts, print(assignedPartitions), print(topicPartitions)].join(' ')}`;
    }),
  ].sort();
}
