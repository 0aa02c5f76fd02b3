import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CorruptSnapshotError, decodeSnapshot, encodeSnapshot } from './producer-snapshot.ts';
import type { ProducerState } from './producer-states.ts';

const states: ProducerState[] = [
  {
    producerId: 4711,
    producerEpoch: 3,
    batches: [
      { lastSequence: 7, lastOffset: 90, offsetDelta: 0, timestamp: 1 },
      { lastSequence: 9, lastOffset: 99, offsetDelta: 1, timestamp: 1700000000000 },
    ],
    firstSequence: 3,
    leaderEpoch: 7,
    reignSequence: 5,
    coordinatorEpoch: 2,
    lastTimestamp: 1700000000000,
    transactionFirstOffset: 98,
  },
  {
    producerId: 2,
    producerEpoch: 0,
    batches: [],
    firstSequence: -1,
    leaderEpoch: -1,
    reignSequence: -1,
    coordinatorEpoch: -1,
    lastTimestamp: -1,
    transactionFirstOffset: undefined,
  },
];

test('a snapshot keeps the last batch of each producer and its open transaction', () => {
  const [first, second] = decodeSnapshot(encodeSnapshot(states), 'file');
  assert.deepEqual(first, {
    ...states[0],
    batches: states[0]!.batches.slice(-1),
    firstSequence: 8,
    leaderEpoch: -1,
    reignSequence: -1,
  });
  assert.deepEqual(second, states[1]);
  assert.deepEqual(decodeSnapshot(encodeSnapshot([]), 'file'), []);
});

test('damage is found, wherever it is', () => {
  const bytes = encodeSnapshot(states);
  for (let position = 0; position < bytes.length; position++) {
    const damaged = Buffer.from(bytes);
    damaged[position]! ^= 1;
    assert.throws(() => decodeSnapshot(damaged, 'file'), CorruptSnapshotError, `position ${position}`);
  }
  for (let size = 0; size < bytes.length; size++) {
    assert.throws(() => decodeSnapshot(bytes.subarray(0, size), 'file'), CorruptSnapshotError, `size ${size}`);
  }
  assert.throws(() => decodeSnapshot(Buffer.alloc(bytes.length), 'file'), CorruptSnapshotError, 'zeros');
});
