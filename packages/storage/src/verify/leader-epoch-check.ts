// The leader epochs of the batches of a log, compared with leader-epoch-checkpoint while the batches go by in their order.

import { type Batch, RecordBatch } from '@odradek/protocol';
import type { FileSystem } from '@odradek/runtime';
import { DamagedCheckpointError, parseCheckpoint } from '../log/checkpoint-file.ts';
import type { EpochEntry } from '../log/leader-epochs.ts';
import type { Complain } from './index-checks.ts';

export class LeaderEpochCheck {
  readonly #entries: readonly EpochEntry[];
  readonly #logStartOffset: number;
  readonly #complain: Complain;
  #latest = -1;
  /** One complaint says it for all batches of an epoch. */
  #toldOf = -1;

  /** `complain` is about the checkpoint; undefined: the log has none, as logs of old formats may. */
  constructor(entries: readonly EpochEntry[], logStartOffset: number, complain: Complain) {
    this.#entries = entries;
    this.#logStartOffset = logStartOffset;
    this.#complain = complain;
  }

  /** `complainOfBatch` is about the records file. */
  take(batch: Batch, position: number, complainOfBatch: Complain): void {
    if (!(batch instanceof RecordBatch) || batch.partitionLeaderEpoch < 0) return;
    const { partitionLeaderEpoch: epoch, baseOffset, lastOffset } = batch;
    if (epoch < this.#latest) {
      const words = `the batch at offset ${baseOffset} has the leader epoch ${epoch}, after one with ${this.#latest}`;
      complainOfBatch('leader-epoch-order', position, words);
    }
    this.#latest = Math.max(this.#latest, epoch);
    // What lies before the log's start is forgotten.
    if (lastOffset < this.#logStartOffset || epoch === this.#toldOf) return;
    const said = this.#entries.findLast(({ startOffset }) => startOffset <= Math.max(baseOffset, this.#logStartOffset));
    if (said?.epoch === epoch) return;
    this.#toldOf = epoch;
    const words = `${said === undefined ? 'no epoch' : `the epoch ${said.epoch}`} at offset ${baseOffset}, where the batch has ${epoch}`;
    this.#complain('leader-epoch-agreement', undefined, words);
  }

  end(logEndOffset: number): void {
    for (const { epoch, startOffset } of this.#entries) {
      if (startOffset > logEndOffset) {
        this.#complain(
          'leader-epoch-file',
          undefined,
          `epoch ${epoch} begins at ${startOffset}, but the log ends at ${logEndOffset}`,
        );
      }
    }
  }
}

/** The entries that make sense; what does not is complained of. */
export function readEpochEntries(fileSystem: FileSystem, path: string, complain: Complain): readonly EpochEntry[] {
  if (fileSystem.statSync(path) === undefined) return [];
  try {
    const entries: EpochEntry[] = [];
    for (const line of parseCheckpoint(fileSystem.readFileSync(path).toString('utf8'), path)) {
      const match = /^(\d+) (\d+)$/.exec(line);
      if (match === null) throw new DamagedCheckpointError(`a line is not an epoch and an offset: ${line}`);
      const [before, entry] = [entries.at(-1), { epoch: Number(match[1]), startOffset: Number(match[2]) }];
      if (before !== undefined && (entry.epoch <= before.epoch || entry.startOffset <= before.startOffset)) {
        const words = `epoch ${entry.epoch} from ${entry.startOffset} on follows epoch ${before.epoch} from ${before.startOffset} on`;
        complain('leader-epoch-file', undefined, words);
      }
      entries.push(entry);
    }
    return entries;
  } catch (error) {
    if (!(error instanceof DamagedCheckpointError)) throw error;
    complain('leader-epoch-file', undefined, error.message);
    return [];
  }
}
