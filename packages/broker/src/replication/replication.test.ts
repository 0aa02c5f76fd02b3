// Replication between brokers' replica managers over a simulated network: what each scenario of losing and diverging logs leaves.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SimulatedWorld } from '@odradek/testing';
import { nameOf, ReplicaNodes, type ReplicaNodesOptions } from './replica-nodes.fixture.ts';

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
    world.simulatedNetwork.heal();
    assert.deepEqual(await untilLevel(nodes), ['0 0 a', '1 0 b']);
    const { grown, shrunk } = nodes.node(1).replication.replicaManager.inSyncChanges;
    assert.deepEqual({ grown, shrunk }, { grown: 2, shrunk: 2 });
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

  test('go on with what they have when one of their disks fails', async () => {
    const nodes = await setUp();
    nodes.node(3).machine.fileSystem.faults.add({ path: nodes.partition(3).log.path, operations: ['write'] });
    nodes.produce(1, 'a');
    await nodes.world.runUntil(() => nodes.acknowledged.size === 1);
    assert.ok(nodes.partition(3).isOffline);
    assert.deepEqual(nodes.controller.leadership.isr, [1, 2]);
  });
});

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
