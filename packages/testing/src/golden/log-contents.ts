// Compares what a log reads and knows with what Apache Kafka's kafka-dump-log says of its files.

import assert from 'node:assert/strict';
import { type Batch, iterateBatches, type LogRecord, RecordBatch, readEndTransactionMarker } from '@odradek/protocol';
import { decodeSnapshot, type FetchedRecords, type PartitionLog } from '@odradek/storage';
import type { Facts } from './records.ts';

/** What the dump has of one file; entries are in the fields of kafka-dump-log. */
export interface DumpedFile {
  readonly file: string;
  readonly entries: readonly Facts[];
}

const segmentName = (baseOffset: number, ending: string): string => `${String(baseOffset).padStart(20, '0')}.${ending}`;

/** All batches of the log, read from its start to its end as a follower would, each with its place in its segment. */
export async function checkBatches(log: PartitionLog, entriesOf: (file: string) => readonly Facts[]): Promise<void> {
  const batches = await readAll(log);
  const expected = log.segments.all().flatMap(({ baseOffset }) => entriesOf(segmentName(baseOffset, 'log')));
  assert.equal(batches.length, expected.length, 'number of batches');
  // Internal topics are dumped as the JSON of their messages.
  const isText = !log.topicPartition.topic.startsWith('__');
  for (const [index, batch] of batches.entries()) checkBatch(batch, expected[index]!, isText);
  for (const batch of batches) await checkReadsWithin(log, batch);
}

async function readAll(log: PartitionLog): Promise<Batch[]> {
  const batches: Batch[] = [];
  let offset = log.logStartOffset;
  while (offset < log.logEndOffset) {
    // Small, so that reads begin and end everywhere.
    const { records } = await read(log, offset, 500);
    const found = records.flatMap((bytes) => [...iterateBatches(Buffer.from(bytes))]);
    assert.ok(found.length > 0, `nothing was read at offset ${offset}`);
    batches.push(...found);
    offset = found.at(-1)!.lastOffset + 1;
  }
  return batches;
}

/** Whoever asks for any offset of a batch gets all of it. */
async function checkReadsWithin(log: PartitionLog, batch: Batch): Promise<void> {
  for (const offset of new Set([batch.baseOffset, batch.lastOffset])) {
    const { records } = await read(log, Math.max(offset, log.logStartOffset), 1);
    assert.deepEqual(Buffer.concat(records), batch.bytes(), `read at offset ${offset}`);
  }
}

async function read(log: PartitionLog, offset: number, maxBytes: number): Promise<FetchedRecords> {
  return log.read(offset, { maxBytes, isolation: 'logEnd', minOneBatch: true });
}

function checkBatch(batch: Batch, facts: Facts, isText: boolean): void {
  const at = `batch that ends at ${batch.lastOffset}`;
  batch.ensureValid();
  if (batch instanceof RecordBatch) checkHeader(batch, facts, at);
  else assert.equal(batch.lastOffset, facts['offset'], `offset of the ${at}`);
  assert.equal(batch.maxTimestamp, facts[batch.timestampType], `${batch.timestampType} of the ${at}`);
  for (const [field, value] of Object.entries({
    size: batch.sizeInBytes,
    magic: batch.magic,
    compresscodec: batch.compression,
    crc: batch.crc,
    isvalid: batch.isCrcValid(),
  })) {
    assert.equal(value, facts[field], `${field} of the ${at}`);
  }
  const records = [...batch.records()];
  assert.equal(records.length, facts['records'].length, `number of records of the ${at}`);
  for (const [index, record] of records.entries()) checkRecord(record, facts['records'][index], batch, isText);
}

function checkHeader(batch: RecordBatch, facts: Facts, at: string): void {
  for (const [field, value] of Object.entries({
    baseOffset: batch.baseOffset,
    lastOffset: batch.lastOffset,
    count: batch.recordCount,
    baseSequence: batch.baseSequence,
    lastSequence: batch.lastSequence,
    producerId: batch.producerId,
    producerEpoch: batch.producerEpoch,
    partitionLeaderEpoch: batch.partitionLeaderEpoch,
    isTransactional: batch.isTransactional,
    isControl: batch.isControl,
    deleteHorizonMs: batch.deleteHorizonMs,
  })) {
    assert.equal(value, facts[field], `${field} of the ${at}`);
  }
}

function checkRecord(record: LogRecord, facts: Facts, batch: Batch, isText: boolean): void {
  const at = `record ${record.offset}`;
  assert.equal(record.offset, facts['offset'], `offset of ${at}`);
  assert.equal(record.timestamp, facts[batch.timestampType], `timestamp of ${at}`);
  assert.equal(record.key?.length ?? -1, facts['keySize'], `keySize of ${at}`);
  assert.equal(record.value?.length ?? -1, facts['valueSize'], `valueSize of ${at}`);
  if (batch instanceof RecordBatch) {
    assert.equal(record.sequence, facts['sequence'], `sequence of ${at}`);
    assert.deepEqual(
      record.headers.map(({ key }) => key),
      facts['headerKeys'],
      `headers of ${at}`,
    );
  }
  if (facts['endTxnMarker'] !== undefined) {
    const marker = readEndTransactionMarker(record);
    assert.equal(marker?.type.toUpperCase(), facts['endTxnMarker'], `marker of ${at}`);
    assert.equal(marker?.coordinatorEpoch, facts['coordinatorEpoch'], `coordinator epoch of ${at}`);
  } else if (isText) {
    assert.equal(record.key?.toString(), facts['key'], `key of ${at}`);
    assert.equal(record.value?.toString(), facts['payload'], `value of ${at}`);
  }
}

export function checkIndexes(log: PartitionLog, entriesOf: (file: string) => readonly Facts[]): void {
  for (const { baseOffset, offsetIndex, timeIndex, transactionIndex } of log.segments.all()) {
    const offsets = Array.from({ length: offsetIndex.entryCount }, (_, index) => offsetIndex.at(index));
    assert.deepEqual(offsets, entriesOf(segmentName(baseOffset, 'index')), `${baseOffset}.index`);
    const times = Array.from({ length: timeIndex.entryCount }, (_, index) => timeIndex.at(index));
    assert.deepEqual(times, entriesOf(segmentName(baseOffset, 'timeindex')), `${baseOffset}.timeindex`);
    const transactions = transactionIndex.entries.map((entry) => ({ version: 0, ...entry }));
    assert.deepEqual(transactions, entriesOf(segmentName(baseOffset, 'txnindex')), `${baseOffset}.txnindex`);
  }
}

/** What a snapshot file says, in the fields of the dump. */
export function snapshotEntries(bytes: Buffer, path: string): Facts[] {
  return decodeSnapshot(bytes, path).map((state) => {
    const [last] = state.batches;
    return {
      producerId: state.producerId,
      producerEpoch: state.producerEpoch,
      coordinatorEpoch: state.coordinatorEpoch,
      currentTxnFirstOffset: state.transactionFirstOffset ?? null,
      lastTimestamp: state.lastTimestamp,
      ...(last !== undefined && {
        firstSequence: last.lastSequence - last.offsetDelta,
        lastSequence: last.lastSequence,
        lastOffset: last.lastOffset,
        offsetDelta: last.offsetDelta,
        timestamp: last.timestamp,
      }),
    };
  });
}

/** What an open log knows of its producers must be what its last snapshot says; what has expired since is gone. */
export function checkProducers(log: PartitionLog, snapshot: readonly Facts[], nowMs: number): void {
  const expected = snapshot
    .filter(
      (entry) => entry['currentTxnFirstOffset'] !== null || nowMs - entry['lastTimestamp'] < log.config.producerIdExpirationMs,
    )
    .map((entry) => ({
      producerId: entry['producerId'],
      producerEpoch: entry['producerEpoch'],
      lastSequence: entry['lastSequence'] ?? -1,
      lastTimestamp: entry['lastTimestamp'],
      coordinatorEpoch: entry['coordinatorEpoch'],
      currentTxnStartOffset: entry['currentTxnFirstOffset'] ?? -1,
    }));
  assert.deepEqual(byProducer(log.activeProducers()), byProducer(expected), 'active producers');
}

export function byProducer<T extends { readonly producerId: number } | Facts>(entries: readonly T[]): T[] {
  const idOf = (entry: T): number => (entry as Facts)['producerId'];
  return [...entries].sort((a, b) => idOf(a) - idOf(b));
}
