// What one turn of the event loop appends to a log: the batches that are not written yet, and who waits for them.

import type { ScheduledLog, WriteScheduler } from './write-scheduler.ts';

export interface StagedBatch {
  readonly bytes: Buffer;
  readonly baseOffset: number;
  readonly nextOffset: number;
}

const settled = Promise.resolve();

export class StagedAppends {
  #batches: StagedBatch[] = [];
  #writing: PromiseWithResolvers<void> | undefined;

  get isEmpty(): boolean {
    return this.#batches.length === 0;
  }

  add(batch: StagedBatch): void {
    this.#batches.push(batch);
  }

  /** Settles as whoever takes them says, which the log is called for at the end of the turn. */
  whenWritten(writes: WriteScheduler, log: ScheduledLog): Promise<void> {
    if (this.#batches.length === 0) return settled;
    if (this.#writing === undefined) {
      this.#writing = Promise.withResolvers();
      // An append whose producer wants no answer has nobody who waits.
      this.#writing.promise.catch(() => undefined);
      writes.add(log);
    }
    return this.#writing.promise;
  }

  /** Takes them out: they have been written, or will not be. `waiting` is to be settled then; undefined when nobody waits. */
  take(): { readonly batches: readonly StagedBatch[]; readonly waiting: PromiseWithResolvers<void> | undefined } {
    const batches = this.#batches;
    const waiting = this.#writing;
    this.#batches = [];
    this.#writing = undefined;
    return { batches, waiting };
  }
}
