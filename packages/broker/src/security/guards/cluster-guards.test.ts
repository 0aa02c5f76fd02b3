// What is answered to somebody who is denied one operation on the cluster, and allowed all others.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import * as p from '@odradek/protocol';
import { errorByCode } from '@odradek/protocol';
import { clusterName } from '../acl.ts';
import { errorsIn, GuardedBroker, onResource } from './guarded-broker.fixture.ts';

const broker = new GuardedBroker();

before(async () => {
  await broker.start();
  await broker.deny('Group', 'no-describe', 'Describe');
});
after(() => broker.close());

const everyAcl = {
  resourceTypeFilter: 1,
  resourceNameFilter: null,
  principalFilter: null,
  hostFilter: null,
  operation: 1,
  permissionType: 1,
};

type OnCluster = readonly (readonly [operation: string, what: string, action: () => Promise<unknown>])[];
const onCluster: OnCluster = [
  ['Describe', 'DescribeAcls', broker.ask(p.DescribeAclsRequest, p.DescribeAclsResponse, 3, everyAcl)],
  ['Describe', 'DescribeLogDirs', broker.ask(p.DescribeLogDirsRequest, p.DescribeLogDirsResponse, 4, { topics: null })],
  [
    'Describe',
    'ListPartitionReassignments',
    broker.ask(p.ListPartitionReassignmentsRequest, p.ListPartitionReassignmentsResponse, 0, { timeoutMs: 1000, topics: null }),
  ],
  [
    'Describe',
    'DescribeUserScramCredentials',
    broker.ask(p.DescribeUserScramCredentialsRequest, p.DescribeUserScramCredentialsResponse, 0, { users: null }),
  ],
  [
    'DescribeConfigs',
    'DescribeConfigs of a broker',
    broker.ask(p.DescribeConfigsRequest, p.DescribeConfigsResponse, 4, onResource(4, '0')),
  ],
  [
    'DescribeConfigs',
    'ListConfigResources',
    broker.ask(p.ListConfigResourcesRequest, p.ListConfigResourcesResponse, 1, { resourceTypes: [] }),
  ],
  [
    'DescribeConfigs',
    'DescribeClientQuotas',
    broker.ask(p.DescribeClientQuotasRequest, p.DescribeClientQuotasResponse, 1, { components: [], strict: false }),
  ],
  [
    'AlterConfigs',
    'AlterClientQuotas',
    broker.ask(p.AlterClientQuotasRequest, p.AlterClientQuotasResponse, 1, {
      entries: [{ entity: [{ entityType: 'user', entityName: 'alice' }], ops: [] }],
    }),
  ],
  [
    'AlterConfigs',
    'IncrementalAlterConfigs of a broker',
    broker.ask(p.IncrementalAlterConfigsRequest, p.IncrementalAlterConfigsResponse, 1, onResource(4, '0')),
  ],
  ['ClusterAction', 'LeaderAndIsr', broker.ask(p.LeaderAndIsrRequest, p.LeaderAndIsrResponse, 7, { controllerEpoch: 9 })],
  [
    'ClusterAction',
    'AlterPartition',
    broker.ask(p.AlterPartitionRequest, p.AlterPartitionResponse, 3, { brokerId: 0, topics: [] }),
  ],
];
const onClusterLast: OnCluster = [
  [
    'Alter',
    'ElectLeaders',
    broker.ask(p.ElectLeadersRequest, p.ElectLeadersResponse, 2, { electionType: 0, topicPartitions: null, timeoutMs: 1000 }),
  ],
  [
    'Alter',
    'AlterPartitionReassignments',
    broker.ask(p.AlterPartitionReassignmentsRequest, p.AlterPartitionReassignmentsResponse, 0, { timeoutMs: 1000, topics: [] }),
  ],
  [
    'Alter',
    'AlterReplicaLogDirs',
    broker.ask(p.AlterReplicaLogDirsRequest, p.AlterReplicaLogDirsResponse, 2, {
      dirs: [{ path: '/x', topics: [{ name: 'free', partitions: [0] }] }],
    }),
  ],
  [
    'Alter',
    'AlterUserScramCredentials',
    broker.ask(p.AlterUserScramCredentialsRequest, p.AlterUserScramCredentialsResponse, 0, {
      deletions: [{ name: 'alice', mechanism: 1 }],
      upsertions: [],
    }),
  ],
  [
    'Alter',
    'CreateAcls',
    broker.ask(p.CreateAclsRequest, p.CreateAclsResponse, 3, {
      creations: [{ resourceType: 2, resourceName: 'x', principal: 'User:a', host: '*', operation: 3, permissionType: 3 }],
    }),
  ],
  ['Alter', 'DeleteAcls', broker.ask(p.DeleteAclsRequest, p.DeleteAclsResponse, 3, { filters: [everyAcl] })],
];

describe('the cluster, on which one operation is denied', () => {
  for (const [operation, what, action] of onCluster) {
    test(`${what}: ${operation}`, async () => {
      await broker.deny('Cluster', clusterName, operation);
      try {
        assert.deepEqual(errorsIn(await action()), ['CLUSTER_AUTHORIZATION_FAILED']);
      } finally {
        await broker.forgetCluster();
      }
    });
  }

  test('CreateTopics: Create, unless the topic itself may be created', async () => {
    await broker.deny('Cluster', clusterName, 'Create');
    await broker.deny('Topic', 'no-create', 'Create');
    const topics = ['no-create', 'may-create'].map((name) => ({ name, numPartitions: 1, replicationFactor: 1 }));
    const answer = await broker.client.send(p.CreateTopicsRequest, p.CreateTopicsResponse, 7, { topics, timeoutMs: 10_000 });
    const auto = await broker.client.send(p.MetadataRequest, p.MetadataResponse, 12, { topics: [{ name: 'no-create' }] });
    await broker.forgetCluster();
    assert.deepEqual(answer.topics.map(({ name, errorCode }) => [name, errorByCode(errorCode).name]).sort(), [
      ['may-create', 'NONE'],
      ['no-create', 'TOPIC_AUTHORIZATION_FAILED'],
    ]);
    assert.deepEqual(errorsIn(auto), ['TOPIC_AUTHORIZATION_FAILED']);
  });

  test('ListGroups: Describe, and then only what may be described itself', async () => {
    for (const id of ['seen', 'no-describe']) {
      await broker.client.send(p.OffsetCommitRequest, p.OffsetCommitResponse, 9, {
        groupId: id,
        topics: [{ name: 'free', partitions: [{ partitionIndex: 0, committedOffset: 1, committedMetadata: '' }] }],
      });
    }
    const listed = async (): Promise<string[]> =>
      (await broker.client.send(p.ListGroupsRequest, p.ListGroupsResponse, 4, {})).groups.map(({ groupId: id }) => id).sort();
    const all = await listed();
    assert.ok(all.includes('no-describe') && all.includes('seen'));
    await broker.deny('Cluster', clusterName, 'Describe');
    const fewer = await listed();
    await broker.forgetCluster();
    assert.deepEqual(
      fewer,
      all.filter((id) => id !== 'no-describe'),
    );
  });

  test('InitProducerId: IdempotentWrite, or Write on any topic', async () => {
    await broker.deny('Cluster', clusterName, 'IdempotentWrite');
    const initialize = broker.ask(p.InitProducerIdRequest, p.InitProducerIdResponse, 4, {
      transactionalId: null,
      transactionTimeoutMs: 1000,
    });
    assert.deepEqual(errorsIn(await initialize()), []);
    await broker.deny('Topic', '*', 'Write');
    assert.deepEqual(errorsIn(await initialize()), ['CLUSTER_AUTHORIZATION_FAILED']);
    await broker.forgetCluster();
  });

  test('DescribeCluster tells what may be done', async () => {
    const describeCluster = broker.ask(p.DescribeClusterRequest, p.DescribeClusterResponse, 1, {
      includeClusterAuthorizedOperations: true,
    });
    const all = (await describeCluster()).clusterAuthorizedOperations;
    await broker.deny('Cluster', clusterName, 'ClusterAction');
    const some = (await describeCluster()).clusterAuthorizedOperations;
    await broker.forgetCluster();
    assert.equal(all - some, 1 << 9);
  });

  // The last: what is denied here cannot be allowed again.
  for (const [operation, what, action] of onClusterLast) {
    test(`${what}: ${operation}`, async () => {
      if (what === 'ElectLeaders') await broker.deny('Cluster', clusterName, operation);
      assert.deepEqual(errorsIn(await action()), ['CLUSTER_AUTHORIZATION_FAILED']);
    });
  }
});
