// Files that are opened when they are used and closed when too many are open, least recently used first. Ten thousand
// partitions have thirty thousand files, of which few are in use at any moment.

import { BufferPool, type FileSystem, type OpenFile, type OpenMode } from '@odradek/runtime';

export class FilePool {
  /** For what is read from the files. */
  readonly buffers = new BufferPool({ largestBytes: 4 * 1024 * 1024, maxIdleBytes: 32 * 1024 * 1024 });
  readonly #fileSystem: FileSystem;
  readonly #maxOpen: number;
  /** In the order of use, the last used last. */
  readonly #open = new Set<PooledFile>();
  #mostRecent: PooledFile | undefined;

  constructor(fileSystem: FileSystem, maxOpen = 512) {
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
    this.#makeRoom();
    const opened = this.#fileSystem.openSync(file.path, file.mode);
    this.#open.add(file);
    this.#mostRecent = file;
    return opened;
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

  #makeRoom(): void {
    if (this.#open.size < this.#maxOpen) return;
    for (const file of this.#open) {
      // One that the thread pool is reading or forcing to the device stays open beyond the limit.
      if (file.isPinned) continue;
      file.close();
      if (this.#open.size < this.#maxOpen) return;
    }
  }
}

export class PooledFile {
  readonly mode: OpenMode;
  readonly #pool: FilePool;
  #path: string;
  #file: OpenFile | undefined;
  #pins = 0;

  constructor(pool: FilePool, path: string, mode: OpenMode) {
    this.#pool = pool;
    this.#path = path;
    this.mode = mode;
  }

  get path(): string {
    return this.#path;
  }

  get isOpen(): boolean {
    return this.#file !== undefined;
  }

  get isPinned(): boolean {
    return this.#pins > 0;
  }

  /** The open file. Keep it for this turn only: it may be closed in a later one. */
  use(): OpenFile {
    if (this.#file === undefined) this.#file = this.#pool.open(this);
    else this.#pool.used(this);
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
      if (this.#pins === 0 && this.#file !== file) file.closeSync();
    }
  }

  /** The file has another name now. What is open stays open: the name does not matter to it. */
  renamed(path: string): void {
    this.#path = path;
  }

  /** Opened again at the next use. While pinned it is closed when the last pin is gone. */
  close(): void {
    const file = this.#file;
    if (file === undefined) return;
    this.#file = undefined;
    this.#pool.closed(this);
    if (this.#pins === 0) file.closeSync();
  }
}
