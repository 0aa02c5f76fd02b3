import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { arbitraryRecord } from './arbitrary-records.fixture.ts';
import { type RecordInit, RecordReader, sizeOfRecord, writeRecord } from './record.ts';
import { InvalidRecordError } from './record-errors.ts';

function written(offsetDelta: number, timestampDelta: number, record: RecordInit): Buffer {
  const bytes = Buffer.alloc(sizeOfRecord(offsetDelta, timestampDelta, record));
  assert.equal(writeRecord(bytes, 0, offsetDelta, timestampDelta, record), bytes.length);
  return bytes;
}

test('a record reads as it was written', () => {
  const deltas = fc.record({ offset: fc.integer({ min: 0, max: 0x7fffffff }), timestamp: fc.maxSafeInteger() });
  fc.assert(
    fc.property(arbitraryRecord, deltas, (record, delta) => {
      const reader = new RecordReader(written(delta.offset, delta.timestamp, record));
      reader.advance();
      assert.equal(reader.offsetDelta, delta.offset);
      assert.equal(reader.timestampDelta, delta.timestamp);
      assert.deepEqual(reader.key(), record.key ?? null);
      assert.deepEqual(reader.value(), record.value ?? null);
      assert.deepEqual(reader.headers(), record.headers ?? []);
      assert.equal(reader.sizeInBytes, reader.end);
      reader.ensureAtEnd();
    }),
  );
});

test('timestamp deltas beyond the safe range saturate', () => {
  const cases: readonly (readonly [string, number])[] = [
    ['feffffffffffffffff01', Number.MAX_SAFE_INTEGER],
    ['ffffffffffffffffff01', Number.MIN_SAFE_INTEGER],
    ['ffffffffffffff1f', Number.MIN_SAFE_INTEGER],
    ['feffffffffffff1f', Number.MAX_SAFE_INTEGER],
  ];
  for (const [varlong, expected] of cases) {
    const body = Buffer.from(`00${varlong}00010100`, 'hex');
    const reader = new RecordReader(Buffer.concat([Buffer.from([body.length * 2]), body]));
    reader.advance();
    assert.equal(reader.timestampDelta, expected, varlong);
  }
});

test('refuses malformed records', async (t) => {
  const cases: readonly (readonly [string, string])[] = [
    ['no record where one is declared', ''],
    ['a negative size', '01'],
    ['a size beyond the batch', '40000000010100'],
    ['a size too small for the fields', '0a000000010100'],
    ['a size too large for the fields', '0e00000001010000'],
    ['a size of zero', '00'],
    ['an end within the timestamp', '040080'],
    ['a varint of six bytes', '808080808000'],
    ['a varlong of eleven bytes', '2200ffffffffffffffffffff0100010100'],
    ['a key beyond the record', '0c000000060100'],
    ['a value beyond the record', '0c000000010a00'],
    ['a negative number of headers', '0c000000010101'],
    ['more headers than bytes are left', '0c00000001010a'],
    ['a header without key', '100000000101020101'],
    ['a header value beyond the record', '10000000010102000a'],
  ];
  for (const [name, hex] of cases) {
    await t.test(name, () => {
      assert.throws(() => new RecordReader(Buffer.from(hex, 'hex')).advance(), InvalidRecordError);
    });
  }
});

test('refuses bytes after the last record', () => {
  const reader = new RecordReader(Buffer.concat([written(0, 0, { value: Buffer.from('v') }), Buffer.from([0])]));
  reader.advance();
  assert.throws(() => reader.ensureAtEnd(), InvalidRecordError);
});
