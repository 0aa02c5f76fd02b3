// What must be true of the cluster after every turn, whatever went wrong before:
//
//   - a leader epoch of a partition has one leader;
//   - a leader's high watermark never goes back;
//   - two logs that have the same record of the same leader epoch at an offset are the same up to there;
//   - what is below any replica's high watermark is the same everywhere, for ever: the committed log;
//   - every producer's records stand in it once, in order, and all that were acknowledged;
//   - offsets that groups have committed never go back.
//
// The committed log and what follows from it hold for topics whose leaders are only ever elected among the in-sync replicas (`lossless`). For the others
// (`agreeing`) replicas must still end up with one log.
//
// The records are read from the simulated disks, as files, behind the brokers' backs.

import assert from 'node:assert/strict';
import type { ReplicaStatus } from '@odradek/broker';
import type { FileSystem } from '@odradek/runtime';
import type { SimulatedProcess } from '@odradek/testing';
import type { Written } from './cluster-load.ts';
import { CommittedOffsets } from './committed-offsets.ts';
import { DiskLog, Histories, type LoggedBatch, type LoggedRecord } from './disk-log.ts';
import type { SimulatedCluster, SimulatedNode } from './simulated-cluster.ts';

const offsetsTopic = '__consumer_offsets';

/** What is watched of the records of a topic. */
export type TopicRule = 'lossless' | 'agreeing';

interface CommittedLog {
  readonly records: LoggedRecord[];
  /** Of what lies before an offset, where a batch ends there. */
  readonly histories: Map<number, number>;
}

/** What is known of a replica in one life of its broker. */
interface WatchedReplica {
  readonly life: number;
  readonly topicId: string;
  readonly log: DiskLog;
  leaderEpoch: number;
  /** In that leader epoch. */
  highWatermark: number;
  logEndOffset: number;
}

export class ClusterWatch {
  readonly #cluster: SimulatedCluster;
  readonly #rules: Readonly<Record<string, TopicRule>>;
  readonly #histories = new Histories();
  readonly #leaders = new Map<string, number>();
  /** By broker and partition. */
  readonly #replicas = new Map<string, WatchedReplica>();
  readonly #committed = new Map<string, CommittedLog>();
  /** By topic and partition: its committed log. */
  readonly #latest = new Map<string, string>();
  /** By partition, offset and leader epoch. */
  readonly #matching = new Map<string, number>();
  /** How many records of each producer are committed, by its key, and in which log. */
  readonly #counts = new Map<string, { readonly home: string; count: number }>();
  /** How far each broker's program had got at the last look: where nothing has run, nothing has changed. */
  readonly #looked = new Map<SimulatedNode, { readonly process: SimulatedProcess; readonly turns: number }>();
  readonly #offsets = new CommittedOffsets();
  #written: readonly (readonly Written[])[] = [];

  constructor(cluster: SimulatedCluster, rules: Readonly<Record<string, TopicRule>>) {
    this.#cluster = cluster;
    this.#rules = rules;
  }

  /** The lists may grow. */
  watch(...written: readonly (readonly Written[])[]): void {
    this.#written = written;
  }

  check(): void {
    for (const node of this.#cluster.nodes) {
      if (!this.#hasRun(node)) continue;
      for (const status of node.broker?.replicas() ?? []) this.#checkReplica(node, status);
    }
    for (const written of this.#written) {
      for (const { key, count } of written) {
        const committed = this.#counts.get(key)?.count ?? 0;
        assert.ok(count <= committed, `${key} was told of ${count} records, and only ${committed} are committed`);
      }
    }
  }

  /** A consumer may be given nothing but what is committed. */
  checkRead(topic: string, partition: number, offset: number, { key, value }: LoggedRecord): void {
    const record = this.#committed.get(this.#latest.get(`${topic}-${partition}`) ?? '')?.records[offset];
    const found = record === undefined ? 'nothing' : `${record.key}:${record.value}`;
    assert.equal(`${key}:${value}`, found, `a consumer was given a record at offset ${offset} of ${topic}-${partition}`);
  }

  /** Once all is well again: every replica has the same log, which is the whole of the committed one where nothing may be lost. */
  checkAllAgree(): void {
    const histories = new Map<string, number>();
    for (const node of this.#cluster.nodes) {
      for (const status of node.broker?.replicas() ?? []) {
        const rule = this.#rules[status.topic];
        if (rule === undefined) continue;
        const found = this.#diskLog(node, status);
        found.follow(status.logEndOffset);
        const committed = this.#committed.get(partitionOf(status));
        const { history } = found;
        const expected =
          rule === 'lossless' ? (committed?.histories.get(committed.records.length) ?? 0) : histories.get(partitionOf(status));
        const others = rule === 'lossless' ? 'were committed' : 'other replicas have';
        if (expected !== undefined && history !== expected) {
          assert.fail(`${describe(node, status)} holds other records than ${others}`);
        }
        histories.set(partitionOf(status), history);
      }
    }
  }

  #hasRun(node: SimulatedNode): boolean {
    const { process } = this.#cluster.world.machine(node.name);
    const { turns } = process;
    const looked = this.#looked.get(node);
    if (looked?.process === process && looked.turns === turns) return false;
    this.#looked.set(node, { process, turns });
    return true;
  }

  #checkReplica(node: SimulatedNode, status: ReplicaStatus): void {
    const { topic, partition, isLeader, leaderEpoch, highWatermark, logEndOffset } = status;
    if (isLeader) {
      const epoch = `${partitionOf(status)} ${leaderEpoch}`;
      const leader = this.#leaders.get(epoch) ?? node.id;
      this.#leaders.set(epoch, leader);
      assert.equal(node.id, leader, `${topic}-${partition} has two leaders in epoch ${leaderEpoch}`);
    }
    const replica = this.#replicaOf(node, status);
    if (highWatermark === replica.highWatermark && logEndOffset === replica.logEndOffset) return;
    if (isLeader) {
      assert.ok(
        highWatermark >= replica.highWatermark,
        `the high watermark of ${describe(node, status)} went back from ${replica.highWatermark} to ${highWatermark}`,
      );
    }
    replica.highWatermark = highWatermark;
    replica.logEndOffset = logEndOffset;
    if (topic === offsetsTopic) this.#offsets.follow(this.#fileSystem(node), folderOf(status), partition, highWatermark);
    const rule = this.#rules[topic];
    if (rule === undefined) return;
    this.#match(node, status, replica.log.follow(logEndOffset));
    if (rule === 'lossless') this.#agree(node, status, replica.log);
  }

  /** Nothing is taken over from another life: what lies on the disk then is read anew. */
  #replicaOf(node: SimulatedNode, status: ReplicaStatus): WatchedReplica {
    const { topic, partition, topicId, leaderEpoch } = status;
    const { life } = node;
    const key = `${node.id} ${topic}-${partition}`;
    let replica = this.#replicas.get(key);
    if (replica?.life !== life || replica.topicId !== topicId) {
      const log = this.#diskLog(node, status);
      replica = { life, topicId, log, leaderEpoch, highWatermark: -1, logEndOffset: -1 };
      this.#replicas.set(key, replica);
    }
    if (replica.leaderEpoch !== leaderEpoch) {
      replica.leaderEpoch = leaderEpoch;
      replica.highWatermark = -1;
    }
    return replica;
  }

  /** A leader epoch has one leader, which writes each offset once. */
  #match(node: SimulatedNode, status: ReplicaStatus, batches: readonly LoggedBatch[]): void {
    for (const { leaderEpoch, endOffset, history } of batches) {
      const key = `${partitionOf(status)} ${endOffset} ${leaderEpoch}`;
      const known = this.#matching.get(key);
      if (known === undefined) this.#matching.set(key, history);
      else {
        const message = `${describe(node, status)} has another past than a replica with the same record ${endOffset - 1}`;
        assert.equal(history, known, message);
      }
    }
  }

  /** What the replica says is committed must be what was committed before, and adds to it. */
  #agree(node: SimulatedNode, status: ReplicaStatus, log: DiskLog): void {
    const id = partitionOf(status);
    const committed = this.#committed.get(id) ?? { records: [], histories: new Map([[0, 0]]) };
    this.#committed.set(id, committed);
    this.#latest.set(`${status.topic}-${status.partition}`, id);
    const end = Math.min(status.highWatermark, log.end);
    const common = Math.min(end, committed.records.length);
    const history = log.historyBefore(common);
    if (history === undefined || history !== committed.histories.get(common)) {
      const message = `${describe(node, status)} has lost or changed committed records`;
      assert.deepEqual(log.records.slice(0, common), committed.records.slice(0, common), message);
    }
    for (let offset = common; offset < end; offset++) {
      const record = log.records[offset] as LoggedRecord;
      this.#count(node, status, record);
      committed.records.push(record);
      const historyThere = log.historyBefore(offset + 1);
      if (historyThere !== undefined) committed.histories.set(offset + 1, historyThere);
    }
  }

  #count(node: SimulatedNode, status: ReplicaStatus, { key, value }: LoggedRecord): void {
    const home = partitionOf(status);
    const counted = this.#counts.get(key) ?? { home, count: 0 };
    this.#counts.set(key, counted);
    assert.equal(counted.home, home, `${describe(node, status)} has a record of ${key}, which writes elsewhere`);
    assert.equal(Number(value), counted.count, `${describe(node, status)}: ${key} is out of order or repeated`);
    counted.count += 1;
  }

  #diskLog(node: SimulatedNode, status: ReplicaStatus): DiskLog {
    return new DiskLog(this.#fileSystem(node), folderOf(status), this.#histories);
  }

  #fileSystem(node: SimulatedNode): FileSystem {
    return this.#cluster.world.machine(node.name).fileSystem;
  }
}

function folderOf({ topic, partition }: ReplicaStatus): string {
  return `/data/${topic}-${partition}`;
}

/** A topic that is deleted and made again is another one. */
function partitionOf({ topic, topicId, partition }: ReplicaStatus): string {
  return `${topic}-${partition} ${topicId}`;
}

function describe(node: SimulatedNode, { topic, partition, leaderEpoch, isLeader }: ReplicaStatus): string {
  return `${topic}-${partition} on broker ${node.id} (${isLeader ? 'leader' : 'follower'} in epoch ${leaderEpoch})`;
}
