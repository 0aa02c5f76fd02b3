// Finishes or undoes what a crash interrupted while segments were being replaced or deleted.
//
//   *.deleted   was on its way out: removed
//   *.cleaned   a replacement that is not complete: removed, and with it what had already been renamed to .swap at or above it
//   *.swap      a replacement that is complete: it takes the place of the segments whose offsets it covers

import { offsetOfFileName, segmentEndings, segmentFileName, suffix } from './log-file-names.ts';
import type { LogWorld } from './log-files.ts';
import { RecordsFile } from './records-file.ts';

/** Answers the names in the folder afterwards, sorted. */
export function finishSegmentSwaps(world: LogWorld, path: string): string[] {
  const { fileSystem, logger } = world;
  const names = fileSystem.listSync(path);
  const isPending = names.some((name) => [suffix.deleted, suffix.cleaned, suffix.swap].some((ending) => name.endsWith(ending)));
  if (!isPending) return names;
  let firstCleaned = Number.POSITIVE_INFINITY;
  for (const name of names) {
    if (name.endsWith(suffix.deleted)) fileSystem.removeSync(`${path}/${name}`);
    if (!name.endsWith(suffix.cleaned)) continue;
    firstCleaned = Math.min(firstCleaned, offsetOfPending(name, suffix.cleaned));
    fileSystem.removeSync(`${path}/${name}`);
  }
  for (const name of names.filter((each) => each.endsWith(suffix.swap))) {
    if (offsetOfPending(name, suffix.swap) >= firstCleaned) fileSystem.removeSync(`${path}/${name}`);
  }
  for (const name of fileSystem.listSync(path)) {
    if (!name.endsWith(`${suffix.records}${suffix.swap}`)) continue;
    logger.info('Finishing the replacement of segments that was interrupted', { path, file: name });
    completeSwap(world, path, offsetOfPending(name, suffix.swap));
  }
  // Indexes whose records were already in their place when the crash came.
  for (const name of fileSystem.listSync(path)) {
    if (name.endsWith(suffix.swap)) fileSystem.renameSync(`${path}/${name}`, `${path}/${name.slice(0, -suffix.swap.length)}`);
  }
  return fileSystem.listSync(path);
}

function completeSwap({ fileSystem, pool }: LogWorld, path: string, baseOffset: number): void {
  const recordsPath = `${path}/${segmentFileName(baseOffset, suffix.records)}`;
  const swapPath = `${recordsPath}${suffix.swap}`;
  const swapped = new RecordsFile(pool, swapPath, fileSystem.statSync(swapPath)?.size ?? 0);
  let nextOffset = baseOffset + 1;
  for (const { batch } of swapped.headersFrom(0)) nextOffset = Math.max(nextOffset, batch.lastOffset + 1);
  swapped.retire();
  for (const name of fileSystem.listSync(path)) {
    const isReplaced = segmentEndings.some((ending) => {
      const offset = offsetOfFileName(name, ending);
      return offset !== undefined && offset >= baseOffset && offset < nextOffset;
    });
    if (isReplaced) fileSystem.removeSync(`${path}/${name}`);
  }
  // The records first: their indexes would be taken for old ones as long as they wait.
  for (const ending of segmentEndings) {
    const file = `${path}/${segmentFileName(baseOffset, ending)}`;
    if (fileSystem.statSync(`${file}${suffix.swap}`) !== undefined) fileSystem.renameSync(`${file}${suffix.swap}`, file);
  }
}

/** The base offset in a name like `00000000000000000042.log.swap`. */
function offsetOfPending(name: string, pending: string): number {
  const file = name.slice(0, -pending.length);
  for (const ending of segmentEndings) {
    const offset = offsetOfFileName(file, ending);
    if (offset !== undefined) return offset;
  }
  return Number.POSITIVE_INFINITY;
}
