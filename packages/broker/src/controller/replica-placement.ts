// Which brokers get the replicas of new partitions. Pure, but for the chance that is handed in.
//
// Without racks: leaders go round the brokers, from a start that chance sets. The followers of a partition sit behind its
// leader at a distance that grows each time the leaders have gone round, so that brokers share each other's load evenly.
// With racks the brokers are first put in an order that alternates between racks, and a follower's rack is passed over while
// some rack has no replica of the partition.

import type { Random } from '@odradek/runtime';

export interface BrokerRack {
  readonly id: number;
  readonly rack: string | null;
}

export interface PlacementOptions {
  readonly partitionCount: number;
  readonly replicationFactor: number;
  /** Partitions that the topic has already. */
  readonly firstPartition?: number;
  /** Where the leaders begin, as an index into the brokers by id, and the followers' first shift. Chance when left out. */
  readonly fixedStartIndex?: number;
  readonly random: Random;
}

/** Replicas by partition; the first is the preferred leader. There must be at least replicationFactor brokers. */
export function placeReplicas(brokers: readonly BrokerRack[], options: PlacementOptions): Map<number, number[]> {
  const sorted = [...brokers].sort((a, b) => a.id - b.id);
  // Racks help only when each broker's is known.
  return sorted.every(({ rack }) => rack === null) || sorted.some(({ rack }) => rack === null)
    ? placeWithoutRacks(
        sorted.map(({ id }) => id),
        options,
      )
    : placeAcrossRacks(sorted, options);
}

function placeWithoutRacks(brokers: readonly number[], options: PlacementOptions): Map<number, number[]> {
  return placeEach(brokers.length, options, (leaderIndex, shift) => {
    const replicas = [brokers[leaderIndex] as number];
    for (let follower = 0; replicas.length < options.replicationFactor; follower++) {
      replicas.push(brokers[followerIndex(leaderIndex, shift, follower, brokers.length)] as number);
    }
    return replicas;
  });
}

function placeAcrossRacks(brokers: readonly BrokerRack[], options: PlacementOptions): Map<number, number[]> {
  const arranged = alternateRacks(brokers);
  const rackCount = new Set(arranged.map(({ rack }) => rack)).size;
  return placeEach(arranged.length, options, (leaderIndex, shift) => {
    const leader = arranged[leaderIndex] as BrokerRack;
    const replicas = [leader.id];
    const racks = new Set([leader.rack]);
    for (let candidate = 0; replicas.length < options.replicationFactor; candidate++) {
      const broker = arranged[followerIndex(leaderIndex, shift * rackCount, candidate, arranged.length)] as BrokerRack;
      const isRackWanted = !racks.has(broker.rack) || racks.size === rackCount;
      if (!isRackWanted || replicas.includes(broker.id)) continue;
      replicas.push(broker.id);
      racks.add(broker.rack);
    }
    return replicas;
  });
}

function placeEach(
  brokerCount: number,
  { partitionCount, firstPartition = 0, fixedStartIndex, random }: PlacementOptions,
  replicasOf: (leaderIndex: number, shift: number) => number[],
): Map<number, number[]> {
  const start = fixedStartIndex ?? random.nextInt(brokerCount);
  let shift = fixedStartIndex ?? random.nextInt(brokerCount);
  const placed = new Map<number, number[]>();
  for (let partition = firstPartition; partition < firstPartition + partitionCount; partition++) {
    if (partition > 0 && partition % brokerCount === 0) shift++;
    placed.set(partition, replicasOf((partition + start) % brokerCount, shift));
  }
  return placed;
}

function followerIndex(leaderIndex: number, shift: number, follower: number, brokerCount: number): number {
  return (leaderIndex + 1 + ((shift + follower) % (brokerCount - 1))) % brokerCount;
}

/** One broker of each rack in turn, racks by name, brokers of a rack by id. */
function alternateRacks(brokers: readonly BrokerRack[]): BrokerRack[] {
  const byRack = Map.groupBy(brokers, ({ rack }) => rack ?? '');
  const racks = [...byRack.keys()].sort().map((rack) => byRack.get(rack) ?? []);
  const arranged: BrokerRack[] = [];
  for (let turn = 0; arranged.length < brokers.length; turn++) {
    for (const rack of racks) {
      const broker = rack[turn];
      if (broker !== undefined) arranged.push(broker);
    }
  }
  return arranged;
}
