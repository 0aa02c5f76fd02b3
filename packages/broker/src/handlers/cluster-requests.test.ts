// DescribeCluster, DescribeTopicPartitions and DescribeLogDirs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCodes } from '@odradek/protocol';
import { createLogger } from '@odradek/runtime';
import { BrokerConfig } from '../broker-config.ts';
import { MetadataCache } from '../metadata/metadata-cache.ts';
import { callHandler, versionsOf } from '../requests/call-handler.fixture.ts';
import { type DescribedLog, describeLogDirsHandler } from './35-describe-log-dirs.ts';
import { describeClusterHandler } from './60-describe-cluster.ts';
import { describeTopicPartitionsHandler } from './75-describe-topic-partitions.ts';

const silent = createLogger({ level: 'fatal' });

/** Broker 0 speaks PLAINTEXT, broker 1 only another listener; 2 is not there. Partition n of each topic is led by broker n. */
function metadataWith(topics: Readonly<Record<string, number>>): MetadataCache {
  const cache = new MetadataCache('cluster');
  const endpoint = (listener: string) => ({ listener, host: 'h', port: 9092, securityProtocol: 0 });
  cache.update({
    controllerId: 0,
    controllerEpoch: 1,
    liveBrokers: [
      { id: 0, rack: 'r', endpoints: [endpoint('PLAINTEXT')] },
      { id: 1, rack: null, endpoints: [endpoint('OTHER')] },
    ],
    topicStates: Object.entries(topics).map(([topicName, count], number) => ({
      topicName,
      topicId: `AQEBAQEBAQEBAQEBAQEB${number}Q`,
      partitionStates: Array.from({ length: count }, (_, partitionIndex) => ({
        partitionIndex,
        controllerEpoch: 1,
        leader: partitionIndex,
        leaderEpoch: 4,
        isr: [0],
        zkVersion: 0,
        replicas: [0, 1],
        offlineReplicas: [],
      })),
    })),
    ungroupedPartitionStates: [],
  });
  return cache;
}

test('DescribeCluster tells the brokers that the client can reach, in every version', async () => {
  const handler = describeClusterHandler({ metadataCache: metadataWith({}) });
  for (const version of versionsOf(handler)) {
    const answer = await callHandler(handler, version, { includeClusterAuthorizedOperations: true });
    assert.equal(answer.clusterId, 'cluster');
    assert.equal(answer.controllerId, 0);
    assert.deepEqual(
      answer.brokers.map(({ brokerId, host, port, rack, isFenced }) => [brokerId, host, port, rack, isFenced]),
      [[0, 'h', 9092, 'r', false]],
    );
    assert.equal(answer.clusterAuthorizedOperations, 0b1_1111_1010_0000);
  }
});

test('DescribeCluster leaves out operations that nobody asked for, and refuses questions to a controller', async () => {
  const handler = describeClusterHandler({ metadataCache: metadataWith({}) });
  assert.equal((await callHandler(handler, 0, {})).clusterAuthorizedOperations, -2147483648);
  assert.equal((await callHandler(handler, 1, { endpointType: 2 })).errorCode, errorCodes.MISMATCHED_ENDPOINT_TYPE);
  assert.equal((await callHandler(handler, 2, { endpointType: 9 })).errorCode, errorCodes.UNSUPPORTED_ENDPOINT_TYPE);
});

interface PageOptions {
  readonly names?: readonly string[];
  readonly limit?: number;
  readonly cursor?: readonly [topicName: string, partitionIndex: number];
  readonly brokerLimit?: number;
}

async function pageOf({ names = [], limit = 2000, cursor, brokerLimit = 2000 }: PageOptions) {
  const handler = describeTopicPartitionsHandler({
    metadataCache: metadataWith({ b: 3, a: 2, c: 1 }),
    config: new BrokerConfig(new Map([['max.request.partition.size.limit', String(brokerLimit)]])),
  });
  const { topics, nextCursor } = await callHandler(handler, 0, {
    topics: names.map((name) => ({ name })),
    responsePartitionLimit: limit,
    cursor: cursor === undefined ? null : { topicName: cursor[0], partitionIndex: cursor[1] },
  });
  const partitions = topics.map(
    ({ name, errorCode, partitions: all }) =>
      `${name}${errorCode === 0 ? '' : `!${errorCode}`}: ${all.map(({ partitionIndex }) => partitionIndex).join(' ')}`,
  );
  return [...partitions, nextCursor === null ? 'end' : `next ${nextCursor.topicName} ${nextCursor.partitionIndex}`];
}

test('DescribeTopicPartitions goes through topics in pages', async (t) => {
  const unknown = errorCodes.UNKNOWN_TOPIC_OR_PARTITION;
  const invalid = errorCodes.INVALID_REQUEST;
  const cases: readonly (readonly [string, PageOptions, readonly string[]])[] = [
    ['all topics, by name', {}, ['a: 0 1', 'b: 0 1 2', 'c: 0', 'end']],
    ['up to the limit, inside a topic', { limit: 3 }, ['a: 0 1', 'b: 0', 'next b 1']],
    ['up to the limit, at the end of a topic', { limit: 2 }, ['a: 0 1', 'next b 0']],
    ['exactly all', { limit: 6 }, ['a: 0 1', 'b: 0 1 2', 'c: 0', 'end']],
    ['on from a cursor', { limit: 3, cursor: ['b', 1] }, ['b: 1 2', 'c: 0', 'end']],
    ['on from a topic that is gone', { cursor: ['bb', 5] }, ['c: 0', 'end']],
    ['the broker’s own limit', { brokerLimit: 1 }, ['a: 0', 'next a 1']],
    ['a limit of nothing is one', { limit: 0 }, ['a: 0', 'next a 1']],
    ['single topics, each once', { names: ['c', 'a', 'c'] }, ['a: 0 1', 'c: 0', 'end']],
    ['a topic that is not there', { names: ['a', 'x'] }, ['a: 0 1', `x!${unknown}: `, 'end']],
    ['a name that cannot be', { names: ['x/y'] }, [`x/y!${errorCodes.INVALID_TOPIC_EXCEPTION}: `, 'end']],
    ['a cursor on a topic that is not asked for', { names: ['c'], cursor: ['a', 0] }, [`c!${invalid}: `, 'end']],
    ['a cursor on no partition', { names: ['a'], cursor: ['a', -1] }, [`a!${invalid}: `, 'end']],
  ];
  for (const [name, options, expected] of cases) await t.test(name, async () => assert.deepEqual(await pageOf(options), expected));
});

test('DescribeTopicPartitions tells which leaders cannot be reached', async () => {
  const handler = describeTopicPartitionsHandler({ metadataCache: metadataWith({ t: 3 }), config: new BrokerConfig(new Map()) });
  const { topics } = await callHandler(handler, 0, {});
  assert.deepEqual(
    topics[0]?.partitions.map(({ errorCode, leaderId, leaderEpoch }) => [errorCode, leaderId, leaderEpoch]),
    [
      [errorCodes.NONE, 0, 4],
      [errorCodes.LISTENER_NOT_FOUND, -1, 4],
      [errorCodes.LEADER_NOT_AVAILABLE, -1, 4],
    ],
  );
  assert.equal(topics[0]?.topicAuthorizedOperations, 0b1101_1111_1000);
});

function log(directory: string, topic: string, partition: number, highWatermark = 10): DescribedLog {
  return { topicPartition: { topic, partition }, directory: { path: directory }, sizeBytes: 100, logEndOffset: 8, highWatermark };
}

function logDirsHandler() {
  return describeLogDirsHandler({
    logManager: {
      directories: [
        { path: '/one', isOnline: true },
        { path: '/two', isOnline: true },
        { path: '/off', isOnline: false },
        { path: '/gone', isOnline: true },
      ],
      logs: () => [log('/one', 'a', 0), log('/two', 'a', 1), log('/one', 'b', 0, 5), log('/two', 'c', 0)],
      futures: () => [log('/two', 'b', 0)],
    },
    replicaManager: { find: (topic) => (topic === 'c' ? undefined : { hasLog: true, log: { logEndOffset: 20 } }) },
    config: new BrokerConfig(new Map(Object.entries({ 'log.dirs': '/one,/two', 'cordoned.log.dirs': '/two' }))),
    fileSystem: {
      volumeSync: (path) => {
        if (path === '/gone') throw new Error('EIO');
        return { totalBytes: 1000, usableBytes: 400 };
      },
    },
    logger: silent,
  });
}

test('DescribeLogDirs tells what lies where, in every version', async (t) => {
  const handler = logDirsHandler();
  for (const version of versionsOf(handler)) {
    await t.test(`version ${version}`, async () => {
      const { results } = await callHandler(handler, version, { topics: null });
      const [one, two, off, gone] = results;
      assert.deepEqual(
        one?.topics.map(({ name, partitions }) => [
          name,
          ...partitions.map(({ partitionSize, offsetLag }) => [partitionSize, offsetLag]),
        ]),
        [
          ['a', [100, 2]],
          ['b', [100, 0]],
        ],
      );
      assert.deepEqual(
        two?.topics.map(({ name, partitions }) => [name, partitions[0]?.offsetLag, partitions[0]?.isFutureKey]),
        [
          ['a', 2, false],
          ['c', -1, false],
          ['b', 12, true],
        ],
        'b is on its way there; c is not in use',
      );
      assert.deepEqual([one?.totalBytes, one?.usableBytes], version >= 4 ? [1000, 400] : [-1, -1]);
      assert.deepEqual([one?.isCordoned, two?.isCordoned], [false, version >= 5]);
      assert.deepEqual([off?.errorCode, gone?.errorCode], [errorCodes.KAFKA_STORAGE_ERROR, errorCodes.KAFKA_STORAGE_ERROR]);
    });
  }
});

test('DescribeLogDirs leaves out partitions that nobody asked for', async () => {
  const { results } = await callHandler(logDirsHandler(), 5, { topics: [{ topic: 'a', partitions: [1, 7] }] });
  assert.deepEqual(
    results.map(({ logDir, topics }) => [logDir, topics.map(({ name, partitions }) => `${name} ${partitions[0]?.partitionIndex}`)]),
    [
      ['/one', []],
      ['/two', ['a 1']],
      ['/off', []],
      ['/gone', []],
    ],
  );
});
