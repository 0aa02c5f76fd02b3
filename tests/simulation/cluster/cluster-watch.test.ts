// What the watch of the simulation catches: each of its rules is broken once by hand, and a few rules of the log in a whole run.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import type { Broker, ReplicaStatus } from '@odradek/broker';
import { buildRecordBatch, iterateBatches, type RecordBatch } from '@odradek/protocol';
import { LogManager, type PartitionLog } from '@odradek/storage';
import { SimulatedWorld } from '@odradek/testing';
import { isWhole } from './cluster-faults.ts';
import { ClusterLoad, loadTopic } from './cluster-load.ts';
import { ClusterWatch } from './cluster-watch.ts';
import { SimulatedCluster, SimulatedNode, sessionTimeoutMs } from './simulated-cluster.ts';

const topic = 'watched';

/** Two machines; what their brokers say and hold is put in by the test. */
function staged() {
  const world = new SimulatedWorld({ seed: 1 });
  const nodes = [new SimulatedNode(0), new SimulatedNode(1)];
  const watch = new ClusterWatch({ world, nodes } as unknown as SimulatedCluster, topic);
  return {
    watch,
    /** The log of partition 0 as `KEY:VALUE` by offset, and what its broker says of it. */
    put(id: number, records: readonly string[], status: Partial<ReplicaStatus>): void {
      const { fileSystem } = world.machine(`broker-${id}`);
      fileSystem.makeDirectorySync(`/data/${topic}-0`);
      const batches = records.map((record, offset) => {
        const [key = '', value = ''] = record.split(':');
        return buildRecordBatch({ baseOffset: offset }, [{ timestamp: 0, key: Buffer.from(key), value: Buffer.from(value) }]);
      });
      fileSystem.replaceFileSync(`/data/${topic}-0/${'0'.repeat(20)}.log`, Buffer.concat(batches));
      const whole: ReplicaStatus = {
        topic,
        partition: 0,
        topicId: '',
        leader: 0,
        isLeader: false,
        leaderEpoch: 1,
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
  put(1, ['b:0'], {});
  assert.throws(() => watch.check(), /lost or changed committed records/);
});

test('a new leader that lacks committed records is caught', () => {
  const { watch, put } = staged();
  put(0, ['a:0', 'a:1'], { isLeader: true });
  watch.check();
  put(1, ['a:0', 'b:0'], { isLeader: true, leaderEpoch: 2 });
  assert.throws(() => watch.check(), /lost or changed committed records/);
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
  put(1, ['a:0', 'b:0'], { highWatermark: 1 });
  watch.check();
  assert.throws(() => watch.checkAllAgree(), /holds other records than were committed/);
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
  const watch = new ClusterWatch(simulated, loadTopic);
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
  return assert.rejects(leaveLeadersAlone(), /lost or changed committed records/);
});
