// Dumps files one after the other, each by its ending, and says at the end what did not fit together.

import { basename, resolve } from 'node:path';
import type { FileSystem } from '@odradek/runtime';
import {
  dumpOffsetIndex,
  dumpProducerSnapshot,
  dumpTimeIndex,
  dumpTransactionIndex,
  type IndexDumpOptions,
  type IndexMismatches,
  type TimeIndexFaults,
} from './index-dumps.ts';
import { hashOrder } from './java-text.ts';
import { dumpRecords, type OffsetGaps, type RecordsDumpOptions } from './records-dump.ts';
import type { TextOutput } from './text-output.ts';

export interface DumpOptions extends RecordsDumpOptions, IndexDumpOptions {
  readonly fileSystem: FileSystem;
  readonly output: TextOutput;
  readonly errors: TextOutput;
}

/** By absolute path. */
interface Complaints {
  readonly indexes: Map<string, IndexMismatches>;
  readonly timeIndexes: Map<string, TimeIndexFaults>;
  readonly gaps: Map<string, OffsetGaps>;
}

export async function dumpFiles(paths: readonly string[], options: DumpOptions): Promise<void> {
  const complaints: Complaints = { indexes: new Map(), timeIndexes: new Map(), gaps: new Map() };
  for (const path of paths) await dumpFile(javaPath(path), options, complaints);
  printComplaints(complaints, options.errors);
}

async function dumpFile(path: string, options: DumpOptions, complaints: Complaints): Promise<void> {
  const { fileSystem, output, errors } = options;
  output.line(`Dumping ${path}`);
  const name = basename(path);
  switch (name.slice(Math.max(0, name.lastIndexOf('.')))) {
    case '.log':
    case '.checkpoint':
      add(complaints.gaps, path, await dumpRecords(fileSystem, path, options, output));
      return;
    case '.index':
      add(complaints.indexes, path, await dumpOffsetIndex(fileSystem, path, options, output));
      return;
    case '.timeindex':
      complaints.timeIndexes.set(
        resolve(path),
        merged(complaints.timeIndexes.get(resolve(path)), await dumpTimeIndex(fileSystem, path, options, output)),
      );
      return;
    case '.txnindex':
      await dumpTransactionIndex(fileSystem, path, output);
      return;
    case '.snapshot': {
      const fault = dumpProducerSnapshot(fileSystem, path, output);
      if (fault !== undefined) errors.line(fault);
      return;
    }
    default:
      errors.line(`Ignoring unknown file ${path}`);
  }
}

/** Without doubled and closing slashes, as `java.io.File` has it. */
function javaPath(path: string): string {
  const single = path.replaceAll(/\/+/g, '/');
  return single.length > 1 && single.endsWith('/') ? single.slice(0, -1) : single;
}

function add(all: Map<string, Map<number, number>>, path: string, found: Map<number, number>): void {
  const absolute = resolve(path);
  if (found.size > 0) all.set(absolute, new Map([...(all.get(absolute) ?? []), ...found]));
}

function merged(earlier: TimeIndexFaults | undefined, found: TimeIndexFaults): TimeIndexFaults {
  return {
    mismatches: [...(earlier?.mismatches ?? []), ...found.mismatches],
    outOfOrder: [...(earlier?.outOfOrder ?? []), ...found.outOfOrder],
    notFound: [...(earlier?.notFound ?? []), ...found.notFound],
  };
}

function printComplaints({ indexes, timeIndexes, gaps }: Complaints, errors: TextOutput): void {
  for (const path of hashOrder([...indexes.keys()])) {
    errors.line(`Mismatches in :${path}`);
    for (const [offset, found] of [...indexes.get(path)!].sort(([a], [b]) => b - a)) {
      errors.line(`  Index offset: ${offset}, log offset: ${found}`);
    }
  }
  const withAny = (list: keyof TimeIndexFaults): string[] =>
    hashOrder([...timeIndexes.keys()].filter((path) => timeIndexes.get(path)![list].length > 0));
  for (const path of withAny('mismatches')) {
    errors.line(`Found timestamp mismatch in :${path}`);
    for (const [said, found] of timeIndexes.get(path)!.mismatches)
      errors.line(`  Index timestamp: ${said}, log timestamp: ${found}`);
  }
  for (const path of withAny('outOfOrder')) {
    errors.line(`Found out of order timestamp in :${path}`);
    for (const [timestamp, previous] of timeIndexes.get(path)!.outOfOrder) {
      errors.line(`  Index timestamp: ${timestamp}, Previously indexed timestamp: ${previous}`);
    }
  }
  for (const path of withAny('notFound')) {
    errors.line(`The following indexed offsets are not found in :${path}`);
    for (const [offset, found] of timeIndexes.get(path)!.notFound)
      errors.line(`Indexed offset: ${offset}, found log offset: ${found}`);
  }
  for (const path of hashOrder([...gaps.keys()])) {
    errors.line(`Non-consecutive offsets in ${path}`);
    for (const [before, after] of [...gaps.get(path)!].sort(([a], [b]) => a - b))
      errors.line(`  ${before} is followed by ${after}`);
  }
}
