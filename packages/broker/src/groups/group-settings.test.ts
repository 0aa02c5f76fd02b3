// Every setting of groups reaches the coordinator, and those that reach nothing say so.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BrokerConfig } from '../broker-config.ts';
import { brokerSettings } from '../config/broker-settings.ts';
import { type GroupSettings, groupSettingsOf } from './group-settings.ts';

const group = 'g';

/** What each setting changes, with a value that is not its default. */
const effects: Readonly<Record<string, readonly [text: string, what: (settings: GroupSettings) => unknown, expected: unknown]>> = {
  'group.initial.rebalance.delay.ms': ['7', ({ initialRebalanceDelayMs }) => initialRebalanceDelayMs, 7],
  'group.min.session.timeout.ms': ['7', ({ minSessionTimeoutMs }) => minSessionTimeoutMs, 7],
  'group.max.session.timeout.ms': ['700000', ({ maxSessionTimeoutMs }) => maxSessionTimeoutMs, 700_000],
  'group.max.size': ['7', ({ maxSize }) => maxSize, 7],
  'group.coordinator.rebalance.protocols': ['classic', ({ hasConsumerProtocol }) => hasConsumerProtocol, false],
  'group.consumer.max.size': ['7', ({ consumerMaxSize }) => consumerMaxSize, 7],
  'group.consumer.assignors': ['range', ({ consumerAssignors }) => consumerAssignors, ['range']],
  'group.consumer.migration.policy': ['UPGRADE', ({ migrationPolicy }) => migrationPolicy, 'upgrade'],
  'group.consumer.regex.refresh.interval.ms': ['70000', ({ regexRefreshIntervalMs }) => regexRefreshIntervalMs, 70_000],
  'group.consumer.session.timeout.ms': ['47000', (settings) => settings.consumerSessionTimeoutMs(group), 47_000],
  'group.consumer.min.session.timeout.ms': ['42000', (settings) => settings.consumerSessionTimeoutMs('short'), 42_000],
  'group.consumer.max.session.timeout.ms': ['70000', (settings) => settings.consumerSessionTimeoutMs('long'), 70_000],
  'group.consumer.heartbeat.interval.ms': ['7000', (settings) => settings.consumerHeartbeatIntervalMs(group), 7_000],
  'group.consumer.min.heartbeat.interval.ms': ['2000', (settings) => settings.consumerHeartbeatIntervalMs('short'), 2_000],
  'group.consumer.max.heartbeat.interval.ms': ['20000', (settings) => settings.consumerHeartbeatIntervalMs('long'), 20_000],
  'group.consumer.assignment.interval.ms': ['7', (settings) => settings.consumerAssignmentIntervalMs(group), 7],
  'group.consumer.min.assignment.interval.ms': ['50', (settings) => settings.consumerAssignmentIntervalMs('short'), 50],
  'group.consumer.max.assignment.interval.ms': ['7000', (settings) => settings.consumerAssignmentIntervalMs('long'), 7_000],
  'offset.metadata.max.bytes': ['7', ({ offsetMetadataMaxBytes }) => offsetMetadataMaxBytes, 7],
  'offsets.commit.timeout.ms': ['7', ({ commitTimeoutMs }) => commitTimeoutMs, 7],
  'offsets.retention.minutes': ['7', ({ offsetsRetentionMs }) => offsetsRetentionMs, 420_000],
  'offsets.retention.check.interval.ms': ['7', ({ offsetsRetentionCheckIntervalMs }) => offsetsRetentionCheckIntervalMs, 7],
};

/** Of one group less than the broker allows, of another one more. */
const overrides: Readonly<Record<string, ReadonlyMap<string, string>>> = {
  short: new Map(['session.timeout', 'heartbeat.interval', 'assignment.interval'].map((what) => [`consumer.${what}.ms`, '1'])),
  long: new Map(
    ['session.timeout', 'heartbeat.interval', 'assignment.interval'].map((what) => [`consumer.${what}.ms`, '90000000']),
  ),
};

/** Asked for where the partitions of the internal topic are made or loaded. */
const elsewhere = [
  'offsets.load.buffer.size',
  'offsets.topic.compression.codec',
  'offsets.topic.num.partitions',
  'offsets.topic.replication.factor',
  'offsets.topic.segment.bytes',
];

function settingsWith(properties: Readonly<Record<string, string>> = {}): GroupSettings {
  return groupSettingsOf(new BrokerConfig(new Map(Object.entries(properties))), (groupId) => overrides[groupId] ?? new Map());
}

describe('the settings of groups', () => {
  for (const [name, [text, what, expected]] of Object.entries(effects)) {
    test(`${name}=${text} reaches the coordinator`, () => {
      assert.deepEqual(what(settingsWith({ [name]: text })), expected);
      assert.notDeepEqual(what(settingsWith()), expected);
    });
  }

  test('are complete: each of them is known here, or says that it has no effect', () => {
    const all = Object.entries(brokerSettings).filter(
      ([name]) => /^(group\.|offsets?\.)/.test(name) && !/^group\.(share|streams)\./.test(name),
    );
    const silent = all.filter(([name]) => !(name in effects) && !elsewhere.includes(name));
    assert.ok(all.length >= 30, `${all.length} settings`);
    for (const [name, { documentation }] of silent) assert.match(documentation, /no effect|whatever the number/, name);
  });
});
