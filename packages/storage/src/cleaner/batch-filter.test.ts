import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import {
  type Batch,
  batchAt,
  buildControlBatch,
  buildEmptyBatch,
  buildLegacyBatch,
  buildRecordBatch,
  type CompressionType,
  iterateBatches,
  RecordBatch,
  type RecordBatchOptions,
  type RecordInit,
} from '@odradek/protocol';
import { goldenDirectory } from '@odradek/testing';
import { BatchFilter, type BatchFilterOptions } from './batch-filter.ts';
import { CleanedTransactions } from './cleaned-transactions.ts';
import { ScratchMemory } from './compaction-memory.ts';
import { SeenKeys } from './seen-keys.ts';

const nowMs = 1_700_000_000_000;
const retentionMs = 1000;

/** Keys that were seen last at these offsets, in a log that was seen up to `latestOffset`. */
function seen(offsets: Readonly<Record<string, number>>, latestOffset = 1_000_000): SeenKeys {
  const keys = new SeenKeys({ mapBytes: 10_000, mapLoadFactor: 1, firstDirtyOffset: 1_000_000, endOffset: 1_000_000 });
  for (const [key, offset] of Object.entries(offsets)) keys.put(Buffer.from(key), 0, key.length, offset);
  keys.latestOffset = latestOffset;
  return keys;
}

function filterOf(options: Partial<BatchFilterOptions>): BatchFilter {
  return new BatchFilter({
    keys: seen({}),
    transactions: new CleanedTransactions(),
    lastOfProducers: new Map(),
    highWatermark: Number.MAX_SAFE_INTEGER,
    nowMs,
    deleteRetentionMs: retentionMs,
    maxDecompressedBytes: 1_000_000,
    scratch: new ScratchMemory(),
    ...options,
  });
}

function batch(
  options: RecordBatchOptions,
  records: readonly (readonly [key: string | null, value: string | null])[],
): RecordBatch {
  return new RecordBatch(
    buildRecordBatch(
      options,
      records.map(
        ([key, value], index): RecordInit => ({
          key: key === null ? null : Buffer.from(key),
          value: value === null ? null : Buffer.from(value),
          timestamp: nowMs - 5000 + index,
        }),
      ),
    ),
  );
}

/** `offset:key=value` of each record, and of a tombstone `offset:key`. */
function textOf(left: Batch | undefined): string {
  if (left === undefined) return 'nothing';
  const records = [...left.records()].map(
    ({ offset, key, value }) => `${offset}:${key ?? '-'}${value === null ? '' : `=${value}`}`,
  );
  const horizon = left.deleteHorizonMs === null ? '' : ` horizon ${left.deleteHorizonMs - nowMs}`;
  return `[${left.baseOffset}-${left.lastOffset}${horizon}] ${records.join(' ')}`.trim();
}

function filtered(input: Batch, options: Partial<BatchFilterOptions>): string {
  const left = filterOf(options).filter(input);
  if (left === undefined) return 'nothing';
  const output = batchAt(left.bytes, 0);
  output.ensureValid();
  assert.equal(output.sizeInBytes, left.bytes.length);
  assert.equal(left.lastOffset, output.lastOffset);
  assert.equal(left.maxTimestamp, output.maxTimestamp);
  return textOf(output);
}

const three = [
  ['a', '1'],
  ['b', null],
  ['c', '3'],
] as const;
const at10: RecordBatchOptions = { baseOffset: 10, producerId: 7, producerEpoch: 2, baseSequence: 30 };
const withHorizon = (horizonMs: number) => batch({ ...at10, deleteHorizonMs: nowMs + horizonMs }, three);

interface FilterCase {
  readonly name: string;
  readonly batch: Batch;
  readonly options?: Partial<BatchFilterOptions>;
  readonly left: string;
}

const cases: readonly FilterCase[] = [
  { name: 'the last record of a key stays', batch: batch(at10, [['a', '1']]), left: '[10-10] 10:a=1' },
  {
    name: 'a record with a later one of its key goes; the offsets of the batch stay',
    batch: batch(at10, [...three, ['d', '4']]),
    options: { keys: seen({ a: 20, b: 11, c: 10, d: 21 }) },
    left: '[10-13 horizon 1000] 11:b 12:c=3',
  },
  {
    name: 'what lies beyond the part that was looked at stays as it is, with keys or without',
    batch: batch(at10, [
      ['a', '1'],
      [null, '2'],
    ]),
    options: { keys: seen({ a: 9 }, 9) },
    left: '[10-11] 10:a=1 11:-=2',
  },
  {
    name: 'a record without a key goes',
    batch: batch(at10, [
      [null, '1'],
      ['b', '2'],
    ]),
    left: '[10-11] 11:b=2',
  },
  {
    name: 'the first cleaning that meets a tombstone sets its horizon',
    batch: batch(at10, three),
    left: '[10-12 horizon 1000] 10:a=1 11:b 12:c=3',
  },
  { name: 'a tombstone stays until its horizon', batch: withHorizon(1), left: '[10-12 horizon 1] 10:a=1 11:b 12:c=3' },
  { name: 'and goes at its horizon', batch: withHorizon(0), left: '[10-12 horizon 0] 10:a=1 12:c=3' },
  {
    name: 'a batch without records goes',
    batch: batch(at10, [['a', '1']]),
    options: { keys: seen({ a: 11 }) },
    left: 'nothing',
  },
  {
    name: 'but leaves its header when it is the last of an active producer',
    batch: batch(at10, [['a', '1']]),
    options: {
      keys: seen({ a: 11 }),
      lastOfProducers: new Map([[7, { lastDataOffsets: [10], isReplicatedKnown: true, producerEpoch: 2 }]]),
    },
    left: '[10-10]',
  },
  {
    name: 'or when nobody knows which is the last that is replicated',
    batch: batch(at10, [['a', '1']]),
    options: {
      keys: seen({ a: 11 }),
      lastOfProducers: new Map([[7, { lastDataOffsets: [50], isReplicatedKnown: false, producerEpoch: 2 }]]),
    },
    left: '[10-10]',
  },
  {
    name: 'or when the log ends with it',
    batch: batch({ baseOffset: 10 }, [['a', '1']]),
    options: { keys: seen({ a: 11 }), highWatermark: 11 },
    left: '[10-10]',
  },
  {
    name: 'a header of a producer that is no longer active goes',
    batch: new RecordBatch(buildEmptyBatch({ ...at10, lastOffset: 12, maxTimestamp: nowMs })),
    options: { lastOfProducers: new Map([[7, { lastDataOffsets: [13], isReplicatedKnown: true, producerEpoch: 2 }]]) },
    left: 'nothing',
  },
  {
    name: 'messages of the old formats keep their tombstones as long as their segment is young',
    batch: batchAt(
      buildLegacyBatch({ magic: 1, baseOffset: 10, compression: 'gzip' }, [{ key: Buffer.from('a') }, { key: Buffer.from('b') }]),
      0,
    ),
    options: { keys: seen({ a: 11 }) },
    left: '[11-11] 11:b',
  },
];

for (const { name, batch: input, options = {}, left } of cases) {
  test(name, () => assert.equal(filtered(input, options), left));
}

test('old tombstones of the old formats go', () => {
  const input = batchAt(buildLegacyBatch({ magic: 0, baseOffset: 10 }, [{ key: Buffer.from('a') }]), 0);
  const filter = filterOf({});
  filter.keepsLegacyTombstones = false;
  assert.equal(filter.filter(input), undefined);
});

for (const compression of ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const) {
  for (const timestampType of ['CreateTime', 'LogAppendTime'] as const) {
    test(`a batch that is written anew keeps its codec, its producer and its times: ${compression}, ${timestampType}`, () => {
      const input = batch(
        { ...at10, compression, timestampType, logAppendTime: nowMs - 100, partitionLeaderEpoch: 5, isTransactional: true },
        [...three, ['d', 'x'.repeat(500)]],
      );
      const left = filterOf({ keys: seen({ a: 99 }) }).filter(input);
      const output = new RecordBatch(left?.bytes ?? Buffer.alloc(0));
      const facts = ({
        producerId,
        producerEpoch,
        baseSequence,
        lastSequence,
        partitionLeaderEpoch,
        isTransactional,
      }: RecordBatch) => ({
        producerId,
        producerEpoch,
        baseSequence,
        lastSequence,
        partitionLeaderEpoch,
        isTransactional,
      });
      assert.deepEqual(facts(output), facts(input));
      assert.equal(output.compression, compression);
      assert.equal(output.timestampType, timestampType);
      assert.equal(output.maxTimestamp, input.maxTimestamp);
      const times = (of: RecordBatch) => new Map([...of.records()].map(({ offset, timestamp }) => [offset, timestamp]));
      const before = times(input);
      for (const [offset, timestamp] of times(output)) assert.equal(timestamp, before.get(offset));
      // A second pass leaves what the first one left, to the byte.
      assert.deepEqual(filterOf({ keys: seen({ a: 99 }) }).filter(output)?.bytes, left?.bytes);
    });
  }
}

test('what Kafka left of a batch, we leave of it', (context) => {
  const directory = goldenDirectory();
  if (directory === undefined) return context.skip('the golden facts are not here');
  const lines = gunzipSync(readFileSync(`${directory}/records/batches-4.4.jsonl.gz`))
    .toString('utf8')
    .trim()
    .split('\n');
  let checked = 0;
  for (const line of lines) {
    const facts = JSON.parse(line);
    if (!/^m2-\w+-filtered$/.test(facts.case)) continue;
    const expected = new RecordBatch(Buffer.from(facts.base64, 'base64'));
    const kept = new Map([...expected.records()].map((record) => [record.offset, record]));
    const { baseOffset, deleteHorizonMs } = expected;
    const firstTimestamp = (kept.get(baseOffset + 1)?.timestamp ?? 0) - 100;
    const records = Array.from({ length: 10 }, (_, index): RecordInit => {
      const { key, value } = kept.get(baseOffset + index) ?? { key: Buffer.from(`k${index}`), value: Buffer.from('gone') };
      return { key, value, timestamp: firstTimestamp + 100 * index };
    });
    const { partitionLeaderEpoch, producerId, producerEpoch, baseSequence } = expected;
    const compression: CompressionType = facts.compression;
    const original = new RecordBatch(
      buildRecordBatch({ baseOffset, partitionLeaderEpoch, producerId, producerEpoch, baseSequence, compression }, records),
    );
    const later = Object.fromEntries([0, 2, 3, 5, 6, 7, 8].map((index): [string, number] => [`k${index}`, baseOffset + 100]));
    const filter = filterOf({ keys: seen(later), nowMs: (deleteHorizonMs ?? 0) - 1000, deleteRetentionMs: 1000 });
    const left = filter.filter(original)?.bytes ?? Buffer.alloc(0);
    if (compression === 'none') assert.deepEqual(left, expected.bytes());
    assert.equal(new RecordBatch(left).attributes, expected.attributes);
    assert.deepEqual(
      [...iterateBatches(left)].map((each) => [...each.records()]),
      [[...expected.records()]],
    );
    checked += 1;
  }
  assert.equal(checked, 5);
});

// Transactions

const transactional = (baseOffset: number, producerId: number, key: string) =>
  batch({ baseOffset, producerId, producerEpoch: 0, baseSequence: 0, isTransactional: true }, [[key, String(baseOffset)]]);
const marker = (type: 'commit' | 'abort', baseOffset: number, producerId: number) =>
  new RecordBatch(buildControlBatch({ type, producerId, producerEpoch: 0, coordinatorEpoch: 0, timestamp: nowMs, baseOffset }));

test('the records of an aborted transaction go at once, its marker when nothing of it has been met and its horizon is past', () => {
  const aborted = { producerId: 1, firstOffset: 10, lastOffset: 13, lastStableOffset: 10 };
  const log = [transactional(10, 1, 'a'), transactional(11, 2, 'b'), marker('commit', 12, 2), marker('abort', 13, 1)];
  const pass = (batches: readonly RecordBatch[], expected: readonly (typeof aborted)[], atMs: number) => {
    const transactions = new CleanedTransactions();
    const kept: (typeof aborted)[] = [];
    transactions.expect(expected);
    transactions.keepIn((transaction) => kept.push(transaction));
    const filter = filterOf({ transactions, nowMs: atMs });
    const left = batches.flatMap((each) => {
      const bytes = filter.filter(each)?.bytes;
      return bytes === undefined ? [] : [new RecordBatch(bytes)];
    });
    return { left, kept };
  };
  const describe = (batches: readonly RecordBatch[]) =>
    batches.map((each) => (each.isControl ? `marker ${each.baseOffset} ${each.deleteHorizonMs ?? '-'}` : textOf(each)));

  const first = pass(log, [aborted], nowMs);
  assert.deepEqual(describe(first.left), ['[11-11] 11:b=11', 'marker 12 -', 'marker 13 -']);
  assert.deepEqual(first.kept, [aborted]);
  const second = pass(first.left, [aborted], nowMs);
  assert.deepEqual(describe(second.left), ['[11-11] 11:b=11', 'marker 12 -', `marker 13 ${nowMs + retentionMs}`]);
  assert.deepEqual(second.kept, []);
  const third = pass(second.left, [], nowMs + retentionMs - 1);
  assert.deepEqual(describe(third.left), describe(second.left));
  const fourth = pass(third.left, [], nowMs + retentionMs);
  assert.deepEqual(describe(fourth.left), ['[11-11] 11:b=11', 'marker 12 -']);
});

test('the marker of a producer that has nothing else in the log keeps its epoch, without records', () => {
  const old = new RecordBatch(
    buildRecordBatch(
      { baseOffset: 5, producerId: 1, producerEpoch: 4, isTransactional: true, isControl: true, deleteHorizonMs: nowMs - 1 },
      [{ key: Buffer.from([0, 0, 0, 1]), value: Buffer.from([0, 0, 0, 0, 0, 0]), timestamp: nowMs - 10 }],
    ),
  );
  const options = { lastOfProducers: new Map([[1, { lastDataOffsets: [], isReplicatedKnown: true, producerEpoch: 4 }]]) };
  assert.equal(filtered(old, options), '[5-5]');
  assert.equal(
    filtered(old, { lastOfProducers: new Map([[1, { lastDataOffsets: [], isReplicatedKnown: true, producerEpoch: 5 }]]) }),
    'nothing',
  );
});

for (const [name, options, times] of [
  ['the first record that stays', {}, [1, 2]],
  ['the time of the append', { timestampType: 'LogAppendTime', logAppendTime: nowMs }, [5000, 5000]],
  ['the delete horizon that the batch has', { deleteHorizonMs: nowMs + 9 }, [1, 2]],
] as const) {
  test(`the records of a batch count from ${name} when the first has gone`, () => {
    const input = batch({ ...at10, ...options }, [
      ['a', '1'],
      ['b', '2'],
      ['c', '3'],
    ]);
    const left = filterOf({ keys: seen({ a: 20, b: 11, c: 12 }) }).filter(input);
    assert.ok(left !== undefined);
    const output = new RecordBatch(left.bytes);
    output.ensureValid();
    const timestamps = [...output.records()].map(({ timestamp }) => timestamp);
    assert.deepEqual(
      timestamps,
      times.map((time) => nowMs - 5000 + time),
    );
    assert.equal(output.baseTimestamp, output.deleteHorizonMs ?? timestamps[0]);
  });
}

test('tombstones that are kept for ever keep their times', () => {
  const input = batch(at10, [
    ['a', '1'],
    ['b', null],
  ]);
  const keys = seen({ a: 20, b: 11 });
  let left = filterOf({ keys, deleteRetentionMs: Number.MAX_SAFE_INTEGER }).filter(input);
  for (const laterMs of [1000, 1e12]) {
    const output = new RecordBatch(Buffer.from(left!.bytes));
    assert.deepEqual(
      [...output.records()].map(({ key, timestamp }) => [String(key), timestamp]),
      [['b', nowMs - 4999]],
    );
    assert.equal(output.maxTimestamp, nowMs - 4999);
    left = filterOf({ keys, nowMs: nowMs + laterMs, deleteRetentionMs: Number.MAX_SAFE_INTEGER }).filter(output);
  }
});
