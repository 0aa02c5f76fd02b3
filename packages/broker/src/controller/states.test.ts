import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLogger } from '@odradek/runtime';
import type { BrokerRequests } from './broker-requests.ts';
import { ControllerContext } from './controller-context.ts';
import type { ControllerTree } from './controller-tree.ts';
import { PartitionStates, previousPartitionStates } from './partition-states.ts';
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

it('says in one line why many partitions stay as they are', async () => {
  const lines: string[] = [];
  const context = new ControllerContext(1, 0);
  const topic = context.addTopic('t', 'AAAAAAAAAAAAAAAAAAAAAQ');
  for (let index = 0; index < 8; index++) context.addPartition(topic, index, [1, 2]);
  const [online, ...others] = context.partitions();
  if (online !== undefined) online.state = 'Online';
  const states = new PartitionStates({
    context,
    // Nothing comes so far that it would be written or sent.
    tree: {} as ControllerTree,
    requests: {} as BrokerRequests,
    isUncleanElectionEnabled: () => false,
    logger: createLogger({ write: (text) => lines.push(text) }),
  });
  const failed = await states.change([...others, ...(online ? [online] : [])], 'NonExistent');
  assert.equal(failed.length, 8);
  assert.deepEqual(
    lines.map((line) => line.slice(line.indexOf('WARN')).trim()),
    [
      'WARN  Partitions did not change their state  partitions="t-1, t-2, t-3, t-4, t-5 and 2 more" state=NonExistent target=NonExistent reason="it is NonExistent"',
      'WARN  Partitions did not change their state  partitions=t-0 state=Online target=NonExistent reason="it is Online"',
    ],
  );
});
