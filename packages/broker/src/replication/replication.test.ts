// Replication between brokers' replica managers over a simulated network: what each scenario of losing and diverging logs leaves.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Connection } from '@odradek/client/connection';
import { errorCodes, FetchRequest, FetchResponse } from '@odradek/protocol';
import { SimulatedWorld } from '@odradek/testing';
import { batchOf } from '../handlers/broker-requests.fixture.ts';
import type { Partition } from './partition.ts';
import { nameOf, ReplicaNodes, type ReplicaNodesOptions, topic, topicId } from './replica-nodes.fixture.ts';

async function setUp(options: ReplicaNodesOptions & { readonly seed?: number } = {}): Promise<ReplicaNodes> {
  const world = new SimulatedWorld({ seed: options.seed ?? 11, network: { maxDelayMs: 3 } });
  const nodes = new ReplicaNodes(world, options);
  await nodes.startAll();
  await nodes.untilLed();
  await world.runUntil(() => nodes.isLevel);
  return nodes;
}

async function untilLevel(nodes: ReplicaNodes): Promise<readonly string[]> {
  await nodes.world.runUntil(() => nodes.isLevel);
  const contents = await Promise.all(nodes.ids.map((id) => nodes.contents(id, nodes.partition(id).log.logEndOffset)));
  for (const each of contents) assert.deepEqual(each, contents[0]);
  return contents[0] ?? [];
}

describe('followers', () => {
  test('copy what the leader gets, and acks=all is answered when they have it', async () => {
    const nodes = await setUp();
    nodes.produce(1, 'a', 'b');
    nodes.produce(1, 'c');
    await nodes.world.runUntil(() => nodes.acknowledged.size === 3);
    assert.deepEqual(await untilLevel(nodes), ['0 0 a', '1 0 b', '2 0 c']);
  });

  test('leave the in-sync replicas when they lag, and return when they have caught up', async () => {
    const nodes = await setUp();
    const { world } = nodes;
    world.simulatedNetwork.partition([nameOf(3)], [nameOf(1), nameOf(2)]);
    nodes.produce(1, 'a');
    await world.advance(500);
    assert.equal(nodes.acknowledged.size, 0, 'the third replica is still waited for');
    await world.runUntil(() => nodes.acknowledged.size === 1);
    assert.deepEqual(nodes.controller.leadership.isr, [1, 2]);
    world.simulatedNetwork.partition([nameOf(2)], [nameOf(1)]);
    nodes.produce(1, 'b');
    await world.runUntil(() => nodes.partition(1).inSyncReplicas.size === 1);
    nodes.produce(1, 'refused');
    assert.equal(nodes.acknowledged.size, 1);
    assert.deepEqual(figures(nodes, 1), {
      partition_count: 2,
      leader_count: 2,
      under_replicated_partitions: 1,
      under_min_isr_partition_count: 1,
      at_min_isr_partition_count: 0,
      offline_replica_count: 0,
      isr_expands_total: 0,
      isr_shrinks_total: 2,
      replica_fetcher_max_lag: 0,
      replica_fetcher_failed_partitions_count: 0,
      replication_bytes_in_total: 0,
    });
    world.simulatedNetwork.heal();
    assert.deepEqual(await untilLevel(nodes), ['0 0 a', '1 0 b']);
    const { grown, shrunk } = nodes.node(1).replication.replicaManager.inSyncChanges;
    assert.deepEqual({ grown, shrunk }, { grown: 2, shrunk: 2 });
  });

  test('stay in sync while there is nothing to copy, and when there is something again', async () => {
    const nodes = await setUp();
    nodes.produce(1, 'a');
    await untilLevel(nodes);
    // Longer than a follower may lag.
    await nodes.world.advance(10_000);
    nodes.produce(1, 'b');
    await nodes.world.runUntil(() => nodes.acknowledged.size === 2);
    await nodes.world.advance(10_000);
    assert.equal(nodes.node(1).replication.replicaManager.inSyncChanges.shrunk, 0);
    assert.deepEqual(await untilLevel(nodes), ['0 0 a', '1 0 b']);
  });

  test('are not looked at while nothing happens, and stay in sync all the same', async () => {
    const nodes = await setUp();
    const { world } = nodes;
    nodes.produce(1, 'a');
    await untilLevel(nodes);
    await world.advance(2_000);
    const partition = nodes.partition(1);
    const looks = counted(partition, 'tryRecordLevelFetch');
    const fetches = counted(partition, 'recordFollowerFetch');
    await world.advance(10_000);
    assert.deepEqual([looks(), fetches()], [0, 0]);
    const { clock } = nodes.node(1).machine;
    for (const follower of partition.followers) assert.ok(clock.monotonicMs() - follower.lastCaughtUpMs < 1_000);
    world.simulatedNetwork.partition([nameOf(3)], [nameOf(1), nameOf(2)]);
    const cutMs = clock.monotonicMs();
    await world.advance(10_000);
    const [there, away] = partition.followers;
    assert.ok(there !== undefined && away !== undefined && clock.monotonicMs() - there.lastCaughtUpMs < 1_000);
    assert.ok(away.lastCaughtUpMs <= cutMs + 10, 'who does not fetch has not caught up');
  });

  test('tell the leader when their old segments are gone', async () => {
    const nodes = await setUp({ logConfig: { segmentBytes: 100, retentionBytes: 200 } });
    for (const value of ['a', 'b', 'c', 'd', 'e', 'f']) {
      nodes.produce(1, value);
      await untilLevel(nodes);
    }
    assert.equal(nodes.partition(1).lowWatermark, 0);
    await nodes.world.advance(60_000);
    const { lowWatermark, log } = nodes.partition(1);
    assert.ok(log.logStartOffset > 0);
    assert.equal(lowWatermark, log.logStartOffset);
  });

  test('hear that records were deleted, and those that come too late begin where the leader does', async () => {
    const nodes = await setUp();
    nodes.produce(1, 'a', 'b');
    await untilLevel(nodes);
    nodes.partition(1).deleteRecordsBefore(1);
    await nodes.world.runUntil(() => nodes.partition(1).lowWatermark === 1);
    assert.equal(nodes.partition(3).log.logStartOffset, 1);
    nodes.crash(3, 'everything');
    await nodes.untilLed();
    nodes.produce(1, 'c', 'd');
    await nodes.world.runUntil(() => nodes.partition(1).log.highWatermark === 4);
    nodes.partition(1).deleteRecordsBefore(4);
    nodes.produce(1, 'e');
    await nodes.start(3);
    const epoch = nodes.controller.leadership.leaderEpoch;
    assert.deepEqual(await untilLevel(nodes), [`4 ${epoch} e`]);
    assert.equal(nodes.partition(3).log.logStartOffset, 4);
  });

  test('that run out of room go on when there is some again', async () => {
    const nodes = await setUp();
    const { fileSystem } = nodes.node(3).machine;
    fileSystem.capacityBytes = fileSystem.usedBytes + 500;
    nodes.produce(1, 'x'.repeat(2000));
    await nodes.world.runUntil(() => nodes.acknowledged.size === 1);
    assert.deepEqual(nodes.controller.leadership.isr, [1, 2]);
    assert.ok(!nodes.partition(3).isOffline);
    fileSystem.capacityBytes = Number.MAX_SAFE_INTEGER;
    await untilLevel(nodes);
  });

  test('lose a partition with its disk, and follow in the others', async () => {
    const nodes = await setUp();
    const { world } = nodes;
    const [other, its] = [nodes.secondPartition(1), nodes.secondPartition(3)];
    nodes.node(3).machine.fileSystem.faults.add({ path: its.log.path, operations: ['write'] });
    await world.run(other.append(batchOf('there'), { origin: 'client', requiredAcks: 1 }).written);
    other.recordWritten();
    await world.runUntil(() => its.isOffline);
    nodes.produce(1, 'here');
    await untilLevel(nodes);
    assert.equal(nodes.secondPartition(2).log.logEndOffset, 1);
  });

  test('go on with what they have when one of their disks fails', async () => {
    const nodes = await setUp();
    nodes.node(3).machine.fileSystem.faults.add({ path: nodes.partition(3).log.path, operations: ['write'] });
    nodes.produce(1, 'a');
    await nodes.world.runUntil(() => nodes.acknowledged.size === 1);
    assert.ok(nodes.partition(3).isOffline);
    assert.deepEqual(nodes.controller.leadership.isr, [1, 2]);
  });
});

describe('limits on what replication may cost', () => {
  for (const side of ['leader', 'follower'] as const) {
    test(`hold back a follower that is not in sync, and nobody else, at the ${side}`, async () => {
      const nodes = await setUp({
        topicOverrides: { [`${side}.replication.throttled.replicas`]: '*' },
        dynamicProperties: { [`${side}.replication.throttled.rate`]: '10000' },
        properties: { 'replica.fetch.max.bytes': '4000' },
      });
      const { world } = nodes;
      world.simulatedNetwork.partition([nameOf(3)], [nameOf(1), nameOf(2)]);
      for (let i = 0; i < 100; i++) nodes.produce(1, 'x'.repeat(1000));
      await world.runUntil(() => nodes.acknowledged.size === 100, 5_000);
      assert.equal(nodes.partition(3).log.logEndOffset, 0);
      world.simulatedNetwork.heal();
      const startMs = world.clock.monotonicMs();
      await world.advance(3_000);
      assert.ok(nodes.partition(3).log.logEndOffset < 50, 'the one that returns gets no more than its share');
      nodes.produce(1, 'in between');
      await world.runUntil(() => nodes.acknowledged.size === 101, 1_000);
      await untilLevel(nodes);
      const seconds = (world.clock.monotonicMs() - startMs) / 1000;
      assert.ok(seconds > 7 && seconds < 40, `100 KB at 10 KB a second took ${seconds} s`);
    });
  }
});

describe('a consumer that tells its rack', () => {
  const properties = { 'replica.selector.class': 'org.apache.kafka.common.replica.RackAwareReplicaSelector' };

  test('is sent to the replica there, which gives what is committed', async () => {
    const nodes = await setUp({ properties });
    nodes.produce(1, 'a', 'b');
    await untilLevel(nodes);
    for (const { rack, preferred } of [
      { rack: 'rack-3', preferred: 3 },
      { rack: 'rack-1', preferred: -1 },
      { rack: 'elsewhere', preferred: -1 },
      { rack: '', preferred: -1 },
    ]) {
      const { preferredReadReplica, records, highWatermark } = await consume(nodes, 1, rack, 0);
      assert.equal(preferredReadReplica, preferred, rack);
      assert.equal(highWatermark, 2);
      assert.equal((records?.length ?? 0) > 0, preferred === -1);
    }
    const there = await consume(nodes, 3, 'rack-3', 0);
    assert.deepEqual([there.errorCode, there.preferredReadReplica, there.highWatermark], [0, -1, 2]);
    assert.ok((there.records?.length ?? 0) > 0);
    const before = await consume(nodes, 3, '', 0, 10);
    assert.equal(before.errorCode, errorCodes.NOT_LEADER_OR_FOLLOWER, 'who cannot be sent elsewhere reads from the leader only');
  });

  test('is not sent to one that lags, and woken there by what becomes committed', async () => {
    const nodes = await setUp({ properties });
    const { world } = nodes;
    nodes.produce(1, 'a');
    await untilLevel(nodes);
    const waiting = consume(nodes, 3, 'rack-3', 1, 17, 20_000);
    await world.advance(50);
    nodes.produce(1, 'b');
    const woken = await waiting;
    assert.deepEqual([woken.errorCode, woken.highWatermark, (woken.records?.length ?? 0) > 0], [0, 2, true]);
    world.simulatedNetwork.partition([nameOf(3)], [nameOf(1), nameOf(2)]);
    nodes.produce(1, 'c');
    await world.runUntil(() => nodes.partition(1).inSyncReplicas.size === 2);
    assert.equal((await consume(nodes, 1, 'rack-3', 2)).preferredReadReplica, -1);
  });
});

/** How often the method is called from now on. */
function counted(partition: Partition, name: 'tryRecordLevelFetch' | 'recordFollowerFetch'): () => number {
  let count = 0;
  const original = partition[name] as (...given: unknown[]) => unknown;
  const value = (...given: unknown[]): unknown => {
    count += 1;
    return original.apply(partition, given);
  };
  Object.defineProperty(partition, name, { value });
  return () => count;
}

function figures(nodes: ReplicaNodes, id: number): Record<string, number> {
  const series = [...nodes.node(id).machine.metrics.series()];
  const named = /partition|leader_count|offline|isr|replica/;
  return Object.fromEntries(series.flatMap((each) => ('value' in each && named.test(each.name) ? [[each.name, each.value]] : [])));
}

const fetch = { request: FetchRequest, response: FetchResponse };

async function consume(nodes: ReplicaNodes, broker: number, rackId: string, fetchOffset: number, version = 12, maxWaitMs = 0) {
  const { world } = nodes;
  const connection = await world.run(
    Connection.open({ host: nameOf(broker), port: 9092 }, world.machine('consumer'), { clientId: 'consumer' }),
  );
  try {
    const partitions = [{ partition: 0, fetchOffset, partitionMaxBytes: 1 << 20 }];
    const topics = [{ topic, topicId, partitions }];
    const request = { maxWaitMs, minBytes: 1, topics, ...(version >= 11 ? { rackId } : {}) };
    const { responses } = await world.run(connection.send(fetch, request, { version }));
    return responses[0]?.partitions[0] ?? assert.fail('the answer has no partition');
  } finally {
    connection.close();
  }
}

// As in KIP-101 and KIP-279. Each with leaders that say in Fetch where logs part, and with leaders that must be asked for it.
for (const maxFetchVersion of [17, 11]) {
  describe(`logs that have parted, with Fetch ${maxFetchVersion}`, () => {
    test('a follower that restarts keeps what is beyond its high watermark: it may lead next', async () => {
      const nodes = await setUp({ ids: [1, 2], maxFetchVersion });
      const { world } = nodes;
      nodes.produce(1, 'a');
      await untilLevel(nodes);
      nodes.produce(1, 'b');
      // It has it, and does not know yet that it is committed.
      await world.runUntil(() => nodes.partition(2).log.writtenEndOffset === 2);
      assert.equal(nodes.partition(2).log.highWatermark, 1);
      nodes.crash(2, 'everything');
      await nodes.start(2);
      await world.runUntil(() => nodes.controller.leadership.isr.length === 2);
      nodes.crash(1, 'everything');
      await nodes.untilLed();
      const contents = await nodes.contents(2, 2);
      assert.deepEqual(
        contents.map((line) => line.slice(-1)),
        ['a', 'b'],
      );
    });

    test('two logs with different records at one offset become one', async () => {
      const nodes = await setUp({ ids: [1, 2], logConfig: { minInSyncReplicas: 1 }, maxFetchVersion });
      const { world } = nodes;
      nodes.produce(1, 'a');
      await untilLevel(nodes);
      world.simulatedNetwork.partition([nameOf(1)], [nameOf(2)]);
      await world.advance(600);
      nodes.produce(1, 'only here');
      await world.advance(10);
      nodes.crash(1, 'everything');
      await nodes.untilLed();
      nodes.produce(2, 'only there');
      await world.advance(100);
      world.simulatedNetwork.heal();
      await nodes.start(1);
      const contents = await untilLevel(nodes);
      assert.deepEqual(
        contents.map((line) => line.replace(/ \d+ /, ' ')),
        ['0 a', '1 only there'],
      );
    });

    test('short reigns that only one of the two has seen are undone one after the other', async () => {
      const nodes = await setUp({ ids: [1, 2], logConfig: { minInSyncReplicas: 1 }, maxFetchVersion });
      const { world } = nodes;
      nodes.produce(1, 'a');
      await untilLevel(nodes);
      world.simulatedNetwork.partition([nameOf(1)], [nameOf(2)]);
      await world.advance(600);
      // They lead in turns, and never hear of each other.
      for (const [leader, value] of [
        [1, 'b1'],
        [2, 'b2'],
        [1, 'c1'],
        [2, 'c2'],
      ] as const) {
        nodes.controller.elect(leader);
        await nodes.untilLed();
        nodes.produce(leader, value, `${value}+`);
        await world.advance(50);
      }
      world.simulatedNetwork.heal();
      const contents = await untilLevel(nodes);
      assert.deepEqual(
        contents.map((line) => line.replace(/ \d+ /, ' ')),
        ['0 a', '1 b2', '2 b2+', '3 c2', '4 c2+'],
      );
    });

    test('after an unclean election what was committed goes as well', async () => {
      const nodes = await setUp({ maxFetchVersion });
      const { world } = nodes;
      nodes.produce(1, 'a');
      await untilLevel(nodes);
      world.simulatedNetwork.partition([nameOf(3)], [nameOf(1), nameOf(2)]);
      nodes.produce(1, 'b', 'c');
      await world.runUntil(() => nodes.acknowledged.size === 3);
      world.simulatedNetwork.heal();
      world.simulatedNetwork.partition([nameOf(3)], [nameOf(1), nameOf(2)]);
      nodes.controller.elect(3);
      await nodes.untilLed();
      world.simulatedNetwork.heal();
      const contents = await untilLevel(nodes);
      assert.deepEqual(contents, ['0 0 a']);
    });

    test('a reign without a record leaves nothing that could stand in the way', async () => {
      const nodes = await setUp({ ids: [1, 2], logConfig: { minInSyncReplicas: 1 }, maxFetchVersion });
      const { world } = nodes;
      nodes.produce(1, 'a');
      await untilLevel(nodes);
      world.simulatedNetwork.partition([nameOf(1)], [nameOf(2)]);
      nodes.controller.elect(2);
      await nodes.untilLed();
      nodes.controller.elect(1);
      await nodes.untilLed();
      nodes.produce(1, 'b');
      await world.advance(50);
      world.simulatedNetwork.heal();
      const contents = await untilLevel(nodes);
      assert.deepEqual(
        contents.map((line) => line.replace(/ \d+ /, ' ')),
        ['0 a', '1 b'],
      );
    });
  });
}
