// Files that are opened when they are used and closed when too many are open, least recently used first. Ten thousand
// partitions have thirty thousand files, of which few are in use at any moment.

import { BufferPool, type FileSystem, type OpenFile, type OpenMode } from '@odradek/runtime';
import { isOutOfFiles } from './disk-fault.ts';

/** The file was closed for good: its segment is deleted, or its log is closed. */
export class RetiredFileError extends Error {
  override readonly name = 'RetiredFileError';
}

/** What a process may have open is often bounded at 1,024 or 4,096, and connections want their part. */
const defaultMaxOpen = 2048;

export class FilePool {
  /** For what is read from the files. */
  readonly buffers = new BufferPool({ largestBytes: 4 * 1024 * 1024, maxIdleBytes: 32 * 1024 * 1024 });
  readonly #fileSystem: FileSystem;
  #maxOpen: number;
  /** In the order of use, the last used last. */
  readonly #open = new Set<PooledFile>();
  #mostRecent: PooledFile | undefined;

  constructor(fileSystem: FileSystem, maxOpen = defaultMaxOpen) {
    this.#fileSystem = fileSystem;
    this.#maxOpen = maxOpen;
  }

  get fileSystem(): FileSystem {
    return this.#fileSystem;
  }

  get openCount(): number {
    return this.#open.size;
  }

  /** `readWrite` creates the file at its first use. */
  file(path: string, mode: OpenMode): PooledFile {
    return new PooledFile(this, path, mode);
  }

  open(file: PooledFile): OpenFile {
    this.#makeRoom(this.#maxOpen);
    const opened = this.openApart(file.path, file.mode);
    this.#open.add(file);
    this.#mostRecent = file;
    return opened;
  }

  /** Opens a file for the caller alone. Those that are kept open give way to it. */
  openApart(path: string, mode: OpenMode): OpenFile {
    try {
      return this.#fileSystem.openSync(path, mode);
    } catch (error) {
      if (!isOutOfFiles(error) || this.#open.size === 0) throw error;
      // The process may have fewer files open than we thought: from now on we are content with less.
      this.#maxOpen = Math.max(1, Math.floor(this.#open.size / 2));
      this.#makeRoom(this.#maxOpen);
      return this.#fileSystem.openSync(path, mode);
    }
  }

  used(file: PooledFile): void {
    if (this.#mostRecent === file) return;
    this.#open.delete(file);
    this.#open.add(file);
    this.#mostRecent = file;
  }

  closed(file: PooledFile): void {
    this.#open.delete(file);
    if (this.#mostRecent === file) this.#mostRecent = undefined;
  }

  #makeRoom(maxOpen: number): void {
    if (this.#open.size < maxOpen) return;
    for (const file of this.#open) {
      // One that the thread pool is reading or forcing to the device stays open beyond the limit.
      if (file.isPinned) continue;
      file.close();
      if (this.#open.size < maxOpen) return;
    }
  }
}

export class PooledFile {
  readonly path: string;
  readonly mode: OpenMode;
  readonly #pool: FilePool;
  #file: OpenFile | undefined;
  #pins = 0;
  #isRetired = false;

  constructor(pool: FilePool, path: string, mode: OpenMode) {
    this.#pool = pool;
    this.path = path;
    this.mode = mode;
  }

  get isOpen(): boolean {
    return this.#file !== undefined;
  }

  get isPinned(): boolean {
    return this.#pins > 0;
  }

  get isRetired(): boolean {
    return this.#isRetired;
  }

  /** The open file. Keep it for this turn only: it may be closed in a later one. Throws RetiredFileError. */
  use(): OpenFile {
    if (this.#file === undefined) {
      if (this.#isRetired) throw new RetiredFileError(`${this.path} is not in use any more`);
      this.#file = this.#pool.open(this);
    } else this.#pool.used(this);
    return this.#file;
  }

  /** Runs something asynchronous on the file, which stays open until it is done. */
  async pinned<T>(action: (file: OpenFile) => Promise<T>): Promise<T> {
    const file = this.use();
    this.#pins += 1;
    try {
      return await action(file);
    } finally {
      this.#pins -= 1;
      if (this.#pins === 0 && this.#isRetired) this.close();
    }
  }

  /** Opened again at the next use. Not while pinned. */
  close(): void {
    const file = this.#file;
    if (file === undefined || this.#pins > 0) return;
    this.#file = undefined;
    this.#pool.closed(this);
    file.closeSync();
  }

  /** Closes it for good: it may have another name from now on, or none. What is under way may end. */
  retire(): void {
    this.#isRetired = true;
    this.close();
  }
}

/** A write that fails may have been done in part, as the last one before the disk is full. A full disk still lets a file shrink. */
export function appendOrNothing(file: OpenFile, chunks: readonly Uint8Array[], sizeBytes: number): void {
  try {
    file.writeSync(chunks, sizeBytes);
  } catch (error) {
    file.truncateSync(sizeBytes);
    throw error;
  }
}
