import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SimulatedDisk } from '@odradek/testing';
import { CountedReads } from './counted-reads.fixture.ts';
import { FilePool } from './file-pool.ts';
import { OffsetIndex } from './offset-index.ts';
import { TimeIndex } from './time-index.ts';
import { TransactionIndex } from './transaction-index.ts';

const baseOffset = 1000;

function offsetIndex(disk: SimulatedDisk, isNew = false, maxBytes = 10_000): OffsetIndex {
  return new OffsetIndex(new FilePool(disk, 2), '/index', { baseOffset, maxBytes, isNew });
}

function timeIndex(disk: SimulatedDisk, isNew = false, maxBytes = 10_000): TimeIndex {
  return new TimeIndex(new FilePool(disk, 2), '/timeindex', { baseOffset, maxBytes, isNew });
}

describe('an offset index', () => {
  test('leads to the last entry at or before an offset, in the file as in memory', () => {
    const disk = new SimulatedDisk();
    const index = offsetIndex(disk, true);
    assert.deepEqual(index.lookup(1005), { offset: 1000, position: 0 });
    for (let entry = 1; entry <= 100; entry++) index.append(1000 + entry * 10, entry * 500);
    for (const opened of [index, (index.write(), offsetIndex(disk))]) {
      assert.equal(opened.entryCount, 100);
      assert.deepEqual(opened.lookup(1009), { offset: 1000, position: 0 });
      assert.deepEqual(opened.lookup(1010), { offset: 1010, position: 500 });
      assert.deepEqual(opened.lookup(1509), { offset: 1500, position: 25_000 });
      assert.deepEqual(opened.lookup(99_999), { offset: 2000, position: 50_000 });
      assert.deepEqual(opened.lastEntry, { offset: 2000, position: 50_000 });
    }
    assert.equal(disk.statSync('/index')?.size, 800);
  });

  test('finds every entry, however many of them are in the file and in memory', () => {
    for (const [inFile, inMemory] of [
      [0, 40],
      [1, 0],
      [511, 3],
      [512, 0],
      [513, 1],
      [3000, 63],
    ] as const) {
      const index = offsetIndex(new SimulatedDisk(), true, 100_000);
      for (let entry = 1; entry <= inFile + inMemory; entry++) {
        index.append(baseOffset + entry * 2, entry * 500);
        if (entry === inFile) index.write();
      }
      for (let offset = baseOffset; offset <= baseOffset + 2 * (inFile + inMemory) + 3; offset++) {
        const entry = Math.min(Math.floor((offset - baseOffset) / 2), inFile + inMemory);
        const expected = { offset: baseOffset + entry * 2, position: entry * 500 };
        assert.deepEqual(index.lookup(offset), expected, `${inFile} in the file, ${inMemory} in memory`);
      }
    }
  });

  test('a search reads the disk a few times only', () => {
    const disk = new SimulatedDisk();
    const index = offsetIndex(disk, true, 1_000_000);
    const entryCount = 65_536;
    for (let entry = 1; entry <= entryCount; entry++) index.append(baseOffset + entry, entry * 500);
    index.write();
    const reads = new CountedReads(disk);
    const opened = new OffsetIndex(new FilePool(reads.fileSystem, 2), '/index', { baseOffset, maxBytes: 1_000_000, isNew: false });
    opened.lookup(baseOffset);
    for (const offset of [1, 4711, 40_000, entryCount]) {
      reads.count = 0;
      assert.equal(opened.lookup(baseOffset + offset).position, offset * 500);
      // 128 blocks: halved seven times or eight, and then one is read.
      assert.ok(reads.count <= 9, `${reads.count} reads for ${offset}`);
    }
  });

  test('is cut off before an offset, in memory and in the file', () => {
    for (const written of [0, 3, 10]) {
      for (let kept = 0; kept <= 10; kept++) {
        const disk = new SimulatedDisk();
        const index = offsetIndex(disk, true);
        for (let entry = 1; entry <= 10; entry++) {
          index.append(1000 + entry * 10, entry * 500);
          if (entry === written) index.write();
        }
        index.truncateTo(1000 + (kept + 1) * 10);
        assert.equal(index.entryCount, kept, `${written} written, ${kept} kept`);
        index.append(3000, 9999);
        index.write();
        assert.deepEqual(offsetIndex(disk).lastEntry, { offset: 3000, position: 9999 });
        assert.equal(offsetIndex(disk).entryCount, kept + 1);
      }
    }
  });

  test('the zeros of a preallocated file are no entries, nor is half an entry', () => {
    const disk = new SimulatedDisk();
    const file = Buffer.alloc(1003);
    file.writeInt32BE(7, 0);
    file.writeInt32BE(400, 4);
    file.writeInt32BE(9, 8);
    file.writeInt32BE(800, 12);
    disk.replaceFileSync('/index', file);
    const index = offsetIndex(disk);
    assert.equal(index.entryCount, 2);
    index.append(1011, 1200);
    index.write();
    assert.equal(disk.statSync('/index')?.size, 24);
  });

  test('is full at its size', () => {
    const index = offsetIndex(new SimulatedDisk(), true, 20);
    index.append(1001, 1);
    assert.equal(index.isFull, false);
    index.append(1002, 2);
    assert.equal(index.isFull, true);
  });

  test('what did not fit on the disk is written later', () => {
    const disk = new SimulatedDisk();
    const index = offsetIndex(disk, true);
    index.append(1001, 1);
    disk.capacityBytes = 3;
    assert.throws(() => index.write(), { code: 'ENOSPC' });
    assert.equal(disk.statSync('/index')?.size, 0);
    disk.capacityBytes = 1000;
    index.append(1002, 2);
    index.write();
    assert.equal(offsetIndex(disk).entryCount, 2);
  });
});

describe('a time index', () => {
  test('takes only later timestamps, and keeps room for its last entry', () => {
    const disk = new SimulatedDisk();
    const index = timeIndex(disk, true, 36);
    index.maybeAppend(-1, 1000);
    index.maybeAppend(0, 1000);
    index.maybeAppend(5000, 1002);
    index.maybeAppend(5000, 1003);
    index.maybeAppend(4000, 1004);
    assert.equal(index.entryCount, 2);
    assert.equal(index.isFull, true);
    index.maybeAppend(2 ** 40 + 3, 1005);
    index.write();
    assert.deepEqual(timeIndex(disk).lastEntry, { timestamp: 2 ** 40 + 3, offset: 1005 });
  });

  test('leads to where the search for a timestamp begins', () => {
    const index = timeIndex(new SimulatedDisk(), true);
    for (const [timestamp, offset] of [
      [100, 1002],
      [300, 1005],
      [500, 1009],
    ] as const)
      index.maybeAppend(timestamp, offset);
    const offsets = [99, 100, 299, 300, 499, 9999].map((timestamp) => index.lookup(timestamp).offset);
    assert.deepEqual(offsets, [1000, 1002, 1002, 1005, 1005, 1009]);
    index.truncateTo(1005);
    assert.deepEqual(index.lastEntry, { timestamp: 100, offset: 1002 });
  });
});

describe('a transaction index', () => {
  const pool = (disk: SimulatedDisk): FilePool => new FilePool(disk);
  const aborted = (producerId: number, lastOffset: number) => ({
    producerId,
    firstOffset: 1000,
    lastOffset,
    lastStableOffset: 1001,
  });

  test('keeps its entries through a write and a cut', () => {
    const disk = new SimulatedDisk();
    const index = new TransactionIndex(pool(disk), '/txnindex', true);
    index.write();
    assert.equal(disk.statSync('/txnindex'), undefined, 'without aborted transactions there is no file');
    index.append(aborted(1, 1005));
    index.append(aborted(2, 1008));
    index.write();
    index.append(aborted(3, 1012));
    index.truncateTo(1008);
    index.append(aborted(4, 1020));
    index.write();
    assert.deepEqual(new TransactionIndex(pool(disk), '/txnindex', false).entries, [aborted(1, 1005), aborted(4, 1020)]);
    assert.throws(() => index.append(aborted(5, 1020)), /must ascend/);
  });

  test('says whether its file makes sense', () => {
    const disk = new SimulatedDisk();
    const index = new TransactionIndex(pool(disk), '/txnindex', true);
    index.append(aborted(1, 1005));
    index.write();
    const bytes = disk.readFileSync('/txnindex');
    const isSane = (content: Buffer): boolean => {
      disk.replaceFileSync('/txnindex', content);
      return new TransactionIndex(pool(disk), '/txnindex', false).isSane(1000);
    };
    assert.equal(isSane(bytes), true);
    assert.equal(isSane(bytes.subarray(0, 33)), false);
    assert.equal(isSane(Buffer.alloc(34)), false);
  });
});
