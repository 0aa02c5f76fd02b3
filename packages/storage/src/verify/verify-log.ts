// The log of one partition: all of its files, read once from its first batch to its last.

import type { FileSystem } from '@odradek/runtime';
import { BatchFile, BatchSizeError } from '../inspect/batch-file.ts';
import { OffsetIndexView, TimeIndexView } from '../inspect/index-views.ts';
import { maxRelativeOffset } from '../log/log-segment.ts';
import { CorruptSnapshotError, decodeSnapshot } from '../log/producer-snapshot.ts';
import { type AbortedTransaction, readTransactionEntry, transactionEntryBytes } from '../log/transaction-index.ts';
import { type CheckedBatch, checkBatch } from './batch-checks.ts';
import type { Report } from './findings.ts';
import { type Complain, checkIndexSize, OffsetIndexCheck, TimeIndexCheck } from './index-checks.ts';
import { LeaderEpochCheck, readEpochEntries } from './leader-epoch-check.ts';
import { type LogFolder, readLogFolder, type SegmentFiles } from './log-folder.ts';
import { ProducerChecks, type Snapshot, type TransactionEntries } from './producer-checks.ts';

export interface LogToVerify {
  readonly path: string;
  /** The broker stopped in order: a start trusts what it finds. */
  readonly isClean: boolean;
  /** From the checkpoints of the directory; a log that they do not name starts where its first segment does. */
  readonly recoveryPoint: number;
  readonly logStartOffset: number;
  /** Before it a cleaner has been; -1: nowhere. */
  readonly cleanedOffset: number;
  /** Compaction leaves gaps, here or in the log that this one was copied from. */
  readonly mayHaveGaps: boolean;
}

export interface VerifiedLog {
  readonly segments: number;
  readonly batches: number;
  readonly firstOffset: number;
  /** After the last batch that is whole. */
  readonly endOffset: number;
  readonly activeBaseOffset: number;
}

export function verifyLog(fileSystem: FileSystem, log: LogToVerify, report: Report): VerifiedLog {
  return new LogVerification(fileSystem, log, report).run();
}

class LogVerification {
  readonly #fileSystem: FileSystem;
  readonly #log: LogToVerify;
  readonly #report: Report;
  readonly #folder: LogFolder;
  /** Index of the first segment that the next start scans and mends. */
  #firstScanned: number;
  #epochs!: LeaderEpochCheck;
  #producers!: ProducerChecks;
  #nextOffset: number;
  #batches = 0;
  /** Up to where compaction, or a gap that should not be there, has left fewer records than offsets. */
  #gapsEndOffset = -1;

  constructor(fileSystem: FileSystem, log: LogToVerify, report: Report) {
    this.#fileSystem = fileSystem;
    this.#log = log;
    this.#report = report;
    this.#folder = readLogFolder(fileSystem, log.path, report);
    this.#firstScanned = this.#findFirstScanned();
    this.#nextOffset = this.#folder.segments[0]?.baseOffset ?? log.logStartOffset;
  }

  run(): VerifiedLog {
    const { segments } = this.#folder;
    const firstOffset = this.#nextOffset;
    const complainOfEpochs = this.#complainOf(this.#folder.leaderEpochs, !this.#log.isClean);
    const entries = readEpochEntries(this.#fileSystem, this.#folder.leaderEpochs, complainOfEpochs);
    const startOffset = Math.max(firstOffset, this.#log.logStartOffset);
    this.#epochs = new LeaderEpochCheck(entries, startOffset, complainOfEpochs);
    this.#producers = new ProducerChecks(startOffset, this.#readSnapshots());
    for (const [index, files] of segments.entries()) this.#verifySegment(files, index);
    this.#producers.end(this.#nextOffset);
    this.#epochs.end(this.#nextOffset);
    return {
      segments: segments.length,
      batches: this.#batches,
      firstOffset,
      endOffset: this.#nextOffset,
      activeBaseOffset: segments.at(-1)?.baseOffset ?? firstOffset,
    };
  }

  /** After a crash the segment with the recovery point, or an earlier one whose indexes are not all there: see log/open-log.ts. */
  #findFirstScanned(): number {
    const { segments } = this.#folder;
    const { isClean, recoveryPoint } = this.#log;
    const afterCrash = segments.findLastIndex(({ baseOffset }) => baseOffset <= recoveryPoint);
    const trusted = isClean ? segments.length : Math.max(0, afterCrash);
    const broken = segments.findIndex(({ offsetIndex, timeIndex, records }) => {
      return (offsetIndex === undefined || timeIndex === undefined) && this.#sizeOf(records) > 0;
    });
    return broken < 0 ? trusted : Math.min(trusted, broken);
  }

  #sizeOf(path: string): number {
    return this.#fileSystem.statSync(path)?.size ?? 0;
  }

  #complainOf(path: string, isMended: boolean): Complain {
    return (rule, position, detail) => this.#report(rule, path, position, detail, isMended);
  }

  #readSnapshots(): Snapshot[] {
    const { snapshots } = this.#folder;
    return snapshots.flatMap(({ offset, path }, index) => {
      // The last one is what a start reads; where it is no good an earlier one and the log take its place.
      const complain = this.#complainOf(path, !this.#log.isClean || index === snapshots.length - 1);
      try {
        const states = decodeSnapshot(this.#fileSystem.readFileSync(path), path);
        return [{ offset, states, complain: this.#complainOf(path, !this.#log.isClean) }];
      } catch (error) {
        if (!(error instanceof CorruptSnapshotError)) throw error;
        complain('snapshot-damaged', undefined, 'its version, its size or its checksum is wrong');
        return [];
      }
    });
  }

  #verifySegment(files: SegmentFiles, index: number): void {
    const { segments } = this.#folder;
    const isActive = index === segments.length - 1;
    // A crash may bring back files of segments that were deleted, whatever has become of them; a start removes them.
    const isDropped =
      !this.#log.isClean && (segments[index + 1]?.baseOffset ?? Number.MAX_SAFE_INTEGER) <= this.#log.logStartOffset;
    // Whether a start mends them is known at the end of the segment.
    const complaints: (() => void)[] = [];
    const complainOf =
      (path: string): Complain =>
      (rule, position, detail) =>
        complaints.push(() => this.#report(rule, path, position, detail, index >= this.#firstScanned || isDropped));
    const complain = complainOf(files.records);
    this.#beginAt(files.baseOffset, complain);
    const nextBaseOffset = segments[index + 1]?.baseOffset ?? Number.MAX_SAFE_INTEGER;
    const indexes = this.#indexChecksOf(files, isActive, complainOf);
    this.#producers.beginSegment(this.#transactionsOf(files, complainOf(files.transactionIndex ?? files.records)));
    const range = { baseOffset: files.baseOffset, nextBaseOffset };
    const { endPosition, isWhole } = this.#verifyBatches(files.records, range, complain, (batch) => {
      indexes.offsets?.take(batch, batch.baseOffset < this.#gapsEndOffset);
      indexes.times?.take(batch);
    });
    indexes.offsets?.end(endPosition);
    indexes.times?.end(!isActive || this.#log.isClean);
    this.#producers.endSegment();
    if (!this.#endsRightly(isWhole, segments[index + 1])) this.#firstScanned = Math.min(this.#firstScanned, index);
    for (const report of complaints) report();
  }

  /** A start does not trust a segment that does not: see log/open-log.ts. */
  #endsRightly(isWhole: boolean, next: SegmentFiles | undefined): boolean {
    if (next === undefined) return isWhole;
    const { isClean, cleanedOffset } = this.#log;
    return isClean || next.baseOffset <= cleanedOffset || (isWhole && this.#nextOffset === next.baseOffset);
  }

  /** An active segment may be empty, so its name is all that there is to compare. */
  #beginAt(baseOffset: number, complain: Complain): void {
    if (baseOffset <= this.#nextOffset) return;
    if (!this.#log.mayHaveGaps) {
      complain('offset-gap', undefined, `the segment begins with offset ${baseOffset}, where ${this.#nextOffset} is next`);
    }
    this.#gapsEndOffset = baseOffset;
    this.#nextOffset = baseOffset;
  }

  /** Answers where the batches that are whole end. */
  #verifyBatches(
    path: string,
    range: SegmentRange,
    complain: Complain,
    take: (batch: CheckedBatch) => void,
  ): { readonly endPosition: number; readonly isWhole: boolean } {
    const file = new BatchFile(this.#fileSystem, path);
    let endPosition = 0;
    try {
      for (const found of file.batches()) {
        endPosition = found.position + found.sizeBytes;
        const checked = checkBatch(found, complain);
        if (checked === undefined) continue;
        this.#batches += 1;
        this.#takeBatch(checked, range, complain);
        take(checked);
      }
      if (endPosition < file.sizeBytes) {
        complain('batch-size', endPosition, `${file.sizeBytes - endPosition} bytes at the end, which are no whole batch`);
      }
    } catch (error) {
      if (!(error instanceof BatchSizeError)) throw error;
      complain('batch-size', endPosition, error.message);
    } finally {
      file.closeSync();
    }
    return { endPosition, isWhole: endPosition === file.sizeBytes };
  }

  #takeBatch({ batch, position, baseOffset, lastOffset, hasGaps }: CheckedBatch, range: SegmentRange, complain: Complain): void {
    if (baseOffset < this.#nextOffset || baseOffset < range.baseOffset) {
      const least = Math.max(this.#nextOffset, range.baseOffset);
      complain('offset-order', position, `a batch begins with offset ${baseOffset}, where ${least} is the least that may follow`);
    } else if (!this.#log.mayHaveGaps && (baseOffset > this.#nextOffset || hasGaps)) {
      const words = hasGaps ? `the batch to ${lastOffset} has fewer records than offsets` : `offset ${baseOffset} follows`;
      complain('offset-gap', position, `${words}, where ${this.#nextOffset} is next`);
    }
    if (lastOffset >= range.nextBaseOffset || lastOffset - range.baseOffset > maxRelativeOffset) {
      const bound = Math.min(range.nextBaseOffset, range.baseOffset + maxRelativeOffset + 1);
      complain('offset-range', position, `a batch ends with offset ${lastOffset}, but the segment ends before ${bound}`);
    }
    if (hasGaps) this.#gapsEndOffset = lastOffset + 1;
    else if (baseOffset > this.#nextOffset) this.#gapsEndOffset = baseOffset;
    this.#epochs.take(batch, position, complain);
    this.#producers.take(batch, baseOffset, hasGaps);
    this.#nextOffset = Math.max(this.#nextOffset, lastOffset + 1);
  }

  #indexChecksOf(files: SegmentFiles, isActive: boolean, complainOf: (path: string) => Complain): IndexChecks {
    const { baseOffset, records, offsetIndex, timeIndex } = files;
    const checks: IndexChecks = {};
    if (this.#sizeOf(records) > 0) {
      const missing = [offsetIndex === undefined ? 'no offset index' : '', timeIndex === undefined ? 'no time index' : ''];
      const words = missing.filter((each) => each !== '').join(' and ');
      if (words !== '') this.#report('index-missing', records, undefined, words, true);
    }
    if (offsetIndex !== undefined) {
      const view = new OffsetIndexView(this.#fileSystem, offsetIndex, baseOffset);
      const complain = complainOf(offsetIndex);
      checkIndexSize(view, isActive, complain);
      checks.offsets = new OffsetIndexCheck(view, complain);
    }
    if (timeIndex !== undefined) {
      const view = new TimeIndexView(this.#fileSystem, timeIndex, baseOffset);
      const complain = complainOf(timeIndex);
      checkIndexSize(view, isActive, complain);
      checks.times = new TimeIndexCheck(view, complain);
    }
    return checks;
  }

  #transactionsOf({ transactionIndex }: SegmentFiles, complain: Complain): TransactionEntries {
    const entries: AbortedTransaction[] = [];
    if (transactionIndex !== undefined) {
      const bytes = this.#fileSystem.readFileSync(transactionIndex);
      if (bytes.length % transactionEntryBytes !== 0)
        complain('index-size', undefined, `the file ends within an entry, at ${bytes.length}`);
      for (let at = 0; at + transactionEntryBytes <= bytes.length; at += transactionEntryBytes) {
        const version = bytes.readInt16BE(at);
        if (version !== 0) {
          complain('transaction-index', at, `an entry of the unknown version ${version}`);
          break;
        }
        const entry = readTransactionEntry(bytes, at);
        const before = entries.at(-1);
        if (before !== undefined && entry.lastOffset <= before.lastOffset) {
          complain('index-order', at, `the abort at offset ${entry.lastOffset} follows that at ${before.lastOffset}`);
        }
        entries.push(entry);
      }
    }
    return { entries, positionOf: (index) => index * transactionEntryBytes, complain };
  }
}

interface SegmentRange {
  readonly baseOffset: number;
  readonly nextBaseOffset: number;
}

interface IndexChecks {
  offsets?: OffsetIndexCheck;
  times?: TimeIndexCheck;
}
