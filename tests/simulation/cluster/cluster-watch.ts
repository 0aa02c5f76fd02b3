// What must be true of the cluster after every turn, whatever went wrong before:
//
//   - a leader epoch of a partition has one leader;
//   - a leader's high watermark never goes back;
//   - what is below any replica's high watermark is the same everywhere, for ever: the committed log;
//   - every producer's records stand in it once, in order, and all that were acknowledged.
//
// The records are read from the simulated disks, as files, behind the brokers' backs.

import assert from 'node:assert/strict';
import type { ReplicaStatus } from '@odradek/broker';
import { iterateBatches } from '@odradek/protocol';
import type { FileSystem } from '@odradek/runtime';
import type { Written } from './cluster-load.ts';
import type { SimulatedCluster, SimulatedNode } from './simulated-cluster.ts';

/** A record as far as the checks care. */
interface PlainRecord {
  readonly offset: number;
  readonly key: string;
  readonly value: string;
}

interface CommittedLog {
  readonly records: PlainRecord[];
  end: number;
}

interface Reign {
  readonly life: number;
  readonly leaderEpoch: number;
  highWatermark: number;
  /** Up to where this replica was found to agree with the committed log. */
  agreedEnd: number;
}

export class ClusterWatch {
  readonly #cluster: SimulatedCluster;
  readonly #topic: string;
  readonly #leaders = new Map<string, number>();
  readonly #reigns = new Map<string, Reign>();
  readonly #committed = new Map<number, CommittedLog>();
  /** How many records of each producer are committed, by its key. */
  readonly #counts = new Map<string, number>();
  #written: readonly Written[] = [];

  constructor(cluster: SimulatedCluster, topic: string) {
    this.#cluster = cluster;
    this.#topic = topic;
  }

  watch(written: readonly Written[]): void {
    this.#written = written;
  }

  check(): void {
    for (const node of this.#cluster.nodes) {
      for (const status of node.broker?.replicas() ?? []) this.#checkReplica(node, status);
    }
    for (const { key, count } of this.#written) {
      const committed = this.#counts.get(key) ?? 0;
      assert.ok(count <= committed, `${key} was told of ${count} records, and only ${committed} are committed`);
    }
  }

  /** Once all is well again: every replica has the whole of the committed log. */
  checkAllAgree(): void {
    for (const node of this.#cluster.nodes) {
      for (const status of node.broker?.replicas() ?? []) {
        if (status.topic !== this.#topic) continue;
        const committed = this.#committed.get(status.partition)?.records ?? [];
        const found = this.#read(node, status, 0, status.logEndOffset);
        assert.deepEqual(found, committed, `${describe(node, status)} holds other records than were committed`);
      }
    }
  }

  #checkReplica(node: SimulatedNode, status: ReplicaStatus): void {
    const { topic, partition, isLeader, leaderEpoch, highWatermark } = status;
    if (isLeader) {
      const epoch = `${topic}-${partition} ${leaderEpoch}`;
      const leader = this.#leaders.get(epoch) ?? node.id;
      this.#leaders.set(epoch, leader);
      assert.equal(node.id, leader, `${topic}-${partition} has two leaders in epoch ${leaderEpoch}`);
    }
    const reign = this.#reignOf(node, status);
    if (isLeader) {
      assert.ok(
        highWatermark >= reign.highWatermark,
        `the high watermark of ${describe(node, status)} went back from ${reign.highWatermark} to ${highWatermark}`,
      );
    }
    reign.highWatermark = highWatermark;
    if (topic === this.#topic && highWatermark > reign.agreedEnd) {
      this.#agree(node, status, reign.agreedEnd);
      reign.agreedEnd = highWatermark;
    }
  }

  #reignOf(node: SimulatedNode, { topic, partition, leaderEpoch, highWatermark }: ReplicaStatus): Reign {
    const key = `${node.id} ${topic}-${partition}`;
    const known = this.#reigns.get(key);
    if (known !== undefined && known.life === node.life && known.leaderEpoch === leaderEpoch) return known;
    const reign: Reign = { life: node.life, leaderEpoch, highWatermark, agreedEnd: 0 };
    this.#reigns.set(key, reign);
    return reign;
  }

  /** What the replica says is committed must be what was committed before, and adds to it. */
  #agree(node: SimulatedNode, status: ReplicaStatus, from: number): void {
    const log = this.#committed.get(status.partition) ?? { records: [], end: 0 };
    this.#committed.set(status.partition, log);
    const found = this.#read(node, status, from, status.highWatermark);
    const known = log.records.slice(from, status.highWatermark);
    assert.deepEqual(found.slice(0, known.length), known, `${describe(node, status)} has lost or changed committed records`);
    for (const record of found.slice(known.length)) {
      assert.equal(record.offset, log.end, `${describe(node, status)} has a gap`);
      const expected = this.#counts.get(record.key) ?? 0;
      assert.equal(Number(record.value), expected, `${describe(node, status)}: ${record.key} is out of order or repeated`);
      this.#counts.set(record.key, expected + 1);
      log.records.push(record);
      log.end += 1;
    }
  }

  #read(node: SimulatedNode, { topic, partition }: ReplicaStatus, from: number, to: number): PlainRecord[] {
    const { fileSystem } = this.#cluster.world.machine(node.name);
    return readLog(fileSystem, `/data/${topic}-${partition}`, from, to);
  }
}

function describe(node: SimulatedNode, { topic, partition, leaderEpoch, isLeader }: ReplicaStatus): string {
  return `${topic}-${partition} on broker ${node.id} (${isLeader ? 'leader' : 'follower'} in epoch ${leaderEpoch})`;
}

function readLog(fileSystem: FileSystem, directory: string, from: number, to: number): PlainRecord[] {
  const segments = fileSystem
    .listSync(directory)
    .filter((name) => name.endsWith('.log'))
    .sort();
  const records: PlainRecord[] = [];
  segments.forEach((name, index) => {
    const nextBase = Number(segments[index + 1]?.slice(0, 20) ?? Number.MAX_SAFE_INTEGER);
    if (nextBase <= from || Number(name.slice(0, 20)) >= to) return;
    for (const batch of iterateBatches(fileSystem.readFileSync(`${directory}/${name}`))) {
      if (batch.lastOffset < from || batch.baseOffset >= to) continue;
      for (const { offset, key, value } of batch.records()) {
        if (offset >= from && offset < to) records.push({ offset, key: String(key), value: String(value) });
      }
    }
  });
  return records;
}
