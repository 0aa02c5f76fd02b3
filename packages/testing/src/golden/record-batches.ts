// Checks one line of batches-*.jsonl.gz: reading, then writing what was read.

import assert from 'node:assert/strict';
import {
  type Batch,
  buildControlBatch,
  buildEmptyBatch,
  buildLegacyBatch,
  buildRecordBatch,
  controlRecordType,
  countRecords,
  iterateBatches,
  LegacyBatch,
  type LogRecord,
  RecordBatch,
  readEndTransactionMarker,
  sizeOfRecord,
  UnsupportedCompressionTypeError,
  validateRecords,
} from '@odradek/protocol';
import { assertBytes, assertInteger, type BatchFacts, type RecordFacts } from './record-facts.ts';
import type { Facts } from './records.ts';

export function checkBatchCase(facts: Facts): void {
  if (facts['buildException'] !== undefined) {
    assert.throws(
      () => buildLegacyBatch({ magic: facts['magic'], compression: facts['compression'] }, [{ value: Buffer.from('refused') }]),
      UnsupportedCompressionTypeError,
    );
    return;
  }
  const bytes = Buffer.from(facts['base64'], 'base64');
  assert.equal(bytes.length, facts['size'], 'size of the bytes');
  const expected: readonly BatchFacts[] = facts['batches'];
  const batches = [...iterateBatches(bytes)];
  assert.equal(batches.length, expected.length, 'number of batches');
  for (const [index, batch] of batches.entries()) checkBatch(batch, expected[index]!, `batch ${index}`);
  checkEncoding(bytes, batches);
}

function checkBatch(batch: Batch, facts: BatchFacts, name: string): void {
  const integers: [keyof BatchFacts, number | null][] = [
    ['position', batch.start],
    ['sizeInBytes', batch.sizeInBytes],
    ['magic', batch.magic],
    ['baseOffset', batch.baseOffset],
    ['lastOffset', batch.lastOffset],
    ['nextOffset', batch.nextOffset],
    ['crc', batch.crc],
    ['maxTimestamp', batch.maxTimestamp],
    ['batchLength', batch.batchLength],
    ['attributes', batch.attributes],
    ['lastOffsetDelta', batch.lastOffsetDelta],
    ['baseTimestamp', batch.baseTimestamp],
    ['partitionLeaderEpoch', batch.partitionLeaderEpoch],
    ['producerId', batch.producerId],
    ['producerEpoch', batch.producerEpoch],
    ['baseSequence', batch.baseSequence],
    ['lastSequence', batch.lastSequence],
    ['deleteHorizonMs', batch.deleteHorizonMs],
    ['count', batch.recordCount],
  ];
  for (const [field, actual] of integers) {
    const fact = facts[field];
    if (fact !== undefined) assertInteger(actual, fact as string | number | null, `${field} of ${name}`);
  }
  assert.equal(batch.isCrcValid(), facts.isValid, `validity of ${name}`);
  assert.equal(batch.compression, facts.compression, `compression of ${name}`);
  assert.equal(batch.timestampType, facts.timestampType, `timestamp type of ${name}`);
  if (facts.isTransactional !== undefined) assert.equal(batch.isTransactional, facts.isTransactional, `${name} transactional`);
  if (facts.isControlBatch !== undefined) assert.equal(batch.isControl, facts.isControlBatch, `${name} control batch`);
  assert.equal(batch.hasProducerId, BigInt(facts.producerId ?? -1) >= 0n, `${name} producer id`);
  checkRecordsOf(batch, facts.records, name);
}

function checkRecordsOf(batch: Batch, facts: readonly RecordFacts[], name: string): void {
  const records = [...batch.records()];
  assert.equal(records.length, facts.length, `records of ${name}`);
  for (const [index, record] of records.entries()) checkRecord(batch, record, facts[index]!, `record ${index} of ${name}`);

  assert.equal(countRecords(batch), facts.length, `count of ${name}`);
  const summary = validateRecords(batch);
  assert.equal(summary.recordCount, facts.length, `validated count of ${name}`);
  assert.equal(summary.keylessCount, records.filter((record) => record.key === null).length, `keyless records of ${name}`);
  assert.equal(
    summary.firstKeyless,
    records.findIndex((record) => record.key === null),
    `first keyless record of ${name}`,
  );
  if (records.length > 0) {
    assert.equal(summary.maxTimestamp, Math.max(-1, ...records.map((record) => record.timestamp)), `validated maximum of ${name}`);
  }
}

function checkRecord(batch: Batch, record: LogRecord, facts: RecordFacts, name: string): void {
  assertInteger(record.offset, facts.offset, `offset of ${name}`);
  assertInteger(record.timestamp, facts.timestamp, `timestamp of ${name}`);
  if (facts.sequence !== undefined) assert.equal(record.sequence, facts.sequence, `sequence of ${name}`);
  assertBytes(record.key, facts.key, facts.keySize, facts.keySha256, `key of ${name}`);
  assertBytes(record.value, facts.value, facts.valueSize, facts.valueSha256, `value of ${name}`);
  const headers = record.headers.map(({ key, value }) => ({ key, value: value?.toString('base64') ?? null }));
  assert.deepEqual(headers, facts.headers ?? [], `headers of ${name}`);
  if (facts.sizeInBytes !== undefined && batch.timestampType === 'CreateTime') {
    const size = sizeOfRecord(record.offset - batch.baseOffset, record.timestamp - batch.baseTimestamp, record);
    assert.equal(size, facts.sizeInBytes, `size of ${name}`);
  }
  if (facts.controlType !== undefined) assert.equal(controlRecordType(record.key), facts.controlType, `control type of ${name}`);
  if (facts.coordinatorEpoch !== undefined) {
    assert.equal(readEndTransactionMarker(record)?.coordinatorEpoch, facts.coordinatorEpoch, `coordinator epoch of ${name}`);
  }
}

function checkEncoding(bytes: Buffer, batches: readonly Batch[]): void {
  const encoded = Buffer.concat(batches.map(encode));
  if (batches.every((batch) => !batch.isCompressed)) {
    const expected = Buffer.concat(batches.map(withSafeProducerId));
    assert.equal(expected.length, bytes.length, 'bytes after the last batch');
    assert.ok(encoded.equals(expected), `encoding gives other bytes: ${difference(encoded, expected)}`);
    return;
  }
  const again = [...iterateBatches(encoded)];
  assert.equal(again.length, batches.length, 'number of batches after encoding');
  for (const [index, batch] of again.entries()) {
    const original = batches[index]!;
    batch.ensureValid();
    assert.equal(batch.compression, original.compression, 'compression after encoding');
    assert.equal(batch.attributes, original.attributes, 'attributes after encoding');
    assert.equal(batch.lastOffset, original.lastOffset, 'last offset after encoding');
    assert.equal(batch.maxTimestamp, original.maxTimestamp, 'maximal timestamp after encoding');
    assert.deepEqual([...batch.records()], [...original.records()], 'records after encoding');
  }
}

function encode(batch: Batch): Buffer {
  const timestampType = batch.timestampType === 'LogAppendTime' ? 'LogAppendTime' : 'CreateTime';
  const records = recordsAsSent(batch);
  if (batch instanceof LegacyBatch) {
    const { magic, baseOffset, compression, maxTimestamp } = batch;
    return buildLegacyBatch({ magic, baseOffset, compression, timestampType, logAppendTime: maxTimestamp }, records);
  }
  const { baseOffset, lastOffset, partitionLeaderEpoch, producerId, producerEpoch, baseSequence, isTransactional, isControl } =
    batch;
  const options = {
    baseOffset,
    lastOffset,
    partitionLeaderEpoch,
    producerId,
    producerEpoch,
    baseSequence,
    isTransactional,
    isControl,
    timestampType,
  } as const;
  const first = records[0];
  if (first === undefined) return buildEmptyBatch({ ...options, maxTimestamp: batch.maxTimestamp });
  const marker = isControl ? readEndTransactionMarker(first) : null;
  if (marker !== null) {
    return buildControlBatch({
      ...marker,
      producerId,
      producerEpoch,
      timestamp: first.timestamp,
      baseOffset,
      partitionLeaderEpoch,
    });
  }
  const { compression, deleteHorizonMs, maxTimestamp } = batch;
  return buildRecordBatch({ ...options, compression, deleteHorizonMs, logAppendTime: maxTimestamp }, records);
}

/**
 * With LogAppendTime the records of magic 2 still hold the timestamps that the producer gave them; they show without the
 * attribute.
 */
function recordsAsSent(batch: Batch): LogRecord[] {
  if (batch instanceof LegacyBatch || batch.timestampType !== 'LogAppendTime') return [...batch.records()];
  const copy = new RecordBatch(Buffer.from(batch.bytes()));
  copy.setMaxTimestamp('CreateTime', batch.maxTimestamp);
  copy.ensureValid();
  return [...copy.records()];
}

/**
 * A producer id beyond the safe range, which no broker ever assigns, is read as the largest safe one and so is written as
 * that.
 */
function withSafeProducerId(batch: Batch): Buffer {
  if (batch instanceof LegacyBatch || batch.producerId !== Number.MAX_SAFE_INTEGER) return batch.bytes();
  const copy = new RecordBatch(Buffer.from(batch.bytes()));
  copy.buffer.writeBigInt64BE(BigInt(batch.producerId), 43);
  const { timestampType, maxTimestamp } = batch;
  // Changing the timestamp there and back computes the checksum anew.
  copy.setMaxTimestamp('CreateTime', maxTimestamp + 1);
  copy.setMaxTimestamp(timestampType === 'LogAppendTime' ? 'LogAppendTime' : 'CreateTime', maxTimestamp);
  return copy.buffer;
}

function difference(actual: Buffer, expected: Buffer): string {
  if (actual.length !== expected.length) return `${actual.length} bytes instead of ${expected.length}`;
  const at = actual.findIndex((byte, index) => byte !== expected[index]);
  return `byte ${at} is ${actual[at]} instead of ${expected[at]}`;
}
