import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { imbalancedPartitions } from './leader-balance.ts';

/** Partitions of broker 1, of which the first `away` are led by broker 2. */
function partitions(count: number, away: number): { assignedReplicas: number[]; leader: number; index: number }[] {
  return Array.from({ length: count }, (_, index) => ({ assignedReplicas: [1, 2], leader: index < away ? 2 : 1, index }));
}

describe('leaders out of balance', () => {
  for (const { name, all, percent, expected } of [
    { name: 'all where they should be: none', all: partitions(10, 0), percent: 0, expected: [] },
    { name: 'exactly as many as allowed: none', all: partitions(10, 1), percent: 10, expected: [] },
    { name: 'one more: all that are away', all: partitions(10, 2), percent: 10, expected: [0, 1] },
    { name: 'none allowed: each', all: partitions(100, 1), percent: 0, expected: [0] },
    {
      name: 'each broker is looked at by itself',
      all: [...partitions(2, 2), { assignedReplicas: [3], leader: 3, index: 9 }],
      percent: 50,
      expected: [0, 1],
    },
    {
      name: 'a partition without a leader is led elsewhere',
      all: [{ assignedReplicas: [1], leader: -1, index: 5 }],
      percent: 10,
      expected: [5],
    },
  ]) {
    it(name, () => {
      assert.deepEqual(
        imbalancedPartitions(all, percent).map(({ index }) => index),
        expected,
      );
    });
  }
});
