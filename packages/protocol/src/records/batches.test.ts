import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildRecordBatch } from './batch-builder.ts';
import { batchSizeAt, firstBatchOf, iterateBatches, lastBatchOf, recordBatchesIn } from './batches.ts';
import { LegacyBatch } from './legacy-batch.ts';
import { buildLegacyBatch } from './legacy-builder.ts';
import { RecordBatch } from './record-batch.ts';
import { CorruptRecordError } from './record-errors.ts';

const value = Buffer.from('value');
const old = buildLegacyBatch({ magic: 0, baseOffset: 1 }, [{ value }, { value }]);
const middle = buildLegacyBatch({ magic: 1, baseOffset: 3, compression: 'gzip' }, [{ value }, { value }]);
const recent = buildRecordBatch({ baseOffset: 5 }, [{ value }]);
const all = Buffer.concat([old, middle, recent]);

test('cuts batches of all formats that follow each other', () => {
  const batches = [...iterateBatches(all)];
  assert.deepEqual(
    batches.map((batch) => [batch.magic, batch.baseOffset, batch.lastOffset]),
    [
      [0, 1, 1],
      [0, 2, 2],
      [1, 3, 4],
      [2, 5, 5],
    ],
  );
  assert.deepEqual(Buffer.concat(batches.map((batch) => batch.bytes())), all);
  assert.ok(firstBatchOf(all) instanceof LegacyBatch);
  assert.ok(lastBatchOf(all) instanceof RecordBatch);
});

test('a short tail ends the walk and is not counted', () => {
  for (let length = 0; length < recent.length; length++) {
    const cut = Buffer.concat([old, middle, recent.subarray(0, length)]);
    assert.deepEqual(recordBatchesIn(cut), { count: 3, validBytes: old.length + middle.length, lastPosition: old.length });
    assert.equal(lastBatchOf(cut)?.magic, 1);
  }
  assert.equal(firstBatchOf(Buffer.alloc(0)), null);
  assert.equal(lastBatchOf(recent.subarray(0, 60)), null);
});

test('the end of the walk may lie within the buffer', () => {
  assert.equal(recordBatchesIn(all, 0, all.length - 1).count, 3);
  assert.equal(recordBatchesIn(all, old.length).count, 2);
});

test('refuses what no batch begins with', async (t) => {
  const cases: readonly (readonly [string, (bytes: Buffer) => void])[] = [
    ['a length below that of any format', (bytes) => bytes.writeInt32BE(13, 8)],
    ['a negative length', (bytes) => bytes.writeInt32BE(-1, 8)],
    ['the largest length', (bytes) => bytes.writeInt32BE(0x7fffffff, 8)],
    ['magic 3', (bytes) => bytes.writeInt8(3, 16)],
    ['magic -1', (bytes) => bytes.writeInt8(-1, 16)],
  ];
  for (const [name, damage] of cases) {
    await t.test(name, () => {
      const bytes = Buffer.from(recent);
      damage(bytes);
      assert.throws(() => batchSizeAt(bytes, 0), CorruptRecordError);
      assert.throws(() => recordBatchesIn(Buffer.concat([old, bytes])), CorruptRecordError);
    });
  }
});
