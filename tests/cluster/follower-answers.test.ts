// What a broker answers of a partition in which it follows, or of which the one who asks is no replica; as Apache Kafka 3.9 does.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  buildRecordBatch,
  CreateTopicsRequest,
  CreateTopicsResponse,
  DescribeProducersRequest,
  DescribeProducersResponse,
  errorByCode,
  errorCodes,
  FetchRequest,
  FetchResponse,
  ProduceRequest,
  ProduceResponse,
} from '@odradek/protocol';
import { type InProcessCluster, startCluster, until } from '@odradek/testing';

const topic = 't';
const [leader, follower, stranger] = [0, 1, 2];
let cluster: InProcessCluster;

before(async () => {
  cluster = await startCluster({ brokers: 3 });
  const created = await (await cluster.client(leader)).send(CreateTopicsRequest, CreateTopicsResponse, 7, {
    timeoutMs: 10_000,
    topics: [
      {
        name: topic,
        numPartitions: -1,
        replicationFactor: -1,
        assignments: [{ partitionIndex: 0, brokerIds: [leader, follower] }],
      },
    ],
  });
  assert.equal(created.topics[0]?.errorCode, errorCodes.NONE);
});
after(() => cluster.close());

test('the producers that a replica knows are told by whoever holds it, so that replicas can be compared', async () => {
  const records = buildRecordBatch({ producerId: 70, producerEpoch: 3, baseSequence: 0 }, [
    { timestamp: 1, value: Buffer.from('v') },
  ]);
  const produced = await (await cluster.client(leader)).send(ProduceRequest, ProduceResponse, 9, {
    acks: -1,
    timeoutMs: 10_000,
    topicData: [{ name: topic, partitionData: [{ index: 0, records }] }],
  });
  assert.equal(produced.responses[0]?.partitionResponses[0]?.errorCode, errorCodes.NONE);
  const describe = async (brokerId: number) => {
    const request = { topics: [{ name: topic, partitionIndexes: [0] }] };
    const { topics } = await (await cluster.client(brokerId)).send(DescribeProducersRequest, DescribeProducersResponse, 0, request);
    const partition = topics[0]?.partitions[0];
    return [errorByCode(partition?.errorCode ?? -1).name, partition?.activeProducers.map(({ producerId }) => producerId)];
  };
  assert.deepEqual(await describe(leader), ['NONE', [70]]);
  await until('the follower knows the producer', async () => (await describe(follower))[0] === 'NONE');
  assert.deepEqual(await describe(follower), ['NONE', [70]]);
  assert.deepEqual(await describe(stranger), ['NOT_LEADER_OR_FOLLOWER', []]);
});

test('a broker that fetches and is no replica is told to ask again only if it knows the leader epoch', async () => {
  const fetch = async (from: number, currentLeaderEpoch: number): Promise<string> => {
    const partitions = [{ partition: 0, currentLeaderEpoch, fetchOffset: 0, partitionMaxBytes: 1000 }];
    const request = { replicaId: stranger, maxWaitMs: 0, minBytes: 0, maxBytes: 1000, topics: [{ topic, partitions }] };
    const { responses } = await (await cluster.client(from)).send(FetchRequest, FetchResponse, 11, request);
    return errorByCode(responses[0]?.partitions[0]?.errorCode ?? -1).name;
  };
  assert.equal(await fetch(leader, 0), 'UNKNOWN_LEADER_EPOCH');
  assert.equal(await fetch(leader, -1), 'NOT_LEADER_OR_FOLLOWER');
  assert.equal(await fetch(follower, 0), 'NOT_LEADER_OR_FOLLOWER');
});
