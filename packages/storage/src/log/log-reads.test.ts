import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { errorCodes, iterateBatches, RecordBatch } from '@odradek/protocol';
import type { FetchedRecords, ReadOptions } from './log-reads.ts';
import { batch, LogUnderTest } from './open-log.fixture.ts';

const toEnd: ReadOptions = { maxBytes: 1_000_000, isolation: 'logEnd', minOneBatch: true };

/** Base offsets of the batches that were read. */
const found = ({ records }: FetchedRecords): number[] =>
  records.flatMap((bytes) => [...iterateBatches(bytes)].map(({ baseOffset }) => baseOffset));

async function read(under: LogUnderTest, offset: number, options: Partial<ReadOptions> = {}): Promise<number[]> {
  return found(await under.world.run(Promise.resolve(under.log.read(offset, { ...toEnd, ...options }))));
}

/** Ten batches of two records, of 150 bytes or a few more each. */
async function tenBatches(isInTail: boolean): Promise<LogUnderTest> {
  const under = await LogUnderTest.open();
  if (isInTail) under.log.wantTail();
  for (let index = 0; index < 10; index++) await under.append([`${index}a`, 'x'.repeat(60)]);
  under.log.updateHighWatermark(15);
  return under;
}

describe('a read', () => {
  for (const isInTail of [false, true]) {
    const where = isInTail ? 'from memory' : 'from disk';
    const cases: readonly (readonly [string, number, Partial<ReadOptions>, number[]])[] = [
      ['begins with the batch that contains the offset', 17, {}, [16, 18]],
      ['ends below the high watermark, with a whole batch', 10, { isolation: 'highWatermark' }, [10, 12]],
      ['is empty where the batch ends beyond the high watermark', 14, { isolation: 'highWatermark' }, []],
      ['is empty at the end', 20, {}, []],
      ['keeps to maxBytes', 0, { maxBytes: 460 }, [0, 2, 4]],
      ['gets one batch, however large', 3, { maxBytes: 1 }, [2]],
      ['gets none where it need not', 3, { maxBytes: 100, minOneBatch: false }, []],
      ['of nothing gets nothing', 3, { maxBytes: 0, minOneBatch: false }, []],
    ];
    for (const [what, offset, options, expected] of cases) {
      test(`${what}, ${where}`, async () => assert.deepEqual(await read(await tenBatches(isInTail), offset, options), expected));
    }
  }

  test('out of range is refused, however it is asked for', async () => {
    const under = await tenBatches(false);
    under.log.deleteRecordsBefore(5);
    for (const offset of [-1, 0, 4, 21]) {
      assert.throws(() => under.log.read(offset, toEnd), { code: errorCodes.OFFSET_OUT_OF_RANGE }, `offset ${offset}`);
    }
  });

  test('of more than memory allows gets on with less', async () => {
    const under = await LogUnderTest.open({ maxMessageBytes: 20_000_000 });
    for (let index = 0; index < 12; index++) await under.append(['x'.repeat(1_000_000)]);
    assert.deepEqual(await read(under, 0, { maxBytes: 2 ** 31 - 1 }), [0, 1, 2, 3, 4, 5, 6, 7]);
    await under.append(['y'.repeat(9_000_000)]);
    assert.deepEqual(await read(under, 12, { maxBytes: 10 }), [12], 'but a batch is never cut');
  });

  test('finds a batch that lies far behind its index entry', async () => {
    const under = await LogUnderTest.open({ indexIntervalBytes: 100_000 });
    for (let index = 0; index < 6; index++) await under.append(['x'.repeat(30_000)]);
    for (let offset = 0; offset < 6; offset++) assert.deepEqual(await read(under, offset, { maxBytes: 1 }), [offset]);
  });

  test('goes on in the next segment where compaction has emptied the end of one', async () => {
    for (const fill of [10, 100_000]) {
      const under = await LogUnderTest.open({ segmentBytes: 300_000 });
      await under.append(['x'.repeat(fill)]);
      const later = new RecordBatch(batch(['later']), 0);
      later.setBaseOffset(7);
      later.setPartitionLeaderEpoch(0);
      under.log.roll();
      await under.world.run(under.log.appendAsFollower(later.bytes()).written);
      assert.deepEqual(await read(under, 1), [7]);
      assert.deepEqual(await read(under, 5), [7]);
    }
  });
});

describe('a read that the disk takes its time for', () => {
  async function beginRead(): Promise<{ under: LogUnderTest; reading: Promise<FetchedRecords> }> {
    const under = await LogUnderTest.open({ segmentBytes: 400_000, fileDeleteDelayMs: 0 });
    for (let index = 0; index < 8; index++) await under.append(['x'.repeat(100_000)]);
    under.log.updateHighWatermark(8);
    const reading = under.log.read(0, toEnd);
    assert.ok(reading instanceof Promise);
    return { under, reading };
  }

  test('is out of range when its records have been deleted meanwhile', async () => {
    const { under, reading } = await beginRead();
    under.log.deleteRecordsBefore(6);
    await assert.rejects(under.world.run(reading), { code: errorCodes.OFFSET_OUT_OF_RANGE });
    assert.deepEqual(
      under.files().filter((name) => name.startsWith('00000000000000000000')),
      [],
      'and makes no file anew',
    );
  });

  test('sees what the log has become when it was cut off meanwhile', async () => {
    const { under, reading } = await beginRead();
    under.log.truncateTo(1);
    under.stage(['new']);
    under.log.writeStaged();
    const { records } = await under.world.run(reading);
    assert.deepEqual(
      [...iterateBatches(Buffer.concat(records))].map(({ baseOffset, sizeInBytes }) => [baseOffset, sizeInBytes > 1000]),
      [
        [0, true],
        [1, false],
      ],
    );
  });

  test('is refused when the log was closed meanwhile', async () => {
    const { under, reading } = await beginRead();
    under.manager.delete(under.log.topicPartition);
    await assert.rejects(under.world.run(reading), { code: errorCodes.NOT_LEADER_OR_FOLLOWER });
    assert.equal(under.manager.directories[0]!.isOnline, true);
  });

  test('takes the directory offline when the disk fails', async () => {
    const { under, reading } = await beginRead();
    under.machine.fileSystem.faults.add({ path: '/data', operations: ['read'] });
    await assert.rejects(under.world.run(reading), { code: errorCodes.KAFKA_STORAGE_ERROR });
    assert.equal(under.manager.directories[0]!.isOnline, false);
  });
});
