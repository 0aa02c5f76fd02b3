import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RateLimit } from './rate-limit.ts';

function timeFor(rate: RateLimit, sizeBytes: number, startMs: number): number {
  let nowMs = startMs;
  rate.add(sizeBytes, nowMs);
  for (let delayMs = 0; (delayMs = rate.delayMs(nowMs)) > 0; nowMs += delayMs);
  return nowMs - startMs;
}

test('work takes as long as the rate says, however it is cut', () => {
  for (const pieceBytes of [100, 1000, 30_000]) {
    const rate = new RateLimit(0);
    rate.bytesPerSecond = 10_000;
    let nowMs = 0;
    for (let done = 0; done < 60_000; done += pieceBytes) nowMs += timeFor(rate, pieceBytes, nowMs);
    assert.ok(Math.abs(nowMs - 6000) < 30, `60,000 bytes took ${nowMs} ms in pieces of ${pieceBytes}`);
  }
});

test('without a limit nothing waits', () => {
  assert.equal(timeFor(new RateLimit(0), 1e12, 0), 0);
});

test('a rest does not save up for a burst', () => {
  const rate = new RateLimit(0);
  rate.bytesPerSecond = 1000;
  assert.ok(timeFor(rate, 1000, 60_000) > 970);
});

test('another rate counts for what is owed already', () => {
  const rate = new RateLimit(0);
  rate.bytesPerSecond = 1;
  rate.add(1000, 0);
  assert.equal(rate.delayMs(0), 300);
  rate.bytesPerSecond = 10_000;
  assert.equal(rate.delayMs(0), 100);
});
