import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError } from '@odradek/runtime';
import { type ReplicaView, replicaSelector, selectByRack } from './replica-selector.ts';

const view = (brokerId: number, rack: string | null, logEndOffset = 10, lastCaughtUpMs = 0): ReplicaView => ({
  brokerId,
  rack,
  logEndOffset,
  lastCaughtUpMs,
});

for (const { name, rack, replicas, chosen } of [
  { name: 'the leader without a rack', rack: '', replicas: [view(1, ''), view(2, '')], chosen: 1 },
  { name: 'the leader when it is in the rack', rack: 'x', replicas: [view(1, 'x', 1), view(2, 'x')], chosen: 1 },
  { name: 'the replica in the rack', rack: 'y', replicas: [view(1, 'x'), view(2, 'y'), view(3, 'z')], chosen: 2 },
  { name: 'the leader when nobody is in the rack', rack: 'q', replicas: [view(1, 'x'), view(2, null)], chosen: 1 },
  { name: 'the one that is furthest', rack: 'y', replicas: [view(1, 'x'), view(2, 'y', 5), view(3, 'y', 9)], chosen: 3 },
  { name: 'the one that caught up last', rack: 'y', replicas: [view(1, 'x'), view(2, 'y', 5, 9), view(3, 'y', 5, 8)], chosen: 2 },
]) {
  test(`a consumer reads from ${name}`, () => assert.equal(selectByRack(rack, replicas)?.brokerId, chosen));
}

test("Kafka's own selectors are known by name, and others refused", () => {
  assert.equal(replicaSelector(null), undefined);
  assert.equal(replicaSelector('org.apache.kafka.common.replica.LeaderSelector'), undefined);
  assert.equal(replicaSelector('org.apache.kafka.common.replica.RackAwareReplicaSelector'), selectByRack);
  assert.throws(() => replicaSelector('com.example.Mine'), ConfigError);
});
