// What is answered to somebody who is denied one operation on a group, or a transactional id, that it asks for, and allowed all others.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import * as p from '@odradek/protocol';
import { errorsIn, GuardedBroker, onResource } from './guarded-broker.fixture.ts';

const broker = new GuardedBroker();

before(async () => {
  await broker.start();
  for (const operation of ['Read', 'Describe', 'Delete', 'AlterConfigs', 'DescribeConfigs']) {
    await broker.deny('Group', groupId(operation), operation);
  }
  await broker.deny('TransactionalId', 'no-write', 'Write');
  await broker.deny('TransactionalId', 'no-describe', 'Describe');
});
after(() => broker.close());

const groupId = (operation: string) => `no-${operation.toLowerCase()}`;
const onGroups: readonly (readonly [what: string, action: () => Promise<unknown>])[] = [
  [
    'FindCoordinator: Describe',
    broker.ask(p.FindCoordinatorRequest, p.FindCoordinatorResponse, 4, { keyType: 0, coordinatorKeys: [groupId('Describe')] }),
  ],
  [
    'FindCoordinator of old: Describe',
    broker.ask(p.FindCoordinatorRequest, p.FindCoordinatorResponse, 2, { keyType: 0, key: groupId('Describe') }),
  ],
  [
    'JoinGroup: Read',
    broker.ask(p.JoinGroupRequest, p.JoinGroupResponse, 5, {
      groupId: groupId('Read'),
      sessionTimeoutMs: 10_000,
      memberId: '',
      protocolType: 'consumer',
      protocols: [],
    }),
  ],
  [
    'Heartbeat: Read',
    broker.ask(p.HeartbeatRequest, p.HeartbeatResponse, 4, { groupId: groupId('Read'), generationId: 1, memberId: 'm' }),
  ],
  ['LeaveGroup: Read', broker.ask(p.LeaveGroupRequest, p.LeaveGroupResponse, 4, { groupId: groupId('Read'), members: [] })],
  [
    'SyncGroup: Read',
    broker.ask(p.SyncGroupRequest, p.SyncGroupResponse, 4, {
      groupId: groupId('Read'),
      generationId: 1,
      memberId: 'm',
      assignments: [],
    }),
  ],
  ['DescribeGroups: Describe', broker.ask(p.DescribeGroupsRequest, p.DescribeGroupsResponse, 5, { groups: [groupId('Describe')] })],
  [
    'ConsumerGroupDescribe: Describe',
    broker.ask(p.ConsumerGroupDescribeRequest, p.ConsumerGroupDescribeResponse, 1, { groupIds: [groupId('Describe')] }),
  ],
  ['DeleteGroups: Delete', broker.ask(p.DeleteGroupsRequest, p.DeleteGroupsResponse, 2, { groupsNames: [groupId('Delete')] })],
  [
    'OffsetDelete: Delete',
    broker.ask(p.OffsetDeleteRequest, p.OffsetDeleteResponse, 0, { groupId: groupId('Delete'), topics: [] }),
  ],
  [
    'OffsetCommit: Read',
    broker.ask(p.OffsetCommitRequest, p.OffsetCommitResponse, 9, {
      groupId: groupId('Read'),
      topics: [{ name: 'free', partitions: [{ partitionIndex: 0, committedOffset: 1, committedMetadata: '' }] }],
    }),
  ],
  [
    'OffsetFetch: Describe',
    broker.ask(p.OffsetFetchRequest, p.OffsetFetchResponse, 8, { groups: [{ groupId: groupId('Describe'), topics: null }] }),
  ],
  [
    'OffsetFetch of old: Describe',
    broker.ask(p.OffsetFetchRequest, p.OffsetFetchResponse, 5, { groupId: groupId('Describe'), topics: null }),
  ],
  [
    'ConsumerGroupHeartbeat: Read',
    broker.ask(p.ConsumerGroupHeartbeatRequest, p.ConsumerGroupHeartbeatResponse, 1, {
      groupId: groupId('Read'),
      memberId: 'AAAAAAAAAAAAAAAAAAAAEA',
      rebalanceTimeoutMs: 1000,
      subscribedTopicNames: ['free'],
      topicPartitions: [],
    }),
  ],
  [
    'DescribeConfigs: DescribeConfigs',
    broker.ask(p.DescribeConfigsRequest, p.DescribeConfigsResponse, 4, onResource(32, groupId('DescribeConfigs'))),
  ],
  [
    'IncrementalAlterConfigs: AlterConfigs',
    broker.ask(p.IncrementalAlterConfigsRequest, p.IncrementalAlterConfigsResponse, 1, onResource(32, groupId('AlterConfigs'))),
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
      broker.ask(p.InitProducerIdRequest, p.InitProducerIdResponse, 4, { transactionalId: 'no-write', transactionTimeoutMs: 1000 }),
    ],
    [
      'FindCoordinator: Describe',
      broker.ask(p.FindCoordinatorRequest, p.FindCoordinatorResponse, 4, { keyType: 1, coordinatorKeys: ['no-describe'] }),
    ],
  ] as const) {
    test(what, async () => assert.deepEqual(errorsIn(await action()), ['TRANSACTIONAL_ID_AUTHORIZATION_FAILED']));
  }
});
