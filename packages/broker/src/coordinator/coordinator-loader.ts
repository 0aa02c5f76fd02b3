// Reads a partition of an internal topic from its first record to its end, and hands every record to whoever builds a state
// from them. It reads in pieces and lets other work have its turn in between, because such a log may have gigabytes.

import { type Batch, iterateBatches, readEndTransactionMarker } from '@odradek/protocol';
import type { FetchedRecords, PartitionLog } from '@odradek/storage';
import type { CoordinatorReplay } from './coordinator-partitions.ts';

export interface LoadedRecords {
  /** The end of what was read. */
  readonly endOffset: number;
  readonly recordCount: number;
}

export interface LoadingPace {
  /** The size of a piece that is read. */
  readonly readBytes: number;
  /** Whether others have waited long enough. */
  readonly mustGiveWay: () => boolean;
  /** Settles when other work has had its turn. */
  readonly giveWay: () => Promise<void>;
}

/** The log may move to another directory meanwhile: the one to read is always the partition's of the moment. */
export async function replayLog(
  partition: { readonly log: PartitionLog },
  target: CoordinatorReplay,
  { readBytes, mustGiveWay, giveWay }: LoadingPace,
): Promise<LoadedRecords> {
  let offset = partition.log.logStartOffset;
  let recordCount = 0;
  const endOffset = partition.log.logEndOffset;
  // What this turn has appended is in the file only after it.
  while (partition.log.writtenEndOffset < endOffset) await giveWay();
  while (offset < endOffset && target.isWanted()) {
    const { log } = partition;
    // Compaction and deletion may take away what comes next.
    const from = Math.max(offset, log.logStartOffset);
    const read = await readUnlessMoved(partition, log, from, readBytes);
    if (read === undefined) continue;
    const { records, release } = read;
    if (records.length === 0) break;
    for (const batch of batchesOf(records)) {
      if (batch.nextOffset <= from) continue;
      recordCount += replayBatch(batch, target);
      offset = batch.nextOffset;
      if (!mustGiveWay()) continue;
      await giveWay();
      if (!target.isWanted()) break;
    }
    release?.();
    await giveWay();
  }
  return { endOffset, recordCount };
}

/** undefined: the log has moved while it was read. */
async function readUnlessMoved(
  partition: { readonly log: PartitionLog },
  log: PartitionLog,
  from: number,
  maxBytes: number,
): Promise<FetchedRecords | undefined> {
  try {
    return await log.read(from, { maxBytes, isolation: 'logEnd', minOneBatch: true });
  } catch (error) {
    if (partition.log === log) throw error;
    return undefined;
  }
}

function* batchesOf(pieces: readonly Buffer[]): Iterable<Batch> {
  for (const piece of pieces) yield* iterateBatches(piece);
}

/** Keys and values are copied by whoever keeps them: they are slices of what was read. */
function replayBatch(batch: Batch, target: CoordinatorReplay): number {
  let count = 0;
  batch.ensureValid();
  for (const record of batch.records()) {
    count += 1;
    if (batch.isControl) {
      const marker = readEndTransactionMarker(record);
      if (marker !== null) target.endTransaction(batch.producerId, marker.type === 'commit');
      continue;
    }
    // A record without a key says nothing about anything; compacted topics do not take them.
    if (record.key === null) continue;
    const producerId = batch.isTransactional ? batch.producerId : -1;
    target.record({ key: record.key, value: record.value }, record.offset, producerId);
  }
  return count;
}
