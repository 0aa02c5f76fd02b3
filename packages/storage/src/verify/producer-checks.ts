// Producer snapshots and transaction indexes, compared with what the batches say while these go by in their order.
//
// A log need not tell everything: what came before its first segment is gone, and compaction leaves gaps. Only what happened at or
// after `knownFrom`, the offset from which on there is no gap, is compared.

import { type Batch, RecordBatch } from '@odradek/protocol';
import { replayBatch } from '../log/producer-replay.ts';
import { type ProducerState, ProducerStates } from '../log/producer-states.ts';
import type { AbortedTransaction } from '../log/transaction-index.ts';
import type { Complain } from './index-checks.ts';

export interface Snapshot {
  readonly offset: number;
  readonly states: readonly ProducerState[];
  readonly complain: Complain;
}

/** The transaction index of one segment. */
export interface TransactionEntries {
  readonly entries: readonly AbortedTransaction[];
  /** Where an entry stands in the file. */
  positionOf(index: number): number;
  readonly complain: Complain;
}

export class ProducerChecks {
  readonly #states = new ProducerStates();
  readonly #snapshots: Snapshot[];
  #knownFrom: number;
  /** Where the log has got to. */
  #endOffset: number;
  #transactions: TransactionEntries | undefined;
  #nextEntry = 0;

  /** The snapshots ascend. */
  constructor(startOffset: number, snapshots: readonly Snapshot[]) {
    this.#knownFrom = startOffset;
    this.#endOffset = startOffset;
    this.#snapshots = [...snapshots];
  }

  beginSegment(transactions: TransactionEntries): void {
    this.#transactions = transactions;
    this.#nextEntry = 0;
  }

  take(batch: Batch, baseOffset: number, hasGaps: boolean): void {
    this.#compareUpTo(Math.min(this.#endOffset, baseOffset));
    if (baseOffset > this.#endOffset) this.#knownFrom = baseOffset;
    this.#compareUpTo(baseOffset);
    this.#complainOfSnapshotsWithin(baseOffset, batch.lastOffset);
    // A gap before the log start hides nothing that was not hidden already.
    if (hasGaps) this.#knownFrom = Math.max(this.#knownFrom, batch.lastOffset + 1);
    this.#endOffset = Math.max(this.#endOffset, batch.lastOffset + 1);
    if (!(batch instanceof RecordBatch) || !batch.hasProducerId) return;
    const completed = replayBatch(this.#states, batch);
    if (batch.isControl) this.#compareMarker(batch, completed?.isAborted === true ? completed : undefined);
  }

  /** After the last batch of the segment. */
  endSegment(): void {
    this.#complainOfEntriesBefore(Number.MAX_SAFE_INTEGER);
    this.#transactions = undefined;
  }

  /** After the last batch of the log, which is written up to the offset. */
  end(endOffset: number): void {
    this.#compareUpTo(endOffset);
    for (const { offset, complain } of this.#snapshots.splice(0)) {
      complain('snapshot-offset', undefined, `is of offset ${offset}, but the log ends at ${endOffset}`);
    }
  }

  // Transactions

  #compareMarker({ baseOffset: markerOffset, producerId }: RecordBatch, aborted: Aborted | undefined): void {
    this.#complainOfEntriesBefore(markerOffset);
    const transactions = this.#transactions;
    const entry = transactions?.entries[this.#nextEntry];
    if (transactions === undefined) return;
    if (entry?.lastOffset !== markerOffset) {
      if (aborted === undefined || aborted.firstOffset < this.#knownFrom) return;
      const words = `nothing of the transaction of producer ${producerId} that was aborted at offset ${markerOffset}`;
      transactions.complain('transaction-index', undefined, words);
      return;
    }
    const at = transactions.positionOf(this.#nextEntry);
    this.#nextEntry += 1;
    if (entry.producerId !== producerId || (aborted === undefined && entry.firstOffset >= this.#knownFrom)) {
      const words = `an abort of producer ${entry.producerId} at offset ${markerOffset}, where the log has none of that`;
      transactions.complain('transaction-index', at, words);
      return;
    }
    if (aborted === undefined) return;
    const lastStableOffset = this.#states.lastStableOffsetAfter(aborted);
    // One that began before is known in parts only, and may itself be what another had to wait for.
    const isFirstWrong = this.#areKnown(entry.firstOffset, aborted.firstOffset) && entry.firstOffset !== aborted.firstOffset;
    const isStableWrong = this.#areKnown(entry.lastStableOffset, lastStableOffset) && entry.lastStableOffset !== lastStableOffset;
    if (!isFirstWrong && !isStableWrong) return;
    const said = `firstOffset ${entry.firstOffset} and lastStableOffset ${entry.lastStableOffset}`;
    const words = `${said} for the abort at offset ${markerOffset}, but the log has ${aborted.firstOffset} and ${lastStableOffset}`;
    transactions.complain('transaction-index', at, words);
  }

  #areKnown(said: number, found: number): boolean {
    return said >= this.#knownFrom && found >= this.#knownFrom;
  }

  #complainOfEntriesBefore(offset: number): void {
    const transactions = this.#transactions;
    if (transactions === undefined) return;
    for (; this.#nextEntry < transactions.entries.length; this.#nextEntry++) {
      const { lastOffset, producerId } = transactions.entries[this.#nextEntry]!;
      if (lastOffset >= offset) return;
      const words = `an abort of producer ${producerId} at offset ${lastOffset}, where the log has no marker`;
      transactions.complain('transaction-index', transactions.positionOf(this.#nextEntry), words);
    }
  }

  // Snapshots

  /** All batches before `offset` have gone by. */
  #compareUpTo(offset: number): void {
    for (const snapshot of this.#takeSnapshots(offset)) this.#compare(snapshot);
  }

  #complainOfSnapshotsWithin(baseOffset: number, lastOffset: number): void {
    for (const { offset, complain } of this.#takeSnapshots(lastOffset)) {
      complain(
        'snapshot-offset',
        undefined,
        `is of offset ${offset}, which lies within the batch from ${baseOffset} to ${lastOffset}`,
      );
    }
  }

  #takeSnapshots(upTo: number): Snapshot[] {
    const next = this.#snapshots.findIndex(({ offset }) => offset > upTo);
    return this.#snapshots.splice(0, next < 0 ? this.#snapshots.length : next);
  }

  #compare({ offset, states, complain }: Snapshot): void {
    const inSnapshot = new Map(states.map((state) => [state.producerId, state]));
    for (const state of states) this.#compareProducer(state, offset, complain);
    for (const { producerId, transactionFirstOffset } of this.#states.states()) {
      // Others may have expired.
      if (inSnapshot.has(producerId) || transactionFirstOffset === undefined || transactionFirstOffset < this.#knownFrom) continue;
      const words = `nothing of producer ${producerId}, whose transaction from offset ${transactionFirstOffset} on is open`;
      complain('snapshot-content', undefined, words);
    }
  }

  #compareProducer(state: ProducerState, offset: number, complain: Complain): void {
    const { producerId } = state;
    const said = factsOf(state);
    const found = this.#states.get(producerId);
    const known = found === undefined ? undefined : factsOf(found);
    const say = (words: string): void => complain('snapshot-content', undefined, `producer ${producerId}: ${words}`);
    if (said.lastOffset >= offset) {
      say(`its last offset ${said.lastOffset} is not before ${offset}`);
      return;
    }
    if (said.lastOffset >= this.#knownFrom && known === undefined) {
      say(`its last offset is ${said.lastOffset}, but the log knows nothing of it`);
      return;
    }
    if (known === undefined) return;
    const isLastKnown = said.lastOffset >= this.#knownFrom || known.lastOffset >= this.#knownFrom;
    if (isLastKnown) {
      for (const field of ['producerEpoch', 'lastOffset', 'lastSequence', 'offsetDelta', 'lastTimestamp'] as const) {
        if (said[field] !== known[field]) say(`${field} is ${said[field]}, but the log has ${known[field]}`);
      }
      if (said.coordinatorEpoch >= 0 && known.coordinatorEpoch >= 0 && said.coordinatorEpoch !== known.coordinatorEpoch) {
        say(`coordinatorEpoch is ${said.coordinatorEpoch}, but the log has ${known.coordinatorEpoch}`);
      }
    }
    // One that began before may have ended in the gap, or began earlier than is known.
    const isOpenKnown = [said.firstOffset, known.firstOffset].every((offset) => offset < 0 || offset >= this.#knownFrom);
    if (isOpenKnown && said.firstOffset !== known.firstOffset) {
      say(`its open transaction begins at ${said.firstOffset}, but in the log at ${known.firstOffset}`);
    }
  }
}

interface Aborted {
  readonly producerId: number;
  readonly firstOffset: number;
  readonly lastOffset: number;
  readonly isAborted: boolean;
}

function factsOf({ batches, producerEpoch, coordinatorEpoch, lastTimestamp, transactionFirstOffset }: ProducerState) {
  const last = batches.at(-1);
  return {
    producerEpoch,
    coordinatorEpoch,
    lastTimestamp,
    firstOffset: transactionFirstOffset ?? -1,
    lastOffset: last?.lastOffset ?? -1,
    lastSequence: last?.lastSequence ?? -1,
    offsetDelta: last?.offsetDelta ?? 0,
  };
}
