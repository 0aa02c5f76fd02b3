import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  buildControlBatch,
  buildLegacyBatch,
  buildRecordBatch,
  compressionTypes,
  errorByCode,
  ProtocolError,
  RecordBatch,
  type RecordBatchOptions,
} from '@odradek/protocol';
import { type AppendOrigin, InvalidRecordsError, type ValidatedRecords, validateForAppend } from './append-validator.ts';
import { defaultLogConfig, type LogConfig } from './log-config.ts';

const nowMs = 1_735_689_600_000;
const key = Buffer.from('k');
const value = Buffer.from('value');
const day = 86_400_000;

interface Case {
  readonly records: Buffer;
  readonly config?: Partial<LogConfig>;
  readonly origin?: AppendOrigin;
}

function validate({ records, config, origin = 'client' }: Case): ValidatedRecords | undefined {
  return validateForAppend(records, {
    config: { ...defaultLogConfig, ...config },
    origin,
    nextOffset: 100,
    leaderEpoch: 5,
    nowMs,
  });
}

function batch(options: RecordBatchOptions = {}, timestamps: readonly number[] = [nowMs]): Buffer {
  return buildRecordBatch(
    options,
    timestamps.map((timestamp) => ({ timestamp, key, value })),
  );
}

/** Changes a field and makes the checksum right again. */
function changed(bytes: Buffer, change: (bytes: Buffer) => void): Buffer {
  change(bytes);
  const view = new RecordBatch(bytes, 0);
  // The timestamp stamps the checksum anew.
  const { maxTimestamp } = view;
  view.setMaxTimestamp('CreateTime', maxTimestamp + 1);
  view.setMaxTimestamp('CreateTime', maxTimestamp);
  return bytes;
}

function outcome(tried: Case): string {
  try {
    validate(tried);
    return 'NONE';
  } catch (error) {
    return error instanceof ProtocolError ? errorByCode(error.code).name : String(error);
  }
}

const legacy = (magic: 0 | 1, options: Partial<Parameters<typeof buildLegacyBatch>[0]> = {}): Buffer =>
  buildLegacyBatch({ magic, ...options }, [
    { timestamp: nowMs, key, value },
    { timestamp: nowMs + 1, key, value },
  ]);

describe('what a producer sends', () => {
  const compacted: Partial<LogConfig> = { cleanupPolicy: ['compact'] };
  const keyless = buildRecordBatch({}, [{ timestamp: nowMs, value }]);
  const control = buildControlBatch({ type: 'commit', producerId: 1, producerEpoch: 0, coordinatorEpoch: 0, timestamp: nowMs });
  const appendTime = { timestampType: 'LogAppendTime', logAppendTime: nowMs } as const;
  const cases: readonly (readonly [string, Case, string])[] = [
    ['an ordinary batch', { records: batch() }, 'NONE'],
    ['a damaged batch', { records: flipped(batch(), 70) }, 'CORRUPT_MESSAGE'],
    ['a size that no batch has', { records: Buffer.alloc(100) }, 'CORRUPT_MESSAGE'],
    ['a batch larger than the topic allows', { records: batch(), config: { maxMessageBytes: 70 } }, 'MESSAGE_TOO_LARGE'],
    ['a batch larger than a segment', { records: batch(), config: { segmentBytes: 70 } }, 'RECORD_LIST_TOO_LARGE'],
    ['a base offset of its own', { records: batch({ baseOffset: 3 }) }, 'INVALID_RECORD'],
    ['a control batch', { records: control }, 'INVALID_RECORD'],
    ['a control batch of a coordinator', { records: control, origin: 'coordinator' }, 'NONE'],
    ['a producer without a sequence', { records: batch({ producerId: 1, producerEpoch: 0 }) }, 'INVALID_RECORD'],
    ['no records', { records: changed(batch(), (bytes) => bytes.writeInt32BE(0, 57)) }, 'INVALID_RECORD'],
    ['more records declared than there are', { records: changed(batch(), (bytes) => bytes.writeInt32BE(2, 57)) }, 'INVALID_RECORD'],
    ['a last offset that does not fit', { records: changed(batch(), (bytes) => bytes.writeInt32BE(4, 23)) }, 'INVALID_RECORD'],
    ['two batches', { records: Buffer.concat([batch(), batch()]) }, 'INVALID_RECORD'],
    ['a keyless record', { records: keyless }, 'NONE'],
    ['a keyless record for a compacted topic', { records: keyless, config: compacted }, 'INVALID_RECORD'],
    ['a timestamp too far ahead', { records: batch({}, [nowMs + day]) }, 'INVALID_TIMESTAMP'],
    ['a timestamp of long ago', { records: batch({}, [1]) }, 'NONE'],
    [
      'a timestamp too long ago',
      { records: batch({}, [nowMs - day]), config: { messageTimestampBeforeMaxMs: 1000 } },
      'INVALID_TIMESTAMP',
    ],
    [
      'one too old behind one without a timestamp',
      { records: batch({}, [-1, 5]), config: { messageTimestampBeforeMaxMs: 1000 } },
      'INVALID_TIMESTAMP',
    ],
    ['no timestamp at all', { records: batch({}, [-1]), config: { messageTimestampBeforeMaxMs: 1000 } }, 'NONE'],
    [
      'any timestamp where the broker stamps',
      { records: batch({}, [1]), config: { messageTimestampType: 'LogAppendTime', messageTimestampBeforeMaxMs: 1000 } },
      'NONE',
    ],
    [
      'LogAppendTime where the broker stamps',
      { records: batch(appendTime), config: { messageTimestampType: 'LogAppendTime' } },
      'INVALID_TIMESTAMP',
    ],
    ['LogAppendTime where it does not', { records: batch(appendTime) }, 'NONE'],
    ['messages of magic 0', { records: legacy(0) }, 'NONE'],
    ['messages of magic 1', { records: legacy(1) }, 'NONE'],
    ['compressed messages', { records: legacy(1, { compression: 'gzip' }) }, 'NONE'],
    [
      'two compressed messages',
      { records: Buffer.concat([legacy(1, { compression: 'gzip' }), legacy(1, { compression: 'gzip' })]) },
      'INVALID_RECORD',
    ],
    ['messages of both old formats', { records: Buffer.concat([legacy(0), legacy(1)]) }, 'INVALID_RECORD'],
  ];
  for (const [what, tried, expected] of cases) test(`${what}: ${expected}`, () => assert.equal(outcome(tried), expected));

  test('the compressed size counts, not what it grows to', () => {
    const records = buildRecordBatch({ compression: 'gzip' }, [{ timestamp: nowMs, key, value: Buffer.alloc(100_000) }]);
    assert.equal(outcome({ records, config: { maxMessageBytes: 1000 } }), 'NONE');
    assert.equal(outcome({ records, config: { maxDecompressedMessageBytes: 1000 } }), 'INVALID_RECORD');
  });
});

function flipped(bytes: Buffer, position: number): Buffer {
  bytes[position]! ^= 1;
  return bytes;
}

describe('what becomes of it', () => {
  test('a batch stays the bytes that it was, but for offset and epoch', () => {
    const records = batch({ producerId: 4, producerEpoch: 1, baseSequence: 2 }, [nowMs, nowMs + 1]);
    const before = Buffer.from(records);
    const { batch: after, logAppendTime } = validate({ records })!;
    assert.equal(after.buffer, records);
    assert.deepEqual([after.baseOffset, after.lastOffset, after.partitionLeaderEpoch, logAppendTime], [100, 101, 5, -1]);
    assert.deepEqual(records.subarray(16), before.subarray(16));
    after.ensureValid();
  });

  test('a short tail behind the batch is left out, and nothing but a short tail is nothing', () => {
    const whole = batch();
    const { batch: after } = validate({ records: Buffer.concat([whole, whole.subarray(0, 40)]) })!;
    assert.equal(after.sizeInBytes, whole.length);
    assert.equal(validate({ records: whole.subarray(0, 40) }), undefined);
    assert.equal(validate({ records: Buffer.alloc(0) }), undefined);
  });

  test('the broker stamps its time', () => {
    const { batch: after, logAppendTime } = validate({
      records: batch({}, [5, 7]),
      config: { messageTimestampType: 'LogAppendTime' },
    })!;
    assert.equal(logAppendTime, nowMs);
    assert.deepEqual(
      [...after.records()].map(({ timestamp }) => timestamp),
      [nowMs, nowMs],
    );
    after.ensureValid();
  });

  test('a wrong largest timestamp is put right', () => {
    const records = batch({}, [nowMs, nowMs + 5, nowMs + 1]);
    new RecordBatch(records, 0).setMaxTimestamp('CreateTime', 3);
    assert.equal(validate({ records })!.batch.maxTimestamp, nowMs + 5);
  });

  for (const compressionType of compressionTypes) {
    test(`the topic wants ${compressionType}, whatever comes`, () => {
      for (const compression of compressionTypes) {
        const sent = { compression, producerId: 9, producerEpoch: 2, baseSequence: 3, isTransactional: true };
        const { batch: after } = validate({ records: batch(sent, [nowMs, nowMs + 1]), config: { compressionType } })!;
        assert.equal(after.compression, compressionType);
        assert.deepEqual(
          [after.baseOffset, after.lastOffset, after.producerId, after.producerEpoch, after.baseSequence, after.isTransactional],
          [100, 101, 9, 2, 3, true],
        );
        assert.deepEqual(
          [...after.records()].map((record) => String(record.value)),
          ['value', 'value'],
        );
        after.ensureValid();
      }
    });
  }

  for (const magic of [0, 1] as const) {
    test(`messages of magic ${magic} become one batch`, () => {
      const { batch: after } = validate({ records: legacy(magic, { compression: 'gzip' }) })!;
      assert.deepEqual([after.magic, after.compression, after.baseOffset, after.recordCount], [2, 'gzip', 100, 2]);
      assert.deepEqual(
        [...after.records()].map(({ timestamp }) => timestamp),
        magic === 0 ? [-1, -1] : [nowMs, nowMs + 1],
      );
    });
  }
});

test('all records at fault are named, and a wrong timestamp decides the code', () => {
  const records = buildRecordBatch({}, [
    { timestamp: nowMs, key, value },
    { timestamp: nowMs, value },
    { timestamp: nowMs + 2 * day, key, value },
    { timestamp: nowMs, value },
  ]);
  assert.throws(
    () => validate({ records, config: { cleanupPolicy: ['compact', 'delete'] } }),
    (error) => {
      assert.ok(error instanceof InvalidRecordsError);
      assert.equal(error.codeName, 'INVALID_TIMESTAMP');
      assert.deepEqual(
        error.recordErrors.map(({ batchIndex }) => batchIndex),
        [1, 2, 3],
      );
      return true;
    },
  );
});
