import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedList, sharedSet } from './replica-lists.ts';

test('the same ids in the same order are one list and one set', () => {
  assert.equal(sharedList([3, 1, 2]), sharedList([3, 1, 2]));
  assert.deepEqual(sharedList([3, 1, 2]), [3, 1, 2]);
  assert.notEqual(sharedList([1, 2, 3]), sharedList([3, 1, 2]));
  assert.equal(sharedSet([3, 1]), sharedSet([3, 1]));
  assert.deepEqual([...sharedSet([3, 1])], [3, 1]);
  assert.equal(sharedList([]), sharedList([]));
  assert.equal(sharedSet([]).size, 0);
});

test('what somebody changes afterwards is not shared', () => {
  const ids = [7, 8];
  const list = sharedList(ids);
  ids.push(9);
  assert.deepEqual(list, [7, 8]);
});

test('more than are worth sharing are answered all the same', () => {
  for (let id = 0; id < 2000; id++) assert.deepEqual(sharedList([id, id + 1]), [id, id + 1]);
});
