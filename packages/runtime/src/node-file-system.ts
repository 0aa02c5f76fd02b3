// The real disk: Node's file system calls, with the loops for short reads and writes that the system leaves to its callers.

import {
  closeSync,
  constants,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  read,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  utimesSync,
  writevSync,
} from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DirectoryLock, FileStat, FileSystem, OpenFile, OpenMode } from './file-system.ts';
import { lockDirectory } from './node-directory-lock.ts';

export class NodeFileSystem implements FileSystem {
  /** The last replacement of each path that has not ended: the next one of the same path waits for it. */
  readonly #replacing = new Map<string, Promise<void>>();

  openSync(path: string, mode: OpenMode): OpenFile {
    return new NodeFile(path, openForMode(path, mode));
  }

  listSync(path: string): string[] {
    return readdirSync(path).sort();
  }

  statSync(path: string): FileStat | undefined {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) {
      return undefined;
    }
    const isDirectory = stat.isDirectory();
    return { isDirectory, size: isDirectory ? 0 : stat.size, modifiedMs: Math.floor(stat.mtimeMs) };
  }

  setModifiedSync(path: string, modifiedMs: number): void {
    // Seconds with a fraction: half a millisecond more, so that what is read back is not rounded down to the one before.
    const seconds = (modifiedMs + 0.5) / 1000;
    utimesSync(path, seconds, seconds);
  }

  readFileSync(path: string): Buffer {
    return readFileSync(path);
  }

  replaceFileSync(path: string, content: string | Uint8Array): void {
    const temporary = `${path}.tmp`;
    try {
      const descriptor = openSync(temporary, 'w');
      try {
        writeAll(descriptor, [bytesOf(content)], 0);
        fsyncSync(descriptor);
      } finally {
        closeSync(descriptor);
      }
      renameSync(temporary, path);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
    this.syncDirectorySync(dirname(path));
  }

  replaceFile(path: string, content: string | Uint8Array, isWanted?: () => boolean): Promise<void> {
    // Whether the earlier one failed is for its own caller to hear.
    const earlier = this.#replacing.get(path)?.catch(() => undefined) ?? Promise.resolve();
    const replacement = earlier
      .then(() => replaceOnce(path, content, isWanted))
      .finally(() => {
        if (this.#replacing.get(path) === replacement) {
          this.#replacing.delete(path);
        }
      });
    this.#replacing.set(path, replacement);
    return replacement;
  }

  makeDirectorySync(path: string): void {
    makeDirectory(path);
  }

  renameSync(from: string, to: string): void {
    renameSync(from, to);
  }

  removeSync(path: string): void {
    rmSync(path, { recursive: true, force: true });
  }

  remove(path: string): Promise<void> {
    return rm(path, { recursive: true, force: true });
  }

  syncDirectorySync(path: string): void {
    const descriptor = openSync(path, 'r');
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  }

  syncDirectory(path: string): Promise<void> {
    return syncDirectory(path);
  }

  volumeSync(path: string): { readonly totalBytes: number; readonly usableBytes: number } {
    const volume = statfsSync(path);
    return { totalBytes: volume.blocks * volume.bsize, usableBytes: volume.bavail * volume.bsize };
  }

  lockDirectorySync(path: string): DirectoryLock {
    return lockDirectory(path);
  }
}

class NodeFile implements OpenFile {
  readonly path: string;
  readonly #descriptor: number;
  #isClosed = false;

  constructor(path: string, descriptor: number) {
    this.path = path;
    this.#descriptor = descriptor;
  }

  sizeSync(): number {
    return fstatSync(this.#descriptor).size;
  }

  readSync(target: Uint8Array, offset: number, length: number, position: number): number {
    let done = 0;
    while (done < length) {
      const count = readSync(this.#descriptor, target, offset + done, length - done, position + done);
      if (count === 0) {
        break;
      }
      done += count;
    }
    return done;
  }

  read(target: Uint8Array, offset: number, length: number, position: number): Promise<number> {
    return new Promise((resolve, reject) => {
      let done = 0;
      const readOn = (): void => {
        read(this.#descriptor, target, offset + done, length - done, position + done, (error, count) => {
          if (error !== null) {
            reject(error);
            return;
          }
          done += count;
          if (count === 0 || done === length) {
            resolve(done);
          } else {
            readOn();
          }
        });
      };
      readOn();
    });
  }

  writeSync(chunks: readonly Uint8Array[], position: number): void {
    writeAll(this.#descriptor, chunks, position);
  }

  truncateSync(size: number): void {
    ftruncateSync(this.#descriptor, size);
  }

  sync(): Promise<void> {
    return new Promise((resolve, reject) => {
      fdatasync(this.#descriptor, (error) => (error === null ? resolve() : reject(error)));
    });
  }

  syncSync(): void {
    fdatasyncSync(this.#descriptor);
  }

  closeSync(): void {
    // The number may belong to another file by the time of a second call.
    if (!this.#isClosed) {
      this.#isClosed = true;
      closeSync(this.#descriptor);
    }
  }
}

function openForMode(path: string, mode: OpenMode): number {
  switch (mode) {
    case 'read':
      return openSync(path, 'r');
    case 'readWrite':
      return openSync(path, constants.O_RDWR | constants.O_CREAT);
    case 'truncate':
      return openSync(path, 'w+');
  }
}

function writeAll(descriptor: number, chunks: readonly Uint8Array[], position: number): void {
  let remaining = chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0);
  let rest = chunks;
  while (remaining > 0) {
    const count = writevSync(descriptor, rest as Uint8Array[], position);
    position += count;
    remaining -= count;
    // A write that came short, as the last one before the disk is full does: the next one says why.
    if (remaining > 0) {
      rest = withoutFirstBytes(rest, count);
    }
  }
}

function withoutFirstBytes(chunks: readonly Uint8Array[], count: number): readonly Uint8Array[] {
  let skip = count;
  let first = 0;
  while (skip >= chunks[first]!.byteLength) {
    skip -= chunks[first]!.byteLength;
    first++;
  }
  return [chunks[first]!.subarray(skip), ...chunks.slice(first + 1)];
}

/** Not by Node's own `recursive`, which tries for ever where a directory is there and takes no other, as /proc, and calls EROFS ENOENT. */
function makeDirectory(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if (isDirectory(path)) return;
    const parent = dirname(path);
    if (isDirectory(parent) || parent === path || codeOf(error) !== 'ENOENT') throw error;
    makeDirectory(parent);
    makeDirectory(path);
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

async function replaceOnce(path: string, content: string | Uint8Array, isWanted?: () => boolean): Promise<void> {
  const temporary = `${path}.tmp`;
  try {
    const file = await open(temporary, 'w');
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    if (isWanted === undefined) await rename(temporary, path);
    else if (isWanted()) renameSync(temporary, path);
    else await rm(temporary, { force: true });
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncDirectory(dirname(path));
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

function bytesOf(content: string | Uint8Array): Uint8Array {
  return typeof content === 'string' ? Buffer.from(content) : content;
}
