// What is answered to somebody who is denied one operation on a topic that it asks for, and allowed all others.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import * as p from '@odradek/protocol';
import { until } from '@odradek/testing';
import { batchOf, createTopic } from '../../handlers/broker-requests.fixture.ts';
import { errorsIn, GuardedBroker, onResource } from './guarded-broker.fixture.ts';

const broker = new GuardedBroker();

before(async () => {
  await broker.start();
  for (const operation of ['Read', 'Write', 'Describe', 'Delete', 'Alter', 'AlterConfigs', 'DescribeConfigs']) {
    const topic = `no-${operation.toLowerCase()}`;
    await createTopic(broker.client, topic);
    await broker.deny('Topic', topic, operation);
  }
});
after(() => broker.close());

const partition = (name: string) => ({ name, partitions: [{ partitionIndex: 0, timestamp: -1, offset: 0, count: 2 }] });

const onTopics: readonly (readonly [what: string, action: () => Promise<unknown>])[] = [
  [
    'ListOffsets: Describe',
    broker.ask(p.ListOffsetsRequest, p.ListOffsetsResponse, 7, { replicaId: -1, topics: [partition('no-describe')] }),
  ],
  [
    'DeleteRecords: Delete',
    broker.ask(p.DeleteRecordsRequest, p.DeleteRecordsResponse, 2, { timeoutMs: 1000, topics: [partition('no-delete')] }),
  ],
  [
    'DescribeProducers: Read',
    broker.ask(p.DescribeProducersRequest, p.DescribeProducersResponse, 0, {
      topics: [{ name: 'no-read', partitionIndexes: [0] }],
    }),
  ],
  [
    'CreatePartitions: Alter',
    broker.ask(p.CreatePartitionsRequest, p.CreatePartitionsResponse, 3, {
      timeoutMs: 1000,
      topics: [{ name: 'no-alter', count: 2, assignments: null }],
    }),
  ],
  [
    'DeleteTopics: Delete',
    broker.ask(p.DeleteTopicsRequest, p.DeleteTopicsResponse, 6, { timeoutMs: 1000, topics: [{ name: 'no-delete' }] }),
  ],
  [
    'DeleteTopics of old: Delete',
    broker.ask(p.DeleteTopicsRequest, p.DeleteTopicsResponse, 3, { timeoutMs: 1000, topicNames: ['no-delete'] }),
  ],
  ['Metadata: Describe', broker.ask(p.MetadataRequest, p.MetadataResponse, 12, { topics: [{ name: 'no-describe' }] })],
  [
    'DescribeTopicPartitions: Describe',
    broker.ask(p.DescribeTopicPartitionsRequest, p.DescribeTopicPartitionsResponse, 0, { topics: [{ name: 'no-describe' }] }),
  ],
  [
    'DescribeConfigs: DescribeConfigs',
    broker.ask(p.DescribeConfigsRequest, p.DescribeConfigsResponse, 4, onResource(2, 'no-describeconfigs')),
  ],
  ['AlterConfigs: AlterConfigs', broker.ask(p.AlterConfigsRequest, p.AlterConfigsResponse, 2, onResource(2, 'no-alterconfigs'))],
  [
    'IncrementalAlterConfigs: AlterConfigs',
    broker.ask(p.IncrementalAlterConfigsRequest, p.IncrementalAlterConfigsResponse, 1, onResource(2, 'no-alterconfigs')),
  ],
  [
    'OffsetCommit: Read',
    broker.ask(p.OffsetCommitRequest, p.OffsetCommitResponse, 9, {
      groupId: 'free',
      topics: [{ name: 'no-read', partitions: [{ partitionIndex: 0, committedOffset: 1, committedMetadata: '' }] }],
    }),
  ],
  [
    'OffsetFetch: Describe',
    broker.ask(p.OffsetFetchRequest, p.OffsetFetchResponse, 8, {
      groups: [{ groupId: 'free', topics: [{ name: 'no-describe', partitionIndexes: [0] }] }],
    }),
  ],
  [
    'OffsetFetch of old: Describe',
    broker.ask(p.OffsetFetchRequest, p.OffsetFetchResponse, 5, {
      groupId: 'free',
      topics: [{ name: 'no-describe', partitionIndexes: [0] }],
    }),
  ],
  [
    'ConsumerGroupHeartbeat: Describe',
    broker.ask(p.ConsumerGroupHeartbeatRequest, p.ConsumerGroupHeartbeatResponse, 1, {
      groupId: 'free-2',
      memberId: 'AAAAAAAAAAAAAAAAAAAAEA',
      rebalanceTimeoutMs: 1000,
      subscribedTopicNames: ['no-describe'],
      topicPartitions: [],
    }),
  ],
];

describe('a topic on which one operation is denied', () => {
  for (const [what, action] of onTopics) {
    test(what, async () => assert.deepEqual(errorsIn(await action()), ['TOPIC_AUTHORIZATION_FAILED']));
  }

  const produced = (acks: number) => ({
    acks,
    timeoutMs: 1000,
    topicData: ['no-write', 'free'].map((name) => ({ name, partitionData: [{ index: 0, records: batchOf('v') }] })),
  });

  test('Produce: Write, beside one that is allowed', async () => {
    const { responses } = await broker.client.send(p.ProduceRequest, p.ProduceResponse, 9, produced(1));
    const codes = new Map(responses.map(({ name, partitionResponses }) => [name, partitionResponses[0]?.errorCode]));
    assert.deepEqual([...codes].sort(), [
      ['free', 0],
      ['no-write', p.errorCodes.TOPIC_AUTHORIZATION_FAILED],
    ]);
  });

  test('Produce without acknowledgement loses its connection', async () => {
    const other = await broker.newClient();
    await assert.rejects(other.send(p.ProduceRequest, p.ProduceResponse, 9, produced(0)));
  });

  test('Fetch: Read, in a session too', async () => {
    const topics = ['no-read', 'free'].map((topic) => ({
      topic,
      partitions: [{ partition: 0, fetchOffset: 0, partitionMaxBytes: 1000 }],
    }));
    const first = await broker.client.send(p.FetchRequest, p.FetchResponse, 12, { maxWaitMs: 0, sessionEpoch: 0, topics });
    const { sessionId } = first;
    const second = await broker.client.send(p.FetchRequest, p.FetchResponse, 12, {
      maxWaitMs: 0,
      sessionId,
      sessionEpoch: 1,
      topics: [],
    });
    for (const { responses } of [first, second]) {
      const refused = responses.find(({ topic }) => topic === 'no-read');
      assert.equal(refused?.partitions[0]?.errorCode, p.errorCodes.TOPIC_AUTHORIZATION_FAILED);
    }
    assert.equal(first.responses.find(({ topic }) => topic === 'free')?.partitions[0]?.errorCode, 0);
  });

  test('is not found by the expression of a member of a group', async () => {
    const member = { groupId: 'regex', memberId: 'AAAAAAAAAAAAAAAAAAAAEB', rebalanceTimeoutMs: 10_000 };
    const joining = { ...member, memberEpoch: 0, subscribedTopicRegex: 'no-(describe|alter)', topicPartitions: [] };
    const beat = async (memberEpoch: number) =>
      await broker.client.send(
        p.ConsumerGroupHeartbeatRequest,
        p.ConsumerGroupHeartbeatResponse,
        1,
        memberEpoch === 0 ? joining : { ...member, memberEpoch },
      );
    let { memberEpoch } = await beat(0);
    const assigned = await until('the expression is looked up', async () => {
      const answer = await beat(memberEpoch);
      memberEpoch = answer.memberEpoch;
      return answer.assignment?.topicPartitions.length ? answer.assignment.topicPartitions : undefined;
    });
    const { topics } = await broker.client.send(p.MetadataRequest, p.MetadataResponse, 12, { topics: [{ name: 'no-alter' }] });
    assert.deepEqual(
      assigned.map((topic) => topic.topicId),
      [topics[0]?.topicId],
    );
  });

  test('is hidden from who asks for all', async () => {
    const all = await broker.client.send(p.MetadataRequest, p.MetadataResponse, 12, { topics: null });
    const old = await broker.client.send(p.MetadataRequest, p.MetadataResponse, 0, { topics: [] });
    const pages = await broker.client.send(p.DescribeTopicPartitionsRequest, p.DescribeTopicPartitionsResponse, 0, { topics: [] });
    for (const { topics } of [all, old, pages]) {
      const names = topics.map(({ name }) => name);
      assert.ok(names.includes('free') && !names.includes('no-describe'), names.join());
    }
    const none = await broker.client.send(p.MetadataRequest, p.MetadataResponse, 0, { topics: [{ name: 'no-describe' }] });
    assert.deepEqual(
      none.topics.map(({ name, errorCode }) => [name, errorCode]),
      [['no-describe', p.errorCodes.TOPIC_AUTHORIZATION_FAILED]],
    );
  });

  test('is refused whether it is there or not', async () => {
    await broker.deny('Topic', 'absent', 'Describe');
    const { topics } = await broker.client.send(p.MetadataRequest, p.MetadataResponse, 12, { topics: [{ name: 'absent' }] });
    assert.equal(topics[0]?.errorCode, p.errorCodes.TOPIC_AUTHORIZATION_FAILED);
  });

  test('tells what else may be done', async () => {
    const topics = [{ name: 'no-read' }, { name: 'free' }];
    const request = { topics, includeTopicAuthorizedOperations: true };
    const answer = await broker.client.send(p.MetadataRequest, p.MetadataResponse, 12, request);
    const bits = new Map(answer.topics.map(({ name, topicAuthorizedOperations }) => [name, topicAuthorizedOperations]));
    assert.equal((bits.get('free') ?? 0) - (bits.get('no-read') ?? 0), 1 << 3);
  });
});
