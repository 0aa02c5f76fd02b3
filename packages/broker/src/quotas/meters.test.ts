import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Meters } from './meters.ts';

function setUp(max?: number) {
  const time = { nowMs: 0 };
  let made = 0;
  const clock = { monotonicMs: () => time.nowMs, wallTimeMs: () => 0 };
  const meters = new Meters(clock, () => ++made, max);
  return { time, meters, names: () => Array.from(meters, ({ user, clientId, meter }) => `${user}/${clientId}:${meter}`) };
}

describe('meters', () => {
  it('are one for each user and client id, whatever these are made of', () => {
    const { meters, names } = setUp();
    const pairs = [
      ['a', 'b c'],
      ['a b', 'c'],
      ['', 'a'],
      ['a', ''],
      ['a', 'b c'],
    ] as const;
    assert.deepEqual(
      pairs.map(([user, clientId]) => meters.of({ user, clientId })),
      [1, 2, 3, 4, 1],
    );
    assert.deepEqual(names(), ['a b/c:2', '/a:3', 'a/:4', 'a/b c:1']);
  });

  it('are never more than so many: the longest not used goes', () => {
    const { meters, names } = setUp(2);
    for (const clientId of ['a', 'b', 'a', 'c']) meters.of({ user: '', clientId });
    assert.deepEqual(names(), ['/a:1', '/c:3']);
    assert.equal(meters.size, 2);
  });

  it('go after an hour without use', () => {
    const { time, meters, names } = setUp();
    meters.of({ user: '', clientId: 'a' });
    time.nowMs = 1_800_000;
    meters.of({ user: '', clientId: 'b' });
    time.nowMs = 3_600_000;
    meters.of({ user: '', clientId: 'c' });
    assert.deepEqual(names(), ['/b:2', '/c:3']);
  });
});
