import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { buildControlBatch, buildRecordBatch, errorCodes, iterateBatches, RecordBatch } from '@odradek/protocol';
import { batch, LogUnderTest, logFolder } from './open-log.fixture.ts';

const storageError = { code: errorCodes.KAFKA_STORAGE_ERROR };
const wholeLog = { maxBytes: 1_000_000, isolation: 'logEnd', minOneBatch: true } as const;

/** Counts the calls to the disk that do this to records files. */
function countCalls(under: LogUnderTest, counted: 'write' | 'sync'): () => number {
  const { fileSystem } = under.machine;
  const { checkCall } = fileSystem;
  let count = 0;
  fileSystem.checkCall = (operation, path, life) => {
    if (operation === counted && path.endsWith('.log')) count += 1;
    checkCall.call(fileSystem, operation, path, life);
  };
  return () => count;
}

describe('appends of one turn', () => {
  test('are numbered at once, written together, and not readable before', async () => {
    const under = await LogUnderTest.open();
    const infos = [under.stage(['a', 'b']), under.stage(['c'])];
    assert.deepEqual(
      infos.map(({ firstOffset, lastOffset }) => [firstOffset, lastOffset]),
      [
        [0, 1],
        [2, 2],
      ],
    );
    assert.equal(infos[0]!.written, infos[1]!.written);
    assert.deepEqual([under.log.logEndOffset, under.log.writtenEndOffset], [3, 0]);
    const read = await under.log.read(0, wholeLog);
    assert.deepEqual(read.records, []);
    await under.world.run(infos[0]!.written);
    assert.deepEqual(await under.values(), ['a', 'b', 'c']);
  });

  test('that do not fit on the disk are refused together, and the log goes on when there is room', async () => {
    const under = await LogUnderTest.open();
    await under.append(['a']);
    const { fileSystem } = under.machine;
    fileSystem.capacityBytes = fileSystem.usedBytes + 100;
    const infos = [under.stage(['b']), under.stage(['c'.repeat(200)])];
    for (const { written } of infos) await assert.rejects(under.world.run(written), storageError);
    assert.deepEqual([under.log.logEndOffset, under.log.writtenEndOffset], [1, 1]);
    assert.equal(under.log.directory.isOnline, true);
    fileSystem.capacityBytes = 1_000_000;
    assert.equal((await under.append(['d'])).firstOffset, 1);
    assert.deepEqual(await under.values(), ['a', 'd']);
  });

  test('that do not fit on the disk leave a leader’s epoch known, though it has no record yet', async () => {
    const under = await LogUnderTest.open();
    await under.append(['a']);
    under.log.assignLeaderEpoch(6, 1);
    under.machine.fileSystem.capacityBytes = under.machine.fileSystem.usedBytes;
    const refused = [under.stage(['b'], {}, 6), under.stage(['c'], {}, 6)];
    for (const { written } of refused) await assert.rejects(under.world.run(written), { code: errorCodes.KAFKA_STORAGE_ERROR });
    assert.deepEqual(under.log.endOffsetForEpoch(5), { leaderEpoch: 0, endOffset: 1 });
    assert.deepEqual(under.log.endOffsetForEpoch(6), { leaderEpoch: 6, endOffset: 1 });
  });

  test('with a roll between them: what cannot be written fails all, and leaves no gap', async () => {
    const under = await LogUnderTest.open({ segmentBytes: 250 });
    const { fileSystem } = under.machine;
    const first = under.stage(['a']);
    fileSystem.capacityBytes = fileSystem.usedBytes + 20;
    // The second rolls, for which the first must be written.
    assert.throws(() => under.stage(['b'.repeat(150)]), storageError);
    await assert.rejects(under.world.run(first.written), storageError);
    assert.equal(under.log.logEndOffset, 0);
    fileSystem.capacityBytes = 1_000_000;
    assert.equal((await under.append(['c'])).firstOffset, 0);
    assert.deepEqual(await under.values(), ['c']);
  });

  test('a producer that is refused for want of room may send the same again', async () => {
    const under = await LogUnderTest.open();
    const producer = { producerId: 7, producerEpoch: 0 };
    await under.append(['a'], { ...producer, baseSequence: 0 });
    const { fileSystem } = under.machine;
    fileSystem.capacityBytes = fileSystem.usedBytes;
    const refused = under.stage(['b'], { ...producer, baseSequence: 1 });
    await assert.rejects(under.world.run(refused.written), storageError);
    fileSystem.capacityBytes = 1_000_000;
    const again = await under.append(['b'], { ...producer, baseSequence: 1 });
    assert.deepEqual([again.firstOffset, again.isDuplicate], [1, false]);
  });

  test('of a log that is deleted in the same turn are refused, and the disk is not to blame', async () => {
    const under = await LogUnderTest.open();
    const info = under.stage(['a']);
    under.manager.delete(under.log.topicPartition);
    await assert.rejects(under.world.run(info.written), { code: errorCodes.NOT_LEADER_OR_FOLLOWER });
    await under.world.advance(10);
    assert.equal(under.manager.directories[0]!.isOnline, true);
    assert.throws(() => under.stage(['b']), { code: errorCodes.NOT_LEADER_OR_FOLLOWER });
  });

  test('a fault of the disk takes the directory offline', async () => {
    const under = await LogUnderTest.open();
    under.machine.fileSystem.faults.add({ path: logFolder, operations: ['write'] });
    await assert.rejects(under.world.run(under.stage(['a']).written), storageError);
    assert.equal(under.log.directory.isOnline, false);
    assert.throws(() => under.stage(['b']), storageError);
    assert.throws(() => under.log.read(0, wholeLog), storageError);
  });

  test('go down in one write for a log', async () => {
    const under = await LogUnderTest.open();
    const writes = countCalls(under, 'write');
    const staged = Array.from({ length: 20 }, () => under.stage(['a']));
    await under.world.run(Promise.all(staged.map(({ written }) => written)));
    assert.equal(writes(), 1);
    assert.equal(under.log.writtenEndOffset, 20);
  });
});

describe('a batch that comes again', () => {
  const first = { producerId: 7, producerEpoch: 0, baseSequence: 0 };

  test('gets the offsets of the first time, also within the same turn and after a restart', async () => {
    const under = await LogUnderTest.open();
    const original = under.stage(['a', 'b'], first);
    const again = under.stage(['a', 'b'], first);
    assert.deepEqual([again.firstOffset, again.lastOffset, again.isDuplicate], [0, 1, true]);
    assert.equal(again.written, original.written);
    await under.world.run(again.written);
    await under.restart();
    assert.equal((await under.append(['a', 'b'], first)).isDuplicate, true);
    await under.crash('everything');
    assert.equal((await under.append(['a', 'b'], first)).isDuplicate, true);
    assert.deepEqual(await under.values(), ['a', 'b']);
  });

  test('with LogAppendTime gets the time of the first', async () => {
    const under = await LogUnderTest.open({ messageTimestampType: 'LogAppendTime' });
    const original = await under.append(['a'], first);
    await under.world.advance(1000);
    const again = await under.append(['a'], first);
    assert.deepEqual([again.isDuplicate, again.logAppendTime], [true, original.logAppendTime]);
  });
});

describe('flush.messages', () => {
  test('1: nothing is acknowledged that a power cut could take', async () => {
    const under = await LogUnderTest.open({ flushMessages: 1 });
    await under.append(['a']);
    await under.append(['b']);
    await under.crash('nothing');
    assert.deepEqual(await under.values(), ['a', 'b']);
  });

  test('concurrent appends share a flush', async () => {
    const under = await LogUnderTest.open({ flushMessages: 1 });
    const syncs = countCalls(under, 'sync');
    const waiting: Promise<void>[] = [];
    for (let turn = 0; turn < 10; turn++) {
      waiting.push(under.stage([`${turn}`]).written);
      under.log.writeStaged();
    }
    await under.world.run(Promise.all(waiting));
    assert.ok(syncs() <= 3, `${syncs()} syncs for ten appends`);
  });

  test('a failed flush takes the directory offline', async () => {
    const under = await LogUnderTest.open({ flushMessages: 1 });
    under.machine.fileSystem.faults.add({ path: logFolder, operations: ['sync'] });
    await assert.rejects(under.world.run(under.stage(['a']).written), storageError);
    assert.equal(under.log.directory.isOnline, false);
  });
});

describe('segments', () => {
  const rolls: readonly (readonly [string, Parameters<typeof LogUnderTest.open>[0], number])[] = [
    ['by size', { segmentBytes: 350 }, 6],
    ['by the timestamps of records', { segmentMs: 2500 }, 4],
    ['by a full index', { segmentIndexBytes: 24, indexIntervalBytes: 0 }, 6],
    ['not at all', {}, 1],
  ];
  for (const [what, config, count] of rolls) {
    test(`roll ${what}, and are read as one log`, async () => {
      const under = await LogUnderTest.open(config);
      const values = Array.from({ length: 12 }, (_, index) => `value ${index} ${'x'.repeat(60)}`);
      for (const [index, value] of values.entries()) await under.append([value], {}, index * 1000);
      assert.equal(under.log.segments.count, count);
      assert.deepEqual(await under.values(), values);
      await under.restart();
      assert.equal(under.log.segments.count, count);
      assert.deepEqual(await under.values(), values);
    });
  }

  test('do not end at once where segment.jitter.ms is longer than they last', async () => {
    const under = await LogUnderTest.open({ segmentMs: 2500, segmentJitterMs: 2 ** 40 });
    for (let count = 0; count < 5; count++) await under.append(['v']);
    under.log.updateConfig({ ...under.log.config, segmentMs: 1000 });
    for (let count = 0; count < 5; count++) await under.append(['v']);
    assert.equal(under.log.segments.count, 1);
  });

  test('a gap that no relative offset can express begins a new segment behind it', async () => {
    const under = await LogUnderTest.open();
    await under.append(['a']);
    const far = new RecordBatch(batch(['far']), 0);
    far.setBaseOffset(2 ** 33);
    far.setPartitionLeaderEpoch(0);
    await under.world.run(under.log.appendAsFollower(far.bytes()).written);
    assert.deepEqual(
      under.log.segments.all().map(({ baseOffset }) => baseOffset),
      [0, 2 ** 33],
    );
    assert.deepEqual(await under.values(), ['a', 'far']);
  });
});

describe('a follower', () => {
  function fromLeader(offset: number, values: readonly string[], leaderEpoch = 0): Buffer {
    const sent = new RecordBatch(batch(values), 0);
    sent.setBaseOffset(offset);
    sent.setPartitionLeaderEpoch(leaderEpoch);
    return sent.bytes();
  }

  test('keeps offsets, gaps and epochs of its leader', async () => {
    const under = await LogUnderTest.open();
    const info = under.log.appendAsFollower(Buffer.concat([fromLeader(3, ['a', 'b'], 1), fromLeader(9, ['c'], 4)]));
    await under.world.run(info.written);
    assert.deepEqual([info.firstOffset, info.lastOffset, under.log.logEndOffset], [3, 9, 10]);
    assert.deepEqual(
      [3, 4, 9].map((offset) => under.log.epochForOffset(offset)),
      [1, 1, 4],
    );
    assert.deepEqual(await under.values(), ['a', 'b', 'c']);
  });

  test('takes no batch that lies before its end', async () => {
    const under = await LogUnderTest.open();
    await under.append(['a', 'b']);
    assert.throws(() => under.log.appendAsFollower(fromLeader(1, ['x', 'y'])), /lies before the log's end/);
    assert.throws(() => under.log.appendAsFollower(fromLeader(0, ['x'])), /lies before the log's end/);
  });

  test('whose log starts within the leader’s first batch takes that batch whole', async () => {
    const under = await LogUnderTest.open();
    under.log.truncateFullyAndStartAt(12);
    await under.world.run(under.log.appendAsFollower(fromLeader(10, ['a', 'b', 'c', 'd'])).written);
    assert.deepEqual([under.log.logStartOffset, under.log.logEndOffset], [12, 14]);
    assert.deepEqual(await under.values(), ['c', 'd']);
    await under.restart();
    assert.deepEqual([under.log.logStartOffset, under.log.logEndOffset], [12, 14]);
  });

  test('refuses a damaged batch', async () => {
    const under = await LogUnderTest.open();
    const bytes = fromLeader(0, ['a']);
    bytes[bytes.length - 1]! ^= 1;
    assert.throws(() => under.log.appendAsFollower(bytes), { code: errorCodes.CORRUPT_MESSAGE });
  });
});

describe('truncation', () => {
  test('takes away the batch that contains the offset, producers and epochs with it, wherever the bytes are', async () => {
    for (const isInTail of [false, true]) {
      const under = await LogUnderTest.open({ segmentBytes: 400 });
      if (isInTail) under.log.wantTail();
      const producer = { producerId: 7, producerEpoch: 0 };
      for (let index = 0; index < 6; index++) {
        under.stage([`${index}a`, `${index}b`], { ...producer, baseSequence: index * 2 }, index);
        under.log.writeStaged();
      }
      under.log.truncateTo(7);
      assert.deepEqual([under.log.logEndOffset, under.log.latestEpoch], [6, 2]);
      assert.equal(under.log.activeProducers()[0]?.lastSequence, 5);
      assert.deepEqual(await under.values(), ['0a', '0b', '1a', '1b', '2a', '2b']);
      await under.append(['3c'], { ...producer, baseSequence: 6 });
      assert.deepEqual(await under.values(6), ['3c']);
    }
  });

  test('fully: the next record gets the offset, and so it is after a restart', async () => {
    for (const end of ['clean', 'nothing', 'everything'] as const) {
      const under = await LogUnderTest.open();
      await under.append(['a', 'b']);
      under.log.truncateFullyAndStartAt(1000);
      await under.world.run(under.log.flush());
      if (end === 'clean') await under.restart();
      else await under.crash(end);
      assert.deepEqual([under.log.logStartOffset, under.log.logEndOffset], [1000, 1000], end);
      assert.equal((await under.append(['c'])).firstOffset, 1000);
    }
  });
});

describe('deleted records', () => {
  test('are out of range at once, their segments go, and the batch that contains the start stays whole', async () => {
    const under = await LogUnderTest.open({ segmentBytes: 250, fileDeleteDelayMs: 1000 });
    for (let index = 0; index < 10; index++) await under.append([`${index}a`, `${index}b`]);
    assert.throws(() => under.log.deleteRecordsBefore(1), { code: errorCodes.OFFSET_OUT_OF_RANGE });
    under.log.updateHighWatermark(20);
    under.log.deleteRecordsBefore(13);
    assert.throws(() => under.log.read(12, wholeLog), { code: errorCodes.OFFSET_OUT_OF_RANGE });
    const { records } = await under.log.read(13, wholeLog);
    assert.equal([...iterateBatches(Buffer.concat(records))][0]!.baseOffset, 12);
    assert.deepEqual((await under.values()).slice(0, 2), ['6b', '7a']);
    assert.ok(under.files().some((name) => name.endsWith('.deleted')));
    await under.world.advance(2000);
    assert.ok(!under.files().some((name) => name.endsWith('.deleted')));
    await under.restart();
    assert.equal(under.log.logStartOffset, 13);
  });

  test('all of them: the log is empty and goes on where it was', async () => {
    const under = await LogUnderTest.open();
    await under.append(['a', 'b', 'c']);
    under.log.updateHighWatermark(3);
    under.log.deleteRecordsBefore(3);
    assert.equal(under.log.offsetForTimestamp(0), undefined);
    await under.restart();
    assert.deepEqual([under.log.logStartOffset, under.log.logEndOffset], [3, 3]);
    assert.equal((await under.append(['d'])).firstOffset, 3);
  });
});

test('transactions bound what committed readers see, and the aborted are named', async () => {
  const under = await LogUnderTest.open();
  const { log } = under;
  const one = { producerId: 1, producerEpoch: 0, isTransactional: true };
  const two = { producerId: 2, producerEpoch: 0, isTransactional: true };
  await under.append(['1a'], { ...one, baseSequence: 0 });
  await under.append(['2a'], { ...two, baseSequence: 0 });
  const end = async (type: 'commit' | 'abort', producerId: number, coordinatorEpoch = 3): Promise<void> => {
    const marker = buildControlBatch({ type, producerId, producerEpoch: 0, coordinatorEpoch, timestamp: 1 });
    await under.world.run(log.appendAsLeader(marker, { leaderEpoch: 0, origin: 'coordinator' }).written);
    log.updateHighWatermark(log.logEndOffset);
  };
  await end('abort', 1);
  assert.deepEqual([log.highWatermark, log.lastStableOffset], [3, 1]);
  await assert.rejects(
    end('commit', 2, 2).then(() => end('commit', 2, 1)),
    { code: errorCodes.TRANSACTION_COORDINATOR_FENCED },
  );
  assert.equal(log.lastStableOffset, 4);
  for (const isReopened of [false, true]) {
    if (isReopened) await under.restart();
    under.log.updateHighWatermark(4);
    const read = await under.log.read(0, { ...wholeLog, isolation: 'lastStable' });
    assert.deepEqual(read.abortedTransactions, [{ producerId: 1, firstOffset: 0 }]);
    const later = await under.log.read(3, { ...wholeLog, isolation: 'lastStable' });
    assert.deepEqual(later.abortedTransactions, []);
  }
});

test('an offset for a time is that of the first record at or after it, whatever the order and the codec', async () => {
  for (const compression of ['none', 'gzip'] as const) {
    const under = await LogUnderTest.open({ indexIntervalBytes: 0, messageTimestampAfterMaxMs: Number.MAX_SAFE_INTEGER });
    const timestamps = [9, 2, 7, 30, 12];
    for (const timestamp of timestamps) {
      const records = buildRecordBatch({ compression }, [{ timestamp, value: Buffer.from('v') }]);
      await under.world.run(under.log.appendAsLeader(records, { leaderEpoch: 3, origin: 'client' }).written);
    }
    for (const [asked, offset] of [
      [0, 0],
      [9, 0],
      [10, 3],
      [30, 3],
    ] as const) {
      assert.deepEqual(under.log.offsetForTimestamp(asked), { timestamp: timestamps[offset], offset, leaderEpoch: 3 });
    }
    assert.equal(under.log.offsetForTimestamp(31), undefined);
    assert.equal(under.log.offsetOfMaxTimestamp()?.offset, 3);
    under.log.updateHighWatermark(5);
    under.log.deleteRecordsBefore(4);
    assert.equal(under.log.offsetForTimestamp(0)?.offset, 4);
    assert.equal(under.log.offsetForTimestamp(13), undefined);
    // As Kafka 4.4 answers: the largest timestamp may be that of a record that cannot be read any more.
    assert.equal(under.log.offsetOfMaxTimestamp()?.offset, 3);
  }
});
