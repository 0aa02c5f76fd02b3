// The folder of one log: makes and removes the files of its segments and its snapshots, and knows what all logs share.

import type { Clock, FileSystem, Logger, Random, Timer } from '@odradek/runtime';
import type { FilePool } from './file-pool.ts';
import type { LogConfig } from './log-config.ts';
import { offsetOfFileName, segmentEndings, segmentFileName, suffix } from './log-file-names.ts';
import { LogSegment } from './log-segment.ts';
import type { LogSegments } from './log-segments.ts';
import { replayProducers } from './producer-replay.ts';
import { CorruptSnapshotError, decodeSnapshot, encodeSnapshot } from './producer-snapshot.ts';
import type { ProducerStates } from './producer-states.ts';
import type { TailBudget } from './tail-cache.ts';
import type { WriteScheduler } from './write-scheduler.ts';

/** What all logs of a broker share. */
export interface LogWorld {
  readonly clock: Clock;
  readonly timer: Timer;
  readonly random: Random;
  readonly logger: Logger;
  readonly fileSystem: FileSystem;
  readonly pool: FilePool;
  readonly writes: WriteScheduler;
  readonly tailBudget: TailBudget;
}

const synced = Promise.resolve();

export class LogFiles {
  #path: string;
  readonly #world: LogWorld;
  /** The snapshots in the folder, ascending. */
  #snapshots: number[];
  #unsyncedSnapshots: Set<number> | undefined;
  /** Counts how often files were removed or renamed. A crash can bring back those of which the device has not heard. */
  #nameChanges: number;
  #syncedNameChanges = 0;
  #forcedNameChanges = 0;
  #syncingNames: Promise<void> = synced;

  constructor(path: string, world: LogWorld, snapshots: readonly number[], isClean: boolean) {
    this.#path = path;
    this.#world = world;
    this.#nameChanges = isClean ? 0 : 1;
    this.#snapshots = [...snapshots].sort((a, b) => a - b);
  }

  get path(): string {
    return this.#path;
  }

  get clock(): Clock {
    return this.#world.clock;
  }

  get random(): Random {
    return this.#world.random;
  }

  get writes(): WriteScheduler {
    return this.#world.writes;
  }

  get tailBudget(): TailBudget {
    return this.#world.tailBudget;
  }

  get snapshots(): readonly number[] {
    return this.#snapshots;
  }

  /** Its files are made when there is something to put into them, or by `markStart`. */
  createSegment(baseOffset: number, config: LogConfig): LogSegment {
    return new LogSegment(this.#world.pool, this.#path, {
      baseOffset,
      maxIndexBytes: config.segmentIndexBytes,
      indexIntervalBytes: config.indexIntervalBytes,
      isNew: true,
      sizeBytes: 0,
      createdMs: this.#world.clock.wallTimeMs(),
      preallocatedBytes: config.preallocate ? config.segmentBytes : 0,
    });
  }

  openSegment(baseOffset: number, sizeBytes: number, createdMs: number, config: LogConfig): LogSegment {
    return new LogSegment(this.#world.pool, this.#path, {
      baseOffset,
      maxIndexBytes: config.segmentIndexBytes,
      indexIntervalBytes: config.indexIntervalBytes,
      isNew: false,
      sizeBytes,
      createdMs,
    });
  }

  /** Renames the segments' files to `*.deleted` and removes them later; readers that have them open go on. */
  removeSegments(segments: readonly LogSegment[], delayMs: number): void {
    const { fileSystem, timer, logger } = this.#world;
    const doomed: string[] = [];
    if (segments.length > 0) this.#nameChanges += 1;
    for (const segment of segments) {
      segment.retire();
      for (const ending of segmentEndings) {
        const path = this.#file(segment.baseOffset, ending);
        if (fileSystem.statSync(path) === undefined) continue;
        fileSystem.renameSync(path, `${path}${suffix.deleted}`);
        doomed.push(`${path}${suffix.deleted}`);
      }
    }
    const remove = (): void => {
      for (const path of doomed) {
        fileSystem.remove(path).catch((error: unknown) => logger.warn('A deleted file could not be removed', { path, error }));
      }
    };
    if (delayMs <= 0) remove();
    else timer.schedule(delayMs, remove);
  }

  /**
   * Puts a cleaned segment, whose files are on the device as `*.cleaned`, in the place of others. Whatever moment a crash comes at,
   * the next start finds either the old segments or the new one: see segment-swaps.ts.
   */
  swapSegments(
    replaced: readonly LogSegment[],
    cleaned: { readonly baseOffset: number; readonly sizeBytes: number; readonly modifiedMs: number },
    config: LogConfig,
  ): LogSegment {
    const { baseOffset, sizeBytes, modifiedMs } = cleaned;
    // The records last: they tell a start that the indexes are complete.
    this.#rename(segmentEndings.toReversed(), baseOffset, suffix.cleaned, suffix.swap);
    this.removeSegments(replaced, config.fileDeleteDelayMs);
    // The records first: as long as they are pending, a start takes indexes that have their place for those of the old segment.
    this.#rename(segmentEndings, baseOffset, suffix.swap, '');
    const gone = new Set(replaced.slice(1).map((segment) => segment.baseOffset));
    this.removeSnapshots((offset) => gone.has(offset));
    return this.openSegment(baseOffset, sizeBytes, modifiedMs, config);
  }

  #rename(endings: readonly string[], baseOffset: number, from: string, to: string): void {
    const { fileSystem } = this.#world;
    for (const ending of endings) {
      const path = this.#file(baseOffset, ending);
      if (fileSystem.statSync(`${path}${from}`) !== undefined) fileSystem.renameSync(`${path}${from}`, `${path}${to}`);
    }
  }

  writeSnapshot(states: ProducerStates, offset: number): void {
    if (this.#snapshots.includes(offset)) return;
    const { fileSystem, pool } = this.#world;
    const path = this.#file(offset, suffix.snapshot);
    // Not forced to the device now: its checksum tells whether it is whole, and the log can be read instead.
    const file = pool.openApart(path, 'truncate');
    try {
      file.writeSync([encodeSnapshot(states.states())], 0);
    } catch (error) {
      fileSystem.removeSync(path);
      throw error;
    } finally {
      file.closeSync();
    }
    this.#unsyncedSnapshots ??= new Set();
    this.#unsyncedSnapshots.add(offset);
    this.#snapshots.push(offset);
    this.#snapshots.sort((a, b) => a - b);
  }

  /** Forces to the device what `writeSnapshot` has written since the start. */
  async syncSnapshot(offset: number): Promise<void> {
    if (this.#unsyncedSnapshots?.has(offset) !== true || !this.#snapshots.includes(offset)) return;
    const file = this.#world.pool.openApart(this.#file(offset, suffix.snapshot), 'readWrite');
    try {
      this.#unsyncedSnapshots.delete(offset);
      await file.sync();
    } finally {
      file.closeSync();
    }
  }

  /** The log is not in use any more. Its folder may be another log's soon, in which none of its files must be made anew. */
  retire(): void {
    this.#unsyncedSnapshots = undefined;
  }

  removeSnapshots(isRemoved: (offset: number) => boolean): void {
    const removed = this.#snapshots.filter(isRemoved);
    for (const offset of removed) this.#world.fileSystem.removeSync(this.#file(offset, suffix.snapshot));
    if (removed.length === 0) return;
    this.#nameChanges += 1;
    this.#snapshots = this.#snapshots.filter((offset) => !isRemoved(offset));
  }

  /** What was removed stays removed from now on, whatever happens. New files see to their names themselves when they are forced. */
  syncNames(): Promise<void> {
    if (this.#syncedNameChanges < this.#nameChanges) {
      const changes = this.#nameChanges;
      this.#syncedNameChanges = changes;
      this.#syncingNames = this.#world.fileSystem.syncDirectory(this.#path).then(
        () => {
          this.#forcedNameChanges = changes;
        },
        (error: unknown) => {
          this.#syncedNameChanges = this.#forcedNameChanges;
          throw error;
        },
      );
    }
    return this.#syncingNames;
  }

  /** The same at once: nothing may be done before. */
  syncNamesNow(): void {
    this.#world.fileSystem.syncDirectorySync(this.#path);
    this.#syncedNameChanges = this.#nameChanges;
    this.#forcedNameChanges = this.#nameChanges;
  }

  /** No crash brings back what was removed. */
  get areNamesForced(): boolean {
    return this.#forcedNameChanges === this.#nameChanges;
  }

  /** Brings producer states to what the log before `endOffset` says: from the latest snapshot that is whole, and the batches after it. */
  loadProducerStates(
    states: ProducerStates,
    segments: LogSegments,
    logStartOffset: number,
    endOffset: number,
    config: LogConfig,
  ): void {
    const { clock, logger, fileSystem } = this.#world;
    states.clear();
    let from = logStartOffset;
    for (const offset of this.#snapshots.filter((each) => each <= endOffset && each >= logStartOffset).reverse()) {
      const path = this.#file(offset, suffix.snapshot);
      try {
        const loaded = decodeSnapshot(fileSystem.readFileSync(path), path);
        states.restore(loaded, clock.wallTimeMs(), config.producerIdExpirationMs);
        from = offset;
        break;
      } catch (error) {
        if (!(error instanceof CorruptSnapshotError)) throw error;
        logger.warn('A producer snapshot is damaged; an older one is used', { path, error });
        this.removeSnapshots((each) => each === offset);
      }
    }
    replayProducers(states, segments, from, endOffset);
  }

  #file(offset: number, ending: string): string {
    return `${this.#path}/${segmentFileName(offset, ending)}`;
  }
}

export function snapshotsAmong(names: readonly string[]): number[] {
  return names.flatMap((name) => offsetOfFileName(name, suffix.snapshot) ?? []);
}
