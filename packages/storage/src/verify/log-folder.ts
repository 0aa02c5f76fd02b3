// Which files make up the log in a folder, as the next start would take them: log/segment-swaps.ts says what becomes of replacements
// that were interrupted.

import type { FileSystem } from '@odradek/runtime';
import { BatchFile, BatchSizeError } from '../inspect/batch-file.ts';
import { leaderEpochFile, offsetOfFileName, segmentEndings, suffix } from '../log/log-file-names.ts';
import type { Report } from './findings.ts';

export interface SegmentFiles {
  readonly baseOffset: number;
  readonly records: string;
  readonly offsetIndex: string | undefined;
  readonly timeIndex: string | undefined;
  readonly transactionIndex: string | undefined;
}

export interface LogFolder {
  readonly path: string;
  /** Ascending, as the snapshots are. */
  readonly segments: readonly SegmentFiles[];
  readonly snapshots: readonly { readonly offset: number; readonly path: string }[];
  readonly leaderEpochs: string;
}

/** Name → path, where the two differ only for what waits to take its place. */
type Names = Map<string, string>;

export function readLogFolder(fileSystem: FileSystem, path: string, report: Report): LogFolder {
  const found = fileSystem.listSync(path);
  for (const name of found) {
    const what = pendingKinds.find(([ending]) => name.endsWith(ending))?.[1];
    if (what !== undefined) report('leftover', `${path}/${name}`, undefined, what, true);
  }
  const names = withSwapsDone(fileSystem, path, found);
  const segments: SegmentFiles[] = [];
  const snapshots: { offset: number; path: string }[] = [];
  for (const name of [...names.keys()].sort()) {
    const snapshot = offsetOfFileName(name, suffix.snapshot);
    if (snapshot !== undefined) snapshots.push({ offset: snapshot, path: names.get(name)! });
    const baseOffset = offsetOfFileName(name, suffix.records);
    if (baseOffset !== undefined) segments.push(filesOf(baseOffset, name, names));
  }
  reportOrphans(names, segments, report);
  return { path, segments, snapshots, leaderEpochs: `${path}/${leaderEpochFile}` };
}

const pendingKinds = [
  [suffix.deleted, 'a file that was to be removed'],
  [suffix.cleaned, 'a part of a compaction that did not come to its end'],
  [suffix.swap, 'a part of a compaction that waits to take its place'],
] as const;

function filesOf(baseOffset: number, recordsName: string, names: Names): SegmentFiles {
  const stem = recordsName.slice(0, -suffix.records.length);
  return {
    baseOffset,
    records: names.get(recordsName)!,
    offsetIndex: names.get(stem + suffix.offsetIndex),
    timeIndex: names.get(stem + suffix.timeIndex),
    transactionIndex: names.get(stem + suffix.transactionIndex),
  };
}

function reportOrphans(names: Names, segments: readonly SegmentFiles[], report: Report): void {
  const baseOffsets = new Set(segments.map(({ baseOffset }) => baseOffset));
  for (const [name, path] of names) {
    for (const ending of segmentEndings) {
      const baseOffset = offsetOfFileName(name, ending);
      if (baseOffset === undefined || baseOffsets.has(baseOffset)) continue;
      report('orphan-index', path, undefined, 'there are no records for it', true);
    }
  }
}

function withSwapsDone(fileSystem: FileSystem, path: string, found: readonly string[]): Names {
  const names: Names = new Map();
  for (const name of found) {
    if (!pendingKinds.some(([ending]) => name.endsWith(ending))) names.set(name, `${path}/${name}`);
  }
  const firstCleaned = Math.min(...found.map((name) => offsetOfPending(name, suffix.cleaned) ?? Number.POSITIVE_INFINITY));
  const swaps = found.filter((name) => (offsetOfPending(name, suffix.swap) ?? firstCleaned) < firstCleaned);
  for (const name of swaps) {
    if (name.endsWith(`${suffix.records}${suffix.swap}`))
      dropReplaced(names, fileSystem, `${path}/${name}`, offsetOfPending(name, suffix.swap)!);
  }
  for (const name of swaps) names.set(name.slice(0, -suffix.swap.length), `${path}/${name}`);
  return names;
}

function dropReplaced(names: Names, fileSystem: FileSystem, swapPath: string, baseOffset: number): void {
  const nextOffset = nextOffsetIn(fileSystem, swapPath, baseOffset);
  for (const name of [...names.keys()]) {
    const isReplaced = segmentEndings.some((ending) => {
      const offset = offsetOfFileName(name, ending);
      return offset !== undefined && offset >= baseOffset && offset < nextOffset;
    });
    if (isReplaced) names.delete(name);
  }
}

function nextOffsetIn(fileSystem: FileSystem, path: string, baseOffset: number): number {
  const file = new BatchFile(fileSystem, path);
  let nextOffset = baseOffset + 1;
  try {
    for (const { buffer, start, magic } of file.batches()) {
      const lastOffset = Number(buffer.readBigInt64BE(start)) + (magic === 2 ? buffer.readInt32BE(start + 23) : 0);
      nextOffset = Math.max(nextOffset, lastOffset + 1);
    }
  } catch (error) {
    // Its own verification will say so.
    if (!(error instanceof BatchSizeError)) throw error;
  } finally {
    file.closeSync();
  }
  return nextOffset;
}

/** The base offset in a name like `00000000000000000042.log.swap`; undefined for any other. */
function offsetOfPending(name: string, pending: string): number | undefined {
  if (!name.endsWith(pending)) return undefined;
  const file = name.slice(0, -pending.length);
  return segmentEndings.map((ending) => offsetOfFileName(file, ending)).find((offset) => offset !== undefined);
}
