// Whether a log is what its model says.

import assert from 'node:assert/strict';
import { errorCodes, iterateBatches } from '@odradek/protocol';
import type { FetchedRecords, ReadOptions } from '../log/log-reads.ts';
import type { PartitionLog } from '../log/partition-log.ts';
import { batchOf, type LogModel, type ModelBatch } from './log-model.fixture.ts';

/** Holds after every step. */
export function checkLog(log: PartitionLog, model: LogModel): void {
  assert.equal(log.logStartOffset, model.startOffset, 'log start offset');
  assert.equal(log.logEndOffset, model.endOffset, 'log end offset');
  assert.ok(log.logStartOffset <= log.lastStableOffset, 'log start <= last stable');
  assert.ok(log.lastStableOffset <= log.highWatermark, 'last stable <= high watermark');
  assert.ok(log.highWatermark <= log.writtenEndOffset, 'high watermark <= written end');
  assert.ok(log.recoveryPoint <= log.writtenEndOffset, 'recovery point <= written end');
  assert.ok(log.directory.isOnline, 'the directory is online');
  const { lowest, highest } = model.lastStableOffset(log.highWatermark);
  const { lastStableOffset } = log;
  assert.ok(lowest <= lastStableOffset, `last stable offset ${lastStableOffset}, at least ${lowest}`);
  assert.ok(lastStableOffset <= highest, `last stable offset ${lastStableOffset}, at most ${highest}`);
  checkProducers(log, model);
  checkEpochs(log, model);
}

function checkProducers(log: PartitionLog, model: LogModel): void {
  const actual = new Map(log.activeProducers().map((producer) => [producer.producerId, producer]));
  // Producers whose records have all been deleted may be forgotten, even if a crash has brought the records back.
  const present = model.producers(model.rememberedFrom);
  for (const [producerId, { producerEpoch, lastSequence }] of model.producers(0)) {
    if ((present.get(producerId)?.lastSequence ?? -1) < 0) continue;
    const known = actual.get(producerId);
    assert.equal(known?.producerEpoch, producerEpoch, `epoch of producer ${producerId}`);
    assert.equal(known?.lastSequence, lastSequence, `last sequence of producer ${producerId}`);
  }
}

/** Batches of the old formats know no epoch, and have that of the batch before them. */
function checkEpochs(log: PartitionLog, model: LogModel): void {
  const from = model.rememberedFrom;
  const batches = model.batches
    .filter(({ endOffset }) => endOffset > from)
    .map(({ bytes, baseOffset, endOffset }) => ({ epoch: batchOf(bytes).partitionLeaderEpoch, baseOffset, endOffset }))
    .filter(({ epoch }) => epoch >= 0);
  for (const [index, { epoch, baseOffset, endOffset }] of batches.entries()) {
    const offset = Math.max(baseOffset, from);
    assert.equal(log.epochForOffset(offset), epoch, `epoch at ${offset}`);
    const next = batches[index + 1];
    if (next?.epoch === epoch) continue;
    const end = log.endOffsetForEpoch(epoch);
    assert.equal(end.leaderEpoch, epoch);
    // Behind a gap the next epoch may have begun before its first batch.
    const latestEnd = next?.baseOffset ?? log.logEndOffset;
    assert.ok(endOffset <= end.endOffset && end.endOffset <= latestEnd, `epoch ${epoch} ends at ${end.endOffset}`);
  }
}

export interface ReadParts {
  readonly log: PartitionLog;
  readonly model: LogModel;
  readonly offset: number;
  readonly options: ReadOptions;
}

/** Reads, and compares with what the model has there. */
export async function checkRead(parts: ReadParts, run: <T>(promise: Promise<T>) => Promise<T>): Promise<void> {
  const { log, model, offset, options } = parts;
  if (offset > model.endOffset) {
    assert.throws(() => log.read(offset, options), { code: errorCodes.OFFSET_OUT_OF_RANGE });
    return;
  }
  const bounds = { logEnd: log.writtenEndOffset, highWatermark: log.highWatermark, lastStable: log.lastStableOffset };
  const endOffset = bounds[options.isolation];
  const read = await run(Promise.resolve(log.read(offset, options)));
  const found = Buffer.concat(read.records);
  read.release?.();
  assert.equal(found.length, read.sizeBytes, 'size of what was read');
  const expected = expectedBatches(parts, endOffset);
  const offsets = [...iterateBatches(found)].map((batch) => [batch.baseOffset, batch.nextOffset]);
  // A read may end with a segment, and before it has all that it may have when it had to skip much; but it gets on.
  const next = expected[offsets.length];
  const last = expected[offsets.length - 1];
  if (next !== undefined && last !== undefined) {
    const isOtherSegment = log.segments.floorIndex(next.baseOffset) > log.segments.floorIndex(last.baseOffset);
    if (options.maxBytes <= 1000 || isOtherSegment) expected.length = offsets.length;
  }
  const what = `read at ${offset} below ${endOffset}`;
  assert.deepEqual(
    offsets,
    expected.map((batch) => [batch.baseOffset, batch.endOffset]),
    what,
  );
  assert.ok(found.equals(Buffer.concat(expected.map(({ bytes }) => bytes))), what);
  if (options.isolation === 'lastStable' && !model.isBeginningUnknown)
    checkAborted(model, read, offset, expected.at(-1)?.endOffset ?? -1);
}

function expectedBatches({ model, offset, options }: ReadParts, endOffset: number): ModelBatch[] {
  const expected: ModelBatch[] = [];
  let size = 0;
  for (const batch of model.batches.filter(({ endOffset: end }) => end > offset)) {
    const isForced = options.minOneBatch && expected.length === 0;
    if (offset >= endOffset || batch.endOffset > endOffset || (size + batch.bytes.length > options.maxBytes && !isForced)) break;
    expected.push(batch);
    size += batch.bytes.length;
  }
  return expected;
}

function checkAborted(model: LogModel, { abortedTransactions }: FetchedRecords, from: number, endOffset: number): void {
  const expected = model
    .transactions()
    .filter((each) => each.isAborted && each.endOffset >= from && each.firstOffset < endOffset)
    .map(({ producerId, firstOffset, endOffset: lastOffset }) => ({ producerId, firstOffset, lastOffset }));
  // Of a transaction that began before the log's start the log may know the beginning, or not any more.
  const isCut = (producerId: number, offset: number): boolean =>
    expected.some(
      (each) =>
        each.producerId === producerId &&
        each.firstOffset < model.startOffset &&
        each.firstOffset <= offset &&
        offset <= each.lastOffset,
    );
  const whole = (transactions: readonly { producerId: number; firstOffset: number }[]): unknown[] =>
    transactions
      .filter(({ producerId, firstOffset }) => !isCut(producerId, firstOffset))
      .map(({ producerId, firstOffset }) => ({ producerId, firstOffset }))
      .sort((a, b) => a.firstOffset - b.firstOffset);
  assert.deepEqual(whole(abortedTransactions ?? []), whole(expected), 'aborted transactions');
}

/** What is in the log now, whatever the model says. */
export async function contentsOf(log: PartitionLog, run: <T>(promise: Promise<T>) => Promise<T>): Promise<ModelBatch[]> {
  const found: ModelBatch[] = [];
  for (let offset = log.logStartOffset; offset < log.logEndOffset; ) {
    const read = Promise.resolve(log.read(offset, { maxBytes: 2000, isolation: 'logEnd', minOneBatch: true }));
    const batches = (await run(read)).records.flatMap((bytes) => [...iterateBatches(Buffer.from(bytes))]);
    if (batches.length === 0) break;
    for (const batch of batches) {
      batch.ensureValid();
      found.push({ bytes: batch.bytes(), baseOffset: batch.baseOffset, endOffset: batch.nextOffset });
    }
    offset = batches.at(-1)!.nextOffset;
  }
  return found;
}
