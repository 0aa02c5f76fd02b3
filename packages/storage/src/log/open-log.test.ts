import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { buildControlBatch } from '@odradek/protocol';
import { FailingDisk } from '../history/failing-disk.fixture.ts';
import { LogUnderTest, logFolder } from './open-log.fixture.ts';

const name = (offset: number, ending: string): string => `${logFolder}/${String(offset).padStart(20, '0')}${ending}`;
const producer = { producerId: 7, producerEpoch: 0 };

/** Five segments of two batches each; all but the last are known to be on the device. */
async function fiveSegments(): Promise<LogUnderTest> {
  const under = await LogUnderTest.open({ segmentBytes: 400, indexIntervalBytes: 0 });
  for (let index = 0; index < 10; index++) {
    await under.append([`${index} ${'x'.repeat(90)}`], { ...producer, baseSequence: index });
  }
  await under.world.advance(100);
  await under.world.run(under.manager.checkpoint());
  return under;
}

describe('after a crash', () => {
  test('only what lies behind the recovery point is scanned', async () => {
    const under = await fiveSegments();
    assert.deepEqual([under.log.segments.count, under.log.recoveryPoint], [5, 8]);
    await under.crash('everything');
    const { scannedSegments, isClean } = under.manager.startReport;
    assert.deepEqual({ scannedSegments, isClean }, { scannedSegments: 1, isClean: false });
    assert.equal((await under.values()).length, 10);
    assert.equal(under.log.activeProducers()[0]?.lastSequence, 9);
  });

  const damages: readonly (readonly [string, (under: LogUnderTest) => void, number])[] = [
    ['a bit of the last batch flips', (under) => under.machine.fileSystem.flipBit(name(8, '.log'), 250), 9],
    ['a bit of the last segment’s first batch flips', (under) => under.machine.fileSystem.flipBit(name(8, '.log'), 100), 8],
    ['the last batch is torn', (under) => resize(under, name(8, '.log'), -10), 9],
    ['zeros follow the last batch', (under) => resize(under, name(8, '.log'), 600), 10],
    ['the last segment is empty', (under) => resize(under, name(8, '.log'), -1000), 8],
    ['the indexes of the last segment are gone', (under) => removeIndexes(under, 8), 10],
    ['the indexes of an old segment are gone', (under) => removeIndexes(under, 2), 10],
    ['an old segment lost its end', (under) => resize(under, name(2, '.log'), -100), 3],
    ['the recovery point is unknown', (under) => under.machine.fileSystem.removeSync('/data/recovery-point-offset-checkpoint'), 10],
    ['the checkpoints are damaged', damageCheckpoints, 10],
    ['a producer snapshot is damaged', (under) => under.machine.fileSystem.flipBit(name(8, '.snapshot'), 20), 10],
    ['an index has no records', (under) => under.machine.fileSystem.replaceFileSync(name(99, '.index'), 'x'), 10],
  ];
  for (const [what, damage, endOffset] of damages) {
    test(`${what}: the log ends at ${endOffset} and goes on there`, async () => {
      const under = await fiveSegments();
      under.machine = under.world.crash('broker', 'everything');
      damage(under);
      await under.start();
      assert.equal(under.log.logEndOffset, endOffset);
      assert.equal(under.log.activeProducers()[0]?.lastSequence, endOffset - 1);
      const info = await under.append(['next'], { ...producer, baseSequence: endOffset });
      assert.equal(info.firstOffset, endOffset);
      await under.restart();
      const values = (await under.values()).map((value) => value.split(' ')[0]);
      assert.deepEqual(values, [...Array.from({ length: endOffset }, (_, index) => String(index)), 'next']);
    });
  }
});

test('a start that ends at any moment leaves to the next what it needs to know of aborted transactions', async () => {
  let isStarted = false;
  for (let changes = 1; !isStarted; changes++) {
    let disk: FailingDisk | undefined;
    const under = await LogUnderTest.open({ segmentBytes: 400 }, (real) => {
      disk = new FailingDisk(real);
      return disk.fileSystem;
    });
    for (let sequence = 0; sequence < 4; sequence++) await appendAborted(under, sequence);
    await under.world.advance(100);
    await under.world.run(under.manager.checkpoint());
    under.machine = under.world.crash('broker', 'everything');
    removeIndexes(under, 0);
    const starting = under.start(() => disk?.failAfter(changes));
    isStarted = await starting.then(
      () => !disk!.hasFailed,
      () => false,
    );
    under.machine.fileSystem.faults.clear();
    await under.crash('everything');
    under.log.updateHighWatermark(under.log.logEndOffset);
    for (const { baseOffset } of under.log.segments.all()) {
      const read = under.log.read(baseOffset, { maxBytes: 1000, isolation: 'lastStable', minOneBatch: true });
      assert.ok(!(read instanceof Promise));
      const aborted = read.abortedTransactions?.map(({ firstOffset }) => firstOffset);
      assert.deepEqual(aborted, [baseOffset], `ended after ${changes} changes`);
    }
  }
});

test('after a clean stop nothing is scanned, and damage that shows is mended all the same', async () => {
  const under = await fiveSegments();
  await under.restart();
  assert.equal(under.manager.startReport.scannedSegments, 0);
  await under.world.run(under.manager.close());
  resize(under, name(8, '.log'), -10);
  await under.start();
  assert.deepEqual([under.manager.startReport.isClean, under.log.logEndOffset], [true, 9]);
});

test('a start after a start leaves no old snapshots behind', async () => {
  const under = await fiveSegments();
  for (let times = 0; times < 4; times++) {
    await under.append([`${times}`], { ...producer, baseSequence: 10 + times });
    await under.restart();
  }
  const snapshots = under.files().filter((file) => file.endsWith('.snapshot'));
  const bases = under.log.segments.all().map(({ baseOffset }) => `${String(baseOffset).padStart(20, '0')}.snapshot`);
  assert.deepEqual(
    snapshots.filter((file) => !bases.includes(file)),
    [`${String(14).padStart(20, '0')}.snapshot`],
  );
});

async function appendAborted(under: LogUnderTest, sequence: number): Promise<void> {
  const value = `${sequence} ${'x'.repeat(200)}`;
  await under.append([value], { ...producer, isTransactional: true, baseSequence: sequence });
  const marker = buildControlBatch({ ...producer, type: 'abort', coordinatorEpoch: 0, timestamp: Date.UTC(2025, 0, 1) });
  await under.world.run(under.log.appendAsLeader(marker, { leaderEpoch: 0, origin: 'coordinator' }).written);
}

function resize(under: LogUnderTest, path: string, by: number): void {
  const file = under.machine.fileSystem.openSync(path, 'readWrite');
  file.truncateSync(Math.max(0, file.sizeSync() + by));
  file.closeSync();
}

function removeIndexes(under: LogUnderTest, offset: number): void {
  under.machine.fileSystem.removeSync(name(offset, '.index'));
  under.machine.fileSystem.removeSync(name(offset, '.timeindex'));
}

function damageCheckpoints(under: LogUnderTest): void {
  for (const file of ['recovery-point', 'replication', 'log-start']) {
    under.machine.fileSystem.replaceFileSync(`/data/${file}-offset-checkpoint`, 'what is this?');
  }
}
