import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PartitionMap } from './partition-map.ts';

test('one thing for each topic and index', () => {
  const map = new PartitionMap<string>();
  map.set('a', 0, 'a0');
  map.set('a', 1, 'a1');
  map.set('b', 0, 'b0');
  map.set('a', 0, 'a0 anew');
  assert.equal(map.size, 3);
  assert.deepEqual([map.get('a', 0), map.get('b', 0), map.get('b', 1), map.get('c', 0)], ['a0 anew', 'b0', undefined, undefined]);
  assert.deepEqual([...map.values()], ['a0 anew', 'a1', 'b0']);
  map.delete('a', 0);
  map.delete('a', 7);
  map.delete('c', 0);
  assert.deepEqual([map.size, ...map.values()], [2, 'a1', 'b0']);
});
