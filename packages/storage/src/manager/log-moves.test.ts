import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { buildRecordBatch, errorCodes } from '@odradek/protocol';
import type { CrashLeaves } from '@odradek/testing';
import { defaultCleanerSettings } from '../cleaner/cleaner-schedule.ts';
import { MovingLog, orders, topicId } from './moving-log.fixture.ts';

const seeds = Number(process.env['ODRADEK_SEEDS'] ?? 10);
const slow = { concurrency: 1, maxBytesPerSecond: 1_000_000 };

describe('a log that moves to another directory', () => {
  test('has the same bytes, offsets, epochs and producers there, while it was written to', async () => {
    const moving = await new MovingLog({}).open();
    const idempotent = buildRecordBatch({ producerId: 7, producerEpoch: 0, baseSequence: 0 }, [
      { value: Buffer.from('once'), timestamp: moving.machine.clock.wallTimeMs() },
    ]);
    await moving.fill(3);
    const first = moving.log.appendAsLeader(Buffer.from(idempotent), { leaderEpoch: 0, origin: 'client' });
    await moving.world.run(first.written);
    moving.leaderEpoch = 5;
    moving.log.assignLeaderEpoch(5, moving.log.logEndOffset);
    moving.log.deleteRecordsBefore(17);
    const before = await moving.bytes();
    moving.write();
    moving.move('/two');
    assert.deepEqual(moving.folders('/two'), ['orders-0.hex-future']);
    await moving.moved('/two');
    await moving.stopWriting();
    assert.deepEqual(
      await moving.missing(),
      Array.from({ length: 17 }, (_, index) => index),
      'what was deleted, and nothing else',
    );
    assert.ok(before.equals((await moving.bytes()).subarray(0, before.length)));
    const { log } = moving;
    assert.equal(log.logStartOffset, 17);
    assert.equal(log.topicId, topicId);
    assert.deepEqual(log.endOffsetForEpoch(0), { leaderEpoch: 0, endOffset: 301 });
    assert.deepEqual(moving.folders('/two'), ['orders-0']);
    await moving.world.advance(2000);
    assert.deepEqual(moving.folders('/one'), []);
    const again = log.appendAsLeader(Buffer.from(idempotent), { leaderEpoch: 5, origin: 'client' });
    assert.ok(again.isDuplicate);
    assert.equal(again.firstOffset, first.firstOffset);
  });

  test('keeps its high watermark, and the checkpoints of both directories say where it lies', async () => {
    const moving = await new MovingLog({}).open();
    await moving.fill(1);
    moving.log.updateHighWatermark(40);
    moving.move('/two');
    await moving.moved('/two');
    assert.equal(moving.log.highWatermark, 40);
    await moving.world.run(moving.manager.checkpoint());
    const text = (path: string): string => moving.machine.fileSystem.readFileSync(path).toString();
    assert.equal(text('/two/replication-offset-checkpoint'), '0\n1\norders 0 40\n');
    assert.equal(text('/one/replication-offset-checkpoint'), '0\n0\n');
    await moving.world.run(moving.manager.close());
    await moving.open();
    assert.deepEqual([moving.place, moving.log.logEndOffset, moving.log.highWatermark], ['/two', 100, 40]);
  });

  test('an empty one moves too, and one whose records are all deleted', async () => {
    for (const megabytes of [0, 1]) {
      const moving = await new MovingLog({}).open();
      await moving.fill(megabytes);
      moving.log.deleteRecordsBefore(moving.log.logEndOffset);
      moving.move('/three');
      await moving.moved('/three');
      assert.deepEqual([moving.log.logStartOffset, moving.log.logEndOffset], [megabytes * 100, megabytes * 100]);
    }
  });

  test('goes no faster than is allowed', async () => {
    const moving = await new MovingLog({ manager: { moves: slow } }).open();
    await moving.fill(4);
    moving.move('/two');
    await moving.world.advance(2000);
    assert.equal(moving.place, '/one');
    const copied = moving.manager.future(orders)?.sizeBytes ?? 0;
    assert.ok(copied > 1_500_000 && copied < 3_200_000, `${copied} bytes in two seconds`);
    moving.manager.updateMoves({ ...slow, maxBytesPerSecond: Number.MAX_VALUE });
    await moving.moved('/two', 1000);
  });

  test('only so many move at a time, in the order in which they were asked for', async () => {
    const moving = await new MovingLog({ manager: { moves: slow } }).open();
    await moving.fill(2);
    const other = { topic: 'other', partition: 3 };
    moving.manager.getOrCreate(other, { topicId, config: moving.config });
    moving.move('/three');
    moving.manager.startMove(other, moving.manager.directory('/three')!);
    await moving.world.advance(1000);
    assert.equal(moving.manager.get(other)?.directory.path, '/two');
    moving.manager.updateMoves({ ...slow, concurrency: 2 });
    await moving.world.advance(500);
    assert.equal(moving.manager.get(other)?.directory.path, '/three');
    await moving.moved('/three');
  });

  test('is not compacted meanwhile, but afterwards', async () => {
    const cleaner = { settings: { ...defaultCleanerSettings, backoffMs: 100 }, runIn: 'turns' } as const;
    const config = { cleanupPolicy: ['compact'], minCleanableDirtyRatio: 0 } as const;
    const moving = await new MovingLog({ config, manager: { moves: slow, cleaner } }).open();
    await moving.fill(3);
    moving.move('/two');
    const { log } = moving;
    await moving.world.run(log.flush());
    await moving.world.advance(1500);
    assert.equal(log.cleanedOffset, undefined);
    await moving.moved('/two');
    const { baseOffset } = moving.log.segments.active;
    await moving.world.runUntil(() => moving.log.cleanedOffset === baseOffset);
    assert.ok(moving.log.sizeBytes < 1_000_000, 'one key has one record, but for the active segment');
  });

  test('and that is cut off meanwhile and written anew has what it has now', async () => {
    const moving = await new MovingLog({ manager: { moves: slow } }).open();
    await moving.fill(3);
    moving.move('/two');
    await moving.world.advance(2500);
    const copiedTo = moving.manager.future(orders)?.logEndOffset ?? 0;
    assert.ok(copiedTo > 150, `${copiedTo}`);
    moving.log.truncateTo(120);
    moving.leaderEpoch = 1;
    moving.log.assignLeaderEpoch(1, 120);
    await moving.fill(3);
    const expected = await moving.values();
    await moving.moved('/two');
    assert.deepEqual(await moving.values(), expected);
    assert.deepEqual(moving.log.endOffsetForEpoch(0), { leaderEpoch: 0, endOffset: 120 });
  });

  test('and whose first records are deleted meanwhile, more of them than were copied, begins where it begins now', async () => {
    const moving = await new MovingLog({ manager: { moves: slow } }).open();
    await moving.fill(3);
    moving.move('/two');
    await moving.world.advance(500);
    moving.log.deleteRecordsBefore(222);
    const expected = await moving.values();
    await moving.moved('/two');
    assert.equal(moving.log.logStartOffset, 222);
    assert.deepEqual(await moving.values(), expected);
  });
});

describe('a move', () => {
  test('to where the log is does nothing, and asked for again goes on', async () => {
    const moving = await new MovingLog({ manager: { moves: slow } }).open();
    await moving.fill(2);
    moving.move('/one');
    assert.equal(moving.manager.future(orders), undefined);
    moving.move('/two');
    const future = moving.manager.future(orders);
    await moving.world.advance(1100);
    moving.move('/two');
    assert.equal(moving.manager.future(orders), future);
    await moving.moved('/two');
  });

  test('is cancelled by moving back, or elsewhere, and leaves nothing', async () => {
    const moving = await new MovingLog({ manager: { moves: slow } }).open();
    await moving.fill(3);
    moving.write();
    moving.move('/two');
    await moving.world.advance(1500);
    moving.move('/three');
    assert.deepEqual([moving.folders('/two'), moving.folders('/three')], [['orders-0.hex-delete'], ['orders-0.hex-future']]);
    await moving.world.advance(1500);
    moving.move('/one');
    await moving.world.advance(10_000);
    assert.equal(moving.place, '/one');
    assert.deepEqual([moving.folders('/one'), moving.folders('/two'), moving.folders('/three')], [['orders-0'], [], []]);
    await moving.stopWriting();
    assert.deepEqual(await moving.missing(), []);
  });

  test('goes on after a restart where it was', async () => {
    const moving = await new MovingLog({ manager: { moves: slow } }).open();
    await moving.fill(3);
    moving.move('/two');
    await moving.world.advance(1500);
    await moving.world.run(moving.manager.close());
    await moving.open();
    const future = moving.manager.future(orders);
    assert.ok(future !== undefined && future.logEndOffset >= 100 && future.logEndOffset < 300, `${future?.logEndOffset}`);
    const { logEndOffset } = future;
    moving.manager.resumeMove(orders);
    await moving.world.advance(10);
    assert.ok(future.logEndOffset >= logEndOffset, 'nothing is copied again');
    await moving.moved('/two');
    assert.deepEqual(await moving.missing(), []);
  });

  test('ends when the new directory fails, and the log goes on where it is', async () => {
    const moving = await new MovingLog({ manager: { moves: slow } }).open();
    await moving.fill(3);
    moving.write();
    moving.move('/two');
    await moving.world.advance(1500);
    moving.machine.fileSystem.faults.add({ path: '/two' });
    await moving.world.advance(3000);
    assert.equal(moving.manager.directory('/two')?.isOnline, false);
    assert.deepEqual([moving.place, moving.manager.future(orders)], ['/one', undefined]);
    await moving.stopWriting();
    assert.deepEqual(await moving.missing(), []);
    assert.throws(() => moving.move('/three'), { code: errorCodes.KAFKA_STORAGE_ERROR });
  });

  test('stands still when the old directory fails; the log is not to be had, and comes back with it', async () => {
    const moving = await new MovingLog({ manager: { moves: slow } }).open();
    await moving.fill(3);
    moving.move('/two');
    await moving.world.advance(1500);
    const fault = { path: '/one' };
    moving.machine.fileSystem.faults.add(fault);
    await assert.rejects(moving.world.run(moving.log.flush()), { code: errorCodes.KAFKA_STORAGE_ERROR });
    await moving.world.advance(3000);
    assert.equal(moving.place, 'nowhere');
    assert.throws(() => moving.manager.getOrCreate(orders, { topicId, config: moving.config, isNew: false }), {
      code: errorCodes.KAFKA_STORAGE_ERROR,
    });
    moving.machine.fileSystem.faults.delete(fault);
    await moving.crash('everything');
    await moving.moved('/two');
    assert.deepEqual(await moving.missing(), []);
  });

  test('ends when the partition is deleted, and nothing is left of either', async () => {
    const moving = await new MovingLog({ manager: { moves: slow } }).open();
    await moving.fill(3);
    moving.move('/two');
    await moving.world.advance(1500);
    moving.manager.delete(orders);
    assert.deepEqual([moving.folders('/one'), moving.folders('/two')], [['orders-0.hex-delete'], ['orders-0.hex-delete']]);
    await moving.world.advance(5000);
    assert.deepEqual([moving.folders('/one'), moving.folders('/two')], [[], []]);
  });

  test('waits while the disk is full, and goes on when there is room', async () => {
    const moving = await new MovingLog({}).open();
    await moving.fill(3);
    const { fileSystem } = moving.machine;
    for (const room of [100, 50_000, 1_300_000, 2_950_000]) {
      fileSystem.capacityBytes = fileSystem.usedBytes + room;
      moving.move('/two');
      await moving.world.advance(5000);
      assert.deepEqual([moving.place, moving.manager.directory('/two')?.isOnline], ['/one', true], `${room} bytes`);
      if (room < 2_000_000) {
        moving.move('/one');
        await moving.world.advance(5000);
      }
    }
    fileSystem.capacityBytes = Number.MAX_SAFE_INTEGER;
    await moving.moved('/two');
    assert.deepEqual(await moving.missing(), []);
  });
});

describe('a crash in a move loses nothing that was acknowledged', () => {
  const cases: readonly { readonly leaves: CrashLeaves; readonly flushMessages: number }[] = [
    // The end of the process loses nothing that was written; a power cut nothing that was forced to the device.
    { leaves: 'everything', flushMessages: Number.MAX_SAFE_INTEGER },
    { leaves: 'nothing', flushMessages: 1 },
    { leaves: 'something', flushMessages: 1 },
  ];
  for (const { leaves, flushMessages } of cases) {
    test(`of which it leaves ${leaves}`, async () => {
      for (let seed = 1; seed <= seeds; seed++) {
        const moving = await new MovingLog({ seed, config: { flushMessages, segmentBytes: 60_000 } }).open();
        await moving.fill(0.4);
        for (let crash = 0; crash < 4; crash++) {
          const target = ['/two', '/three', '/one'][crash % 3]!;
          moving.write();
          moving.move(target);
          // Half of them in what follows upon the last turn, when not all of it is on the device.
          if (crash % 2 === 0) await moving.world.advance(moving.random.nextInt(30));
          else await moving.world.runUntil(() => moving.place === target);
          await moving.world.advance(moving.random.next() * 3);
          await moving.crash(leaves);
        }
        await moving.world.advance(1000);
        assert.deepEqual(await moving.missing(), [], `seed ${seed}`);
        const all = ['/one', '/two', '/three'].flatMap((directory) => moving.folders(directory));
        assert.equal(all.filter((name) => name === 'orders-0').length, 1, `seed ${seed}: ${all.join(' ')}`);
        await moving.world.run(moving.manager.close());
      }
    });
  }

  for (const { name, failing } of [
    { name: 'before the new folder has the log’s name', failing: /-future$/ },
    { name: 'before the old folder has given it up', failing: /^\/one\/orders-0$/ },
  ]) {
    test(`in the middle of its last turn, ${name}`, async () => {
      const moving = await new MovingLog({}).open();
      await moving.fill(1);
      moving.write();
      const fault = { path: failing, operations: ['rename'] } as const;
      moving.machine.fileSystem.faults.add(fault);
      moving.move('/two');
      await moving.world.advance(200);
      assert.equal(moving.manager.directories.filter(({ isOnline }) => !isOnline).length, 1);
      moving.machine.fileSystem.faults.delete(fault);
      await moving.crash('everything');
      await moving.world.advance(2000);
      assert.deepEqual(await moving.missing(), []);
      assert.equal(moving.place, '/two');
      const all = ['/one', '/two', '/three'].flatMap((directory) => moving.folders(directory));
      assert.deepEqual(all, ['orders-0']);
    });
  }

  test('and the checkpoints tell of the old folder as long as it may be all that is left', async () => {
    for (let seed = 1; seed <= seeds; seed++) {
      const moving = await new MovingLog({ seed, config: { segmentBytes: 60_000 } }).open();
      await moving.fill(0.4);
      await moving.world.run(moving.manager.checkpoint());
      moving.world.setDiskDelay('broker', { min: 1, max: 20 });
      const writing: Promise<void>[] = [];
      moving.manager.onLogMoved = () => writing.push(moving.manager.checkpoint());
      moving.move('/two');
      await moving.world.runUntil(() => writing.length > 0);
      for (let stepMs = 0; stepMs < 100 && moving.folders('/one').includes('orders-0'); stepMs++) {
        const text = moving.machine.fileSystem.readFileSync('/one/recovery-point-offset-checkpoint').toString();
        assert.match(text, /^orders 0 \d+$/m, `seed ${seed}`);
        await moving.world.advance(1);
      }
      await moving.world.run(Promise.all(writing));
      await moving.world.run(moving.manager.close());
    }
  });
});
