import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TimingWheel } from './timing-wheel.ts';

/** Small seeded chance: the wheel's random test must be repeatable, and this package's own Random is not the thing under test. */
function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

test('runs what is due and nothing else, in the order of the deadlines', () => {
  const wheel = new TimingWheel(1_000);
  const ran: string[] = [];
  wheel.add(1_500, () => ran.push('b'));
  wheel.add(1_001, () => ran.push('a'));
  wheel.add(100_000, () => ran.push('d'));
  wheel.add(1_500, () => ran.push('c'));
  assert.equal(wheel.size, 4);
  wheel.advance(1_499);
  assert.deepEqual(ran, ['a']);
  wheel.advance(1_500);
  assert.deepEqual(ran, ['a', 'b', 'c']);
  wheel.advance(1_000_000);
  assert.deepEqual(ran, ['a', 'b', 'c', 'd']);
  assert.equal(wheel.size, 0);
  assert.equal(wheel.nextMs, undefined);
});

test('a deadline that has passed becomes the next millisecond', () => {
  const wheel = new TimingWheel(50);
  const ran: number[] = [];
  wheel.add(3, () => ran.push(wheel.nowMs));
  assert.equal(wheel.nextMs, 51);
  wheel.advance(60);
  assert.deepEqual(ran, [51]);
});

test('a fraction of a millisecond is waited for in full', () => {
  const wheel = new TimingWheel(0);
  const ran: number[] = [];
  wheel.add(10.25, () => ran.push(wheel.nowMs));
  wheel.advance(10.9);
  assert.deepEqual(ran, []);
  wheel.advance(11);
  assert.deepEqual(ran, [11]);
});

test('nextMs is never later than the earliest deadline', () => {
  const wheel = new TimingWheel(0);
  wheel.add(5_000_000, () => undefined);
  for (let wakes = 0; wheel.size > 0; wakes++) {
    assert.ok(wakes < 10, 'a far deadline costs at most one wake for each level');
    assert.ok(wheel.nextMs! <= 5_000_000);
    wheel.advance(wheel.nextMs!);
  }
  assert.equal(wheel.nowMs, 5_000_000);
});

test('takes the largest delay there is', () => {
  const wheel = new TimingWheel(0);
  wheel.add(Number.MAX_SAFE_INTEGER, () => undefined);
  wheel.add(Number.POSITIVE_INFINITY, () => undefined);
  wheel.advance(2 ** 45);
  assert.equal(wheel.size, 2);
});

test('a cancelled entry does not run, also when an earlier one of the same bucket cancels it', () => {
  const wheel = new TimingWheel(0);
  const ran: string[] = [];
  const first = wheel.add(40, () => ran.push('first'));
  wheel.add(40, () => {
    ran.push('second');
    wheel.cancel(third);
  });
  const third = wheel.add(40, () => ran.push('third'));
  wheel.cancel(first);
  wheel.cancel(first);
  wheel.advance(100);
  assert.deepEqual(ran, ['second']);
  assert.equal(wheel.size, 0);
});

test('an action that throws leaves the others in the wheel', () => {
  const wheel = new TimingWheel(0);
  const ran: string[] = [];
  wheel.add(40, () => {
    throw new Error('broken');
  });
  wheel.add(40, () => ran.push('same time'));
  wheel.add(41, () => ran.push('later'));
  assert.throws(() => wheel.advance(50), /broken/);
  wheel.advance(50);
  assert.deepEqual(ran, ['same time', 'later']);
});

test('clear forgets everything, also in the middle of a run', () => {
  const wheel = new TimingWheel(0);
  const ran: string[] = [];
  wheel.add(40, () => {
    ran.push('first');
    wheel.clear();
  });
  wheel.add(40, () => ran.push('second'));
  wheel.add(70_000, () => ran.push('third'));
  wheel.advance(100_000);
  assert.deepEqual(ran, ['first']);
  assert.equal(wheel.size, 0);
});

for (const seed of [1, 2, 3, 4, 5]) {
  test(`behaves like a sorted list (seed ${seed})`, () => {
    const next = chance(seed);
    const startMs = Math.floor(next() * 2 ** 33);
    const wheel = new TimingWheel(startMs);
    const expected: { deadlineMs: number; id: number }[] = [];
    const ran: { deadlineMs: number; id: number }[] = [];
    let nowMs = startMs;
    let id = 0;
    for (let step = 0; step < 2_000; step++) {
      const deadlineMs = nowMs + 1 + Math.floor(10 ** (next() * 8));
      const item = { deadlineMs, id: id++ };
      const entry = wheel.add(deadlineMs, () => {
        assert.equal(wheel.nowMs, item.deadlineMs);
        ran.push(item);
      });
      if (next() < 0.3) {
        wheel.cancel(entry);
      } else {
        expected.push(item);
      }
      if (next() < 0.2) {
        nowMs += Math.floor(10 ** (next() * 6));
        wheel.advance(nowMs);
        const due = expected
          .filter((other) => other.deadlineMs <= nowMs)
          .sort((a, b) => a.deadlineMs - b.deadlineMs || a.id - b.id);
        assert.deepEqual(ran.splice(0), due);
        expected.splice(0, expected.length, ...expected.filter((other) => other.deadlineMs > nowMs));
        assert.equal(wheel.size, expected.length);
      }
    }
  });
}
