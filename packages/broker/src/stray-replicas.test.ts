import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Coordination, CoordinationError, topicNode } from '@odradek/coordination';
import { createLogger } from '@odradek/runtime';
import type { PartitionLog } from '@odradek/storage';
import { SimulatedWorld } from '@odradek/testing';
import { MetadataCache } from './metadata/metadata-cache.ts';
import type { ReplicaManager } from './replication/replica-manager.ts';
import { StrayReplicas } from './stray-replicas.ts';

const brokerId = 3;
const topicId = 'AAAAAAAAAAAAAAAAAAAAAQ';
const laterId = 'AAAAAAAAAAAAAAAAAAAAAg';

/** A topic as the tree and metadata have it: the replicas of each of its partitions. */
interface Topic {
  readonly id: string;
  readonly replicas: readonly (readonly number[])[];
}

/** A broker that holds t-1 and has been ordered to; what it is told later it may have missed. */
function setUp() {
  const world = new SimulatedWorld({ seed: 1 });
  const metadataCache = new MetadataCache('cluster');
  const log = { path: '/data/t-1', topicId, topicPartition: { topic: 't', partition: 1 } } as PartitionLog;
  const held = new Map([[1, log]]);
  let inTree: Topic | undefined;
  const stray = new StrayReplicas({
    brokerId,
    metadataCache,
    replicaManager: {
      find: () => undefined,
      partitionsOf: () => held.keys(),
      foundLog: (_, index) => held.get(index),
      putAside: ({ topicPartition: { partition } }) => held.delete(partition),
    } satisfies Partial<ReplicaManager> as unknown as ReplicaManager,
    coordination: {
      get: async (path: string) => {
        if (inTree === undefined) throw new CoordinationError('NoNode', path);
        const replicas = new Map(inTree.replicas.map((ids, index) => [index, ids]));
        const none = new Map<number, number[]>();
        return { data: topicNode.encode({ topicId: inTree.id, replicas, addingReplicas: none, removingReplicas: none }) };
      },
    } as unknown as Coordination,
    timer: world.machine('broker').timer,
    logger: createLogger({ level: 'fatal' }),
  });
  /** What the controller tells; a partition that is not there any more has the leader -2. */
  const tell = ({ id, replicas }: Topic, gone: readonly number[] = []): void => {
    const state = (partitionIndex: number, leader: number, all: readonly number[]) => {
      const ids = [...all];
      return {
        partitionIndex,
        leader,
        leaderEpoch: 0,
        controllerEpoch: 1,
        isr: ids,
        zkVersion: 0,
        replicas: ids,
        offlineReplicas: [],
      };
    };
    const partitionStates = [
      ...gone.map((index) => state(index, -2, [])),
      ...replicas.map((ids, index) => state(index, ids[0] ?? -1, ids)),
    ];
    const topicStates = [{ topicName: 't', topicId: id, partitionStates }];
    metadataCache.update({ controllerId: 1, controllerEpoch: 1, topicStates, ungroupedPartitionStates: [], liveBrokers: [] });
  };
  return {
    world,
    held,
    stray,
    tell,
    write: (topic: Topic | undefined): void => {
      inTree = topic;
    },
  };
}

const here: Topic = { id: topicId, replicas: [[1, 2], [brokerId]] };
const elsewhere: Topic = { id: topicId, replicas: [[1, 2], [2]] };
const madeAnew: Topic = { id: laterId, replicas: [[1, brokerId]] };

for (const { name, last, gone = [], inTree, isKept } of [
  { name: 'its partition is here', last: here, inTree: here, isKept: true },
  { name: 'its partition is elsewhere', last: elsewhere, inTree: elsewhere, isKept: false },
  { name: 'metadata say so, and the tree does not', last: elsewhere, inTree: here, isKept: true },
  { name: 'its topic is gone', last: { id: topicId, replicas: [] }, gone: [0, 1], inTree: undefined, isKept: false },
  { name: 'its topic was made anew with fewer partitions', last: madeAnew, gone: [0, 1], inTree: madeAnew, isKept: false },
] as readonly { name: string; last: Topic; gone?: readonly number[]; inTree: Topic | undefined; isKept: boolean }[]) {
  test(`a replica of which nobody has said that it is to go ${isKept ? 'stays' : 'is put aside'}: ${name}`, async () => {
    const { world, held, stray, tell, write } = setUp();
    tell(here);
    if (gone.length > 0) tell({ id: topicId, replicas: [] }, gone);
    if (last.replicas.length > 0) tell(last);
    write(inTree);
    await world.advance(60_000);
    assert.equal(held.size, isKept ? 1 : 0);
    stray.close();
  });
}
