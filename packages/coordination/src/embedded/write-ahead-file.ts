// The journal file of the embedded store: frames, one behind the other, each forced to the device before the next is
// written. It knows nothing of what the frames say.
//
//   offset  size
//        0     8  "odradek" and the version of the format, 1
//        8     …  frames:
//                   0  4  size of the payload, int32, at least 1
//                   4  4  CRC-32C of the payload, uint32
//                   8  …  payload
//
// All numbers are big-endian. Since a frame is on the device before the next one is begun, a crash can harm only the last: a
// frame that does not check out, with no good frame anywhere behind it, is the torn tail of a write that nobody was told
// of, and is cut off. With a good frame behind it, something else has damaged the file, and nothing is done to it.

import type { FileSystem, Logger, OpenFile } from '@odradek/runtime';
import { crc32c } from './crc32c.ts';

const magic = Buffer.from('odradek\x01', 'latin1');
const frameOverhead = 8;

/** The journal is damaged in a way that no crash explains. */
export class CorruptJournalError extends Error {
  constructor(path: string, position: number, reason: string, options?: ErrorOptions) {
    super(
      `The coordination journal ${path} is damaged at byte ${position}: ${reason}. Restore it from a copy, or move it away to begin anew.`,
      options,
    );
    this.name = 'CorruptJournalError';
  }
}

export class WriteAheadFile {
  readonly #fileSystem: FileSystem;
  readonly #path: string;
  #file: OpenFile;
  #size: number;

  private constructor(fileSystem: FileSystem, path: string, file: OpenFile, size: number) {
    this.#fileSystem = fileSystem;
    this.#path = path;
    this.#file = file;
    this.#size = size;
  }

  /** Reads the file from the start, giving each payload to `take` (which may throw), and makes it ready to be appended to. */
  static open(parts: {
    readonly fileSystem: FileSystem;
    readonly path: string;
    readonly logger: Logger;
    readonly take: (payload: Buffer) => void;
  }): WriteAheadFile {
    const { fileSystem, path, logger } = parts;
    // A crash while the journal was being replaced may leave its half-written successor.
    fileSystem.removeSync(`${path}.tmp`);
    const content = fileSystem.statSync(path) === undefined ? Buffer.alloc(0) : fileSystem.readFileSync(path);
    // The file is created whole, with its first bytes; only a file system that lost them leaves fewer.
    if (content.length < magic.length) {
      if (!magic.subarray(0, content.length).equals(content)) throw new CorruptJournalError(path, 0, 'it is not a journal');
      fileSystem.replaceFileSync(path, magic);
      return new WriteAheadFile(fileSystem, path, fileSystem.openSync(path, 'readWrite'), magic.length);
    }
    if (!content.subarray(0, magic.length).equals(magic)) throw new CorruptJournalError(path, 0, 'it is not a journal of format 1');
    const end = readFrames(content, path, parts.take);
    const file = fileSystem.openSync(path, 'readWrite');
    if (end < content.length) {
      logger.warn('The last write to the coordination journal had not been finished; it is left out', {
        path,
        bytes: content.length - end,
      });
      file.truncateSync(end);
      file.syncSync();
    }
    return new WriteAheadFile(fileSystem, path, file, end);
  }

  get sizeBytes(): number {
    return this.#size;
  }

  /**
   * Settles when the frame is on the device. A rejection with `isUndone` true leaves the file as it was before; otherwise nobody
   * knows what is on the device, and the file must not be written to again.
   */
  async append(payload: readonly Uint8Array[]): Promise<void> {
    const frame = [frameHeader(payload), ...payload];
    try {
      this.#file.writeSync(frame, this.#size);
    } catch (error) {
      throw new JournalWriteError(this.#path, this.#truncateTo(this.#size), error);
    }
    try {
      await this.#file.sync();
    } catch (error) {
      // After a failed sync the pages may be marked clean without being on the device.
      throw new JournalWriteError(this.#path, false, error);
    }
    this.#size += sizeOf(frame);
  }

  /** The payloads become the whole content. A failure leaves the old content. */
  async replace(payloads: readonly Uint8Array[]): Promise<void> {
    const content = Buffer.concat([magic, ...payloads.flatMap((payload) => [frameHeader([payload]), payload])]);
    try {
      await this.#fileSystem.replaceFile(this.#path, content);
    } catch (error) {
      // What was written of it holds space that the disk may not have.
      this.#fileSystem.removeSync(`${this.#path}.tmp`);
      throw new JournalWriteError(this.#path, true, error);
    }
    this.#file.closeSync();
    try {
      this.#file = this.#fileSystem.openSync(this.#path, 'readWrite');
    } catch (error) {
      throw new JournalWriteError(this.#path, false, error);
    }
    this.#size = content.length;
  }

  close(): void {
    this.#file.closeSync();
  }

  #truncateTo(size: number): boolean {
    try {
      this.#file.truncateSync(size);
      return true;
    } catch {
      return false;
    }
  }
}

export class JournalWriteError extends Error {
  /** The file is as it was before. */
  readonly isUndone: boolean;

  constructor(path: string, isUndone: boolean, cause: unknown) {
    super(`Cannot write the coordination journal ${path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = 'JournalWriteError';
    this.isUndone = isUndone;
  }
}

/** Returns where the good frames end. */
function readFrames(content: Buffer, path: string, take: (payload: Buffer) => void): number {
  let position = magic.length;
  while (position < content.length) {
    const payload = goodFrameAt(content, position);
    if (payload === undefined) {
      const next = findGoodFrame(content, position + 1);
      if (next === undefined) return position;
      throw new CorruptJournalError(path, position, `the checksum is wrong, and good records follow from byte ${next} on`);
    }
    try {
      take(payload);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new CorruptJournalError(path, position, reason, { cause: error });
    }
    position += frameOverhead + payload.length;
  }
  return position;
}

function goodFrameAt(content: Buffer, position: number): Buffer | undefined {
  if (position + frameOverhead >= content.length) return undefined;
  const size = content.readInt32BE(position);
  const end = position + frameOverhead + size;
  if (size < 1 || end > content.length) return undefined;
  const payload = content.subarray(position + frameOverhead, end);
  return crc32c([payload]) === content.readUInt32BE(position + 4) ? payload : undefined;
}

/** Each place is tried. The tail after a crash is one write long; most places fail by their size. */
function findGoodFrame(content: Buffer, from: number): number | undefined {
  for (let position = from; position + frameOverhead < content.length; position++) {
    if (goodFrameAt(content, position) !== undefined) return position;
  }
  return undefined;
}

function frameHeader(payload: readonly Uint8Array[]): Buffer {
  const header = Buffer.allocUnsafe(frameOverhead);
  header.writeInt32BE(sizeOf(payload), 0);
  header.writeUInt32BE(crc32c(payload), 4);
  return header;
}

function sizeOf(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((sum, chunk) => sum + chunk.length, 0);
}
