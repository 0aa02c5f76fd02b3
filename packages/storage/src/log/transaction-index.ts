// The aborted transactions that ended in a segment, in the order of their ends. Only segments with aborted transactions have
// the file.
//
//   entry, 34 bytes    0  int16  version, 0
//                      2  int64  producer id
//                     10  int64  first offset of the transaction
//                     18  int64  last offset: that of the abort marker
//                     26  int64  the last stable offset when it ended

import type { OpenFile } from '@odradek/runtime';
import { appendOrNothing, type FilePool, RetiredFileError } from './file-pool.ts';

export interface AbortedTransaction {
  readonly producerId: number;
  readonly firstOffset: number;
  readonly lastOffset: number;
  readonly lastStableOffset: number;
}

const version = 0;
export const transactionEntryBytes = 34;
const entryBytes = transactionEntryBytes;

export class TransactionIndex {
  readonly #pool: FilePool;
  readonly path: string;
  /** Read whole at the first look: aborted transactions are few. */
  #entries: AbortedTransaction[] | undefined;
  /** Entries that are in the file. */
  #writtenCount = 0;
  #isSynced = true;
  /** The file has other entries, which it keeps until there are all of those that take their place. */
  #isToBeReplaced = false;
  #isRetired = false;

  constructor(pool: FilePool, path: string, isNew: boolean) {
    this.#pool = pool;
    this.path = path;
    if (isNew) this.#entries = [];
  }

  get entries(): readonly AbortedTransaction[] {
    return this.#load();
  }

  /** Kept in memory until `write`. */
  append(transaction: AbortedTransaction): void {
    const entries = this.#load();
    const last = entries.at(-1);
    if (last !== undefined && transaction.lastOffset <= last.lastOffset) {
      throw new Error(`The last offsets in ${this.path} must ascend: ${transaction.lastOffset} after ${last.lastOffset}`);
    }
    entries.push(transaction);
  }

  write(): void {
    if (this.#isToBeReplaced) this.#replace();
    const entries = this.#entries;
    if (entries === undefined || this.#writtenCount === entries.length) return;
    const added = entries.slice(this.#writtenCount).map(encode);
    this.#withFile((file) => appendOrNothing(file, added, this.#writtenCount * entryBytes));
    this.#writtenCount = entries.length;
    this.#isSynced = false;
  }

  /** Forces to the device what was written. Throws RetiredFileError: to open the file might make it anew. */
  async sync(): Promise<void> {
    if (this.#isSynced) return;
    if (this.#isRetired) throw new RetiredFileError(`${this.path} is not in use any more`);
    const file = this.#pool.openApart(this.path, 'readWrite');
    try {
      this.#isSynced = true;
      await file.sync();
    } finally {
      file.closeSync();
    }
  }

  syncSync(): void {
    if (this.#isSynced) return;
    this.#withFile((file) => file.syncSync());
    this.#isSynced = true;
  }

  /** Drops the transactions that ended at or after the offset. */
  truncateTo(offset: number): void {
    const entries = this.#load();
    const kept = entries.filter(({ lastOffset }) => lastOffset < offset);
    if (kept.length === entries.length) return;
    if (kept.length < this.#writtenCount) {
      this.#withFile((file) => file.truncateSync(kept.length * entryBytes));
      this.#writtenCount = kept.length;
      this.#isSynced = false;
    }
    this.#entries = kept;
  }

  /**
   * Drops all entries. What a file has of them goes when those are written that take their place: a start that ends in between leaves a
   * segment that the next one may trust.
   */
  reset(): void {
    this.#isToBeReplaced = this.#pool.fileSystem.statSync(this.path) !== undefined;
    this.#entries = [];
    this.#writtenCount = 0;
  }

  #replace(): void {
    const entries = this.#load();
    this.#pool.fileSystem.replaceFileSync(this.path, Buffer.concat(entries.map(encode)));
    this.#writtenCount = entries.length;
    this.#isToBeReplaced = false;
    this.#isSynced = true;
  }

  /** The segment is not in use any more: the file may have another name, or be gone. */
  retire(): void {
    this.#isRetired = true;
  }

  /** False where the file's size or an entry makes no sense. */
  isSane(baseOffset: number): boolean {
    const size = this.#pool.fileSystem.statSync(this.path)?.size ?? 0;
    return size % entryBytes === 0 && this.#load().every(({ lastOffset }) => lastOffset >= baseOffset);
  }

  #load(): AbortedTransaction[] {
    if (this.#entries === undefined) {
      this.#entries = readEntries(this.#pool, this.path);
      this.#writtenCount = this.#entries.length;
    }
    return this.#entries;
  }

  #withFile(action: (file: OpenFile) => void): void {
    const file = this.#pool.openApart(this.path, 'readWrite');
    try {
      action(file);
    } finally {
      file.closeSync();
    }
  }
}

function readEntries(pool: FilePool, path: string): AbortedTransaction[] {
  if (pool.fileSystem.statSync(path) === undefined) return [];
  const bytes = pool.fileSystem.readFileSync(path);
  const entries: AbortedTransaction[] = [];
  for (let at = 0; at + entryBytes <= bytes.length; at += entryBytes) {
    const found = bytes.readInt16BE(at);
    if (found !== version) throw new Error(`${path} has an entry of the unknown version ${found}`);
    entries.push(readTransactionEntry(bytes, at));
  }
  return entries;
}

/** The entry whose bytes begin there, which has the version 0. */
export function readTransactionEntry(bytes: Buffer, at: number): AbortedTransaction {
  return {
    producerId: Number(bytes.readBigInt64BE(at + 2)),
    firstOffset: Number(bytes.readBigInt64BE(at + 10)),
    lastOffset: Number(bytes.readBigInt64BE(at + 18)),
    lastStableOffset: Number(bytes.readBigInt64BE(at + 26)),
  };
}

function encode(transaction: AbortedTransaction): Buffer {
  const bytes = Buffer.alloc(entryBytes);
  bytes.writeInt16BE(version, 0);
  bytes.writeBigInt64BE(BigInt(transaction.producerId), 2);
  bytes.writeBigInt64BE(BigInt(transaction.firstOffset), 10);
  bytes.writeBigInt64BE(BigInt(transaction.lastOffset), 18);
  bytes.writeBigInt64BE(BigInt(transaction.lastStableOffset), 26);
  return bytes;
}
