// The file that keeps producer states, so that a start need not read the whole log for them. `OFFSET.snapshot` has what is known
// of all records before that offset.
//
//   0  int16   version, 1
//   2  uint32  CRC-32C of all that follows
//   6  int32   number of entries, each of 46 bytes:
//        0  int64  producer id              22  int32  offset delta of its last batch
//        8  int16  producer epoch           26  int64  timestamp of its last batch
//       10  int32  last sequence            34  int32  coordinator epoch of its last marker, -1 = none
//       14  int64  last offset              38  int64  first offset of its open transaction, -1 = none

import { crc32c } from '@odradek/protocol';
import { firstSequenceOf, type ProducerState } from './producer-states.ts';

const version = 1;
const headBytes = 10;
const entryBytes = 46;

/** The snapshot cannot be used; an older one and the log take its place. */
export class CorruptSnapshotError extends Error {
  override readonly name = 'CorruptSnapshotError';
}

export function encodeSnapshot(states: Iterable<ProducerState>): Buffer {
  const list = [...states];
  const bytes = Buffer.alloc(headBytes + list.length * entryBytes);
  bytes.writeInt16BE(version, 0);
  bytes.writeInt32BE(list.length, 6);
  let at = headBytes;
  for (const state of list) {
    const last = state.batches.at(-1);
    bytes.writeBigInt64BE(BigInt(state.producerId), at);
    bytes.writeInt16BE(state.producerEpoch, at + 8);
    bytes.writeInt32BE(last?.lastSequence ?? -1, at + 10);
    bytes.writeBigInt64BE(BigInt(last?.lastOffset ?? -1), at + 14);
    bytes.writeInt32BE(last?.offsetDelta ?? 0, at + 22);
    bytes.writeBigInt64BE(BigInt(state.lastTimestamp), at + 26);
    bytes.writeInt32BE(state.coordinatorEpoch, at + 34);
    bytes.writeBigInt64BE(BigInt(state.transactionFirstOffset ?? -1), at + 38);
    at += entryBytes;
  }
  bytes.writeUInt32BE(crc32c(bytes, 6, bytes.length), 2);
  return bytes;
}

/** Throws CorruptSnapshotError. */
export function decodeSnapshot(bytes: Buffer, path: string): ProducerState[] {
  if (bytes.length < headBytes || bytes.readInt16BE(0) !== version) {
    throw new CorruptSnapshotError(`${path} is no producer snapshot of version ${version}`);
  }
  const count = bytes.readInt32BE(6);
  if (bytes.readUInt32BE(2) !== crc32c(bytes, 6, bytes.length) || bytes.length !== headBytes + count * entryBytes) {
    throw new CorruptSnapshotError(`${path} is damaged: its checksum or its size is wrong`);
  }
  const states: ProducerState[] = [];
  for (let at = headBytes; at < bytes.length; at += entryBytes) {
    const lastSequence = bytes.readInt32BE(at + 10);
    const lastOffset = Number(bytes.readBigInt64BE(at + 14));
    const offsetDelta = bytes.readInt32BE(at + 22);
    const lastTimestamp = Number(bytes.readBigInt64BE(at + 26));
    const transactionFirstOffset = Number(bytes.readBigInt64BE(at + 38));
    const last = lastOffset >= 0 ? { lastSequence, lastOffset, offsetDelta, timestamp: lastTimestamp } : undefined;
    states.push({
      producerId: Number(bytes.readBigInt64BE(at)),
      producerEpoch: bytes.readInt16BE(at + 8),
      batches: last === undefined ? [] : [last],
      firstSequence: last === undefined ? -1 : firstSequenceOf(last),
      leaderEpoch: -1,
      reignSequence: -1,
      coordinatorEpoch: bytes.readInt32BE(at + 34),
      lastTimestamp,
      transactionFirstOffset: transactionFirstOffset < 0 ? undefined : transactionFirstOffset,
    });
  }
  return states;
}
