import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TokenBucket } from './token-bucket.ts';

function setUp() {
  const time = { nowMs: 5_000 };
  return { time, bucket: new TokenBucket({ monotonicMs: () => time.nowMs, wallTimeMs: () => 0 }, 10) };
}

describe('a bucket of tokens', () => {
  it('is full at first, may be overdrawn once, and fills up again', () => {
    const { time, bucket } = setUp();
    const perSecond = 2;
    assert.deepEqual([bucket.tokens(perSecond), bucket.waitMs(perSecond)], [20, 0]);
    bucket.take(20, perSecond);
    assert.deepEqual([bucket.tokens(perSecond), bucket.waitMs(perSecond)], [0, 0]);
    bucket.take(5, perSecond);
    assert.deepEqual([bucket.tokens(perSecond), bucket.waitMs(perSecond)], [-5, 2500]);
    time.nowMs += 2000;
    assert.deepEqual([bucket.tokens(perSecond), bucket.waitMs(perSecond)], [-1, 500]);
    time.nowMs += 500;
    assert.equal(bucket.waitMs(perSecond), 0);
    time.nowMs += 60_000;
    assert.equal(bucket.tokens(perSecond), 20, 'not more than it holds');
  });

  it('keeps what is owed when the rate changes', () => {
    const { bucket } = setUp();
    bucket.take(30, 2);
    assert.equal(bucket.waitMs(2), 5000);
    assert.equal(bucket.tokens(4), 10);
    assert.equal(bucket.tokens(1), -20);
  });
});
