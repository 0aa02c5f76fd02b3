import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { arbitraryRecords, shifted } from './arbitrary-records.fixture.ts';
import { buildEmptyBatch, buildRecordBatch, type RecordBatchOptions } from './batch-builder.ts';
import { compressionTypes } from './compression.ts';
import { RecordBatch, recordBatchOverhead, sequenceAfter } from './record-batch.ts';
import { CorruptRecordError, InvalidRecordError } from './record-errors.ts';

const options: RecordBatchOptions = {
  baseOffset: 1000,
  partitionLeaderEpoch: 7,
  producerId: 2 ** 40 + 5,
  producerEpoch: 3,
  baseSequence: 0x7ffffffe,
  isTransactional: true,
};
const records = [
  { timestamp: 1700000000002, key: Buffer.from('k0'), value: Buffer.from('v0') },
  { timestamp: 1700000000001, key: null, value: Buffer.from('v1'), headers: [{ key: 'h', value: null }] },
  { timestamp: 1700000000003, key: Buffer.from('k2'), value: null },
];

/** The batch between other bytes, as it stands in a request. */
function embedded(batch: Buffer): RecordBatch {
  return new RecordBatch(Buffer.concat([Buffer.alloc(13, 0xee), batch, Buffer.alloc(5, 0xee)]), 13);
}

test('the view reads every field of the header', () => {
  const bytes = buildRecordBatch(options, records);
  const batch = embedded(bytes);
  batch.ensureValid();
  assert.equal(batch.baseOffset, 1000);
  assert.equal(batch.lastOffset, 1002);
  assert.equal(batch.nextOffset, 1003);
  assert.equal(batch.lastOffsetDelta, 2);
  assert.equal(batch.sizeInBytes, bytes.length);
  assert.equal(batch.batchLength, bytes.length - 12);
  assert.equal(batch.end, 13 + bytes.length);
  assert.equal(batch.partitionLeaderEpoch, 7);
  assert.equal(batch.magic, 2);
  assert.equal(batch.attributes, 0x10);
  assert.equal(batch.compression, 'none');
  assert.equal(batch.isCompressed, false);
  assert.equal(batch.timestampType, 'CreateTime');
  assert.equal(batch.isTransactional, true);
  assert.equal(batch.isControl, false);
  assert.equal(batch.hasDeleteHorizon, false);
  assert.equal(batch.deleteHorizonMs, null);
  assert.equal(batch.baseTimestamp, 1700000000002);
  assert.equal(batch.maxTimestamp, 1700000000003);
  assert.equal(batch.producerId, 2 ** 40 + 5);
  assert.equal(batch.hasProducerId, true);
  assert.equal(batch.producerEpoch, 3);
  assert.equal(batch.baseSequence, 0x7ffffffe);
  assert.equal(batch.lastSequence, 0);
  assert.equal(batch.recordCount, 3);
  assert.deepEqual(batch.bytes(), bytes);
  assert.deepEqual(
    [...batch.records()].map(({ offset, timestamp, sequence }) => [offset, timestamp, sequence]),
    [
      [1000, 1700000000002, 0x7ffffffe],
      [1001, 1700000000001, 0x7fffffff],
      [1002, 1700000000003, 0],
    ],
  );
});

test('a batch without producer has neither sequence nor producer id', () => {
  const batch = new RecordBatch(buildRecordBatch({}, [{ value: Buffer.from('v') }]));
  assert.equal(batch.hasProducerId, false);
  assert.equal(batch.lastSequence, -1);
  assert.equal([...batch.records()][0]?.sequence, -1);
});

test('stamping offset and epoch leaves the checksum valid', () => {
  const batch = embedded(buildRecordBatch(options, records));
  const crc = batch.crc;
  batch.setBaseOffset(2 ** 50);
  batch.setPartitionLeaderEpoch(99);
  assert.equal(batch.baseOffset, 2 ** 50);
  assert.equal(batch.partitionLeaderEpoch, 99);
  assert.equal(batch.crc, crc);
  assert.ok(batch.isCrcValid());
  batch.setLastOffset(500);
  assert.equal(batch.baseOffset, 498);
});

test('setting the timestamp computes the checksum anew and stamps all records', () => {
  const batch = embedded(buildRecordBatch({ ...options, compression: 'zstd' }, records));
  const crc = batch.crc;
  batch.setMaxTimestamp('LogAppendTime', 1800000000000);
  assert.notEqual(batch.crc, crc);
  batch.ensureValid();
  assert.equal(batch.timestampType, 'LogAppendTime');
  assert.deepEqual(new Set([...batch.records()].map((record) => record.timestamp)), new Set([1800000000000]));
  batch.setMaxTimestamp('CreateTime', 1700000000003);
  assert.equal(batch.crc, crc);
});

test('a flipped bit anywhere after the checksum is found', () => {
  const bytes = buildRecordBatch(options, records);
  for (let position = 17; position < bytes.length; position++) {
    const damaged = Buffer.from(bytes);
    damaged[position]! ^= 1 << (position % 8);
    assert.equal(new RecordBatch(damaged).isCrcValid(), false, `position ${position}`);
    assert.throws(() => new RecordBatch(damaged).ensureValid(), CorruptRecordError);
  }
});

test('a batch smaller than its header is refused', () => {
  const bytes = buildRecordBatch(options, records);
  bytes.writeInt32BE(20, 8);
  const batch = new RecordBatch(bytes);
  assert.equal(batch.isCrcValid(), false);
  assert.throws(() => batch.ensureValid(), CorruptRecordError);
  assert.throws(() => [...batch.records()], CorruptRecordError);
});

test('a wrong number of records is refused', () => {
  for (const [count, error] of [
    [-1, /declares -1 records/],
    [2, /more bytes than the records/],
    [4, /more records than it holds/],
  ] as const) {
    const bytes = buildRecordBatch(options, records);
    bytes.writeInt32BE(count, 57);
    assert.throws(() => [...new RecordBatch(bytes).records()], error);
  }
});

test('an unknown compression type is refused when it is asked for', () => {
  for (const id of [5, 6, 7]) {
    const bytes = buildRecordBatch({}, records);
    bytes[22] = id;
    const batch = new RecordBatch(bytes);
    assert.equal(batch.isCompressed, true);
    assert.throws(() => batch.compression, InvalidRecordError);
    assert.throws(() => [...batch.records()], InvalidRecordError);
  }
});

test('a batch without records is nothing, or a header that keeps offsets and sequence', () => {
  assert.equal(buildRecordBatch(options, []).length, 0);
  const batch = new RecordBatch(buildEmptyBatch({ ...options, lastOffset: 1009, maxTimestamp: 1700000000003 }));
  batch.ensureValid();
  assert.equal(batch.sizeInBytes, recordBatchOverhead);
  assert.equal(batch.lastOffset, 1009);
  assert.equal(batch.lastSequence, 7);
  assert.equal(batch.baseTimestamp, -1);
  assert.deepEqual([...batch.records()], []);
});

test('the delete horizon takes the place of the base timestamp and leaves the records theirs', () => {
  const batch = new RecordBatch(buildRecordBatch({ ...options, deleteHorizonMs: 1900000000000 }, records));
  assert.equal(batch.deleteHorizonMs, 1900000000000);
  assert.equal(batch.maxTimestamp, 1700000000003);
  assert.deepEqual(
    [...batch.records()].map((record) => record.timestamp),
    records.map((record) => record.timestamp),
  );
});

test('offsets must grow', () => {
  assert.throws(() => buildRecordBatch({ baseOffset: 5 }, [{ offset: 4 }]), RangeError);
  assert.throws(() => buildRecordBatch({}, [{ offset: 3 }, { offset: 3 }]), RangeError);
  assert.throws(() => buildRecordBatch({}, [{ offset: 2 ** 31 }]), RangeError);
});

test('random records come back through every codec', () => {
  fc.assert(
    fc.property(arbitraryRecords, fc.constantFrom(...compressionTypes), fc.nat(2 ** 48), (relative, compression, baseOffset) => {
      const sent = shifted(relative, baseOffset);
      const batch = new RecordBatch(
        buildRecordBatch({ baseOffset, compression, baseSequence: 5, producerId: 1, producerEpoch: 0 }, sent),
      );
      batch.ensureValid();
      const received = [...batch.records()];
      assert.deepEqual(
        received.map(({ offset, timestamp, key, value, headers }) => ({ timestamp, key, value, headers, offset })),
        sent,
      );
      assert.deepEqual(
        received.map((record) => record.sequence),
        sent.map((record) => 5 + record.offset! - baseOffset),
      );
    }),
    { numRuns: 200 },
  );
});

test('sequence numbers start again at zero', () => {
  for (const [sequence, increment, expected] of [
    [0, 0, 0],
    [0x7fffffff, 0, 0x7fffffff],
    [0x7fffffff, 1, 0],
    [0x7ffffffe, 5, 3],
    [-1, 9, -1],
  ] as const) {
    assert.equal(sequenceAfter(sequence, increment), expected);
  }
});
