// Which transactions a walk over a log is in the middle of, and what the cleaner may therefore throw away. Only what lies before
// the last stable offset is cleaned, so the end of every transaction is known, and the transaction index tells the aborted ones
// before their records come.
//
//   records of an aborted transaction   go at once, whatever their keys
//   the marker that ends a transaction  may go when no batch of the transaction is left before it; the delete horizon then gives
//                                       readers who are within the transaction time to see it

import { type RecordBatch, readEndTransactionMarker } from '@odradek/protocol';
import type { AbortedTransaction } from '../log/transaction-index.ts';

interface AbortedOnTheWay {
  readonly transaction: AbortedTransaction;
  hasBatches: boolean;
}

export class CleanedTransactions {
  /** Aborted transactions that the walk has not come to, by descending first offset. */
  readonly #ahead: AbortedTransaction[] = [];
  readonly #aborted = new Map<number, AbortedOnTheWay>();
  readonly #committed = new Set<number>();
  /** Told of each aborted transaction of which something is left, when its marker is met. */
  #keep: (transaction: AbortedTransaction) => void = () => undefined;

  /** Where aborted transactions of which something is left are written to from now on. */
  keepIn(keep: (transaction: AbortedTransaction) => void): void {
    this.#keep = keep;
  }

  /** Aborted transactions that have records in what comes next; those that are known already do no harm. */
  expect(transactions: readonly AbortedTransaction[]): void {
    if (transactions.length === 0) return;
    this.#ahead.push(...transactions);
    this.#ahead.sort((a, b) => b.firstOffset - a.firstOffset);
  }

  /** Takes a batch of records into account. True: its transaction was aborted. */
  isAborted(batch: { readonly lastOffset: number; readonly isTransactional: boolean; readonly producerId: number }): boolean {
    this.#reach(batch.lastOffset);
    if (!batch.isTransactional) return false;
    const aborted = this.#aborted.get(batch.producerId);
    if (aborted === undefined) {
      this.#committed.add(batch.producerId);
      return false;
    }
    aborted.hasBatches = true;
    return true;
  }

  /** Takes a control batch into account. True: nothing is left for which it would be needed. */
  isMarkerOfNothing(batch: RecordBatch): boolean {
    this.#reach(batch.lastOffset);
    const [record] = batch.records();
    // It has been emptied already, and says nothing any more.
    if (record === undefined) return true;
    const marker = readEndTransactionMarker(record);
    if (marker === null) return false;
    if (marker.type === 'commit') return !this.#committed.delete(batch.producerId);
    const aborted = this.#aborted.get(batch.producerId);
    this.#aborted.delete(batch.producerId);
    if (aborted?.hasBatches !== true) return true;
    this.#keep(aborted.transaction);
    return false;
  }

  #reach(offset: number): void {
    for (let next = this.#ahead.at(-1); next !== undefined && next.firstOffset <= offset; next = this.#ahead.at(-1)) {
      this.#ahead.pop();
      if (!this.#aborted.has(next.producerId)) this.#aborted.set(next.producerId, { transaction: next, hasBatches: false });
    }
  }
}
