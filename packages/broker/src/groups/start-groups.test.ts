// What the settings of groups do to a whole broker: how its internal topic is made, written and loaded, and what it refuses.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  ConsumerGroupDescribeRequest,
  ConsumerGroupDescribeResponse,
  ConsumerGroupHeartbeatRequest,
  ConsumerGroupHeartbeatResponse,
  DescribeConfigsRequest,
  DescribeConfigsResponse,
  errorByCode,
  FetchRequest,
  FetchResponse,
  FindCoordinatorRequest,
  FindCoordinatorResponse,
  iterateBatches,
  JoinGroupRequest,
  JoinGroupResponse,
  MetadataRequest,
  MetadataResponse,
  OffsetCommitRequest,
  OffsetCommitResponse,
  OffsetFetchRequest,
  OffsetFetchResponse,
} from '@odradek/protocol';
import { ConfigError } from '@odradek/runtime';
import { InProcessBroker, type RawClient, until } from '@odradek/testing';

const internalTopic = '__consumer_offsets';

async function coordinated(client: RawClient): Promise<void> {
  await until('there is a coordinator', async () => {
    const found = await client.send(FindCoordinatorRequest, FindCoordinatorResponse, 2, { key: 'g', keyType: 0 });
    return found.errorCode === 0;
  });
}

const joining = {
  groupId: 'g',
  memberId: 'm',
  memberEpoch: 0,
  rebalanceTimeoutMs: 1000,
  subscribedTopicNames: [],
  topicPartitions: [],
};

async function errorOfHeartbeat(client: RawClient): Promise<string> {
  const { errorCode } = await client.send(ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse, 1, joining);
  return errorByCode(errorCode).name;
}

describe('the settings of groups on a broker', () => {
  let dataDirectory: string;
  before(() => {
    dataDirectory = mkdtempSync(join(tmpdir(), 'odradek-groups-'));
  });
  after(() => rmSync(dataDirectory, { recursive: true, force: true }));

  test('say how the internal topic is made, written and loaded', async () => {
    const properties = {
      'offsets.topic.num.partitions': 3,
      'offsets.topic.segment.bytes': 2_000_000,
      'offsets.topic.compression.codec': 4,
      'offsets.load.buffer.size': 100,
      'num.partitions': 1,
    };
    {
      await using broker = await InProcessBroker.start({ properties, dataDirectory });
      const client = await broker.client();
      await coordinated(client);
      const topics = [{ name: internalTopic }, { name: 'topic' }];
      const described = await until('the topics are there', async () => {
        const metadata = await client.send(MetadataRequest, MetadataResponse, 8, { topics, allowAutoTopicCreation: true });
        return metadata.topics.every(({ errorCode }) => errorCode === 0) && metadata.topics;
      });
      assert.deepEqual([described[0]?.partitions.length, described[0]?.isInternal], [3, true]);
      const resources = [{ resourceType: 2, resourceName: internalTopic, configurationKeys: null }];
      const { results } = await client.send(DescribeConfigsRequest, DescribeConfigsResponse, 4, { resources });
      const configs = new Map(results[0]?.configs.map(({ name, value }) => [name, value]));
      assert.deepEqual(
        ['cleanup.policy', 'compression.type', 'segment.bytes'].map((name) => configs.get(name)),
        ['compact', 'producer', '2000000'],
      );
      for (let count = 1; count <= 50; count++) await commit(client, count);
      assert.deepEqual(new Set(await codecsOfInternalTopic(client)), new Set(['zstd']));
    }
    await using broker = await InProcessBroker.start({ properties, dataDirectory });
    const client = await broker.client();
    const groups = [{ groupId: 'g', topics: null }];
    const offset = await until('the group is loaded', async () => {
      const answer = await client.send(OffsetFetchRequest, OffsetFetchResponse, 8, { groups });
      return answer.groups[0]?.errorCode === 0 && answer.groups[0].topics[0]?.partitions[0]?.committedOffset;
    });
    assert.equal(offset, 50);
  });

  async function commit(client: RawClient, committedOffset: number): Promise<void> {
    const topics = [{ name: 'topic', partitions: [{ partitionIndex: 0, committedOffset, committedMetadata: '' }] }];
    const request = { groupId: 'g', generationIdOrMemberEpoch: -1, topics };
    const answer = await client.send(OffsetCommitRequest, OffsetCommitResponse, 8, request);
    assert.equal(answer.topics[0]?.partitions[0]?.errorCode, 0);
  }

  async function codecsOfInternalTopic(client: RawClient): Promise<string[]> {
    const partitions = [0, 1, 2].map((partition) => ({ partition, fetchOffset: 0, partitionMaxBytes: 1_000_000 }));
    const request = { maxWaitMs: 0, minBytes: 0, topics: [{ topic: internalTopic, partitions }] };
    const { responses } = await client.send(FetchRequest, FetchResponse, 11, request);
    const fetched = responses[0]?.partitions ?? [];
    return fetched.flatMap(({ records }) =>
      Array.from(iterateBatches(records ?? Buffer.alloc(0)), ({ compression }) => compression),
    );
  }

  test('can do without the consumer protocol, while classic groups go on', async () => {
    await using broker = await InProcessBroker.start({ properties: { 'group.coordinator.rebalance.protocols': 'classic' } });
    const client = await broker.client();
    await coordinated(client);
    assert.equal(await errorOfHeartbeat(client), 'UNSUPPORTED_VERSION');
    const described = await client.send(ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse, 1, { groupIds: ['g'] });
    assert.equal(errorByCode(described.groups[0]?.errorCode ?? 0).name, 'UNSUPPORTED_VERSION');
    const protocols = [{ name: 'range', metadata: Buffer.alloc(0) }];
    const request = { groupId: 'g', sessionTimeoutMs: 10_000, rebalanceTimeoutMs: 10_000, protocolType: 'consumer', protocols };
    const joined = await client.send(JoinGroupRequest, JoinGroupResponse, 4, request);
    assert.equal(errorByCode(joined.errorCode).name, 'MEMBER_ID_REQUIRED');
  });

  test('know assignors by the names that Kafka’s classes have, the first of them the default', async () => {
    const names = ['RangeAssignor', 'UniformAssignor'].map((name) => `org.apache.kafka.coordinator.group.assignor.${name}`);
    await using broker = await InProcessBroker.start({ properties: { 'group.consumer.assignors': names.join(',') } });
    const client = await broker.client();
    await coordinated(client);
    assert.equal(await errorOfHeartbeat(client), 'NONE');
    const described = await client.send(ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse, 1, { groupIds: ['g'] });
    assert.equal(described.groups[0]?.assignorName, 'range');
  });

  for (const [name, value] of [
    ['group.consumer.assignors', 'uniform,sticky'],
    ['group.consumer.assignors', ''],
    ['group.coordinator.rebalance.protocols', 'consumer'],
    ['offsets.topic.compression.codec', 5],
  ] as const) {
    test(`${name}=${value} keeps the broker from starting, which says so`, async () => {
      const started = InProcessBroker.start({ properties: { [name]: value } });
      await assert.rejects(started, (error) => error instanceof ConfigError && error.message.includes(name));
    });
  }
});
