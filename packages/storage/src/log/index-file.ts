// A file of fixed-size entries in ascending order, searched by halving. Base of the offset index and the time index.
//
// The last entries are kept in memory until there are enough of them for a write; an index is a hint that recovery can rebuild,
// so nothing is lost with them. Kafka preallocates the file of an active segment, and a killed broker leaves the zeros behind the
// last entry; the subclass says how many entries of such a file are real.

import type { FilePool, PooledFile } from './file-pool.ts';

/** How many entries are written at a time. */
const entriesPerWrite = 64;

export abstract class IndexFile {
  readonly baseOffset: number;
  readonly #file: PooledFile;
  readonly #pool: FilePool;
  readonly #entryBytes: number;
  readonly #maxEntries: number;
  /** -1: not known yet; the file has not been looked at. */
  #fileEntries = -1;
  #tail: Buffer | undefined;
  #tailEntries = 0;
  readonly #entry: Buffer;

  constructor(pool: FilePool, path: string, options: { baseOffset: number; entryBytes: number; maxBytes: number; isNew: boolean }) {
    this.baseOffset = options.baseOffset;
    this.#pool = pool;
    this.#file = pool.file(path, 'readWrite');
    this.#entryBytes = options.entryBytes;
    this.#maxEntries = Math.floor(options.maxBytes / options.entryBytes);
    this.#entry = Buffer.allocUnsafe(options.entryBytes);
    if (options.isNew) this.#fileEntries = 0;
  }

  get path(): string {
    return this.#file.path;
  }

  get entryCount(): number {
    return this.#inFile() + this.#tailEntries;
  }

  get isFull(): boolean {
    return this.entryCount >= this.#maxEntries;
  }

  get existsOnDisk(): boolean {
    return this.#pool.fileSystem.statSync(this.path) !== undefined;
  }

  /** How many entries of a file are real: those before the zeros that were preallocated. */
  protected abstract countEntries(entryCount: number, entryAt: (index: number) => Buffer): number;

  /** The entry's bytes, valid until the next call. */
  protected entryAt(index: number): Buffer {
    const inFile = this.#inFile();
    if (index >= inFile) {
      const start = (index - inFile) * this.#entryBytes;
      return this.#tail!.subarray(start, start + this.#entryBytes);
    }
    this.#file.use().readSync(this.#entry, 0, this.#entryBytes, index * this.#entryBytes);
    return this.#entry;
  }

  /** Room for one more entry, which the caller fills at once. */
  protected addEntry(): Buffer {
    this.#inFile();
    if (this.#tailEntries === entriesPerWrite) this.#writeTail();
    this.#tail ??= Buffer.allocUnsafeSlow(entriesPerWrite * this.#entryBytes);
    const start = this.#tailEntries * this.#entryBytes;
    this.#tailEntries += 1;
    return this.#tail.subarray(start, start + this.#entryBytes);
  }

  /** The last entry for which `isAtMost` holds, which it does for all before it; -1 when for none. */
  protected lastWhere(isAtMost: (entry: Buffer) => boolean): number {
    let low = 0;
    let high = this.entryCount - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      if (isAtMost(this.entryAt(middle))) low = middle + 1;
      else high = middle - 1;
    }
    return high;
  }

  /** Keeps the first `count` entries. */
  protected keep(count: number): void {
    const inFile = this.#inFile();
    if (count >= inFile) {
      this.#tailEntries = Math.min(this.#tailEntries, count - inFile);
      return;
    }
    this.#tailEntries = 0;
    this.#fileEntries = count;
    this.#file.use().truncateSync(count * this.#entryBytes);
  }

  /** Writes what is only in memory. */
  write(): void {
    if (this.#tailEntries > 0) this.#writeTail();
    else if (this.#fileEntries === 0) this.#file.use();
  }

  /** Drops all entries, and what a file has of them. */
  reset(): void {
    this.#tailEntries = 0;
    this.#fileEntries = 0;
    if (this.existsOnDisk) this.#file.use().truncateSync(0);
  }

  /** Kafka takes a file of another size for a broken one. */
  get hasWholeEntries(): boolean {
    const size = this.#pool.fileSystem.statSync(this.path)?.size ?? 0;
    return size % this.#entryBytes === 0;
  }

  renamed(path: string): void {
    this.#file.renamed(path);
  }

  close(): void {
    this.#file.close();
  }

  #writeTail(): void {
    const tail = this.#tail!.subarray(0, this.#tailEntries * this.#entryBytes);
    this.#file.use().writeSync([tail], this.#inFile() * this.#entryBytes);
    this.#fileEntries += this.#tailEntries;
    this.#tailEntries = 0;
  }

  #inFile(): number {
    if (this.#fileEntries < 0) {
      const size = this.#pool.fileSystem.statSync(this.path)?.size ?? 0;
      const whole = Math.floor(size / this.#entryBytes);
      this.#fileEntries =
        whole === 0
          ? 0
          : this.countEntries(whole, (index) => {
              this.#file.use().readSync(this.#entry, 0, this.#entryBytes, index * this.#entryBytes);
              return this.#entry;
            });
      // What follows would be read as entries by others once something is written behind it.
      if (this.#fileEntries < whole) this.#file.use().truncateSync(this.#fileEntries * this.#entryBytes);
    }
    return this.#fileEntries;
  }
}

/** Halves towards the end of the real entries, where all behind them are zeros. */
export function countBeforeZeros(entryCount: number, isZero: (index: number) => boolean): number {
  if (!isZero(entryCount - 1)) return entryCount;
  let low = 0;
  let high = entryCount - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isZero(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
