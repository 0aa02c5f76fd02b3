// Walks over the batches of a records file, whole, in pieces of a certain size that grow where a batch needs more.

import { type Batch, batchAt, batchSizeAt, CorruptRecordError, logOverhead } from '@odradek/protocol';
import type { OpenFile } from '@odradek/runtime';

/** Where a walk stands. */
export interface BatchesPiece {
  /** Valid until the next piece is read. */
  readonly batches: readonly Batch[];
  /** Of the batches. */
  readonly sizeBytes: number;
}

export class BatchWindow {
  #buffer: Buffer;

  constructor(sizeBytes: number) {
    this.#buffer = Buffer.allocUnsafeSlow(sizeBytes);
  }

  /** The batches from the position on, as many as the window holds, up to `end`. Throws CorruptRecordError when there is none. */
  read(file: OpenFile, position: number, end: number): BatchesPiece {
    const read = this.#fill(file, position, end);
    const batches: Batch[] = [];
    let taken = 0;
    for (let size = 0; (size = batchSizeAt(this.#buffer, taken, read)) > 0; taken += size) {
      const batch = batchAt(this.#buffer, taken);
      batch.ensureValid();
      batches.push(batch);
    }
    if (taken > 0) return { batches, sizeBytes: taken };
    const neededBytes = read >= logOverhead ? this.#buffer.readInt32BE(8) + logOverhead : end;
    if (neededBytes <= this.#buffer.length || position + neededBytes > end) {
      throw new CorruptRecordError(`${file.path} has no whole batch at position ${position}`);
    }
    this.#buffer = Buffer.allocUnsafeSlow(neededBytes);
    return this.read(file, position, end);
  }

  #fill(file: OpenFile, position: number, end: number): number {
    return file.readSync(this.#buffer, 0, Math.min(this.#buffer.length, end - position), position);
  }
}
