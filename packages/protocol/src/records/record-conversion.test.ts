import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { arbitraryRecords, shifted } from './arbitrary-records.fixture.ts';
import { buildRecordBatch } from './batch-builder.ts';
import { iterateBatches } from './batches.ts';
import { buildControlBatch } from './control-record.ts';
import { buildLegacyBatch } from './legacy-builder.ts';
import { RecordBatch } from './record-batch.ts';
import { convertRecords, needsConversion, rebuildRecords } from './record-conversion.ts';
import { UnsupportedCompressionTypeError } from './record-errors.ts';

const value = Buffer.from('value');
const records = [
  { timestamp: 100, value, headers: [{ key: 'h', value }] },
  { timestamp: 102, key: value, value },
  { timestamp: 101, value: null },
];

function offsetsIn(bytes: Buffer): number[] {
  return [...iterateBatches(bytes)].flatMap((batch) => [...batch.records()].map((record) => record.offset));
}

test('down-conversion keeps offsets, timestamps, keys and values, and drops headers', () => {
  fc.assert(
    fc.property(
      arbitraryRecords,
      fc.constantFrom('none' as const, 'gzip' as const, 'snappy' as const, 'lz4' as const),
      fc.constantFrom(0 as const, 1 as const),
      (relative, compression, magic) => {
        const sent = shifted(relative, 50);
        const converted = convertRecords(buildRecordBatch({ baseOffset: 50, compression }, sent), magic, 0);
        const batches = [...iterateBatches(converted)];
        for (const batch of batches) {
          batch.ensureValid();
          assert.equal(batch.magic, magic);
          assert.equal(batch.compression, compression);
        }
        assert.deepEqual(
          batches.flatMap((batch) => [...batch.records()]),
          sent.map(({ offset, timestamp, key, value }) => ({
            offset,
            timestamp: magic === 0 ? -1 : timestamp,
            key,
            value,
            headers: [],
            sequence: -1,
          })),
        );
      },
    ),
    { numRuns: 100 },
  );
});

test('records below the first offset wanted are left out of uncompressed batches only', () => {
  const plain = buildRecordBatch({ baseOffset: 10 }, records);
  const compressed = buildRecordBatch({ baseOffset: 10, compression: 'gzip' }, records);
  assert.deepEqual(offsetsIn(convertRecords(plain, 1, 11)), [11, 12]);
  assert.deepEqual(offsetsIn(convertRecords(compressed, 1, 11)), [10, 11, 12]);
  assert.equal(convertRecords(plain, 1, 13).length, 0);
});

test('control batches are left out', () => {
  const marker = buildControlBatch({
    type: 'commit',
    producerId: 1,
    producerEpoch: 0,
    coordinatorEpoch: 0,
    timestamp: 5,
    baseOffset: 13,
  });
  const bytes = Buffer.concat([
    buildRecordBatch({ baseOffset: 10 }, records),
    marker,
    buildRecordBatch({ baseOffset: 14 }, records),
  ]);
  assert.deepEqual(offsetsIn(convertRecords(bytes, 1, 0)), [10, 11, 12, 14, 15, 16]);
  assert.equal(convertRecords(marker, 1, 0).length, 0);
});

test('LogAppendTime stays', () => {
  const bytes = buildRecordBatch({ baseOffset: 10, timestampType: 'LogAppendTime', logAppendTime: 555 }, records);
  for (const batch of iterateBatches(convertRecords(bytes, 1, 0))) {
    assert.equal(batch.timestampType, 'LogAppendTime');
    assert.equal(batch.maxTimestamp, 555);
  }
});

test('what is old enough stays as it is, byte for byte', () => {
  const bytes = Buffer.concat([
    buildLegacyBatch({ magic: 0, baseOffset: 3 }, records),
    buildLegacyBatch({ magic: 1, baseOffset: 6, compression: 'lz4' }, records),
  ]);
  assert.deepEqual(convertRecords(bytes, 1, 0), bytes);
  assert.equal(needsConversion(bytes, 1), false);
  assert.equal(needsConversion(bytes, 0), true);
  assert.deepEqual(offsetsIn(convertRecords(bytes, 0, 0)), [3, 4, 5, 6, 7, 8]);
  const recent = buildRecordBatch({ compression: 'zstd' }, records);
  assert.deepEqual(convertRecords(recent, 2, 0), recent);
});

test('zstd cannot be down-converted', () => {
  const bytes = buildRecordBatch({ compression: 'zstd' }, records);
  assert.throws(() => convertRecords(bytes, 1, 0), UnsupportedCompressionTypeError);
});

test('what lies before a batch of zstd is converted all the same', () => {
  const before = [3, 6].map((baseOffset) => buildRecordBatch({ baseOffset }, records));
  const bytes = Buffer.concat([...before, buildRecordBatch({ baseOffset: 9, compression: 'zstd' }, records)]);
  assert.deepEqual(offsetsIn(convertRecords(bytes, 1, 0)), [3, 4, 5, 6, 7, 8]);
  assert.throws(() => convertRecords(bytes, 1, 9), UnsupportedCompressionTypeError, 'nothing of the batches before it is wanted');
});

const rebuilding = { baseOffset: 1000, compression: 'none', timestampType: 'CreateTime', partitionLeaderEpoch: 4 } as const;

test('messages of old producers become one batch with the offsets of the log', () => {
  for (const magic of [0, 1] as const) {
    for (const compression of ['none', 'gzip', 'snappy', 'lz4'] as const) {
      const bytes = rebuildRecords(buildLegacyBatch({ magic, compression }, records), { ...rebuilding, compression });
      const [batch, ...others] = [...iterateBatches(bytes)];
      assert.ok(batch instanceof RecordBatch);
      assert.equal(others.length, 0);
      batch.ensureValid();
      assert.equal(batch.compression, compression);
      assert.equal(batch.partitionLeaderEpoch, 4);
      assert.equal(batch.hasProducerId, false);
      assert.deepEqual(
        [...batch.records()].map(({ offset, timestamp, value }) => [offset, timestamp, value]),
        records.map(({ timestamp, value }, index) => [1000 + index, magic === 0 ? -1 : timestamp, value]),
      );
    }
  }
});

test('compressing anew keeps the producer, the headers and the sequence', () => {
  const producer = { producerId: 9, producerEpoch: 2, baseSequence: 17, isTransactional: true };
  const original = buildRecordBatch({ ...producer, compression: 'gzip' }, records);
  const batch = new RecordBatch(rebuildRecords(original, { ...rebuilding, compression: 'zstd', compressionLevel: 5 }));
  assert.equal(batch.compression, 'zstd');
  assert.deepEqual(
    {
      producerId: batch.producerId,
      producerEpoch: batch.producerEpoch,
      baseSequence: batch.baseSequence,
      isTransactional: batch.isTransactional,
    },
    producer,
  );
  assert.deepEqual([...batch.records()][0]?.headers, records[0]?.headers);
});

test('magic 0 becomes magic 1 where that is asked for', () => {
  const bytes = rebuildRecords(buildLegacyBatch({ magic: 0 }, records), {
    ...rebuilding,
    toMagic: 1,
    timestampType: 'LogAppendTime',
    logAppendTime: 77,
  });
  const batches = [...iterateBatches(bytes)];
  assert.deepEqual(
    batches.map((batch) => [batch.magic, batch.baseOffset, batch.maxTimestamp, batch.timestampType]),
    [0, 1, 2].map((index) => [1, 1000 + index, 77, 'LogAppendTime']),
  );
});
