import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SeededRandom } from '@odradek/runtime';
import { placeReplicas } from './replica-placement.ts';

const random = new SeededRandom(1);
const plain = (...ids: number[]) => ids.map((id) => ({ id, rack: null }));
const racked = (racks: Record<number, string>) => Object.entries(racks).map(([id, rack]) => ({ id: Number(id), rack }));

describe('replica placement', () => {
  const cases: {
    readonly name: string;
    readonly brokers: readonly { id: number; rack: string | null }[];
    readonly partitionCount: number;
    readonly replicationFactor: number;
    readonly firstPartition?: number;
    readonly fixedStartIndex?: number;
    readonly placed: Record<number, number[]>;
  }[] = [
    {
      name: 'goes round five brokers and shifts the followers after each round',
      brokers: plain(0, 1, 2, 3, 4),
      partitionCount: 10,
      replicationFactor: 3,
      fixedStartIndex: 0,
      placed: {
        0: [0, 1, 2],
        1: [1, 2, 3],
        2: [2, 3, 4],
        3: [3, 4, 0],
        4: [4, 0, 1],
        5: [0, 2, 3],
        6: [1, 3, 4],
        7: [2, 4, 0],
        8: [3, 0, 1],
        9: [4, 1, 2],
      },
    },
    {
      name: 'has one choice with one broker',
      brokers: plain(7),
      partitionCount: 2,
      replicationFactor: 1,
      fixedStartIndex: 0,
      placed: { 0: [7], 1: [7] },
    },
    {
      // Brokers and assignment of t-rf3 in shared/golden/zookeeper, grown from 5 to 7 partitions by Apache Kafka.
      name: 'grows a topic as Kafka did',
      brokers: racked({ 0: 'rack-0', 1: 'rack-1', 2: 'rack-2' }),
      partitionCount: 2,
      replicationFactor: 3,
      firstPartition: 5,
      fixedStartIndex: 0,
      placed: { 5: [2, 0, 1], 6: [0, 2, 1] },
    },
    {
      name: 'alternates racks and spreads a partition over all of them',
      brokers: racked({ 0: 'a', 1: 'b', 2: 'b', 3: 'c', 4: 'c', 5: 'a' }),
      partitionCount: 7,
      replicationFactor: 3,
      fixedStartIndex: 0,
      placed: { 0: [0, 1, 3], 1: [1, 3, 5], 2: [3, 5, 2], 3: [5, 2, 4], 4: [2, 4, 0], 5: [4, 0, 1], 6: [0, 2, 4] },
    },
    {
      name: 'uses a rack twice only when all are used',
      brokers: racked({ 0: 'a', 1: 'a', 2: 'b' }),
      partitionCount: 3,
      replicationFactor: 3,
      fixedStartIndex: 0,
      placed: { 0: [0, 2, 1], 1: [2, 1, 0], 2: [1, 2, 0] },
    },
    {
      name: 'does without racks when one broker has none',
      brokers: [
        { id: 0, rack: 'a' },
        { id: 1, rack: null },
      ],
      partitionCount: 2,
      replicationFactor: 2,
      fixedStartIndex: 1,
      placed: { 0: [1, 0], 1: [0, 1] },
    },
  ];
  for (const { name, brokers, placed, ...options } of cases) {
    it(name, () => {
      assert.deepEqual(Object.fromEntries(placeReplicas(brokers, { ...options, random })), placed);
    });
  }

  for (let seed = 1; seed <= 20; seed++) {
    it(`gives every broker its share, whatever chance says, seed ${seed}`, () => {
      const chance = new SeededRandom(seed);
      const brokerCount = 3 + chance.nextInt(6);
      const rackCount = chance.nextInt(4);
      const brokers = Array.from({ length: brokerCount }, (_, id) => ({
        id: id * 3,
        rack: rackCount === 0 ? null : `r${id % rackCount}`,
      }));
      const replicationFactor = 1 + chance.nextInt(3);
      const placed = placeReplicas(brokers, { partitionCount: brokerCount * 4, replicationFactor, random: chance });
      const leaders = new Map<number, number>();
      for (const replicas of placed.values()) {
        assert.equal(new Set(replicas).size, replicationFactor);
        leaders.set(replicas[0] as number, (leaders.get(replicas[0] as number) ?? 0) + 1);
        const racks = new Set(replicas.map((id) => brokers.find((broker) => broker.id === id)?.rack));
        if (rackCount > 0) assert.equal(racks.size, Math.min(replicationFactor, rackCount));
      }
      assert.deepEqual(new Set(leaders.values()), new Set([4]));
    });
  }
});
