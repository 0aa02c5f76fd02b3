import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BufferPool } from './buffer-pool.ts';

const mebibyte = 1024 * 1024;
const newPool = (): BufferPool => new BufferPool({ largestBytes: 2 * mebibyte, maxIdleBytes: 32 * mebibyte });

test('a buffer that was given back serves the next one of about its size', () => {
  const pool = newPool();
  const first = pool.take(66_000);
  assert.equal(first.length, 66_000);
  pool.give(first);
  assert.equal(pool.idleBytes, 80 * 1024);
  const second = pool.take(80 * 1024);
  assert.equal(second.buffer, first.buffer);
  assert.equal(second.length, 80 * 1024);
  assert.equal(pool.idleBytes, 0);
  assert.notEqual(pool.take(66_000).buffer, first.buffer);
});

test('every size gets what it asked for, and no more than a quarter besides', () => {
  const pool = newPool();
  for (let size = 8 * 1024; size < 2 * mebibyte; size = Math.ceil(size * 1.13)) {
    const buffer = pool.take(size);
    assert.equal(buffer.length, size);
    assert.ok(buffer.buffer.byteLength <= size * 1.25, `${size}`);
  }
});

test('small, huge and foreign buffers are not kept', () => {
  const pool = newPool();
  for (const size of [0, 1, 8 * 1024 - 1, 2 * mebibyte + 1]) {
    const buffer = pool.take(size);
    assert.equal(buffer.length, size);
    pool.give(buffer);
  }
  pool.give(Buffer.alloc(70_001));
  pool.give(pool.take(66_000).subarray(1));
  assert.equal(pool.idleBytes, 0);
});

test('what lies idle is bounded', () => {
  const pool = newPool();
  for (const buffer of Array.from({ length: 40 }, () => pool.take(mebibyte))) pool.give(buffer);
  assert.equal(pool.idleBytes, 32 * mebibyte);
});
