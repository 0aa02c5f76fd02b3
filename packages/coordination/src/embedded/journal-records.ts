// What stands in the journal's frames: transactions as they happened, or a snapshot of the whole tree. Big-endian throughout.
//
//   payload of a frame = kind (1 byte), then
//   kind 1, transactions: any number of
//       zxid 8 | time in ms 8 | changes 4 | that many of
//           1 create: path | data | ephemeral owner 8 (0: persistent)
//           2 set:    path | data
//           3 delete: path
//   kind 2, begin of a snapshot: zxid 8 | nodes to come 4 | children that the root ever had 4 | pzxid of the root 8
//   kind 3, nodes of a snapshot, parents before children: any number of
//       path | data | ephemeral owner 8 | czxid 8 | mzxid 8 | pzxid 8 | created ms 8 | modified ms 8 | version 4 | children ever created 4
//
//   path = size 4 | UTF-8        data = size 4 (-1: none) | bytes
//
// zxids and times are int64 within the safe integers.

import type { NodeData } from '../coordination.ts';
import { type Change, type TransactionStamp, Tree, type TreeNode } from './tree.ts';

const kinds = { transactions: 1, snapshotBegin: 2, snapshotNodes: 3 } as const;
const changeTypes = { create: 1, set: 2, delete: 3 } as const;

export const transactionsHeader: Buffer = Buffer.from([kinds.transactions]);

export function encodeTransaction(stamp: TransactionStamp, changes: readonly Change[]): Buffer {
  const writer = new BytesWriter();
  writer.int64(stamp.zxid);
  writer.int64(stamp.timeMs);
  writer.int32(changes.length);
  for (const change of changes) {
    writer.int8(changeTypes[change.type]);
    writer.bytes(Buffer.from(change.path, 'utf8'));
    if (change.type !== 'delete') writer.bytes(change.data);
    if (change.type === 'create') writer.bigInt64(change.ephemeralOwner);
  }
  return writer.finish();
}

/** A snapshot's payloads; a node's frame is about this long, so that no frame grows with the tree. */
const snapshotFrameBytes = 256 * 1024;

export function encodeSnapshot(tree: Tree, zxid: number): Buffer[] {
  const payloads: Buffer[] = [];
  let count = 0;
  let writer = new BytesWriter();
  writer.int8(kinds.snapshotNodes);
  for (const { path, node } of tree.nodes()) {
    count++;
    writeNode(writer, path, node);
    if (writer.size >= snapshotFrameBytes) {
      payloads.push(writer.finish());
      writer = new BytesWriter();
      writer.int8(kinds.snapshotNodes);
    }
  }
  if (writer.size > 1) payloads.push(writer.finish());
  const begin = new BytesWriter();
  begin.int8(kinds.snapshotBegin);
  begin.int64(zxid);
  begin.int32(count);
  begin.int32(tree.root.createdChildren);
  begin.int64(tree.root.pzxid);
  return [begin.finish(), ...payloads];
}

function writeNode(writer: BytesWriter, path: string, node: TreeNode): void {
  writer.bytes(Buffer.from(path, 'utf8'));
  writer.bytes(node.data);
  writer.bigInt64(node.ephemeralOwner);
  for (const number of [node.czxid, node.mzxid, node.pzxid, node.createdMs, node.modifiedMs]) writer.int64(number);
  writer.int32(node.version);
  writer.int32(node.createdChildren);
}

/** Rebuilds a tree from the payloads of a journal, in order. */
export class JournalReplay {
  readonly tree: Tree = new Tree();
  zxid = 0;
  /** Nodes that a snapshot announced and that have not come yet. */
  #missingNodes = 0;

  /** Throws when the payload does not fit what came before: the journal is not one that this program wrote. */
  take(payload: Buffer): void {
    const reader = new BytesReader(payload);
    const kind = reader.int8();
    if (kind === kinds.transactions) {
      if (this.#missingNodes > 0) throw new Error(`the snapshot lacks ${this.#missingNodes} nodes`);
      while (reader.hasMore) this.#takeTransaction(reader);
    } else if (kind === kinds.snapshotBegin) {
      this.zxid = reader.int64();
      this.#missingNodes = reader.int32();
      this.tree.root.createdChildren = reader.int32();
      this.tree.root.pzxid = reader.int64();
    } else if (kind === kinds.snapshotNodes) {
      for (; reader.hasMore; this.#missingNodes--) readNode(reader, this.tree);
    } else {
      throw new Error(`unknown kind of record ${kind}`);
    }
  }

  ensureComplete(): void {
    if (this.#missingNodes > 0) throw new Error(`the snapshot lacks ${this.#missingNodes} nodes`);
  }

  #takeTransaction(reader: BytesReader): void {
    const stamp = { zxid: reader.int64(), timeMs: reader.int64() };
    if (stamp.zxid <= this.zxid) throw new Error(`transaction ${stamp.zxid} comes after ${this.zxid}`);
    this.zxid = stamp.zxid;
    const count = reader.int32();
    for (let i = 0; i < count; i++) this.tree.apply(readChange(reader), stamp);
  }
}

function readChange(reader: BytesReader): Change {
  const type = reader.int8();
  const path = reader.string();
  switch (type) {
    case changeTypes.create:
      return { type: 'create', path, data: reader.bytes(), ephemeralOwner: reader.bigInt64() };
    case changeTypes.set:
      return { type: 'set', path, data: reader.bytes() };
    case changeTypes.delete:
      return { type: 'delete', path };
    default:
      throw new Error(`unknown type of change ${type}`);
  }
}

function readNode(reader: BytesReader, tree: Tree): void {
  tree.restore(reader.string(), {
    data: reader.bytes(),
    ephemeralOwner: reader.bigInt64(),
    czxid: reader.int64(),
    mzxid: reader.int64(),
    pzxid: reader.int64(),
    createdMs: reader.int64(),
    modifiedMs: reader.int64(),
    version: reader.int32(),
    createdChildren: reader.int32(),
    children: undefined,
  });
}

/** A buffer that grows. */
class BytesWriter {
  #buffer = Buffer.allocUnsafe(256);
  size = 0;

  #reserve(bytes: number): void {
    if (this.size + bytes <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#buffer.length, this.size + bytes));
    this.#buffer.copy(larger, 0, 0, this.size);
    this.#buffer = larger;
  }

  int8(value: number): void {
    this.#reserve(1);
    this.size = this.#buffer.writeInt8(value, this.size);
  }

  int32(value: number): void {
    this.#reserve(4);
    this.size = this.#buffer.writeInt32BE(value, this.size);
  }

  int64(value: number): void {
    this.#reserve(8);
    // Two halves: a bigint for each number would cost more than all the rest.
    this.#buffer.writeInt32BE(Math.floor(value / 2 ** 32), this.size);
    this.size = this.#buffer.writeUInt32BE(value >>> 0, this.size + 4);
  }

  bigInt64(value: bigint): void {
    this.#reserve(8);
    this.size = this.#buffer.writeBigInt64BE(value, this.size);
  }

  bytes(value: Uint8Array | null): void {
    this.int32(value === null ? -1 : value.length);
    if (value === null) return;
    this.#reserve(value.length);
    this.#buffer.set(value, this.size);
    this.size += value.length;
  }

  finish(): Buffer {
    return this.#buffer.subarray(0, this.size);
  }
}

class BytesReader {
  readonly #buffer: Buffer;
  #position = 0;

  constructor(buffer: Buffer) {
    this.#buffer = buffer;
  }

  get hasMore(): boolean {
    return this.#position < this.#buffer.length;
  }

  #take(bytes: number): number {
    const start = this.#position;
    if (bytes < 0 || start + bytes > this.#buffer.length) throw new Error('a record is shorter than it says');
    this.#position += bytes;
    return start;
  }

  int8(): number {
    return this.#buffer.readInt8(this.#take(1));
  }

  int32(): number {
    return this.#buffer.readInt32BE(this.#take(4));
  }

  int64(): number {
    const start = this.#take(8);
    return this.#buffer.readInt32BE(start) * 2 ** 32 + this.#buffer.readUInt32BE(start + 4);
  }

  bigInt64(): bigint {
    return this.#buffer.readBigInt64BE(this.#take(8));
  }

  /** A copy: the journal as a whole shall not stay in memory. */
  bytes(): NodeData {
    const size = this.int32();
    if (size === -1) return null;
    const start = this.#take(size);
    return Buffer.from(this.#buffer.subarray(start, start + size));
  }

  string(): string {
    const size = this.int32();
    const start = this.#take(size);
    return this.#buffer.toString('utf8', start, start + size);
  }
}
