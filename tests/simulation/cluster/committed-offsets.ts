// The rule of committed offsets: in the committed part of __consumer_offsets no group goes back in any partition. Everybody who commits in
// the simulation only ever goes on, so an offset that goes back was taken from somebody who had no say any more.

import assert from 'node:assert/strict';
import { decodeMessage, iterateBatches, OffsetCommitKey, OffsetCommitValue } from '@odradek/protocol';
import type { FileSystem } from '@odradek/runtime';

const commitRecordType = 1;

export class CommittedOffsets {
  /** By partition of the internal topic: up to where it has been looked through. */
  readonly #ends = new Map<number, number>();
  /** By group, topic and partition. */
  readonly #offsets = new Map<string, number>();

  /** Looks through what has been committed since the last time, in the log that lies in the directory. */
  follow(fileSystem: FileSystem, directory: string, partition: number, highWatermark: number): void {
    const from = this.#ends.get(partition) ?? 0;
    if (highWatermark <= from) return;
    this.#ends.set(partition, highWatermark);
    const segments = fileSystem
      .listSync(directory)
      .filter((name) => name.endsWith('.log'))
      .sort();
    segments.forEach((name, index) => {
      const nextBase = Number(segments[index + 1]?.slice(0, 20) ?? Number.MAX_SAFE_INTEGER);
      if (nextBase <= from || Number(name.slice(0, 20)) >= highWatermark) return;
      for (const batch of iterateBatches(fileSystem.readFileSync(`${directory}/${name}`))) {
        if (batch.lastOffset < from || batch.baseOffset >= highWatermark) continue;
        for (const { offset, key, value } of batch.records()) if (offset >= from && offset < highWatermark) this.#take(key, value);
      }
    });
  }

  #take(key: Buffer | null, value: Buffer | null): void {
    if (key?.readInt16BE(0) !== commitRecordType) return;
    const { group, topic, partition } = decodeMessage(OffsetCommitKey, 0, key.subarray(2));
    const name = `${group} in ${topic}-${partition}`;
    if (value === null) {
      this.#offsets.delete(name);
      return;
    }
    const { offset } = decodeMessage(OffsetCommitValue, value.readInt16BE(0), value.subarray(2));
    const before = this.#offsets.get(name) ?? -1;
    assert.ok(offset >= before, `the committed offset of ${name} went back from ${before} to ${offset}`);
    this.#offsets.set(name, offset);
  }
}
