// Where replicas must be once all is well again.

import assert from 'node:assert/strict';
import { isWhole } from './cluster-faults.ts';
import type { SimulatedCluster } from './simulated-cluster.ts';

/** Every replica is where it is assigned to, has all that its leader has, and knows that it is committed. */
export function isSettled(simulated: SimulatedCluster): boolean {
  if (!isWhole(simulated)) return false;
  const ends = new Map<string, number>();
  for (const { broker, id } of simulated.nodes) {
    for (const { topic, partition, logEndOffset, highWatermark, assignedReplicas } of broker?.replicas() ?? []) {
      const key = `${topic}-${partition}`;
      const end = ends.get(key) ?? logEndOffset;
      if (highWatermark !== end || logEndOffset !== end || !assignedReplicas.includes(id)) return false;
      ends.set(key, end);
    }
  }
  return true;
}

/** Nothing is left of replicas that were moved away, nor of topics that were deleted: of some it is known which id they have now. */
export function checkPlaces({ nodes, world }: SimulatedCluster, topicIds: ReadonlyMap<string, string | undefined>): void {
  const assigned = new Map<string, readonly number[]>();
  for (const { broker } of nodes) {
    for (const { topic, partition, topicId, isLeader, assignedReplicas } of broker?.replicas() ?? []) {
      if (isLeader) assigned.set(`${topic}-${partition}`, assignedReplicas);
      assert.equal(topicId, topicIds.get(topic) ?? topicId, `${topic}-${partition} is of a topic that was deleted`);
    }
  }
  for (const { id, name } of nodes) {
    const folders = world.machine(name).fileSystem.listSync('/data');
    const held = folders.filter((folder) => /-\d+$/.test(folder)).sort();
    const wanted = [...assigned].filter(([, replicas]) => replicas.includes(id)).map(([partition]) => partition);
    assert.deepEqual(held, wanted.sort(), `the logs on broker ${id}`);
  }
}
