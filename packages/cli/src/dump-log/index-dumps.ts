// The dumps of the files beside a `.log`: its indexes, which are compared with it, and producer snapshots.

import { basename, dirname, join, resolve } from 'node:path';
import { crc32c } from '@odradek/protocol';
import type { FileSystem } from '@odradek/runtime';
import {
  type BatchBytes,
  BatchFile,
  decodeSnapshot,
  OffsetIndexView,
  readTransactionEntry,
  TimeIndexView,
  transactionEntryBytes,
} from '@odradek/storage';
import { baseOffsetOf, DumpFailure } from './dump-failure.ts';
import { batchOf, maxInt, optionalLong } from './records-dump.ts';
import type { TextOutput } from './text-output.ts';

export interface IndexDumpOptions {
  readonly isSanityCheck: boolean;
  /** Prints nothing of the entries. */
  readonly isVerifyOnly: boolean;
  readonly maxMessageBytes: number;
}

/** Offset in the index → the last offset of the batch to which it points. */
export type IndexMismatches = Map<number, number>;

export async function dumpOffsetIndex(
  fileSystem: FileSystem,
  path: string,
  { isSanityCheck, isVerifyOnly, maxMessageBytes }: IndexDumpOptions,
  output: TextOutput,
): Promise<IndexMismatches> {
  const baseOffset = baseOffsetOf(basename(path));
  const mismatches: IndexMismatches = new Map();
  const file = new BatchFile(fileSystem, beside(path, '.log'));
  try {
    const index = openIndex(path, () => new OffsetIndexView(fileSystem, path, baseOffset));
    if (index.entryCount === 0) {
      output.line(`${path} is empty.`);
      return mismatches;
    }
    if (isSanityCheck) {
      ensureSane(index);
      output.line(`${path} passed sanity check.`);
      return mismatches;
    }
    for (let entry = 0; entry < index.entryCount; entry++) {
      const { offset, position } = index.at(entry);
      // The zeros that a killed broker left.
      if (offset === baseOffset && entry > 0) break;
      const { lastOffset } = batchOf(firstBatchIn(file, position, maxMessageBytes));
      if (lastOffset !== offset) mismatches.set(offset, lastOffset);
      if (!isVerifyOnly) output.line(`offset: ${offset} position: ${position}`);
      await output.settle();
    }
  } finally {
    file.closeSync();
  }
  return mismatches;
}

function firstBatchIn(file: BatchFile, position: number, maxBytes: number): BatchBytes {
  const { sizeBytes, path } = file;
  if (position < 0 || position > sizeBytes) {
    const shown = `FileRecords(size=${sizeBytes}, file=${path}, start=0, end=${maxInt})`;
    const words =
      position < 0
        ? `Invalid position: ${position} in read from ${shown}`
        : `Slice from position ${position} exceeds end position of ${shown}`;
    throw new DumpFailure('java.lang.IllegalArgumentException', words);
  }
  for (const batch of file.batches(position, Math.min(sizeBytes, position + maxBytes))) return batch;
  throw new DumpFailure('java.util.NoSuchElementException', '');
}

/** The three ways in which a time index can be wrong, a list each, in the order in which they were met. */
export interface TimeIndexFaults {
  readonly mismatches: (readonly [indexTimestamp: number, logTimestamp: number])[];
  readonly outOfOrder: (readonly [timestamp: number, previous: number])[];
  readonly notFound: (readonly [indexOffset: number, logOffset: number])[];
}

export async function dumpTimeIndex(
  fileSystem: FileSystem,
  path: string,
  { isSanityCheck, isVerifyOnly }: IndexDumpOptions,
  output: TextOutput,
): Promise<TimeIndexFaults> {
  const baseOffset = baseOffsetOf(basename(path));
  const faults: TimeIndexFaults = { mismatches: [], outOfOrder: [], notFound: [] };
  const file = new BatchFile(fileSystem, beside(path, '.log'));
  try {
    const offsets = openIndex(beside(path, '.index'), () => new OffsetIndexView(fileSystem, beside(path, '.index'), baseOffset));
    const index = openIndex(path, () => new TimeIndexView(fileSystem, path, baseOffset));
    if (isSanityCheck) {
      ensureSane(index);
      output.line(`${path} passed sanity check.`);
      return faults;
    }
    let previous = -1;
    for (let entry = 0; entry < index.entryCount; entry++) {
      const { timestamp, offset } = index.at(entry);
      if (offset === baseOffset && entry > 0) break;
      const found = firstBatchUpTo(file, startFor(offsets, offset), offset);
      if (found === undefined || found.lastOffset !== offset) faults.notFound.push([offset, found?.lastOffset ?? -1]);
      else {
        if (found.largestTimestamp !== timestamp) faults.mismatches.push([timestamp, found.largestTimestamp]);
        if (previous >= timestamp) faults.outOfOrder.push([timestamp, previous]);
      }
      if (!isVerifyOnly) output.line(`timestamp: ${timestamp} offset: ${offset}`);
      previous = timestamp;
      await output.settle();
    }
  } finally {
    file.closeSync();
  }
  return faults;
}

function firstBatchUpTo(
  file: BatchFile,
  position: number,
  offset: number,
): { readonly lastOffset: number; readonly largestTimestamp: number } | undefined {
  for (const found of file.batches(position)) {
    const batch = batchOf(found);
    if (batch.lastOffset < offset) continue;
    let largestTimestamp = -1;
    if (batch.lastOffset === offset) {
      for (const { timestamp } of batch.records(Number.MAX_SAFE_INTEGER)) largestTimestamp = Math.max(largestTimestamp, timestamp);
    }
    return { lastOffset: batch.lastOffset, largestTimestamp };
  }
  return undefined;
}

/** How many bytes at the end of an index Kafka searches first. */
const warmBytes = 8192;

/** Halves as Kafka does: with zeros behind the real entries it matters where one begins. */
function startFor(index: OffsetIndexView, offset: number): number {
  if (index.entryCount === 0) return 0;
  const firstWarm = Math.max(0, index.entryCount - 1 - warmBytes / 8);
  let [low, high] = [0, firstWarm];
  if (index.at(firstWarm).offset < offset) [low, high] = [firstWarm, index.entryCount - 1];
  else if (index.at(0).offset > offset) return 0;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    const found = index.at(middle);
    if (found.offset === offset) return found.position;
    if (found.offset > offset) high = middle - 1;
    else low = middle;
  }
  return index.at(low).position;
}

/** Kafka makes the file that it cannot find, and then cannot use it. */
function openIndex<T>(path: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    throw new DumpFailure('java.lang.IllegalArgumentException', `Invalid max index size: -1 (there is no ${path})`);
  }
}

/** What a start of Kafka looks at to decide whether an index must be made anew. */
function ensureSane(index: OffsetIndexView | TimeIndexView): void {
  const path = resolve(index.path);
  const isTime = index instanceof TimeIndexView;
  const corrupt = (words: string): DumpFailure =>
    new DumpFailure('org.apache.kafka.storage.internals.log.CorruptIndexException', words);
  const head = isTime
    ? `Corrupt time index found, time index file (${path}) has non-zero size but`
    : `Corrupt index found, index file (${path}) has non-zero size but`;
  if (index.entryCount > 0) {
    const last = index.at(index.entryCount - 1);
    if (isTime) {
      const [first, lastTimestamp] = [index.at(0).timestamp, index.at(index.entryCount - 1).timestamp];
      if (lastTimestamp < first) {
        throw corrupt(`${head} the last timestamp is ${lastTimestamp} which is less than the first timestamp ${first}`);
      }
    }
    if (last.offset < index.baseOffset) {
      const than = isTime ? 'first' : 'base';
      throw corrupt(`${head} the last offset is ${last.offset} which is less than the ${than} offset ${index.baseOffset}`);
    }
  }
  if (index.hasWholeEntries) return;
  const entryBytes = isTime ? 12 : 8;
  const name = isTime ? 'Time index' : 'Index';
  throw corrupt(
    `${name} file ${path} is corrupt, found ${index.sizeBytes} bytes which is neither positive nor a multiple of ${entryBytes}`,
  );
}

export async function dumpTransactionIndex(fileSystem: FileSystem, path: string, output: TextOutput): Promise<void> {
  baseOffsetOf(basename(path));
  if (fileSystem.statSync(path) === undefined) return;
  const bytes = fileSystem.readFileSync(path);
  for (let at = 0; at + transactionEntryBytes <= bytes.length; at += transactionEntryBytes) {
    const version = bytes.readInt16BE(at);
    if (version > 0) {
      const words = `Unexpected aborted transaction version ${version} in transaction index ${resolve(path)}, supported version range is 0 to 0`;
      throw new DumpFailure('org.apache.kafka.common.KafkaException', words);
    }
    const { producerId, firstOffset, lastOffset, lastStableOffset } = readTransactionEntry(bytes, at);
    output.line(
      `version: ${version} producerId: ${producerId} firstOffset: ${firstOffset} lastOffset: ${lastOffset} lastStableOffset: ${lastStableOffset}`,
    );
    await output.settle();
  }
}

/** Answers what is wrong with the file, if anything is: then nothing of it is printed. */
export function dumpProducerSnapshot(fileSystem: FileSystem, path: string, output: TextOutput): string | undefined {
  const bytes = fileSystem.readFileSync(path);
  const fault = snapshotFault(bytes);
  if (fault !== undefined) return fault;
  for (const state of decodeSnapshot(bytes, path)) {
    const [last] = state.batches;
    output.print(
      `producerId: ${state.producerId} producerEpoch: ${state.producerEpoch} coordinatorEpoch: ${state.coordinatorEpoch}` +
        ` currentTxnFirstOffset: ${optionalLong(state.transactionFirstOffset)} lastTimestamp: ${state.lastTimestamp}`,
    );
    if (last !== undefined) {
      const { lastSequence, lastOffset, offsetDelta, timestamp } = last;
      const firstSequence = lastSequence < offsetDelta ? lastSequence - offsetDelta + 0x80000000 : lastSequence - offsetDelta;
      output.print(
        ` firstSequence: ${firstSequence} lastSequence: ${lastSequence} lastOffset: ${lastOffset} offsetDelta: ${offsetDelta} timestamp: ${timestamp}`,
      );
    }
    output.line();
  }
  return undefined;
}

function snapshotFault(bytes: Buffer): string | undefined {
  const invalid = 'Snapshot failed schema validation: ';
  const version = bytes.length < 2 ? 1 : bytes.readInt16BE(0);
  if (version !== 1) return `${invalid}Snapshot contained an unknown file version ${version}`;
  // Java has no words for bytes that end too soon.
  if (bytes.length < 10 || bytes.length < 10 + bytes.readInt32BE(6) * 46) return `${invalid}null`;
  const [stored, computed] = [bytes.readUInt32BE(2), crc32c(bytes, 6, bytes.length)];
  if (stored === computed) return undefined;
  return `Snapshot is corrupt (CRC is no longer valid). Stored crc: ${stored}. Computed crc: ${computed}`;
}

/** The file of the same segment with another ending, as an absolute path, since that is how Kafka's tool tells of it. */
function beside(path: string, ending: string): string {
  const absolute = resolve(path);
  return join(dirname(absolute), `${basename(absolute).split('.', 1)[0]}${ending}`);
}
