import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReplicationQuota } from './replication-quota.ts';

function setUp(limit: number, replicas = '*') {
  const time = { nowMs: 5_500 };
  const clock = { wallTimeMs: () => 0, monotonicMs: () => time.nowMs };
  const throttledReplicas = (topic: string): string | undefined => (topic === 't' ? replicas : undefined);
  const quota = new ReplicationQuota({
    clock,
    limit: () => limit,
    throttledReplicas,
    brokerId: 2,
    windowCount: 11,
    windowMs: 1000,
  });
  return { time, quota };
}

for (const { replicas, throttled } of [
  { replicas: '*', throttled: [0, 1, 2] },
  { replicas: '0:2,1:3,2:2', throttled: [0, 2] },
  { replicas: '0:3', throttled: [] },
  { replicas: '', throttled: [] },
]) {
  test(`"${replicas}" throttles the partitions ${throttled.join(', ') || 'of nobody'} of broker 2`, () => {
    const { quota } = setUp(100, replicas);
    assert.deepEqual(
      [0, 1, 2].filter((partition) => quota.isThrottled('t', partition)),
      throttled,
    );
    assert.ok(!quota.isThrottled('other', 0));
  });
}

test('the rate is that of the windows kept, and one that is exceeded falls with time', () => {
  const { time, quota } = setUp(100);
  assert.equal(quota.bytesPerSecond, 0);
  quota.record(550);
  assert.equal(quota.bytesPerSecond, 550, 'over one window at least');
  assert.ok(quota.isExceeded);
  time.nowMs = 9_000;
  assert.equal(quota.bytesPerSecond, 550 / 4);
  assert.ok(quota.isExceeded);
  time.nowMs = 10_500;
  assert.equal(quota.bytesPerSecond, 100);
  assert.ok(!quota.isExceeded);
  quota.record(11);
  assert.ok(quota.isExceeded);
  time.nowMs = 16_000;
  assert.equal(quota.bytesPerSecond, 11 / 10, 'the oldest window has gone');
  time.nowMs = 60_000;
  assert.equal(quota.bytesPerSecond, 0);
});

test('without a limit nothing is exceeded', () => {
  const { quota } = setUp(Number.MAX_SAFE_INTEGER);
  quota.record(1e15);
  assert.ok(!quota.isExceeded);
});
