// A process that may open no more files, because of its connections or of other programs: that is no fault of the disk.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCodes } from '@odradek/protocol';
import type { DiskFault } from '@odradek/testing';
import { LogUnderTest, logFolder } from '../log/open-log.fixture.ts';

/** What happens while no file can be opened whose path begins like that. */
async function without(under: LogUnderTest, path: string, what: () => Promise<unknown>): Promise<void> {
  const { faults } = under.machine.fileSystem;
  const fault: DiskFault = { path, operations: ['open', 'write'], code: 'EMFILE' };
  faults.add(fault);
  await what();
  faults.delete(fault);
}

const refused = { code: errorCodes.KAFKA_STORAGE_ERROR };

test('a checkpoint is written when files can be opened again, and the directory stays online', async () => {
  const under = await LogUnderTest.open();
  await under.append(['a']);
  under.log.updateHighWatermark(1);
  const checkpoint = '/data/replication-offset-checkpoint';
  await without(under, checkpoint, () => under.world.advance(60_000));
  assert.ok(under.log.directory.isOnline);
  assert.equal(under.machine.fileSystem.statSync(checkpoint), undefined);
  await under.world.advance(6000);
  assert.equal(under.machine.fileSystem.readFileSync(checkpoint).toString(), '0\n1\norders 0 1\n');
});

test('a segment begins, and a log is flushed, when files can be opened again', async () => {
  const under = await LogUnderTest.open();
  const { log } = under;
  await under.append(['a'], { producerId: 7, producerEpoch: 0, baseSequence: 0 });
  await without(under, logFolder, async () => {
    assert.throws(() => log.roll(), refused);
    await assert.rejects(under.world.run(log.flush()), refused);
  });
  assert.ok(log.directory.isOnline);
  log.roll();
  await under.append(['b'], { producerId: 7, producerEpoch: 0, baseSequence: 1 });
  await under.world.run(log.flush());
  assert.equal(log.recoveryPoint, 1);
  await under.crash('nothing');
  assert.deepEqual(await under.values(), ['a', 'b']);
});

test('a log that could not be closed in order is recovered by the next start, and knows its producers', async () => {
  const under = await LogUnderTest.open();
  const producer = { producerId: 7, producerEpoch: 0, baseSequence: 0 };
  await under.append(['a'], producer);
  await without(under, logFolder, () => under.world.run(under.manager.close()));
  assert.equal(under.machine.fileSystem.statSync('/data/.kafka_cleanshutdown'), undefined);
  await under.start();
  assert.equal(under.manager.startReport.isClean, false);
  assert.equal((await under.append(['a'], producer)).isDuplicate, true);
});

test('a log that could only be cut off by half takes its directory offline', async () => {
  const under = await LogUnderTest.open({ segmentBytes: 100 });
  const { log } = under;
  for (const value of ['a', 'b', 'c']) await under.append([value]);
  // To force a directory to the device, it must be opened.
  under.machine.fileSystem.faults.add({ path: logFolder, operations: ['sync'], code: 'EMFILE' });
  assert.throws(() => log.truncateTo(1), refused);
  assert.equal(log.directory.isOnline, false);
});
