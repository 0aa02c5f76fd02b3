import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError } from '@odradek/runtime';
import { BrokerConfig } from './broker-config.ts';
import { checkGroupOverrides, groupText, groupValue } from './group-config.ts';

function configOf(properties: Readonly<Record<string, string>> = {}): BrokerConfig {
  return new BrokerConfig(new Map(Object.entries(properties)));
}

test('a group without values of its own has the broker’s, or the default where the broker has none', () => {
  const config = configOf({ 'group.consumer.heartbeat.interval.ms': '6000' });
  assert.equal(groupValue(config, new Map(), 'consumer.heartbeat.interval.ms'), 6000);
  assert.equal(groupValue(config, new Map(), 'share.isolation.level'), 'read_uncommitted');
  assert.equal(groupValue(config, new Map(), 'streams.assignor.name'), null);
});

test('a group’s own value wins, and prints as it was set', () => {
  const overrides = new Map([['consumer.session.timeout.ms', '050000']]);
  assert.equal(groupValue(configOf(), overrides, 'consumer.session.timeout.ms'), 50000);
  assert.equal(groupText(configOf(), overrides, 'consumer.session.timeout.ms'), '50000');
});

test('a value beyond the limits that the broker has by now is kept within them', () => {
  const overrides = new Map([['consumer.session.timeout.ms', '70000']]);
  assert.equal(groupValue(configOf(), overrides, 'consumer.session.timeout.ms'), 60000);
});

test('a value that another release left behind is passed over', () => {
  assert.equal(groupValue(configOf(), new Map([['share.isolation.level', 'serial']]), 'share.isolation.level'), 'read_uncommitted');
});

test('a heartbeat must be below the session timeout', () => {
  const config = configOf({ 'group.consumer.max.heartbeat.interval.ms': '60000' });
  assert.throws(() => checkGroupOverrides(config, new Map([['consumer.heartbeat.interval.ms', '45000']])), ConfigError);
  checkGroupOverrides(config, new Map([['consumer.heartbeat.interval.ms', '44999']]));
});
