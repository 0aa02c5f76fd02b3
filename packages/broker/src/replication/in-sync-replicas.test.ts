import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FollowerState } from './follower-state.ts';
import {
  hasEnoughInSync,
  highWatermarkOf,
  laggards,
  largestSet,
  mayJoin,
  withoutReplicas,
  withReplica,
} from './in-sync-replicas.ts';

const lagLimit = { nowMs: 100_000, maxLagMs: 30_000 };
const at = (brokerId: number, logEndOffset: number, lastCaughtUpMs = 0) => ({ brokerId, logEndOffset, lastCaughtUpMs });

for (const { name, leaderEnd, isr, followers, expected } of [
  { name: 'alone: the leader’s end', leaderEnd: 10, isr: [1], followers: [], expected: 10 },
  { name: 'the slowest in-sync follower', leaderEnd: 10, isr: [1, 2, 3], followers: [at(2, 7), at(3, 5)], expected: 5 },
  { name: 'a follower long out of sync does not count', leaderEnd: 10, isr: [1, 2], followers: [at(2, 7), at(3, 5)], expected: 7 },
  {
    name: 'a follower that has just caught up does',
    leaderEnd: 10,
    isr: [1, 2],
    followers: [at(2, 9), at(3, 5, 90_000)],
    expected: 5,
  },
  { name: 'an in-sync follower not heard of yet holds it back', leaderEnd: 10, isr: [1, 2], followers: [at(2, -1)], expected: -1 },
]) {
  test(`the high watermark: ${name}`, () => {
    assert.equal(highWatermarkOf(leaderEnd, new Set(isr), followers, lagLimit), expected);
  });
}

test('the high watermark does not wait for a follower that cannot join', () => {
  const followers = [at(2, 5, 90_000), at(3, 7, 90_000)];
  assert.equal(
    highWatermarkOf(10, new Set([1]), followers, lagLimit, (brokerId) => brokerId !== 2),
    7,
  );
});

test('whoever may be taken for in sync counts: a newcomer at once, one that leaves until it has left', () => {
  const isr = new Set([1, 2]);
  assert.deepEqual([...largestSet({ kind: 'agreed', isr })], [1, 2]);
  assert.deepEqual([...largestSet(withReplica(isr, 3))], [1, 2, 3]);
  assert.deepEqual([...largestSet(withoutReplicas(isr, [2]))], [1, 2]);
  assert.deepEqual([...withoutReplicas(isr, [2]).proposed], [1]);
});

for (const { name, end, highWatermark, epochStart, expected } of [
  { name: 'behind the high watermark', end: 4, highWatermark: 5, epochStart: 0, expected: false },
  { name: 'at the high watermark', end: 5, highWatermark: 5, epochStart: 5, expected: true },
  { name: 'before the start of this reign', end: 5, highWatermark: 5, epochStart: 6, expected: false },
]) {
  test(`joining the in-sync replicas: ${name}`, () => assert.equal(mayJoin(at(2, end), highWatermark, epochStart), expected));
}

test('laggards are in-sync followers that have been behind for too long', () => {
  const followers = [at(2, 10, 0), at(3, 9, 0), at(4, 9, 70_000), at(5, 1, 0)];
  assert.deepEqual(laggards(10, new Set([1, 2, 3, 4]), followers, lagLimit), [3]);
});

for (const { inSync, min, assigned, expected } of [
  { inSync: 1, min: 1, assigned: 1, expected: true },
  { inSync: 1, min: 2, assigned: 3, expected: false },
  { inSync: 2, min: 2, assigned: 3, expected: true },
  { inSync: 1, min: 2, assigned: 1, expected: true },
]) {
  test(`${inSync} in sync of ${assigned}, ${min} needed: ${expected ? 'enough' : 'too few'}`, () => {
    assert.equal(hasEnoughInSync(inSync, min, assigned), expected);
  });
}

test('a follower that is one fetch behind a busy leader stays caught up', () => {
  const follower = new FollowerState(2, true, 0);
  follower.recordFetch(0, 0, 100, 1_000);
  assert.equal(follower.lastCaughtUpMs, 0);
  follower.recordFetch(100, 0, 200, 2_000);
  assert.equal(follower.lastCaughtUpMs, 1_000);
  follower.recordFetch(200, 0, 200, 3_000);
  assert.equal(follower.lastCaughtUpMs, 3_000);
  follower.recordFetch(150, 0, 300, 4_000);
  assert.equal(follower.lastCaughtUpMs, 3_000);
});
