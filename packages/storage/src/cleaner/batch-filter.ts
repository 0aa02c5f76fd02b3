// What the cleaner leaves of one batch.
//
//   records   the last of each key; tombstones until the batch's delete horizon; nothing of an aborted transaction; what lies beyond
//             the part of the log that the map has seen, as it is; without a key nothing
//   batch     as it is where all its records stay; written anew with those that stay, in its own compression, with its offsets and
//             sequences; a header without records where it tells the last sequence or epoch of a producer, or where the log ends;
//             else nothing
//
// The first cleaning that meets a tombstone, or the marker of a transaction of which nothing is left, writes the time from which it
// may go into the batch: the delete horizon, `delete.retention.ms` from now, in the place of the base timestamp.

import {
  type Batch,
  buildEmptyBatch,
  buildLegacyBatch,
  buildRecordBatch,
  type LegacyBatch,
  type LogRecord,
  noTimestamp,
  RecordBatch,
  recordBatchOverhead,
  withRecordsOf,
} from '@odradek/protocol';
import type { LastOfProducer } from '../log/producer-states.ts';
import type { CleanedTransactions } from './cleaned-transactions.ts';
import type { ScratchMemory } from './compaction-memory.ts';
import { KeptRecords } from './kept-records.ts';
import type { SeenKeys } from './seen-keys.ts';

export interface BatchFilterOptions {
  readonly keys: Pick<SeenKeys, 'latestOffset' | 'isLast'>;
  readonly transactions: CleanedTransactions;
  readonly lastOfProducers: ReadonlyMap<number, LastOfProducer>;
  readonly highWatermark: number;
  readonly nowMs: number;
  readonly deleteRetentionMs: number;
  readonly maxDecompressedBytes: number;
  /** For batches that are written anew. */
  readonly scratch: ScratchMemory;
}

/** What is left of a batch, and what the log needs to know of it. */
export interface RetainedBatch {
  /** Valid until the scratch memory is given back, or the batch that it comes from is no longer there. */
  readonly bytes: Buffer;
  readonly lastOffset: number;
  readonly maxTimestamp: number;
  readonly recordCount: number;
}

export class BatchFilter {
  /** In the old formats tombstones go by the age of their segment. */
  keepsLegacyTombstones = true;
  readonly #options: BatchFilterOptions;
  readonly #kept = new KeptRecords();
  recordsRead = 0;
  recordsRetained = 0;
  keylessRecords = 0;

  constructor(options: BatchFilterOptions) {
    this.#options = options;
  }

  /** undefined: nothing is left. */
  filter(batch: Batch): RetainedBatch | undefined {
    return batch instanceof RecordBatch ? this.#filter(batch) : this.#filterLegacy(batch);
  }

  #filter(batch: RecordBatch): RetainedBatch | undefined {
    const { transactions, nowMs, deleteRetentionMs } = this.#options;
    const { isControl } = batch;
    const isOfNothing = isControl ? transactions.isMarkerOfNothing(batch) : transactions.isAborted(batch);
    const { deleteHorizonMs } = batch;
    const isPastHorizon = deleteHorizonMs !== null && deleteHorizonMs <= nowMs;
    const areRecordsDropped = isOfNothing && (!isControl || isPastHorizon);
    if (areRecordsDropped) {
      this.recordsRead += batch.recordCount;
      return this.#emptied(batch);
    }
    const kept = this.#choose(batch, !isPastHorizon);
    this.recordsRead += batch.recordCount;
    this.recordsRetained += kept.count;
    if (kept.count === 0) return this.#emptied(batch);
    const getsHorizon = deleteHorizonMs === null && (kept.hasTombstones || (isControl && isOfNothing));
    if (kept.count === batch.recordCount && !getsHorizon) return retained(batch, batch.bytes(), kept.count);
    // The times of the records count from it: with tombstones that are kept for ever it must not be more than can be read again.
    if (getsHorizon) return this.#rewritten(batch, Math.min(nowMs + deleteRetentionMs, Number.MAX_SAFE_INTEGER));
    return this.#canCopy(batch) ? this.#copied(batch) : this.#rewritten(batch, deleteHorizonMs);
  }

  /** Which records stay. Those of a control batch do. */
  #choose(batch: RecordBatch, keepsTombstones: boolean): KeptRecords {
    const { keys, maxDecompressedBytes } = this.#options;
    const { recordCount, baseOffset, baseTimestamp, isControl } = batch;
    const kept = this.#kept;
    const reader = batch.scan(maxDecompressedBytes);
    kept.begin(recordCount, reader.buffer);
    for (let index = 0; index < recordCount; index++) {
      reader.advance();
      const hasValue = reader.valueSize >= 0;
      const offset = baseOffset + reader.offsetDelta;
      if (offset <= keys.latestOffset && !isControl) {
        if (reader.keySize < 0) {
          this.keylessRecords += 1;
          continue;
        }
        if (!hasValue && !keepsTombstones) continue;
        if (!keys.isLast(offset, reader.buffer, reader.keyStart, reader.keyStart + reader.keySize)) continue;
      }
      const { position } = reader;
      kept.add(index, position - reader.sizeInBytes, position, baseTimestamp + reader.timestampDelta);
      if (!hasValue && !isControl) kept.hasTombstones = true;
    }
    return kept;
  }

  /** Whether the records go on counting from the same time: from the delete horizon where there is one, else from the first that stays. */
  #canCopy({ timestampType, hasDeleteHorizon, baseTimestamp }: RecordBatch): boolean {
    return timestampType === 'CreateTime' && (hasDeleteHorizon || this.#kept.firstTimestamp === baseTimestamp);
  }

  /** The batch with the records that stay. Its first and last offset remain, and with them the producer's last sequence. */
  #copied(batch: RecordBatch): RetainedBatch {
    const kept = this.#kept;
    const plain = this.#options.scratch.take(recordBatchOverhead + kept.sizeBytes);
    kept.copyTo(plain, recordBatchOverhead);
    const { maxTimestamp } = kept;
    const bytes = withRecordsOf(batch, plain, { recordCount: kept.count, maxTimestamp });
    return { bytes, lastOffset: batch.lastOffset, maxTimestamp, recordCount: kept.count };
  }

  /** The same, when the records count from another time: the one from which its tombstones or its marker may go, or their first. */
  #rewritten(batch: RecordBatch, deleteHorizonMs: number | null): RetainedBatch {
    const { timestampType, maxTimestamp, lastOffset } = batch;
    const isAppendTime = timestampType === 'LogAppendTime';
    const records = [...batch.records(this.#options.maxDecompressedBytes)].filter((_, index) => this.#kept.has(index));
    const bytes = buildRecordBatch(
      {
        baseOffset: batch.baseOffset,
        lastOffset,
        compression: batch.compression,
        timestampType: isAppendTime ? 'LogAppendTime' : 'CreateTime',
        logAppendTime: isAppendTime ? maxTimestamp : undefined,
        partitionLeaderEpoch: batch.partitionLeaderEpoch,
        producerId: batch.producerId,
        producerEpoch: batch.producerEpoch,
        baseSequence: batch.baseSequence,
        isTransactional: batch.isTransactional,
        isControl: batch.isControl,
        deleteHorizonMs,
      },
      records,
    );
    return { bytes, lastOffset, maxTimestamp: new RecordBatch(bytes).maxTimestamp, recordCount: records.length };
  }

  /** The header alone, where it is needed. */
  #emptied(batch: RecordBatch): RetainedBatch | undefined {
    return this.#isHeaderNeeded(batch) ? retained(batch, headerOf(batch), 0) : undefined;
  }

  #isHeaderNeeded(batch: RecordBatch): boolean {
    const { lastOfProducers, highWatermark } = this.#options;
    if (batch.nextOffset === highWatermark) return true;
    const last = batch.hasProducerId ? lastOfProducers.get(batch.producerId) : undefined;
    if (last === undefined) return false;
    if (!last.isReplicatedKnown) return true;
    if (last.lastDataOffsets.length > 0) return last.lastDataOffsets.includes(batch.lastOffset);
    return batch.isControl && batch.producerEpoch === last.producerEpoch;
  }

  #filterLegacy(batch: LegacyBatch): RetainedBatch | undefined {
    const { keys, maxDecompressedBytes } = this.#options;
    const kept: LogRecord[] = [];
    let count = 0;
    for (const record of batch.records(maxDecompressedBytes)) {
      count += 1;
      if (this.#keepsLegacy(record, keys)) kept.push(record);
    }
    this.recordsRead += count;
    this.recordsRetained += kept.length;
    const [first] = kept;
    if (first === undefined) return undefined;
    const { magic, maxTimestamp, compression, timestampType } = batch;
    if (kept.length === count) return retained(batch, batch.bytes(), count);
    const isAppendTime = timestampType === 'LogAppendTime';
    const bytes = buildLegacyBatch(
      {
        magic,
        baseOffset: first.offset,
        compression,
        timestampType: isAppendTime ? 'LogAppendTime' : 'CreateTime',
        logAppendTime: isAppendTime ? maxTimestamp : undefined,
      },
      kept,
    );
    return {
      bytes,
      lastOffset: kept.at(-1)?.offset ?? batch.lastOffset,
      maxTimestamp: kept.reduce((max, { timestamp }) => Math.max(max, timestamp), noTimestamp),
      recordCount: kept.length,
    };
  }

  #keepsLegacy({ key, value, offset }: LogRecord, keys: BatchFilterOptions['keys']): boolean {
    if (offset > keys.latestOffset) return true;
    if (key === null) {
      this.keylessRecords += 1;
      return false;
    }
    return (value !== null || this.keepsLegacyTombstones) && keys.isLast(offset, key, 0, key.length);
  }
}

function retained(batch: Batch, bytes: Buffer, recordCount: number): RetainedBatch {
  return { bytes, lastOffset: batch.lastOffset, maxTimestamp: batch.maxTimestamp, recordCount };
}

function headerOf(batch: RecordBatch): Buffer {
  const { timestampType } = batch;
  return buildEmptyBatch({
    baseOffset: batch.baseOffset,
    lastOffset: batch.lastOffset,
    maxTimestamp: batch.maxTimestamp,
    timestampType: timestampType === 'LogAppendTime' ? 'LogAppendTime' : 'CreateTime',
    partitionLeaderEpoch: batch.partitionLeaderEpoch,
    producerId: batch.producerId,
    producerEpoch: batch.producerEpoch,
    baseSequence: batch.baseSequence,
    isTransactional: batch.isTransactional,
    isControl: batch.isControl,
  });
}
