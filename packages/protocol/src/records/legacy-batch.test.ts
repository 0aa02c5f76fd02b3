import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { arbitraryRecords, shifted } from './arbitrary-records.fixture.ts';
import { iterateBatches } from './batches.ts';
import { compress } from './compression.ts';
import { crc32 } from './crc32c.ts';
import { LegacyBatch, type LegacyMagic } from './legacy-batch.ts';
import { buildLegacyBatch } from './legacy-builder.ts';
import { CorruptRecordError, DecompressionError, InvalidRecordError, UnsupportedCompressionTypeError } from './record-errors.ts';

const records = [
  { offset: 10, timestamp: 1700000000002, key: Buffer.from('k0'), value: Buffer.from('v0') },
  { offset: 12, timestamp: 1700000000003, key: null, value: Buffer.from('v1') },
  { offset: 15, timestamp: 1700000000001, key: Buffer.from('k2'), value: null },
];

function recordsIn(bytes: Buffer) {
  return [...iterateBatches(bytes)].flatMap((batch) => {
    batch.ensureValid();
    return [...batch.records()];
  });
}

test('random records come back in both formats through every codec they have', () => {
  fc.assert(
    fc.property(
      arbitraryRecords,
      fc.constantFrom(0 as const, 1 as const),
      fc.constantFrom('none' as const, 'gzip' as const, 'snappy' as const, 'lz4' as const),
      fc.nat(2 ** 40),
      (relative, magic, compression, baseOffset) => {
        const sent = shifted(relative, baseOffset + 1);
        const bytes = buildLegacyBatch({ magic, compression, baseOffset: baseOffset + 1 }, sent);
        const expected = sent.map(({ offset, timestamp, key, value }) => ({
          offset,
          timestamp: magic === 0 ? -1 : timestamp,
          key,
          value,
          headers: [],
          sequence: -1,
        }));
        assert.deepEqual(recordsIn(bytes), expected);
      },
    ),
    { numRuns: 200 },
  );
});

test('a message reads as a batch of one', () => {
  const bytes = buildLegacyBatch({ magic: 1, baseOffset: 10 }, records.slice(0, 1));
  const batch = new LegacyBatch(bytes);
  assert.equal(batch.magic, 1);
  assert.equal(batch.baseOffset, 10);
  assert.equal(batch.lastOffset, 10);
  assert.equal(batch.nextOffset, 11);
  assert.equal(batch.recordCount, 1);
  assert.equal(batch.sizeInBytes, bytes.length);
  assert.equal(batch.maxTimestamp, 1700000000002);
  assert.equal(batch.timestampType, 'CreateTime');
  assert.equal(batch.producerId, -1);
  assert.equal(batch.hasProducerId, false);
  assert.equal(batch.partitionLeaderEpoch, -1);
  assert.equal(batch.isControl, false);
});

test('a wrapper has the offset of its last message and the largest timestamp', () => {
  const batch = new LegacyBatch(buildLegacyBatch({ magic: 1, baseOffset: 10, compression: 'gzip' }, records));
  assert.equal(batch.baseOffset, 10);
  assert.equal(batch.lastOffset, 15);
  assert.equal(batch.lastOffsetDelta, 5);
  assert.equal(batch.recordCount, 3);
  assert.equal(batch.maxTimestamp, 1700000000003);
  assert.equal(batch.compression, 'gzip');
});

test('moving a wrapper of magic 1 moves its messages', () => {
  const batch = new LegacyBatch(buildLegacyBatch({ magic: 1, baseOffset: 10, compression: 'lz4' }, records));
  batch.setLastOffset(115);
  batch.ensureValid();
  assert.deepEqual(
    [...batch.records()].map((record) => record.offset),
    [110, 112, 115],
  );
  batch.setBaseOffset(7);
  assert.equal(batch.lastOffset, 12);
});

test('inner offsets are taken as they are where a wrapper of magic 1 has the offset 0', () => {
  const batch = new LegacyBatch(
    buildLegacyBatch({ magic: 1, compression: 'snappy' }, [{ value: null }, { value: null }, { value: null }]),
  );
  batch.setLastOffset(0);
  assert.deepEqual(
    [...batch.records()].map((record) => record.offset),
    [0, 1, 2],
  );
});

test('with LogAppendTime the outer timestamp counts', () => {
  const batch = new LegacyBatch(buildLegacyBatch({ magic: 1, baseOffset: 10, compression: 'gzip' }, records));
  batch.setMaxTimestamp('LogAppendTime', 1800000000000);
  batch.ensureValid();
  assert.equal(batch.timestampType, 'LogAppendTime');
  assert.deepEqual(new Set([...batch.records()].map((record) => record.timestamp)), new Set([1800000000000]));
  assert.throws(() => new LegacyBatch(buildLegacyBatch({ magic: 0 }, records)).setMaxTimestamp('LogAppendTime', 1), TypeError);
});

test('a flipped bit after the checksum is found', () => {
  const bytes = buildLegacyBatch({ magic: 1, baseOffset: 10, compression: 'gzip' }, records);
  for (let position = 17; position < bytes.length; position++) {
    const damaged = Buffer.from(bytes);
    damaged[position]! ^= 4;
    assert.throws(() => new LegacyBatch(damaged).ensureValid(), CorruptRecordError, `position ${position}`);
  }
});

test('zstd is refused in both formats', () => {
  for (const magic of [0, 1] as const) {
    assert.throws(() => buildLegacyBatch({ magic, compression: 'zstd' }, records), UnsupportedCompressionTypeError);
    assert.throws(() => [...wrapperOf(magic, 4, Buffer.from('28b52ffd', 'hex')).records()], InvalidRecordError);
  }
});

/** A wrapper around any bytes. */
function wrapperOf(magic: LegacyMagic, compressionId: number, value: Buffer | null): LegacyBatch {
  const bytes = buildLegacyBatch({ magic, baseOffset: 20 }, [{ value }]);
  bytes[17] = compressionId;
  bytes.writeUInt32BE(crc32(bytes, 16), 12);
  return new LegacyBatch(bytes);
}

test('refuses malformed wrappers', async (t) => {
  const inner = buildLegacyBatch({ magic: 1 }, records.slice(0, 1));
  const tooSmall = Buffer.from(inner);
  tooSmall.writeInt32BE(13, 8);
  const tooSmallForMagic = Buffer.from(inner);
  tooSmallForMagic.writeInt32BE(20, 8);
  const nested = Buffer.from(buildLegacyBatch({ magic: 1, compression: 'gzip' }, records.slice(0, 1)));
  const ofMagic0 = buildLegacyBatch({ magic: 0 }, records.slice(0, 1));
  const keyTooLong = Buffer.from(inner);
  keyTooLong.writeInt32BE(1000, 26);
  const cases: readonly (readonly [string, LegacyBatch, new (message: string) => Error])[] = [
    ['without value', wrapperOf(1, 1, null), InvalidRecordError],
    ['without messages', wrapperOf(1, 1, compress('gzip', Buffer.alloc(0))), InvalidRecordError],
    ['with half a message', wrapperOf(1, 1, compress('gzip', inner.subarray(0, 20))), InvalidRecordError],
    ['with a wrapper inside', wrapperOf(1, 1, compress('gzip', nested)), InvalidRecordError],
    ['with a message of another magic', wrapperOf(1, 1, compress('gzip', ofMagic0)), InvalidRecordError],
    ['with a message that is too small', wrapperOf(1, 1, compress('gzip', tooSmall)), CorruptRecordError],
    ['with a message that is too small for its magic', wrapperOf(1, 1, compress('gzip', tooSmallForMagic)), CorruptRecordError],
    ['with a key beyond the message', wrapperOf(1, 1, compress('gzip', keyTooLong)), InvalidRecordError],
    ['with bytes of another codec', wrapperOf(1, 2, compress('gzip', inner)), DecompressionError],
    [
      'with an inner offset beyond its own',
      wrapperOf(1, 1, compress('gzip', buildLegacyBatch({ magic: 1, baseOffset: 21 }, [{ value: null }]))),
      InvalidRecordError,
    ],
    ['with an unknown codec', wrapperOf(1, 6, compress('gzip', inner)), InvalidRecordError],
  ];
  for (const [name, batch, error] of cases) {
    await t.test(name, () => {
      batch.ensureValid();
      assert.throws(() => [...batch.records()], error);
    });
  }
});

test('a message too small for its magic is refused', () => {
  const bytes = buildLegacyBatch({ magic: 1 }, [{ value: null }]);
  bytes.writeInt32BE(16, 8);
  assert.equal(new LegacyBatch(bytes).isCrcValid(), false);
  assert.throws(() => new LegacyBatch(bytes).ensureValid(), CorruptRecordError);
  assert.throws(() => [...new LegacyBatch(bytes).records()], CorruptRecordError);
});
