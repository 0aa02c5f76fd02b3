// The aborted transactions that ended in a segment, in the order of their ends. Only segments with aborted transactions have
// the file.
//
//   entry, 34 bytes    0  int16  version, 0
//                      2  int64  producer id
//                     10  int64  first offset of the transaction
//                     18  int64  last offset: that of the abort marker
//                     26  int64  the last stable offset when it ended

import type { FilePool } from './file-pool.ts';

export interface AbortedTransaction {
  readonly producerId: number;
  readonly firstOffset: number;
  readonly lastOffset: number;
  readonly lastStableOffset: number;
}

const entryBytes = 34;

export class TransactionIndex {
  readonly #pool: FilePool;
  #path: string;
  /** Read whole at the first look: aborted transactions are few. */
  #entries: AbortedTransaction[] | undefined;

  constructor(pool: FilePool, path: string, isNew: boolean) {
    this.#pool = pool;
    this.#path = path;
    if (isNew) this.#entries = [];
  }

  get path(): string {
    return this.#path;
  }

  get entries(): readonly AbortedTransaction[] {
    this.#entries ??= readEntries(this.#pool, this.#path);
    return this.#entries;
  }

  append(transaction: AbortedTransaction): void {
    const { entries } = this;
    const last = entries.at(-1);
    if (last !== undefined && transaction.lastOffset <= last.lastOffset) {
      throw new Error(`The last offsets in ${this.#path} must ascend: ${transaction.lastOffset} after ${last.lastOffset}`);
    }
    this.#write((file) => file.writeSync([encode(transaction)], entries.length * entryBytes));
    this.#entries!.push(transaction);
  }

  truncateTo(offset: number): void {
    const kept = this.entries.filter(({ lastOffset }) => lastOffset < offset);
    if (kept.length === this.entries.length) return;
    this.#write((file) => file.truncateSync(kept.length * entryBytes));
    this.#entries = kept;
  }

  reset(): void {
    this.#pool.fileSystem.removeSync(this.#path);
    this.#entries = [];
  }

  /** False where the file's size or an entry makes no sense. */
  isSane(baseOffset: number): boolean {
    const stat = this.#pool.fileSystem.statSync(this.#path);
    if (stat === undefined) return true;
    return stat.size % entryBytes === 0 && this.entries.every(({ lastOffset }) => lastOffset >= baseOffset);
  }

  renamed(path: string): void {
    this.#path = path;
  }

  #write(action: (file: ReturnType<ReturnType<FilePool['file']>['use']>) => void): void {
    const file = this.#pool.file(this.#path, 'readWrite');
    try {
      action(file.use());
    } finally {
      file.close();
    }
  }
}

function readEntries(pool: FilePool, path: string): AbortedTransaction[] {
  if (pool.fileSystem.statSync(path) === undefined) return [];
  const bytes = pool.fileSystem.readFileSync(path);
  const entries: AbortedTransaction[] = [];
  for (let at = 0; at + entryBytes <= bytes.length; at += entryBytes) {
    entries.push({
      producerId: Number(bytes.readBigInt64BE(at + 2)),
      firstOffset: Number(bytes.readBigInt64BE(at + 10)),
      lastOffset: Number(bytes.readBigInt64BE(at + 18)),
      lastStableOffset: Number(bytes.readBigInt64BE(at + 26)),
    });
  }
  return entries;
}

function encode(transaction: AbortedTransaction): Buffer {
  const bytes = Buffer.alloc(entryBytes);
  bytes.writeBigInt64BE(BigInt(transaction.producerId), 2);
  bytes.writeBigInt64BE(BigInt(transaction.firstOffset), 10);
  bytes.writeBigInt64BE(BigInt(transaction.lastOffset), 18);
  bytes.writeBigInt64BE(BigInt(transaction.lastStableOffset), 26);
  return bytes;
}
