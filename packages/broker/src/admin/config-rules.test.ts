import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCodes, ProtocolError } from '@odradek/protocol';
import { BrokerConfig } from '../broker-config.ts';
import { type ConfigResource, configResourceTypes } from './config-changes.ts';
import { configRules } from './config-rules.ts';

const { INVALID_CONFIG, INVALID_REQUEST } = errorCodes;
const topic: ConfigResource = { type: configResourceTypes.TOPIC, name: 't' };
const broker: ConfigResource = { type: configResourceTypes.BROKER, name: '0' };
const brokers: ConfigResource = { type: configResourceTypes.BROKER, name: '' };
const group: ConfigResource = { type: configResourceTypes.GROUP, name: 'g' };
const metrics: ConfigResource = { type: configResourceTypes.CLIENT_METRICS, name: 's' };

const config = new BrokerConfig(new Map());
const rules = configRules(config);

test('refuses what cannot be set, with Kafka’s code', async (t) => {
  const cases: readonly (readonly [ConfigResource, Readonly<Record<string, string>>, number, RegExp])[] = [
    [topic, { bogus: '1' }, INVALID_CONFIG, /^Unknown topic config name: bogus$/],
    [
      topic,
      { 'retention.ms': 'x' },
      INVALID_CONFIG,
      /^Invalid value x for configuration retention\.ms: Not a number of type LONG$/,
    ],
    [topic, { 'cleanup.policy': 'foo' }, INVALID_CONFIG, /String must be one of: compact, delete$/],
    [topic, { 'min.insync.replicas': '0' }, INVALID_CONFIG, /Value must be at least 1$/],
    [topic, { 'segment.bytes': '14' }, INVALID_CONFIG, /Value must be at least 1048576$/],
    [topic, { 'compression.gzip.level': '10' }, INVALID_CONFIG, /between 1 and 9, or -1$/],
    [topic, { 'min.compaction.lag.ms': '2', 'max.compaction.lag.ms': '1' }, INVALID_CONFIG, /must not be above/],
    [topic, { 'remote.storage.enable': 'true' }, INVALID_CONFIG, /no tiered storage$/],
    [topic, { 'leader.replication.throttled.replicas': '0:1,x' }, INVALID_CONFIG, /\* or a list of/],
    [broker, { 'broker.id': '4' }, INVALID_REQUEST, /^Cannot update these configs dynamically: \[broker\.id\]$/],
    [
      broker,
      { 'log.retention.hours': '4' },
      INVALID_REQUEST,
      /^Cannot update these configs dynamically: \[log\.retention\.hours\]$/,
    ],
    [broker, { 'ssl.keystore.location': '/k' }, INVALID_REQUEST, /only for one listener.*: \[ssl\.keystore\.location\]$/],
    [broker, { 'log.cleaner.threads': 'x' }, INVALID_REQUEST, /Not a number of type INT$/],
    [broker, { 'log.retention.ms': '0' }, INVALID_REQUEST, /^log\.retention\.ms must be at least 1/],
    [broker, { 'log.cleaner.threads': '0' }, INVALID_REQUEST, /can go from 1 to between 1 and 2 .*, not to 0$/],
    [broker, { 'num.io.threads': '3' }, INVALID_REQUEST, /^num\.io\.threads can go from 8 to between 4 and 16 .*, not to 3$/],
    [broker, { 'num.io.threads': '17' }, INVALID_REQUEST, /^num\.io\.threads can go from 8 to between 4 and 16 .*, not to 17$/],
    [broker, { listeners: 'OTHER://:1' }, INVALID_REQUEST, /OTHER has no security protocol/],
    [broker, { listeners: 'SSL://:1' }, INVALID_REQUEST, /^The listener for other brokers, PLAINTEXT/],
    [broker, { 'advertised.listeners': 'OTHER://h:1' }, INVALID_REQUEST, /OTHER has no security protocol/],
    [broker, { 'advertised.listeners': 'SSL://h:1' }, INVALID_REQUEST, /^advertised\.listeners names SSL/],
    [brokers, { 'ssl.client.auth': 'none' }, INVALID_REQUEST, /a broker id must be given: \[ssl\.client\.auth\]$/],
    [brokers, { 'listener.name.a.ssl.key.password': 'p' }, INVALID_REQUEST, /a broker id must be given/],
    [group, { bogus: '1' }, INVALID_CONFIG, /^Unknown group config name: bogus$/],
    [
      group,
      { 'consumer.session.timeout.ms': '1' },
      INVALID_CONFIG,
      /at least 45000, which is group\.consumer\.min\.session\.timeout\.ms$/,
    ],
    [
      group,
      { 'share.delivery.count.limit': '11' },
      INVALID_CONFIG,
      /no more than 10, which is group\.share\.max\.delivery\.count\.limit$/,
    ],
    [group, { 'share.auto.offset.reset': 'by_duration:1h' }, INVALID_CONFIG, /time span such as PT1H30M$/],
    [metrics, { bogus: '1' }, INVALID_REQUEST, /^Unknown client metrics configuration: bogus$/],
    [metrics, { 'interval.ms': '99' }, INVALID_REQUEST, /between 100 and 3600000/],
    [metrics, { match: 'shoe_size=9' }, INVALID_REQUEST, /^Invalid value .* shoe_size is not one of/],
    [metrics, { match: 'client_id=[' }, INVALID_REQUEST, /\[ is not a regular expression$/],
  ];
  for (const [resource, configs, code, message] of cases) {
    await t.test(JSON.stringify(configs), () =>
      assert.throws(
        () => rules.validate(resource, new Map(Object.entries(configs))),
        (error) => error instanceof ProtocolError && error.code === code && message.test(error.message),
      ),
    );
  }
});

test('accepts what can be set', async (t) => {
  const cases: readonly (readonly [ConfigResource, Readonly<Record<string, string>>])[] = [
    [topic, {}],
    [topic, { 'cleanup.policy': 'compact,delete', 'retention.ms': '-1', 'flush.messages': '9223372036854775807' }],
    [topic, { 'cleanup.policy': '' }],
    [topic, { 'leader.replication.throttled.replicas': '0:0,1:0', 'follower.replication.throttled.replicas': '*' }],
    [topic, { 'message.format.version': '2.8', 'internal.segment.bytes': '100' }],
    [broker, { 'message.max.bytes': '1500000', 'log.cleaner.threads': '1' }],
    [broker, { 'num.io.threads': '4', 'num.network.threads': '1', 'background.threads': '20' }],
    [broker, { 'leader.replication.throttled.rate': '10000' }],
    [broker, { 'listener.name.internal.ssl.keystore.location': '/k' }],
    [broker, { 'my.plugin.key': 'x' }],
    [brokers, { 'log.retention.ms': '86400000', 'listener.name.internal.max.connections': '5' }],
    [brokers, { 'leader.replication.throttled.rate': '10000' }],
    [group, { 'consumer.session.timeout.ms': '50000', 'share.auto.offset.reset': 'by_duration:PT1H30M' }],
    [metrics, { metrics: '*', 'interval.ms': '1000', match: 'client_id=app-.*,client_software_name=apache' }],
  ];
  for (const [resource, configs] of cases) {
    await t.test(JSON.stringify(configs), () => rules.validate(resource, new Map(Object.entries(configs))));
  }
});

test('knows lists, defaults and when a setting can change', () => {
  assert.deepEqual(rules.rule(configResourceTypes.TOPIC, 'cleanup.policy'), {
    isList: true,
    defaultValue: 'delete',
    updateMode: 'cluster-wide',
  });
  assert.equal(rules.rule(configResourceTypes.BROKER, 'broker.id')?.updateMode, 'read-only');
  assert.equal(rules.rule(configResourceTypes.BROKER, 'listener.name.x.ssl.client.auth')?.updateMode, 'per-broker');
  assert.equal(rules.rule(configResourceTypes.TOPIC, 'toString'), undefined);
});
