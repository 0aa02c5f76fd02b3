// `preallocate`: files of records that are longer than what was written to them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifyLogDirectories } from '../verify/verify-directories.ts';
import { LogUnderTest, logFolder } from './open-log.fixture.ts';

const segmentBytes = 5000;
const first = '00000000000000000000.log';

const sizeOf = ({ machine }: LogUnderTest, name: string): number => machine.fileSystem.statSync(`${logFolder}/${name}`)?.size ?? -1;

function resize({ machine }: LogUnderTest, name: string, sizeBytes: number): void {
  const file = machine.fileSystem.openSync(`${logFolder}/${name}`, 'readWrite');
  file.truncateSync(sizeBytes);
  file.syncSync();
  file.closeSync();
}

test('a new segment has its full size with the first records, and is cut to what was written when it ends', async () => {
  const under = await LogUnderTest.open({ preallocate: true, segmentBytes });
  assert.equal(sizeOf(under, first), -1, 'of ten thousand partitions that nobody writes to there are no files');
  const { sizeBytes } = await under.append(['a']);
  assert.equal(sizeOf(under, first), segmentBytes);
  assert.equal(under.log.sizeBytes, sizeBytes);
  await under.append(['b']);
  assert.equal(sizeOf(under, first), segmentBytes);
  under.log.roll();
  assert.equal(sizeOf(under, first), 2 * sizeBytes);
  await under.append(['c']);
  assert.equal(sizeOf(under, '00000000000000000002.log'), segmentBytes);
  await under.restart();
  assert.equal(sizeOf(under, '00000000000000000002.log'), sizeBytes);
  await under.append(['d']);
  assert.equal(sizeOf(under, '00000000000000000002.log'), 2 * sizeBytes, 'a segment that was there grows as it is written');
  assert.deepEqual(await under.values(), ['a', 'b', 'c', 'd']);
});

test('without it a file is as long as what was written', async () => {
  const under = await LogUnderTest.open({ segmentBytes });
  const { sizeBytes } = await under.append(['a']);
  assert.equal(sizeOf(under, first), sizeBytes);
});

for (const leaves of ['everything', 'nothing'] as const) {
  test(`a start after a crash that leaves ${leaves} finds where the log ends, and takes the zeros for no damage`, async () => {
    const under = await LogUnderTest.open({ preallocate: true, segmentBytes });
    const { sizeBytes } = await under.append(['a']);
    await under.append(['b']);
    await under.world.run(under.log.flush());
    await under.crash(leaves);
    assert.equal(sizeOf(under, first), 2 * sizeBytes);
    assert.equal(under.manager.startReport.truncatedBytes, 0);
    assert.equal(under.log.logEndOffset, 2);
    await under.append(['c']);
    await under.restart();
    assert.deepEqual(await under.values(), ['a', 'b', 'c']);
  });
}

test('half a batch before the zeros is cut off', async () => {
  const under = await LogUnderTest.open({ preallocate: true, segmentBytes });
  const { sizeBytes } = await under.append(['a']);
  await under.append(['b']);
  await under.world.run(under.log.flush());
  resize(under, first, 2 * sizeBytes - 10);
  resize(under, first, segmentBytes);
  await under.crash('everything');
  assert.deepEqual(await under.values(), ['a']);
  assert.equal(under.manager.startReport.truncatedBytes, segmentBytes - sizeBytes);
});

test('a closed segment that a crash has given back its full size costs no records', async () => {
  const under = await LogUnderTest.open({ preallocate: true, segmentBytes });
  const { sizeBytes } = await under.append(['a']);
  under.log.roll();
  await under.append(['b']);
  await under.world.run(under.log.flush());
  await under.world.run(under.manager.checkpoint());
  assert.equal(under.log.recoveryPoint, 1);
  resize(under, first, segmentBytes);
  under.machine = under.world.crash('broker', 'nothing');
  const { findings } = verifyLogDirectories({ fileSystem: under.machine.fileSystem, directories: ['/data'] });
  const inFirst = findings.filter(({ path }) => path.endsWith(first));
  assert.deepEqual(
    inFirst.map(({ rule, isMended }) => `${rule} ${isMended}`),
    ['batch-size true'],
  );
  await under.start();
  assert.deepEqual(await under.values(), ['a', 'b']);
  assert.equal(sizeOf(under, first), sizeBytes);
});

test('the recovery point waits for a segment to be cut to its size on the device', async () => {
  const under = await LogUnderTest.open({ preallocate: true, segmentBytes });
  const { sizeBytes } = await under.append(['a']);
  // The records are on the device, and the size that the file has until it ends.
  await under.world.run(under.log.flush());
  under.log.roll();
  await under.append(['b']);
  await under.world.run(under.log.flush());
  assert.equal(under.log.recoveryPoint, 1);
  under.machine = under.world.crash('broker', 'nothing');
  assert.equal(sizeOf(under, first), sizeBytes);
});
