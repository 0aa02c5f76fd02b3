// What a broker does when one of its log directories fails, or the disk is full, in a simulated world: the partitions that lie there
// answer KAFKA_STORAGE_ERROR to every request, everything else goes on; without its last directory, or its journal, the broker stops.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type Broker, startBroker } from '@odradek/broker';
import {
  AlterReplicaLogDirsRequest,
  AlterReplicaLogDirsResponse,
  buildRecordBatch,
  CreateTopicsRequest,
  CreateTopicsResponse,
  DeleteRecordsRequest,
  DeleteRecordsResponse,
  DeleteTopicsRequest,
  DeleteTopicsResponse,
  DescribeLogDirsRequest,
  DescribeLogDirsResponse,
  DescribeProducersRequest,
  DescribeProducersResponse,
  errorByCode,
  FetchRequest,
  FetchResponse,
  FindCoordinatorRequest,
  FindCoordinatorResponse,
  ListOffsetsRequest,
  ListOffsetsResponse,
  MetadataRequest,
  MetadataResponse,
  OffsetCommitRequest,
  OffsetCommitResponse,
  OffsetFetchRequest,
  OffsetFetchResponse,
  OffsetForLeaderEpochRequest,
  OffsetForLeaderEpochResponse,
  ProduceRequest,
  ProduceResponse,
} from '@odradek/protocol';
import { type SimulatedDisk, type SimulatedMachine, SimulatedWorld, startOdradekProcess, until } from '@odradek/testing';
import { BrokerConversation } from '../cases/broker-conversation.ts';
import { SimulatedClient } from '../simulation/simulated-client.ts';

const address = { host: 'broker', port: 9092 };

/** The name of an error code. */
const nameOf = (code: number | undefined): string => (code === undefined ? 'no answer' : errorByCode(code).name);

class BrokerOnDisks {
  readonly world = new SimulatedWorld({ seed: 7 });
  readonly client = new SimulatedClient(this.world.machine('client'), address);
  #directories: string;
  broker!: Broker;
  machine: SimulatedMachine = this.world.machine('broker');

  constructor(directories: readonly string[]) {
    this.#directories = directories.join(',');
  }

  async start(properties: Readonly<Record<string, string | number>> = {}): Promise<this> {
    this.broker = await this.world.run(
      startBroker({
        world: this.machine,
        properties: {
          listeners: `PLAINTEXT://${address.host}:${address.port}`,
          'log.dirs': this.#directories,
          'broker.id': 0,
          'offsets.topic.num.partitions': 3,
          ...properties,
        },
      }),
    );
    return this;
  }

  /** As if somebody had changed log.dirs. */
  async restartWith(directories: readonly string[]): Promise<void> {
    await this.world.run(this.broker.close());
    this.#directories = directories.join(',');
    await this.start();
    await this.world.advance(1000);
  }

  get disk(): SimulatedDisk {
    return this.machine.fileSystem;
  }

  async create(name: string, numPartitions: number, topicConfigs: Readonly<Record<string, string>> = {}): Promise<string> {
    const configs = Object.entries(topicConfigs).map(([key, value]) => ({ name: key, value }));
    const request = { topics: [{ name, numPartitions, replicationFactor: 1, configs }], timeoutMs: 1000 };
    const { topics } = await this.world.run(this.client.send(CreateTopicsRequest, CreateTopicsResponse, 5, request));
    return nameOf(topics[0]?.errorCode);
  }

  async produce(name: string, index: number, value = 'v', acks = -1): Promise<string> {
    const record = { key: Buffer.from('k'), value: Buffer.from(value), timestamp: this.machine.clock.wallTimeMs() };
    const records = buildRecordBatch({}, [record]);
    const topicData = [{ name, partitionData: [{ index, records }] }];
    const { responses } = await this.world.run(
      this.client.send(ProduceRequest, ProduceResponse, 9, { acks, timeoutMs: 1000, topicData }),
    );
    return nameOf(responses[0]?.partitionResponses[0]?.errorCode);
  }

  async fetch(topic: string, partition: number): Promise<string> {
    const topics = [{ topic, partitions: [{ partition, fetchOffset: 0, partitionMaxBytes: 1000 }] }];
    const { responses } = await this.world.run(
      this.client.send(FetchRequest, FetchResponse, 11, { maxWaitMs: 0, minBytes: 0, topics }),
    );
    return nameOf(responses[0]?.partitions[0]?.errorCode);
  }

  async endOffset(name: string, partitionIndex: number): Promise<number | string> {
    const topics = [{ name, partitions: [{ partitionIndex, timestamp: -1 }] }];
    const answer = await this.world.run(this.client.send(ListOffsetsRequest, ListOffsetsResponse, 5, { replicaId: -1, topics }));
    const found = answer.topics[0]?.partitions[0];
    return found?.errorCode === 0 ? found.offset : nameOf(found?.errorCode);
  }

  async deleteTopic(name: string): Promise<string> {
    const request = { topicNames: [name], timeoutMs: 1000 };
    const { responses } = await this.world.run(this.client.send(DeleteTopicsRequest, DeleteTopicsResponse, 5, request));
    return nameOf(responses[0]?.errorCode);
  }

  async leaders(name: string): Promise<number[]> {
    const request = { topics: [{ name }], allowAutoTopicCreation: false };
    const { topics } = await this.world.run(this.client.send(MetadataRequest, MetadataResponse, 8, request));
    return [...(topics[0]?.partitions ?? [])].sort((a, b) => a.partitionIndex - b.partitionIndex).map(({ leaderId }) => leaderId);
  }

  /** Where each partition of the topic lies. */
  async places(topic: string): Promise<Map<number, string>> {
    const request = { topics: null };
    const { results } = await this.world.run(this.client.send(DescribeLogDirsRequest, DescribeLogDirsResponse, 4, request));
    return new Map(
      results.flatMap(({ logDir, topics }) =>
        topics
          .filter(({ name }) => name === topic)
          .flatMap(({ partitions }) => partitions.map(({ partitionIndex }) => [partitionIndex, logDir] as const)),
      ),
    );
  }

  async failed(): Promise<string> {
    const error = await this.world.run(this.broker.failed);
    return error.message;
  }
}

/** What the partition answers to each kind of request that is about one. */
async function answers(on: BrokerOnDisks, name: string, index: number): Promise<Record<string, string>> {
  const { client, world } = on;
  const deleted = await world.run(
    client.send(DeleteRecordsRequest, DeleteRecordsResponse, 1, {
      topics: [{ name, partitions: [{ partitionIndex: index, offset: 0 }] }],
      timeoutMs: 1000,
    }),
  );
  const epochs = await world.run(
    client.send(OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse, 3, {
      replicaId: -1,
      topics: [{ topic: name, partitions: [{ partition: index, leaderEpoch: 0 }] }],
    }),
  );
  const producers = await world.run(
    client.send(DescribeProducersRequest, DescribeProducersResponse, 0, { topics: [{ name, partitionIndexes: [index] }] }),
  );
  const moved = await world.run(
    client.send(AlterReplicaLogDirsRequest, AlterReplicaLogDirsResponse, 1, {
      dirs: [{ path: '/data', topics: [{ name, partitions: [index] }] }],
    }),
  );
  const end = await on.endOffset(name, index);
  return {
    produce: await on.produce(name, index),
    produceWithoutReplicas: await on.produce(name, index, 'v', 1),
    fetch: await on.fetch(name, index),
    listOffsets: typeof end === 'number' ? 'NONE' : end,
    deleteRecords: nameOf(deleted.topics[0]?.partitions[0]?.errorCode),
    offsetForLeaderEpoch: nameOf(epochs.topics[0]?.partitions[0]?.errorCode),
    describeProducers: nameOf(producers.topics[0]?.partitions[0]?.errorCode),
    alterReplicaLogDirs: nameOf(moved.results[0]?.partitions[0]?.errorCode),
  };
}

describe('a log directory that fails', () => {
  test('goes offline alone: its partitions say so to every request and have no leader, the others go on', async () => {
    const on = await new BrokerOnDisks(['/data', '/two']).start();
    await on.create('orders', 4);
    for (let index = 0; index < 4; index++) assert.equal(await on.produce('orders', index), 'NONE');
    const places = await on.places('orders');
    const lost = [...places].filter(([, path]) => path === '/two').map(([index]) => index);
    const kept = [...places].filter(([, path]) => path === '/data').map(([index]) => index);
    assert.deepEqual([lost.length, kept.length], [2, 2]);
    on.disk.faults.add({ path: '/two' });
    assert.equal(await on.produce('orders', lost[0]!), 'KAFKA_STORAGE_ERROR');
    await on.world.advance(1000);
    for (const index of lost) {
      const told = await answers(on, 'orders', index);
      for (const [request, error] of Object.entries(told)) assert.equal(error, 'KAFKA_STORAGE_ERROR', `${request} of ${index}`);
    }
    for (const index of kept) {
      const told = await answers(on, 'orders', index);
      for (const [request, error] of Object.entries(told)) assert.equal(error, 'NONE', `${request} of ${index}`);
    }
    const leaders = await on.leaders('orders');
    assert.deepEqual(
      leaders.map((leader, index) => (lost.includes(index) ? leader === -1 : leader === 0)),
      [true, true, true, true],
    );
    const { results } = await on.world.run(on.client.send(DescribeLogDirsRequest, DescribeLogDirsResponse, 4, { topics: null }));
    assert.deepEqual(
      results.map(({ logDir, errorCode, topics }) => [logDir, nameOf(errorCode), topics.length]),
      [
        ['/data', 'NONE', 1],
        ['/two', 'KAFKA_STORAGE_ERROR', 0],
      ],
    );
    // What looks after the others goes on: their checkpoints say how far they are.
    await on.world.advance(70_000);
    const checkpoint = on.disk.readFileSync('/data/replication-offset-checkpoint').toString();
    for (const index of kept) assert.match(checkpoint, new RegExp(`^orders ${index} 3$`, 'm'));
    await on.world.run(on.broker.close());
  });

  test('leaves a topic that is new to the others, and comes back with its partitions at the next start', async () => {
    const on = await new BrokerOnDisks(['/data', '/two']).start();
    await on.create('orders', 2);
    for (let index = 0; index < 2; index++) assert.equal(await on.produce('orders', index), 'NONE');
    const fault = { path: '/two' };
    on.disk.faults.add(fault);
    await on.world.advance(70_000);
    assert.equal(await on.create('fresh', 2), 'NONE');
    assert.deepEqual([...(await on.places('fresh')).values()], ['/data', '/data']);
    assert.equal(await on.deleteTopic('fresh'), 'NONE');
    await on.world.run(on.broker.close());
    on.disk.faults.delete(fault);
    await on.start();
    for (let index = 0; index < 2; index++) assert.equal(await on.endOffset('orders', index), 1);
    await on.world.run(on.broker.close());
  });

  test('that cannot be used at the start takes only its partitions along; they are not made anew', async () => {
    const on = await new BrokerOnDisks(['/data', '/two']).start();
    await on.create('orders', 2);
    for (let index = 0; index < 2; index++) assert.equal(await on.produce('orders', index), 'NONE');
    const places = await on.places('orders');
    await on.world.run(on.broker.close());
    on.disk.faults.add({ path: '/two' });
    await on.start();
    await on.world.advance(1000);
    for (const [index, path] of places) {
      assert.equal(await on.endOffset('orders', index), path === '/two' ? 'KAFKA_STORAGE_ERROR' : 1, `${index} in ${path}`);
    }
    await on.world.run(on.broker.close());
  });

  test('that is not configured any more is forgotten: its partitions are made anew, and its records stay where they are', async () => {
    const on = await new BrokerOnDisks(['/data', '/two']).start();
    await on.create('orders', 2);
    for (let index = 0; index < 2; index++) assert.equal(await on.produce('orders', index), 'NONE');
    const forgotten = [...(await on.places('orders'))].find(([, path]) => path === '/two')![0];
    await on.restartWith(['/data']);
    assert.deepEqual([await on.endOffset('orders', forgotten), await on.endOffset('orders', 1 - forgotten)], [0, 1]);
    assert.equal(await on.produce('orders', forgotten, 'another'), 'NONE');
    // It comes back, when the partition has other records by now: those that were there are kept for whoever wants them.
    await on.restartWith(['/data', '/two']);
    assert.equal(await on.endOffset('orders', forgotten), 1);
    assert.equal((await on.places('orders')).get(forgotten), '/data');
    const folders = on.disk.listSync('/two').filter((name) => name.startsWith('orders'));
    assert.match(folders.join(' '), /^orders-\d\.[0-9a-f]{32}-stray$/);
    await on.world.run(on.broker.close());
  });

  test('that is added later gets the new partitions, until it has as many as the others', async () => {
    const on = await new BrokerOnDisks(['/data']).start();
    await on.create('orders', 3);
    await on.restartWith(['/data', '/two']);
    await on.create('fresh', 3);
    assert.deepEqual(new Set((await on.places('fresh')).values()), new Set(['/two']));
    await on.create('more', 2);
    assert.deepEqual(new Set((await on.places('more')).values()), new Set(['/data', '/two']));
    await on.world.run(on.broker.close());
  });

  test('takes the groups along whose offsets lie there, and no others', async () => {
    const on = await new BrokerOnDisks(['/data', '/two']).start();
    await on.create('orders', 1);
    const groups = Array.from({ length: 8 }, (_, index) => `group-${index}`);
    const find = async (key: string): Promise<string> => {
      const request = { keyType: 0, coordinatorKeys: [key] };
      const { coordinators } = await on.world.run(on.client.send(FindCoordinatorRequest, FindCoordinatorResponse, 4, request));
      return nameOf(coordinators[0]?.errorCode);
    };
    const commit = async (groupId: string): Promise<string> => {
      const topics = [{ name: 'orders', partitions: [{ partitionIndex: 0, committedOffset: 1 }] }];
      const request = { groupId, generationIdOrMemberEpoch: -1, memberId: '', topics };
      const answer = await on.world.run(on.client.send(OffsetCommitRequest, OffsetCommitResponse, 8, request));
      return nameOf(answer.topics[0]?.partitions[0]?.errorCode);
    };
    await find('group-0');
    await on.world.advance(3000);
    for (const group of groups) assert.deepEqual([await find(group), await commit(group)], ['NONE', 'NONE'], group);
    const places = await on.places('__consumer_offsets');
    assert.equal(new Set(places.values()).size, 2);
    on.disk.faults.add({ path: '/two' });
    await on.world.advance(70_000);
    const told = new Map<string, string>();
    for (const group of groups) told.set(group, `${await find(group)} ${await commit(group)}`);
    assert.deepEqual(new Set(told.values()), new Set(['NONE NONE', 'COORDINATOR_NOT_AVAILABLE NOT_COORDINATOR']));
    await on.world.run(on.broker.close());
  });
});

describe('the broker stops', () => {
  test('when its last directory fails', async () => {
    const on = await new BrokerOnDisks(['/data']).start();
    await on.create('orders', 1);
    on.disk.faults.add({ path: /^\/data\/orders-0/ });
    assert.equal(await on.produce('orders', 0), 'KAFKA_STORAGE_ERROR');
    assert.match(await on.failed(), /log directory \/data has failed/);
    await on.world.run(on.broker.close());
  });

  test('with status 1, for whoever has started it', async () => {
    await using odradek = await startOdradekProcess();
    const { host, port, bootstrap } = odradek;
    const conversation = await BrokerConversation.open({ host, port, bootstrap, odradek, close: async () => undefined });
    const topic = await conversation.createTopic('lost', { configs: { 'segment.bytes': '1048576' } });
    const batch = (): Buffer => buildRecordBatch({}, [{ value: Buffer.alloc(600_000), timestamp: Date.now() }]);
    await conversation.append(topic, batch());
    // What is open goes on; the next segment finds no folder.
    for (const directory of odradek.dataDirectories) rmSync(join(directory, `${topic}-0`), { recursive: true });
    const answer = await conversation.produce(topic, batch()).catch(() => undefined);
    if (answer !== undefined) assert.equal(nameOf(answer.errorCode), 'KAFKA_STORAGE_ERROR');
    await until('the broker has ended', () => odradek.exitCode !== null, { timeoutMs: 30_000 });
    assert.equal(odradek.exitCode, 1);
    assert.match(odradek.output, /The broker stops: the disk that it cannot do without has failed/);
    await conversation.close().catch(() => undefined);
  });

  test('when the directory with its coordination tree fails, though there is another', async () => {
    const on = await new BrokerOnDisks(['/data', '/two']).start();
    await on.create('orders', 2);
    on.disk.faults.add({ path: '/data' });
    await on.world.advance(70_000);
    assert.match(await on.failed(), /\/data/);
    await on.world.run(on.broker.close());
  });

  test('while it starts, when no directory is left or not the one with its coordination tree', async () => {
    const on = await new BrokerOnDisks(['/data', '/two']).start();
    await on.create('orders', 2);
    await on.world.run(on.broker.close());
    const fault = { path: /^\/data\/orders-/ };
    on.disk.faults.add(fault);
    await assert.rejects(on.start(), /The log directory \/data, which has the coordination journal, has failed/);
    on.disk.faults.add({ path: /^\/two\/orders-/ });
    await assert.rejects(on.start(), /No log directory can be used: \/data: .*; \/two: /);
    on.disk.faults.clear();
    await on.start();
    for (const index of [0, 1]) assert.equal(await on.endOffset('orders', index), 0);
    await on.world.run(on.broker.close());
  });

  test('when the journal of its coordination tree cannot be forced to the device', async () => {
    const on = await new BrokerOnDisks(['/data']).start();
    on.disk.faults.add({ path: /coordination\.journal/, operations: ['sync'] });
    await on.create('orders', 1).catch(() => undefined);
    assert.match(await on.failed(), /coordination journal in \/data has failed/);
    await on.world.run(on.broker.close());
  });
});

describe('a partition of __consumer_offsets that moves', () => {
  test('keeps the offsets of its groups, while they commit and through a restart', async () => {
    const on = await new BrokerOnDisks(['/data', '/two']).start({ 'offsets.topic.num.partitions': 1 });
    await on.create('orders', 1);
    const group = { keyType: 0, coordinatorKeys: ['readers'] };
    await on.world.run(on.client.send(FindCoordinatorRequest, FindCoordinatorResponse, 4, group));
    await on.world.advance(3000);
    let committed = 0;
    const commit = async (): Promise<void> => {
      const topics = [{ name: 'orders', partitions: [{ partitionIndex: 0, committedOffset: committed + 1 }] }];
      const request = { groupId: 'readers', generationIdOrMemberEpoch: -1, memberId: '', topics };
      const answer = await on.world.run(on.client.send(OffsetCommitRequest, OffsetCommitResponse, 8, request));
      assert.equal(nameOf(answer.topics[0]?.partitions[0]?.errorCode), 'NONE');
      committed += 1;
    };
    const fetched = async (): Promise<number | undefined> => {
      const request = { groups: [{ groupId: 'readers', topics: [{ name: 'orders', partitionIndexes: [0] }] }] };
      const answer = await on.world.run(on.client.send(OffsetFetchRequest, OffsetFetchResponse, 8, request));
      return answer.groups[0]?.topics[0]?.partitions[0]?.committedOffset;
    };
    for (let round = 0; round < 6; round++) {
      for (let count = 0; count < 20; count++) await commit();
      const from = (await on.places('__consumer_offsets')).get(0);
      const path = from === '/data' ? '/two' : '/data';
      const dirs = [{ path, topics: [{ name: '__consumer_offsets', partitions: [0] }] }];
      await on.world.run(on.client.send(AlterReplicaLogDirsRequest, AlterReplicaLogDirsResponse, 2, { dirs }));
      while ((await on.places('__consumer_offsets')).get(0) !== path) await commit();
      assert.equal(await fetched(), committed);
    }
    assert.ok(committed > 120);
    await on.world.run(on.broker.close());
    await on.start({ 'offsets.topic.num.partitions': 1 });
    await on.world.advance(1000);
    assert.equal(await fetched(), committed);
    await on.world.run(on.broker.close());
  });
});

describe('a disk that is full', () => {
  for (const { what, path, operations, refuses } of [
    { what: 'records', path: /orders-0\/\d+\.log$/, operations: ['write'], refuses: true },
    { what: 'the file of a new segment', path: /orders-0\/\d+\.log$/, operations: ['open'], refuses: true },
    { what: 'an offset index', path: /orders-0\/\d+\.index$/, operations: ['open', 'write'], refuses: true },
    { what: 'a time index', path: /orders-0\/\d+\.timeindex$/, operations: ['open', 'write'], refuses: true },
    { what: 'a producer snapshot', path: /orders-0\/\d+\.snapshot$/, operations: ['open', 'write'], refuses: true },
    { what: 'leader epochs', path: /orders-0\/leader-epoch-checkpoint/, operations: ['open', 'write'], refuses: false },
    { what: 'the checkpoints of the directory', path: /-offset-checkpoint/, operations: ['open', 'write'], refuses: false },
    { what: 'cleaned segments', path: /\.cleaned$/, operations: ['open', 'write'], refuses: false },
  ] as const) {
    test(`for ${what} loses nothing that was acknowledged, and things go on when there is room`, async () => {
      const on = await new BrokerOnDisks(['/data']).start({ 'log.cleaner.backoff.ms': 500 });
      const segments = { 'segment.bytes': '1048576', 'segment.ms': '300', 'index.interval.bytes': '0' };
      // Compaction would take acknowledged records away that others have followed.
      await on.create('orders', 1, segments);
      const compacted = { ...segments, 'cleanup.policy': 'compact', 'min.cleanable.dirty.ratio': '0', 'segment.ms': '50' };
      await on.create('compacted', 1, compacted);
      let acknowledged = 0;
      let refused = 0;
      const write = async (times: number): Promise<void> => {
        for (let count = 0; count < times; count++) {
          const outcome = await on.produce('orders', 0, `${acknowledged} `.padEnd(2000));
          if (outcome === 'NONE') acknowledged += 1;
          else {
            assert.equal(outcome, 'KAFKA_STORAGE_ERROR');
            refused += 1;
          }
          assert.equal(await on.produce('compacted', 0), 'NONE');
          await on.world.advance(60);
        }
      };
      await write(20);
      const fault = { path, operations, code: 'ENOSPC' };
      on.disk.faults.add(fault);
      await write(40);
      await on.world.advance(70_000);
      assert.equal(refused > 0, refuses, `${refused} refused`);
      assert.equal(await on.endOffset('orders', 0), acknowledged, 'what was refused is not there');
      on.disk.faults.delete(fault);
      const before = refused;
      await write(20);
      assert.equal(refused, before, 'with room again nothing is refused');
      on.machine = on.world.crash('broker', 'everything');
      await on.start();
      assert.equal(await on.endOffset('orders', 0), acknowledged);
      await on.world.run(on.broker.close());
    });
  }

  test('takes no new partition, and takes it as soon as there is room, without a restart', async () => {
    const on = await new BrokerOnDisks(['/data', '/two']).start();
    const fault = { path: /\/(fresh|doomed)-0/, operations: ['open', 'write'], code: 'ENOSPC' } as const;
    on.disk.faults.add(fault);
    // The controller has chosen a leader before that finds out; Kafka's answers the same.
    await on.create('fresh', 1);
    await on.create('doomed', 1);
    await on.world.advance(100);
    assert.deepEqual(await on.leaders('fresh'), [-1]);
    assert.equal(await on.produce('fresh', 0), 'KAFKA_STORAGE_ERROR');
    await on.world.advance(60_000);
    assert.equal(await on.deleteTopic('doomed'), 'NONE', 'a topic that has no log can still be deleted');
    on.disk.faults.delete(fault);
    await on.world.advance(10_000);
    assert.deepEqual(await on.leaders('fresh'), [0]);
    assert.equal(await on.produce('fresh', 0), 'NONE');
    await on.world.run(on.broker.close());
  });

  test('for a new partition leaves it to the next directory', async () => {
    const on = await new BrokerOnDisks(['/data', '/two']).start();
    on.disk.faults.add({ path: /^\/data\/fresh-/, operations: ['open', 'write'], code: 'ENOSPC' });
    assert.equal(await on.create('fresh', 1), 'NONE');
    assert.deepEqual([...(await on.places('fresh')).values()], ['/two']);
    assert.equal(on.disk.statSync('/data/fresh-0'), undefined);
    await on.world.run(on.broker.close());
  });

  test('for the coordination journal refuses changes of topics, and goes on when there is room', async () => {
    const on = await new BrokerOnDisks(['/data']).start();
    await on.create('orders', 1);
    on.disk.capacityBytes = on.disk.usedBytes + 150;
    assert.equal(await on.create('fresh', 1), 'KAFKA_STORAGE_ERROR');
    assert.equal(await on.produce('orders', 0), 'NONE', 'what fits is taken');
    on.disk.capacityBytes = Number.MAX_SAFE_INTEGER;
    await on.world.advance(10_000);
    assert.equal(await on.create('fresh', 1), 'NONE');
    assert.equal(await on.produce('fresh', 0), 'NONE');
    await on.world.run(on.broker.close());
  });
});
