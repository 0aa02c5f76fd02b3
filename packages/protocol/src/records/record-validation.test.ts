import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { arbitraryRecords, shifted } from './arbitrary-records.fixture.ts';
import { buildEmptyBatch, buildRecordBatch } from './batch-builder.ts';
import { iterateBatches } from './batches.ts';
import { compress, compressionTypes } from './compression.ts';
import { crc32 } from './crc32c.ts';
import { LegacyBatch } from './legacy-batch.ts';
import { buildLegacyBatch } from './legacy-builder.ts';
import { RecordBatch } from './record-batch.ts';
import { CorruptRecordError, DecompressionError, InvalidRecordError } from './record-errors.ts';
import { countRecords, validateRecords } from './record-validation.ts';

const key = Buffer.from('k');
const records = [
  { timestamp: 20, key },
  { timestamp: 30, key: null },
  { timestamp: 10, key },
  { timestamp: 30, key: null },
];

test('says of the records what a log must know', () => {
  const expected = {
    recordCount: 4,
    hasConsecutiveOffsets: true,
    maxTimestamp: 30,
    offsetOfMaxTimestamp: 101,
    minTimestamp: 10,
    keylessCount: 2,
    firstKeyless: 1,
  };
  for (const compression of compressionTypes) {
    const { recordBytes, ...summary } = validateRecords(
      new RecordBatch(buildRecordBatch({ baseOffset: 100, compression }, records)),
    );
    assert.deepEqual(summary, expected, compression);
    assert.ok(recordBytes > 4 * 7);
  }
  const wrapper = new LegacyBatch(buildLegacyBatch({ magic: 1, baseOffset: 100, compression: 'gzip' }, records));
  const { recordBytes, ...summary } = validateRecords(wrapper);
  assert.deepEqual(summary, expected);
  assert.equal(recordBytes, 4 * 34 + 2);
});

test('a gap between offsets is told', () => {
  const bytes = buildRecordBatch({ baseOffset: 5 }, [{ offset: 5 }, { offset: 7 }]);
  assert.equal(validateRecords(new RecordBatch(bytes)).hasConsecutiveOffsets, false);
  assert.equal(validateRecords(new RecordBatch(buildRecordBatch({ baseOffset: 5 }, [{ offset: 6 }]))).hasConsecutiveOffsets, false);
});

test('LogAppendTime is the timestamp of every record', () => {
  const bytes = buildRecordBatch({ baseOffset: 5, timestampType: 'LogAppendTime', logAppendTime: 99 }, records);
  const summary = validateRecords(new RecordBatch(bytes));
  assert.equal(summary.maxTimestamp, 99);
  assert.equal(summary.minTimestamp, 99);
  assert.equal(summary.offsetOfMaxTimestamp, 5);
});

test('records without timestamp have no maximum', () => {
  const summary = validateRecords(new RecordBatch(buildRecordBatch({ baseOffset: 5 }, [{ key }, { key }])));
  assert.equal(summary.maxTimestamp, -1);
  assert.equal(summary.offsetOfMaxTimestamp, -1);
  assert.equal(summary.firstKeyless, -1);
});

test('a header without records is valid', () => {
  const batch = new RecordBatch(buildEmptyBatch({ lastOffset: 9, maxTimestamp: 5 }));
  assert.equal(validateRecords(batch).recordCount, 0);
  assert.equal(countRecords(batch), 0);
});

test('the bound on decompression holds', () => {
  const bytes = buildRecordBatch({ compression: 'zstd' }, [{ value: Buffer.alloc(100_000) }]);
  assert.throws(() => validateRecords(new RecordBatch(bytes), 99_999), /more than the 99999 bytes allowed/);
});

test('a wrong checksum of a wrapped message is found', () => {
  const inner = buildLegacyBatch({ magic: 1 }, [{ key, value: key }]);
  inner[12]! ^= 1;
  const bytes = buildLegacyBatch({ magic: 1 }, [{ value: compress('gzip', inner) }]);
  bytes[17] = 1;
  bytes.writeUInt32BE(crc32(bytes, 16), 12);
  const batch = new LegacyBatch(bytes);
  batch.ensureValid();
  assert.throws(() => validateRecords(batch), /wrong checksum/);
});

test('agrees with reading the records', () => {
  fc.assert(
    fc.property(arbitraryRecords, fc.constantFrom(...compressionTypes), (relative, compression) => {
      const batch = new RecordBatch(buildRecordBatch({ baseOffset: 77, compression }, shifted(relative, 77)));
      const read = [...batch.records()];
      const summary = validateRecords(batch);
      assert.equal(summary.recordCount, read.length);
      assert.equal(summary.maxTimestamp, Math.max(...read.map((record) => record.timestamp)));
      assert.equal(summary.minTimestamp, Math.min(...read.map((record) => record.timestamp)));
      assert.equal(summary.keylessCount, read.filter((record) => record.key === null).length);
      assert.equal(
        summary.hasConsecutiveOffsets,
        read.every((record, index) => record.offset === 77 + index),
      );
      assert.equal(countRecords(batch), read.length);
    }),
  );
});

test('damaged bytes of any format only ever fail with our errors', () => {
  const batches = [0, 1, 2].flatMap((magic) =>
    compressionTypes
      .filter((compression) => magic === 2 || compression !== 'zstd')
      .map((compression) =>
        magic === 2
          ? buildRecordBatch({ compression, producerId: 1, producerEpoch: 1, baseSequence: 0 }, [
              { key, value: key, headers: [{ key: 'h', value: key }] },
              ...records,
            ])
          : buildLegacyBatch({ magic: magic === 0 ? 0 : 1, compression }, records),
      ),
  );
  const changes = fc.array(fc.tuple(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), fc.nat(255)), {
    minLength: 1,
    maxLength: 5,
  });
  fc.assert(
    fc.property(fc.constantFrom(...batches), changes, fc.nat(30), (original, mutations, cut) => {
      const bytes = Buffer.from(original.subarray(0, cut < 10 ? original.length - cut : original.length));
      for (const [place, byte] of mutations) bytes[Math.floor(place * bytes.length)] = byte;
      try {
        for (const batch of iterateBatches(bytes)) {
          batch.isCrcValid();
          const read = [...batch.records(1_000_000)].length;
          assert.equal(validateRecords(batch, 1_000_000).recordCount, read);
        }
      } catch (error) {
        const isExpected = [CorruptRecordError, InvalidRecordError, DecompressionError].some((each) => error instanceof each);
        assert.ok(isExpected, String(error));
      }
    }),
    { numRuns: 4000 },
  );
});
