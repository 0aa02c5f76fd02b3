// The entries of an index as they stand in its file, for tools that look at it. Zeros that a killed Kafka left behind the last entry
// are entries here too, and nothing is cut off.

import type { FileSystem } from '@odradek/runtime';
import { type OffsetPosition, offsetEntryBytes, readOffsetEntry } from '../log/offset-index.ts';
import { readTimeEntry, type TimestampOffset, timeEntryBytes } from '../log/time-index.ts';

abstract class IndexView<Entry> {
  readonly path: string;
  readonly baseOffset: number;
  protected readonly bytes: Buffer;
  readonly #entryBytes: number;
  #realCount: number | undefined;

  constructor(fileSystem: FileSystem, path: string, baseOffset: number, entryBytes: number) {
    this.path = path;
    this.baseOffset = baseOffset;
    this.bytes = fileSystem.readFileSync(path);
    this.#entryBytes = entryBytes;
  }

  get sizeBytes(): number {
    return this.bytes.length;
  }

  /** Whole ones; see `hasWholeEntries`. */
  get entryCount(): number {
    return Math.floor(this.bytes.length / this.#entryBytes);
  }

  get hasWholeEntries(): boolean {
    return this.bytes.length % this.#entryBytes === 0;
  }

  /** Without the zeros behind the last that says anything. */
  get realCount(): number {
    this.#realCount ??= this.#countReal();
    return this.#realCount;
  }

  #countReal(): number {
    let end = this.bytes.length;
    while (end > 0 && this.bytes[end - 1] === 0) end -= 1;
    return Math.min(this.entryCount, Math.ceil(end / this.#entryBytes));
  }

  abstract at(index: number): Entry;

  positionOf(index: number): number {
    return index * this.#entryBytes;
  }
}

export class OffsetIndexView extends IndexView<OffsetPosition> {
  /** Throws ENOENT where there is no such file. */
  constructor(fileSystem: FileSystem, path: string, baseOffset: number) {
    super(fileSystem, path, baseOffset, offsetEntryBytes);
  }

  override at(index: number): OffsetPosition {
    return readOffsetEntry(this.bytes, this.positionOf(index), this.baseOffset);
  }
}

export class TimeIndexView extends IndexView<TimestampOffset> {
  /** Throws ENOENT where there is no such file. */
  constructor(fileSystem: FileSystem, path: string, baseOffset: number) {
    super(fileSystem, path, baseOffset, timeEntryBytes);
  }

  override at(index: number): TimestampOffset {
    return readTimeEntry(this.bytes, this.positionOf(index), this.baseOffset);
  }
}
