import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SeededRandom } from '@odradek/runtime';
import { slotBytes } from './offset-map.ts';
import { SeenKeys } from './seen-keys.ts';

const firstDirtyOffset = 1000;

describe('which records are the last of their keys', () => {
  for (const { name, spread } of [
    { name: 'where each offset of the dirty part has a mark', spread: 3 },
    { name: 'where so many marks would take too much memory', spread: 5000 },
  ]) {
    test(name, () => {
      const random = new SeededRandom(7);
      const count = 500;
      const records = Array.from({ length: count }, (_, index) => ({
        offset: firstDirtyOffset + index * spread,
        key: Buffer.from(`key ${random.nextInt(120)}`),
      }));
      const endOffset = firstDirtyOffset + count * spread;
      const keys = new SeenKeys({ mapBytes: 200 * slotBytes, mapLoadFactor: 0.9, firstDirtyOffset, endOffset });
      for (const { offset, key } of records) keys.put(key, 0, key.length, offset);
      const last = new Map(records.map(({ offset, key }) => [String(key), offset]));
      assert.equal(keys.count, last.size);
      assert.equal(keys.latestOffset, records.at(-1)?.offset);
      for (const { offset, key } of records) {
        assert.equal(keys.isLast(offset, key, 0, key.length), last.get(String(key)) === offset, `${key} at ${offset}`);
      }
      // What was cleaned before: of those keys that have come again nothing stays.
      for (const key of ['key 1', 'key 119', 'none of them']) {
        assert.equal(keys.isLast(7, Buffer.from(key), 0, key.length), !last.has(key), key);
      }
    });
  }
});

test('is full when the map has as many keys as it may', () => {
  const keys = new SeenKeys({ mapBytes: 11 * slotBytes, mapLoadFactor: 0.5, firstDirtyOffset: 0, endOffset: 100 });
  for (let count = 0; count < 5; count++) {
    assert.equal(keys.isFull, false);
    keys.put(Buffer.from(`key ${count}`), 0, 5, count);
  }
  assert.equal(keys.isFull, true);
});
