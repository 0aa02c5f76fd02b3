import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { WindowedRate } from './windowed-rate.ts';

function rateAt(atLeast: number, count = 11) {
  const time = { nowMs: 100_000 };
  const clock = { monotonicMs: () => time.nowMs, wallTimeMs: () => 0 };
  return { time, rate: new WindowedRate(clock, { count, sizeMs: 1000, atLeast }) };
}

describe('a rate of clients', () => {
  const steps = [
    { afterMs: 0, amount: 1000, perSecond: 100, throttleMs: 0 },
    { afterMs: 500, amount: 1000, perSecond: 200, throttleMs: 10_000 },
    { afterMs: 9_500, amount: 0, perSecond: 200, throttleMs: 10_000 },
    { afterMs: 999, amount: 0, perSecond: 181.83, throttleMs: 9001 },
    { afterMs: 1, amount: 0, perSecond: 0, throttleMs: 0 },
  ];
  it('is measured over all full windows, also at the beginning', () => {
    const { time, rate } = rateAt(10);
    for (const { afterMs, amount, perSecond, throttleMs } of steps) {
      time.nowMs += afterMs;
      rate.record(amount);
      const told = [Math.round(rate.perSecond * 100) / 100, rate.throttleMs(100)];
      assert.deepEqual(told, [perSecond, throttleMs], `at ${time.nowMs}`);
    }
  });

  it('stays at the limit in the long run, when a client waits as it is told', () => {
    const { time, rate } = rateAt(10);
    const beginMs = time.nowMs;
    let amount = 0;
    for (let round = 0; round < 400; round++) {
      rate.record(300);
      amount += 300;
      time.nowMs += Math.max(100, rate.throttleMs(100));
    }
    const perSecond = amount / ((time.nowMs - beginMs) / 1000);
    assert.ok(perSecond > 80 && perSecond < 110, String(perSecond));
  });

  it('tells of the smallest excess, so that nobody goes on at once', () => {
    const { rate } = rateAt(10);
    rate.record(1000.01);
    assert.equal(rate.throttleMs(100), 1);
  });

  it('does not take what would be too much, until there is room for it again', () => {
    const { time, rate } = rateAt(10);
    assert.equal(rate.tryRecord(600, 100), 0);
    assert.equal(rate.tryRecord(600, 100), 2000);
    assert.equal(rate.perSecond, 60);
    assert.equal(rate.tryRecord(400, 100), 0);
    time.nowMs += 11_000;
    assert.equal(rate.tryRecord(600, 100), 0);
  });

  it('takes after a pause whatever comes, and nothing then until that is made up for', () => {
    const { time, rate } = rateAt(10);
    assert.equal(rate.tryRecord(5000, 100), 0);
    assert.equal(rate.tryRecord(1, 100), 40_010);
    time.nowMs += 11_000;
    assert.equal(rate.tryRecord(5000, 100), 0);
  });

  it('makes nobody wait for longer than can be told', () => {
    const { rate } = rateAt(10);
    rate.record(1e9);
    assert.equal(rate.throttleMs(1), 0x7fff_ffff);
  });

  it('takes nothing where the limit is 0', () => {
    const { rate } = rateAt(10);
    assert.equal(rate.tryRecord(0, 0), 0);
    assert.equal(rate.tryRecord(1, 0), 0x7fff_ffff);
    assert.equal(rate.perSecond, 0);
  });

  it('can do with one window', () => {
    const { time, rate } = rateAt(1, 1);
    rate.record(500);
    assert.deepEqual([rate.perSecond, rate.throttleMs(100)], [500, 4000]);
    time.nowMs += 1000;
    assert.equal(rate.perSecond, 0);
  });
});
