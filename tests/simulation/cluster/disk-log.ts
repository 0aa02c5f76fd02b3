// One replica's log as it stands on the simulated disk: read as files, behind the broker's back, and each batch once.

import assert from 'node:assert/strict';
import { batchSizeAt, iterateBatches } from '@odradek/protocol';
import type { FileSystem } from '@odradek/runtime';

/** A record as far as the checks care. */
export interface LoggedRecord {
  readonly key: string;
  readonly value: string;
}

/** A batch, and all that the log holds up to its end, as a number. */
export interface LoggedBatch {
  readonly leaderEpoch: number;
  readonly endOffset: number;
  readonly history: number;
}

/** Numbers all that a log can have held up to some offset: two logs have the same number there if they have the same bytes. */
export class Histories {
  readonly #numbers = new Map<string, number>();

  /** The history that goes on from an earlier one (0: from nothing) with this batch. */
  after(earlier: number, batch: Buffer): number {
    const step = `${earlier} ${batch.toString('latin1')}`;
    const known = this.#numbers.get(step);
    if (known !== undefined) return known;
    const number = this.#numbers.size + 1;
    this.#numbers.set(step, number);
    return number;
  }
}

interface PlacedBatch extends LoggedBatch {
  readonly file: string;
  /** Where it ends in the file. */
  readonly end: number;
}

/** A log that begins at offset 0 and of which nothing is ever compacted away. */
export class DiskLog {
  /** By offset. */
  readonly records: LoggedRecord[] = [];
  readonly #fileSystem: FileSystem;
  readonly #directory: string;
  readonly #numbers: Histories;
  readonly #batches: PlacedBatch[] = [];
  /** By the offset where the batch ends. */
  readonly #histories = new Map<number, number>();

  constructor(fileSystem: FileSystem, directory: string, numbers: Histories) {
    this.#fileSystem = fileSystem;
    this.#directory = directory;
    this.#numbers = numbers;
  }

  get end(): number {
    return this.records.length;
  }

  get history(): number {
    return this.#batches.at(-1)?.history ?? 0;
  }

  /** The history of what lies before the offset; undefined where no batch ends there. */
  historyBefore(offset: number): number | undefined {
    return offset === 0 ? 0 : this.#histories.get(offset);
  }

  /** Reads what has come, or forgets what has been cut off. `end` is where the log ends, as its broker says. Answers what has come. */
  follow(end: number): readonly LoggedBatch[] {
    while (end < this.end) {
      const cut = this.#batches.pop();
      this.#histories.delete(cut?.endOffset ?? 0);
      this.records.length = this.#batches.at(-1)?.endOffset ?? 0;
    }
    const known = this.#batches.length;
    while (this.end < end) this.#readOn(end);
    return this.#batches.slice(known);
  }

  #readOn(end: number): void {
    const from = this.end;
    const last = this.#batches.at(-1);
    if (last !== undefined) this.#readFile(last.file, last.end, end);
    if (this.end === from) this.#readFile(`${String(from).padStart(20, '0')}.log`, 0, end);
    assert.ok(this.end > from, `${this.#directory} has a gap at offset ${from}`);
  }

  #readFile(file: string, position: number, end: number): void {
    const path = `${this.#directory}/${file}`;
    if (this.#fileSystem.statSync(path) === undefined) return;
    const content = this.#fileSystem.readFileSync(path);
    if (batchSizeAt(content, position) === 0) return;
    let at = position;
    for (const batch of iterateBatches(content, position)) {
      if (batch.baseOffset >= end) return;
      assert.equal(batch.baseOffset, this.end, `${this.#directory} has a gap at offset ${this.end}`);
      for (const { key, value } of batch.records()) this.records.push({ key: String(key), value: String(value) });
      const history = this.#numbers.after(this.history, content.subarray(at, at + batch.sizeInBytes));
      at += batch.sizeInBytes;
      this.#batches.push({ leaderEpoch: batch.partitionLeaderEpoch, endOffset: this.end, history, file, end: at });
      this.#histories.set(this.end, history);
    }
  }
}
