import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { errorCodes, type MessageInit, MetadataRequest, MetadataResponse, zeroUuid } from '@odradek/protocol';
import { InProcessBroker, type RawClient } from '@odradek/testing';
import { createTopic } from './broker-requests.fixture.ts';

let broker: InProcessBroker;
let client: RawClient;
let topicId: string;

before(async () => {
  broker = await InProcessBroker.start({ properties: { 'num.partitions': 2 } });
  client = await broker.client();
  topicId = await createTopic(client, 'known', { partitions: 3 });
});
after(() => broker.close());

const ask = (version: number, request: MessageInit<typeof MetadataRequest>) =>
  client.send(MetadataRequest, MetadataResponse, version, request);
const named = (name: string | null) => [{ name, topicId: zeroUuid }];
const neverCreate = { allowAutoTopicCreation: false };

for (let version = 0; version <= 13; version++) {
  test(`version ${version} tells broker, cluster and leaders`, async () => {
    const answer = await ask(version, { topics: [{ name: 'known' }] });
    assert.deepEqual(answer.brokers, [{ nodeId: 0, host: '127.0.0.1', port: broker.port, rack: null }]);
    assert.equal(answer.clusterId, version >= 2 ? broker.broker.clusterId : null);
    assert.equal(answer.controllerId, version >= 1 ? 0 : -1);
    const [topic] = answer.topics;
    assert.equal(topic?.errorCode, errorCodes.NONE);
    assert.equal(topic?.topicId, version >= 10 ? topicId : zeroUuid);
    assert.equal(topic?.topicAuthorizedOperations, -2147483648);
    assert.deepEqual(
      topic?.partitions.map(({ errorCode, partitionIndex, leaderId, leaderEpoch, replicaNodes, isrNodes, offlineReplicas }) => [
        errorCode,
        partitionIndex,
        leaderId,
        leaderEpoch,
        replicaNodes,
        isrNodes,
        offlineReplicas,
      ]),
      [0, 1, 2].map((index) => [0, index, 0, version >= 7 ? 0 : -1, [0], [0], []]),
    );
  });
}

for (const { version, topics, expected } of [
  { version: 0, topics: [], expected: 'all' },
  { version: 1, topics: [], expected: 'none' },
  { version: 1, topics: null, expected: 'all' },
  { version: 13, topics: [], expected: 'none' },
  { version: 13, topics: null, expected: 'all' },
]) {
  test(`version ${version} with ${topics === null ? 'null' : 'an empty list'} asks for ${expected} of the topics`, async () => {
    const answer = await ask(version, { topics });
    assert.equal(
      answer.topics.some(({ name }) => name === 'known'),
      expected === 'all',
    );
  });
}

for (const { name, version, request, expected } of [
  {
    name: 'a missing topic that may not be created',
    version: 4,
    request: { topics: named('gone'), ...neverCreate },
    expected: 'UNKNOWN_TOPIC_OR_PARTITION',
  },
  { name: 'an impossible name', version: 4, request: { topics: named('a/b') }, expected: 'INVALID_TOPIC_EXCEPTION' },
  {
    name: 'an impossible name that may not be created',
    version: 4,
    request: { topics: named('..'), ...neverCreate },
    expected: 'INVALID_TOPIC_EXCEPTION',
  },
  { name: 'an empty name', version: 1, request: { topics: named('') }, expected: 'INVALID_TOPIC_EXCEPTION' },
  {
    name: 'an unknown id',
    version: 12,
    request: { topics: [{ name: null, topicId: 'AAAAAAAAAAAAAAAAAAAAAQ' }] },
    expected: 'UNKNOWN_TOPIC_ID',
  },
  {
    name: 'an id before version 12',
    version: 10,
    request: { topics: [{ name: null, topicId: 'AAAAAAAAAAAAAAAAAAAAAQ' }] },
    expected: 'INVALID_REQUEST',
  },
] as { name: string; version: number; request: MessageInit<typeof MetadataRequest>; expected: keyof typeof errorCodes }[]) {
  test(`${name}: ${expected}`, async () => {
    const { topics } = await ask(version, request);
    assert.deepEqual(
      topics.map(({ errorCode, partitions }) => [errorCode, partitions.length]),
      [[errorCodes[expected], 0]],
    );
  });
}

test('a topic that is named more than once is told once', async () => {
  const twice = ['known', 'gone', 'known', 'gone'].flatMap(named);
  const { topics } = await ask(9, { topics: twice, ...neverCreate });
  assert.deepEqual(
    topics.map(({ name }) => name),
    ['known', 'gone'],
  );
});

test('a topic is found by its id', async () => {
  const { topics } = await ask(12, { topics: [{ name: null, topicId }] });
  assert.deepEqual(
    topics.map(({ errorCode, name, partitions }) => [errorCode, name, partitions.length]),
    [[errorCodes.NONE, 'known', 3]],
  );
});

test('a missing topic is made on demand, with num.partitions', async () => {
  for (;;) {
    const { topics } = await ask(9, { topics: named('on-demand') });
    if (topics[0]?.errorCode === errorCodes.LEADER_NOT_AVAILABLE) continue;
    assert.equal(topics[0]?.errorCode, errorCodes.NONE);
    assert.equal(topics[0]?.partitions.length, 2);
    break;
  }
});

test('operations are told to those who ask for them', async () => {
  const answer = await ask(8, {
    topics: named('known'),
    includeClusterAuthorizedOperations: true,
    includeTopicAuthorizedOperations: true,
  });
  assert.equal(answer.topics[0]?.topicAuthorizedOperations, 0b1101_1111_1000);
  assert.ok(answer.clusterAuthorizedOperations > 0);
});

test('without auto.create.topics.enable nothing is made', async () => {
  await using strict = await InProcessBroker.start({ properties: { 'auto.create.topics.enable': false } });
  const own = await strict.client();
  const { topics } = await own.send(MetadataRequest, MetadataResponse, 9, { topics: named('on-demand') });
  assert.equal(topics[0]?.errorCode, errorCodes.UNKNOWN_TOPIC_OR_PARTITION);
});
