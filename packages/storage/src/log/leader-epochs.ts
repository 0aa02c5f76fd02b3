// Which leader epoch begins at which offset, and the file that says so. It is what a follower asks to find where its log parts
// from the leader's (KIP-101, KIP-279).
//
//   leader-epoch-checkpoint    0               version
//                              2               number of lines
//                              0 0             epoch, start offset
//                              3 1042
//
// Both columns ascend strictly.

import type { FileSystem } from '@odradek/runtime';
import { DamagedCheckpointError, parseCheckpoint, printCheckpoint } from './checkpoint-file.ts';

export interface EpochEntry {
  readonly epoch: number;
  readonly startOffset: number;
}

export interface EpochEnd {
  /** -1: nothing is known of the epoch. */
  readonly leaderEpoch: number;
  readonly endOffset: number;
}

export const unknownEpochEnd: EpochEnd = { leaderEpoch: -1, endOffset: -1 };

const written = Promise.resolve();

export class LeaderEpochs {
  readonly #fileSystem: FileSystem;
  readonly #path: string;
  #entries: EpochEntry[];
  /** The file says something else than `#entries`. */
  #isDirty = false;
  /** Where the last epoch begins of which the file tells; -1: of none. */
  #lastInFile: number;
  #writing: Promise<void> = written;
  #isRetired = false;

  /** Throws DamagedCheckpointError. */
  constructor(fileSystem: FileSystem, path: string, isNew: boolean) {
    this.#fileSystem = fileSystem;
    this.#path = path;
    this.#entries = isNew || fileSystem.statSync(path) === undefined ? [] : readEntries(fileSystem, path);
    this.#lastInFile = this.latest?.startOffset ?? -1;
  }

  get entries(): readonly EpochEntry[] {
    return this.#entries;
  }

  get latest(): EpochEntry | undefined {
    return this.#entries[this.#entries.length - 1];
  }

  /** The epoch's records begin at the offset. What does not ascend to that is of records that are gone. */
  assign(epoch: number, startOffset: number): void {
    const last = this.latest;
    if (last !== undefined && epoch === last.epoch && startOffset >= last.startOffset) return;
    this.#entries = this.#entries.filter((entry) => entry.epoch < epoch && entry.startOffset < startOffset);
    this.#entries.push({ epoch, startOffset });
    this.#isDirty = true;
  }

  /** Where the epoch ends: the largest epoch that is not above it, and the start of the next, or the log's end for the last. */
  endOffsetFor(epoch: number, logEndOffset: number): EpochEnd {
    const last = this.latest;
    if (last === undefined || epoch < 0) return unknownEpochEnd;
    if (epoch === last.epoch) return { leaderEpoch: epoch, endOffset: logEndOffset };
    // An epoch after all that are known says nothing about where it might end.
    if (epoch > last.epoch) return unknownEpochEnd;
    const next = this.#entries.findIndex((entry) => entry.epoch > epoch);
    const following = this.#entries[next];
    const floor = this.#entries[next - 1];
    if (following === undefined) return unknownEpochEnd;
    // Before the first known epoch the log holds nothing of the asked one; it ends where the first begins.
    return { leaderEpoch: floor?.epoch ?? epoch, endOffset: following.startOffset };
  }

  /** The epoch of the record at the offset; undefined where it is not known. */
  epochAt(offset: number): number | undefined {
    return this.#entries.findLast((entry) => entry.startOffset <= offset)?.epoch;
  }

  /** Forgets what begins at or after the offset. */
  truncateFromEnd(endOffset: number): void {
    if (endOffset < 0 || (this.latest?.startOffset ?? -1) < endOffset) return;
    this.#entries = this.#entries.filter((entry) => entry.startOffset < endOffset);
    this.#isDirty = true;
  }

  /** The log begins later now. The epoch in which the new start lies begins there. */
  truncateFromStart(startOffset: number): void {
    const containing = this.#entries.findLast((entry) => entry.startOffset <= startOffset);
    if (containing === undefined || containing.startOffset === startOffset) {
      const kept = this.#entries.filter((entry) => entry.startOffset >= startOffset);
      if (kept.length === this.#entries.length) return;
      this.#entries = kept;
    } else {
      this.#entries = [
        { epoch: containing.epoch, startOffset },
        ...this.#entries.filter((entry) => entry.startOffset > startOffset),
      ];
    }
    this.#isDirty = true;
  }

  replaceWith(other: LeaderEpochs): void {
    this.#entries = [...other.#entries];
    this.#isDirty = true;
  }

  clear(): void {
    if (this.#entries.length === 0) return;
    this.#entries = [];
    this.#isDirty = true;
  }

  /**
   * Makes the file say what is known. It is needed on the device before a recovery point: epochs after that are found again in the
   * batches, and a start cuts off what lies beyond either end of the log.
   */
  write(): Promise<void> {
    if (!this.#isDirty || this.#isRetired) return this.#writing;
    this.#isDirty = false;
    this.#lastInFile = Math.max(this.#lastInFile, this.latest?.startOffset ?? -1);
    this.#writing = this.#fileSystem
      .replaceFile(this.#path, this.#text(), () => !this.#isRetired)
      .catch((error: unknown) => {
        this.#isDirty = true;
        throw error;
      });
    return this.#writing;
  }

  /** Whether the file may tell of an epoch that begins at the offset or beyond. */
  fileReaches(offset: number): boolean {
    return this.#lastInFile >= offset;
  }

  /** The log is not in use any more. Its folder may be another log's soon, which must not get the file of this one. */
  retire(): void {
    this.#isRetired = true;
  }

  #text(): string {
    return printCheckpoint(this.#entries.map(({ epoch, startOffset }) => `${epoch} ${startOffset}`));
  }
}

function readEntries(fileSystem: FileSystem, path: string): EpochEntry[] {
  const entries: EpochEntry[] = [];
  for (const line of parseCheckpoint(fileSystem.readFileSync(path).toString('utf8'), path)) {
    const match = /^(\d+) (\d+)$/.exec(line);
    if (match === null) throw new DamagedCheckpointError(`${path} has a line that is not an epoch and an offset: ${line}`);
    const entry = { epoch: Number(match[1]), startOffset: Number(match[2]) };
    const last = entries.at(-1);
    if (last !== undefined && (entry.epoch <= last.epoch || entry.startOffset <= last.startOffset))
      throw new DamagedCheckpointError(`${path} has lines that do not ascend: ${line}`);
    entries.push(entry);
  }
  return entries;
}
