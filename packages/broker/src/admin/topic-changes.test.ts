import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { configNode, topicNode } from '@odradek/coordination';
import { type ErrorName, errorByCode, zeroUuid } from '@odradek/protocol';
import { SimulatedDisk, until } from '@odradek/testing';
import { type OneBroker, startOneBroker } from './one-broker.fixture.ts';
import type { TopicToCreate, TopicToGrow } from './topic-changes.ts';

const topic = (name: string, changes: Partial<TopicToCreate> = {}): TopicToCreate => ({
  name,
  numPartitions: 1,
  replicationFactor: 1,
  assignments: [],
  configs: [],
  ...changes,
});
const once = { timeoutMs: 10_000, validateOnly: false };
const codeName = (error: { readonly code: number } | undefined): ErrorName | undefined => error && errorByCode(error.code).name;

describe('topic changes', () => {
  let broker: OneBroker;
  beforeEach(async () => {
    broker = await startOneBroker();
  });
  afterEach(() => broker.close());

  const create = (...topics: TopicToCreate[]) => broker.topicChanges.createTopics(topics, once);

  it('creates a topic that has its leaders when the answer comes', async () => {
    const [created] = await create(topic('t', { numPartitions: 2, configs: [{ name: 'retention.ms', value: '5' }] }));
    assert.ok(created !== undefined && created.error === undefined);
    const found = broker.metadataCache.current.topic('t');
    assert.equal(found?.id, created.topicId);
    assert.deepEqual(
      found.partitions.map(({ index, leader, isr }) => ({ index, leader, isr })),
      [
        { index: 0, leader: 0, isr: [0] },
        { index: 1, leader: 0, isr: [0] },
      ],
    );
    assert.deepEqual([created.numPartitions, created.replicationFactor, [...created.configs]], [2, 1, [['retention.ms', '5']]]);
    const { data } = await broker.coordination.get(configNode.path('topics', 't'));
    assert.equal(data?.toString(), '{"version":1,"config":{"retention.ms":"5"}}');
    assert.deepEqual(broker.configChanges.overrides({ type: 2, name: 't' }), new Map([['retention.ms', '5']]));
  });

  it('takes the defaults for -1, and the replicas from an assignment', async () => {
    const [byDefault, assigned] = await create(
      topic('a', { numPartitions: -1, replicationFactor: -1 }),
      topic('b', {
        numPartitions: -1,
        replicationFactor: -1,
        assignments: [
          { partitionIndex: 1, brokerIds: [0] },
          { partitionIndex: 0, brokerIds: [0] },
        ],
      }),
    );
    assert.deepEqual([byDefault?.numPartitions, assigned?.numPartitions, assigned?.replicationFactor], [3, 2, 1]);
  });

  const assigned = (...assignments: TopicToCreate['assignments'][number][]): Partial<TopicToCreate> => ({
    numPartitions: -1,
    replicationFactor: -1,
    assignments,
  });
  const refusals: { readonly name: string; readonly topic: TopicToCreate; readonly code: ErrorName; readonly message?: string }[] =
    [
      {
        name: 'a name with other characters',
        topic: topic('bad/name'),
        code: 'INVALID_TOPIC_EXCEPTION',
        message: `Topic name is invalid: 'bad/name' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'`,
      },
      { name: 'an empty name', topic: topic(''), code: 'INVALID_TOPIC_EXCEPTION' },
      { name: 'a dot', topic: topic('.'), code: 'INVALID_TOPIC_EXCEPTION' },
      { name: 'a name that is too long', topic: topic('x'.repeat(250)), code: 'INVALID_TOPIC_EXCEPTION' },
      { name: 'a name in use', topic: topic('in.use'), code: 'TOPIC_ALREADY_EXISTS', message: `Topic 'in.use' already exists.` },
      {
        name: 'a name that metrics cannot tell from another',
        topic: topic('in_use'),
        code: 'INVALID_TOPIC_EXCEPTION',
        message: `Topic 'in_use' collides with existing topic: in.use`,
      },
      { name: 'no partitions', topic: topic('t', { numPartitions: 0 }), code: 'INVALID_PARTITIONS' },
      { name: 'less than none', topic: topic('t', { numPartitions: -2 }), code: 'INVALID_PARTITIONS' },
      { name: 'no replicas', topic: topic('t', { replicationFactor: 0 }), code: 'INVALID_REPLICATION_FACTOR' },
      {
        name: 'more replicas than brokers',
        topic: topic('t', { replicationFactor: 3 }),
        code: 'INVALID_REPLICATION_FACTOR',
        message:
          'Unable to replicate the partition 3 time(s): The target replication factor of 3 cannot be reached because only 1 broker(s) are registered.',
      },
      {
        name: 'an assignment and a number of partitions',
        topic: topic('t', { ...assigned({ partitionIndex: 0, brokerIds: [0] }), numPartitions: 1 }),
        code: 'INVALID_REQUEST',
      },
      {
        name: 'an assignment and a replication factor',
        topic: topic('t', { ...assigned({ partitionIndex: 0, brokerIds: [0] }), replicationFactor: 1 }),
        code: 'INVALID_REQUEST',
      },
      {
        name: 'an unknown broker',
        topic: topic('t', assigned({ partitionIndex: 0, brokerIds: [9] })),
        code: 'INVALID_REPLICA_ASSIGNMENT',
        message: 'The manual partition assignment includes broker 9, but no such broker is registered.',
      },
      {
        name: 'a partition without replicas',
        topic: topic('t', assigned({ partitionIndex: 0, brokerIds: [] })),
        code: 'INVALID_REPLICA_ASSIGNMENT',
      },
      {
        name: 'a broker twice',
        topic: topic('t', assigned({ partitionIndex: 0, brokerIds: [0, 0] })),
        code: 'INVALID_REPLICA_ASSIGNMENT',
      },
      { name: 'a gap', topic: topic('t', assigned({ partitionIndex: 1, brokerIds: [0] })), code: 'INVALID_REPLICA_ASSIGNMENT' },
      {
        name: 'a partition twice',
        topic: topic('t', assigned({ partitionIndex: 0, brokerIds: [0] }, { partitionIndex: 0, brokerIds: [0] })),
        code: 'INVALID_REPLICA_ASSIGNMENT',
      },
      { name: 'an unknown config', topic: topic('t', { configs: [{ name: 'bogus', value: '1' }] }), code: 'INVALID_CONFIG' },
      {
        name: 'a config without a value',
        topic: topic('t', { configs: [{ name: 'retention.ms', value: null }] }),
        code: 'INVALID_CONFIG',
      },
      {
        name: 'a config that cannot be',
        topic: topic('t', { configs: [{ name: 'retention.ms', value: 'x' }] }),
        code: 'INVALID_CONFIG',
      },
    ];
  for (const { name, topic: refused, code, message } of refusals) {
    it(`refuses ${name}: ${code}`, async () => {
      await create(topic('in.use'));
      for (const validateOnly of [true, false]) {
        const [outcome] = await broker.topicChanges.createTopics([refused], { timeoutMs: 10_000, validateOnly });
        assert.equal(codeName(outcome?.error), code);
        if (message !== undefined) assert.equal(outcome?.error?.message, message);
        assert.deepEqual([outcome?.topicId, outcome?.numPartitions], [zeroUuid, -1]);
      }
    });
  }

  it('lets one topic fail and creates the others; two that collide with each other cannot both be', async () => {
    const outcomes = await create(topic('a.b'), topic('a_b'), topic('c'));
    assert.deepEqual(
      outcomes.map(({ error }) => codeName(error)),
      [undefined, 'INVALID_TOPIC_EXCEPTION', undefined],
    );
  });

  it('creates nothing when it is to validate only', async () => {
    const [outcome] = await broker.topicChanges.createTopics([topic('t', { numPartitions: 4 })], {
      timeoutMs: 0,
      validateOnly: true,
    });
    assert.deepEqual([outcome?.error, outcome?.topicId, outcome?.numPartitions], [undefined, zeroUuid, 4]);
    assert.equal(await broker.coordination.exists(topicNode.path('t')), undefined);
  });

  it('refuses more than ten thousand partitions in a request', async () => {
    await assert.rejects(
      create(topic('t', { numPartitions: 2 ** 31 - 1 })),
      (error) => codeName(error as never) === 'POLICY_VIOLATION',
    );
  });

  it('answers REQUEST_TIMED_OUT when the leaders are late, or nobody wants to wait; the topic comes all the same', async () => {
    broker.isDeaf = true;
    const [late] = await broker.topicChanges.createTopics([topic('late')], { timeoutMs: 5, validateOnly: false });
    const [unawaited] = await broker.topicChanges.createTopics([topic('unawaited')], { timeoutMs: 0, validateOnly: false });
    assert.deepEqual([codeName(late?.error), codeName(unawaited?.error)], ['REQUEST_TIMED_OUT', 'REQUEST_TIMED_OUT']);
    assert.notEqual(await broker.coordination.exists(topicNode.path('unawaited')), undefined);
  });

  it('creates on demand once, however many ask, and internal topics as the broker says', async () => {
    const outcomes = await Promise.all([
      broker.topicChanges.autoCreate(['t', '__consumer_offsets']),
      broker.topicChanges.autoCreate(['t']),
      broker.topicChanges.autoCreate(['bad/name']),
    ]);
    assert.deepEqual(outcomes.map((errors) => [...errors].map(([name, error]) => `${name}: ${codeName(error) ?? 'done'}`)).flat(), [
      't: done',
      '__consumer_offsets: done',
      't: done',
      'bad/name: INVALID_TOPIC_EXCEPTION',
    ]);
    assert.equal((await broker.topicChanges.autoCreate(['t'])).get('t'), undefined);
    const { data } = await broker.coordination.get(topicNode.path('__consumer_offsets'));
    assert.equal(topicNode.decode('', data).replicas.size, 5);
    assert.deepEqual([...broker.configChanges.overrides({ type: 2, name: '__consumer_offsets' })], [['cleanup.policy', 'compact']]);
  });

  it('deletes topics by name and by id, and their names are free at once', async () => {
    const [, second] = await create(topic('a'), topic('b'));
    const outcomes = await broker.topicChanges.deleteTopics(
      [
        { name: 'a', topicId: zeroUuid },
        { name: null, topicId: second?.topicId ?? '' },
        { name: 'nope', topicId: zeroUuid },
        { name: null, topicId: 'nobodyHasThisIdAAAAAAAA' },
      ],
      { timeoutMs: 10_000 },
    );
    assert.deepEqual(
      outcomes.map(({ name, error }) => [name, codeName(error)]),
      [
        ['a', undefined],
        ['b', undefined],
        ['nope', 'UNKNOWN_TOPIC_OR_PARTITION'],
        [null, 'UNKNOWN_TOPIC_ID'],
      ],
    );
    assert.equal(broker.metadataCache.current.topicCount, 0);
    const [again] = await create(topic('a', { configs: [{ name: 'retention.ms', value: '7' }] }));
    assert.equal(again?.error, undefined);
    assert.deepEqual([...broker.configChanges.overrides({ type: 2, name: 'a' })], [['retention.ms', '7']]);
    assert.equal(await broker.coordination.exists(configNode.path('topics', 'b')), undefined);
  });

  it('adds partitions where they are missing', async () => {
    await create(topic('t', { numPartitions: 2 }));
    const grow = (change: Partial<TopicToGrow>, validateOnly = false) =>
      broker.topicChanges.createPartitions([{ name: 't', count: 3, assignments: null, ...change }], {
        timeoutMs: 10_000,
        validateOnly,
      });
    assert.equal((await grow({}, true))[0]?.error, undefined);
    assert.equal(broker.metadataCache.current.topic('t')?.partitions.length, 2);
    assert.equal((await grow({}))[0]?.error, undefined);
    assert.equal(broker.metadataCache.current.topic('t')?.partitions.length, 3);
    assert.equal((await grow({ count: 4, assignments: [{ brokerIds: [0] }] }))[0]?.error, undefined);
    const wrong: [Partial<TopicToGrow>, ErrorName, string?][] = [
      [{ count: 4 }, 'INVALID_PARTITIONS', 'Topic already has 4 partition(s).'],
      [{ count: 1 }, 'INVALID_PARTITIONS', 'The topic t currently has 4 partition(s); 1 would not be an increase.'],
      [{ name: 'nope' }, 'UNKNOWN_TOPIC_OR_PARTITION'],
      [{ count: 6, assignments: [{ brokerIds: [0] }] }, 'INVALID_REPLICA_ASSIGNMENT'],
      [{ count: 5, assignments: [{ brokerIds: [9] }] }, 'INVALID_REPLICA_ASSIGNMENT'],
      [{ count: 5, assignments: [{ brokerIds: [] }] }, 'INVALID_REPLICA_ASSIGNMENT'],
    ];
    for (const [change, code, message] of wrong) {
      const [outcome] = await grow(change);
      assert.equal(codeName(outcome?.error), code);
      if (message !== undefined) assert.equal(outcome?.error?.message, message);
    }
  });

  it('adds no more than ten thousand partitions at a time', async () => {
    await create(topic('t'));
    for (const count of [10_002, 2 ** 31 - 1]) {
      const growth = broker.topicChanges.createPartitions([{ name: 't', count, assignments: null }], {
        timeoutMs: 10_000,
        validateOnly: true,
      });
      await assert.rejects(growth, (error) => codeName(error as never) === 'POLICY_VIOLATION');
    }
  });

  it('refuses when another broker is the controller', async () => {
    await broker.controller.close();
    await assert.rejects(create(topic('t')), (error) => codeName(error as never) === 'NOT_CONTROLLER');
  });

  it('tells the controller of a thousand topics in one request', async () => {
    const outcomes = await create(...Array.from({ length: 1000 }, (_, i) => topic(`t${i}`)));
    assert.ok(outcomes.every(({ error }) => error === undefined));
    assert.equal(broker.metadataCache.current.topicCount, 1000);
    assert.equal(broker.requests.filter(({ name }) => name === 'LeaderAndIsrRequest').length, 1);
  });
});

describe('topic changes where nothing may be deleted', () => {
  it('refuse to, and that only when this is the controller', async () => {
    const broker = await startOneBroker({ isDeletionEnabled: false });
    await broker.topicChanges.createTopics([topic('t')], once);
    const deletion = () => broker.topicChanges.deleteTopics([{ name: 't', topicId: zeroUuid }], { timeoutMs: 1000 });
    await assert.rejects(deletion(), (error) => codeName(error as never) === 'TOPIC_DELETION_DISABLED');
    assert.ok(broker.metadataCache.current.topic('t') !== undefined);
    await broker.controller.close();
    await assert.rejects(deletion(), (error) => codeName(error as never) === 'NOT_CONTROLLER');
    await broker.close();
  });
});

describe('topic changes on a full disk', () => {
  it('are refused, and possible again when there is room', async () => {
    const fileSystem = new SimulatedDisk();
    const broker = await startOneBroker({ fileSystem });
    fileSystem.capacityBytes = fileSystem.usedBytes;
    const [refused] = await broker.topicChanges.createTopics([topic('t')], once);
    assert.equal(codeName(refused?.error), 'KAFKA_STORAGE_ERROR');
    fileSystem.capacityBytes = Number.MAX_SAFE_INTEGER;
    const [created] = await broker.topicChanges.createTopics([topic('t')], once);
    assert.equal(created?.error, undefined);
    await broker.close();
  });

  for (const room of [300, 400, 600]) {
    it(`are finished later when the controller runs out of room, ${room} bytes`, async () => {
      const fileSystem = new SimulatedDisk();
      const broker = await startOneBroker({ fileSystem });
      fileSystem.capacityBytes = fileSystem.usedBytes + room;
      const creation = broker.topicChanges.createTopics([topic('t', { numPartitions: 5 })], once);
      await until('the first write has been made', () => fileSystem.usedBytes > fileSystem.capacityBytes - room);
      fileSystem.capacityBytes = Number.MAX_SAFE_INTEGER;
      const [created] = await creation;
      assert.equal(created?.error, undefined);
      assert.equal(broker.metadataCache.current.topic('t')?.partitions.length, 5);
      await broker.topicChanges.createTopics([topic('another')], once);
      await broker.close();
    });
  }
});

describe('a broker that starts again', () => {
  it('finds topics, leaders and configs as they were', async () => {
    const fileSystem = new SimulatedDisk();
    const before = await startOneBroker({ fileSystem });
    await before.topicChanges.createTopics(
      [topic('t', { numPartitions: 2, configs: [{ name: 'retention.ms', value: '5' }] })],
      once,
    );
    const { clusterId } = before.metadataCache.current;
    const known = before.metadataCache.current.topic('t');
    fileSystem.crash('nothing');
    const after = await startOneBroker({ fileSystem });
    assert.deepEqual(after.metadataCache.current.topic('t'), known);
    assert.equal(after.metadataCache.current.clusterId, clusterId);
    assert.deepEqual([...after.configChanges.overrides({ type: 2, name: 't' })], [['retention.ms', '5']]);
    assert.equal(after.controller.epoch, 2);
    await after.close();
  });
});
