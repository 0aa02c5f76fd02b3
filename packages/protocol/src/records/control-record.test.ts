import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildControlBatch, controlRecordType, readEndTransactionMarker } from './control-record.ts';
import { RecordBatch } from './record-batch.ts';
import { InvalidRecordError } from './record-errors.ts';

test('a marker reads as it was written', () => {
  for (const type of ['commit', 'abort'] as const) {
    const bytes = buildControlBatch({
      type,
      producerId: 5,
      producerEpoch: 3,
      coordinatorEpoch: 25,
      timestamp: 1700000000000,
      baseOffset: 42,
    });
    const batch = new RecordBatch(bytes);
    batch.ensureValid();
    assert.equal(batch.isControl, true);
    assert.equal(batch.isTransactional, true);
    assert.equal(batch.producerId, 5);
    assert.equal(batch.producerEpoch, 3);
    assert.equal(batch.baseSequence, -1);
    assert.equal(batch.maxTimestamp, 1700000000000);
    const [record] = [...batch.records()];
    assert.equal(record!.offset, 42);
    assert.equal(controlRecordType(record!.key), type.toUpperCase());
    assert.deepEqual(readEndTransactionMarker(record!), { type, coordinatorEpoch: 25 });
  }
});

test('control records of other kinds are no markers', () => {
  assert.equal(controlRecordType(Buffer.from([0, 0, 0, 2])), 'LEADER_CHANGE');
  assert.equal(controlRecordType(Buffer.from([0, 0, 0, 99])), 'UNKNOWN');
  assert.equal(readEndTransactionMarker({ key: Buffer.from([0, 0, 0, 2]), value: Buffer.alloc(9) }), null);
});

test('malformed markers are refused', () => {
  assert.throws(() => controlRecordType(null), InvalidRecordError);
  assert.throws(() => controlRecordType(Buffer.from([0, 0, 0])), InvalidRecordError);
  assert.throws(() => controlRecordType(Buffer.from([0xff, 0xff, 0, 0])), InvalidRecordError);
  const key = Buffer.from([0, 0, 0, 1]);
  assert.throws(() => readEndTransactionMarker({ key, value: null }), InvalidRecordError);
  assert.throws(() => readEndTransactionMarker({ key, value: Buffer.alloc(5) }), InvalidRecordError);
  assert.throws(() => readEndTransactionMarker({ key, value: Buffer.from([0xff, 0xff, 0, 0, 0, 0]) }), InvalidRecordError);
});
