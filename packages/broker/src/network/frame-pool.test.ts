import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FramePool } from './frame-pool.ts';

test('a buffer that was given back serves the next frame of about its size', () => {
  const pool = new FramePool();
  const first = pool.take(66_000);
  assert.equal(first.length, 66_000);
  pool.give(first);
  assert.equal(pool.idleBytes, 128 * 1024);
  const second = pool.take(100_000);
  assert.equal(second.buffer, first.buffer);
  assert.equal(second.length, 100_000);
  assert.equal(pool.idleBytes, 0);
  assert.notEqual(pool.take(66_000).buffer, first.buffer);
});

test('small, huge and foreign buffers are not kept', () => {
  const pool = new FramePool();
  for (const size of [0, 1, 8 * 1024 - 1, 2 * 1024 * 1024 + 1]) {
    const frame = pool.take(size);
    assert.equal(frame.length, size);
    pool.give(frame);
  }
  pool.give(Buffer.alloc(70_000));
  pool.give(pool.take(66_000).subarray(1));
  assert.equal(pool.idleBytes, 0);
});

test('what lies idle is bounded', () => {
  const pool = new FramePool();
  for (const frame of Array.from({ length: 40 }, () => pool.take(1024 * 1024))) pool.give(frame);
  assert.equal(pool.idleBytes, 32 * 1024 * 1024);
});
