import assert from 'node:assert/strict';
import { test } from 'node:test';
import { intersectVersions, noVersions, parseVersions, versionsContain } from './versions.ts';

test('ranges are read as Kafka writes them', () => {
  assert.deepEqual(parseVersions('3'), { min: 3, max: 3 });
  assert.deepEqual(parseVersions('3-12'), { min: 3, max: 12 });
  assert.deepEqual(parseVersions('3+'), { min: 3, max: 32767 });
  assert.equal(parseVersions('none'), noVersions);
  for (const wrong of ['', '+', '3-', '-3', 'x', '3 - 4']) assert.throws(() => parseVersions(wrong), /Not a range/);
});

test('a range contains its ends, and an empty one nothing', () => {
  assert.ok(versionsContain(parseVersions('3-4'), 3));
  assert.ok(versionsContain(parseVersions('3-4'), 4));
  assert.ok(!versionsContain(parseVersions('3-4'), 5));
  assert.ok(!versionsContain(noVersions, 0));
});

test('two ranges have in common what lies in both', () => {
  assert.deepEqual(intersectVersions(parseVersions('0-5'), parseVersions('3+')), { min: 3, max: 5 });
  assert.equal(intersectVersions(parseVersions('0-2'), parseVersions('3+')), noVersions);
});
