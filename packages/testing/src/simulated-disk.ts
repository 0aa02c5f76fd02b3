// A disk in memory that fails as disks do.
//
// Every file has two contents: the one that programs see (the page cache) and the durable one, which is what a crash leaves. A
// sync copies the sectors that changed from the first to the second. Directories likewise have two lists of names: a sync of the
// directory makes renames and removals durable, and the sync of a new file makes its own name durable, as ext4 and XFS do.

import {
  type Clock,
  DirectoryInUseError,
  type DirectoryLock,
  type FileStat,
  type FileSystem,
  type OpenFile,
  type OpenMode,
  type Random,
  SeededRandom,
} from '@odradek/runtime';
import { SimulatedDirectory, SimulatedFile } from './simulated-inodes.ts';
import { SimulatedOpenFile } from './simulated-open-file.ts';

export type DiskOperation = 'open' | 'read' | 'write' | 'sync' | 'rename' | 'remove' | 'list';

/** Calls that fail until told otherwise. */
export interface DiskFault {
  /** All paths that begin with it, or match it. */
  readonly path: string | RegExp;
  /** Default: all. */
  readonly operations?: readonly DiskOperation[];
  /** Default EIO. */
  readonly code?: string;
}

export interface SimulatedDiskOptions {
  /** Draws what a crash keeps. */
  readonly random?: Random;
  readonly clock?: Clock;
  /** Bytes that all files together may hold; beyond it writes fail with ENOSPC. Default: no bound. */
  readonly capacityBytes?: number;
  /** Ends a call that went to the thread pool; default at once, as soon as the caller has returned. */
  readonly complete?: (action: () => void) => void;
}

/**
 * What a crash leaves of all that was not synced: `nothing` of it, `everything` (the process died, the machine lives), or
 * `something`: each sector and each size by chance, so that tails are torn or full of zeros, and each directory's changes up to some
 * moment.
 */
export type CrashLeaves = 'nothing' | 'something' | 'everything';

export class SimulatedDisk implements FileSystem {
  capacityBytes: number;
  /** Every change fails with EROFS. */
  isReadOnly = false;
  /** Add and remove as the test goes. */
  readonly faults = new Set<DiskFault>();
  readonly #random: Random;
  readonly #clock: Clock | undefined;
  readonly #complete: (action: () => void) => void;
  readonly #root = new SimulatedDirectory(undefined, '');
  readonly #locked = new Set<string>();
  /** The last replacement asked for of each path: they are done in order. */
  readonly #replacing = new Map<string, Promise<void>>();
  #usedBytes = 0;
  /** Counts crashes. Files opened before the last one are dead, and calls that were under way never end. */
  #life = 0;

  constructor(options: SimulatedDiskOptions = {}) {
    this.#random = options.random ?? new SeededRandom(0);
    this.#clock = options.clock;
    this.capacityBytes = options.capacityBytes ?? Number.MAX_SAFE_INTEGER;
    this.#complete = options.complete ?? queueMicrotask;
  }

  crash(leaves: CrashLeaves = 'something'): void {
    this.#life++;
    this.#locked.clear();
    this.#replacing.clear();
    if (leaves !== 'everything') {
      this.#root.crash(leaves === 'nothing' ? undefined : this.#random);
    }
    this.#usedBytes = this.#root.sizeBytes();
  }

  /** Changes one bit of a file, in the page cache and on the disk. */
  flipBit(path: string, position: number, bit = 0): void {
    this.#file(path, 'read').flipBit(position, bit);
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  openSync(path: string, mode: OpenMode): OpenFile {
    this.#checkFault('open', path);
    const file = mode === 'read' ? this.#file(path, 'open') : this.#fileOrNew(path);
    const open = new SimulatedOpenFile(this, path, file, this.#life, mode !== 'read');
    if (mode === 'truncate') {
      open.truncateSync(0);
    }
    return open;
  }

  listSync(path: string): string[] {
    this.#checkFault('list', path);
    return [...this.#directory(path, 'scandir').entries.keys()].sort();
  }

  statSync(path: string): FileStat | undefined {
    this.#checkFault('read', path);
    const node = this.#find(path);
    return node === undefined
      ? undefined
      : {
          isDirectory: node instanceof SimulatedDirectory,
          size: node instanceof SimulatedFile ? node.size : 0,
          modifiedMs: node.modifiedMs,
        };
  }

  setModifiedSync(path: string, modifiedMs: number): void {
    this.#checkFault('write', path);
    this.#checkWritable('utime', path);
    this.#file(path, 'utime').modifiedMs = modifiedMs;
  }

  readFileSync(path: string): Buffer {
    this.#checkFault('open', path);
    this.#checkFault('read', path);
    const file = this.#file(path, 'open');
    const content = Buffer.alloc(file.size);
    file.read(content, 0, file.size, 0);
    return content;
  }

  replaceFileSync(path: string, content: string | Uint8Array): void {
    const temporary = `${path}.tmp`;
    try {
      const file = this.openSync(temporary, 'truncate');
      file.writeSync([typeof content === 'string' ? Buffer.from(content) : content], 0);
      file.syncSync();
      file.closeSync();
      this.renameSync(temporary, path);
    } catch (error) {
      if (!this.isReadOnly) {
        this.#unlink(temporary);
      }
      throw error;
    }
    this.syncDirectorySync(parentOf(path));
  }

  replaceFile(path: string, content: string | Uint8Array, isWanted?: () => boolean): Promise<void> {
    const earlier = this.#replacing.get(path) ?? Promise.resolve();
    const replacement = earlier.then(() => this.later(() => this.#replaceIfWanted(path, content, isWanted)));
    // Whether it failed is for its own caller to hear; the next one only waits for it.
    this.#replacing.set(path, replacement.then(ignore, ignore));
    return replacement;
  }

  #replaceIfWanted(path: string, content: string | Uint8Array, isWanted: () => boolean = () => true): void {
    if (isWanted()) this.replaceFileSync(path, content);
  }

  makeDirectorySync(path: string): void {
    let directory = this.#root;
    for (const name of namesOf(path)) {
      let next = directory.entries.get(name);
      if (next === undefined) {
        this.#checkFault('write', path);
        this.#checkWritable('mkdir', path);
        next = new SimulatedDirectory(directory, name);
        next.modifiedMs = this.#now();
        directory.change(new Map([[name, next]]));
      }
      if (!(next instanceof SimulatedDirectory)) {
        throw systemError('EEXIST', 'file already exists', 'mkdir', path);
      }
      directory = next;
    }
  }

  renameSync(from: string, to: string): void {
    this.#checkFault('rename', from);
    this.#checkFault('rename', to);
    this.#checkWritable('rename', from);
    const node = this.#find(from);
    if (node === undefined || node.parent === undefined) {
      throw systemError('ENOENT', 'no such file or directory', 'rename', `${from}' -> '${to}`);
    }
    const parent = this.#directory(parentOf(to), 'rename');
    const replaced = parent.entries.get(nameOf(to));
    if (replaced instanceof SimulatedDirectory && replaced.entries.size > 0) {
      throw systemError('ENOTEMPTY', 'directory not empty', 'rename', `${from}' -> '${to}`);
    }
    if (replaced !== node) {
      this.#usedBytes -= replaced?.sizeBytes() ?? 0;
      const isWithin = node.parent === parent;
      if (!isWithin) {
        node.parent.change(new Map([[node.name, undefined]]));
      }
      parent.change(new Map([...(isWithin ? [[node.name, undefined] as const] : []), [nameOf(to), node]]));
      node.parent = parent;
      node.name = nameOf(to);
    }
  }

  removeSync(path: string): void {
    this.#checkFault('remove', path);
    if (this.#find(path) !== undefined) {
      this.#checkWritable('rm', path);
      this.#unlink(path);
    }
  }

  remove(path: string): Promise<void> {
    return this.later(() => this.removeSync(path));
  }

  syncDirectorySync(path: string): void {
    this.#checkFault('sync', path);
    this.#directory(path, 'open').sync();
  }

  syncDirectory(path: string): Promise<void> {
    return this.later(() => this.syncDirectorySync(path));
  }

  volumeSync(path: string): { readonly totalBytes: number; readonly usableBytes: number } {
    this.#checkFault('read', path);
    return { totalBytes: this.capacityBytes, usableBytes: this.capacityBytes - this.#usedBytes };
  }

  lockDirectorySync(path: string): DirectoryLock {
    const lockPath = `/${namesOf(path).join('/')}/.lock`;
    if (this.#locked.has(lockPath)) {
      throw new DirectoryInUseError(`The directory ${path} is locked: another broker (Odradek or Apache Kafka) is using it`);
    }
    this.openSync(lockPath, 'readWrite').closeSync();
    this.#locked.add(lockPath);
    const life = this.#life;
    let isHeld = true;
    return {
      release: () => {
        if (isHeld && life === this.#life) {
          isHeld = false;
          this.#locked.delete(lockPath);
        }
      },
    };
  }

  /** A call for the thread pool: done later, and never answered when the machine crashes before. For the open files. */
  later<T>(call: () => T): Promise<T> {
    const life = this.#life;
    return new Promise((resolve, reject) => {
      this.#complete(() => {
        if (life !== this.#life) {
          return;
        }
        try {
          resolve(call());
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  /** Checks a call on an open file. */
  checkCall(operation: DiskOperation, path: string, life: number): void {
    if (life !== this.#life) {
      throw systemError('EBADF', 'bad file descriptor', operation, path);
    }
    this.#checkFault(operation, path);
    if (operation === 'write') {
      this.#checkWritable('write', path);
    }
  }

  /** Writes as much as the capacity allows, and throws when that is not all. */
  write(path: string, file: SimulatedFile, bytes: Uint8Array, position: number): void {
    const allowedSize = file.size + this.capacityBytes - this.#usedBytes;
    const fitting = Math.max(0, Math.min(bytes.byteLength, allowedSize - position));
    this.resize(file, Math.max(file.size, fitting === 0 ? 0 : position + fitting));
    file.write(bytes.subarray(0, fitting), position);
    if (fitting < bytes.byteLength) {
      throw systemError('ENOSPC', 'no space left on device', 'write', path);
    }
  }

  resize(file: SimulatedFile, size: number): void {
    if (file.isLinked()) {
      this.#usedBytes += size - file.size;
    }
    file.resize(size);
    file.modifiedMs = this.#now();
  }

  #unlink(path: string): void {
    const node = this.#find(path);
    if (node?.parent !== undefined) {
      this.#usedBytes -= node.sizeBytes();
      node.parent.change(new Map([[node.name, undefined]]));
    }
  }

  #find(path: string): SimulatedDirectory | SimulatedFile | undefined {
    let node: SimulatedDirectory | SimulatedFile | undefined = this.#root;
    for (const name of namesOf(path)) {
      node = node instanceof SimulatedDirectory ? node.entries.get(name) : undefined;
    }
    return node;
  }

  #directory(path: string, call: string): SimulatedDirectory {
    const node = this.#find(path);
    if (node instanceof SimulatedDirectory) {
      return node;
    }
    throw node === undefined
      ? systemError('ENOENT', 'no such file or directory', call, path)
      : systemError('ENOTDIR', 'not a directory', call, path);
  }

  #file(path: string, call: string): SimulatedFile {
    const node = this.#find(path);
    if (node instanceof SimulatedFile) {
      return node;
    }
    throw node === undefined
      ? systemError('ENOENT', 'no such file or directory', call, path)
      : systemError('EISDIR', 'illegal operation on a directory', call, path);
  }

  #fileOrNew(path: string): SimulatedFile {
    this.#checkWritable('open', path);
    if (this.#find(path) !== undefined) {
      return this.#file(path, 'open');
    }
    const directory = this.#directory(parentOf(path), 'open');
    const file = new SimulatedFile(directory, nameOf(path));
    file.modifiedMs = this.#now();
    directory.change(new Map([[file.name, file]]));
    return file;
  }

  #now(): number {
    return this.#clock?.wallTimeMs() ?? 0;
  }

  #checkWritable(call: string, path: string): void {
    if (this.isReadOnly) {
      throw systemError('EROFS', 'read-only file system', call, path);
    }
  }

  #checkFault(operation: DiskOperation, path: string): void {
    for (const fault of this.faults) {
      const matches = typeof fault.path === 'string' ? path.startsWith(fault.path) : fault.path.test(path);
      if (matches && (fault.operations?.includes(operation) ?? true)) {
        throw systemError(fault.code ?? 'EIO', 'i/o error', operation, path);
      }
    }
  }
}

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}

function parentOf(path: string): string {
  return namesOf(path).slice(0, -1).join('/');
}

function nameOf(path: string): string {
  return namesOf(path).at(-1) ?? '';
}

function ignore(): void {
  // Nothing to do, whatever the outcome.
}

function systemError(code: string, words: string, call: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${words}, ${call} '${path}'`), { code, syscall: call, path });
}
