// A cluster with an authorizer: access lists that are changed through one broker count on all of them, brokers act for the cluster only by
// right, and who has no rights is told so by whichever broker is asked. Everybody is anonymous here, and told apart by address.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { aclNode, aclPaths, partitionStateNode } from '@odradek/coordination';
import * as p from '@odradek/protocol';
import { errorByCode, errorCodes, type MessageInit } from '@odradek/protocol';
import { type InProcessCluster, type RawClient, startCluster, until } from '@odradek/testing';
import { codesIn, controllerQuestions, knownTopic } from './controller-questions.ts';

const [brokerHost, administratorHost, strangerHost] = ['127.0.0.1', '127.0.0.2', '127.0.0.3'];
const everyone = [0, 1, 2];
const topic = knownTopic;
const clusterName = 'kafka-cluster';
const principal = 'User:ANONYMOUS';

type Creation = NonNullable<MessageInit<typeof p.CreateAclsRequest>['creations']>[number];
const types = { Topic: 2, Cluster: 4 } as const;
const operations = { Read: 3, ClusterAction: 9 } as const;
const [literal, prefixed] = [3, 4];

const brokersAct = entry({ type: 'Cluster', name: clusterName, operation: 'ClusterAction', host: brokerHost });
const strangerReads = entry({ type: 'Topic', name: topic, operation: 'Read', host: strangerHost });

function entry(from: {
  readonly type: keyof typeof types;
  readonly name: string;
  readonly operation: keyof typeof operations;
  readonly host: string;
}): Creation {
  const { type, name: resourceName, operation, host } = from;
  const who = { principal, host, operation: operations[operation], permissionType: 3 };
  return { resourceType: types[type], resourceName, resourcePatternType: literal, ...who };
}

const skip = process.platform === 'linux' ? false : 'only Linux answers on all addresses of the loopback network';

describe('a cluster with an authorizer', { skip }, () => {
  let cluster: InProcessCluster;
  /** One each by broker. */
  let administrators: readonly RawClient[];
  let strangers: readonly RawClient[];

  before(async () => {
    const properties = { 'authorizer.class.name': 'kafka.security.authorizer.AclAuthorizer', 'super.users': 'User:nobody' };
    cluster = await startCluster({ brokers: 0, properties });
    await writeFirstLists();
    for (const id of everyone) await cluster.startBroker(id);
    administrators = await Promise.all(everyone.map((id) => cluster.client(id, { localAddress: administratorHost })));
    strangers = await Promise.all(everyone.map((id) => cluster.client(id, { localAddress: strangerHost })));
    for (const id of everyone) await untilAllBrokersAreKnownTo(id);
  });
  after(() => cluster?.close());

  /** Without these nobody could write any others. */
  async function writeFirstLists(): Promise<void> {
    for (const path of aclPaths) await cluster.coordination.create(path, null);
    const all = { principal, permissionType: 'Allow', host: administratorHost, operation: 'All' } as const;
    const act = { ...all, host: brokerHost, operation: 'ClusterAction' };
    const lists = [
      ['Cluster', clusterName, [all, act]],
      ['Topic', '*', [all]],
    ] as const;
    for (const [resourceType, name, entries] of lists) {
      await cluster.coordination.create(aclNode.path({ resourceType, name, patternType: 'LITERAL' }), aclNode.encode(entries));
    }
  }

  const at = (clients: readonly RawClient[], id: number): RawClient => {
    const client = clients[id];
    assert.ok(client !== undefined);
    return client;
  };

  function untilAllBrokersAreKnownTo(id: number): Promise<unknown> {
    return until(`broker ${id} has been told of all brokers`, async () => {
      const { brokers } = await at(administrators, id).send(p.MetadataRequest, p.MetadataResponse, 12, { topics: [] });
      return brokers.length === everyone.length;
    });
  }

  async function allow(through: number, ...creations: Creation[]): Promise<void> {
    const { results } = await at(administrators, through).send(p.CreateAclsRequest, p.CreateAclsResponse, 3, { creations });
    for (const { errorCode } of results) assert.equal(errorByCode(errorCode).name, 'NONE');
  }

  async function revoke(through: number, { resourceType, resourceName, resourcePatternType, ...who }: Creation): Promise<void> {
    const filter = {
      resourceTypeFilter: resourceType,
      resourceNameFilter: resourceName,
      patternTypeFilter: resourcePatternType,
      principalFilter: who.principal,
      hostFilter: who.host,
      operation: who.operation,
      permissionType: who.permissionType,
    };
    const exchange = [p.DeleteAclsRequest, p.DeleteAclsResponse] as const;
    const { filterResults } = await at(administrators, through).send(...exchange, 3, { filters: [filter] });
    assert.equal(filterResults[0]?.matchingAcls.length, 1);
  }

  async function leadership() {
    return partitionStateNode.decode(topic, (await cluster.coordination.get(partitionStateNode.path(topic, 0))).data);
  }

  function untilAllAreInSync(): Promise<unknown> {
    return until('all replicas are in sync', async () => (await leadership()).isr.length === everyone.length);
  }

  async function produce(client: RawClient, timeoutMs = 10_000): Promise<string> {
    const records = p.buildRecordBatch({}, [{ timestamp: 1, key: null, value: Buffer.from('x') }]);
    const topicData = [{ name: topic, partitionData: [{ index: 0, records }] }];
    const { responses } = await client.send(p.ProduceRequest, p.ProduceResponse, 9, { acks: -1, timeoutMs, topicData });
    return errorByCode(responses[0]?.partitionResponses[0]?.errorCode ?? -1).name;
  }

  /** As a consumer, or as the replica on a broker. */
  async function fetch(client: RawClient, replicaId: number): Promise<string> {
    const { responses } = await client.send(p.FetchRequest, p.FetchResponse, 12, {
      replicaId,
      maxWaitMs: 0,
      minBytes: 0,
      topics: [{ topic, partitions: [{ partition: 0, fetchOffset: 0, partitionMaxBytes: 1000 }] }],
    });
    return errorByCode(responses[0]?.partitions[0]?.errorCode ?? -1).name;
  }

  const mayRead = async (id: number): Promise<boolean> => (await fetch(at(strangers, id), -1)) !== 'TOPIC_AUTHORIZATION_FAILED';

  test('brokers with the right to act for the cluster make and follow a topic, and get ids for producers', async () => {
    const assignments = [{ partitionIndex: 0, brokerIds: [1, 2, 0] }];
    const exchange = [p.CreateTopicsRequest, p.CreateTopicsResponse] as const;
    const { topics } = await at(administrators, 0).send(...exchange, 7, {
      topics: [{ name: topic, numPartitions: -1, replicationFactor: -1, assignments }],
      timeoutMs: 10_000,
    });
    assert.equal(topics[0]?.errorCode, errorCodes.NONE);
    for (const id of everyone) {
      const request = { transactionalId: null, transactionTimeoutMs: 0, producerId: -1, producerEpoch: -1 };
      await until(
        `broker ${id} knows the topic`,
        async () => (await fetch(at(administrators, id), -1)) !== 'UNKNOWN_TOPIC_OR_PARTITION',
      );
      const answer = await at(administrators, id).send(p.InitProducerIdRequest, p.InitProducerIdResponse, 4, request);
      assert.equal(answer.errorCode, errorCodes.NONE);
    }
    assert.equal(await produce(at(administrators, 1)), 'NONE');
  });

  for (const through of everyone) {
    test(`what broker ${through} is asked to allow, and to allow no more, holds on every broker`, async () => {
      for (const id of everyone) assert.equal(await mayRead(id), false);
      const byPrefix = { ...strangerReads, resourceName: topic.slice(0, 3), resourcePatternType: prefixed };
      for (const change of [strangerReads, byPrefix]) {
        await allow(through, change);
        assert.equal(await mayRead(through), true);
        for (const id of everyone) await until(`broker ${id} allows it`, () => mayRead(id));
        await revoke(through, change);
        assert.equal(await mayRead(through), false);
        for (const id of everyone) await until(`broker ${id} refuses it`, async () => !(await mayRead(id)));
      }
    });
  }

  test('a broker that lost its session keeps to what was changed meanwhile, and hears of changes again', async () => {
    await cluster.expireSession(2);
    await allow(0, strangerReads);
    await until('what was allowed meanwhile is', () => mayRead(2));
    await revoke(1, strangerReads);
    await until('what was revoked later is', async () => !(await mayRead(2)));
    await untilAllBrokersAreKnownTo(0);
    await untilAllAreInSync();
  });

  test('whoever has no rights is told so by every broker', async () => {
    const unknown = { brokerId: 1, brokerEpoch: 1 };
    const controller = { controllerId: 0, controllerEpoch: 1, liveLeaders: [], liveBrokers: [], topicStates: [] };
    for (const id of everyone) {
      const client = at(strangers, id);
      const { topics } = await client.send(p.MetadataRequest, p.MetadataResponse, 12, { topics: [{ name: topic }] });
      const coordinators = await client.send(p.FindCoordinatorRequest, p.FindCoordinatorResponse, 4, {
        keyType: 0,
        coordinatorKeys: ['g'],
      });
      const codes = [
        topics[0],
        coordinators.coordinators[0],
        await client.send(p.LeaderAndIsrRequest, p.LeaderAndIsrResponse, 7, controller),
        await client.send(p.StopReplicaRequest, p.StopReplicaResponse, 4, controller),
        await client.send(p.UpdateMetadataRequest, p.UpdateMetadataResponse, 8, controller),
        await client.send(p.AlterPartitionRequest, p.AlterPartitionResponse, 3, { ...unknown, topics: [] }),
        await client.send(p.AllocateProducerIdsRequest, p.AllocateProducerIdsResponse, 0, unknown),
        await client.send(p.ControlledShutdownRequest, p.ControlledShutdownResponse, 3, unknown),
        (await client.send(p.CreateAclsRequest, p.CreateAclsResponse, 3, { creations: [strangerReads] })).results[0],
      ].map((answer) => errorByCode(answer?.errorCode ?? -1).name);
      assert.deepEqual(codes, [
        'TOPIC_AUTHORIZATION_FAILED',
        'GROUP_AUTHORIZATION_FAILED',
        ...Array.from({ length: 7 }, () => 'CLUSTER_AUTHORIZATION_FAILED'),
      ]);
      assert.equal(await produce(client), 'TOPIC_AUTHORIZATION_FAILED');
      assert.equal(await fetch(client, -1), 'TOPIC_AUTHORIZATION_FAILED');
      assert.equal(await fetch(client, 2), 'TOPIC_AUTHORIZATION_FAILED', 'as a follower');
    }
  });

  /** Some broker that is the controller, and one that is not. */
  async function controllerAndOther(): Promise<{ readonly controller: number; readonly other: number }> {
    const { controllerId } = await at(administrators, 0).send(p.MetadataRequest, p.MetadataResponse, 12, { topics: [] });
    return { controller: controllerId, other: everyone.find((id) => id !== controllerId) ?? -1 };
  }

  for (const { what, ask, ...expected } of controllerQuestions) {
    test(`in the order of Kafka it is looked who may ask, and whether this is the controller: ${what}`, async () => {
      const { controller, other } = await controllerAndOther();
      const told = {
        elsewhere: codesIn(await ask(at(administrators, other))),
        toStrangerElsewhere: codesIn(await ask(at(strangers, other))),
        toStranger: codesIn(await ask(at(strangers, controller))),
      };
      assert.deepEqual(told, expected);
    });
  }

  test('followers that lose the right get nothing more, and go on when they have it again', async () => {
    const { leader } = await leadership();
    await revoke(2, brokersAct);
    const asBroker = await cluster.client(leader);
    const follower = everyone.find((id) => id !== leader) ?? -1;
    await until('the leader refuses followers', async () => (await fetch(asBroker, follower)) === 'TOPIC_AUTHORIZATION_FAILED');
    assert.equal(await produce(at(administrators, leader), 200), 'REQUEST_TIMED_OUT');
    await allow(0, brokersAct);
    assert.equal(await produce(at(administrators, leader)), 'NONE');
    await untilAllAreInSync();
  });

  test('a broker that stops hands over what it leads, by the same right', async () => {
    const { leader } = await leadership();
    await cluster.stopBroker(leader);
    const after = await leadership();
    assert.ok(after.leader !== leader && after.leader >= 0);
    assert.equal(after.isr.length, everyone.length - 1);
  });
});
