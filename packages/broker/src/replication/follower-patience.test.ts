import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FollowerPatience } from './follower-patience.ts';

test('fetches of a follower wait no longer than the partition is led that it got last', () => {
  const patience = new FollowerPatience();
  assert.equal(patience.limit(2, 500, 0), 500, 'it got none');
  patience.begin([2, 3], 1000);
  const waits: number[] = [];
  for (let nowMs = 1000; nowMs < 3000; nowMs += waits.at(-1)!) waits.push(patience.limit(2, 500, nowMs));
  assert.deepEqual(waits, [10, 10, 20, 40, 80, 160, 320, 500, 500, 500]);
  assert.equal(patience.limit(3, 500, 1300), 300);
  assert.equal(patience.limit(3, 100, 1301), 100, 'nor longer than it wants to');
  assert.equal(patience.limit(-1, 500, 1000), 500, 'a consumer has nothing to follow');
  patience.begin([2], 3000);
  assert.equal(patience.limit(2, 500, 3005), 10);
});
