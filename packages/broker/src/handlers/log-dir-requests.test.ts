// AlterReplicaLogDirs and DescribeLogDirs against a broker with several log directories. The error codes are those that Apache
// Kafka 4.4 gives to the same requests.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  AlterReplicaLogDirsRequest,
  AlterReplicaLogDirsResponse,
  CreateTopicsRequest,
  CreateTopicsResponse,
  DescribeLogDirsRequest,
  DescribeLogDirsResponse,
  errorByCode,
  IncrementalAlterConfigsRequest,
  IncrementalAlterConfigsResponse,
  ProtocolError,
} from '@odradek/protocol';
import { InProcessBroker, type RawClient, until } from '@odradek/testing';
import { callHandler, versionsOf } from '../requests/call-handler.fixture.ts';
import { alterReplicaLogDirsHandler } from './34-alter-replica-log-dirs.ts';

describe('log directories', () => {
  const root = mkdtempSync(join(tmpdir(), 'odradek-log-dirs-'));
  const [one, two, three] = ['one', 'two', 'three'].map((name) => join(root, name)) as [string, string, string];
  let broker: InProcessBroker;
  let client: RawClient;

  before(async () => {
    broker = await InProcessBroker.start({ dataDirectory: root, properties: { 'log.dirs': [one, two, three].join(',') } });
    client = await broker.client();
  });
  after(async () => {
    await broker?.close();
    rmSync(root, { recursive: true, force: true });
  });

  async function alter(path: string, name: string, partitions: readonly number[] = [0]): Promise<string[]> {
    const request = { dirs: [{ path, topics: [{ name, partitions: [...partitions] }] }] };
    const { results } = await client.send(AlterReplicaLogDirsRequest, AlterReplicaLogDirsResponse, 2, request);
    return results.flatMap((topic) => topic.partitions.map(({ errorCode }) => errorByCode(errorCode).name));
  }

  async function create(name: string, numPartitions = 1): Promise<void> {
    const request = { topics: [{ name, numPartitions, replicationFactor: 1 }], timeoutMs: 10_000 };
    const { topics } = await client.send(CreateTopicsRequest, CreateTopicsResponse, 5, request);
    assert.equal(errorByCode(topics[0]!.errorCode).name, 'NONE');
  }

  async function places(name: string): Promise<string[]> {
    const { results } = await client.send(DescribeLogDirsRequest, DescribeLogDirsResponse, 5, { topics: null });
    return results.flatMap(({ logDir, topics }) =>
      topics
        .filter((topic) => topic.name === name)
        .flatMap(({ partitions }) => partitions.map(({ isFutureKey }) => `${logDir}${isFutureKey ? ' (future)' : ''}`)),
    );
  }

  async function setBroker(name: string, value: string): Promise<string> {
    const configs = [{ name, configOperation: 0, value }];
    const request = { resources: [{ resourceType: 4, resourceName: '0', configs }], validateOnly: false };
    const { responses } = await client.send(IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse, 1, request);
    return errorByCode(responses[0]!.errorCode).name;
  }

  test('a replica moves, and whoever asks is told where it is', async () => {
    await create('moved');
    const [from] = await places('moved');
    const to = [one, two, three].find((path) => path !== from)!;
    assert.deepEqual(await alter(to, 'moved'), ['NONE']);
    await until('the replica has moved', async () => String(await places('moved')) === to);
    assert.deepEqual(await alter(to, 'moved'), ['NONE'], 'it is there');
  });

  test('a partition that is not here is refused, and made in that directory when it comes', async () => {
    assert.deepEqual(await alter(three, 'later'), ['UNKNOWN_TOPIC_OR_PARTITION']);
    assert.deepEqual(await alter(one, 'later'), ['UNKNOWN_TOPIC_OR_PARTITION'], 'what was said last counts');
    for (let count = 0; count < 3; count++) await create(`filler-${count}`);
    await create('later');
    assert.deepEqual(await places('later'), [one]);
  });

  test('what cannot be is refused', async () => {
    await create('here');
    assert.deepEqual(await alter('/nowhere', 'here'), ['LOG_DIR_NOT_FOUND']);
    assert.deepEqual(await alter('one', 'here'), ['LOG_DIR_NOT_FOUND'], 'a directory is named by its absolute path');
    assert.deepEqual(await alter(two, 't'.repeat(220)), ['INVALID_TOPIC_EXCEPTION']);
    assert.deepEqual(await alter(two, 't'.repeat(213)), ['UNKNOWN_TOPIC_OR_PARTITION'], 'a name that is short enough');
    assert.deepEqual(await alter(two, 'a/b'), ['UNKNOWN_TOPIC_OR_PARTITION']);
    assert.deepEqual(await alter(two, 'here', [-1, 5]), ['UNKNOWN_TOPIC_OR_PARTITION', 'UNKNOWN_TOPIC_OR_PARTITION']);
  });

  test('a cordoned directory gets no new replicas, nor moved ones', async () => {
    assert.equal(await setBroker('cordoned.log.dirs', `${one},${three}`), 'NONE');
    await create('cordoned', 3);
    assert.deepEqual(new Set(await places('cordoned')), new Set([two]));
    for (const name of ['cordoned', 'nobody']) assert.deepEqual(await alter(three, name), ['INVALID_REPLICA_ASSIGNMENT']);
    assert.deepEqual(await alter('/nowhere', 'cordoned'), ['LOG_DIR_NOT_FOUND']);
    assert.equal(await setBroker('cordoned.log.dirs', '/nowhere'), 'INVALID_REQUEST');
    assert.equal(await setBroker('cordoned.log.dirs', '*'), 'NONE');
    const nobody = { topics: [{ name: 'nowhere', numPartitions: 1, replicationFactor: 1 }], timeoutMs: 10_000 };
    const { topics } = await client.send(CreateTopicsRequest, CreateTopicsResponse, 5, nobody);
    assert.equal(errorByCode(topics[0]!.errorCode).name, 'INVALID_REPLICATION_FACTOR', 'there is no broker for it');
    assert.equal(await setBroker('cordoned.log.dirs', ''), 'NONE');
    assert.deepEqual(await alter(three, 'cordoned'), ['NONE']);
  });

  test('the rate of moves changes while they are under way', async () => {
    await create('slow');
    const [from] = await places('slow');
    const to = [one, two, three].find((path) => path !== from)!;
    assert.equal(await setBroker('replica.alter.log.dirs.io.max.bytes.per.second', '0'), 'NONE');
    // An empty log has nothing that would be held back.
    assert.deepEqual(await alter(to, 'slow'), ['NONE']);
    await until('the replica has moved', async () => String(await places('slow')) === to);
  });
});

describe('AlterReplicaLogDirs', () => {
  const logger = { warn: () => undefined } as never;

  for (const { name, find, throwing, expected } of [
    { name: 'a partition of another broker', find: undefined, throwing: 6, expected: 'REPLICA_NOT_AVAILABLE' },
    { name: 'a partition whose directory is offline', find: { isOffline: true }, throwing: 56, expected: 'KAFKA_STORAGE_ERROR' },
  ]) {
    test(`of ${name}: ${expected}`, async () => {
      const directory = { path: '/one', isOnline: true };
      const handler = alterReplicaLogDirsHandler({
        logger,
        isCordoned: () => false,
        logManager: {
          directory: () => directory as never,
          get: () => undefined,
          future: () => undefined,
          prefer: () => undefined,
          startMove: () => undefined,
          cancelMove: () => undefined,
        },
        replicaManager: {
          find: () => find as never,
          partition: () => {
            throw new ProtocolError(throwing);
          },
        },
      });
      for (const version of versionsOf(handler)) {
        const request = { dirs: [{ path: '/one', topics: [{ name: 't', partitions: [3, 3] }] }] };
        const { results } = await callHandler(handler, version, request);
        assert.deepEqual(
          results.map(({ topicName, partitions }) => [
            topicName,
            partitions.map(({ partitionIndex, errorCode }) => [partitionIndex, errorByCode(errorCode).name]),
          ]),
          [['t', [[3, expected]]]],
          `version ${version}`,
        );
      }
    });
  }
});
