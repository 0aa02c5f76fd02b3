// Brings producer states up to date from the batches of a log: after a crash, and after a truncation.

import { type Batch, RecordBatch, readEndTransactionMarker } from '@odradek/protocol';
import type { LogSegment } from './log-segment.ts';
import type { LogSegments } from './log-segments.ts';
import type { BatchMetadata, CompletedTransaction, ProducerStates } from './producer-states.ts';

/** Takes the batches from `from` to `endOffset` into account. Only headers are read, but for transaction markers. */
export function replayProducers(states: ProducerStates, segments: LogSegments, from: number, endOffset: number): void {
  if (from >= endOffset) return;
  for (let index = Math.max(0, segments.floorIndex(from)); index < segments.count; index++) {
    const segment = segments.at(index)!;
    for (const { batch, position, sizeBytes } of segment.records.headersFrom(segment.searchStart(from))) {
      if (batch.lastOffset < from) continue;
      if (batch.lastOffset >= endOffset) return;
      if (batch instanceof RecordBatch && batch.hasProducerId) {
        replayBatch(states, batch.isControl ? segment.records.batchAt(position, sizeBytes) : batch);
      }
    }
  }
}

/** Takes one batch into account. Answers the transaction that it ended. */
export function replayBatch(states: ProducerStates, batch: Batch): CompletedTransaction | undefined {
  if (!(batch instanceof RecordBatch) || !batch.hasProducerId) return undefined;
  if (!batch.isControl) {
    states.append(batch);
    return undefined;
  }
  const marker = markerOf(batch);
  return marker === undefined ? undefined : states.appendMarker(batch, marker);
}

/** As `replayBatch`, and keeps the segment's transaction index. */
export function replayIndexed(states: ProducerStates, segment: LogSegment, batch: Batch): void {
  const completed = replayBatch(states, batch);
  if (completed?.isAborted !== true) return;
  segment.transactionIndex.append({
    producerId: completed.producerId,
    firstOffset: completed.firstOffset,
    lastOffset: completed.lastOffset,
    lastStableOffset: states.lastStableOffsetAfter(completed),
  });
}

/** A batch that has been appended before. */
export interface Repetition {
  /** It is this one; or it lies somewhere before this one, where nobody knows any more. */
  readonly batch: BatchMetadata;
  readonly isForgotten: boolean;
}

/**
 * Whether the batch may follow what the log has of its producer; throws as `ProducerStates.check` and `checkMarker` do. Answers the
 * batch that this one repeats, if it does.
 */
export function checkProducer(states: ProducerStates, batch: RecordBatch, isFromClient: boolean): Repetition | undefined {
  if (batch.isControl) {
    const marker = markerOf(batch);
    if (marker !== undefined) states.checkMarker(batch, marker.coordinatorEpoch);
    return undefined;
  }
  if (isFromClient) {
    const repeated = states.duplicateOf(batch);
    if (repeated !== undefined) return { batch: repeated, isForgotten: false };
    const oldest = states.forgottenBefore(batch);
    if (oldest !== undefined) return { batch: oldest, isForgotten: true };
  }
  states.check(batch, isFromClient);
  return undefined;
}

/** What the control batch says; undefined when it is no transaction marker. */
function markerOf(batch: Batch): { readonly isCommit: boolean; readonly coordinatorEpoch: number } | undefined {
  const [record] = batch.records();
  const marker = record === undefined ? null : readEndTransactionMarker(record);
  return marker === null ? undefined : { isCommit: marker.type === 'commit', coordinatorEpoch: marker.coordinatorEpoch };
}
