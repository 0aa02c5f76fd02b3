// Histories that once ended badly, told so that they can be read. Chance found each of them; the seed says when.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildControlBatch, errorCodes } from '@odradek/protocol';
import { batch, LogUnderTest, logFolder } from '../log/open-log.fixture.ts';
import { checkCrashedDisk } from './disk-checks.fixture.ts';
import { FailingDisk } from './failing-disk.fixture.ts';

const otherTopicId = 'AAAAAAAAAAAAAAAAAAAAAQ';

/** The kernel writes a file back when it likes. */
function writtenBack({ machine }: LogUnderTest, name: string): void {
  const file = machine.fileSystem.openSync(`${logFolder}/${name}`, 'readWrite');
  file.syncSync();
  file.closeSync();
}

function resize({ machine }: LogUnderTest, name: string, sizeBytes: number): void {
  const file = machine.fileSystem.openSync(`${logFolder}/${name}`, 'readWrite');
  file.truncateSync(sizeBytes);
  file.syncSync();
  file.closeSync();
}

const firstSegment = '00000000000000000000.log';

test('what was cut off and comes back behind newer records is known by its older epoch (13806)', async () => {
  const under = await LogUnderTest.open();
  await under.append(['kept']);
  await under.append(['cut']);
  under.log.roll();
  await under.append(['cut as well']);
  await under.world.run(under.log.flush());
  under.log.truncateTo(1);
  under.stage(['new'], {}, 1);
  under.log.writeStaged();
  // The first segment reaches the device, the removal of the second does not; and the one ends where the other begins.
  writtenBack(under, firstSegment);
  await under.crash('nothing');
  assert.equal(under.log.logEndOffset, 2);
  assert.deepEqual(await under.values(), ['kept', 'new']);
  assert.equal(under.log.latestEpoch, 1);
});

test('deleted records that come back do not bring their producers back (107089)', async () => {
  const under = await LogUnderTest.open();
  const producer = { producerId: 9, producerEpoch: 1 };
  await under.append(['a', 'b'], { ...producer, baseSequence: 0 });
  under.log.roll();
  await under.append(['c']);
  await under.world.run(under.log.flush());
  under.log.updateHighWatermark(3);
  under.log.deleteRecordsBefore(2);
  under.log.truncateFullyAndStartAt(20);
  await under.crash('nothing');
  // Whether or not the start is known again, the producer may go on from where it is, and is not taken for a zombie.
  const known = under.log.activeProducers().find(({ producerId }) => producerId === 9);
  const info = await under.append(['d'], { ...producer, baseSequence: (known?.lastSequence ?? -1) + 1 });
  assert.equal(info.isDuplicate, false);
});

test('a hole that half of a truncation left is cut off at once, below the recovery point too (204218)', async () => {
  const under = await LogUnderTest.open();
  await under.append(['a']);
  await under.append(['b']);
  for (const value of ['c', 'd']) {
    under.log.roll();
    await under.append([value]);
  }
  await under.world.run(under.log.flush());
  await under.world.run(under.manager.checkpoint());
  assert.equal(under.log.recoveryPoint, 3);
  under.log.truncateTo(1);
  // The first segment is shorter on the device, but those that were removed are back, and the checkpoint vouches for them.
  writtenBack(under, firstSegment);
  await under.crash('nothing');
  assert.equal(under.log.logEndOffset, 1);
  await under.append(['new']);
  await under.world.run(under.log.flush());
  await under.crash('nothing');
  assert.deepEqual(await under.values(), ['a', 'new']);
});

test('a stop waits for the flush that a roll has begun, wherever that is (304640)', async () => {
  // How long each call to the disk takes is drawn by chance, so each run is another.
  for (let run = 0; run < 30; run++) {
    const under = await LogUnderTest.open();
    for (let sequence = 0; sequence <= run; sequence++) {
      await under.append(['a'], { producerId: 7, producerEpoch: 3, baseSequence: sequence });
      await under.world.run(under.log.flush());
    }
    under.log.updateHighWatermark(run + 1);
    await under.world.run(under.manager.checkpoint());
    under.log.roll();
    await under.world.advance(run % 3);
    await under.world.run(under.manager.close());
    under.machine = under.world.crash('broker', 'nothing');
    await under.start();
    const [producer] = under.log.activeProducers();
    assert.deepEqual([producer?.producerId, producer?.producerEpoch, producer?.lastSequence], [7, 3, run], `run ${run}`);
  }
});

test('a log that began anew beyond its end begins there after a power cut too (415678)', async () => {
  const under = await LogUnderTest.open();
  await under.append(['a']);
  await under.append(['b', 'c', 'd']);
  await under.world.run(under.log.flush());
  under.log.updateHighWatermark(4);
  under.log.deleteRecordsBefore(3);
  await under.world.run(under.manager.checkpoint());
  under.log.truncateTo(3);
  assert.equal(under.log.logEndOffset, 1, 'the batch with the offset goes whole');
  writtenBack(under, firstSegment);
  // Killed before the checkpoint of the log start is corrected.
  await under.crash('everything');
  assert.deepEqual([under.log.logStartOffset, under.log.logEndOffset], [3, 3]);
  await under.world.run(under.manager.checkpoint());
  // The new beginning is in the names of files, and no file that begins there has been forced to the device.
  await under.crash('nothing');
  assert.deepEqual([under.log.logStartOffset, under.log.logEndOffset], [3, 3]);
});

test('deleted segments stay deleted after a power cut, once the log start has been checkpointed', async () => {
  const under = await LogUnderTest.open();
  await under.append(['a']);
  under.log.roll();
  await under.append(['b']);
  await under.world.run(under.log.flush());
  under.log.updateHighWatermark(2);
  under.log.deleteRecordsBefore(1);
  await under.world.run(under.manager.checkpoint());
  await under.crash('nothing');
  assert.equal(under.log.logStartOffset, 1);
  assert.deepEqual(await under.values(), ['b']);
  assert.deepEqual(
    under.files().filter((name) => name.endsWith('.log')),
    ['00000000000000000001.log'],
  );
});

test('nobody is told that records are on the device whose flush met a failing disk (log history 273)', async () => {
  const under = await LogUnderTest.open({ flushMessages: 1 });
  under.stage(['a']);
  under.log.roll();
  const { written } = under.stage(['b']);
  under.log.writeStaged();
  under.log.directory.fail(new Error('the disk has a fault'));
  await assert.rejects(under.world.run(written), { code: errorCodes.KAFKA_STORAGE_ERROR });
});

test('a log of which everything is cut off still begins where it began, when that is interrupted (log history 351)', async () => {
  const under = await LogUnderTest.open();
  await under.append(['a', 'b', 'c']);
  under.log.roll();
  await under.append(['d']);
  under.log.updateHighWatermark(4);
  under.log.deleteRecordsBefore(3);
  await under.world.run(under.log.flush());
  await under.world.run(under.manager.checkpoint());
  const { fileSystem } = under.machine;
  const fault = { path: `${logFolder}/00000000000000000003.log`, operations: ['open'] as const };
  fileSystem.faults.add(fault);
  try {
    under.log.truncateTo(3);
  } catch {
    // Whether it can be done without opening a file is not the point.
    assert.equal(under.log.directory.isOnline, false);
  }
  fileSystem.faults.clear();
  await under.crash('everything');
  assert.equal(under.log.logStartOffset, 3);
});

test('the epoch of a batch that is refused is not known', async () => {
  const under = await LogUnderTest.open({ segmentBytes: 200 });
  await under.append(['a'.repeat(100)]);
  await under.world.run(under.log.flush());
  under.machine.fileSystem.capacityBytes = under.machine.fileSystem.usedBytes;
  const ahead = batch(['b'.repeat(100)]);
  // The leader's log has a gap before it, and the new segment that it needs does not fit on the disk.
  ahead.writeBigInt64BE(5n, 0);
  ahead.writeInt32BE(7, 12);
  assert.throws(() => under.log.appendAsFollower(ahead), { code: errorCodes.KAFKA_STORAGE_ERROR });
  assert.equal(under.log.latestEpoch, 0);
  assert.equal(under.log.endOffsetForEpoch(0).endOffset, 1);
});

test('a topic that was deleted does not come back in the place of the next of its name (log history 27)', async () => {
  const under = await LogUnderTest.open();
  await under.append(['old']);
  await under.world.run(under.log.flush());
  const { topicPartition, config } = under.log;
  under.manager.delete(topicPartition);
  under.log = under.manager.getOrCreate(topicPartition, { topicId: otherTopicId, config });
  await under.crash('nothing');
  assert.deepEqual([under.log.logStartOffset, under.log.logEndOffset], [0, 0]);
});

test('a new topic does not inherit the log start of one that a crash took away (log history 740)', async () => {
  const under = await LogUnderTest.open();
  await under.append(['old', 'older']);
  under.log.updateHighWatermark(2);
  under.log.deleteRecordsBefore(1);
  await under.world.run(under.manager.checkpoint());
  // Deleted, and the process ends before the checkpoints are written again.
  under.manager.delete(under.log.topicPartition);
  await under.crash('everything');
  await under.append(['new']);
  await under.world.run(under.log.flush());
  await under.crash('everything');
  assert.deepEqual(await under.values(), ['new']);
});

test('indexes made anew do not lower the recovery point, below which compaction may leave holes (cleaner history 101462)', async () => {
  const under = await LogUnderTest.open({ cleanupPolicy: ['compact'] });
  const { sizeBytes } = await under.append(['a']);
  await under.append(['b']);
  under.log.roll();
  await under.append(['c']);
  await under.world.run(under.log.flush());
  await under.world.run(under.manager.checkpoint());
  // The cleaner has dropped the second batch, and has not come to the index.
  const { fileSystem } = under.machine;
  const file = fileSystem.openSync(`${logFolder}/${firstSegment}`, 'readWrite');
  file.truncateSync(sizeBytes);
  file.syncSync();
  fileSystem.removeSync(`${logFolder}/00000000000000000000.index`);
  await under.crash('everything');
  await under.world.run(under.manager.checkpoint());
  await under.crash('nothing');
  assert.deepEqual(await under.values(), ['a', 'c']);
});

test('what was cut off does not come back behind records that were written in its place (log history 504115)', async () => {
  const under = await LogUnderTest.open();
  await under.append(['a']);
  await under.append(['b'.repeat(2000)]);
  under.log.roll();
  await under.append(['c']);
  await under.world.run(under.log.flush());
  await under.world.run(under.manager.checkpoint());
  assert.equal(under.log.recoveryPoint, 2);
  under.log.truncateTo(1);
  under.stage(['d'.repeat(2000)]);
  under.log.writeStaged();
  // The new records reach the device but for a sector in their middle, and the checkpoint still vouches for those that were there.
  writtenBack(under, firstSegment);
  under.machine.fileSystem.flipBit(`${logFolder}/${firstSegment}`, 1000);
  await under.crash('nothing');
  assert.deepEqual(await under.values(), ['a']);
});

test('an index that knows of a batch which a crash has taken does not hide those before it (log history 704287)', async () => {
  const under = await LogUnderTest.open();
  await under.append(['a']);
  under.log.roll();
  await under.world.run(under.log.flush());
  await under.world.run(under.manager.checkpoint());
  const { sizeBytes } = await under.append(['b']);
  await under.world.run(under.log.flush());
  // The next batch, and its entry in the index; but only the entry reaches the device.
  const index = under.machine.fileSystem.openSync(`${logFolder}/00000000000000000001.index`, 'readWrite');
  const entry = Buffer.alloc(8);
  entry.writeInt32BE(1, 0);
  entry.writeInt32BE(sizeBytes, 4);
  index.writeSync([entry], 0);
  index.syncSync();
  under.machine.fileSystem.openSync(`${logFolder}/00000000000000000001.timeindex`, 'readWrite').syncSync();
  await under.crash('nothing');
  assert.deepEqual(await under.values(), ['a', 'b']);
});

test('the zeros that a start has cut off may come back behind a segment that is closed since; the next start mends that (log history 600034)', async () => {
  const under = await LogUnderTest.open();
  const { sizeBytes } = await under.append(['a']);
  await under.restart();
  await under.append(['b']);
  // The size of the file reaches the device, and of the second batch nothing.
  const crash = (): void => {
    under.machine = under.world.crash('broker', 'nothing');
  };
  crash();
  resize(under, firstSegment, 2 * sizeBytes);
  await under.start();
  assert.equal(under.manager.startReport.truncatedBytes, sizeBytes);
  under.log.roll();
  writtenBack(under, '00000000000000000001.log');
  // Before the checkpoint is corrected, which trusts the first segment.
  crash();
  assert.equal(under.machine.fileSystem.statSync(`${logFolder}/${firstSegment}`)?.size, 2 * sizeBytes);
  checkCrashedDisk(under.machine.fileSystem, '/data');
  await under.start();
  assert.deepEqual([under.manager.startReport.scannedSegments, under.log.logEndOffset], [2, 1]);
  assert.deepEqual(await under.values(), ['a']);
});

test('a segment that is cut off while its indexes are forced to the device leaves none of them behind (cleaner history 2000988)', async () => {
  const producer = { producerId: 9, producerEpoch: 0 };
  // How long each call to the disk takes is drawn by chance.
  for (let ms = 0; ms <= 10; ms++) {
    const under = await LogUnderTest.open();
    await under.append(['a']);
    under.log.roll();
    await under.append(['b'], { ...producer, baseSequence: 0, isTransactional: true });
    const marker = buildControlBatch({ ...producer, type: 'abort', coordinatorEpoch: 0, timestamp: Date.UTC(2025, 0, 1) });
    await under.world.run(under.log.appendAsLeader(marker, { leaderEpoch: 0, origin: 'coordinator' }).written);
    under.log.roll();
    await under.world.advance(ms);
    under.log.truncateTo(1);
    await under.world.advance(100);
    const left = under.files().filter((name) => /^0*1\.(log|index|timeindex|txnindex)/.test(name));
    assert.deepEqual(left, [], `cut off after ${ms} ms`);
  }
});

test('the leader epochs of a topic that is deleted are not written into the folder of the next of its name (log history 701085)', async () => {
  // How long each call to the disk takes is drawn by chance.
  for (let ms = 0; ms <= 6; ms++) {
    const under = await LogUnderTest.open();
    under.stage(['old'], {}, 3);
    under.log.roll();
    await under.append(['older'], {});
    under.log.flush().catch(() => undefined);
    await under.world.advance(ms);
    const { topicPartition, config } = under.log;
    under.manager.delete(topicPartition);
    under.log = under.manager.getOrCreate(topicPartition, { topicId: otherTopicId, config });
    await under.world.advance(100);
    assert.deepEqual(under.files(), ['partition.metadata'], `deleted after ${ms} ms`);
  }
});

test('files of deleted segments that come back without their content are nothing to worry about (log history 700613)', async () => {
  const under = await LogUnderTest.open();
  await under.append(['a']);
  under.log.roll();
  await under.append(['b']);
  await under.append(['c']);
  await under.world.run(under.log.flush());
  under.log.updateHighWatermark(3);
  under.log.deleteRecordsBefore(2);
  await under.world.run(under.manager.checkpoint());
  under.machine = under.world.crash('broker', 'nothing');
  const { fileSystem } = under.machine;
  assert.notEqual(fileSystem.statSync(`${logFolder}/${firstSegment}`), undefined);
  // If its indexes had not been on the device yet, only their names would be there.
  for (const ending of ['index', 'timeindex']) fileSystem.replaceFileSync(`${logFolder}/00000000000000000000.${ending}`, '');
  checkCrashedDisk(fileSystem, '/data');
  await under.start();
  assert.deepEqual(await under.values(), ['c']);
  assert.deepEqual(
    under.files().filter((name) => name.endsWith('.log')),
    ['00000000000000000001.log'],
  );
});

test('a segment is not cut off as long as a crash could bring back what follows it (log history 702983)', async () => {
  const producer = { producerId: 9, producerEpoch: 0 };
  const markerOf = (): Buffer =>
    buildControlBatch({ ...producer, type: 'abort', coordinatorEpoch: 0, timestamp: Date.UTC(2025, 0, 1) });
  // The disk fails at every change in turn that the cutting off makes, and of those that were made some reach the device.
  for (let change = 1; change <= 16; change++) {
    for (const ending of ['timeindex', 'txnindex', 'index', 'log']) {
      let failing!: FailingDisk;
      const under = await LogUnderTest.open({ indexIntervalBytes: 0 }, (disk) => {
        failing = new FailingDisk(disk);
        return failing.fileSystem;
      });
      await under.append(['a']);
      await under.append(['b'], { ...producer, baseSequence: 0, isTransactional: true }, 1000);
      await under.world.run(under.log.appendAsLeader(markerOf(), { leaderEpoch: 0, origin: 'coordinator' }).written);
      under.log.roll();
      await under.append(['c']);
      await under.world.run(under.log.flush());
      under.log.updateHighWatermark(4);
      await under.world.run(under.manager.checkpoint());
      failing.failAfter(change);
      try {
        under.log.truncateTo(1);
      } catch {
        assert.equal(under.log.directory.isOnline, false);
      }
      failing.failAfter(Number.POSITIVE_INFINITY);
      under.machine.fileSystem.faults.clear();
      writtenBack(under, `00000000000000000000.${ending}`);
      under.machine = under.world.crash('broker', 'nothing');
      checkCrashedDisk(under.machine.fileSystem, '/data');
      await under.start();
      if (under.log.logEndOffset < 3) continue;
      // All that was there is there, so all that is known of it must be.
      under.log.updateHighWatermark(under.log.logEndOffset);
      const read = await under.world.run(
        Promise.resolve(under.log.read(0, { maxBytes: 10_000, isolation: 'lastStable', minOneBatch: true })),
      );
      assert.deepEqual(read.abortedTransactions, [{ producerId: 9, firstOffset: 1 }], `change ${change}, ${ending}`);
    }
  }
});

test('an orderly stop of a log that a crash has emptied leaves no leader epochs behind (log history 802901)', async () => {
  const under = await LogUnderTest.open();
  await under.append(['a']);
  await under.world.run(under.log.flush());
  const epochs = (): string => under.machine.fileSystem.readFileSync(`${logFolder}/leader-epoch-checkpoint`).toString();
  assert.equal(epochs(), '0\n1\n0 0\n');
  under.machine.fileSystem.removeSync(`${logFolder}/${firstSegment}`);
  under.machine.fileSystem.syncDirectorySync(logFolder);
  await under.crash('nothing');
  assert.equal(under.log.logEndOffset, 0);
  await under.world.run(under.manager.close());
  assert.equal(epochs(), '0\n0\n');
});
