// The disk. Calls named …Sync work on the page cache and block the event loop for microseconds; the others go to the
// thread pool. Errors are Node's system errors (`code` is ENOENT, ENOSPC, EROFS, EIO, …) in both forms.

export interface FileStat {
  readonly isDirectory: boolean;
  /** Bytes; 0 for a directory. */
  readonly size: number;
  /** Last change, wall time in ms. */
  readonly modifiedMs: number;
}

/** How to open a file: `read` must exist; `readWrite` is created when absent; `truncate` is created or emptied. */
export type OpenMode = 'read' | 'readWrite' | 'truncate';

export interface OpenFile {
  readonly path: string;
  /** Size now, in bytes. */
  sizeSync(): number;
  /** Fills `target[offset, offset + length)` from `position`; returns the bytes read, fewer only at the end of the file. */
  readSync(target: Uint8Array, offset: number, length: number, position: number): number;
  read(target: Uint8Array, offset: number, length: number, position: number): Promise<number>;
  /** Writes all chunks one behind the other from `position`. Throws when not all could be written: the tail is then undefined. */
  writeSync(chunks: readonly Uint8Array[], position: number): void;
  truncateSync(size: number): void;
  /** Forces data (and the size) to the device: fdatasync in the thread pool. */
  sync(): Promise<void>;
  syncSync(): void;
  closeSync(): void;
}

/** Somebody else holds the directory, or this process does already. No fault of the disk: two brokers on it would destroy it. */
export class DirectoryInUseError extends Error {
  override readonly name = 'DirectoryInUseError';
}

/** A directory held by this process alone until it is released or the process ends. */
export interface DirectoryLock {
  release(): void;
}

export interface FileSystem {
  openSync(path: string, mode: OpenMode): OpenFile;
  /** Names in the directory, sorted, without `.` and `..`. */
  listSync(path: string): string[];
  /** undefined when there is nothing at the path. */
  statSync(path: string): FileStat | undefined;
  /** Says when the file was last changed. */
  setModifiedSync(path: string, modifiedMs: number): void;
  readFileSync(path: string): Buffer;
  /** Replaces the file whole and durably: written beside it as `NAME.tmp`, forced to the device, renamed, directory forced. */
  replaceFileSync(path: string, content: string | Uint8Array): void;
  /**
   * The same without blocking. Concurrent replacements of one path are done in order. Where `isWanted` does not say so any more, when
   * the new file is about to get the name, all stays as it was.
   */
  replaceFile(path: string, content: string | Uint8Array, isWanted?: () => boolean): Promise<void>;
  /** Creates the directory and its parents; nothing happens when it is there. */
  makeDirectorySync(path: string): void;
  renameSync(from: string, to: string): void;
  /** Removes a file, or a directory with all that is in it; nothing happens when it is absent. */
  removeSync(path: string): void;
  remove(path: string): Promise<void>;
  /** Forces a directory's entries to the device. */
  syncDirectorySync(path: string): void;
  /** The same without blocking. */
  syncDirectory(path: string): Promise<void>;
  /** Free and total bytes of the volume that holds the path. */
  volumeSync(path: string): { readonly totalBytes: number; readonly usableBytes: number };
  /**
   * Takes the file `.lock` in the directory for this process, as Kafka does (a record lock over the whole file, so that
   * Apache Kafka and Odradek exclude each other). Throws an Error that names the directory when someone holds it.
   */
  lockDirectorySync(path: string): DirectoryLock;
}
