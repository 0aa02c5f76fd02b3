// What each API answers to somebody who is denied one operation on what it asks for, and allowed all others.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import * as p from '@odradek/protocol';
import { errorByCode, type Message, type MessageDefinition, type MessageInit } from '@odradek/protocol';
import { InProcessBroker, type RawClient, until } from '@odradek/testing';
import { batchOf, createTopic } from '../../handlers/broker-requests.fixture.ts';
import { clusterName, operationNumbers } from '../acl.ts';

const types = { Topic: 2, Group: 3, Cluster: 4, TransactionalId: 5 } as const;
const properties = {
  'authorizer.class.name': 'kafka.security.authorizer.AclAuthorizer',
  'allow.everyone.if.no.acl.found': true,
  'offsets.topic.num.partitions': 1,
  'group.initial.rebalance.delay.ms': 0,
};

let broker: InProcessBroker;
let client: RawClient;

/** Everything is allowed to everybody but this. */
async function deny(type: keyof typeof types, resourceName: string, operation: string): Promise<void> {
  const pattern = { resourceType: types[type], resourceName, resourcePatternType: 3, principal: 'User:ANONYMOUS', host: '*' };
  const { results } = await client.send(p.CreateAclsRequest, p.CreateAclsResponse, 3, {
    creations: [
      { ...pattern, operation: 2, permissionType: 3 },
      { ...pattern, operation: operationNumbers[operation] ?? -1, permissionType: 2 },
    ],
  });
  assert.deepEqual(
    results.map(({ errorCode }) => errorCode),
    [0, 0],
  );
}

async function forgetCluster(): Promise<void> {
  const filter = { resourceTypeFilter: 4, resourceNameFilter: clusterName, patternTypeFilter: 3, operation: 1, permissionType: 1 };
  const filters = [{ ...filter, principalFilter: null, hostFilter: null }];
  const { filterResults } = await client.send(p.DeleteAclsRequest, p.DeleteAclsResponse, 3, { filters });
  assert.equal(filterResults[0]?.matchingAcls.length, 2);
}

/** All error codes in an answer that are not NONE, by their names. */
function errorsIn(answer: unknown): string[] {
  const found = new Set<string>();
  const look = (value: unknown, key: string): void => {
    if (typeof value === 'number' && /errorCode$/i.test(key) && value !== 0) found.add(errorByCode(value).name);
    else if (Array.isArray(value)) for (const item of value) look(item, key);
    else if (typeof value === 'object' && value !== null && !(value instanceof Uint8Array)) {
      for (const [name, item] of Object.entries(value)) look(item, name);
    }
  };
  look(answer, '');
  return [...found];
}

function ask<Q extends MessageDefinition, A extends MessageDefinition>(
  request: Q,
  response: A,
  version: number,
  body: MessageInit<Q>,
): () => Promise<Message<A>> {
  return () => client.send(request, response, version, body);
}

before(async () => {
  broker = await InProcessBroker.start({ properties });
  client = await broker.client();
  for (const operation of ['read', 'write', 'describe', 'delete', 'alter', 'alterconfigs', 'describeconfigs']) {
    await createTopic(client, `no-${operation}`);
  }
  await createTopic(client, 'free');
  await until('groups are served', async () => {
    await client.send(p.FindCoordinatorRequest, p.FindCoordinatorResponse, 4, { keyType: 0, coordinatorKeys: ['free'] });
    const groups = [{ groupId: 'free', topics: null }];
    return errorsIn(await client.send(p.OffsetFetchRequest, p.OffsetFetchResponse, 8, { groups })).length === 0;
  });
  await deny('Topic', 'no-read', 'Read');
  await deny('Topic', 'no-write', 'Write');
  await deny('Topic', 'no-describe', 'Describe');
  await deny('Topic', 'no-delete', 'Delete');
  await deny('Topic', 'no-alter', 'Alter');
  await deny('Topic', 'no-alterconfigs', 'AlterConfigs');
  await deny('Topic', 'no-describeconfigs', 'DescribeConfigs');
  for (const operation of ['Read', 'Describe', 'Delete', 'AlterConfigs', 'DescribeConfigs']) {
    await deny('Group', `no-${operation.toLowerCase()}`, operation);
  }
  await deny('TransactionalId', 'no-write', 'Write');
  await deny('TransactionalId', 'no-describe', 'Describe');
});
after(() => broker?.close());

const partition = (name: string) => ({ name, partitions: [{ partitionIndex: 0, timestamp: -1, offset: 0, count: 2 }] });
const config = (resourceType: number, resourceName: string) => ({
  resources: [{ resourceType, resourceName, configs: [], configurationKeys: null }],
});

const onTopics: readonly (readonly [what: string, action: () => Promise<unknown>, code?: string])[] = [
  [
    'ListOffsets: Describe',
    ask(p.ListOffsetsRequest, p.ListOffsetsResponse, 7, { replicaId: -1, topics: [partition('no-describe')] }),
  ],
  [
    'DeleteRecords: Delete',
    ask(p.DeleteRecordsRequest, p.DeleteRecordsResponse, 2, { timeoutMs: 1000, topics: [partition('no-delete')] }),
  ],
  [
    'DescribeProducers: Read',
    ask(p.DescribeProducersRequest, p.DescribeProducersResponse, 0, { topics: [{ name: 'no-read', partitionIndexes: [0] }] }),
  ],
  [
    'CreatePartitions: Alter',
    ask(p.CreatePartitionsRequest, p.CreatePartitionsResponse, 3, {
      timeoutMs: 1000,
      topics: [{ name: 'no-alter', count: 2, assignments: null }],
    }),
  ],
  [
    'DeleteTopics: Delete',
    ask(p.DeleteTopicsRequest, p.DeleteTopicsResponse, 6, { timeoutMs: 1000, topics: [{ name: 'no-delete' }] }),
  ],
  [
    'DeleteTopics of old: Delete',
    ask(p.DeleteTopicsRequest, p.DeleteTopicsResponse, 3, { timeoutMs: 1000, topicNames: ['no-delete'] }),
  ],
  ['Metadata: Describe', ask(p.MetadataRequest, p.MetadataResponse, 12, { topics: [{ name: 'no-describe' }] })],
  [
    'DescribeTopicPartitions: Describe',
    ask(p.DescribeTopicPartitionsRequest, p.DescribeTopicPartitionsResponse, 0, { topics: [{ name: 'no-describe' }] }),
  ],
  [
    'DescribeConfigs: DescribeConfigs',
    ask(p.DescribeConfigsRequest, p.DescribeConfigsResponse, 4, config(2, 'no-describeconfigs')),
  ],
  ['AlterConfigs: AlterConfigs', ask(p.AlterConfigsRequest, p.AlterConfigsResponse, 2, config(2, 'no-alterconfigs'))],
  [
    'IncrementalAlterConfigs: AlterConfigs',
    ask(p.IncrementalAlterConfigsRequest, p.IncrementalAlterConfigsResponse, 1, config(2, 'no-alterconfigs')),
  ],
  [
    'OffsetCommit: Read',
    ask(p.OffsetCommitRequest, p.OffsetCommitResponse, 9, {
      groupId: 'free',
      topics: [{ name: 'no-read', partitions: [{ partitionIndex: 0, committedOffset: 1, committedMetadata: '' }] }],
    }),
  ],
  [
    'OffsetFetch: Describe',
    ask(p.OffsetFetchRequest, p.OffsetFetchResponse, 8, {
      groups: [{ groupId: 'free', topics: [{ name: 'no-describe', partitionIndexes: [0] }] }],
    }),
  ],
  [
    'OffsetFetch of old: Describe',
    ask(p.OffsetFetchRequest, p.OffsetFetchResponse, 5, {
      groupId: 'free',
      topics: [{ name: 'no-describe', partitionIndexes: [0] }],
    }),
  ],
  [
    'ConsumerGroupHeartbeat: Describe',
    ask(p.ConsumerGroupHeartbeatRequest, p.ConsumerGroupHeartbeatResponse, 1, {
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
    const { responses } = await client.send(p.ProduceRequest, p.ProduceResponse, 9, produced(1));
    const codes = new Map(responses.map(({ name, partitionResponses }) => [name, partitionResponses[0]?.errorCode]));
    assert.deepEqual([...codes].sort(), [
      ['free', 0],
      ['no-write', p.errorCodes.TOPIC_AUTHORIZATION_FAILED],
    ]);
  });

  test('Produce without acknowledgement loses its connection', async () => {
    const other = await broker.client();
    await assert.rejects(other.send(p.ProduceRequest, p.ProduceResponse, 9, produced(0)));
  });

  test('Fetch: Read, in a session too', async () => {
    const topics = ['no-read', 'free'].map((topic) => ({
      topic,
      partitions: [{ partition: 0, fetchOffset: 0, partitionMaxBytes: 1000 }],
    }));
    const first = await client.send(p.FetchRequest, p.FetchResponse, 12, { maxWaitMs: 0, sessionEpoch: 0, topics });
    const { sessionId } = first;
    const second = await client.send(p.FetchRequest, p.FetchResponse, 12, { maxWaitMs: 0, sessionId, sessionEpoch: 1, topics: [] });
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
      await client.send(
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
    const { topics } = await client.send(p.MetadataRequest, p.MetadataResponse, 12, { topics: [{ name: 'no-alter' }] });
    assert.deepEqual(
      assigned.map((topic) => topic.topicId),
      [topics[0]?.topicId],
    );
  });

  test('is hidden from who asks for all', async () => {
    const all = await client.send(p.MetadataRequest, p.MetadataResponse, 12, { topics: null });
    const old = await client.send(p.MetadataRequest, p.MetadataResponse, 0, { topics: [] });
    const pages = await client.send(p.DescribeTopicPartitionsRequest, p.DescribeTopicPartitionsResponse, 0, { topics: [] });
    for (const { topics } of [all, old, pages]) {
      const names = topics.map(({ name }) => name);
      assert.ok(names.includes('free') && !names.includes('no-describe'), names.join());
    }
    const none = await client.send(p.MetadataRequest, p.MetadataResponse, 0, { topics: [{ name: 'no-describe' }] });
    assert.deepEqual(
      none.topics.map(({ name, errorCode }) => [name, errorCode]),
      [['no-describe', p.errorCodes.TOPIC_AUTHORIZATION_FAILED]],
    );
  });

  test('is refused whether it is there or not', async () => {
    await deny('Topic', 'absent', 'Describe');
    const { topics } = await client.send(p.MetadataRequest, p.MetadataResponse, 12, { topics: [{ name: 'absent' }] });
    assert.equal(topics[0]?.errorCode, p.errorCodes.TOPIC_AUTHORIZATION_FAILED);
  });

  test('tells what else may be done', async () => {
    const topics = [{ name: 'no-read' }, { name: 'free' }];
    const request = { topics, includeTopicAuthorizedOperations: true };
    const answer = await client.send(p.MetadataRequest, p.MetadataResponse, 12, request);
    const bits = new Map(answer.topics.map(({ name, topicAuthorizedOperations }) => [name, topicAuthorizedOperations]));
    assert.equal((bits.get('free') ?? 0) - (bits.get('no-read') ?? 0), 1 << 3);
  });
});

const groupId = (operation: string) => `no-${operation.toLowerCase()}`;
const onGroups: typeof onTopics = [
  [
    'FindCoordinator: Describe',
    ask(p.FindCoordinatorRequest, p.FindCoordinatorResponse, 4, { keyType: 0, coordinatorKeys: [groupId('Describe')] }),
  ],
  [
    'FindCoordinator of old: Describe',
    ask(p.FindCoordinatorRequest, p.FindCoordinatorResponse, 2, { keyType: 0, key: groupId('Describe') }),
  ],
  [
    'JoinGroup: Read',
    ask(p.JoinGroupRequest, p.JoinGroupResponse, 5, {
      groupId: groupId('Read'),
      sessionTimeoutMs: 10_000,
      memberId: '',
      protocolType: 'consumer',
      protocols: [],
    }),
  ],
  [
    'Heartbeat: Read',
    ask(p.HeartbeatRequest, p.HeartbeatResponse, 4, { groupId: groupId('Read'), generationId: 1, memberId: 'm' }),
  ],
  ['LeaveGroup: Read', ask(p.LeaveGroupRequest, p.LeaveGroupResponse, 4, { groupId: groupId('Read'), members: [] })],
  [
    'SyncGroup: Read',
    ask(p.SyncGroupRequest, p.SyncGroupResponse, 4, { groupId: groupId('Read'), generationId: 1, memberId: 'm', assignments: [] }),
  ],
  ['DescribeGroups: Describe', ask(p.DescribeGroupsRequest, p.DescribeGroupsResponse, 5, { groups: [groupId('Describe')] })],
  [
    'ConsumerGroupDescribe: Describe',
    ask(p.ConsumerGroupDescribeRequest, p.ConsumerGroupDescribeResponse, 1, { groupIds: [groupId('Describe')] }),
  ],
  ['DeleteGroups: Delete', ask(p.DeleteGroupsRequest, p.DeleteGroupsResponse, 2, { groupsNames: [groupId('Delete')] })],
  ['OffsetDelete: Delete', ask(p.OffsetDeleteRequest, p.OffsetDeleteResponse, 0, { groupId: groupId('Delete'), topics: [] })],
  [
    'OffsetCommit: Read',
    ask(p.OffsetCommitRequest, p.OffsetCommitResponse, 9, {
      groupId: groupId('Read'),
      topics: [{ name: 'free', partitions: [{ partitionIndex: 0, committedOffset: 1, committedMetadata: '' }] }],
    }),
  ],
  [
    'OffsetFetch: Describe',
    ask(p.OffsetFetchRequest, p.OffsetFetchResponse, 8, { groups: [{ groupId: groupId('Describe'), topics: null }] }),
  ],
  [
    'OffsetFetch of old: Describe',
    ask(p.OffsetFetchRequest, p.OffsetFetchResponse, 5, { groupId: groupId('Describe'), topics: null }),
  ],
  [
    'ConsumerGroupHeartbeat: Read',
    ask(p.ConsumerGroupHeartbeatRequest, p.ConsumerGroupHeartbeatResponse, 1, {
      groupId: groupId('Read'),
      memberId: 'AAAAAAAAAAAAAAAAAAAAEA',
      rebalanceTimeoutMs: 1000,
      subscribedTopicNames: ['free'],
      topicPartitions: [],
    }),
  ],
  [
    'DescribeConfigs: DescribeConfigs',
    ask(p.DescribeConfigsRequest, p.DescribeConfigsResponse, 4, config(32, groupId('DescribeConfigs'))),
  ],
  [
    'IncrementalAlterConfigs: AlterConfigs',
    ask(p.IncrementalAlterConfigsRequest, p.IncrementalAlterConfigsResponse, 1, config(32, groupId('AlterConfigs'))),
  ],
];

describe('a group on which one operation is denied', () => {
  for (const [what, action] of onGroups) {
    test(what, async () => assert.deepEqual(errorsIn(await action()), ['GROUP_AUTHORIZATION_FAILED']));
  }
});

describe('a transactional id on which one operation is denied', () => {
  for (const [what, action] of [
    [
      'InitProducerId: Write',
      ask(p.InitProducerIdRequest, p.InitProducerIdResponse, 4, { transactionalId: 'no-write', transactionTimeoutMs: 1000 }),
    ],
    [
      'FindCoordinator: Describe',
      ask(p.FindCoordinatorRequest, p.FindCoordinatorResponse, 4, { keyType: 1, coordinatorKeys: ['no-describe'] }),
    ],
  ] as const) {
    test(what, async () => assert.deepEqual(errorsIn(await action()), ['TRANSACTIONAL_ID_AUTHORIZATION_FAILED']));
  }
});

type OnCluster = readonly (readonly [operation: string, what: string, action: () => Promise<unknown>])[];
const onCluster: OnCluster = [
  [
    'Describe',
    'DescribeAcls',
    ask(p.DescribeAclsRequest, p.DescribeAclsResponse, 3, {
      resourceTypeFilter: 1,
      resourceNameFilter: null,
      principalFilter: null,
      hostFilter: null,
      operation: 1,
      permissionType: 1,
    }),
  ],
  ['Describe', 'DescribeLogDirs', ask(p.DescribeLogDirsRequest, p.DescribeLogDirsResponse, 4, { topics: null })],
  [
    'Describe',
    'ListPartitionReassignments',
    ask(p.ListPartitionReassignmentsRequest, p.ListPartitionReassignmentsResponse, 0, { timeoutMs: 1000, topics: null }),
  ],
  [
    'Describe',
    'DescribeUserScramCredentials',
    ask(p.DescribeUserScramCredentialsRequest, p.DescribeUserScramCredentialsResponse, 0, { users: null }),
  ],
  ['DescribeConfigs', 'DescribeConfigs of a broker', ask(p.DescribeConfigsRequest, p.DescribeConfigsResponse, 4, config(4, '0'))],
  [
    'DescribeConfigs',
    'ListConfigResources',
    ask(p.ListConfigResourcesRequest, p.ListConfigResourcesResponse, 1, { resourceTypes: [] }),
  ],
  [
    'DescribeConfigs',
    'DescribeClientQuotas',
    ask(p.DescribeClientQuotasRequest, p.DescribeClientQuotasResponse, 1, { components: [], strict: false }),
  ],
  [
    'AlterConfigs',
    'AlterClientQuotas',
    ask(p.AlterClientQuotasRequest, p.AlterClientQuotasResponse, 1, {
      entries: [{ entity: [{ entityType: 'user', entityName: 'alice' }], ops: [] }],
    }),
  ],
  [
    'AlterConfigs',
    'IncrementalAlterConfigs of a broker',
    ask(p.IncrementalAlterConfigsRequest, p.IncrementalAlterConfigsResponse, 1, config(4, '0')),
  ],
  ['ClusterAction', 'LeaderAndIsr', ask(p.LeaderAndIsrRequest, p.LeaderAndIsrResponse, 7, { controllerEpoch: 9 })],
  ['ClusterAction', 'AlterPartition', ask(p.AlterPartitionRequest, p.AlterPartitionResponse, 3, { brokerId: 0, topics: [] })],
];
const onClusterLast: OnCluster = [
  [
    'Alter',
    'ElectLeaders',
    ask(p.ElectLeadersRequest, p.ElectLeadersResponse, 2, { electionType: 0, topicPartitions: null, timeoutMs: 1000 }),
  ],
  [
    'Alter',
    'AlterPartitionReassignments',
    ask(p.AlterPartitionReassignmentsRequest, p.AlterPartitionReassignmentsResponse, 0, { timeoutMs: 1000, topics: [] }),
  ],
  [
    'Alter',
    'AlterReplicaLogDirs',
    ask(p.AlterReplicaLogDirsRequest, p.AlterReplicaLogDirsResponse, 2, {
      dirs: [{ path: '/x', topics: [{ name: 'free', partitions: [0] }] }],
    }),
  ],
  [
    'Alter',
    'AlterUserScramCredentials',
    ask(p.AlterUserScramCredentialsRequest, p.AlterUserScramCredentialsResponse, 0, {
      deletions: [{ name: 'alice', mechanism: 1 }],
      upsertions: [],
    }),
  ],
  [
    'Alter',
    'CreateAcls',
    ask(p.CreateAclsRequest, p.CreateAclsResponse, 3, {
      creations: [{ resourceType: 2, resourceName: 'x', principal: 'User:a', host: '*', operation: 3, permissionType: 3 }],
    }),
  ],
  [
    'Alter',
    'DeleteAcls',
    ask(p.DeleteAclsRequest, p.DeleteAclsResponse, 3, {
      filters: [
        {
          resourceTypeFilter: 1,
          resourceNameFilter: null,
          principalFilter: null,
          hostFilter: null,
          operation: 1,
          permissionType: 1,
        },
      ],
    }),
  ],
];

describe('the cluster, on which one operation is denied', () => {
  for (const [operation, what, action] of onCluster) {
    test(`${what}: ${operation}`, async () => {
      await deny('Cluster', clusterName, operation);
      try {
        assert.deepEqual(errorsIn(await action()), ['CLUSTER_AUTHORIZATION_FAILED']);
      } finally {
        await forgetCluster();
      }
    });
  }

  test('CreateTopics: Create, unless the topic itself may be created', async () => {
    await deny('Cluster', clusterName, 'Create');
    await deny('Topic', 'no-create', 'Create');
    const topics = ['no-create', 'may-create'].map((name) => ({ name, numPartitions: 1, replicationFactor: 1 }));
    const answer = await client.send(p.CreateTopicsRequest, p.CreateTopicsResponse, 7, { topics, timeoutMs: 10_000 });
    const auto = await client.send(p.MetadataRequest, p.MetadataResponse, 12, { topics: [{ name: 'no-create' }] });
    await forgetCluster();
    assert.deepEqual(answer.topics.map(({ name, errorCode }) => [name, errorByCode(errorCode).name]).sort(), [
      ['may-create', 'NONE'],
      ['no-create', 'TOPIC_AUTHORIZATION_FAILED'],
    ]);
    assert.deepEqual(errorsIn(auto), ['TOPIC_AUTHORIZATION_FAILED']);
  });

  test('ListGroups: Describe, and then only what may be described itself', async () => {
    for (const id of ['seen', 'no-describe']) {
      await client.send(p.OffsetCommitRequest, p.OffsetCommitResponse, 9, {
        groupId: id,
        topics: [{ name: 'free', partitions: [{ partitionIndex: 0, committedOffset: 1, committedMetadata: '' }] }],
      });
    }
    const listed = async (): Promise<string[]> =>
      (await client.send(p.ListGroupsRequest, p.ListGroupsResponse, 4, {})).groups.map(({ groupId: id }) => id).sort();
    const all = await listed();
    assert.ok(all.includes('no-describe') && all.includes('seen'));
    await deny('Cluster', clusterName, 'Describe');
    const fewer = await listed();
    await forgetCluster();
    assert.deepEqual(
      fewer,
      all.filter((id) => id !== 'no-describe'),
    );
  });

  test('InitProducerId: IdempotentWrite, or Write on any topic', async () => {
    await deny('Cluster', clusterName, 'IdempotentWrite');
    const initialize = ask(p.InitProducerIdRequest, p.InitProducerIdResponse, 4, {
      transactionalId: null,
      transactionTimeoutMs: 1000,
    });
    assert.deepEqual(errorsIn(await initialize()), []);
    await deny('Topic', '*', 'Write');
    assert.deepEqual(errorsIn(await initialize()), ['CLUSTER_AUTHORIZATION_FAILED']);
    await forgetCluster();
  });

  test('DescribeCluster tells what may be done', async () => {
    const describeCluster = ask(p.DescribeClusterRequest, p.DescribeClusterResponse, 1, {
      includeClusterAuthorizedOperations: true,
    });
    const all = (await describeCluster()).clusterAuthorizedOperations;
    await deny('Cluster', clusterName, 'ClusterAction');
    const some = (await describeCluster()).clusterAuthorizedOperations;
    await forgetCluster();
    assert.equal(all - some, 1 << 9);
  });

  // The last: what is denied here cannot be allowed again.
  for (const [operation, what, action] of onClusterLast) {
    test(`${what}: ${operation}`, async () => {
      if (what === 'ElectLeaders') await deny('Cluster', clusterName, operation);
      assert.deepEqual(errorsIn(await action()), ['CLUSTER_AUTHORIZATION_FAILED']);
    });
  }
});
