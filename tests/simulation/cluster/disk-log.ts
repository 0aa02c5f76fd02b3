// One replica's log as it stands on the simulated disk: read as files, behind the broker's back, and each batch once.

import assert from 'node:assert/strict';
import { batchSizeAt, iterateBatches } from '@odradek/protocol';
import type { FileSystem } from '@odradek/runtime';

/** A record as far as the checks care. */
export interface LoggedRecord {
  readonly leaderEpoch: number;
  readonly key: string;
  readonly value: string;
}

/** Numbers all that a log can have held up to some offset: two logs have the same number there if they have the same records. */
export class Histories {
  readonly #numbers = new Map<string, number>();

  /** The history that goes on from an earlier one (0: from nothing) with this record. */
  after(earlier: number, { leaderEpoch, key, value }: LoggedRecord): number {
    const step = `${earlier} ${leaderEpoch} ${key} ${value}`;
    const known = this.#numbers.get(step);
    if (known !== undefined) return known;
    const number = this.#numbers.size + 1;
    this.#numbers.set(step, number);
    return number;
  }
}

/** A log that begins at offset 0 and of which nothing is ever compacted away. */
export class DiskLog {
  /** By offset. */
  readonly records: LoggedRecord[] = [];
  /** By offset: the history that ends with it. */
  readonly histories: number[] = [];
  readonly #fileSystem: FileSystem;
  readonly #directory: string;
  readonly #numbers: Histories;
  readonly #batches: { readonly file: string; readonly end: number; readonly endOffset: number }[] = [];

  constructor(fileSystem: FileSystem, directory: string, numbers: Histories) {
    this.#fileSystem = fileSystem;
    this.#directory = directory;
    this.#numbers = numbers;
  }

  get end(): number {
    return this.records.length;
  }

  /** Reads what has come, or forgets what has been cut off. `end` is where the log ends, as its broker says. */
  follow(end: number): void {
    while (end < this.end) {
      this.#batches.pop();
      this.records.length = this.#batches.at(-1)?.endOffset ?? 0;
      this.histories.length = this.records.length;
    }
    while (this.end < end) this.#readOn(end);
  }

  /** The history of what lies before the offset. */
  historyBefore(offset: number): number {
    return this.histories[offset - 1] ?? 0;
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
      for (const { key, value } of batch.records()) {
        const record = { leaderEpoch: batch.partitionLeaderEpoch, key: String(key), value: String(value) };
        this.histories.push(this.#numbers.after(this.historyBefore(this.end), record));
        this.records.push(record);
      }
      at += batch.sizeInBytes;
      this.#batches.push({ file, end: at, endOffset: this.end });
    }
  }
}
