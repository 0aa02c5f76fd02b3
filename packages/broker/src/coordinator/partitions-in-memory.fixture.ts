// A partition of an internal topic in memory, for tests: appends can be refused, lost, or left uncommitted for a while, and the log
// can be cut off, as by another leader.

import type { ProtocolError } from '@odradek/protocol';
import type { AppendedRecords, CoordinatorPartitions, CoordinatorReplay, Replayed } from './coordinator-partitions.ts';
import type { CoordinatorRecord } from './coordinator-shard.ts';

type Entry =
  | { readonly record: CoordinatorRecord; readonly producerId: number }
  | { readonly producerId: number; readonly isCommitted: boolean };

export class PartitionsInMemory implements CoordinatorPartitions {
  readonly count = 1;
  /** Told of every record that is appended. */
  onAppend: (record: CoordinatorRecord) => void = () => undefined;
  /** Thrown by the next appends. */
  refusal: ProtocolError | null = null;
  /** Appends are in the log, but wait until this is called off. */
  isHeld = false;
  /** How many batches have been appended. */
  batchCount = 0;
  /** The load waits at its begin. */
  isReplayHeld = false;
  readonly #log: Entry[] = [];
  #waiting: { readonly resolve: () => void; readonly reject: (error: ProtocolError) => void }[] = [];
  #replays: (() => void)[] = [];

  maxBatchBytes(): number {
    return 300;
  }

  append(_partition: number, _leaderEpoch: number, records: readonly CoordinatorRecord[]): AppendedRecords {
    if (this.refusal !== null) throw this.refusal;
    const firstOffset = this.#log.length;
    this.batchCount += 1;
    for (const record of records) {
      this.onAppend(record);
      this.#log.push({ record, producerId: -1 });
    }
    const committed = new Promise<void>((resolve, reject) => {
      if (this.isHeld) this.#waiting.push({ resolve, reject });
      else resolve();
    });
    return { firstOffset, committed };
  }

  /** As a transactional producer would, past the coordinator. */
  appendTransactional(producerId: number, record: CoordinatorRecord): number {
    return this.#log.push({ record, producerId }) - 1;
  }

  appendMarker(producerId: number, isCommitted: boolean): void {
    this.#log.push({ producerId, isCommitted });
  }

  /** Another leader never had what was not committed here. */
  truncateTo(endOffset: number): void {
    this.#log.length = endOffset;
  }

  get endOffset(): number {
    return this.#log.length;
  }

  /** Everything that was held is committed, or its fate will never be known. */
  release(error?: ProtocolError): void {
    this.isHeld = false;
    for (const { resolve, reject } of this.#waiting.splice(0)) {
      if (error === undefined) resolve();
      else reject(error);
    }
  }

  async replay(_partition: number, target: CoordinatorReplay): Promise<Replayed> {
    if (this.isReplayHeld) await new Promise<void>((resolve) => this.#replays.push(resolve));
    for (const [offset, entry] of this.#log.entries()) {
      if (!target.isWanted()) break;
      if ('record' in entry) target.record(entry.record, offset, entry.producerId);
      else target.endTransaction(entry.producerId, entry.isCommitted);
    }
    return { committed: Promise.resolve() };
  }

  releaseReplay(): void {
    this.isReplayHeld = false;
    for (const resolve of this.#replays.splice(0)) resolve();
  }
}
