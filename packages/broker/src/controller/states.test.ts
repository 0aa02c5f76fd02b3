import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { previousPartitionStates } from './partition-states.ts';
import { previousReplicaStates } from './replica-states.ts';

/** Every pair that is legal; all others are not. */
const legalPartitionSteps = [
  'NonExistent → New',
  'New → Online',
  'Online → Online',
  'Offline → Online',
  'New → Offline',
  'Online → Offline',
  'Offline → Offline',
  'Offline → NonExistent',
];
const legalReplicaSteps = [
  'NonExistent → New',
  'New → Online',
  'Online → Online',
  'Offline → Online',
  'DeletionIneligible → Online',
  'New → Offline',
  'Online → Offline',
  'Offline → Offline',
  'DeletionIneligible → Offline',
  'Offline → DeletionStarted',
  'DeletionStarted → DeletionSuccessful',
  'Offline → DeletionIneligible',
  'DeletionStarted → DeletionIneligible',
  'DeletionSuccessful → NonExistent',
];

function steps(previous: Readonly<Record<string, readonly string[]>>): string[] {
  return Object.entries(previous).flatMap(([state, before]) => before.map((from) => `${from} → ${state}`));
}

describe('legal transitions', () => {
  it('of partitions', () => assert.deepEqual(steps(previousPartitionStates).sort(), legalPartitionSteps.sort()));
  it('of replicas', () => assert.deepEqual(steps(previousReplicaStates).sort(), legalReplicaSteps.sort()));
});
