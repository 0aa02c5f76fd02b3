// What the watch of the simulation catches: each of its rules is broken once by hand, and a few rules of the log in a whole run.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import type { Broker, ReplicaStatus } from '@odradek/broker';
import {
  buildRecordBatch,
  encodeToBuffer,
  iterateBatches,
  OffsetCommitKey,
  OffsetCommitValue,
  type RecordBatch,
} from '@odradek/protocol';
import { LogManager, type PartitionLog } from '@odradek/storage';
import { SimulatedDisk, SimulatedWorld } from '@odradek/testing';
import { isWhole } from './cluster-faults.ts';
import { ClusterLoad, loadTopic } from './cluster-load.ts';
import { checkPlaces } from './cluster-places.ts';
import { ClusterWatch } from './cluster-watch.ts';
import { CommittedOffsets } from './committed-offsets.ts';
import { SimulatedCluster, SimulatedNode, sessionTimeoutMs } from './simulated-cluster.ts';

const topic = 'watched';

/** Two machines; what their brokers say and hold is put in by the test. */
function staged() {
  const world = new SimulatedWorld({ seed: 1 });
  const nodes = [new SimulatedNode(0), new SimulatedNode(1)];
  const watch = new ClusterWatch({ world, nodes } as unknown as SimulatedCluster, { [topic]: 'lossless' });
  return {
    world,
    nodes,
    watch,
    /** The log of partition 0 as `KEY:VALUE` or `KEY:VALUE@EPOCH` by offset, and what its broker says of it. */
    put(id: number, records: readonly string[], status: Partial<ReplicaStatus>): void {
      const { fileSystem, process } = world.machine(`broker-${id}`);
      process.run(() => undefined);
      fileSystem.makeDirectorySync(`/data/${topic}-0`);
      const batches = records.map((record, baseOffset) => {
        const [key = '', value = '', partitionLeaderEpoch = 1] = record.split(/[:@]/);
        const headers = { baseOffset, partitionLeaderEpoch: Number(partitionLeaderEpoch) };
        return buildRecordBatch(headers, [{ timestamp: 0, key: Buffer.from(key), value: Buffer.from(value) }]);
      });
      fileSystem.replaceFileSync(`/data/${topic}-0/${'0'.repeat(20)}.log`, Buffer.concat(batches));
      const whole: ReplicaStatus = {
        topic,
        partition: 0,
        topicId: '',
        leader: 0,
        isLeader: false,
        leaderEpoch: 1,
        assignedReplicas: [0, 1],
        inSyncReplicas: [0, 1],
        logStartOffset: 0,
        highWatermark: records.length,
        logEndOffset: records.length,
        ...status,
      };
      (nodes[id] as SimulatedNode).broker = { replicas: () => [whole] } as unknown as Broker;
    },
  };
}

test('a cluster that keeps the rules passes', () => {
  const { watch, put } = staged();
  put(0, ['a:0', 'b:0', 'a:1'], { isLeader: true });
  put(1, ['a:0', 'b:0'], {});
  watch.watch([{ partition: 0, key: 'a', count: 2 }]);
  watch.check();
  put(1, ['a:0', 'b:0', 'a:1'], {});
  watch.check();
  watch.checkAllAgree();
});

test('two leaders of one epoch are caught', () => {
  const { watch, put } = staged();
  put(0, [], { isLeader: true });
  put(1, [], { isLeader: true });
  assert.throws(() => watch.check(), /two leaders in epoch 1/);
});

test('a high watermark that goes back is caught', () => {
  const { watch, put } = staged();
  put(0, ['a:0', 'a:1'], { isLeader: true });
  watch.check();
  put(0, ['a:0', 'a:1'], { isLeader: true, highWatermark: 1 });
  assert.throws(() => watch.check(), /went back from 2 to 1/);
});

test('a follower that says that something else is committed is caught', () => {
  const { watch, put } = staged();
  put(0, ['a:0'], { isLeader: true });
  put(1, ['b:0@0'], {});
  assert.throws(() => watch.check(), /lost or changed committed records/);
});

test('a new leader that lacks committed records is caught', () => {
  const { watch, put } = staged();
  put(0, ['a:0', 'a:1'], { isLeader: true });
  watch.check();
  put(1, ['a:0', 'b:0@2'], { isLeader: true, leaderEpoch: 2 });
  assert.throws(() => watch.check(), /lost or changed committed records/);
});

test('two logs that have the same record, and before it others, are caught', () => {
  const { watch, put } = staged();
  put(0, ['a:0@0', 'a:1@2'], { isLeader: true, leaderEpoch: 2, highWatermark: 0 });
  put(1, ['b:0@1', 'a:1@2'], { leaderEpoch: 2, highWatermark: 0 });
  assert.throws(() => watch.check(), /another past than a replica with the same record 1/);
});

test('a record in another log than the rest of its producer is caught', () => {
  const { watch, put } = staged();
  put(0, ['a:0'], { isLeader: true });
  watch.check();
  put(0, ['a:1'], { isLeader: true, topicId: 'another' });
  assert.throws(() => watch.check(), /a record of a, which writes elsewhere/);
});

test('a record that is written twice, or before the one before it, is caught', () => {
  for (const records of [
    ['a:0', 'a:0'],
    ['a:1', 'a:0'],
  ]) {
    const { watch, put } = staged();
    put(0, records, { isLeader: true });
    assert.throws(() => watch.check(), /out of order or repeated/);
  }
});

test('an acknowledgement before the record is committed is caught', () => {
  const { watch, put } = staged();
  put(0, ['a:0', 'a:1'], { isLeader: true, highWatermark: 1 });
  watch.watch([{ partition: 0, key: 'a', count: 2 }]);
  assert.throws(() => watch.check(), /told of 2 records, and only 1 are committed/);
});

test('a replica that keeps what nobody else has is caught in the end', () => {
  const { watch, put } = staged();
  put(0, ['a:0'], { isLeader: true });
  put(1, ['a:0', 'b:0@0'], { highWatermark: 1 });
  watch.check();
  assert.throws(() => watch.checkAllAgree(), /holds other records than were committed/);
});

test('replicas that are to end up with one log, and do not, are caught', () => {
  const { world, nodes, put } = staged();
  const watch = new ClusterWatch({ world, nodes } as unknown as SimulatedCluster, { [topic]: 'agreeing' });
  put(0, ['a:0', 'a:1@2'], { isLeader: true, leaderEpoch: 2 });
  put(1, ['a:0', 'b:0', 'b:1'], { highWatermark: 3 });
  watch.check();
  assert.throws(() => watch.checkAllAgree(), /holds other records than other replicas have/);
});

test('a consumer that is given what is not committed is caught', () => {
  const { watch, put } = staged();
  put(0, ['a:0', 'a:1'], { isLeader: true, highWatermark: 1 });
  watch.check();
  watch.checkRead(topic, 0, 0, { key: 'a', value: '0' });
  assert.throws(() => watch.checkRead(topic, 0, 0, { key: 'b', value: '0' }), /was given a record at offset 0/);
  assert.throws(() => watch.checkRead(topic, 0, 1, { key: 'a', value: '1' }), /was given a record at offset 1/);
});

test('a committed offset that goes back is caught', () => {
  const disk = new SimulatedDisk();
  const commit = (baseOffset: number, offset: number): Buffer => {
    const key = encodeToBuffer(OffsetCommitKey, 0, { group: 'g', topic, partition: 0 });
    const value = encodeToBuffer(OffsetCommitValue, 0, { offset, metadata: '', commitTimestamp: 0 });
    const record = { timestamp: 0, key: Buffer.concat([Buffer.from([0, 1]), key]), value: Buffer.concat([Buffer.alloc(2), value]) };
    return buildRecordBatch({ baseOffset }, [record]);
  };
  disk.makeDirectorySync('/offsets');
  disk.replaceFileSync(`/offsets/${'0'.repeat(20)}.log`, Buffer.concat([commit(0, 10), commit(1, 11), commit(2, 7)]));
  const offsets = new CommittedOffsets();
  offsets.follow(disk, '/offsets', 0, 2);
  assert.throws(() => offsets.follow(disk, '/offsets', 0, 3), /of g in watched-0 went back from 11 to 7/);
});

test('a replica that is where it is not assigned to, a log that nobody holds and one of a deleted topic are caught', () => {
  const { world, nodes, put } = staged();
  const simulated = { world, nodes } as unknown as SimulatedCluster;
  put(0, ['a:0'], { isLeader: true, topicId: 'new' });
  put(1, ['a:0'], { topicId: 'new' });
  checkPlaces(simulated, new Map([[topic, 'new']]));
  put(1, ['a:0'], { topicId: 'old' });
  assert.throws(() => checkPlaces(simulated, new Map([[topic, 'new']])), /is of a topic that was deleted/);
  put(0, ['a:0'], { isLeader: true, assignedReplicas: [0], topicId: 'new' });
  put(1, ['a:0'], { assignedReplicas: [0], topicId: 'new' });
  assert.throws(() => checkPlaces(simulated, new Map()), /the logs on broker 1/);
});

type Method = (...args: never[]) => unknown;
const { getOrCreate } = LogManager.prototype;
afterEach(() => {
  LogManager.prototype.getOrCreate = getOrCreate;
});

/** Puts something else in the place of a method of every log that a broker leads or follows with. */
function sabotage(
  name: 'appendAsLeader' | 'truncateTo' | 'appendAsFollower',
  broken: (log: PartitionLog, original: Method) => Method,
): void {
  LogManager.prototype.getOrCreate = function (this: LogManager, ...args) {
    const log = getOrCreate.apply(this, args);
    const original = log[name].bind(log) as Method;
    Object.defineProperty(log, name, { value: broken(log, original), configurable: true });
    return log;
  };
}

/** A leader goes on alone with what it is sent, dies, and comes back when others have gone on without it. */
async function leaveLeadersAlone(): Promise<void> {
  const world = new SimulatedWorld({ seed: 1 });
  const simulated = await SimulatedCluster.start(world, 3);
  const watch = new ClusterWatch(simulated, { [loadTopic]: 'lossless' });
  world.onTurn = () => watch.check();
  const load = await ClusterLoad.start(simulated, 1);
  watch.watch(load.written);
  await world.runUntil(() => isWhole(simulated));
  await world.advance(1_000);
  const [first, ...others] = simulated.nodes.map(({ name }) => name) as [string, ...string[]];
  world.simulatedNetwork.partition([first], others);
  await world.advance(2_000);
  simulated.crashNode(simulated.node(0), 'everything');
  world.simulatedNetwork.heal();
  await world.advance(2 * sessionTimeoutMs);
  await world.run(simulated.startNode(simulated.node(0)));
  await world.advance(10_000);
  await load.stop();
  await world.advance(5_000);
  watch.checkAllAgree();
}

test('leaders that were left alone lose nothing', () => leaveLeadersAlone());

test('leaders that count records as committed before anybody else has them are caught', () => {
  sabotage('appendAsLeader', (log, original) => {
    return ((...args: never[]) => {
      const info = original(...args);
      log.updateHighWatermark(log.logEndOffset);
      return info;
    }) as Method;
  });
  return assert.rejects(
    leaveLeadersAlone(),
    /lost or changed committed records|only \d+ are committed|OUT_OF_ORDER_SEQUENCE_NUMBER/,
  );
});

test('followers that do not cut off what their leader does not have are caught', () => {
  sabotage('truncateTo', () => () => undefined);
  return assert.rejects(leaveLeadersAlone(), /other records than were committed|lost or changed/);
});

test('followers that write down something else than their leader has are caught', () => {
  sabotage('appendAsFollower', (_, original) => {
    return ((records: Buffer) => {
      const [batch] = [...iterateBatches(records)] as RecordBatch[];
      if (batch === undefined) return original(records as never);
      const altered = [...batch.records()].map(({ key, timestamp }) => ({ key, timestamp, value: Buffer.from('0') }));
      const { baseOffset, partitionLeaderEpoch, producerId, producerEpoch, baseSequence } = batch;
      return original(
        buildRecordBatch({ baseOffset, partitionLeaderEpoch, producerId, producerEpoch, baseSequence }, altered) as never,
      );
    }) as Method;
  });
  return assert.rejects(leaveLeadersAlone(), /has another past/);
});
