import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Candidates,
  type Elected,
  electAfterFailure,
  electForReassignment,
  electForShutdown,
  electPreferred,
} from './leader-election.ts';

const candidates = (assignedReplicas: number[], isr: number[], online: number[]): Candidates => ({
  assignedReplicas,
  isr,
  isOnline: (replica) => online.includes(replica),
});
const clean = (leader: number, isr: number[]): Elected => ({ leader, isr, isUnclean: false });

describe('leader election', () => {
  const cases: { readonly name: string; readonly elected: Elected | undefined; readonly expected: Elected | undefined }[] = [
    {
      name: 'after a failure takes the first live in-sync replica in the order of assignment, and drops the dead from the ISR',
      elected: electAfterFailure(candidates([1, 2, 3], [3, 2, 1], [2, 3]), false),
      expected: clean(2, [3, 2]),
    },
    {
      name: 'after a failure elects nobody out of sync',
      elected: electAfterFailure(candidates([1, 2, 3], [1], [2, 3]), false),
      expected: undefined,
    },
    {
      name: 'after a failure elects somebody out of sync when the topic allows it',
      elected: electAfterFailure(candidates([1, 2, 3], [1], [3]), true),
      expected: { leader: 3, isr: [3], isUnclean: true },
    },
    {
      name: 'prefers who is in sync even when others may lead',
      elected: electAfterFailure(candidates([1, 2, 3], [3], [2, 3]), true),
      expected: clean(3, [3]),
    },
    {
      name: 'after a failure elects nobody when all are dead',
      elected: electAfterFailure(candidates([1, 2], [1, 2], []), true),
      expected: undefined,
    },
    {
      name: 'for a reassignment takes the first target in sync',
      elected: electForReassignment(candidates([1, 2, 3, 4], [1, 4], [1, 3, 4]), [3, 4]),
      expected: clean(4, [1, 4]),
    },
    {
      name: 'for a reassignment waits for a target in sync',
      elected: electForReassignment(candidates([1, 2, 3], [1], [1, 3]), [3]),
      expected: undefined,
    },
    {
      name: 'gives leadership back to the preferred replica',
      elected: electPreferred(candidates([1, 2], [2, 1], [1, 2])),
      expected: clean(1, [2, 1]),
    },
    { name: 'does not prefer who is out of sync', elected: electPreferred(candidates([1, 2], [2], [1, 2])), expected: undefined },
    { name: 'does not prefer who is dead', elected: electPreferred(candidates([1, 2], [1, 2], [2])), expected: undefined },
    {
      name: 'for a shutdown moves to the next and takes the stopping out of the ISR',
      elected: electForShutdown(candidates([1, 2, 3], [1, 2, 3], [1, 2, 3]), (replica) => replica === 1),
      expected: clean(2, [2, 3]),
    },
    {
      name: 'for a shutdown keeps the leader when nobody else is in sync',
      elected: electForShutdown(candidates([1, 2], [1], [1, 2]), (replica) => replica === 1),
      expected: undefined,
    },
  ];
  for (const { name, elected, expected } of cases) it(name, () => assert.deepEqual(elected, expected));
});
