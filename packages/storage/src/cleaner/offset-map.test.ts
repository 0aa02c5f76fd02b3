import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { SeededRandom } from '@odradek/runtime';
import { KeyDigest } from './key-digest.ts';
import { OffsetMap, slotBytes } from './offset-map.ts';

test('a digest is the MD5 of the key, whatever its length and place', () => {
  const random = new SeededRandom(5);
  const digest = new KeyDigest();
  for (let length = 0; length < 200; length++) {
    const bytes = random.bytes(length + 7);
    digest.of(bytes, 3, 3 + length);
    const expected = createHash('md5')
      .update(bytes.subarray(3, 3 + length))
      .digest('hex');
    assert.equal(Buffer.from(digest.words.buffer).toString('hex'), expected, `${length} bytes`);
  }
});

test('answers the last offset of every key, even when every slot is taken', () => {
  const map = new OffsetMap(101 * slotBytes);
  assert.equal(map.slotCount, 101);
  const keys = Array.from({ length: 101 }, (_, index) => Buffer.from(`key ${index}`));
  for (const [index, key] of keys.entries()) assert.equal(map.put(key, 0, key.length, index), -1);
  for (const [index, key] of keys.entries()) if (index % 3 === 0) assert.equal(map.put(key, 0, key.length, 1000 + index), index);
  assert.equal(map.size, 101);
  for (const [index, key] of keys.entries()) {
    assert.equal(map.get(key, 0, key.length), index % 3 === 0 ? 1000 + index : index);
  }
});

test('knows keys that it was not given from those that it was', () => {
  const map = new OffsetMap(1000 * slotBytes);
  map.put(Buffer.from('there'), 0, 5, 0);
  map.put(Buffer.alloc(0), 0, 0, 7);
  assert.equal(map.get(Buffer.from('there'), 0, 5), 0);
  assert.equal(map.get(Buffer.from('absent'), 0, 6), -1);
  assert.equal(map.get(Buffer.from('anywhere'), 4, 4), 7);
});

test('is never smaller than a few slots, and takes no more memory than it may', () => {
  assert.equal(new OffsetMap(0).slotCount, 7);
  assert.equal(new OffsetMap(1000 * slotBytes + 5).slotCount, 997);
});
