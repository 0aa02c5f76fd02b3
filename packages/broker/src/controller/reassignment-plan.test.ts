import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { originReplicas, type ReplicaAssignment, reassignTo, targetProblem, targetReplicas } from './reassignment-plan.ts';

function assignment(assignedReplicas: number[], addingReplicas: number[] = [], removingReplicas: number[] = []): ReplicaAssignment {
  return { assignedReplicas, addingReplicas, removingReplicas };
}

describe('a move of a partition', () => {
  for (const { name, from, target, expected } of [
    { name: 'to other brokers', from: assignment([0]), target: [1, 2], expected: assignment([1, 2, 0], [1, 2], [0]) },
    { name: 'to one more', from: assignment([0]), target: [0, 1], expected: assignment([0, 1], [1]) },
    { name: 'to one less', from: assignment([0, 1]), target: [1], expected: assignment([1, 0], [], [0]) },
    { name: 'to another order', from: assignment([0, 1]), target: [1, 0], expected: assignment([1, 0]) },
    { name: 'to where it is', from: assignment([0, 1]), target: [0, 1], expected: assignment([0, 1]) },
    { name: 'that is stopped', from: assignment([1, 2, 0], [1, 2], [0]), target: [0], expected: assignment([0]) },
    { name: 'to another target', from: assignment([1, 2, 0], [1, 2], [0]), target: [3], expected: assignment([3, 0], [3], [0]) },
    {
      name: 'that keeps one of those that come',
      from: assignment([1, 2, 0], [1, 2], [0]),
      target: [2, 0],
      expected: assignment([2, 0], [2]),
    },
  ]) {
    it(name, () => {
      const moving = reassignTo(from, target);
      assert.deepEqual(moving, expected);
      assert.deepEqual(targetReplicas(moving), target);
      assert.deepEqual([...originReplicas(moving)].sort(), [...originReplicas(from)].sort(), 'it can always go back');
    });
  }
});

describe('a target', () => {
  const isLive = (brokerId: number): boolean => brokerId < 3;
  for (const { name, from, target, problem } of [
    { name: 'of live brokers is good', from: assignment([0]), target: [1, 2], problem: undefined },
    { name: 'may keep a dead broker', from: assignment([0, 7]), target: [7, 1], problem: undefined },
    { name: 'must not add a dead broker', from: assignment([0]), target: [0, 7], problem: /not alive: 7/ },
    { name: 'must not be empty', from: assignment([0]), target: [], problem: /empty/ },
    { name: 'must not name a broker twice', from: assignment([0]), target: [1, 1], problem: /more than once/ },
    { name: 'must not name an impossible broker', from: assignment([0]), target: [-1], problem: /impossible/ },
  ]) {
    it(name, () => {
      const found = targetProblem(from, target, isLive);
      if (problem === undefined) assert.equal(found, undefined);
      else assert.match(found ?? '', problem);
    });
  }
});
