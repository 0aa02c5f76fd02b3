// A file of fixed-size entries in ascending order, searched by halving. Base of the offset index and the time index.
//
// The last entries are kept in memory until there are enough of them for a write: an index is a hint that recovery can make anew,
// so nothing is lost with them. Kafka preallocates the file of an active segment, and a killed broker leaves the zeros behind the
// last entry; the subclass says how many entries of such a file are real.

import { appendOrNothing, type FilePool, type PooledFile } from './file-pool.ts';

/** From how many entries on they are worth a write. */
const entriesPerWrite = 64;
const firstTailEntries = 8;

export interface IndexFileOptions {
  readonly baseOffset: number;
  readonly maxBytes: number;
  /** Nothing of it is on disk yet. */
  readonly isNew: boolean;
}

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
  #isSynced = true;

  constructor(pool: FilePool, path: string, entryBytes: number, options: IndexFileOptions) {
    this.baseOffset = options.baseOffset;
    this.#pool = pool;
    this.#file = pool.file(path, 'readWrite');
    this.#entryBytes = entryBytes;
    this.#maxEntries = Math.floor(options.maxBytes / entryBytes);
    if (options.isNew) this.#fileEntries = 0;
  }

  get path(): string {
    return this.#file.path;
  }

  get entryCount(): number {
    return this.#inFile() + this.#tailEntries;
  }

  get maxEntries(): number {
    return this.#maxEntries;
  }

  /** How many entries of a file are real: those before the zeros that were preallocated. */
  protected abstract countEntries(entryCount: number, entryAt: (index: number) => Buffer): number;

  /** The entry's bytes, valid until the next call. */
  protected entryAt(index: number): Buffer {
    const inFile = this.#inFile();
    if (index < inFile) return this.#readEntry(index);
    return this.#entryIn(this.#tail!, index - inFile);
  }

  #entryIn(entries: Buffer, index: number): Buffer {
    return entries.subarray(index * this.#entryBytes, (index + 1) * this.#entryBytes);
  }

  /** Room for one more entry, which the caller fills at once. */
  protected addEntry(): Buffer {
    this.#inFile();
    const start = this.#tailEntries * this.#entryBytes;
    this.#tail = withRoomFor(this.#tail, start + this.#entryBytes, firstTailEntries * this.#entryBytes);
    this.#tailEntries += 1;
    return this.#tail.subarray(start, start + this.#entryBytes);
  }

  /**
   * The last entry for which `isAtMost` holds, which it does for all before it; -1 when for none. Once the entries that are left fit
   * into a block they are read together: a call to the disk costs more than all the halving.
   */
  protected lastWhere(isAtMost: (entry: Buffer) => boolean): number {
    const inFile = this.#inFile();
    const tail = this.#tail;
    if (tail !== undefined && this.#tailEntries > 0 && isAtMost(this.#entryIn(tail, 0))) {
      return inFile + lastIndexWhere(this.#tailEntries, (index) => isAtMost(this.#entryIn(tail, index)));
    }
    let low = 0;
    let high = inFile - 1;
    while ((high - low + 1) * this.#entryBytes > blockScratch.length) {
      const middle = (low + high) >>> 1;
      if (isAtMost(this.#readEntry(middle))) low = middle + 1;
      else high = middle - 1;
    }
    const count = high - low + 1;
    if (count > 0) this.#file.use().readSync(blockScratch, 0, count * this.#entryBytes, low * this.#entryBytes);
    return low + lastIndexWhere(count, (index) => isAtMost(this.#entryIn(blockScratch, index)));
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
    this.#isSynced = false;
  }

  /** Writes what is only in memory, if it has become much. */
  maybeWrite(): void {
    if (this.#tailEntries >= entriesPerWrite) this.write();
  }

  /** Writes what is only in memory. The file is there afterwards, even if it is empty. */
  write(): void {
    const inFile = this.#inFile();
    if (this.#tailEntries === 0 && inFile > 0) return;
    const tail = this.#tail?.subarray(0, this.#tailEntries * this.#entryBytes);
    const file = this.#file.use();
    if (tail !== undefined && tail.length > 0) appendOrNothing(file, [tail], inFile * this.#entryBytes);
    this.#fileEntries += this.#tailEntries;
    this.#tailEntries = 0;
    this.#tail = undefined;
    this.#isSynced = false;
  }

  /** Forces to the device what was written. */
  async sync(): Promise<void> {
    if (this.#isSynced) return;
    await this.#file.pinned((file) => {
      this.#isSynced = true;
      return file.sync();
    });
  }

  syncSync(): void {
    if (this.#isSynced) return;
    this.#file.use().syncSync();
    this.#isSynced = true;
  }

  /** Drops all entries, and what a file has of them. */
  reset(): void {
    this.#tailEntries = 0;
    this.#fileEntries = 0;
    if (this.#pool.fileSystem.statSync(this.path) === undefined) return;
    this.#file.use().truncateSync(0);
    this.#isSynced = false;
  }

  /** The segment is not in use any more. */
  retire(): void {
    this.#file.retire();
  }

  #inFile(): number {
    if (this.#fileEntries < 0) {
      const size = this.#pool.fileSystem.statSync(this.path)?.size ?? 0;
      const whole = Math.floor(size / this.#entryBytes);
      this.#fileEntries = whole === 0 ? 0 : this.countEntries(whole, (index) => this.#readEntry(index));
      // What follows would be read as entries by others once something is written behind it.
      if (this.#fileEntries * this.#entryBytes < size) this.#file.use().truncateSync(this.#fileEntries * this.#entryBytes);
    }
    return this.#fileEntries;
  }

  #readEntry(index: number): Buffer {
    this.#file.use().readSync(entryScratch, 0, this.#entryBytes, index * this.#entryBytes);
    return entryScratch;
  }
}

/** For the entry that was read last, whatever the file: they are looked at and let go. Large enough for any. */
const entryScratch = Buffer.alloc(16);
/** For the end of a search: a page of the file, more or less. */
const blockScratch = Buffer.alloc(4096);

/** The last of the indexes below `count` for which it holds, which it does for all before it; -1 when for none. */
function lastIndexWhere(count: number, holds: (index: number) => boolean): number {
  let low = 0;
  let high = count - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle - 1;
  }
  return high;
}

function withRoomFor(buffer: Buffer | undefined, size: number, firstSize: number): Buffer {
  if (buffer !== undefined && buffer.length >= size) return buffer;
  const larger = Buffer.allocUnsafe(Math.max(size, firstSize, (buffer?.length ?? 0) * 2));
  buffer?.copy(larger);
  return larger;
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
