// The dump of a `.log` file, or of a snapshot of Kafka's controllers, which has the same form: a line for each batch, and when asked
// for one for each record.

import { basename } from 'node:path';
import {
  type Batch,
  controlRecordType,
  KRaftVersionRecord,
  LeaderChangeMessage,
  LegacyBatch,
  type LogRecord,
  type MessageDefinition,
  RecordBatch,
  readEndTransactionMarker,
  SnapshotFooterRecord,
  SnapshotHeaderRecord,
  VotersRecord,
} from '@odradek/protocol';
import type { FileSystem } from '@odradek/runtime';
import { type BatchBytes, BatchFile, BatchSizeError } from '@odradek/storage';
import { baseOffsetOf, DumpFailure } from './dump-failure.ts';
import { printJson } from './java-text.ts';
import { type RecordDecoder, readAsJson } from './record-decoders.ts';
import type { TextOutput } from './text-output.ts';

export const maxInt = 0x7fffffff;

export interface RecordsDumpOptions {
  readonly isDeep: boolean;
  readonly printContents: boolean;
  readonly skipRecordMetadata: boolean;
  readonly decode: RecordDecoder;
  /** `maxInt`: the whole file. */
  readonly maxBytes: number;
}

/** Offset → the one that follows it, where that is not the next. */
export type OffsetGaps = Map<number, number>;

/** Answers the gaps that it met. Records count, so nothing is known of them without a deep iteration. */
export async function dumpRecords(
  fileSystem: FileSystem,
  path: string,
  options: RecordsDumpOptions,
  output: TextOutput,
): Promise<OffsetGaps> {
  output.line(titleOf(basename(path)));
  const file = new BatchFile(fileSystem, path);
  const gaps: OffsetGaps = new Map();
  try {
    const end = endOf(file, options.maxBytes);
    let validBytes = 0;
    let lastOffset = -1;
    for (const found of file.batches(0, end)) {
      const batch = batchOf(found);
      dumpBatch(batch, found.position, output);
      if (options.isDeep) {
        for (const record of recordsOf(batch)) {
          if (record.offset !== lastOffset + 1) gaps.set(lastOffset, record.offset);
          lastOffset = record.offset;
          dumpRecord(batch, record, options, output);
        }
      }
      validBytes = found.position + found.sizeBytes;
      await output.settle();
    }
    if (end > validBytes && options.maxBytes === maxInt) {
      output.line(`Found ${end - validBytes} invalid bytes at the end of ${basename(path)}`);
    }
  } catch (error) {
    if (!(error instanceof BatchSizeError)) throw error;
    const words = `Found record size ${error.length} smaller than minimum record overhead (14) in file ${path}.`;
    throw new DumpFailure('org.apache.kafka.common.errors.CorruptRecordException', words);
  } finally {
    file.closeSync();
  }
  return gaps;
}

function titleOf(fileName: string): string {
  if (fileName.endsWith('.log')) return `Log starting offset: ${baseOffsetOf(fileName)}`;
  if (fileName === 'bootstrap.checkpoint') return 'KRaft bootstrap snapshot';
  const [, offset, epoch] = /^(\d{20})-(\d{10})\.checkpoint$/.exec(fileName) ?? [];
  if (offset === undefined) throw new DumpFailure('java.util.NoSuchElementException', 'No value present');
  return `Snapshot end offset: ${Number(offset)}, epoch: ${Number(epoch)}`;
}

function endOf(file: BatchFile, maxBytes: number): number {
  if (maxBytes >= 0) return Math.min(file.sizeBytes, maxBytes);
  const shown = `FileRecords(size=${file.sizeBytes}, file=${file.path}, start=0, end=${maxInt})`;
  throw new DumpFailure('java.lang.IllegalArgumentException', `Invalid size: ${maxBytes} in read from ${shown}`);
}

/** A magic of the future is taken for the newest that is known. */
export function batchOf({ buffer, start, magic }: BatchBytes): Batch {
  return magic >= 2 ? new RecordBatch(buffer, start) : new LegacyBatch(buffer, start);
}

function dumpBatch(batch: Batch, position: number, output: TextOutput): void {
  if (batch instanceof RecordBatch) {
    const horizon = batch.deleteHorizonMs;
    output.print(
      `baseOffset: ${batch.baseOffset} lastOffset: ${batch.lastOffset} count: ${batch.recordCount}` +
        ` baseSequence: ${batch.baseSequence} lastSequence: ${batch.lastSequence}` +
        ` producerId: ${batch.producerId} producerEpoch: ${batch.producerEpoch}` +
        ` partitionLeaderEpoch: ${batch.partitionLeaderEpoch} isTransactional: ${batch.isTransactional}` +
        ` isControl: ${batch.isControl} deleteHorizonMs: ${optionalLong(horizon ?? undefined)}`,
    );
  } else output.print(`offset: ${batch.lastOffset}`);
  const magic = batch.buffer.readInt8(batch.start + 16);
  if (magic < 0) throw new DumpFailure('java.lang.IllegalArgumentException', `Invalid magic used in LegacyRecord: ${magic}`);
  output.line(
    ` position: ${position} ${batch.timestampType}: ${batch.maxTimestamp} size: ${batch.sizeInBytes} magic: ${magic}` +
      ` compresscodec: ${codecOf(batch)} crc: ${batch.crc} isvalid: ${batch.isCrcValid()}`,
  );
}

export function optionalLong(value: number | undefined): string {
  return value === undefined ? 'OptionalLong.empty' : `OptionalLong[${value}]`;
}

function codecOf(batch: Batch): string {
  if (batch.compressionId <= 4) return batch.compression;
  throw new DumpFailure('java.lang.IllegalArgumentException', `Unknown compression type id: ${batch.compressionId}`);
}

interface DumpedRecord extends LogRecord {
  /** What a message of an old format says of itself, also within another. */
  readonly message: LegacyBatch | undefined;
}

function* recordsOf(batch: Batch): Generator<DumpedRecord, void, undefined> {
  if (batch instanceof RecordBatch) {
    for (const record of batch.records(Number.MAX_SAFE_INTEGER)) yield { ...record, message: undefined };
    return;
  }
  const messages = batch.recordBytes(Number.MAX_SAFE_INTEGER);
  let at = 0;
  for (const record of batch.records(Number.MAX_SAFE_INTEGER)) {
    const message = new LegacyBatch(messages, at);
    at += message.sizeInBytes;
    yield { ...record, message };
  }
}

function dumpRecord(batch: Batch, record: DumpedRecord, options: RecordsDumpOptions, output: TextOutput): void {
  const { printContents, skipRecordMetadata, decode } = options;
  if (!skipRecordMetadata) output.print(metadataOf(batch, record));
  if (printContents && !batch.isControl) {
    const { key, value } = decode(record);
    let prefix = skipRecordMetadata ? '| ' : ' ';
    if (key !== undefined) {
      output.print(`${prefix}key: ${key}`);
      prefix = ' ';
    }
    if (value !== undefined) output.print(`${prefix}payload: ${value}`);
  }
  output.line();
}

function metadataOf(batch: Batch, record: DumpedRecord): string {
  const { offset, timestamp, key, value, message } = record;
  const sizes = `keySize: ${key?.length ?? -1} valueSize: ${value?.length ?? -1}`;
  const common = `| offset: ${offset} ${batch.timestampType}: ${timestamp} ${sizes}`;
  if (message !== undefined) return `${common} isValid: ${message.isCrcValid()} crc: ${message.crc}`;
  const headerKeys = record.headers.map((header) => header.key).join(',');
  const line = `${common} sequence: ${record.sequence} headerKeys: [${headerKeys}]`;
  return batch.isControl ? line + controlWords(record) : line;
}

/** What the controllers of KRaft write between their records. */
const controllerRecords: Readonly<Record<string, readonly [label: string, MessageDefinition]>> = {
  LEADER_CHANGE: ['LeaderChange:', LeaderChangeMessage],
  SNAPSHOT_HEADER: ['SnapshotHeader', SnapshotHeaderRecord],
  SNAPSHOT_FOOTER: ['SnapshotFooter', SnapshotFooterRecord],
  KRAFT_VERSION: ['KRaftVersion', KRaftVersionRecord],
  KRAFT_VOTERS: ['KRaftVoters', VotersRecord],
};

function controlWords(record: LogRecord): string {
  const marker = readEndTransactionMarker(record);
  if (marker !== null) return ` endTxnMarker: ${marker.type.toUpperCase()} coordinatorEpoch: ${marker.coordinatorEpoch}`;
  const type = controlRecordType(record.key);
  const [label, definition] = controllerRecords[type] ?? [];
  if (label === undefined || definition === undefined) return ` controlType: ${type}(${record.key?.readInt16BE(2)})`;
  const value = record.value ?? Buffer.alloc(0);
  // Each begins with its own version.
  return ` ${label} ${printJson(readAsJson(definition, value.readInt16BE(0), value))}`;
}
