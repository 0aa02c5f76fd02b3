import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { configChangeNode, configNode } from '@odradek/coordination';
import { type ErrorName, errorByCode } from '@odradek/protocol';
import { until } from '@odradek/testing';
import { type ConfigAlteration, configOperations, configResourceTypes } from './config-changes.ts';
import { type OneBroker, startOneBroker } from './one-broker.fixture.ts';

const { TOPIC, BROKER, GROUP, CLIENT_METRICS, BROKER_LOGGER } = configResourceTypes;
const { SET, DELETE, APPEND, SUBTRACT } = configOperations;

function alteration(
  resourceType: number,
  resourceName: string,
  ...configs: [name: string, operation: number | undefined, value: string | null][]
): ConfigAlteration {
  return {
    resourceType,
    resourceName,
    configs: configs.map(([name, configOperation, value]) => ({
      name,
      value,
      ...(configOperation === undefined ? {} : { configOperation }),
    })),
  };
}

describe('config changes', () => {
  let broker: OneBroker;
  let told: string[];
  beforeEach(async () => {
    broker = await startOneBroker();
    await broker.topicChanges.createTopics([{ name: 't', numPartitions: 1, replicationFactor: 1, assignments: [], configs: [] }], {
      timeoutMs: 10_000,
      validateOnly: false,
    });
    told = [];
    broker.configChanges.onChange(
      ({ type, name }, overrides) => void told.push(`${type} ${name} ${JSON.stringify([...overrides])}`),
    );
  });
  afterEach(() => broker.close());

  const alter = async (alterations: ConfigAlteration[], options = { validateOnly: false }): Promise<(ErrorName | undefined)[]> =>
    (await broker.configChanges.incrementalAlter(alterations, options)).map((error) => error && errorByCode(error.code).name);
  const topicConfigs = () => Object.fromEntries(broker.configChanges.overrides({ type: TOPIC, name: 't' }));

  it('take effect before the answer, and are announced in the tree', async () => {
    assert.deepEqual(await alter([alteration(TOPIC, 't', ['retention.ms', SET, '5'])]), [undefined]);
    assert.deepEqual(topicConfigs(), { 'retention.ms': '5' });
    assert.deepEqual(told, ['2 t [["retention.ms","5"]]']);
    const { data, stat } = await broker.coordination.get(configNode.path('topics', 't'));
    assert.equal(data?.toString(), '{"version":1,"config":{"retention.ms":"5"}}');
    assert.equal(stat.version, 1);
    const change = await broker.coordination.get(`${configChangeNode.folder}/config_change_0000000000`);
    assert.equal(change.data?.toString(), '{"version":2,"entity_path":"topics/t"}');
  });

  it('set, delete, append and subtract single values', async () => {
    const steps: [ReturnType<typeof alteration>, Record<string, string>][] = [
      [
        alteration(TOPIC, 't', ['retention.ms', SET, '5'], ['cleanup.policy', APPEND, 'compact']),
        { 'cleanup.policy': 'delete,compact', 'retention.ms': '5' },
      ],
      [alteration(TOPIC, 't', ['cleanup.policy', APPEND, 'compact']), { 'cleanup.policy': 'delete,compact', 'retention.ms': '5' }],
      [
        alteration(TOPIC, 't', ['cleanup.policy', SUBTRACT, 'delete'], ['retention.ms', DELETE, null]),
        { 'cleanup.policy': 'compact' },
      ],
      [alteration(TOPIC, 't', ['cleanup.policy', DELETE, null]), {}],
    ];
    for (const [step, expected] of steps) {
      assert.deepEqual(await alter([step]), [undefined]);
      assert.deepEqual(topicConfigs(), expected);
    }
  });

  it('replace everything in the old form of the request', async () => {
    await alter([alteration(TOPIC, 't', ['retention.ms', SET, '5'])]);
    const [error] = await broker.configChanges.alter([alteration(TOPIC, 't', ['cleanup.policy', undefined, 'compact'])], {
      validateOnly: false,
    });
    assert.equal(error, undefined);
    assert.deepEqual(topicConfigs(), { 'cleanup.policy': 'compact' });
  });

  it('of all brokers and of this one have places of their own', async () => {
    assert.deepEqual(
      await alter([
        alteration(BROKER, '', ['log.retention.ms', SET, '7']),
        alteration(BROKER, '0', ['log.retention.ms', SET, '8']),
      ]),
      [undefined, undefined],
    );
    const read = async (entity: string) => (await broker.coordination.get(configNode.path('brokers', entity))).data?.toString();
    assert.equal(await read('<default>'), '{"version":1,"config":{"log.retention.ms":"7"}}');
    assert.equal(await read('0'), '{"version":1,"config":{"log.retention.ms":"8"}}');
    assert.deepEqual(told.sort(), ['4  [["log.retention.ms","7"]]', '4 0 [["log.retention.ms","8"]]']);
  });

  it('of groups and client-metrics may belong to any name, and are not announced where Kafka 3.9 would stumble over them', async () => {
    assert.deepEqual(
      await alter([
        alteration(GROUP, 'a/b c', ['consumer.session.timeout.ms', SET, '9']),
        alteration(CLIENT_METRICS, 'm', ['interval.ms', SET, '100']),
      ]),
      [undefined, undefined],
    );
    assert.deepEqual([...broker.configChanges.overrides({ type: GROUP, name: 'a/b c' })], [['consumer.session.timeout.ms', '9']]);
    assert.deepEqual(broker.configChanges.names(GROUP), ['a/b c']);
    assert.notEqual(await broker.coordination.exists('/config/groups/a%2Fb%20c'), undefined);
    assert.deepEqual((await broker.coordination.children(configChangeNode.folder)).names, []);
  });

  const refusals: { readonly name: string; readonly alterations: ConfigAlteration[]; readonly codes: (ErrorName | undefined)[] }[] =
    [
      {
        name: 'a topic that is not there',
        alterations: [alteration(TOPIC, 'nope', ['retention.ms', SET, '1'])],
        codes: ['UNKNOWN_TOPIC_OR_PARTITION'],
      },
      {
        name: 'a name that no topic can have',
        alterations: [alteration(TOPIC, 'a/b', ['retention.ms', SET, '1'])],
        codes: ['INVALID_TOPIC_EXCEPTION'],
      },
      { name: 'all topics at once', alterations: [alteration(TOPIC, '', ['retention.ms', SET, '1'])], codes: ['INVALID_REQUEST'] },
      { name: 'an unknown config', alterations: [alteration(TOPIC, 't', ['bogus', SET, '1'])], codes: ['INVALID_CONFIG'] },
      {
        name: 'a value that cannot be',
        alterations: [alteration(TOPIC, 't', ['retention.ms', SET, 'x'])],
        codes: ['INVALID_CONFIG'],
      },
      {
        name: 'appending to what is no list',
        alterations: [alteration(TOPIC, 't', ['retention.ms', APPEND, '1'])],
        codes: ['INVALID_CONFIG'],
      },
      {
        name: 'subtracting from what is not known',
        alterations: [alteration(TOPIC, 't', ['bogus', SUBTRACT, '1'])],
        codes: ['INVALID_CONFIG'],
      },
      {
        name: 'a key twice',
        alterations: [alteration(TOPIC, 't', ['retention.ms', SET, '1'], ['retention.ms', DELETE, null])],
        codes: ['INVALID_REQUEST'],
      },
      {
        name: 'a resource twice',
        alterations: [
          alteration(TOPIC, 't', ['retention.ms', SET, '1']),
          alteration(TOPIC, 't', ['cleanup.policy', SET, 'compact']),
        ],
        codes: ['INVALID_REQUEST', 'INVALID_REQUEST'],
      },
      { name: 'no value', alterations: [alteration(TOPIC, 't', ['retention.ms', SET, null])], codes: ['INVALID_REQUEST'] },
      { name: 'an unknown operation', alterations: [alteration(TOPIC, 't', ['retention.ms', 9, '1'])], codes: ['INVALID_REQUEST'] },
      {
        name: 'what only a restart can change',
        alterations: [alteration(BROKER, '0', ['broker.id', SET, '4'])],
        codes: ['INVALID_REQUEST'],
      },
      {
        name: 'another broker',
        alterations: [alteration(BROKER, '9', ['log.retention.ms', SET, '1'])],
        codes: ['INVALID_REQUEST'],
      },
      {
        name: 'a broker that is no number',
        alterations: [alteration(BROKER, 'abc', ['log.retention.ms', SET, '1'])],
        codes: ['INVALID_REQUEST'],
      },
      {
        name: 'all groups at once',
        alterations: [alteration(GROUP, '', ['consumer.session.timeout.ms', SET, '1'])],
        codes: ['INVALID_REQUEST'],
      },
      {
        name: 'all client metrics at once',
        alterations: [alteration(CLIENT_METRICS, '', ['interval.ms', SET, '1'])],
        codes: ['INVALID_REQUEST'],
      },
      {
        name: 'what does not live in the tree',
        alterations: [alteration(BROKER_LOGGER, '0', ['root', SET, 'INFO'])],
        codes: ['INVALID_REQUEST'],
      },
    ];
  for (const { name, alterations, codes } of refusals) {
    it(`refuse ${name}`, async () => {
      for (const validateOnly of [true, false]) assert.deepEqual(await alter(alterations, { validateOnly }), codes);
      assert.deepEqual(topicConfigs(), {});
      assert.deepEqual(told, []);
    });
  }

  it('change nothing when they are only to be validated', async () => {
    assert.deepEqual(await alter([alteration(TOPIC, 't', ['retention.ms', SET, '5'])], { validateOnly: true }), [undefined]);
    assert.deepEqual(topicConfigs(), {});
  });

  it('made by somebody else come through the notification', async () => {
    const arrived = new Promise<void>((resolve) => broker.configChanges.onChange(() => resolve()));
    await broker.coordination.set(configNode.path('topics', 't'), configNode.encode(new Map([['retention.ms', '11']])));
    await broker.coordination.create(`${configChangeNode.folder}/${configChangeNode.prefix}`, configChangeNode.encode('topics/t'), {
      sequential: true,
    });
    await arrived;
    assert.deepEqual(topicConfigs(), { 'retention.ms': '11' });
  });

  it('all arrive when many are made at once', async () => {
    const before = await Promise.all(
      Array.from({ length: 50 }, (_, i) => alter([alteration(TOPIC, 't', ['retention.ms', SET, String(i)])])),
    );
    assert.ok(before.flat().every((error) => error === undefined));
    const { data } = await broker.coordination.get(configNode.path('topics', 't'));
    assert.deepEqual(Object.fromEntries(configNode.decode('t', data)), topicConfigs());
  });

  it('of a topic that is made anew are its own, whatever was still to be heard of the one before', async () => {
    const announce = (): Promise<unknown> =>
      broker.coordination.create(`${configChangeNode.folder}/${configChangeNode.prefix}`, configChangeNode.encode('topics/t'), {
        sequential: true,
      });
    await broker.topicChanges.deleteTopics([{ name: 't', topicId: 'AAAAAAAAAAAAAAAAAAAAAA' }], { timeoutMs: 10_000 });
    await announce();
    await broker.configChanges.catchUp();
    // Another broker makes it.
    await broker.coordination.create(configNode.path('topics', 't'), configNode.encode(new Map([['cleanup.policy', 'compact']])));
    await broker.configChanges.loadTopics(['t']);
    assert.deepEqual(topicConfigs(), { 'cleanup.policy': 'compact' });
  });

  it('of a topic that was made anew while nobody told this broker are read again', async () => {
    await broker.coordination.set(configNode.path('topics', 't'), configNode.encode(new Map([['cleanup.policy', 'compact']])));
    const { controllerId, controllerEpoch } = broker.metadataCache.current;
    const partition = { partitionIndex: 0, controllerEpoch, leader: 0, leaderEpoch: 0, isr: [0], zkVersion: 0, replicas: [0] };
    broker.metadataCache.update({
      controllerId,
      controllerEpoch,
      topicStates: [
        { topicName: 't', topicId: 'another-id-of-the-nameA', partitionStates: [{ ...partition, offlineReplicas: [] }] },
      ],
      ungroupedPartitionStates: [],
      liveBrokers: [],
    });
    await until('the configs are read again', () => told.length > 0);
    assert.deepEqual(topicConfigs(), { 'cleanup.policy': 'compact' });
  });

  it('are forgotten with their topic', async () => {
    await alter([alteration(TOPIC, 't', ['retention.ms', SET, '5'])]);
    await broker.topicChanges.deleteTopics([{ name: 't', topicId: 'AAAAAAAAAAAAAAAAAAAAAA' }], { timeoutMs: 10_000 });
    assert.deepEqual(topicConfigs(), {});
  });
});
