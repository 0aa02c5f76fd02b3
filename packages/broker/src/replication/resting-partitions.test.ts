import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { WantedPartition } from './fetch-sessions.ts';
import { FollowerState } from './follower-state.ts';
import type { Partition } from './partition.ts';
import { RestingPartitions } from './resting-partitions.ts';

const follower = { id: 2, epoch: 5 };
/** Nothing is asked of it here. */
const partition = {} as Partition;

let wanted: WantedPartition[];
let states: FollowerState[];
let resting: RestingPartitions;
let told: WantedPartition[];

/** Three partitions, of which the first two rest since 1,000. */
beforeEach(() => {
  wanted = [0, 1, 2].map((index) => ({
    topic: 't',
    topicId: 'AAAAAAAAAAAAAAAAAAAAAQ',
    partition: index,
    currentLeaderEpoch: 0,
    fetchOffset: 7,
    lastFetchedEpoch: 0,
    followerLogStartOffset: 0,
    maxBytes: 1,
    toldHighWatermark: 7,
    toldLogStartOffset: 0,
    rest: undefined,
  }));
  states = wanted.map(() => new FollowerState(follower.id, true, 0));
  resting = new RestingPartitions(wanted);
  told = [];
  resting.onAwake = (_partition, each) => told.push(each);
  resting.recordFetch(follower.id, follower.epoch, 1000);
  for (const index of [0, 1]) {
    stateOf(index).recordFetch(7, 0, 7, 1000);
    resting.rest(partition, wantedOf(index), stateOf(index));
  }
});

function wantedOf(index: number): WantedPartition {
  return wanted[index] ?? assert.fail();
}

function stateOf(index: number): FollowerState {
  return states[index] ?? assert.fail();
}

function awake(): number[] {
  return [...resting.awake()].map((each) => each.partition);
}

function fetchAt(nowMs: number, epoch = follower.epoch): void {
  resting.recordFetch(follower.id, epoch, nowMs);
}

test('a fetch counts for everything that rests, and for nothing else', () => {
  assert.deepEqual(awake(), [2]);
  fetchAt(2000);
  assert.deepEqual(
    states.map(({ lastCaughtUpMs }) => lastCaughtUpMs),
    [2000, 2000, 0],
  );
});

test('who is stirred has caught up at the last fetch, and later ones do not count', () => {
  fetchAt(2000);
  stateOf(0).stir();
  fetchAt(3000);
  assert.deepEqual([stateOf(0).lastCaughtUpMs, stateOf(1).lastCaughtUpMs], [2000, 3000]);
  assert.deepEqual(awake(), [2, 0]);
  assert.deepEqual(told, [wantedOf(0)]);
  stateOf(0).stir();
  assert.equal(told.length, 1, 'it is told once');
});

test('one fetch behind what came while it rested is in time all the same', () => {
  fetchAt(2000);
  stateOf(0).stir();
  stateOf(0).recordFetch(7, 0, 9, 2500);
  assert.equal(stateOf(0).lastCaughtUpMs, 2000);
  stateOf(0).recordFetch(9, 0, 12, 3000);
  assert.equal(stateOf(0).lastCaughtUpMs, 2500);
});

test('what the follower forgets is not fetched any more', () => {
  resting.forget(wantedOf(1));
  fetchAt(2000);
  assert.equal(stateOf(1).lastCaughtUpMs, 1000);
  assert.deepEqual(awake(), [2]);
});

test('what the follower asks differently for has to be looked at', () => {
  resting.wake(wantedOf(1));
  assert.deepEqual(awake(), [2, 1]);
  fetchAt(2000);
  assert.equal(stateOf(1).lastCaughtUpMs, 1000);
});

test('in another life the follower has to show anew what it has', () => {
  fetchAt(2000, follower.epoch + 1);
  assert.deepEqual(awake(), [2, 0, 1]);
  assert.deepEqual([stateOf(0).lastCaughtUpMs, stateOf(1).lastCaughtUpMs], [1000, 1000]);
});

test('a fetch in another session ends the rest in this one', () => {
  stateOf(0).recordFetch(7, 0, 7, 1500);
  const other = new RestingPartitions([]);
  other.recordFetch(follower.id, follower.epoch, 1500);
  other.rest(partition, { ...wantedOf(0), rest: undefined }, stateOf(0));
  other.recordFetch(follower.id, follower.epoch, 4000);
  fetchAt(5000);
  assert.equal(stateOf(0).lastCaughtUpMs, 4000);
  resting.forget(wantedOf(0));
  assert.equal(stateOf(0).lastCaughtUpMs, 4000);
});

test('what gave data is served after the others', () => {
  stateOf(0).stir();
  resting.moveToEnd(wantedOf(2));
  assert.deepEqual(awake(), [0, 2]);
  resting.moveToEnd(wantedOf(1));
  assert.deepEqual(awake(), [0, 2], 'one that rests goes on resting');
});
