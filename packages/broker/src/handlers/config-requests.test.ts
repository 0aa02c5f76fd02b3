// DescribeConfigs, AlterConfigs, IncrementalAlterConfigs and ListConfigResources.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCodes, ProtocolError } from '@odradek/protocol';
import { createLogger } from '@odradek/runtime';
import { type ConfigAlteration, type ConfigResource, configOperations, configResourceTypes } from '../admin/config-changes.ts';
import { configSources } from '../admin/config-entries.ts';
import { BrokerConfig } from '../broker-config.ts';
import { PartLoggers } from '../logging/part-loggers.ts';
import { MetadataCache } from '../metadata/metadata-cache.ts';
import { callHandler, versionsOf } from '../requests/call-handler.fixture.ts';
import { describeConfigsHandler } from './32-describe-configs.ts';
import { alterConfigsHandler } from './33-alter-configs.ts';
import { incrementalAlterConfigsHandler } from './44-incremental-alter-configs.ts';
import { listConfigResourcesHandler } from './74-list-config-resources.ts';

const { TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP } = configResourceTypes;

const silent = createLogger({ level: 'trace', write: () => undefined });

function metadataWith(...topics: readonly string[]): MetadataCache {
  const cache = new MetadataCache('cluster');
  cache.update({
    controllerId: 0,
    controllerEpoch: 1,
    liveBrokers: [{ id: 0, rack: null, endpoints: [{ listener: 'PLAINTEXT', host: 'h', port: 9092, securityProtocol: 0 }] }],
    topicStates: topics.map((topicName) => ({
      topicName,
      topicId: 'AQEBAQEBAQEBAQEBAQEBAQ',
      partitionStates: [
        {
          partitionIndex: 0,
          controllerEpoch: 1,
          leader: 0,
          leaderEpoch: 0,
          isr: [0],
          zkVersion: 0,
          replicas: [0],
          offlineReplicas: [],
        },
      ],
    })),
    ungroupedPartitionStates: [],
  });
  return cache;
}

/** Fails for resources whose name begins with `bad`. */
class FakeConfigChanges {
  readonly stored = new Map<string, ReadonlyMap<string, string>>();
  readonly asked: string[] = [];

  overrides({ type, name }: ConfigResource): ReadonlyMap<string, string> {
    return this.stored.get(`${type} ${name}`) ?? new Map();
  }

  loadTopics(): Promise<void> {
    return Promise.resolve();
  }

  names(type: number): string[] {
    return [...this.stored.keys()].filter((key) => key.startsWith(`${type} `)).map((key) => key.slice(key.indexOf(' ') + 1));
  }

  alter(alterations: readonly ConfigAlteration[]): Promise<(ProtocolError | undefined)[]> {
    this.asked.push(...alterations.map(({ resourceName }) => resourceName));
    return Promise.resolve(
      alterations.map(({ resourceName }) =>
        resourceName.startsWith('bad') ? new ProtocolError(errorCodes.INVALID_CONFIG, 'no') : undefined,
      ),
    );
  }

  incrementalAlter(alterations: readonly ConfigAlteration[]): Promise<(ProtocolError | undefined)[]> {
    return this.alter(alterations);
  }
}

function describeParts() {
  return {
    brokerId: 0,
    config: new BrokerConfig(new Map([['broker.id', '0']])),
    configChanges: new FakeConfigChanges(),
    metadataCache: metadataWith('orders'),
    loggers: new PartLoggers(silent, 'info'),
  };
}

function resource(resourceType: number, resourceName: string, configurationKeys: readonly string[] | null = null) {
  return { resourceType, resourceName, configurationKeys };
}

test('DescribeConfigs tells a topic’s configuration in every version', async (t) => {
  const parts = describeParts();
  parts.configChanges.stored.set(`${TOPIC} orders`, new Map([['retention.ms', '5']]));
  const handler = describeConfigsHandler(parts);
  for (const version of versionsOf(handler)) {
    await t.test(`version ${version}`, async () => {
      const { results } = await callHandler(handler, version, {
        resources: [resource(TOPIC, 'orders')],
        ...(version >= 1 ? { includeSynonyms: true } : {}),
        ...(version >= 3 ? { includeDocumentation: true } : {}),
      });
      const configs = results[0]?.configs ?? [];
      assert.equal(configs.length, 37);
      const retention = configs.find(({ name }) => name === 'retention.ms');
      const policy = configs.find(({ name }) => name === 'cleanup.policy');
      assert.deepEqual([retention?.value, retention?.isDefault, policy?.isDefault], ['5', false, version === 0]);
      if (version >= 1) assert.deepEqual(retention?.synonyms, [{ name: 'retention.ms', value: '5', source: 1 }]);
      if (version >= 3) assert.deepEqual([retention?.configType, typeof retention?.documentation], [5, 'string']);
    });
  }
});

test('DescribeConfigs leaves out synonyms and documentation that nobody asked for', async () => {
  const { results } = await callHandler(describeConfigsHandler(describeParts()), 4, { resources: [resource(TOPIC, 'orders')] });
  assert.ok(results[0]?.configs.every(({ synonyms, documentation }) => synonyms.length === 0 && documentation === null));
});

test('DescribeConfigs tells only the keys asked for, and all for an empty list', async () => {
  const { results } = await callHandler(describeConfigsHandler(describeParts()), 4, {
    resources: [resource(BROKER, '0', ['broker.id', 'no.such.key']), resource(TOPIC, 'orders', [])],
  });
  assert.deepEqual(
    results[0]?.configs.map(({ name, value, configSource }) => [name, value, configSource]),
    [['broker.id', '0', configSources.STATIC_BROKER_CONFIG]],
  );
  assert.equal(results[1]?.configs.length, 37);
});

test('DescribeConfigs answers each resource that cannot be described with its error', async (t) => {
  const cases: readonly (readonly [number, string, number, RegExp])[] = [
    [TOPIC, 'nope', errorCodes.UNKNOWN_TOPIC_OR_PARTITION, /./],
    [TOPIC, 'bad/name', errorCodes.INVALID_TOPIC_EXCEPTION, /^Topic name is invalid: 'bad\/name' contains/],
    [BROKER, '9', errorCodes.INVALID_REQUEST, /^Unexpected broker id, expected 0 or empty string, but received 9$/],
    [BROKER, 'abc', errorCodes.INVALID_REQUEST, /must be an integer, but it is: abc$/],
    [BROKER_LOGGER, '', errorCodes.INVALID_REQUEST, /^Broker id must not be empty$/],
    [BROKER_LOGGER, '9', errorCodes.INVALID_REQUEST, /^Unexpected broker id, expected 0 but received 9$/],
    [GROUP, '', errorCodes.INVALID_REQUEST, /^Group name must not be empty$/],
    [CLIENT_METRICS, '', errorCodes.INVALID_REQUEST, /must not be empty$/],
    [99, 'x', errorCodes.INVALID_REQUEST, /^Unexpected resource type 99 for resource x$/],
  ];
  const handler = describeConfigsHandler(describeParts());
  for (const [type, name, code, message] of cases) {
    await t.test(`${type} ${name}`, async () => {
      const { results } = await callHandler(handler, 4, { resources: [resource(type, name), resource(TOPIC, 'orders')] });
      assert.equal(results[0]?.errorCode, code);
      assert.match(results[0]?.errorMessage ?? '', message);
      assert.deepEqual(results[0]?.configs, []);
      assert.equal(results[1]?.errorCode, errorCodes.NONE);
    });
  }
});

test('DescribeConfigs of the empty broker name tells what was set for all brokers, and no more', async () => {
  const parts = describeParts();
  parts.config.setDynamic('dynamicDefault', new Map([['log.retention.ms', '5']]));
  const { results } = await callHandler(describeConfigsHandler(parts), 4, { resources: [resource(BROKER, '')] });
  assert.deepEqual(
    results[0]?.configs.map(({ name, value }) => [name, value]),
    [['log.retention.ms', '5']],
  );
});

test('AlterConfigs answers each resource, in every version', async () => {
  const handler = alterConfigsHandler({ configChanges: new FakeConfigChanges() });
  for (const version of versionsOf(handler)) {
    const { responses } = await callHandler(handler, version, {
      resources: ['good', 'bad'].map((resourceName) => ({ resourceType: TOPIC, resourceName, configs: [] })),
    });
    assert.deepEqual(
      responses.map(({ resourceType, resourceName, errorCode, errorMessage }) => [
        resourceType,
        resourceName,
        errorCode,
        errorMessage,
      ]),
      [
        [TOPIC, 'good', errorCodes.NONE, null],
        [TOPIC, 'bad', errorCodes.INVALID_CONFIG, 'no'],
      ],
    );
  }
});

function loggerChange(name: string, configOperation: number, value: string | null = null) {
  return { name, configOperation, value };
}

test('IncrementalAlterConfigs changes the levels of loggers at once, and sends everything else to the store', async () => {
  const loggers = new PartLoggers(silent, 'info');
  const storage = loggers.root.child('storage');
  const configChanges = new FakeConfigChanges();
  const handler = incrementalAlterConfigsHandler({ brokerId: 0, configChanges, loggers });
  const change = (...configs: readonly ReturnType<typeof loggerChange>[]) =>
    callHandler(handler, 1, {
      resources: [
        { resourceType: BROKER_LOGGER, resourceName: '0', configs },
        { resourceType: TOPIC, resourceName: 'bad', configs: [] },
      ],
    });
  const { responses } = await change(loggerChange('storage', configOperations.SET, 'DEBUG'));
  assert.deepEqual(
    responses.map(({ errorCode }) => errorCode),
    [errorCodes.NONE, errorCodes.INVALID_CONFIG],
  );
  assert.deepEqual(configChanges.asked, ['bad']);
  assert.equal(storage.isEnabled('debug'), true);
  assert.equal(loggers.root.isEnabled('debug'), false);
  await change(loggerChange('storage', configOperations.DELETE));
  assert.equal(storage.isEnabled('debug'), false);
});

test('IncrementalAlterConfigs refuses changes of loggers that make no sense, and then changes none', async (t) => {
  const cases: readonly (readonly [string, readonly ReturnType<typeof loggerChange>[], number, RegExp])[] = [
    ['9', [], errorCodes.INVALID_REQUEST, /^Unexpected broker id, expected 0, but received 9$/],
    ['x', [], errorCodes.INVALID_REQUEST, /must be an integer/],
    ['0', [loggerChange('nobody', 0, 'INFO')], errorCodes.INVALID_CONFIG, /^Logger nobody does not exist$/],
    ['0', [loggerChange('nobody', 1)], errorCodes.INVALID_CONFIG, /^Logger nobody does not exist$/],
    ['0', [loggerChange('root', 0, 'LOUD')], errorCodes.INVALID_CONFIG, /^LOUD is not a log level; those are TRACE, DEBUG/],
    ['0', [loggerChange('root', 1)], errorCodes.INVALID_REQUEST, /can only be set$/],
    ['0', [loggerChange('root', 2, 'INFO')], errorCodes.INVALID_REQUEST, /^The operation APPEND is not allowed/],
    ['0', [loggerChange('root', 7, 'INFO')], errorCodes.INVALID_REQUEST, /^Unknown operation 7/],
    ['0', [loggerChange('root', 0)], errorCodes.INVALID_REQUEST, /^Null value not supported for : root$/],
    ['0', [loggerChange('root', 0, 'WARN'), loggerChange('root', 1)], errorCodes.INVALID_REQUEST, /duplicate/],
    ['0', [loggerChange('root', 0, 'WARN'), loggerChange('nobody', 0, 'WARN')], errorCodes.INVALID_CONFIG, /nobody/],
  ];
  const loggers = new PartLoggers(silent, 'info');
  const handler = incrementalAlterConfigsHandler({ brokerId: 0, configChanges: new FakeConfigChanges(), loggers });
  for (const [resourceName, configs, code, message] of cases) {
    await t.test(`${resourceName} ${JSON.stringify(configs)}`, async () => {
      const { responses } = await callHandler(handler, 1, { resources: [{ resourceType: BROKER_LOGGER, resourceName, configs }] });
      assert.equal(responses[0]?.errorCode, code);
      assert.match(responses[0]?.errorMessage ?? '', message);
      assert.equal(loggers.levels().get('root'), 'INFO');
    });
  }
});

test('IncrementalAlterConfigs changes no level when it is only to judge', async () => {
  const loggers = new PartLoggers(silent, 'info');
  const handler = incrementalAlterConfigsHandler({ brokerId: 0, configChanges: new FakeConfigChanges(), loggers });
  const configs = [loggerChange('root', configOperations.SET, 'WARN')];
  const { responses } = await callHandler(handler, 1, {
    resources: [{ resourceType: BROKER_LOGGER, resourceName: '0', configs }],
    validateOnly: true,
  });
  assert.equal(responses[0]?.errorCode, errorCodes.NONE);
  assert.equal(loggers.levels().get('root'), 'INFO');
});

test('ListConfigResources names what it is asked for', async () => {
  const configChanges = new FakeConfigChanges();
  configChanges.stored.set(`${CLIENT_METRICS} sub`, new Map()).set(`${GROUP} g`, new Map());
  const handler = listConfigResourcesHandler({ metadataCache: metadataWith('orders'), configChanges });
  const listed = async (version: number, resourceTypes?: readonly number[]) => {
    const { errorCode, configResources } = await callHandler(
      handler,
      version,
      resourceTypes === undefined ? {} : { resourceTypes },
    );
    return [errorCode, ...configResources.map(({ resourceType, resourceName }) => `${resourceType} ${resourceName}`)];
  };
  assert.deepEqual(await listed(0), [errorCodes.NONE, '16 sub']);
  assert.deepEqual(await listed(1), [errorCodes.NONE, '2 orders', '4 0', '8 0', '16 sub', '32 g']);
  assert.deepEqual(await listed(1, [GROUP, TOPIC]), [errorCodes.NONE, '32 g', '2 orders']);
  assert.deepEqual(await listed(1, [3]), [errorCodes.UNSUPPORTED_VERSION]);
});
