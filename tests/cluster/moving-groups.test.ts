// Groups move with the leader of their partition of `__consumer_offsets`: the new coordinator has what was committed, the old one
// sends everybody away, and what never reached the replicas is nowhere.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import {
  ConsumerGroupDescribeRequest,
  ConsumerGroupDescribeResponse,
  ConsumerGroupHeartbeatRequest,
  ConsumerGroupHeartbeatResponse,
  CreateTopicsRequest,
  CreateTopicsResponse,
  ElectLeadersRequest,
  ElectLeadersResponse,
  errorByCode,
  FetchRequest,
  FindCoordinatorRequest,
  FindCoordinatorResponse,
  HeartbeatRequest,
  HeartbeatResponse,
  JoinGroupRequest,
  JoinGroupResponse,
  MetadataRequest,
  MetadataResponse,
  OffsetCommitRequest,
  OffsetCommitResponse,
  OffsetFetchRequest,
  OffsetFetchResponse,
  SyncGroupRequest,
  SyncGroupResponse,
} from '@odradek/protocol';
import { type InProcessCluster, type PeerRequest, type RawClient, startCluster, until } from '@odradek/testing';

const internalTopic = '__consumer_offsets';
const name = (code: number | undefined): string => (code === undefined ? 'no answer' : errorByCode(code).name);

describe('groups in a cluster', () => {
  let cluster: InProcessCluster;

  beforeEach(async () => {
    const properties = {
      'offsets.topic.num.partitions': 1,
      'offsets.topic.replication.factor': 3,
      'offsets.commit.timeout.ms': 500,
      'min.insync.replicas': 2,
      'auto.leader.rebalance.enable': false,
      'group.consumer.assignment.interval.ms': 0,
    };
    cluster = await startCluster({ brokers: 3, properties });
    const request = { topics: [{ name: 't', numPartitions: 2, replicationFactor: 3 }], timeoutMs: 10_000 };
    const client = await cluster.client((await metadata()).controllerId);
    const { topics } = await client.send(CreateTopicsRequest, CreateTopicsResponse, 7, request);
    assert.equal(name(topics[0]?.errorCode), 'NONE');
    await untilAllAreInSync('t');
    await coordinatorOf('g');
    await untilAllAreInSync(internalTopic);
  });
  afterEach(() => cluster.close());

  async function metadata(topic?: string): Promise<MetadataResponse> {
    const client = await cluster.client(cluster.brokerIds[0] ?? 0);
    const topics = topic === undefined ? [] : [{ name: topic }];
    return client.send(MetadataRequest, MetadataResponse, 12, { topics, allowAutoTopicCreation: false });
  }

  function untilAllAreInSync(topic: string, count = cluster.brokerIds.length): Promise<unknown> {
    return until(`${count} replicas of ${topic} are in sync`, async () => {
      const { partitions = [] } = (await metadata(topic)).topics[0] ?? {};
      return partitions.length > 0 && partitions.every(({ isrNodes, leaderId }) => isrNodes.length === count && leaderId >= 0);
    });
  }

  /** The broker that coordinates the group, as all brokers say, once it does. */
  function coordinatorOf(group: string): Promise<number> {
    return until('all agree on a coordinator that answers', async () => {
      const named = new Set<number>();
      for (const id of cluster.brokerIds) {
        const client = await cluster.client(id);
        const found = await client.send(FindCoordinatorRequest, FindCoordinatorResponse, 2, { key: group, keyType: 0 });
        named.add(found.errorCode === 0 ? found.nodeId : -1);
      }
      const [id = -1] = named;
      if (named.size !== 1 || !cluster.brokerIds.includes(id)) return undefined;
      return (await committed(await cluster.client(id), group)) === 'no coordinator' ? undefined : id;
    });
  }

  /** The committed offset, the name of an error, or that this broker does not coordinate the group (yet). */
  async function committed(client: RawClient, groupId: string): Promise<number | string> {
    const topics = [{ name: 't', partitionIndexes: [0] }];
    const answer = await client.send(OffsetFetchRequest, OffsetFetchResponse, 7, { groupId, topics });
    if (['NOT_COORDINATOR', 'COORDINATOR_LOAD_IN_PROGRESS'].includes(name(answer.errorCode))) return 'no coordinator';
    return answer.errorCode === 0 ? (answer.topics[0]?.partitions[0]?.committedOffset ?? Number.NaN) : name(answer.errorCode);
  }

  async function commit(client: RawClient, groupId: string, committedOffset: number, member = nobody): Promise<string> {
    const topics = [{ name: 't', partitions: [{ partitionIndex: 0, committedOffset, committedMetadata: '' }] }];
    const request = { groupId, memberId: member.memberId, generationIdOrMemberEpoch: member.epoch, topics };
    const answer = await client.send(OffsetCommitRequest, OffsetCommitResponse, 9, request);
    return name(answer.topics[0]?.partitions[0]?.errorCode);
  }

  interface Member {
    readonly memberId: string;
    readonly epoch: number;
  }
  const nobody: Member = { memberId: '', epoch: -1 };

  async function joinClassic(client: RawClient, groupId: string): Promise<Member> {
    const protocols = [{ name: 'range', metadata: Buffer.alloc(0) }];
    const request = { groupId, sessionTimeoutMs: 60_000, rebalanceTimeoutMs: 60_000, protocolType: 'consumer', protocols };
    const joined = await client.send(JoinGroupRequest, JoinGroupResponse, 3, request);
    const { memberId, generationId } = joined;
    const assignments = [{ memberId, assignment: Buffer.from('all') }];
    const synced = await client.send(SyncGroupRequest, SyncGroupResponse, 3, { groupId, memberId, generationId, assignments });
    assert.deepEqual([name(joined.errorCode), name(synced.errorCode)], ['NONE', 'NONE']);
    return { memberId, epoch: generationId };
  }

  async function beatClassic(client: RawClient, groupId: string, { memberId, epoch }: Member): Promise<string> {
    const beat = { groupId, memberId, generationId: epoch };
    return name((await client.send(HeartbeatRequest, HeartbeatResponse, 3, beat)).errorCode);
  }

  async function beatConsumer(client: RawClient, groupId: string, member: Member): Promise<[string, Member]> {
    const joining = { rebalanceTimeoutMs: 60_000, subscribedTopicNames: ['t'], topicPartitions: [] };
    const heard = await client.send(ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse, 1, {
      groupId,
      memberId: member.memberId,
      memberEpoch: member.epoch,
      ...(member.epoch === 0 ? joining : {}),
    });
    return [name(heard.errorCode), { memberId: member.memberId, epoch: heard.memberEpoch }];
  }

  test('find their members, generations, epochs and offsets with the new coordinator, and are sent away by the old', async () => {
    const first = await coordinatorOf('g');
    const old = await cluster.client(first);
    const classic = await joinClassic(old, 'classic');
    const [joined, consumer] = await beatConsumer(old, 'consumer', { memberId: 'member', epoch: 0 });
    assert.equal(joined, 'NONE');
    assert.equal(await commit(old, 'classic', 11, classic), 'NONE');
    assert.equal(await commit(old, 'consumer', 12, consumer), 'NONE');
    for (const id of cluster.brokerIds.filter((each) => each !== first)) {
      const other = await cluster.client(id);
      assert.equal(await commit(other, 'classic', 99, classic), 'NOT_COORDINATOR');
      assert.equal(await beatClassic(other, 'classic', classic), 'NOT_COORDINATOR');
      assert.equal((await beatConsumer(other, 'consumer', consumer))[0], 'NOT_COORDINATOR');
      assert.equal(await committed(other, 'classic'), 'no coordinator');
    }

    await cluster.killBroker(first);
    const second = await coordinatorOf('g');
    assert.notEqual(second, first);
    const client = await cluster.client(second);
    await assertGoesOn(client, classic, consumer, 11, 12);

    // It comes back, and is made the leader again while everybody lives.
    await cluster.startBroker(first);
    await untilAllAreInSync(internalTopic);
    await elect();
    assert.equal(await coordinatorOf('g'), first);
    assert.equal(await beatClassic(client, 'classic', classic), 'NOT_COORDINATOR');
    await assertGoesOn(await cluster.client(first), classic, consumer, 21, 22);
  });

  async function assertGoesOn(client: RawClient, classic: Member, consumer: Member, a: number, b: number): Promise<void> {
    assert.deepEqual([await committed(client, 'classic'), await committed(client, 'consumer')], [a, b]);
    assert.equal(await beatClassic(client, 'classic', classic), 'NONE');
    assert.deepEqual(await beatConsumer(client, 'consumer', consumer), ['NONE', consumer]);
    const { groups } = await client.send(ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse, 1, {
      groupIds: ['consumer'],
    });
    assert.deepEqual([groups[0]?.groupState, groups[0]?.groupEpoch], ['Stable', consumer.epoch]);
    assert.equal(await commit(client, 'classic', a + 10, classic), 'NONE');
    assert.equal(await commit(client, 'consumer', b + 10, consumer), 'NONE');
  }

  async function elect(): Promise<void> {
    const client = await cluster.client((await metadata()).controllerId);
    const topicPartitions = [{ topic: internalTopic, partitions: [0] }];
    const request = { electionType: 0, topicPartitions, timeoutMs: 10_000 };
    const { replicaElectionResults } = await client.send(ElectLeadersRequest, ElectLeadersResponse, 2, request);
    assert.equal(name(replicaElectionResults[0]?.partitionResult[0]?.errorCode), 'NONE');
  }

  test('lose what no replica has when their coordinator dies, and it does not come back with it', async () => {
    const first = await coordinatorOf('g');
    const client = await cluster.client(first);
    assert.equal(await commit(client, 'g', 1), 'NONE');
    // Followers ask the leader no more, so that nothing new can be committed.
    const held: PeerRequest[] = [];
    const release = cluster.intercept(FetchRequest.apiKey ?? -1, (request) => {
      if (request.to === first) held.push(request);
      else request.forward();
    });
    await until('both followers are held', () => new Set(held.map(({ from }) => from)).size === 2);
    assert.equal(await commit(client, 'g', 2), 'COORDINATOR_NOT_AVAILABLE');
    // Nobody is told of an offset that may yet be lost.
    assert.equal(await committed(client, 'g'), 'no coordinator');
    await cluster.killBroker(first);
    release();

    const second = await coordinatorOf('g');
    assert.equal(await committed(await cluster.client(second), 'g'), 1);
    assert.equal(await commit(await cluster.client(second), 'g', 3), 'NONE');
    await cluster.startBroker(first);
    await untilAllAreInSync(internalTopic);
    await elect();
    assert.equal(await coordinatorOf('g'), first);
    assert.equal(await committed(await cluster.client(first), 'g'), 3);
  });

  test('take no commit while too few replicas are in sync, and go on when there are enough', async () => {
    const coordinator = await coordinatorOf('g');
    const client = await cluster.client(coordinator);
    const member = await joinClassic(client, 'g');
    assert.equal(await commit(client, 'g', 1, member), 'NONE');
    const others = cluster.brokerIds.filter((id) => id !== coordinator);
    for (const id of others) await cluster.killBroker(id);
    await untilAllAreInSync(internalTopic, 1);
    assert.equal(await commit(client, 'g', 2, member), 'COORDINATOR_NOT_AVAILABLE');
    assert.equal(await committed(client, 'g'), 1);
    assert.equal(await beatClassic(client, 'g', member), 'NONE');
    for (const id of others) await cluster.startBroker(id);
    await untilAllAreInSync(internalTopic, 3);
    assert.equal(await commit(client, 'g', 3, member), 'NONE');
    assert.equal(await committed(client, 'g'), 3);
  });

  test('do not notice that a follower of their partition has gone: who waits in a rebalance goes on waiting', async () => {
    const coordinator = await coordinatorOf('g');
    const client = await cluster.client(coordinator);
    const member = await joinClassic(client, 'g');
    const protocols = [{ name: 'range', metadata: Buffer.alloc(0) }];
    const request = { groupId: 'g', sessionTimeoutMs: 60_000, rebalanceTimeoutMs: 60_000, protocolType: 'consumer', protocols };
    const waiting = cluster.client(coordinator).then((other) => other.send(JoinGroupRequest, JoinGroupResponse, 3, request));
    await until('the group rebalances', async () => (await beatClassic(client, 'g', member)) === 'REBALANCE_IN_PROGRESS');
    const [follower = -1] = cluster.brokerIds.filter((id) => id !== coordinator);
    await cluster.killBroker(follower);
    await untilAllAreInSync(internalTopic, 2);
    assert.equal(await beatClassic(client, 'g', member), 'REBALANCE_IN_PROGRESS');
    assert.equal(await commit(client, 'g', 5, member), 'NONE');
    const again = await client.send(JoinGroupRequest, JoinGroupResponse, 3, { ...request, memberId: member.memberId });
    const joined = await waiting;
    assert.deepEqual([name(again.errorCode), name(joined.errorCode)], ['NONE', 'NONE']);
    assert.deepEqual([again.generationId, joined.generationId, again.members.length], [2, 2, 2]);
  });
});
