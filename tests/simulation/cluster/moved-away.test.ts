// What becomes of a replica that is moved to other brokers while its own can be told nothing.

import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import {
  AlterPartitionReassignmentsRequest,
  AlterPartitionReassignmentsResponse,
  CreateTopicsRequest,
  CreateTopicsResponse,
  DeleteTopicsRequest,
  DeleteTopicsResponse,
} from '@odradek/protocol';
import { LogManager } from '@odradek/storage';
import { SimulatedWorld } from '@odradek/testing';
import { ClusterClient } from './cluster-client.ts';
import { ensureNone } from './cluster-load.ts';
import { checkPlaces } from './cluster-places.ts';
import { SimulatedCluster, sessionTimeoutMs } from './simulated-cluster.ts';

const topic = 'moved';

/** Three brokers, and a topic on the first two. */
async function start() {
  const world = new SimulatedWorld({ seed: 1 });
  const simulated = await SimulatedCluster.start(world, 3);
  const client = new ClusterClient(world.machine('operator'), simulated.addresses);
  const create = async (...brokerIds: number[]): Promise<void> => {
    const assignments = [{ partitionIndex: 0, brokerIds }];
    const creation = { topics: [{ name: topic, numPartitions: -1, replicationFactor: -1, assignments }], timeoutMs: 1_500 };
    const versions = [CreateTopicsRequest, CreateTopicsResponse, 5] as const;
    const created = client.ask('controller', versions, creation, ({ topics }) => topics[0]?.errorCode ?? 0);
    ensureNone((await world.run(created)).topics[0]?.errorCode ?? 0);
  };
  await create(0, 1);
  await world.advance(1_000);
  return {
    world,
    simulated,
    create,
    async delete(): Promise<void> {
      const versions = [DeleteTopicsRequest, DeleteTopicsResponse, 5] as const;
      const deleted = client.ask(
        'controller',
        versions,
        { topicNames: [topic], timeoutMs: 1_500 },
        ({ responses }) => responses[0]?.errorCode ?? 0,
      );
      ensureNone((await world.run(deleted)).responses[0]?.errorCode ?? 0);
    },
    async move(...replicas: number[]): Promise<void> {
      const request = { timeoutMs: 5_000, topics: [{ name: topic, partitions: [{ partitionIndex: 0, replicas }] }] };
      const both = [AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse, 0] as const;
      const answer = await world.run(client.ask('controller', both, request, ({ errorCode }) => errorCode));
      ensureNone(answer.responses[0]?.partitions[0]?.errorCode ?? 0);
      const isThere = (id: number) => replicasOf(id).some((each) => each.isLeader && `${each.assignedReplicas}` === `${replicas}`);
      await world.runUntil(() => simulated.nodes.some(({ id }) => isThere(id)));
    },
    foldersOf: (id: number): string[] =>
      world
        .machine(`broker-${id}`)
        .fileSystem.listSync('/data')
        .filter((folder) => folder.startsWith(topic))
        .map((folder) => folder.replace(/[0-9a-f]{32}/, '')),
    replicasOf,
  };

  function replicasOf(id: number) {
    return simulated.node(id).broker?.replicas() ?? [];
  }
}

const { delete: deleteLog } = LogManager.prototype;
afterEach(() => {
  LogManager.prototype.delete = deleteLog;
});

describe('a replica that is moved away', () => {
  test('is gone', async () => {
    const { world, simulated, move, foldersOf } = await start();
    await move(0, 2);
    await world.advance(1_000);
    checkPlaces(simulated, new Map());
    assert.deepEqual(foldersOf(1), [`${topic}-0.-delete`]);
  });

  test('and is not deleted is caught', async () => {
    LogManager.prototype.delete = () => undefined;
    const { world, simulated, move } = await start();
    await move(0, 2);
    await world.advance(1_000);
    assert.throws(() => checkPlaces(simulated, new Map()), /the logs on broker 1/);
  });

  test('while its broker is down is put aside when it starts again', async () => {
    const { world, simulated, move, foldersOf, replicasOf } = await start();
    simulated.crashNode(simulated.node(1), 'everything');
    await world.advance(2 * sessionTimeoutMs);
    await move(0, 2);
    await world.run(simulated.startNode(simulated.node(1)));
    assert.deepEqual(foldersOf(1), [`${topic}-0.-stray`]);
    assert.deepEqual(replicasOf(1), []);
  });

  test('while its broker waits for the session of its last life to end is put aside when it is there', async () => {
    const { world, simulated, move, foldersOf, replicasOf } = await start();
    simulated.crashNode(simulated.node(1), 'everything');
    const starting = simulated.startNode(simulated.node(1));
    await world.advance(1_000);
    await move(0, 2);
    assert.equal(simulated.node(1).state, 'starting');
    await world.run(starting);
    await world.advance(20_000);
    assert.deepEqual(foldersOf(1), [`${topic}-0.-stray`]);
    assert.deepEqual(replicasOf(1), []);
  });

  test('while its broker has lost its session is put aside when it is back, and made anew when it is moved back', async () => {
    const { world, move, foldersOf, replicasOf } = await start();
    world.simulatedNetwork.partition(['broker-1'], ['zookeeper', 'broker-0', 'broker-2', 'operator']);
    await world.advance(2 * sessionTimeoutMs);
    await move(0, 2);
    world.simulatedNetwork.heal();
    await world.advance(5_000);
    assert.deepEqual(foldersOf(1), [`${topic}-0`]);
    await world.advance(20_000);
    assert.deepEqual(foldersOf(1), [`${topic}-0.-stray`]);
    assert.deepEqual(replicasOf(1), []);
    await move(1, 2);
    await world.runUntil(() => replicasOf(1)[0]?.inSyncReplicas.length === 2);
    assert.deepEqual(foldersOf(1).sort(), [`${topic}-0`, `${topic}-0.-stray`]);
  });

  test('from a topic that is deleted and made anew makes room for the replica of the new one', async () => {
    const { world, create, delete: deleteTopic, move, foldersOf, replicasOf } = await start();
    world.simulatedNetwork.partition(['broker-1'], ['zookeeper', 'broker-0', 'broker-2', 'operator']);
    await world.advance(2 * sessionTimeoutMs);
    await move(0, 2);
    await deleteTopic();
    world.simulatedNetwork.heal();
    await world.advance(5_000);
    await create(2, 1);
    await world.runUntil(() => replicasOf(1)[0]?.inSyncReplicas.length === 2 && replicasOf(2).length === 1);
    await world.advance(20_000);
    assert.equal(replicasOf(1)[0]?.topicId, replicasOf(2)[0]?.topicId);
    assert.deepEqual(foldersOf(1).sort(), [`${topic}-0`, `${topic}-0.-stray`]);
  });

  test('and back before it is looked at is left alone', async () => {
    const { world, simulated, move, foldersOf, replicasOf } = await start();
    world.simulatedNetwork.partition(['broker-1'], ['zookeeper', 'broker-0', 'broker-2', 'operator']);
    await world.advance(2 * sessionTimeoutMs);
    await move(0, 2);
    world.simulatedNetwork.heal();
    await world.advance(5_000);
    await move(1, 2);
    await world.advance(20_000);
    assert.deepEqual(foldersOf(1), [`${topic}-0`]);
    assert.equal(replicasOf(1).length, 1);
    assert.equal(simulated.failures.length, 0);
  });
});

test('a replica for which there was no room is made when there is, though its refusal came late to the controller', async () => {
  const { world, move, replicasOf } = await start();
  const { fileSystem } = world.machine('broker-2');
  for (const other of ['broker-0', 'broker-1']) world.simulatedNetwork.cutOneWay('broker-2', other);
  fileSystem.capacityBytes = fileSystem.usedBytes;
  const moving = move(0, 2);
  await world.advance(2_000);
  fileSystem.capacityBytes = Number.MAX_SAFE_INTEGER;
  await world.advance(5_000);
  world.simulatedNetwork.heal();
  await moving;
  assert.equal(replicasOf(2)[0]?.topic, topic);
});
