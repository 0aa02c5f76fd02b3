// Holds a log back after it went back, until the checkpoints on disk no longer contradict what it has become: they might vouch for
// records that are not on the device, or hide some that are there.
//
// While it is up nobody is told that an append is done, and no new segment begins: a start after a crash scans the last segment
// whatever the checkpoints say.

import type { LogDirectory } from '../manager/log-directory.ts';

export class CheckpointBarrier {
  readonly #directory: LogDirectory;
  #underWay: Promise<void> | undefined;
  /** There must be a checkpoint yet, and none is under way: the last could not be written. */
  #isMissing: boolean;

  constructor(directory: LogDirectory, isMissing: boolean) {
    this.#directory = directory;
    // A log of the same name may have been deleted a moment ago.
    this.#isMissing = isMissing || directory.isCheckpointMissing;
    if (directory.checkpointUnderWay !== undefined) this.#await(directory.checkpointUnderWay);
  }

  get isUp(): boolean {
    return this.#underWay !== undefined || this.#isMissing;
  }

  /** The log went back. */
  raise(): void {
    this.#await(this.#directory.checkpointSoon());
  }

  /** Settles when the barrier is down; undefined when it is. */
  passed(): Promise<void> | undefined {
    if (this.#isMissing) this.raise();
    return this.#underWay;
  }

  #await(checkpoint: Promise<void>): void {
    this.#isMissing = false;
    const underWay = checkpoint
      .catch((error: unknown) => {
        this.#isMissing = true;
        throw error;
      })
      .finally(() => {
        if (this.#underWay === underWay) this.#underWay = undefined;
      });
    // Perhaps nobody appends, and then nobody waits.
    underWay.catch(() => undefined);
    this.#underWay = underWay;
  }
}
