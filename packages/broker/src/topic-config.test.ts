import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BrokerConfig } from './broker-config.ts';
import { topicLogConfig } from './topic-config.ts';

function logConfig(topic: Readonly<Record<string, string>>, broker: Readonly<Record<string, string>> = {}) {
  return topicLogConfig(new BrokerConfig(new Map(Object.entries(broker))), new Map(Object.entries(topic)));
}

test('a topic without values of its own has the broker’s', () => {
  const config = logConfig({}, { 'log.segment.bytes': '2097152', 'log.retention.hours': '1', 'message.max.bytes': '5' });
  assert.equal(config.segmentBytes, 2097152);
  assert.equal(config.retentionMs, 3600000);
  assert.equal(config.maxMessageBytes, 5);
});

test('limits that mean "none" are the largest safe number', () => {
  const config = logConfig({});
  assert.equal(config.flushMessages, Number.MAX_SAFE_INTEGER);
  assert.equal(config.flushMs, Number.MAX_SAFE_INTEGER);
  assert.equal(config.maxCompactionLagMs, Number.MAX_SAFE_INTEGER);
});

test('reads each kind of value', () => {
  const config = logConfig({
    'cleanup.policy': 'compact, delete',
    'compression.type': 'uncompressed',
    'message.timestamp.type': 'LogAppendTime',
    'min.cleanable.dirty.ratio': '0.25',
    'unclean.leader.election.enable': 'true',
    'internal.segment.bytes': '100',
    'segment.ms': '10',
    'segment.jitter.ms': '20',
  });
  assert.deepEqual(config.cleanupPolicy, ['compact', 'delete']);
  assert.equal(config.compressionType, 'none');
  assert.equal(config.messageTimestampType, 'LogAppendTime');
  assert.equal(config.minCleanableDirtyRatio, 0.25);
  assert.equal(config.uncleanLeaderElection, true);
  assert.equal(config.segmentBytes, 100);
  assert.equal(config.segmentJitterMs, 10);
});

test('a value that another release left behind is passed over', () => {
  const config = logConfig({ 'segment.bytes': '14', 'retention.ms': 'for ever', 'no.such.config': '1' });
  assert.equal(config.segmentBytes, 1073741824);
  assert.equal(config.retentionMs, 604800000);
});

test('the older limit on timestamps counts for a side that has none of its own', async (t) => {
  const [old, before, after] = [
    'message.timestamp.difference.max.ms',
    'message.timestamp.before.max.ms',
    'message.timestamp.after.max.ms',
  ];
  const hourMs = 3600000;
  const cases: readonly (readonly [string, Record<string, string>, Record<string, string>, number, number])[] = [
    ['nothing set', {}, {}, Number.MAX_SAFE_INTEGER, hourMs],
    ['the older one for the topic', { [old]: '5' }, {}, 5, 5],
    ['one side for the topic', { [old]: '5', [before]: '7' }, {}, 7, 5],
    ['the older one for the broker', {}, { [`log.${old}`]: '5' }, 5, 5],
    ['one side for the broker', {}, { [`log.${old}`]: '5', [`log.${after}`]: '9' }, 5, 9],
    ['one side for the topic, the older one for the broker', { [after]: '9' }, { [`log.${old}`]: '5' }, 5, 9],
  ];
  for (const [name, topic, broker, expectedBefore, expectedAfter] of cases) {
    await t.test(name, () => {
      const { messageTimestampBeforeMaxMs, messageTimestampAfterMaxMs } = logConfig(topic, broker);
      assert.deepEqual([messageTimestampBeforeMaxMs, messageTimestampAfterMaxMs], [expectedBefore, expectedAfter]);
    });
  }
});
