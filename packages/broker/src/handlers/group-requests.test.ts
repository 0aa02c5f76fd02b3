// The requests of groups and their members through the bytes of their versions, on a whole broker: what the handlers add to the
// rules of groups, which are tested by the scripts beside those.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  apiByKey,
  buildRecordBatch,
  ConsumerGroupDescribeRequest,
  ConsumerGroupDescribeResponse,
  ConsumerGroupHeartbeatRequest,
  ConsumerGroupHeartbeatResponse,
  CreateTopicsRequest,
  CreateTopicsResponse,
  DeleteGroupsRequest,
  DeleteGroupsResponse,
  DescribeGroupsRequest,
  DescribeGroupsResponse,
  errorByCode,
  FindCoordinatorRequest,
  FindCoordinatorResponse,
  HeartbeatRequest,
  HeartbeatResponse,
  JoinGroupRequest,
  JoinGroupResponse,
  LeaveGroupRequest,
  LeaveGroupResponse,
  ListGroupsRequest,
  ListGroupsResponse,
  MetadataRequest,
  MetadataResponse,
  OffsetCommitRequest,
  OffsetCommitResponse,
  OffsetDeleteRequest,
  OffsetDeleteResponse,
  OffsetFetchRequest,
  OffsetFetchResponse,
  ProduceRequest,
  ProduceResponse,
  SyncGroupRequest,
  SyncGroupResponse,
} from '@odradek/protocol';
import { InProcessBroker, type RawClient, until } from '@odradek/testing';

const unknownId = 'AAAAAAAAAAAAAAAAAAAAEA';

describe('group requests', () => {
  let broker: InProcessBroker;
  let client: RawClient;
  let topicId: string;

  before(async () => {
    broker = await InProcessBroker.start({
      properties: { 'offsets.topic.num.partitions': 3, 'group.initial.rebalance.delay.ms': 0 },
    });
    client = await broker.client();
    const topics = [{ name: 'topic', numPartitions: 2, replicationFactor: 1 }];
    await client.send(CreateTopicsRequest, CreateTopicsResponse, 5, { topics, timeoutMs: 10_000 });
    const metadata = await client.send(MetadataRequest, MetadataResponse, 10, { topics: [{ name: 'topic' }] });
    topicId = metadata.topics[0]?.topicId ?? '';
  });
  after(() => broker?.close());

  const versionsOf = (apiKey: number): number[] => {
    const { min = 0, max = -1 } = apiByKey(apiKey)?.stableVersions ?? {};
    return Array.from({ length: max - min + 1 }, (_, index) => min + index);
  };
  const name = (code: number | undefined): string => errorByCode(code ?? 0).name;

  async function commit(groupId: string, offset: number, partitionIndex = 0): Promise<void> {
    const partitions = [{ partitionIndex, committedOffset: offset, committedMetadata: 'note' }];
    const request = { groupId, generationIdOrMemberEpoch: -1, topics: [{ name: 'topic', partitions }] };
    const { topics } = await client.send(OffsetCommitRequest, OffsetCommitResponse, 8, request);
    assert.equal(name(topics[0]?.partitions[0]?.errorCode), 'NONE');
  }

  test('FindCoordinator makes the topic and names this broker, in every version', async () => {
    for (const version of versionsOf(10)) {
      const asked = version >= 4 ? { coordinatorKeys: ['a', 'b'] } : { key: 'a' };
      const answer = await client.send(FindCoordinatorRequest, FindCoordinatorResponse, version, { ...asked, keyType: 0 });
      const found = version >= 4 ? answer.coordinators : [answer];
      assert.equal(found.length, version >= 4 ? 2 : 1);
      for (const { errorCode, nodeId, host, port } of found) {
        assert.deepEqual([name(errorCode), nodeId, host, port], ['NONE', 0, '127.0.0.1', broker.port]);
      }
    }
    const other = await client.send(FindCoordinatorRequest, FindCoordinatorResponse, 4, { keyType: 9, coordinatorKeys: ['a'] });
    assert.equal(name(other.coordinators[0]?.errorCode), 'INVALID_REQUEST');
  });

  test('a member joins, syncs, beats and leaves in every version', async () => {
    for (const version of versionsOf(11)) {
      const groupId = `joined-${version}`;
      const protocols = [{ name: 'range', metadata: Buffer.from([0, 0]) }];
      const join = { groupId, sessionTimeoutMs: 10_000, rebalanceTimeoutMs: version === 0 ? -1 : 10_000, protocolType: 'consumer' };
      let joined = await client.send(JoinGroupRequest, JoinGroupResponse, version, { ...join, protocols });
      if (version >= 4) {
        assert.equal(name(joined.errorCode), 'MEMBER_ID_REQUIRED');
        joined = await client.send(JoinGroupRequest, JoinGroupResponse, version, { ...join, protocols, memberId: joined.memberId });
      }
      const { memberId, generationId } = joined;
      assert.equal(name(joined.errorCode), 'NONE');
      assert.deepEqual([generationId, joined.leader, joined.protocolName, joined.members.length], [1, memberId, 'range', 1]);
      const assignments = [{ memberId, assignment: Buffer.from('part') }];
      for (const syncVersion of versionsOf(14)) {
        const said = syncVersion >= 5 ? { protocolType: 'consumer', protocolName: 'range' } : {};
        const sync = { groupId, generationId, memberId, assignments, ...said };
        const synced = await client.send(SyncGroupRequest, SyncGroupResponse, syncVersion, sync);
        assert.deepEqual([name(synced.errorCode), synced.assignment.toString()], ['NONE', 'part']);
      }
      const unsaid = { groupId, generationId, memberId, assignments };
      const refused = await client.send(SyncGroupRequest, SyncGroupResponse, 5, unsaid);
      assert.equal(name(refused.errorCode), 'INCONSISTENT_GROUP_PROTOCOL');
      for (const beatVersion of versionsOf(12)) {
        const beat = await client.send(HeartbeatRequest, HeartbeatResponse, beatVersion, { groupId, generationId, memberId });
        assert.equal(name(beat.errorCode), 'NONE');
      }
      const leaveVersion = version % 6;
      const leaving = leaveVersion < 3 ? { memberId } : { members: [{ memberId }, { memberId: 'nobody' }] };
      const left = await client.send(LeaveGroupRequest, LeaveGroupResponse, leaveVersion, { groupId, ...leaving });
      assert.equal(name(left.errorCode), 'NONE');
      if (leaveVersion >= 3)
        assert.deepEqual(
          left.members.map(({ errorCode }) => name(errorCode)),
          ['NONE', 'UNKNOWN_MEMBER_ID'],
        );
    }
    const gone = await client.send(LeaveGroupRequest, LeaveGroupResponse, 2, { groupId: 'joined-0', memberId: 'nobody' });
    assert.equal(name(gone.errorCode), 'UNKNOWN_MEMBER_ID');
  });

  test('OffsetCommit refuses unknown topics and partitions, and takes the rest', async () => {
    const partition = (partitionIndex: number) => ({ partitionIndex, committedOffset: 5, committedMetadata: null });
    const topics = [
      { name: 'topic', partitions: [partition(0), partition(7)] },
      { name: 'nothing', partitions: [partition(0)] },
    ];
    const request = { groupId: 'commits', generationIdOrMemberEpoch: -1, topics };
    const answer = await client.send(OffsetCommitRequest, OffsetCommitResponse, 8, request);
    const codes = answer.topics.flatMap((topic) =>
      topic.partitions.map((p) => `${topic.name}-${p.partitionIndex} ${name(p.errorCode)}`),
    );
    assert.deepEqual(codes.sort(), ['nothing-0 UNKNOWN_TOPIC_OR_PARTITION', 'topic-0 NONE', 'topic-7 UNKNOWN_TOPIC_OR_PARTITION']);
    const byId = [
      { topicId, partitions: [partition(1)] },
      { topicId: unknownId, partitions: [partition(0)] },
    ];
    const ten = await client.send(OffsetCommitRequest, OffsetCommitResponse, 10, { ...request, topics: byId });
    assert.deepEqual(
      ten.topics.map((topic) => [topic.topicId, name(topic.partitions[0]?.errorCode)]),
      [
        [topicId, 'NONE'],
        [unknownId, 'UNKNOWN_TOPIC_ID'],
      ],
    );
    const unknown = await client.send(OffsetCommitRequest, OffsetCommitResponse, 9, {
      ...request,
      groupId: 'none',
      generationIdOrMemberEpoch: 3,
    });
    const refused = unknown.topics.map((topic) => topic.partitions.map((p) => `${p.partitionIndex} ${name(p.errorCode)}`));
    assert.deepEqual(refused, [['7 UNKNOWN_TOPIC_OR_PARTITION', '0 GROUP_ID_NOT_FOUND'], ['0 UNKNOWN_TOPIC_OR_PARTITION']]);
  });

  test('OffsetCommit answers a topic that is named twice in both places, each partition in its own', async () => {
    const named = (partitionIndex: number) => ({ name: 'topic', partitions: [{ partitionIndex, committedOffset: 5 }] });
    const request = { groupId: 'twice', generationIdOrMemberEpoch: -1, topics: [named(0), named(9), named(1)] };
    for (const version of versionsOf(8).filter((candidate) => candidate < 10)) {
      const { topics } = await client.send(OffsetCommitRequest, OffsetCommitResponse, version, request);
      assert.deepEqual(
        topics.map((topic) => topic.partitions.map((p) => `${p.partitionIndex} ${name(p.errorCode)}`)),
        [['0 NONE'], ['9 UNKNOWN_TOPIC_OR_PARTITION'], ['1 NONE']],
        `version ${version}`,
      );
    }
  });

  test('LeaveGroup lets a static member go once, however often the request names it', async () => {
    const join = { groupId: 'leavers', sessionTimeoutMs: 10_000, rebalanceTimeoutMs: 10_000, memberId: '', groupInstanceId: 'one' };
    const protocols = [{ name: 'range', metadata: Buffer.alloc(0) }];
    const request = { ...join, protocolType: 'consumer', protocols };
    const { memberId } = await client.send(JoinGroupRequest, JoinGroupResponse, 5, request);
    const leave = {
      groupId: 'leavers',
      members: ['', '', 'other', memberId].map((id) => ({ memberId: id, groupInstanceId: 'one' })),
    };
    const left = await client.send(LeaveGroupRequest, LeaveGroupResponse, 3, leave);
    assert.deepEqual(
      left.members.map(({ errorCode }) => name(errorCode)),
      ['NONE', 'UNKNOWN_MEMBER_ID', 'UNKNOWN_MEMBER_ID', 'UNKNOWN_MEMBER_ID'],
    );
  });

  test('OffsetFetch finds what was committed, in every version', async () => {
    await commit('fetches', 12);
    for (const version of versionsOf(9).filter((each) => each > 0)) {
      const wanted = { name: 'topic', topicId, partitionIndexes: [0, 1] };
      const request =
        version >= 8
          ? { groups: [{ groupId: 'fetches', topics: [version >= 10 ? { ...wanted, name: '' } : wanted] }] }
          : { groupId: 'fetches', topics: [{ name: 'topic', partitionIndexes: [0, 1] }] };
      const answer = await client.send(OffsetFetchRequest, OffsetFetchResponse, version, request);
      const topics = version >= 8 ? answer.groups[0]?.topics : answer.topics;
      const found = topics?.[0]?.partitions.map((p) => `${p.partitionIndex}: ${p.committedOffset} ${p.metadata}`);
      assert.deepEqual(found, ['0: 12 note', '1: -1 '], `version ${version}`);
    }
    const all = await client.send(OffsetFetchRequest, OffsetFetchResponse, 5, { groupId: 'fetches', topics: null });
    assert.deepEqual(
      all.topics.map((topic) => [topic.name, topic.partitions.length]),
      [['topic', 1]],
    );
    const several = {
      groups: [
        { groupId: 'fetches', topics: null },
        { groupId: 'unknown', topics: null },
      ],
    };
    const { groups } = await client.send(OffsetFetchRequest, OffsetFetchResponse, 8, several);
    assert.deepEqual(
      groups.map(({ groupId, topics }) => [groupId, topics.length]),
      [
        ['fetches', 1],
        ['unknown', 0],
      ],
    );
    const byId = { groups: [{ groupId: 'fetches', topics: [{ topicId: unknownId, partitionIndexes: [0] }] }] };
    const ten = await client.send(OffsetFetchRequest, OffsetFetchResponse, 10, byId);
    assert.equal(name(ten.groups[0]?.topics[0]?.partitions[0]?.errorCode), 'UNKNOWN_TOPIC_ID');
  });

  test('DescribeGroups calls an unknown group dead, and from version 6 on an error', async () => {
    await commit('described', 1);
    for (const version of versionsOf(15)) {
      const request = { groups: ['described', 'unknown'], includeAuthorizedOperations: version >= 3 };
      const { groups } = await client.send(DescribeGroupsRequest, DescribeGroupsResponse, version, request);
      const [known, unknown] = groups;
      assert.deepEqual([name(known?.errorCode), known?.groupState], ['NONE', 'Empty']);
      assert.equal(known?.authorizedOperations, version >= 3 ? 0b1_1101_0100_1000 & 0xfff : -2147483648);
      assert.deepEqual([name(unknown?.errorCode), unknown?.groupState], [version >= 6 ? 'GROUP_ID_NOT_FOUND' : 'NONE', 'Dead']);
      assert.equal(unknown?.errorMessage, version >= 6 ? 'Group unknown not found.' : null);
    }
  });

  test('ListGroups filters by state and type, whatever their case', async () => {
    await commit('listed', 1);
    const heartbeat = {
      groupId: 'listed-consumer',
      memberId: 'm',
      rebalanceTimeoutMs: 1000,
      subscribedTopicNames: ['topic'],
      topicPartitions: [],
    };
    await client.send(ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse, 1, heartbeat);
    const listed = async (version: number, filters = {}): Promise<string[]> => {
      const { groups } = await client.send(ListGroupsRequest, ListGroupsResponse, version, filters);
      return groups
        .map(({ groupId }) => groupId)
        .filter((each) => each.startsWith('listed'))
        .sort();
    };
    for (const version of versionsOf(16)) assert.deepEqual(await listed(version), ['listed', 'listed-consumer']);
    assert.deepEqual(await listed(4, { statesFilter: ['EMPTY', 'dead'] }), ['listed']);
    assert.deepEqual(await listed(5, { typesFilter: ['Consumer'] }), ['listed-consumer']);
    assert.deepEqual(await listed(5, { typesFilter: ['classic'], statesFilter: ['stable'] }), []);
  });

  test('DeleteGroups and OffsetDelete answer for each', async () => {
    await commit('deleted', 1);
    await commit('deleted', 2, 1);
    const partitions = [{ partitionIndex: 0 }, { partitionIndex: 9 }];
    const deletion = { groupId: 'deleted', topics: [{ name: 'topic', partitions }] };
    const offsets = await client.send(OffsetDeleteRequest, OffsetDeleteResponse, 0, deletion);
    assert.deepEqual(
      offsets.topics[0]?.partitions.map(({ errorCode }) => name(errorCode)),
      ['NONE', 'UNKNOWN_TOPIC_OR_PARTITION'],
    );
    const unknown = await client.send(OffsetDeleteRequest, OffsetDeleteResponse, 0, { ...deletion, groupId: 'unknown' });
    assert.equal(name(unknown.errorCode), 'GROUP_ID_NOT_FOUND');
    const twice = [1, 8, 0].map((partitionIndex) => ({ name: 'topic', partitions: [{ partitionIndex }] }));
    const again = await client.send(OffsetDeleteRequest, OffsetDeleteResponse, 0, { ...deletion, topics: twice });
    assert.deepEqual(
      again.topics.map((topic) => topic.partitions.map((p) => `${p.partitionIndex} ${name(p.errorCode)}`)),
      [['1 NONE'], ['8 UNKNOWN_TOPIC_OR_PARTITION'], ['0 NONE']],
    );
    for (const version of versionsOf(42)) {
      await commit('deleted', 3);
      const answer = await client.send(DeleteGroupsRequest, DeleteGroupsResponse, version, { groupsNames: ['deleted', 'unknown'] });
      assert.deepEqual(
        answer.results.map(({ errorCode }) => name(errorCode)),
        ['NONE', 'GROUP_ID_NOT_FOUND'],
      );
    }
  });

  test('ConsumerGroupHeartbeat assigns, and ConsumerGroupDescribe tells of it', async () => {
    const beat = { groupId: 'consumers', rebalanceTimeoutMs: 1000, subscribedTopicNames: ['topic'], topicPartitions: [] };
    const joined = await client.send(ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse, 0, beat);
    assert.equal(name(joined.errorCode), 'NONE');
    assert.match(joined.memberId ?? '', /^[\w-]{22}$/);
    assert.deepEqual(joined.assignment, { topicPartitions: [{ topicId, partitions: [0, 1] }] });
    const invalid = await client.send(ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse, 1, { ...beat, memberId: '' });
    assert.deepEqual([name(invalid.errorCode), invalid.errorMessage], ['INVALID_REQUEST', "MemberId can't be empty."]);
    for (const blank of [{ memberId: ' ' }, { groupId: ' ' }, { instanceId: ' ' }, { rackId: ' ' }]) {
      const refused = await client.send(ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse, 1, {
        ...beat,
        memberId: 'member',
        ...blank,
      });
      assert.equal(name(refused.errorCode), 'INVALID_REQUEST', JSON.stringify(blank));
    }
    for (const version of versionsOf(69)) {
      const request = { groupIds: ['consumers', 'unknown', ''], includeAuthorizedOperations: true };
      const { groups } = await client.send(ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse, version, request);
      assert.deepEqual(
        groups.map(({ errorCode }) => name(errorCode)),
        ['NONE', 'GROUP_ID_NOT_FOUND', 'INVALID_GROUP_ID'],
      );
      const [{ groupState, assignorName, members } = { groupState: '', assignorName: '', members: [] }] = groups;
      assert.deepEqual([groupState, assignorName, members[0]?.memberType], ['Stable', 'uniform', version >= 1 ? 1 : -1]);
      assert.deepEqual(members[0]?.assignment.topicPartitions, [{ topicId, topicName: 'topic', partitions: [0, 1] }]);
    }
  });

  test('the lag of a group is told in records and in milliseconds', async () => {
    const lagOf = (metric: string): number | undefined => {
      for (const series of broker.metrics.series()) {
        const { group, partition } = series.labels;
        if (series.name === metric && group === 'behind' && partition === '1' && 'value' in series) return series.value;
      }
      return undefined;
    };
    await commit('behind', 0, 1);
    assert.equal(lagOf('group_lag'), 0);
    assert.equal(lagOf('group_lag_ms'), 0);
    const hourAgo = Date.now() - 3_600_000;
    const records = buildRecordBatch(
      {},
      [1, 2, 3].map((n) => ({ timestamp: hourAgo + n * 1000, key: null, value: Buffer.from(`${n}`) })),
    );
    const topicData = [{ name: 'topic', partitionData: [{ index: 1, records }] }];
    await client.send(ProduceRequest, ProduceResponse, 9, { acks: -1, timeoutMs: 1000, topicData });
    assert.equal(lagOf('group_lag'), 3);
    const lagMs = await until('the time of the record is read', () => lagOf('group_lag_ms'));
    assert.ok(lagMs >= 3_599_000 && lagMs < 3_700_000, String(lagMs));
    await commit('behind', 2, 1);
    assert.equal(lagOf('group_lag'), 1);
    await commit('behind', 3, 1);
    assert.deepEqual([lagOf('group_lag'), lagOf('group_lag_ms')], [0, 0]);
  });
});
