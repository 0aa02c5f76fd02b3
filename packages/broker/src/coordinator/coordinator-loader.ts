// Reads a partition of an internal topic from its first record to its end, and hands every record to whoever builds a state
// from them. It reads in pieces and lets other work have its turn in between, because such a log may have gigabytes.

import { type Batch, iterateBatches, readEndTransactionMarker } from '@odradek/protocol';
import type { PartitionLog } from '@odradek/storage';
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

export async function replayLog(
  log: PartitionLog,
  target: CoordinatorReplay,
  { readBytes, mustGiveWay, giveWay }: LoadingPace,
): Promise<LoadedRecords> {
  let offset = log.logStartOffset;
  let recordCount = 0;
  const endOffset = log.logEndOffset;
  // What this turn has appended is in the file only after it.
  while (log.writtenEndOffset < endOffset) await giveWay();
  while (offset < endOffset && target.isWanted()) {
    // Compaction and deletion may take away what comes next.
    const from = Math.max(offset, log.logStartOffset);
    const { records, release } = await log.read(from, { maxBytes: readBytes, isolation: 'logEnd', minOneBatch: true });
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
